// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_FUZZ_IMPORT_SEEDS_H_
#define WEFT_TESTS_FUZZ_IMPORT_SEEDS_H_

// Good files of other tools, for fuzzers and mutations to begin with.

#include <sqlite3.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "export/weft_file.h"

namespace weft::test {

// One of each kind of event, in the three forms of a file.
inline std::vector<Bytes> chrome_seeds() {
  const std::string host =
      R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1.5,)"
      R"("dur":90,"args":{"External id":3,"Sequence number":7,)"
      R"("Input Dims":[[2,3],[],[[4]]],"Call stack":"a.py(1);b;"}})";
  const std::string work =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,)"
      R"("tid":1,"ts":20,"dur":5,"args":{"correlation":77}},)"
      R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":"stream 7",)"
      R"("ts":30,"dur":40,"args":{"correlation":77,"device":0,"stream":7}},)"
      R"({"ph":"s","id":77,"cat":"ac2g","name":"ac2g","pid":1,"tid":1,"ts":20},)"
      R"({"ph":"f","id":77,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":30},)"
      R"({"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":21,"s":"t",)"
      R"("args":{"Device Type":1,"Device Id":0,"Bytes":-64}})";
  const std::string pairs =
      R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"m"}},)"
      R"({"ph":"B","name":"b","pid":1,"tid":2,"ts":"3"},)"
      R"({"ph":"E","pid":1,"tid":2,"ts":1e3},)"
      R"({"ph":"b","id2":{"local":"0x1"},"cat":"c","name":"x","pid":1,"ts":4},)"
      R"({"ph":"e","id2":{"local":"0x1"},"cat":"c","name":"x","pid":1,"ts":9},)"
      R"({"ph":"C","name":"n","id":1,"pid":1,"ts":2,"args":{"v":"+1.50"}},)"
      R"(null,[1,{"a":"\ud83d\ude00\n"}],"text",-1.5e-3)";
  const std::string list = host + "," + work + "," + pairs;
  const auto bytes = [](const std::string& text) {
    return Bytes(text.begin(), text.end());
  };
  return {bytes("[" + list + "]"),
          bytes(R"({"deviceProperties":[{"name":"g"}],"traceEvents":[)" + list +
                R"(],"distributedInfo":{"rank":1},"samples":[]})"),
          bytes(host + "\n" + host + "\n")};
}

inline Bytes database_of(const std::string& sql) {
  const TempPath path(".sqlite");
  sqlite3* database = nullptr;
  const bool made =
      sqlite3_open(path.str().c_str(), &database) == SQLITE_OK &&
      sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) ==
          SQLITE_OK;
  sqlite3_close(database);
  if (!made) throw std::runtime_error("cannot make a database");
  return read_file(path.str());
}

// What nvprof writes: a range, a call in it, the kernel it launches.
inline const char* nvprof_sql() {
  return "PRAGMA page_size=512;"
         "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
         "INSERT INTO StringTable VALUES(1,'range'),(2,'_Z1kv');"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(id INT, name INT, timestamp "
         "INT, flags INT, objectKind INT, objectId BLOB, domain INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES"
         "(1,1,100,2,2,x'010000000200000000000000',0),"
         "(1,0,900,4,2,x'010000000200000000000000',0);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INT, cbid INT, start "
         "INT, end INT, correlationId INT, processId INT, threadId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1,211,200,300,5,1,2);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INT, end "
         "INT, name INT, correlationId INT, deviceId INT, streamId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES"
         "(400,700,2,5,0,7);";
}

// What Nsight Systems exports: a range, a call told of by two rows, a kernel
// and a copy.
inline const char* nsys_sql() {
  return "PRAGMA page_size=512;"
         "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
         "INSERT INTO StringIds VALUES(1,'registered'),(2,'cudaLaunchKernel'),"
         "(3,'gemm(int)'),(4,'gemm'),(5,'main thread');"
         "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT);"
         "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1700000000000);"
         "CREATE TABLE ThreadNames(nameId INT, priority INT, globalTid INT);"
         "INSERT INTO ThreadNames VALUES(5,10,16777218);"
         "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text "
         "TEXT, globalTid INT, textId INT);"
         "INSERT INTO NVTX_EVENTS VALUES(100,900,59,'outer',16777218,NULL),"
         "(150,600,59,NULL,16777218,1),(160,170,60,'async',16777218,NULL),"
         "(180,NULL,34,'mark',16777218,NULL),(190,NULL,59,'open',16777218,"
         "NULL);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, "
         "eventClass INT, globalTid INT, correlationId INT, nameId INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
         "(200,300,0,16777218,5,2),(210,290,67,16777218,5,2);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId "
         "INT, streamId INT, correlationId INT, globalPid INT, demangledName "
         "INT, shortName INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
         "(400,700,0,7,5,16777216,3,4),(800,850,0,7,99,16777216,3,4);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId "
         "INT, streamId INT, correlationId INT, globalPid INT, bytes INT, "
         "copyKind INT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
         "(710,720,0,7,5,16777216,64,1);";
}

inline std::vector<Bytes> database_seeds() {
  return {database_of(nvprof_sql()), database_of(nsys_sql())};
}

}  // namespace weft::test

#endif  // WEFT_TESTS_FUZZ_IMPORT_SEEDS_H_

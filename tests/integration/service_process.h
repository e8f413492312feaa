// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_TESTS_INTEGRATION_SERVICE_PROCESS_H_
#define WEFT_TESTS_INTEGRATION_SERVICE_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace weft::test {

// examples/service, run as a program of its own.
class ServiceProcess {
 public:
  // Returns when it listens; port() is 0 if it never did.
  ServiceProcess(const std::string& program,
                 const std::vector<std::string>& options);
  ~ServiceProcess();  // kills it if it still runs
  ServiceProcess(const ServiceProcess&) = delete;
  ServiceProcess& operator=(const ServiceProcess&) = delete;

  int port() const noexcept { return port_; }

  // Sends SIGTERM and waits; gives what waitpid() said of the end.
  int stop();
  // After stop(): the number behind "name": in the line of JSON that it ended
  // with; -1 if there is none.
  std::int64_t reported(const std::string& name) const;

 private:
  std::string read_line();

  pid_t pid_ = 0;
  std::FILE* output_ = nullptr;
  int port_ = 0;
  std::string report_;
};

}  // namespace weft::test

#endif  // WEFT_TESTS_INTEGRATION_SERVICE_PROCESS_H_

// SPDX-License-Identifier: Apache-2.0
//
// K8-04: a running program is asked from a shell, by the built command.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "live_page.h"
#include "weft/weft.h"

namespace weft::tools {
namespace {

struct Outcome {
  int code = -1;
  std::string text;  // standard output and error
};

Outcome weft_command(const std::string& arguments) {
  Outcome outcome;
  FILE* const pipe =
      popen((std::string(WEFT_COMMAND) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.text.append(buffer, n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& file :
       std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

class K8_04 : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / "weft-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    socket_ = folder_ + "/weft.sock";
    options_.control = socket_;
    options_.output = folder_ + "/trace.weft";
    options_.on_message = [](std::string_view) {};
  }
  void TearDown() override {
    (void)shutdown();
    std::filesystem::remove_all(folder_);
  }
  Outcome ctl(const std::string& request) {
    return weft_command("ctl " + socket_ + " " + request);
  }

  std::string folder_;
  std::string socket_;
  InitOptions options_;
};

TEST_F(K8_04, FiftyRoundsOfRequestsAreAnswered) {
  ASSERT_TRUE(init(options_).ok());
  std::atomic<bool> done{false};
  std::thread recorder([&] {
    while (!done) {
      WEFT_SPAN_CAT("net", "send");
      WEFT_SPAN_CAT("db", "query");
      std::this_thread::yield();
    }
  });
  int descriptors = 0;
  for (int round = 0; round < 50 && !HasFailure(); ++round) {
    const char* const kRequests[] = {"stop", "start", "categories net,-db",
                                     "status", "categories"};
    for (const char* request : kRequests) {
      const Outcome outcome = ctl(request);
      EXPECT_EQ(outcome.code, 0) << request << ": " << outcome.text;
      if (std::string(request) == "status") {
        EXPECT_TRUE(has(outcome.text, "state: recording")) << outcome.text;
        EXPECT_TRUE(has(outcome.text, "output: " + options_.output));
      }
    }
    if (round == 0) descriptors = open_descriptors();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  done = true;
  recorder.join();
  EXPECT_EQ(ctl("stop").code, 0);
  const Outcome again = ctl("stop");
  EXPECT_EQ(again.code, 1);
  EXPECT_TRUE(has(again.text, "not")) << again.text;
}

TEST_F(K8_04, WhatCannotBeDoneIsAnsweredWithAReason) {
  ASSERT_TRUE(init(options_).ok());
  const Outcome unknown = ctl("explode");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(has(unknown.text, "\"explode\"")) << unknown.text;
  EXPECT_TRUE(has(ctl("rotate").text, "rotation was not asked for"));
  EXPECT_TRUE(has(ctl("snapshot").text, "kFlightRecorder"));
  EXPECT_TRUE(has(ctl("snapshot before=soon").text, "before=soon"));
  EXPECT_TRUE(has(ctl("snapshot now").text, "\"now\""));
  const Outcome nobody = weft_command("ctl " + folder_ + "/none.sock status");
  EXPECT_EQ(nobody.code, 2);
  EXPECT_TRUE(has(nobody.text, "WEFT_CONTROL=on")) << nobody.text;
  EXPECT_EQ(weft_command("ctl 999999999 status").code, 2);
  EXPECT_EQ(weft_command("ctl").code, 2);
  EXPECT_EQ(weft_command("top " + folder_ + "/none.sock").code, 2);
}

TEST_F(K8_04, TheOutputIsRotatedFromOutside) {
  options_.rotation.bytes = 1u << 20;
  ASSERT_TRUE(init(options_).ok());
  const Outcome outcome = ctl("rotate");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  ASSERT_TRUE(shutdown().ok());
  const std::string stem =
      options_.output.substr(0, options_.output.rfind('.'));
  EXPECT_EQ(weft_command("check " + stem + ".1.weft").code, 0);
  EXPECT_EQ(weft_command("check " + stem + ".2.weft").code, 0);
}

TEST_F(K8_04, ASnapshotIsTakenFromOutside) {
  options_.mode = Mode::kFlightRecorder;
  ASSERT_TRUE(init(options_).ok());
  for (int i = 0; i < 10; ++i) {
    WEFT_SPAN("work");
  }
  const Outcome taken = ctl("snapshot before=10s reason=\"it was slow\"");
  EXPECT_EQ(taken.code, 0) << taken.text;
  EXPECT_TRUE(has(taken.text, "path: " + folder_ + "/trace.1.weft"));
  EXPECT_TRUE(has(taken.text, "records: 20"));
  const Outcome info = weft_command("check " + folder_ + "/trace.1.weft");
  EXPECT_EQ(info.code, 0) << info.text;
}

TEST_F(K8_04, TopShowsTheBusiestSpans) {
  options_.live = true;
  ASSERT_TRUE(init(options_).ok());
  for (int i = 0; i < 1000; ++i) {
    WEFT_SPAN("busy \"span\"");
  }
  while (!latency("busy \"span\"") || latency("busy \"span\"")->count < 1000)
    std::this_thread::yield();
  const Outcome top = weft_command("top " + socket_ + " --times 1 --interval 0.05");
  EXPECT_EQ(top.code, 0) << top.text;
  EXPECT_TRUE(has(top.text, "busy \"span\"")) << top.text;
  EXPECT_TRUE(has(top.text, "1,000")) << top.text;
}

TEST_F(K8_04, OnlyThisUserMaySeeTheSocket) {
  ASSERT_TRUE(init(options_).ok());
  struct stat is {};
  ASSERT_EQ(stat(socket_.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777, 0600u);
}

// What a dead process left is replaced; what somebody serves is not.
TEST_F(K8_04, AStaleSocketIsReplacedAndALiveOneIsKept) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, socket_.c_str());
  const int other = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(other, 1), 0);
  std::string said;
  options_.on_message = [&](std::string_view line) { said = line; };
  ASSERT_TRUE(init(options_).ok());  // traced all the same
  EXPECT_TRUE(has(said, "another process serves it")) << said;
  ASSERT_TRUE(shutdown().ok());
  close(other);
  ASSERT_TRUE(init(options_).ok());
  EXPECT_EQ(ctl("status").code, 0);
}

// A client that says nothing is given up; the next one is served.
TEST_F(K8_04, ASilentClientDelaysOthersForAWhileOnly) {
  ASSERT_TRUE(init(options_).ok());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, socket_.c_str());
  const int silent = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(connect(silent, reinterpret_cast<sockaddr*>(&address),
                    sizeof address),
            0);
  EXPECT_EQ(ctl("status").code, 0);
  char byte = 0;
  EXPECT_EQ(read(silent, &byte, 1), 1);  // "error: ..."
  EXPECT_EQ(byte, 'e');
  close(silent);
}

TEST_F(K8_04, AForkedChildDoesNotServeItsParentsSocket) {
  ASSERT_TRUE(init(options_).ok());
  int before = 0;
  for (int file = 0; file < 1024; ++file)
    before += fcntl(file, F_GETFD) >= 0 ? 1 : 0;
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;  // without the listener
    for (int file = 0; file < 1024; ++file)
      count += fcntl(file, F_GETFD) >= 0 ? 1 : 0;
    _exit(count == before - 1 ? 0 : count);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_EQ(state, 0);
  EXPECT_EQ(ctl("status").code, 0);
}

TEST(LivePage, HostileLinesAreLeftOut) {
  const LivePage page = parse_live_page(
      "weft_span_seconds_count{name=\"a\\\"b\"} 5\n"
      "weft_span_seconds_count{name=\"never closed 7\n"
      "weft_span_seconds_count{name=\"c\"}\n"
      "weft_span_seconds_count{name=\"d\"} -1\n"
      "weft_span_seconds_count{name=\"e\"} nan\n"
      "weft_span_seconds{name=\"a\\\"b\",quantile=\"0.99\"} 0.25\n"
      "{\n{}\n \n\nnonsense");
  ASSERT_EQ(page.spans.size(), 1u);
  EXPECT_EQ(page.spans.at("a\"b").count, 5u);
  EXPECT_EQ(page.spans.at("a\"b").p99, 0.25);
}

}  // namespace
}  // namespace weft::tools

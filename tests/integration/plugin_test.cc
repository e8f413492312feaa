// SPDX-License-Identifier: Apache-2.0

// Plugins that come and go while their records are still on their way.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "plugin_module.h"
#include "runtime.h"
#include "weft/export/trace_reader.h"
#include "weft/weft.h"

namespace {

using weft::exporters::DecodedRecord;
using weft::exporters::TraceReader;

class Plugin {
 public:
  Plugin() : handle_(dlopen(WEFT_TEST_PLUGIN, RTLD_NOW)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  Plugin(const Plugin&) = delete;
  ~Plugin() { dlclose(handle_); }

  // `Function` as the plugin's header declares it.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }
  void record(int rounds) const {
    find<decltype(plugin_record)>("plugin_record")(rounds);
  }

  // Whether any of it is in this process's memory.
  static bool mapped() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.find(WEFT_TEST_PLUGIN) != std::string::npos) return true;
    return false;
  }

 private:
  void* handle_;
};

// The records of each name in a finished trace.
std::map<std::string, int> begun_by_name(const std::string& path) {
  std::map<std::string, int> counts;
  auto reader = TraceReader::open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return counts;
  }
  DecodedRecord record;
  while (reader->next(&record))
    if (record.kind != weft::RecordKind::kSpanEnd &&
        record.site != weft::SiteId::kNone)
      ++counts[std::string(reader->info().name_of(record))];
  EXPECT_TRUE(check_trace(*reader).empty());
  return counts;
}

// A session into a file that is gone afterwards.
class K2_07 : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(testing::TempDir()) /
             (std::string("plugin_") +
              testing::UnitTest::GetInstance()->current_test_info()->name() +
              ".weft")).string();
    const auto begun = weft::init(path_);
    ASSERT_TRUE(begun.ok()) << begun.error().message;
    ASSERT_TRUE(weft::thread_init().ok());
  }
  void TearDown() override {
    weft::shutdown();
    std::filesystem::remove(path_);
  }
  static void hold_drainer(bool held) {
    weft::Runtime::instance()->drainer->hold(held);
  }

  std::string path_;
};

// A name that is read where the plugin used to be is a crash, or rubbish.
TEST_F(K2_07, NamesOfAPluginThatIsGoneAreRight) {
  constexpr int kRounds = 250;
  hold_drainer(true);
  Plugin().record(kRounds);
  EXPECT_FALSE(Plugin::mapped());
  hold_drainer(false);
  ASSERT_TRUE(weft::shutdown().ok());

  std::map<std::string, int> counts = begun_by_name(path_);
  EXPECT_EQ(counts["plugin function"], kRounds);
  EXPECT_EQ(counts["plugin template"], 2 * kRounds);
  EXPECT_EQ(counts["plugin instant"], 2 * kRounds);
  EXPECT_EQ(counts["plugin inline"], kRounds);
  EXPECT_EQ(counts["plugin counter"], kRounds);
  EXPECT_EQ(counts.size(), 5u);
}

// Switching writes to every site it knows of.
TEST_F(K2_07, SwitchingTouchesNoSiteOfAPluginThatIsGone) {
  Plugin().record(1);
  ASSERT_FALSE(Plugin::mapped());
  EXPECT_TRUE(weft::set_categories("-plugin").ok());
  EXPECT_TRUE(weft::set_categories("").ok());
  EXPECT_TRUE(weft::stop().ok());
  EXPECT_TRUE(weft::start().ok());
}

// A service that loads its plugins anew with each change of configuration must
// not run out of sites.
TEST_F(K2_07, APluginThatComesAgainTakesNothingMore) {
  Plugin().record(1);
  const weft::RuntimeStatus once = weft::status();
  for (int i = 0; i < 100; ++i) {
    Plugin().record(1);
    ASSERT_FALSE(Plugin::mapped());
  }
  const weft::RuntimeStatus often = weft::status();
  EXPECT_EQ(often.sites, once.sites);
  EXPECT_EQ(often.strings, once.strings);
  EXPECT_EQ(often.threads_seen, once.threads_seen);
  ASSERT_TRUE(weft::shutdown().ok());
  EXPECT_EQ(begun_by_name(path_)["plugin inline"], 101);
}

// The loader keeps a library whose thread-locals still have destructors to run,
// so its worker goes on recording after dlclose().
TEST_F(K2_07, AWorkerAndItsThreadLocalsOutliveDlclose) {
  void (*stop_worker)() = nullptr;
  {
    Plugin plugin;
    plugin.find<decltype(plugin_start_worker)>("plugin_start_worker")();
    stop_worker =
        plugin.find<decltype(plugin_stop_worker)>("plugin_stop_worker");
  }
  ASSERT_TRUE(Plugin::mapped());
  EXPECT_TRUE(weft::set_categories("-plugin").ok());
  EXPECT_TRUE(weft::set_categories("").ok());
  stop_worker();
  ASSERT_TRUE(weft::shutdown().ok());

  std::map<std::string, int> counts = begun_by_name(path_);
  EXPECT_GT(counts["plugin worker"], 0);
  EXPECT_EQ(counts["plugin thread exit"], 1);
}

}  // namespace

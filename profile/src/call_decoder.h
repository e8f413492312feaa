// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_PROFILE_SRC_CALL_DECODER_H_
#define WEFT_PROFILE_SRC_CALL_DECODER_H_

// From records to RawEvents: begins find their ends, values their meaning.
//
//   begin of a span   -> an event, open on its thread
//   end               -> closes the innermost one that it names
//   asynchronous end  -> closes what it names on any thread; that event says
//                        where it ended
//   instants of category "+memory"   -> memory records
//   instants of category "backend"   -> events of their own
//   launch            -> belongs to the innermost event open on its thread
//
// Records of one thread come in their order; threads in any order, so that an
// asynchronous end may come before its begin.

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weft/catalog.h"
#include "weft/export/decoded_record.h"
#include "weft/profile/profiler_options.h"
#include "weft/profile/raw_event.h"
#include "weft/profile/symbolizer.h"

namespace weft::profile {

inline constexpr char kMemoryCategory[] = "+memory";
inline constexpr char kBackendCategory[] = "backend";
inline constexpr char kModuleCategory[] = "+module";

// What numbers in records mean: of this process, or of a file.
struct Definitions {
  std::function<std::string_view(StringId)> text;
  std::function<bool(SiteId, SiteInfo*)> site;
};
Definitions definitions_of_this_process();

// Work that a thread handed to a device.
struct Launch {
  std::uint64_t correlation = 0;
  std::uint32_t call = 0;  // weft/gpu/launch_word.h
  std::int64_t ns = 0;
  std::int64_t thread = 0;
  std::int64_t op = 0;  // the innermost open call; 0: none
};

struct DecodedCalls {
  std::vector<RawEvent> events;
  std::vector<MemoryRecord> memory;
  std::vector<Launch> launches;
  std::int64_t next_id = 1;  // greater than that of every event
  std::uint64_t unfinished = 0;
  std::uint64_t started_before = 0;
  std::uint64_t incomplete_inputs = 0;
};

class CallDecoder {
 public:
  CallDecoder(Definitions definitions, const ProfilerOptions& options,
              std::int64_t node_id);

  // `ns` is the record's time.
  void add(const exporters::DecodedRecord& record, std::int64_t ns);
  // The interval is over: what is open ends now, unfinished.
  void close(std::int64_t ns);
  DecodedCalls take() {
    calls_.next_id = next_id_;
    return std::move(calls_);
  }

 private:
  enum class Meaning : std::uint8_t {
    kUnknown,
    kNothing,
    kCall,    // a span
    kModule,  // a span that names where calls belong
    kAlloc,
    kFree,
    kOutOfMemory,
    kBackend,
  };
  struct Site {
    Meaning meaning = Meaning::kUnknown;
    RecordScope scope = RecordScope::kFunction;
    StringId name = StringId::kNone;
    bool is_call = false;              // its arguments are CallArguments
    std::vector<std::uint8_t> places;  // CallArgument of each index
  };
  struct Open {
    std::uint64_t position;
    std::size_t event;  // kModuleSpan: none, a module
  };
  static constexpr std::size_t kModuleSpan = ~std::size_t{0};
  // Two a thread: its own records, and those of its signal handlers.
  struct Line {
    std::vector<Open> open;
    std::vector<std::string> modules;
  };
  struct EarlyEnd {
    std::int64_t ns;
    ThreadIndex thread;
  };

  const Site& site_of(SiteId number);
  Site describe(SiteId number) const;
  Line& line_of(ThreadIndex thread, std::uint64_t position);
  std::string name_of(const exporters::DecodedRecord& record,
                      const Site& site) const;
  RawEvent& add_event(const exporters::DecodedRecord& record,
                      const Site& site, std::int64_t ns);
  void begin(const exporters::DecodedRecord& record, std::int64_t ns);
  void begin_async(const exporters::DecodedRecord& record, std::int64_t ns);
  void end(const exporters::DecodedRecord& record, std::int64_t ns);
  void end_async(const exporters::DecodedRecord& record, std::int64_t ns);
  void instant(const exporters::DecodedRecord& record, std::int64_t ns);
  void launch(const exporters::DecodedRecord& record, std::int64_t ns);
  void read_call(const exporters::DecodedRecord& record, const Site& site,
                 RawEvent& event);
  const SharedList<std::string>& stack_of(StringId number);
  void read_inputs(const exporters::DecodedValue& value, RawEvent& event);
  void finish(std::size_t event, std::int64_t ns, ThreadIndex thread);
  bool take_early_end(std::uint64_t id, std::size_t event);

  Definitions definitions_;
  const ProfilerOptions& options_;
  const std::int64_t node_id_;
  Symbolizer symbolizer_;
  std::unordered_map<StringId, SharedList<std::string>> stacks_;
  std::vector<Site> sites_;
  std::unordered_map<std::uint64_t, Line> lines_;
  std::unordered_map<std::uint64_t, std::size_t> open_async_;  // by async id
  std::unordered_map<std::uint64_t, EarlyEnd> early_ends_;
  std::int64_t next_id_ = 1;
  DecodedCalls calls_;
};

}  // namespace weft::profile

#endif  // WEFT_PROFILE_SRC_CALL_DECODER_H_

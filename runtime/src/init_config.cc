// SPDX-License-Identifier: Apache-2.0
#include "init_config.h"

#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <ctime>

namespace weft {
namespace {

constexpr std::size_t kMinRingBytes = 256 << 10;
constexpr std::size_t kMaxRingBytes = std::size_t{16} << 30;
constexpr std::size_t kMinTopRingBytes = 128 << 10;
constexpr std::size_t kMaxTopRingBytes = std::size_t{1} << 30;
constexpr std::size_t kMinBlockPoolBytes = 1 << 20;
constexpr std::size_t kMaxBlockPoolBytes = std::size_t{4} << 30;

constexpr std::uint64_t kMinPartBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 60;
constexpr std::uint64_t kSecond = 1'000'000'000;

Error wrong(std::string_view what, std::string_view value,
            std::string_view limit, ErrorCode code) {
  return {code, std::string(what) + " = \"" + std::string(value) + "\": " +
                    std::string(limit)};
}

Result<void> check_range(std::string_view name, std::size_t value,
                         std::size_t low, std::size_t high, ErrorCode code) {
  if (value >= low && value <= high) return {};
  return wrong(name, std::to_string(value),
               "must lie between " + std::to_string(low) + " and " +
                   std::to_string(high),
               code);
}

// Reads WEFT_* variables one by one; the first fault stays.
class Reader {
 public:
  explicit Reader(const Environment& environment)
      : environment_(environment) {}

  void text(const char* name, std::string& value) {
    if (const char* set = environment_(name)) value = set;
  }

  void kib(const char* name, std::size_t& bytes) {
    const char* set = environment_(name);
    if (set == nullptr) return;
    const std::string_view text = set;
    std::size_t kib = 0;
    const auto [end, fault] =
        std::from_chars(text.data(), text.data() + text.size(), kib);
    if (fault != std::errc() || end != text.data() + text.size() ||
        kib > kMaxRingBytes >> 10) {
      fail(wrong(name, text, "must be a number of KiB",
                 ErrorCode::kInvalidEnvironment));
      return;
    }
    bytes = kib << 10;
  }

  // A whole number of units, of `size` each.
  template <class T>
  void scaled(const char* name, const char* unit, std::uint64_t size, T set_to) {
    const char* set = environment_(name);
    if (set == nullptr) return;
    const std::string_view text = set;
    std::uint64_t number = 0;
    const auto [end, fault] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size() ||
        number > kMaxFileBytes / size) {
      fail(wrong(name, text, std::string("must be a number of ") + unit,
                 ErrorCode::kInvalidEnvironment));
      return;
    }
    set_to(number * size);
  }

  void flag(const char* name, bool& value) {
    const char* set = environment_(name);
    if (set == nullptr) return;
    const std::string_view text = set;
    if (text == "1" || text == "on") {
      value = true;
    } else if (text == "0" || text == "off" || text.empty()) {
      value = false;
    } else {
      fail(wrong(name, text, "must be 0, off, 1 or on",
                 ErrorCode::kInvalidEnvironment));
    }
  }

  void mode(const char* name, Mode& mode) {
    const char* set = environment_(name);
    if (set == nullptr) return;
    const std::string_view text = set;
    if (text == "stream") {
      mode = Mode::kStream;
    } else if (text == "flight-recorder") {
      mode = Mode::kFlightRecorder;
    } else {
      fail(wrong(name, text, "must be stream or flight-recorder",
                 ErrorCode::kInvalidEnvironment));
    }
  }

  void clock(const char* name, ClockChoice& choice) {
    const char* set = environment_(name);
    if (set == nullptr) return;
    const std::string_view text = set;
    if (text == "auto") {
      choice = ClockChoice::kAuto;
    } else if (text == "tsc") {
      choice = ClockChoice::kTsc;
    } else if (text == "monotonic") {
      choice = ClockChoice::kMonotonic;
    } else {
      fail(wrong(name, text, "must be auto, tsc or monotonic",
                 ErrorCode::kInvalidEnvironment));
    }
  }

  const Result<void>& result() const { return result_; }

 private:
  void fail(Error error) {
    if (result_.ok()) result_ = std::move(error);
  }

  const Environment& environment_;
  Result<void> result_;
};

Result<void> check_rotation(const InitOptions& options,
                            const Environment& environment) {
  const Rotation& rotation = options.rotation;
  const auto refuse = [&](const char* option, const char* variable,
                          const std::string& value, const char* limit) {
    const bool set = environment(variable) != nullptr;
    return wrong(set ? variable : option, value, limit,
                 set ? ErrorCode::kInvalidEnvironment
                     : ErrorCode::kInvalidArgument);
  };
  const std::int64_t after = rotation.after.count();
  if (rotation.bytes != 0 && rotation.bytes < kMinPartBytes)
    return refuse("rotation.bytes", "WEFT_ROTATE_MB",
                  std::to_string(rotation.bytes),
                  "must be 0 or at least 1048576 bytes");
  if (after != 0 && after < static_cast<std::int64_t>(kSecond))
    return refuse("rotation.after", "WEFT_ROTATE_S",
                  std::to_string(after) + " ns", "must be 0 or at least 1 s");
  if (rotation.keep_bytes != 0 &&
      (rotation.bytes == 0 || rotation.keep_bytes / 2 < rotation.bytes))
    return refuse("rotation.keep_bytes", "WEFT_KEEP_MB",
                  std::to_string(rotation.keep_bytes),
                  "must be 0 or at least twice the bytes of a file, which must "
                  "be set");
  if (rotation.wanted() && (options.mode == Mode::kFlightRecorder ||
                            !options.output.ends_with(".weft")))
    return refuse("rotation of output", "WEFT_OUT", options.output,
                  "only .weft files that are streamed are rotated");
  return {};
}

}  // namespace

Environment process_environment() {
  if (getauxval(AT_SECURE) != 0)
    return [](const char*) -> const char* { return nullptr; };
  return [](const char* name) -> const char* { return std::getenv(name); };
}

Result<FinalConfig> finalize(const InitOptions& options,
                             const Environment& environment) {
  FinalConfig config;
  config.options = options;
  InitOptions& o = config.options;
  Reader reader(environment);
  reader.text("WEFT_OUT", o.output);
  reader.text("WEFT_CATEGORIES", o.categories);
  reader.mode("WEFT_MODE", o.mode);
  reader.kib("WEFT_RING_KB", o.ring_bytes);
  reader.kib("WEFT_BLOCK_KB", o.block_pool_bytes);
  reader.clock("WEFT_CLOCK", o.clock);
  reader.flag("WEFT_START", o.start);
  reader.flag("WEFT_LIVE", o.live);
  reader.scaled("WEFT_ROTATE_MB", "MiB", 1 << 20,
                [&](std::uint64_t bytes) { o.rotation.bytes = bytes; });
  reader.scaled("WEFT_KEEP_MB", "MiB", 1 << 20,
                [&](std::uint64_t bytes) { o.rotation.keep_bytes = bytes; });
  reader.scaled("WEFT_ROTATE_S", "seconds", kSecond, [&](std::uint64_t ns) {
    o.rotation.after = std::chrono::nanoseconds(ns);
  });
  reader.text("WEFT_CONTROL", o.control);
  if (o.control == "0" || o.control == "off") o.control.clear();
  reader.flag("WEFT_QUIET", config.quiet);
  if (!reader.result().ok()) return reader.result().error();

  const bool ring_from_environment = environment("WEFT_RING_KB") != nullptr;
  const bool blocks_from_environment = environment("WEFT_BLOCK_KB") != nullptr;
  const Result<void> checks[] = {
      check_range(ring_from_environment ? "WEFT_RING_KB (in bytes)"
                                        : "ring_bytes",
                  o.ring_bytes, kMinRingBytes, kMaxRingBytes,
                  ring_from_environment ? ErrorCode::kInvalidEnvironment
                                        : ErrorCode::kInvalidArgument),
      check_range("top_ring_bytes", o.top_ring_bytes, kMinTopRingBytes,
                  kMaxTopRingBytes, ErrorCode::kInvalidArgument),
      check_range(blocks_from_environment ? "WEFT_BLOCK_KB (in bytes)"
                                          : "block_pool_bytes",
                  o.block_pool_bytes, kMinBlockPoolBytes, kMaxBlockPoolBytes,
                  blocks_from_environment ? ErrorCode::kInvalidEnvironment
                                          : ErrorCode::kInvalidArgument),
  };
  for (const Result<void>& check : checks)
    if (!check.ok()) return check.error();
  if (!std::has_single_bit(o.top_ring_bytes))
    return wrong("top_ring_bytes", std::to_string(o.top_ring_bytes),
                 "must be a power of two", ErrorCode::kInvalidArgument);
  if (o.flush_after.count() < 1 || o.flush_after.count() > 3'600'000)
    return wrong("flush_after", std::to_string(o.flush_after.count()) + " ms",
                 "must lie between 1 ms and 1 h", ErrorCode::kInvalidArgument);
  if (Result<void> check = check_rotation(o, environment); !check.ok()) return check.error();
  // A bound below one top ring bounds that, too.
  while (o.top_ring_bytes > o.ring_bytes) o.top_ring_bytes /= 2;

  Result<CategoryFilter> filter = CategoryFilter::parse(o.categories);
  if (!filter.ok()) {
    Error error = filter.error();
    if (environment("WEFT_CATEGORIES") != nullptr)
      error = {ErrorCode::kInvalidEnvironment,
               "WEFT_CATEGORIES: " + error.message};
    return error;
  }
  config.filter = std::move(*filter);
  config.clock = static_cast<ClockRequest>(o.clock);
  o.output = expand_path(o.output);
  o.control = expand_path(o.control);
  return config;
}

std::string expand_path(std::string_view pattern) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char letter = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%') {
      path += pattern[i];
      continue;
    }
    ++i;
    switch (letter) {
      case 'p': path += std::to_string(getpid()); break;
      case 'e': path += program_invocation_short_name; break;
      case 't': path += std::to_string(std::time(nullptr)); break;
      case '%': path += '%'; break;
      case 'h': {
        char host[256] = "unknown";
        gethostname(host, sizeof host - 1);
        host[sizeof host - 1] = '\0';
        path += host;
        break;
      }
      default:
        path += '%';
        --i;
    }
  }
  return path;
}

}  // namespace weft

// SPDX-License-Identifier: Apache-2.0
#include "json_trace_check.h"

#include <simdjson.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>

namespace weft::test {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;
using Track = std::pair<std::int64_t, std::int64_t>;

std::string text_of(const element& value) { return simdjson::minify(value); }

std::map<std::string, std::string> members_of(const object& members,
                                              std::vector<std::string>* problems) {
  std::map<std::string, std::string> all;
  for (const auto& field : members)
    if (!all.emplace(std::string(field.key), text_of(field.value)).second)
      problems->push_back("key twice: " + std::string(field.key));
  return all;
}

std::int64_t to_ns(double micros) { return std::llround(micros * 1000.0); }

class Reader {
 public:
  explicit Reader(JsonTrace* trace) : trace_(*trace) {}

  void read(const std::string& text) {
    simdjson::dom::parser parser;
    element root;
    if (const auto error = parser.parse(text).get(root)) {
      return problem(std::string("not JSON: ") + simdjson::error_message(error));
    }
    object top;
    if (root.get(top)) return problem("not an object");
    for (const auto& field : top)
      if (field.key != "traceEvents" && !field.value.is_object() &&
          !field.value.is_string())
        problem("top level: " + std::string(field.key));
    std::string_view unit;
    if (root["displayTimeUnit"].get(unit) || unit != "ns")
      problem("displayTimeUnit is not ns");
    object other;
    if (!root["otherData"].get(other))
      trace_.other_data = members_of(other, &trace_.problems);
    element tail;
    if (!root["weft"].get(tail)) trace_.tail = text_of(tail);
    simdjson::dom::array events;
    if (root["traceEvents"].get(events)) return problem("no traceEvents");
    for (const element event : events) read_event(event);
    if (trace_.events.empty()) problem("no events");
    rebuild_spans();
    check_names();
    check_flows();
    check_async();
  }

 private:
  void problem(std::string what) { trace_.problems.push_back(std::move(what)); }

  void read_event(const element& from) {
    JsonEvent event;
    const std::string text = text_of(from);
    const auto string = [&](const char* key, std::string* to) {
      std::string_view value;
      if (from[key].get(value)) problem(std::string("no ") + key + ": " + text);
      else *to = value;
    };
    const auto number = [&](const char* key, std::int64_t* to) {
      if (from[key].get(*to)) problem(std::string("no ") + key + ": " + text);
    };
    string("name", &event.name);
    string("cat", &event.cat);
    string("ph", &event.ph);
    number("pid", &event.pid);
    number("tid", &event.tid);
    constexpr std::int64_t kMaxId = (std::int64_t{1} << 31) - 1;
    if (event.pid < 1 || event.pid > kMaxId || event.tid < 1 ||
        event.tid > kMaxId)
      problem("id out of range: " + text);
    if (event.name.empty()) problem("empty name: " + text);
    if (event.ph.size() != 1 ||
        std::string_view("XBEiCMstfbe").find(event.ph) == std::string_view::npos)
      problem("phase: " + text);
    double ts = -1;
    if (from["ts"].get(ts) || ts < 0) problem("no ts: " + text);
    event.ts_ns = to_ns(ts);
    double dur = -1;
    if (event.ph == "X" && (from["dur"].get(dur) || dur < 0))
      problem("no dur: " + text);
    if (event.ph == "X") event.dur_ns = to_ns(dur);
    element id;
    if (!from["id"].get(id)) event.id = text_of(id);
    std::string_view bp;
    if (!from["bp"].get(bp)) event.bp = bp;
    element args;
    if (!from["args"].get(args)) {
      object members;
      event.has_args = true;
      if (args.get(members)) problem("args is no object: " + text);
      else event.args = members_of(members, &trace_.problems);
    }
    if ((event.ph == "M" || event.ph == "C") && !event.has_args)
      problem("no args: " + text);
    trace_.events.push_back(std::move(event));
  }

  // What a viewer does: by time, at one time E first, then X longest first,
  // then the rest in the order of the file.
  void rebuild_spans() {
    std::map<Track, std::vector<const JsonEvent*>> tracks;
    for (const JsonEvent& event : trace_.events)
      if (event.ph == "X" || event.ph == "B" || event.ph == "E")
        tracks[{event.pid, event.tid}].push_back(&event);
    for (auto& [track, events] : tracks) {
      const auto rank = [](const JsonEvent* e) {
        return e->ph == "E" ? 0 : e->ph == "X" ? 1 : 2;
      };
      std::stable_sort(events.begin(), events.end(), [&](auto* a, auto* b) {
        return std::tuple(a->ts_ns, rank(a), -a->dur_ns) <
               std::tuple(b->ts_ns, rank(b), -b->dur_ns);
      });
      std::vector<JsonSpan>& spans = trace_.spans[track];
      std::vector<std::size_t> open;  // indices of B
      for (const JsonEvent* event : events) {
        if (event->ph == "X") {
          spans.push_back({event->name, event->ts_ns,
                           event->ts_ns + event->dur_ns, event->args});
        } else if (event->ph == "B") {
          open.push_back(spans.size());
          spans.push_back({event->name, event->ts_ns, -1, event->args});
        } else if (open.empty()) {
          problem("E without B: " + event->name);
        } else {
          JsonSpan& span = spans[open.back()];
          open.pop_back();
          if (span.name != event->name)
            problem("E " + event->name + " ends " + span.name);
          span.end_ns = event->ts_ns;
          for (const auto& [key, value] : event->args)
            if (!span.args.emplace(key, value).second)
              problem("B and E of " + span.name + " both have " + key);
        }
      }
      for (const std::size_t left : open)
        problem("B without E: " + spans[left].name);
      check_nesting(spans);
    }
  }

  void check_nesting(std::vector<JsonSpan>& spans) {
    std::stable_sort(spans.begin(), spans.end(), [](auto& a, auto& b) {
      return std::tuple(a.begin_ns, -a.end_ns) <
             std::tuple(b.begin_ns, -b.end_ns);
    });
    std::vector<const JsonSpan*> open;
    for (const JsonSpan& span : spans) {
      while (!open.empty() && open.back()->end_ns < span.begin_ns)
        open.pop_back();
      const std::string where = span.name + " [" +
                                std::to_string(span.begin_ns) + ", " +
                                std::to_string(span.end_ns) + "]";
      if (span.end_ns <= span.begin_ns) problem("no length: " + where);
      // A tie that a viewer could take either way. Two begins may coincide
      // where both are clipped there.
      if (!open.empty() && open.back()->end_ns <= span.end_ns)
        problem("overlap: " + where + " with " + open.back()->name);
      if (!open.empty() && open.back()->begin_ns == span.begin_ns &&
          !(open.back()->args.contains("clipped") &&
            span.args.contains("clipped")))
        problem("tie: " + where + " with " + open.back()->name);
      open.push_back(&span);
    }
  }

  void check_names() {
    std::set<Track> named, seen;
    for (const JsonEvent& event : trace_.events) {
      if (event.ph != "M") seen.insert({event.pid, event.tid});
      if (event.name == "thread_name") named.insert({event.pid, event.tid});
    }
    for (const Track& track : seen)
      if (!named.contains(track))
        problem("thread has no name: " + std::to_string(track.second));
  }

  bool inside_span(const JsonEvent& event) const {
    const auto track = trace_.spans.find({event.pid, event.tid});
    if (track == trace_.spans.end()) return false;
    const auto& spans = track->second;
    // Spans nest, so the last that begins before is in all that enclose it, or
    // before one that does: walking back finds it soon.
    auto at = std::upper_bound(
        spans.begin(), spans.end(), event.ts_ns,
        [](std::int64_t t, const JsonSpan& s) { return t <= s.begin_ns; });
    while (at != spans.begin())
      if ((--at)->end_ns > event.ts_ns) return true;
    return false;
  }

  void check_flows() {
    std::map<std::string, std::vector<const JsonEvent*>> flows;
    for (const JsonEvent& event : trace_.events)
      if (event.ph == "s" || event.ph == "t" || event.ph == "f")
        flows[event.id].push_back(&event);
    for (const auto& [id, events] : flows) {
      if (id.empty() || id.front() == '"' || std::stod(id) >= 9007199254740992.0)
        problem("flow id: " + id);
      std::size_t starts = 0, finishes = 0;
      for (const JsonEvent* event : events) {
        starts += event->ph == "s";
        finishes += event->ph == "f";
        if (event->ph != "s" && event->bp != "e") problem("flow bp: " + id);
        if (event->name != events[0]->name || event->cat != events[0]->cat)
          problem("flow name: " + id);
        if (!inside_span(*event)) problem("flow outside of spans: " + id);
      }
      if (starts != 1 || finishes != 1) problem("flow ends: " + id);
    }
  }

  void check_async() {
    std::map<std::tuple<std::string, std::string, std::string>,
             std::pair<std::int64_t, std::int64_t>> open;
    for (const JsonEvent& event : trace_.events) {
      if (event.ph != "b" && event.ph != "e") continue;
      auto& [begin, end] =
          open.try_emplace({event.cat, event.id, event.name}, -1, -1)
              .first->second;
      auto& side = event.ph == "b" ? begin : end;
      if (side != -1) problem("async twice: " + event.name + event.id);
      side = event.ts_ns;
    }
    for (const auto& [key, times] : open)
      if (times.first < 0 || times.second <= times.first)
        problem("async not paired: " + std::get<2>(key));
  }

  JsonTrace& trace_;
};

}  // namespace

std::vector<JsonEvent> JsonTrace::with_phase(const std::string& ph) const {
  std::vector<JsonEvent> found;
  for (const JsonEvent& event : events)
    if (event.ph == ph) found.push_back(event);
  return found;
}

std::vector<JsonEvent> JsonTrace::named(const std::string& name) const {
  std::vector<JsonEvent> found;
  for (const JsonEvent& event : events)
    if (event.name == name) found.push_back(event);
  return found;
}

std::vector<JsonSpan> JsonTrace::all_spans() const {
  std::vector<JsonSpan> all;
  for (const auto& [track, list] : spans)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

JsonSpan JsonTrace::span(const std::string& name) const {
  for (const JsonSpan& candidate : all_spans())
    if (candidate.name == name) return candidate;
  return {};
}

std::string JsonTrace::tree(std::int64_t tid) const {
  std::string text;
  std::vector<std::int64_t> open;  // ends
  for (const auto& [track, list] : spans) {
    if (track.second != tid) continue;
    for (const JsonSpan& span : list) {
      while (!open.empty() && open.back() < span.begin_ns) open.pop_back();
      if (!text.empty()) text += ' ';
      text += std::to_string(open.size()) + span.name;
      open.push_back(span.end_ns);
    }
  }
  return text;
}

std::string JsonTrace::thread_name(std::int64_t tid) const {
  std::string name;
  for (const JsonEvent& event : events)
    if (event.name == "thread_name" && event.tid == tid)
      name = event.args.at("name");
  return name;
}

std::string JsonTrace::all_problems() const {
  std::string all;
  for (std::size_t i = 0; i < std::min<std::size_t>(problems.size(), 20); ++i)
    all += problems[i] + "\n";
  return all;
}

JsonTrace read_json_trace(const std::string& text) {
  JsonTrace trace;
  Reader(&trace).read(text);
  return trace;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string read_gzip(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  char part[4096];
  for (int n; (n = gzread(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  gzclose(file);
  return text;
}

}  // namespace weft::test

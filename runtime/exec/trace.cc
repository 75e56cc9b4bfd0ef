#include "runtime/exec/trace.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "runtime/io/output.h"

namespace dtranspile::exec {
namespace {

using Json = nlohmann::json;

Json NameEvent(const char* what, int process, int row, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}};
}

}  // namespace

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Trace::Add(const char* name, int row, int64_t begin_ns, int64_t end_ns) {
  if (events_.size() == events_.capacity()) ++left_out_;
  else events_.push_back({name, row, begin_ns, end_ns});
}

// The Trace Event Format of Chrome's about:tracing and Perfetto: complete events ("X") with times
// in microseconds; a process per rank, a row for the steps and one per communicator.
absl::Status Trace::Write(const std::string& path, int process, const std::string& title,
                          const std::vector<std::string>& comms) const {
  Json events = Json::array();
  events.push_back(NameEvent("process_name", process, kWork, title));
  events.push_back(NameEvent("thread_name", process, kWork, "steps"));
  for (size_t i = 0; i < comms.size(); ++i)
    events.push_back(NameEvent("thread_name", process, kComm + static_cast<int>(i),
                               absl::StrCat("comm ", comms[i])));
  constexpr double kNsPerUs = 1000;
  for (const Event& event : events_)
    events.push_back({{"ph", "X"},
                      {"name", event.name},
                      {"pid", process},
                      {"tid", event.row},
                      {"ts", static_cast<double>(event.begin_ns) / kNsPerUs},
                      {"dur", static_cast<double>(event.end_ns - event.begin_ns) / kNsPerUs}});
  const std::string text =
      Json{{"traceEvents", events}, {"otherData", {{"events_left_out", left_out_}}}}.dump(
          -1, ' ', false, Json::error_handler_t::replace);
  return io::WriteFile(path, text.data(), static_cast<int64_t>(text.size()));
}

}  // namespace dtranspile::exec

#include "tools/dtranspile/page/ran.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "compiler/analysis/tasks.h"
#include "runtime/io/json.h"
#include "tools/dtranspile/page/facts.h"
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/stages.h"

namespace dtranspile::page {
namespace {

using Json = nlohmann::json;

// Of the row of a rank's own work (runtime/exec/trace.h).
constexpr int64_t kWork = 0;

bool takeNumber(std::string_view& text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// "F 3", "B.1 0": the task, its chunk where it is not the first one, the micro-batch.
bool parseEntry(std::string_view name, schedule::Entry& entry) {
  static constexpr std::string_view kLetters = "FBW";
  const size_t letter = name.empty() ? std::string_view::npos : kLetters.find(name[0]);
  if (letter == std::string_view::npos) return false;
  entry = {static_cast<schedule::Task>(letter), 0, 0};
  name.remove_prefix(1);
  if (name.starts_with('.')) {
    name.remove_prefix(1);
    if (!takeNumber(name, entry.chunk)) return false;
  }
  if (!name.starts_with(' ')) return false;
  name.remove_prefix(1);
  return takeNumber(name, entry.micro) && name.empty();
}

bool isWait(std::string_view name) { return name == "recv" || name.starts_with("recv "); }

struct Event {
  std::string name;
  double begin, end;
};

// A complete event of a rank's own work; false where it is another one. `defect` says what is
// missing of it.
bool readEvent(const Json& json, Event& event, std::string& defect) {
  const auto number = [&](const char* key, double& value) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return defect = key, false;
    value = found->get<double>();
    return true;
  };
  if (!json.is_object()) return defect = "ph", false;
  if (json.value("ph", Json()) != "X") return false;
  double row = 0, length = 0;
  if (!number("tid", row) || !number("ts", event.begin) || !number("dur", length)) return false;
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string()) return defect = "name", false;
  if (row != kWork) return false;
  event.name = name->get<std::string>();
  event.end = event.begin + length;
  return true;
}

}  // namespace

absl::StatusOr<RankTrace> parseTrace(const std::string& name, std::string_view text) {
  DT_ASSIGN_OR_RETURN(const Json root, io::ParseJson<Json>(name, text));
  const auto events = root.is_object() ? root.find("traceEvents") : root.end();
  if (!root.is_object() || events == root.end() || !events->is_array())
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": is no trace: it has no list `traceEvents`"));
  RankTrace trace;
  std::vector<Event> waits;  // that no task has been seen of: an event is written when it ends
  for (size_t i = 0; i < events->size(); ++i) {
    Event event;
    std::string defect;
    if (!readEvent((*events)[i], event, defect)) {
      if (defect.empty()) continue;
      return absl::InvalidArgumentError(absl::StrCat(name,
                                                     ": is no trace of dtranspile: `traceEvents[",
                                                     i, "]` has no proper `", defect, "`"));
    }
    schedule::Entry entry{};
    if (isWait(event.name)) waits.push_back(std::move(event));
    else if (parseEntry(event.name, entry)) {
      RanTask task{entry, event.begin, event.end, {}};
      for (const Event& wait : waits)
        if (wait.begin >= task.begin && wait.end <= task.end)
          task.waits.push_back({wait.begin, wait.end});
      waits.clear();
      trace.push_back(std::move(task));
    }
  }
  return trace;
}

std::vector<std::pair<std::string, int64_t>> tracedRanks(const Job& job) {
  std::vector<std::pair<std::string, int64_t>> ranks;
  const JobFacts facts = JobFacts::of(job);
  for (const RoleFacts& role : facts.roles)
    for (const ProgramFacts& program : role.programs)
      pd::ProgramOp(program.op)->walk([&](dist::MicroOp micro) {
        const TaskGraph graph = tasksOf(micro, role.mesh);
        const int64_t stages =
            graph.tasks.empty() || graph.astray ? 0 : std::min(graph.stages, kMostStages);
        for (int64_t stage = 0; stage < stages; ++stage)
          ranks.emplace_back(role.name().str(), firstRankOf(role.mesh, graph.axis, stage));
      });
  return ranks;
}

}  // namespace dtranspile::page

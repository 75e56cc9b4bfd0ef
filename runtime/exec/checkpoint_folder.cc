#include "runtime/exec/checkpoint_folder.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/json_reader.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/shared_folder.h"

namespace dtranspile::exec {
namespace {

constexpr char kPrefix[] = "step-";

// The step of a name after a prefix; -1 for a name that is none of ours.
int64_t StepOf(std::string_view name, std::string_view prefix) {
  int64_t step = -1;
  if (name.substr(0, prefix.size()) != prefix) return -1;
  const std::string digits(name.substr(prefix.size()));
  return absl::SimpleAtoi(digits, &step) && CheckpointName(step) == kPrefix + digits ? step : -1;
}

// Steps of complete ones, rising.
std::vector<int64_t> StepsIn(const std::vector<std::string>& names) {
  std::vector<int64_t> steps;
  for (const std::string& name : names)
    if (const int64_t step = StepOf(name, kPrefix); step >= 0) steps.push_back(step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace

std::string CheckpointName(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof(name), "step-%012lld", static_cast<long long>(step));
  return name;
}

// By the number in the name. No folder, or none with a checkpoint, is no error: the run begins at
// the beginning.
absl::StatusOr<std::optional<FoundCheckpoint>> NewestCheckpoint(const std::string& folder) {
  std::optional<FoundCheckpoint> none;
  DT_ASSIGN_OR_RETURN(const io::Entry entry, io::Look(folder));
  if (entry == io::Entry::kNone) return none;
  DT_ASSIGN_OR_RETURN(const std::vector<std::string> names, io::NamesIn(folder));
  const std::vector<int64_t> steps = StepsIn(names);
  if (steps.empty()) return none;
  FoundCheckpoint found;
  found.folder = absl::StrCat(folder, "/", CheckpointName(steps.back()));
  const std::string file = absl::StrCat(found.folder, "/", kCheckpointSeal);
  DT_ASSIGN_OR_RETURN(const Json json, io::ReadJson<Json>(file));
  JsonErrors errors(file);
  JsonObject root(json, "", errors);
  found.step = root.Int("step", 0, INT64_MAX);
  found.fed = root.Int("fed", 0, INT64_MAX);
  (void)root.String("digest");
  root.Done();
  if (!errors.ok()) return errors.status();
  return std::optional<FoundCheckpoint>(found);
}

// Keeps the newest `keep` up to `step`; what a run that was ended left unfinished goes too.
// Failures are no errors: the checkpoint that was just written is what counts.
void RemoveOldCheckpoints(const std::string& folder, int64_t step, int keep) {
  const auto names = io::NamesIn(folder);
  if (!names.ok()) return;
  const std::string unfinished = absl::StrCat(io::kUnfinishedPrefix, kPrefix);
  for (const std::string& name : *names)
    if (const int64_t other = StepOf(name, unfinished); other >= 0 && other < step)
      io::RemoveAll(absl::StrCat(folder, "/", name)).IgnoreError();
  std::vector<int64_t> steps = StepsIn(*names);
  steps.erase(std::upper_bound(steps.begin(), steps.end(), step), steps.end());
  for (; static_cast<int>(steps.size()) > keep; steps.erase(steps.begin())) {
    // First out of sight, so that nobody begins from a part of one.
    const std::string name = CheckpointName(steps.front());
    const std::string going = absl::StrCat(folder, "/", io::kUnfinishedPrefix, name);
    if (std::rename(absl::StrCat(folder, "/", name).c_str(), going.c_str()) == 0)
      io::RemoveAll(going).IgnoreError();
  }
}

}  // namespace dtranspile::exec

#include "runtime/launch/job.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/control.h"
#include "runtime/exec/flight/divergence.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/owned_folder.h"
#include "runtime/io/shared_folder.h"
#include "runtime/launch/flights.h"
#include "runtime/launch/meeting.h"
#include "runtime/launch/process.h"
#include "runtime/launch/ranks.h"
#include "runtime/launch/report.h"
#include "runtime/launch/saving.h"
#include "runtime/launch/supervisor.h"

namespace dtranspile::launch {
namespace {

// Parts of cut variables on their way from the ranks to whole ones.
// Ranks write their parts into a folder beside the variables while the launcher still watches them;
// whole variables are put together from there after the last rank has ended well. A run that is
// killed in between leaves the old variables, and a folder that the next run clears.
class SavedParts {
 public:
  // Shares the saving of variables out to the ranks. Variables that lie in parts are written as
  // parts first and joined when all ranks are done.
  absl::Status Begin(const std::string& save, std::vector<Rank>& ranks) {
    DT_ASSIGN_OR_RETURN(variables_, ShareSaving(save, ranks));
    if (variables_.empty()) return absl::OkStatus();
    // Beside the variables: room for them is there or nowhere.
    constexpr const char* kPrefix = ".dtranspile-parts-";
    io::OwnedFolder::ClearLeft(save, kPrefix);
    DT_ASSIGN_OR_RETURN(io::OwnedFolder folder,
                        io::OwnedFolder::Make(save, kPrefix, "parts of variables of a run"));
    folder_.emplace(std::move(folder));
    for (size_t i = 0; i < ranks.size(); ++i)
      if (!ranks[i].config.part_names.empty())
        ranks[i].config.save_parts = PartsFolder(folder_->path(), i);
    return absl::OkStatus();
  }

  absl::Status PutTogether(const std::string& save) {
    if (variables_.empty()) return absl::OkStatus();
    return launch::PutTogether(variables_, folder_->path(), save);
  }

 private:
  std::vector<CutVariable> variables_;
  std::optional<io::OwnedFolder> folder_;
};

// Takes digits from the front; false where there are none.
bool TakeNumber(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

bool TakeWord(std::string_view& text, std::string_view word) {
  if (text.substr(0, word.size()) != word) return false;
  text.remove_prefix(word.size());
  return true;
}

// The values of all readers in one step, as lists; kOutOfRange when one is at its end.
absl::StatusOr<std::vector<Json>> NextStep(std::vector<StepLog::Reader>& readers) {
  std::vector<Json> values;
  for (StepLog::Reader& reader : readers) {
    DT_ASSIGN_OR_RETURN(const std::string line, reader.Next());
    DT_ASSIGN_OR_RETURN(const Json shown, io::ParseJson<Json>("step", line));
    values.push_back(Listed(shown));
  }
  return values;
}

// Adds one value per step that all ranks have finished to a new stream of the report's log. Ranks
// that disagree are a failure of the job, the first time.
absl::Status CombineFetch(const std::string& name, const HeldFetch& fetch, Report& report,
                          std::optional<Failure>& failure) {
  std::vector<StepLog::Reader> readers;
  for (size_t index : fetch.indices) {
    const RankRecord& record = report.ranks[index].record;
    const auto found = record.fetch.find(name);
    if (found != record.fetch.end()) readers.emplace_back(report.log, found->second);
  }
  const size_t stream = report.fetch[name] = report.log.AddStream();
  // Of a job that has ended early some ranks may have reported nothing.
  if (readers.size() < fetch.indices.size()) readers.clear();
  for (int64_t step = 0; !readers.empty(); ++step) {
    const auto values = NextStep(readers);
    if (absl::IsOutOfRange(values.status())) break;
    DT_RETURN_IF_ERROR(values.status());
    const auto combined = Combine(fetch.combine, *values, fetch.ranks);
    if (!combined.ok() && !failure)
      failure = Failure{Failure::kOwn,
                        static_cast<int>(fetch.indices.front()),
                        {},
                        step,
                        absl::StrCat("fetch '", name, "': ", combined.status().message())};
    report.log.Append(stream, combined.ok() ? Shown(*combined).dump() : "null");
  }
  return absl::OkStatus();
}

// Null for a run that ended well; rank, op and step as far as they are known.
Json ErrorJson(const Ranks& ranks, const std::optional<Failure>& failure) {
  if (!failure) return nullptr;
  const bool known = failure->process >= 0;
  const Rank& rank = ranks.ranks[known ? static_cast<size_t>(failure->process) : 0];
  return {
      {"rank", known ? Json(rank.rank) : Json()},
      {"role", known ? Json(rank.role) : Json()},
      {"class", known ? Json(rank.class_name) : Json()},
      {"op", failure->op},
      {"step", failure->step},
      {"message", known ? absl::StrCat(rank.name(), ": ", failure->message) : failure->message}};
}

// What the flight recorders say of a job that has failed.
absl::Status AddFlights(const Flights& flights, const std::string& folder, Report& report) {
  const std::vector<flight::Recording> recordings = flights.Read();
  const flight::Divergence divergence = flight::DivergenceOf(recordings);
  if (!divergence.empty()) {
    report.error["diverged"] = flight::JsonOf(divergence, recordings);
    report.diverged = flight::LinesOf(divergence, recordings);
  }
  return folder.empty() ? absl::OkStatus() : WriteRecordings(folder, recordings);
}

}  // namespace

bool IsFetchFile(std::string_view file, std::string_view name) {
  std::string_view rest = file;
  if (!TakeNumber(rest) || !TakeWord(rest, "/")) rest = file;
  if (!TakeWord(rest, name)) return false;
  if (rest == ".npy") return true;
  return TakeWord(rest, ".step") && TakeNumber(rest) && (rest == ".npy" || rest == ".lod.json");
}

bool IsTraceFile(std::string_view file, std::string_view role) {
  return TakeWord(file, role) && TakeWord(file, ".") && TakeNumber(file) && file == ".json";
}

// Whatever can be refused is refused before the first process is started, in the order: request,
// plans, worker, folders, meeting point. From Start on a failure is one of the run, which ends with
// a report as well.
absl::StatusOr<Report> RunJob(const JobSpec& spec) {
  constexpr double kLongestTimeout = 1e6;
  constexpr int64_t kShortestTimeout = 2 * exec::kSignOfLife.count();
  if (!(spec.timeout_seconds > 0 && spec.timeout_seconds <= kLongestTimeout))
    return absl::InvalidArgumentError(absl::StrCat("a deadline of ", spec.timeout_seconds,
                                                   " s is not between 0 and ", kLongestTimeout));
  if (spec.timeout_seconds < kShortestTimeout)
    return absl::InvalidArgumentError(
        absl::StrCat("a deadline of ", spec.timeout_seconds,
                     " s is too short: a rank gives a sign of life every ",
                     exec::kSignOfLife.count(), " s, so a healthy one may take ", kShortestTimeout,
                     " s; give ", kShortestTimeout, " s or more"));
  DT_ASSIGN_OR_RETURN(Ranks ranks, MakeRanks(spec));
  DT_ASSIGN_OR_RETURN(const std::string worker, FindWorker(spec.worker));
  for (const std::string& folder : {spec.save, spec.save_fetches, spec.trace, spec.flight})
    if (!folder.empty()) DT_RETURN_IF_ERROR(io::MakeFolders(folder));
  Meeting meeting;
  std::vector<exec::WorkerConfig*> configs;
  for (Rank& rank : ranks.ranks) configs.push_back(&rank.config);
  DT_RETURN_IF_ERROR(
      meeting.Begin({spec.backend, spec.token, spec.interface, spec.timeout_seconds}, configs));
  std::optional<io::FolderUse> checkpoints;
  if (spec.checkpoints) {
    const std::string& folder = spec.checkpoints->folder;
    DT_RETURN_IF_ERROR(io::MakeFolders(folder));
    DT_ASSIGN_OR_RETURN(
        io::FolderUse use,
        io::FolderUse::Begin(folder, spec.part ? io::FolderUse::kTogether : io::FolderUse::kAlone));
    checkpoints.emplace(std::move(use));
  }
  DT_RETURN_IF_ERROR(ShareCheckpoints(spec, ranks.ranks));
  SavedParts parts;
  DT_RETURN_IF_ERROR(parts.Begin(spec.save, ranks.ranks));
  Flights flights;
  if (spec.records) DT_RETURN_IF_ERROR(flights.Begin(ranks.ranks.size()));
  Supervisor supervisor(ranks.ranks, spec.timeout_seconds, spec.steps, &flights);
  DT_RETURN_IF_ERROR(supervisor.Start(worker));
  supervisor.Watch();

  std::optional<Failure> failure = supervisor.failure();
  const auto fail = [&](const absl::Status& status) {
    if (!status.ok() && !failure)
      failure = Failure{Failure::kOwn, -1, {}, {}, std::string(status.message())};
  };
  Report report;
  report.log = supervisor.TakeLog();
  for (size_t i = 0; i < ranks.ranks.size(); ++i) {
    const Rank& rank = ranks.ranks[i];
    report.ranks.push_back({rank.role, rank.class_name, rank.plan->target.device, rank.rank,
                            rank.config.threads, rank.compile_ms, supervisor.records()[i]});
  }
  for (const auto& [name, fetch] : ranks.fetches) fail(CombineFetch(name, fetch, report, failure));
  if (!failure && !spec.save_fetches.empty()) fail(CombineFiles(spec.save_fetches, ranks.fetches));
  if (!failure) fail(parts.PutTogether(spec.save));
  report.ok = !failure;
  report.interrupted_by = supervisor.interrupted_by();
  report.digest = spec.digest;
  report.steps = spec.steps;
  report.error = ErrorJson(ranks, failure);
  if (failure) DT_RETURN_IF_ERROR(AddFlights(flights, spec.flight, report));
  return report;
}

}  // namespace dtranspile::launch

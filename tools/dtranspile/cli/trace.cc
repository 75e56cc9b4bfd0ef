// dtranspile trace merge DIR…
#include "runtime/flight/divergence.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/launch/flights.h"
#include "tools/dtranspile/cli/files.h"

namespace dtranspile::cli {
namespace {

using flight::Recording;

constexpr int64_t kMostBytes = int64_t{1} << 30;

struct MergeFlags {
  std::vector<std::string> folders;
  std::string format = "text";
};

// All recordings of a folder, in the order of their names; false after a message.
bool readFolder(Tool& tool, const std::string& folder, std::vector<Recording>& recordings) {
  const auto fail = [&](const absl::Status& status) {
    return tool.error(std::string(status.message())), false;
  };
  absl::StatusOr<std::vector<std::string>> names = io::NamesIn(folder);
  if (!names.ok()) return fail(names.status());
  llvm::sort(*names);
  const size_t before = recordings.size();
  for (const std::string& name : *names) {
    if (!launch::IsFlightFile(name, "")) continue;
    const std::string path = folder + "/" + name;
    absl::StatusOr<std::string> text = io::ReadText(path, kMostBytes);
    if (!text.ok()) return fail(text.status());
    absl::StatusOr<Recording> recording = flight::ParseRecording(path, *text);
    if (!recording.ok()) return fail(recording.status());
    recordings.push_back(*std::move(recording));
  }
  if (recordings.size() > before) return true;
  return tool.error(folder +
                    ": holds no recordings (<role>.<rank>.flight.json); `dtranspile run "
                    "--flight DIR` leaves them where a job fails"),
         false;
}

// Recordings of several jobs, or of one rank twice, say nothing together.
bool isOneJob(Tool& tool, const std::vector<Recording>& recordings) {
  std::set<std::string> names;
  for (const Recording& one : recordings) {
    if (one.digest != recordings.front().digest)
      return tool.error(one.name() + " is of another job than " + recordings.front().name() + " (" +
                        one.digest + ", not " + recordings.front().digest + ")"),
             false;
    if (!names.insert(one.name()).second) return tool.error(one.name() + " is there twice"), false;
  }
  return true;
}

int merge(Tool& tool, const MergeFlags& flags) {
  std::vector<Recording> recordings;
  for (const std::string& folder : flags.folders)
    if (!readFolder(tool, folder, recordings)) return kNo;
  if (!isOneJob(tool, recordings)) return kNo;
  const flight::Divergence divergence = flight::DivergenceOf(recordings);
  std::string text;
  if (flags.format == "json") {
    text = io::JsonText(flight::JsonOf(divergence, recordings), 1) + "\n";
  } else {
    for (const std::string& line : flight::LinesOf(divergence, recordings)) text += line + "\n";
    if (divergence.empty())
      text = "no rank waits for another one that has not come: the " +
             std::to_string(recordings.size()) + " recordings do not differ\n";
  }
  if (!writeOutput(tool, "-", text)) return kNo;
  return divergence.empty() ? kDone : kNo;
}

}  // namespace

Action declareTrace(CLI::App& app) {
  app.require_subcommand(1);
  app.footer("Example: dtranspile trace merge flight");
  auto flags = std::make_shared<MergeFlags>();
  CLI::App* sub = app.add_subcommand("merge", "compare the flight recordings of a job's ranks");
  sub->footer(
      "Example: dtranspile run job --feeds feeds --flight flight || dtranspile trace merge flight"
      "\n\nExit status: 0 the recordings do not differ, 1 they do, or one cannot be read.");
  sub->add_option("DIR", flags->folders, "folders of `run --flight`, of all hosts of the job")
      ->required();
  sub->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  return [flags](Tool& tool) { return merge(tool, *flags); };
}

}  // namespace dtranspile::cli

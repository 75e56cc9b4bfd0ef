// dtranspile run JOB|MAIN
#include <dlfcn.h>

#include <cmath>
#include <csignal>

#include "compiler/analysis/program_info.h"
#include "dialects/dist/settings.h"
#include "runtime/exec/checkpoint_folder.h"
#include "runtime/io/feed.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/output.h"
#include "runtime/launch/flights.h"
#include "runtime/launch/job.h"
#include "tools/dtranspile/cli/compiled.h"
#include "tools/dtranspile/cli/dataset.h"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/initial_values.h"
#include "tools/dtranspile/cli/persistables.h"
#include "tools/dtranspile/cli/placement.h"
#include "tools/dtranspile/cli/run_flags.h"
#include "tools/dtranspile/cli/runnable.h"
#include "tools/dtranspile/cli/scratch.h"

namespace dtranspile::cli {
namespace {

struct Flags : RunFlags {
  PlacementFlags placement;
  DatasetFlags dataset;
  std::string report, save, saveFetches, backend = "shm", device, trace, flight;
  std::string checkpoints;
  int64_t every = 0;
  int keep = 2;
  bool resume = false, unrecorded = false;
  double timeout = 60;
  int64_t seed = 0, firstStep = 0;
};

// To standard output.
absl::Status writePiece(absl::string_view text) {
  llvm::outs() << llvm::StringRef(text.data(), text.size());
  llvm::outs().flush();
  if (!llvm::outs().has_error()) return absl::OkStatus();
  const std::string why = llvm::outs().error().message();
  llvm::outs().clear_error();
  return absl::UnavailableError("standard output cannot be written: " + why);
}

// VAR=v0,v1,…: one value per step.
bool parsePerStep(Tool& tool, const Flags& flags, std::map<std::string, std::vector<double>>& out) {
  for (const std::string& text : flags.perStep) {
    size_t at = text.find('=');
    if (at != std::string::npos && out.count(text.substr(0, at)) > 0) {
      tool.error("--per-step " + text + ": '" + text.substr(0, at) +
                 "' is given twice; list its values with commas");
      return false;
    }
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(text)
        .drop_front(at == std::string::npos ? text.size() : at + 1)
        .split(parts, ',');
    for (llvm::StringRef part : parts) {
      double value = 0;
      if (at == std::string::npos || part.trim().getAsDouble(value) || !std::isfinite(value)) {
        tool.error("--per-step " + text +
                   ": expected VAR=v0,v1,… with a finite number for every step");
        return false;
      }
      out[text.substr(0, at)].push_back(value);
    }
  }
  return true;
}

// `from`: what asks for a GPU.
bool refuseCuda(Tool& tool, const std::string& from, const std::string& remedy) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  tool.error(from +
             (driver ? ": programs are not compiled for GPUs yet; "
                     : ": this machine has no CUDA driver (libcuda.so.1 cannot be opened); ") +
             remedy);
  if (driver) dlclose(driver);
  return false;
}

bool checkDevice(Tool& tool, const Flags& flags) {
  if (flags.device != "cuda" && flags.backend != "nccl") return true;
  return refuseCuda(tool, "--device cuda", "run with --device cpu --backend shm");
}

// What the ranks of a role run on: by the flag for it, that for all, or as the job says.
std::string deviceOf(const Compiled& compiled, const Flags& flags, const RunnableRole& role) {
  const auto own = compiled.placement.devices.find(role.name);
  if (own != compiled.placement.devices.end()) return own->second;
  if (!flags.device.empty()) return flags.device;
  const llvm::StringRef word = role.op ? dist::deviceOf(role.op) : llvm::StringRef();
  return word.empty() ? "cpu" : word.str();
}

// Those of a role by itself; 0 for those of all.
int threadsOf(const Compiled& compiled, const Flags& flags, const RunnableRole& role) {
  const auto own = compiled.placement.threads.find(role.name);
  if (own != compiled.placement.threads.end()) return own->second;
  return flags.threads == 0 && role.op ? static_cast<int>(dist::threadsOf(role.op)) : 0;
}

bool checkDevices(Tool& tool, const Flags& flags, const Compiled& compiled) {
  for (const RunnableRole& role : compiled.runnable.roles)
    if (const std::string device = deviceOf(compiled, flags, role); device != "cpu")
      return refuseCuda(tool, "role '" + role.name + "' is to run on " + device,
                        "run it with --role-device " + role.name + "=cpu");
  return true;
}

bool good(Tool& tool, const absl::Status& status) {
  if (!status.ok()) tool.error(std::string(status.message()));
  return status.ok();
}

// The report where it was asked for; fetches to standard output unless the report is there.
bool tell(Tool& tool, const Flags& flags, const launch::Report& report) {
  absl::Status status;
  if (flags.report == "-") {
    status = report.Write(writePiece);
  } else if (!flags.report.empty()) {
    std::string text;
    status = report.Write([&](absl::string_view piece) {
      text.append(piece.data(), piece.size());
      return absl::OkStatus();
    });
    if (status.ok() && !writeOutput(tool, flags.report, text)) return false;
  }
  if (status.ok() && report.ok && flags.report != "-") status = report.WriteFetches(writePiece);
  return good(tool, status);
}

// A folder of --save-fetches or --trace, found out before the run.
bool stage(Tool& tool, const std::string& folder, std::optional<io::StagedFolder>& staged) {
  if (folder.empty()) return true;
  absl::StatusOr<io::StagedFolder> made = io::StagedFolder::Create(folder);
  if (good(tool, made.status())) staged.emplace(*std::move(made));
  return staged.has_value();
}

// What an earlier run has left of the same fetches, and traces of the same roles, goes.
bool publishRecords(Tool& tool, const launch::JobSpec& spec,
                    std::optional<io::StagedFolder>& fetched,
                    std::optional<io::StagedFolder>& traced) {
  auto fetch = [&](const std::string& file) {
    return llvm::any_of(spec.fetch,
                        [&](const std::string& name) { return launch::IsFetchFile(file, name); });
  };
  auto trace = [&](const std::string& file) {
    return llvm::any_of(
        spec.roles, [&](const launch::Role& role) { return launch::IsTraceFile(file, role.name); });
  };
  return (!fetched || good(tool, fetched->PublishInto(fetch))) &&
         (!traced || good(tool, traced->PublishInto(trace)));
}

// Recordings of a job that has failed; those of an earlier one go.
bool publishFlights(Tool& tool, const launch::JobSpec& spec,
                    std::optional<io::StagedFolder>& flown) {
  auto flight = [&](const std::string& file) {
    return llvm::any_of(spec.roles, [&](const launch::Role& role) {
      return launch::IsFlightFile(file, role.name);
    });
  };
  return !flown || good(tool, flown->PublishInto(flight));
}

// The processes of a role, each with the plan of its class.
launch::Role roleOf(const Compiled& compiled, const Flags& flags, size_t index) {
  const RunnableRole& from = compiled.runnable.roles[index];
  launch::Role role;
  role.name = from.name;
  role.mesh = from.mesh;
  const auto& classes = compiled.classes[index];
  for (const Compiled::Class& one : classes) role.compile_ms += one.compileMs;
  role.threads = threadsOf(compiled, flags, from);
  role.device = deviceOf(compiled, flags, from);
  if (classes.size() == 1) {
    if (!classes.front().folder.empty()) role.plans = {classes.front().folder};
    return role;
  }
  for (size_t one : from.classOfRanks()) {
    role.plans.push_back(classes[one].folder);
    role.classes.push_back(from.classes[one].ranks.name);
  }
  return role;
}

// Where the processes are, and who asks whom: of ranks that are not started here there is no plan.
void place(Compiled& compiled, launch::JobSpec& spec) {
  spec.part = compiled.placement.part;
  spec.endpoints = compiled.placement.endpoints;
  spec.token = compiled.placement.token;
  if (!spec.part) return;
  for (const auto& [server, asking] : compiled.runnable.askers())
    for (launch::Role& role : spec.roles)
      if (role.name == asking.first) role.asks[server] = asking.second;
  for (launch::Role& role : spec.roles) {
    const auto found = llvm::find_if(
        compiled.runnable.roles, [&](const RunnableRole& one) { return one.name == role.name; });
    for (RunnableClass& one : found->classes)
      for (pd::VarOp var : one.module->getOps<pd::VarOp>())
        role.variables.insert(var.getSymName().str());
  }
}

// Where the run begins: the newest checkpoint of --resume in place of --init. False after a
// message.
bool resumeFrom(Tool& tool, const Flags& flags, launch::JobSpec& spec, std::string& init) {
  if (!flags.resume) return true;
  if (flags.checkpoints.empty())
    return tool.error("--resume: from where? Add --checkpoint-dir DIR"), false;
  auto found = exec::NewestCheckpoint(flags.checkpoints);
  if (!found.ok()) return tool.error("--resume: " + std::string(found.status().message())), false;
  if (!*found) return tool.note(flags.checkpoints + ": no checkpoint yet; begins anew"), true;
  init = (*found)->folder;
  spec.first_step = (*found)->step;
  spec.skip = (*found)->fed;
  spec.resumes = true;
  tool.note("goes on from step " + std::to_string(spec.first_step) + " (" + init + ")");
  return true;
}

// --checkpoint-dir and what belongs to it. False after a message.
bool findCheckpoints(Tool& tool, const Flags& flags, launch::JobSpec& spec) {
  if (flags.every > 0 && flags.checkpoints.empty())
    return tool.error("--checkpoint-every: into which folder? Add --checkpoint-dir DIR"), false;
  if (flags.checkpoints.empty()) return true;
  // While the job is compiled nobody writes one.
  std::signal(SIGUSR1, SIG_IGN);
  spec.checkpoints = launch::JobCheckpoints{flags.checkpoints, flags.every, flags.keep};
  return true;
}

// As many as the feeds have; of servers, which have none, as many as there are values per step.
int64_t stepsOf(const Flags& flags, const Compiled& compiled, const launch::JobSpec& spec) {
  if (flags.steps > 0) return flags.steps;
  if (!compiled.feeds.empty()) return compiled.feeds[0].steps;
  if (!spec.part || spec.per_step.empty()) return 1;
  return static_cast<int64_t>(spec.per_step.begin()->second.size());
}

// Where nothing is left to run: whoever was to end the job was stopped between its last checkpoint
// and what is written at its end. Values of fetches and traces were those of the runs before.
int concludeFrom(Tool& tool, const Flags& flags, Compiled& compiled, const std::string& checkpoint,
                 SaveTarget& save) {
  tool.note("nothing is left: all steps were run before the checkpoint");
  if (!flags.save.empty() &&
      (!save.take(tool, compiled.runnable, checkpoint) || !save.publish(tool, compiled.runnable)))
    return kNo;
  launch::Report report;
  report.ok = true;
  report.digest = compiled.runnable.digest;
  return tell(tool, flags, report) ? kDone : kNo;
}

// The order is that of what can go wrong cheaply: flags, then data and programs, then compilation,
// then targets of what is written, and the job itself last. Nothing appears under a name of the
// user's unless the run was good (StagedFolder, SaveTarget).
int run(Tool& tool, Flags& flags) {
  if (!checkDevice(tool, flags)) return kNo;
  if (!flags.dataset.description.empty() && (!flags.feeds.empty() || !flags.feed.empty()))
    return tool.error("--dataset gives all feeds: leave out --feeds and --feed"), kUsage;
  launch::JobSpec spec;
  if (!parsePerStep(tool, flags, spec.per_step) || !findCheckpoints(tool, flags, spec))
    return kUsage;
  absl::StatusOr<io::OwnedFolder> scratch = makeScratch();
  if (!scratch.ok()) return tool.error(std::string(scratch.status().message())), kNo;
  if (!flags.report.empty() && flags.report != "-") {
    absl::Status status = io::CheckNamed(flags.report);
    if (!status.ok()) return tool.error("--report " + std::string(status.message())), kNo;
  }
  mlir::FailureOr<Compiled> compiled =
      prepare(tool, flags, &flags.placement, [&](Runnable& runnable) {
        if (flags.dataset.description.empty()) return mlir::success();
        flags.feeds = scratch->path() + "/data";
        return feedFromDataset(tool, flags.dataset, runnable, flags.feeds);
      });
  if (mlir::failed(compiled) || !checkDevices(tool, flags, *compiled)) return kNo;
  for (const auto& [name, values] : spec.per_step)
    if (compiled->placement.part && !compiled->runnable.hasVariable(name))
      return tool.error("--per-step " + name + ": the job has no persistable of that name"), kNo;
  if (mlir::failed(compile(tool, flags, *compiled, scratch->path() + "/plan"))) return kNo;
  std::string from = flags.init;
  spec.first_step = flags.firstStep;
  if (!resumeFrom(tool, flags, spec, from)) return kNo;
  auto init = findInit(tool, compiled->runnable, from, scratch->path());
  if (mlir::failed(init) || (*init && mlir::failed(completeInit(tool, compiled->runnable, flags,
                                                                scratch->path(), **init))))
    return kNo;
  mlir::FailureOr<SaveTarget> save = SaveTarget::open(tool, flags.save, scratch->path());
  if (mlir::failed(save)) return kNo;
  if (!save->folder().empty()) noteOwnValues(tool, compiled->runnable);
  std::optional<io::StagedFolder> fetched, traced, flown;
  if (!stage(tool, flags.saveFetches, fetched) || !stage(tool, flags.trace, traced) ||
      !stage(tool, flags.flight, flown))
    return kNo;
  spec.digest = compiled->runnable.digest;
  for (size_t r = 0; r < compiled->classes.size(); ++r)
    spec.roles.push_back(roleOf(*compiled, flags, r));
  place(*compiled, spec);
  for (const FeedData& feed : compiled->feeds) spec.feeds.push_back({feed.name, feed.file});
  spec.init = *init;
  spec.steps = stepsOf(flags, *compiled, spec);
  if (spec.skip > 0) {
    spec.steps -= spec.skip;
    if (spec.steps <= 0 && (!spec.part || !compiled->feeds.empty()))
      return concludeFrom(tool, flags, *compiled, from, *save);
    spec.steps = std::max<int64_t>(spec.steps, 1);
  }
  spec.fetch = compiled->fetches;
  spec.threads = flags.threads;
  spec.seed = flags.seed;
  spec.save = save->folder();
  if (fetched) spec.save_fetches = fetched->path();
  if (traced) spec.trace = traced->path();
  if (flown) spec.flight = flown->path();
  spec.records = !flags.unrecorded;
  spec.backend = flags.backend;
  spec.timeout_seconds = flags.timeout;
  absl::StatusOr<launch::Report> report = launch::RunJob(spec);
  if (!report.ok()) return tool.error(std::string(report.status().message())), kNo;
  const bool saved = !report->ok || (save->publish(tool, compiled->runnable) &&
                                     publishRecords(tool, spec, fetched, traced));
  if (!tell(tool, flags, *report)) return kNo;
  if (!report->ok && report->error.is_object())
    tool.error(report->error.value("message", "the job failed"));
  for (const std::string& line : report->diverged) tool.note("flight recorder: " + line);
  if (!report->ok && !publishFlights(tool, spec, flown)) return kFailed;
  return report->ok && saved ? kDone : kFailed;
}

}  // namespace

Action declareRun(CLI::App& app) {
  auto flags = std::make_shared<Flags>();
  app.footer("Example: dtranspile run job --feeds feeds --init init --report report.json");
  declareRunFlags(app, *flags);
  declareDataset(app, flags->dataset);
  declarePlacement(app, flags->placement);
  app.add_option("--init", flags->init,
                 "persistables: a folder, a combined file, a .pdparams (with the .pdopt beside "
                 "it); default: the start-up program");
  app.add_option("--per-step", flags->perStep, "VAR=v0,v1,…: sets a persistable before each step");
  app.add_option("--report", flags->report, "writes the report of the run as JSON");
  app.add_option("--save", flags->save,
                 "the persistables at the end: a folder, FILE.pdparams (with FILE.pdopt beside "
                 "it), or FILE.pdiparams, combined");
  app.add_option("--save-fetches", flags->saveFetches,
                 "folder for NAME.npy per fetch, leading dimension = step");
  app.add_option("--trace", flags->trace, "folder for a Chrome trace per rank");
  CLI::Option* flight = app.add_option(
      "--flight", flags->flight,
      "folder for what the ranks' flight recorders hold when the job fails; `dtranspile "
      "trace merge` reads it");
  app.add_flag("--no-flight-recorder", flags->unrecorded,
               "ranks do not record their operations with others")
      ->excludes(flight);
  app.add_option("--timeout", flags->timeout, "seconds that a rank waits for another one")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", flags->seed, "of random ops without a seed of their own")
      ->check(wholeNumber(0));
  app.add_option("--first-step", flags->firstStep,
                 "number of the first step: how many were run before --init was saved, so that "
                 "random ops go on where they were; feeds and --per-step begin anew")
      ->check(CLI::Range(int64_t{0}, exec::kMostSteps));
  CLI::Option* folder = app.add_option(
      "--checkpoint-dir", flags->checkpoints,
      "folder for checkpoints, one for all processes of the job: of every so many rounds, "
      "and of the next one after a SIGUSR1");
  app.add_option("--checkpoint-every", flags->every,
                 "writes one after so many rounds; of jobs without servers, steps")
      ->check(wholeNumber(1));
  app.add_option("--checkpoint-keep", flags->keep, "how many of them stay; default: 2")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(folder);
  app.add_flag("--resume", flags->resume,
               "goes on from the newest checkpoint in --checkpoint-dir, where there is one, with "
               "the feeds and random numbers after it");
  app.add_option("--backend", flags->backend, "between ranks: shm, gloo, nccl")
      ->check(CLI::IsMember({"shm", "gloo", "nccl"}));
  app.add_option("--device", flags->device, "cpu or cuda, of all roles")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  return [flags](Tool& tool) { return run(tool, *flags); };
}

}  // namespace dtranspile::cli

#include "runtime/exec/worker.h"

#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/config.h"
#include "runtime/exec/control.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/values.h"

namespace dtranspile::exec {
namespace {

constexpr double kNsPerMs = 1e6;

class Worker {
 public:
  Worker(const WorkerConfig& config, const WorkerLinks& links, ControlChannel& control)
      : config_(config), links_(links), control_(control) {}

  absl::Status Run();

  // Tells the other ranks and the launcher.
  void Report(const absl::Status& error);

 private:
  absl::Status Load();
  absl::Status Join(const Plan& plan);
  absl::Status Step(int64_t step);
  absl::Status Finish();

  const WorkerConfig& config_;
  const WorkerLinks& links_;
  ControlChannel& control_;
  std::optional<Trace> trace_;
  std::unique_ptr<Executor> executor_;
  // Behind the executor, so that they end first: after a failure they may still move bytes of its
  // memory.
  std::vector<std::unique_ptr<comm::Communicator>> comms_;
  std::optional<Feeds> feeds_;
  std::optional<Fetches> fetches_;
  int64_t step_ = -1;
};

absl::Status Worker::Join(const Plan& plan) {
  if (plan.comms.size() != config_.comms.size())
    return absl::InvalidArgumentError(absl::StrCat("CONFIG has ", config_.comms.size(),
                                                   " communicators, the plan ", plan.comms.size()));
  for (size_t i = 0; i < plan.comms.size(); ++i) {
    const CommConfig& c = config_.comms[i];
    if (c.name != plan.comms[i].name)
      return absl::InvalidArgumentError(absl::StrCat("communicator ", i, " is '", c.name,
                                                     "' in CONFIG, '", plan.comms[i].name,
                                                     "' in the plan"));
    DT_ASSIGN_OR_RETURN(auto comm, links_.join(config_.rendezvous, c.group, c.rank, c.size));
    comms_.push_back(std::move(comm));
  }
  return absl::OkStatus();
}

absl::Status Worker::Load() {
  const int64_t begin = NowNs();
  if (links_.seed) links_.seed(config_);
  DT_ASSIGN_OR_RETURN(Plan plan, ReadPlan(config_.plan));
  DT_RETURN_IF_ERROR(Join(plan));
  ExecutorOptions options;
  options.pool = {config_.threads, config_.spin};
  options.find_function = links_.find_function;
  options.element_types = links_.element_types;
  options.position = {config_.coordinates, config_.mesh};
  for (const auto& comm : comms_) options.comms.push_back(comm.get());
  if (!config_.trace.empty()) options.trace = &trace_.emplace();
  const std::string digest = plan.digest;
  DT_ASSIGN_OR_RETURN(executor_, Executor::Load(std::move(plan), std::move(options)));
  DT_RETURN_IF_ERROR(CheckPerStep(config_, executor_->plan()));
  DT_ASSIGN_OR_RETURN(feeds_, Feeds::Open(config_, *executor_));
  DT_ASSIGN_OR_RETURN(fetches_, Fetches::Open(config_, *executor_));
  DT_RETURN_IF_ERROR(Initialise(config_, *executor_));
  control_.Send({{"event", "ready"},
                 {"load_ms", static_cast<double>(NowNs() - begin) / kNsPerMs},
                 {"digest", digest}});
  return absl::OkStatus();
}

absl::Status Worker::Step(int64_t step) {
  if (links_.begin_step) links_.begin_step(config_.first_step + step);
  DT_RETURN_IF_ERROR(feeds_->Read(step, *executor_));
  DT_RETURN_IF_ERROR(SetPerStep(config_, step, *executor_));
  const int64_t begin = NowNs();
  DT_RETURN_IF_ERROR(executor_->RunMain());
  const double ms = static_cast<double>(NowNs() - begin) / kNsPerMs;
  DT_ASSIGN_OR_RETURN(Json values, fetches_->Take(step, *executor_));
  control_.Send({{"event", "step"}, {"step", step}, {"ms", ms}, {"fetch", std::move(values)}});
  return absl::OkStatus();
}

absl::Status Worker::Finish() {
  DT_RETURN_IF_ERROR(fetches_->Finish());
  if (!config_.save.empty()) DT_RETURN_IF_ERROR(Save(config_, *executor_));
  if (trace_) {
    const std::string title = absl::StrCat(config_.role, " ", config_.rank);
    std::vector<std::string> comms;
    for (const PlanComm& comm : executor_->plan().comms) comms.push_back(comm.name);
    DT_RETURN_IF_ERROR(trace_->Write(config_.trace, config_.rank, title, comms));
  }
  int64_t sent = 0, received = 0;
  for (const auto& comm : comms_) sent += comm->bytes_sent(), received += comm->bytes_received();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  constexpr int64_t kKiB = 1024;
  control_.Send({{"event", "done"},
                 {"peak_rss_bytes", static_cast<int64_t>(usage.ru_maxrss) * kKiB},
                 {"bytes_sent", sent},
                 {"bytes_received", received}});
  return absl::OkStatus();
}

absl::Status Worker::Run() {
  DT_RETURN_IF_ERROR(Load());
  for (step_ = 0; step_ < config_.steps; ++step_) DT_RETURN_IF_ERROR(Step(step_));
  return Finish();
}

void Worker::Report(const absl::Status& error) {
  const std::string op = executor_ ? executor_->failed_op() : "";
  const bool stepping = step_ >= 0 && step_ < config_.steps;
  const bool waiting =
      executor_ ? executor_->failed_waiting() : comms_.size() < config_.comms.size();
  control_.Send({{"event", "error"},
                 {"step", stepping ? Json(step_) : Json()},
                 {"op", op.empty() ? Json() : Json(op)},
                 {"waiting", waiting},
                 {"message", std::string(error.message())}});
  for (const auto& comm : comms_)
    comm->Abort(absl::StrCat(config_.role, " ", config_.rank, " failed: ", error.message()));
}

// Memory that runs out, and what the standard library throws else, ends a rank like any other
// error.
absl::Status RunCatching(Worker& worker) {
  try {
    return worker.Run();
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace

int RunWorker(const std::string& path, const WorkerLinks& links) {
  // A launcher that is gone shows as a failed write, not as a signal.
  std::signal(SIGPIPE, SIG_IGN);
  const auto config = ReadConfig(path);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", std::string(config.status().message()).c_str());
    return kWorkerUsage;
  }
  ControlChannel control(config->control_fd);
  Worker worker(*config, links, control);
  const absl::Status status = RunCatching(worker);
  if (status.ok()) return kWorkerDone;
  worker.Report(status);
  return kWorkerFailed;
}

}  // namespace dtranspile::exec

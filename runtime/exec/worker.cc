#include "runtime/exec/worker.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/printable.h"
#include "runtime/base/status.h"
#include "runtime/exec/checkpoint.h"
#include "runtime/exec/config.h"
#include "runtime/exec/control.h"
#include "runtime/exec/exchange.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/flight/recorder.h"
#include "runtime/exec/values.h"

namespace dtranspile::exec {
namespace {

constexpr double kNsPerMs = 1e6;

// Handlers take what was pulled in loops over blocks, or beside them.
bool AsksForPulled(const std::vector<Node>& body) {
  return std::any_of(body.begin(), body.end(), [](const Node& node) {
    if (const auto* merged = node.as<MergedNode>()) return merged->pulled != 0;
    const auto* blocks = node.as<BlocksNode>();
    return blocks != nullptr &&
           std::any_of(blocks->bodies.begin(), blocks->bodies.end(),
                       [](const BlocksNode::Body& one) { return AsksForPulled(one.body); });
  });
}

// The life of a rank: read the plan, meet the others, initialise, run steps or answer requests,
// write what is to be kept. Everything that other processes need to know goes over the control
// channel as one line of JSON per event.
class Worker {
 public:
  Worker(const WorkerConfig& config, const WorkerLinks& links, ControlChannel& control)
      : config_(config), links_(links), control_(control) {}

  absl::Status Run();

  // Tells the other ranks and the launcher.
  RankEnd Report(const absl::Status& error);

 private:
  absl::Status Load();
  absl::Status CheckPlan(const Plan& plan) const;
  absl::Status Join(const Plan& plan, RankLinks& links);
  absl::StatusOr<comm::Communicator*> JoinGroup(const PlanComm& comm);
  absl::StatusOr<ServerLink*> Reach(const PlanComm& comm);
  absl::Status OpenServer();
  void BeginRecording(const Plan& plan);
  absl::Status Step(int64_t step);
  absl::Status TellStep(int64_t step, int64_t begin_ns);
  absl::Status Watch(int64_t step) const;
  absl::Status Serve();
  absl::Status RunTurn(const Turn& turn);
  int64_t RoundsAfter(int64_t step) const;
  absl::Status Checkpoint(int64_t step);
  absl::Status MakeExchange(int64_t step);
  absl::Status Finish();

  const WorkerConfig& config_;
  const WorkerLinks& links_;
  ControlChannel& control_;
  std::optional<Trace> trace_;
  std::optional<flight::Recorder> flight_;
  flight::Point requests_;  // a server's wait for them
  std::unique_ptr<Executor> executor_;
  // After the executor, so that they end first: after a failure they may still move bytes of its
  // memory.
  std::vector<std::unique_ptr<comm::Communicator>> comms_;
  std::map<std::string, std::unique_ptr<ServerLink>> servers_;  // by role
  std::unique_ptr<Rounds> rounds_;
  std::optional<Feeds> feeds_;
  std::optional<Fetches> fetches_;
  std::optional<Checkpoints> checkpoints_;
  int64_t step_ = -1;
  bool stepping_ = false;
  // Programs that answer requests are part of the step of their round: what variables hold after it
  // is looked at when the next one begins.
  bool answers_ = false;
  int64_t unwatched_ = -1;
  bool meeting_ = false;  // waits for other ranks outside of any op
};

// What the launcher has read of the plan, so that a folder that has been written anew since, or one
// of other ranks, is found out.
absl::Status Worker::CheckPlan(const Plan& plan) const {
  const auto refuse = [&](const char* what, const std::string& has, const std::string& wants) {
    return absl::FailedPreconditionError(absl::StrCat(config_.plan, ": is a plan of ", what, " '",
                                                      has, "', this rank is to run '", wants, "'"));
  };
  if (!plan.role.empty() && plan.role != config_.role)
    return refuse("role", plan.role, config_.role);
  if (!config_.class_name.empty() && plan.class_name != config_.class_name)
    return refuse("class", plan.class_name, config_.class_name);
  if (!config_.digest.empty() && plan.digest != config_.digest)
    return refuse("job", plan.digest, config_.digest);
  return absl::OkStatus();
}

// Null for a rank that is no member.
absl::StatusOr<comm::Communicator*> Worker::JoinGroup(const PlanComm& comm) {
  const auto found = std::find_if(config_.comms.begin(), config_.comms.end(),
                                  [&](const CommConfig& c) { return c.name == comm.name; });
  if (found == config_.comms.end()) {
    if (!comm.subset.contains(config_.coordinates)) return nullptr;
    return absl::InvalidArgumentError(absl::StrCat("CONFIG has no group for communicator '",
                                                   comm.name, "', which this rank is a member of"));
  }
  meeting_ = true;
  DT_ASSIGN_OR_RETURN(auto joined,
                      links_.join(config_.rendezvous, found->group, found->rank, found->size));
  meeting_ = false;
  comms_.push_back(std::move(joined));
  return comms_.back().get();
}

// One connection per role of servers, which communicators of different names share.
absl::StatusOr<ServerLink*> Worker::Reach(const PlanComm& comm) {
  std::unique_ptr<ServerLink>& link = servers_[comm.server];
  if (link != nullptr) return link.get();
  const auto found = std::find_if(config_.servers.begin(), config_.servers.end(),
                                  [&](const RpcConfig& rpc) { return rpc.role == comm.server; });
  if (found == config_.servers.end())
    return absl::InvalidArgumentError(absl::StrCat("CONFIG has no servers '", comm.server,
                                                   "' for communicator '", comm.name, "'"));
  if (!links_.connect)
    return absl::UnimplementedError(
        absl::StrCat("communicator '", comm.name, "': this worker cannot ask servers"));
  meeting_ = true;
  DT_ASSIGN_OR_RETURN(link, links_.connect(config_, *found));
  meeting_ = false;
  DT_RETURN_IF_ERROR(link->Configure(comm.sending.value_or(Sending())));
  return link.get();
}

// The groups of the plan's communicators by name, in the plan's order.
absl::Status Worker::Join(const Plan& plan, RankLinks& links) {
  for (const CommConfig& c : config_.comms)
    if (std::none_of(plan.comms.begin(), plan.comms.end(),
                     [&](const PlanComm& comm) { return comm.name == c.name; }))
      return absl::InvalidArgumentError(
          absl::StrCat("CONFIG has a communicator '", c.name, "', which the plan lacks"));
  for (const PlanComm& comm : plan.comms) {
    const bool asks = comm.kind == CommKind::kRpc;
    links.comms.push_back(nullptr);
    links.servers.push_back(nullptr);
    if (!asks) {
      DT_ASSIGN_OR_RETURN(links.comms.back(), JoinGroup(comm));
    } else if (!plan.serves() && comm.subset.contains(config_.coordinates)) {
      DT_ASSIGN_OR_RETURN(links.servers.back(), Reach(comm));
    }
  }
  if (!plan.serves()) return absl::OkStatus();
  if (!config_.serves)
    return absl::InvalidArgumentError(
        "the plan is a server's, and CONFIG says nothing of whom it "
        "serves");
  if (!links_.serve)
    return absl::UnimplementedError("the plan is a server's, and this worker cannot serve");
  DT_ASSIGN_OR_RETURN(rounds_, links_.serve(config_, *config_.serves));
  links.rounds = rounds_.get();
  return absl::OkStatus();
}

// Everything that can fail without a step is done here: groups joined, library opened, files
// opened, variables set. "ready" carries the digest of the job, by which the launcher sees that all
// ranks run the same one.
absl::Status Worker::Load() {
  const int64_t begin = NowNs();
  if (links_.seed) links_.seed(config_);
  DT_ASSIGN_OR_RETURN(Plan plan, ReadPlan(config_.plan));
  DT_RETURN_IF_ERROR(CheckPlan(plan));
  checkpoints_.emplace(config_);
  ExecutorOptions options;
  options.pool = {config_.threads, config_.spin};
  options.find_function = links_.find_function;
  options.element_types = links_.element_types;
  options.position = {config_.coordinates, config_.mesh};
  options.stand = links_.stand;
  DT_RETURN_IF_ERROR(Join(plan, options));
  if (!config_.trace.empty()) options.trace = &trace_.emplace();
  BeginRecording(plan);
  options.flight = flight_ ? &*flight_ : nullptr;
  const std::string digest = plan.digest;
  DT_ASSIGN_OR_RETURN(executor_, Executor::Load(std::move(plan), std::move(options)));
  if (flight_) DT_RETURN_IF_ERROR(flight_->Publish());
  DT_RETURN_IF_ERROR(CheckPerStep(config_, executor_->plan()));
  DT_ASSIGN_OR_RETURN(feeds_, Feeds::Open(config_, *executor_));
  DT_ASSIGN_OR_RETURN(fetches_, Fetches::Open(config_, *executor_));
  DT_RETURN_IF_ERROR(Initialise(config_, *executor_));
  DT_RETURN_IF_ERROR(Watch(-1));
  if (rounds_) DT_RETURN_IF_ERROR(OpenServer());
  control_.Send({{"event", "ready"},
                 {"load_ms", static_cast<double>(NowNs() - begin) / kNsPerMs},
                 {"digest", digest}});
  return absl::OkStatus();
}

// Groups as the rendezvous knows them; requests by the pair of roles.
void Worker::BeginRecording(const Plan& plan) {
  if (config_.flight_fd < 0) return;
  flight::Recording self;
  self.role = config_.role;
  self.class_name = plan.class_name;
  self.digest = plan.digest;
  self.rank = config_.rank;
  for (const CommConfig& comm : config_.comms)
    self.comms.push_back({comm.name, comm.group, comm.rank, comm.size, config_.role});
  for (const PlanComm& comm : plan.comms)
    for (const RpcConfig& rpc : config_.servers)
      if (comm.kind == CommKind::kRpc && rpc.role == comm.server)
        self.comms.push_back({comm.name, "", rpc.number, rpc.senders, rpc.role});
  const std::string requests = "requests";
  if (config_.serves)
    self.comms.push_back({requests, "", config_.serves->number, config_.serves->servers,
                          config_.serves->sender_role});
  flight_.emplace(config_.flight_fd, std::move(self));
  if (config_.serves)
    requests_ =
        flight_->AddPoint("the wait for requests of role '" + config_.serves->sender_role + "'",
                          requests, flight::Channel::Kind::kClients);
}

// Tables and handlers are collected from the plan before trainers may ask.
absl::Status Worker::OpenServer() {
  DT_ASSIGN_OR_RETURN(std::vector<Table> tables, TablesOf(config_, *executor_));
  std::vector<Rounds::Handler> handlers;
  for (const Program& program : executor_->plan().programs) {
    answers_ |= program.when == When::kPull || program.when == When::kLookup;
    if (!program.table.empty())
      handlers.push_back({program.when, program.table, AsksForPulled(program.body)});
  }
  // What was pulled last is at first the whole.
  for (const Table& table : tables)
    if (table.touch && std::any_of(handlers.begin(), handlers.end(), [&](const auto& one) {
          return one.pulled && one.table == table.name;
        }))
      DT_RETURN_IF_ERROR(table.touch(nullptr, 0));
  return rounds_->Open(std::move(tables), std::move(handlers));
}

absl::Status Worker::Watch(int64_t step) const {
  return links_.watch ? links_.watch(step, config_, *executor_) : absl::OkStatus();
}

absl::Status Worker::TellStep(int64_t step, int64_t begin_ns) {
  const double ms = static_cast<double>(NowNs() - begin_ns) / kNsPerMs;
  DT_ASSIGN_OR_RETURN(Json values, fetches_->Take(step, *executor_));
  control_.Send({{"event", "step"}, {"step", step}, {"ms", ms}, {"fetch", std::move(values)}});
  return absl::OkStatus();
}

// Feeds and per-step values are read before the clock starts: the time that is reported is the
// program's.
absl::Status Worker::Step(int64_t step) {
  step_ = step;
  if (flight_) flight_->BeginStep(step);
  if (links_.begin_step) links_.begin_step(config_.first_step + step);
  DT_RETURN_IF_ERROR(feeds_->Read(config_.skip + step, *executor_));
  DT_RETURN_IF_ERROR(SetPerStep(config_, config_.skip + step, *executor_));
  const int64_t begin = NowNs();
  DT_RETURN_IF_ERROR(executor_->Run(executor_->plan().repeated()->when));
  if (answers_) unwatched_ = step;
  else DT_RETURN_IF_ERROR(Watch(step));
  return TellStep(step, begin);
}

// What arrives becomes the program's arguments, in their order.
absl::Status Worker::RunTurn(const Turn& turn) {
  if (turn.kind == Turn::Kind::kCheckpoint)
    return checkpoints_->After(turn.round, *executor_, /*asked=*/true);
  if (turn.when == When::kRound) return Step(turn.round);
  const Program* program = executor_->plan().find(turn.when, turn.table);
  if (program == nullptr)
    return absl::InternalError(absl::StrCat("no program answers for table '", turn.table, "'"));
  if (program->arguments.size() != turn.arguments.size())
    return absl::InvalidArgumentError(absl::StrCat("'", program->name, "' takes ",
                                                   program->arguments.size(), " arguments, ",
                                                   turn.arguments.size(), " arrive"));
  for (size_t i = 0; i < turn.arguments.size(); ++i)
    DT_RETURN_IF_ERROR(SetBuffer(*executor_, program->arguments[i], turn.arguments[i]));
  return executor_->Run(turn.when, turn.table);
}

// A server's life: what trainers ask for, until all have left.
absl::Status Worker::Serve() {
  for (;;) {
    meeting_ = true;
    flight::Blocking flight(flight_ ? &*flight_ : nullptr, requests_);
    DT_ASSIGN_OR_RETURN(const Turn turn, rounds_->Next());
    (void)flight.End(absl::OkStatus());
    meeting_ = false;
    const bool ends = turn.kind == Turn::Kind::kEnd;
    const bool round = turn.kind == Turn::Kind::kProgram && turn.when == When::kRound;
    if ((ends || round) && unwatched_ >= 0)
      DT_RETURN_IF_ERROR(Watch(std::exchange(unwatched_, -1)));
    if (ends) return absl::OkStatus();
    const absl::Status status = RunTurn(turn);
    rounds_->Finish(status);
    DT_RETURN_IF_ERROR(status);
    // While trainers pull and compute: variables change in the next round only, which Next begins.
    if (round) DT_RETURN_IF_ERROR(checkpoints_->After(turn.round + 1, *executor_, turn.asked));
  }
}

// Ranks that ask servers count by rounds, as those do; without rounds by their own steps.
int64_t Worker::RoundsAfter(int64_t step) const {
  const int64_t rounds = servers_.empty() ? -1 : servers_.begin()->second->rounds();
  return rounds < 0 ? step + 1 : rounds;
}

// Servers without rounds write when the first of those who ask them says so; with rounds they know.
absl::Status Worker::Checkpoint(int64_t step) {
  const int64_t rounds = RoundsAfter(step);
  if (checkpoints_->Due(rounds))
    for (const RpcConfig& rpc : config_.servers) {
      const auto link = servers_.find(rpc.role);
      if (rpc.number == 0 && link != servers_.end() && link->second->rounds() < 0)
        DT_RETURN_IF_ERROR(link->second->Checkpoint(rounds));
    }
  return checkpoints_->After(rounds, *executor_);
}

// geo-SGD: what this rank has learned since its last exchange is on the servers when a checkpoint
// is written, and when the run ends: the step before is made one that exchanges.
absl::Status Worker::MakeExchange(int64_t step) {
  const bool last = step + 1 >= config_.steps;
  return last || checkpoints_->Due(RoundsAfter(step)) ? ExchangeNext(*executor_) : absl::OkStatus();
}

// Results, trace, then one line with what the process used; the launcher counts the rank as done
// after that.
absl::Status Worker::Finish() {
  DT_RETURN_IF_ERROR(fetches_->Finish());
  DT_RETURN_IF_ERROR(Save(config_, *executor_));
  if (trace_) {
    const std::string title = absl::StrCat(config_.role, " ", config_.rank);
    std::vector<std::string> comms;
    for (const PlanComm& comm : executor_->plan().comms) comms.push_back(comm.name);
    DT_RETURN_IF_ERROR(trace_->Write(config_.trace, config_.rank, title, comms));
  }
  int64_t sent = 0, received = 0;
  const auto count = [&](const auto& one) {
    sent += one->bytes_sent();
    received += one->bytes_received();
  };
  for (const auto& comm : comms_) count(comm);
  for (const auto& [role, link] : servers_) count(link);
  if (rounds_) count(rounds_);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  constexpr int64_t kKiB = 1024;
  control_.Send({{"event", "done"},
                 {"peak_rss_bytes", static_cast<int64_t>(usage.ru_maxrss) * kKiB},
                 {"bytes_sent", sent},
                 {"bytes_received", received}});
  return absl::OkStatus();
}

// A server serves rounds until its trainers have left; any other rank runs its steps. `stepping_`
// and `meeting_` tell the reporter what an error interrupted.
absl::Status Worker::Run() {
  DT_RETURN_IF_ERROR(Load());
  stepping_ = true;
  if (rounds_) {
    DT_RETURN_IF_ERROR(Serve());
  } else {
    for (int64_t step = 0; step < config_.steps; ++step) {
      if (checkpoints_->Asked())
        for (const auto& [role, link] : servers_) link->CheckpointThisRound();
      DT_RETURN_IF_ERROR(MakeExchange(step));
      DT_RETURN_IF_ERROR(Step(step));
      DT_RETURN_IF_ERROR(Checkpoint(step));
    }
    meeting_ = true;
    for (const auto& [role, link] : servers_) DT_RETURN_IF_ERROR(link->Leave());
    meeting_ = false;
  }
  stepping_ = false;
  return Finish();
}

// `waiting` says that the rank failed at something that others were to do: the launcher looks for
// the rank that failed by itself, and blames that one.
RankEnd Worker::Report(const absl::Status& error) {
  const std::string op = executor_ ? executor_->failed_op() : "";
  const bool waiting = meeting_ || (executor_ && executor_->failed_waiting());
  control_.Send({{"event", "error"},
                 {"step", stepping_ && step_ >= 0 ? Json(step_) : Json()},
                 {"op", op.empty() ? Json() : Json(op)},
                 {"waiting", waiting},
                 {"message", std::string(error.message())}});
  const std::string why =
      absl::StrCat(config_.role, " ", config_.rank, " failed: ", error.message());
  for (const auto& comm : comms_) comm->Abort(why);
  for (const auto& [role, link] : servers_)
    if (link != nullptr) link->Abort(why);
  if (rounds_) rounds_->Abort(why);
  return {error, op, stepping_ ? step_ : -1, waiting};
}

// Memory that runs out, and what the standard library throws else, ends a rank like any other
// error.
absl::Status RunCatching(Worker& worker) {
  try {
    return worker.Run();
  } catch (const std::system_error& error) {
    return NoFurtherThread(error);
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace

RankEnd RunRank(const WorkerConfig& config, const WorkerLinks& links) {
  ControlChannel control(config.control_fd);
  Worker worker(config, links, control);
  const absl::Status status = control.status().ok() ? RunCatching(worker) : control.status();
  return status.ok() ? RankEnd() : worker.Report(status);
}

int RunWorker(const std::string& path, const WorkerLinks& links) {
  // A launcher that is gone shows as a failed write, not as a signal.
  std::signal(SIGPIPE, SIG_IGN);
  // A limit on the size of files is an error of what writes one.
  std::signal(SIGXFSZ, SIG_IGN);
  HearRequests();
  const auto config = ReadConfig(path);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", Printable(std::string(config.status().message())).c_str());
    return kWorkerUsage;
  }
  return RunRank(*config, links).status.ok() ? kWorkerDone : kWorkerFailed;
}

}  // namespace dtranspile::exec

#include "test/runtime/ps/faulty_job.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/exec/checkpoint_folder.h"
#include "runtime/io/npy.h"
#include "runtime/ps/worker_links.h"
#include "test/runtime/comm/processes.h"
#include "test/runtime/exec/role_plans.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {
namespace {

using comm::test::Now;
using exec::Json;

constexpr int64_t kMostSteps = 400;

// A trainer's link that says where it stands. Steps are counted by pushes, of which there is one in
// each: servers without rounds have no number for them.
class HookedLink : public exec::ServerLink {
 public:
  HookedLink(std::unique_ptr<exec::ServerLink> link, FaultyJob::Stand stand)
      : link_(std::move(link)), stand_(std::move(stand)) {}
  absl::Status Configure(const exec::Sending& sending) override {
    return link_->Configure(sending);
  }
  absl::Status Push(const exec::TableRequest& request, exec::Merge merge,
                    const TensorView& value) override {
    stand_(Phase::kPush, ++step_);
    return link_->Push(request, merge, value);
  }
  absl::Status PushRows(const exec::TableRequest& request, exec::Merge merge,
                        const exec::Value& value) override {
    return link_->PushRows(request, merge, value);
  }
  absl::Status PushChanged(const exec::TableRequest& request, exec::Merge merge,
                           const TensorView& value) override {
    stand_(Phase::kPush, ++step_);
    return link_->PushChanged(request, merge, value);
  }
  absl::Status Pull(const exec::TableRequest& request, const exec::TensorRoom& to) override {
    stand_(Phase::kPull, step_);
    return link_->Pull(request, to);
  }
  absl::Status PullChanged(const exec::TableRequest& request, const exec::TensorRoom& to) override {
    stand_(Phase::kPull, step_);
    return link_->PullChanged(request, to);
  }
  absl::Status Lookup(const exec::TableRequest& request, const int64_t* ids, int64_t count,
                      const exec::TensorRoom& to) override {
    return link_->Lookup(request, ids, count, to);
  }
  absl::Status EndPhase(const std::string& op, exec::Phase phase) override {
    if (phase == exec::Phase::kPush) stand_(Phase::kBarrier, step_);
    return link_->EndPhase(op, phase);
  }
  absl::Status Checkpoint(int64_t step) override { return link_->Checkpoint(step); }
  int64_t rounds() const override { return link_->rounds(); }
  absl::Status Leave() override {
    stand_(Phase::kShutdown, step_);
    return link_->Leave();
  }
  void Abort(const std::string& why) override { link_->Abort(why); }
  int64_t bytes_sent() const override { return link_->bytes_sent(); }
  int64_t bytes_received() const override { return link_->bytes_received(); }

 private:
  const std::unique_ptr<exec::ServerLink> link_;
  const FaultyJob::Stand stand_;
  int64_t step_ = -1;
};

// A server's rounds. What follows Finish is the checkpoint; without rounds it has a turn of its
// own, with the number of steps.
class HookedRounds : public exec::Rounds {
 public:
  HookedRounds(std::unique_ptr<exec::Rounds> rounds, FaultyJob::Stand stand, bool in_rounds)
      : rounds_(std::move(rounds)), stand_(std::move(stand)), in_rounds_(in_rounds) {}
  absl::Status Open(std::vector<exec::Table> tables, std::vector<Handler> handlers) override {
    return rounds_->Open(std::move(tables), std::move(handlers));
  }
  absl::StatusOr<exec::Turn> Next() override {
    absl::StatusOr<exec::Turn> turn = rounds_->Next();
    if (turn.ok()) round_ = turn->round;
    if (turn.ok() && turn->kind == exec::Turn::Kind::kCheckpoint)
      stand_(Phase::kCheckpoint, turn->round - 1);
    return turn;
  }
  void Finish(const absl::Status& status) override {
    rounds_->Finish(status);
    if (in_rounds_) stand_(Phase::kCheckpoint, round_);
  }
  absl::Status Merged(const std::string& table, int64_t block,
                      const exec::TensorRoom& to) override {
    return rounds_->Merged(table, block, to);
  }
  absl::Status MergedRows(const std::string& table, int64_t block, exec::Value& to) override {
    return rounds_->MergedRows(table, block, to);
  }
  void Abort(const std::string& why) override { rounds_->Abort(why); }
  int64_t bytes_sent() const override { return rounds_->bytes_sent(); }
  int64_t bytes_received() const override { return rounds_->bytes_received(); }

 private:
  const std::unique_ptr<exec::Rounds> rounds_;
  const FaultyJob::Stand stand_;
  const bool in_rounds_;
  int64_t round_ = 0;
};

// What is pushed is applied by itself: no end of a phase but of half_async, where a trainer waits
// for its own pushes; geo exchanges rows that have changed, in every step.
Json TrainerPlanOf(Mode mode) {
  Json plan = exec::TrainerPlan().json;
  if (mode == Mode::kRounds) return plan;
  const Json all = plan["programs"]["main"]["body"];
  Json push = all[0], pull = all[2];
  push["merge"] = "each";
  if (mode == Mode::kGeo) push["changed"] = pull["changed"] = 1;
  Json body = Json::array({push});
  if (mode == Mode::kHalfAsync) body.push_back(all[1]);
  body.push_back(pull);
  plan["programs"]["main"]["body"] = body;
  if (mode == Mode::kQueues)
    plan["comms"][0]["sending"] = {{"max_merge_var_num", 2},
                                   {"send_queue_size", 4},
                                   {"send_wait_times", 1},
                                   {"thread_pool_size", 2},
                                   {"min_send_grad_num_before_recv", 2},
                                   {"independent_recv_thread", 1},
                                   {"average", 0}};
  return plan;
}

// Without rounds there is no value of a step: the rate is a constant of start-up.
Json ServerPlanOf(Mode mode) {
  exec::PlanBuilder b = exec::ServerPlan(kServers);
  if (mode == Mode::kRounds) return b.json;
  const int sender = b.Arena("sender", "int64", {1}), half = b.Constant("half", "0000003f");
  int rate = 0;
  while (b.json["buffers"][static_cast<size_t>(rate)]["name"] != "rate") ++rate;
  b.startup().push_back(exec::FillNodeJson(rate, half, 1));
  Json program = b.json["programs"]["round"];
  b.json["programs"].erase("round");
  program["when"] = "push";
  program["table"] = "w";
  program["arguments"] = Json::array({sender});
  program["fetches"] = Json::array();
  b.json["programs"]["push_w"] = program;
  return b.json;
}

}  // namespace

const char* NameOf(Mode mode) {
  constexpr const char* kNames[] = {"sync", "async", "half_async", "geo", "queues"};
  return kNames[static_cast<size_t>(mode)];
}

const char* NameOf(Phase phase) {
  constexpr const char* kNames[] = {"rendezvous", "push",       "barrier",
                                    "pull",       "checkpoint", "shutdown"};
  return kNames[static_cast<size_t>(phase)];
}

struct FaultyJob::Shared {
  std::atomic<pid_t> pids[kAll];
  std::atomic<bool> hit;
  std::atomic<int> there;  // trainers that wait for the others
};

FaultyJob::FaultyJob(Mode mode) : mode_(mode), processes_(kAll) {
  char name[] = "/tmp/dtranspile-faults-XXXXXX";
  folder_ = mkdtemp(name);
  void* const shared =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  shared_ = new (shared) Shared();
  Json trainer = TrainerPlanOf(mode), server = ServerPlanOf(mode);
  trainer["role"] = trainer["class"] = "trainer";
  server["role"] = server["class"] = "server";
  WritePlan(folder_ + "/trainer", trainer);
  WritePlan(folder_ + "/server", server);
  trainer["digest"] = "sha256:1";
  WritePlan(OtherJob(), trainer);
  const std::vector<float> g(static_cast<size_t>(kMostSteps * kTrainers * 7 * 2), 1.0F);
  REQUIRE(io::WriteNpy(folder_ + "/g.npy", {DType::kFloat32,
                                            {kMostSteps, kTrainers * 7, 2},
                                            reinterpret_cast<const std::byte*>(g.data())})
              .ok());
  std::vector<comm::Socket> listeners;
  for (int s = 0; s < kServers; ++s) {
    listeners.push_back(*comm::Listen("127.0.0.1:0"));
    addresses_.push_back(comm::WithPortOf(listeners.back(), "127.0.0.1:0"));
  }
}

FaultyJob::~FaultyJob() {
  for (int i = 0; i < kAll; ++i) Kill(i);
  munmap(shared_, sizeof(Shared));
  std::filesystem::remove_all(folder_);
}

void FaultyJob::WritePlan(const std::string& folder, Json plan) const {
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/plan.json") << plan.dump();
  std::filesystem::copy_file(
      std::filesystem::current_path() / "test/runtime/exec/libtest_kernels.so",
      folder + "/libtest_kernels.so");
}

exec::WorkerConfig FaultyJob::ConfigOf(int process, int64_t steps) const {
  const bool server = process >= kTrainers;
  exec::WorkerConfig c;
  c.role = c.class_name = server ? "server" : "trainer";
  c.plan = folder_ + "/" + c.role;
  c.digest = "sha256:0";
  c.rank = server ? process - kTrainers : process;
  c.rendezvous.token = kToken;
  c.rendezvous.timeout_seconds = kDeadline;
  exec::RpcConfig rpc;
  rpc.role = "server";
  rpc.sender_role = "trainer";
  rpc.addresses = addresses_;
  rpc.mesh = {{"ps", kServers}};
  rpc.servers = kServers;
  rpc.senders = kTrainers;
  rpc.number = c.rank;
  c.steps = steps;
  // Those of a trainer's steps, where it asks for them; it has nothing of its own to write.
  c.checkpoint =
      exec::CheckpointConfig{folder_ + "/checkpoints", 1, 2, "", {"server.0", "server.1"}, {}, {}};
  if (server) {
    c.mesh = {{"ps", kServers}};
    c.coordinates = {{"ps", c.rank}};
    c.serves = rpc;
    if (mode_ == Mode::kRounds)
      c.per_step = {{"rate", std::vector<double>(static_cast<size_t>(steps), 0.5)}};
    c.checkpoint->member = "server." + std::to_string(c.rank);
    c.checkpoint->part_names = {"w"};
  } else {
    c.mesh = {{"dp", kTrainers}};
    c.coordinates = {{"dp", c.rank}};
    c.servers = {rpc};
    c.feeds = {{"g", folder_ + "/g.npy"}};
    if (mode_ == Mode::kRounds) c.checkpoint.reset();
  }
  return c;
}

void FaultyJob::Fork(int process, const std::function<int()>& body) {
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shared_->pids[process] = getpid();
    _exit(body());
  }
  shared_->pids[process] = pid;
  processes_[static_cast<size_t>(process)].pid = pid;
}

// A pipe for what it says: a limit on the size of files is no limit on that.
void FaultyJob::Start(int process, const exec::WorkerConfig& config, const Stand& stand) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  REQUIRE(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  exec::WorkerConfig own = config;
  own.control_fd = ends[1];
  const std::string path = folder_ + "/" + std::to_string(process) + ".json";
  std::ofstream(path) << exec::ToJson(own).dump();
  const Stand nothing = [](Phase, int64_t) {};
  Fork(process, [&] { return Work(path, stand ? stand : nothing); });
  close(ends[1]);
  processes_[static_cast<size_t>(process)].control = ends[0];
}

void FaultyJob::StartOther(int process, const std::function<int()>& body) { Fork(process, body); }

int FaultyJob::Work(const std::string& config, const Stand& stand) const {
  exec::WorkerLinks links;
  links.find_function = [](const std::string&) -> DtFunction { return nullptr; };
  links.connect =
      [&](const exec::WorkerConfig& worker,
          const exec::RpcConfig& rpc) -> absl::StatusOr<std::unique_ptr<exec::ServerLink>> {
    stand(Phase::kRendezvous, 0);
    DT_ASSIGN_OR_RETURN(auto link, Connect(worker, rpc));
    return std::make_unique<HookedLink>(std::move(link), stand);
  };
  links.serve = [&](const exec::WorkerConfig& worker,
                    const exec::RpcConfig& rpc) -> absl::StatusOr<std::unique_ptr<exec::Rounds>> {
    stand(Phase::kRendezvous, 0);
    DT_ASSIGN_OR_RETURN(auto rounds, ps::Serve(worker, rpc));
    return std::make_unique<HookedRounds>(std::move(rounds), stand, mode_ == Mode::kRounds);
  };
  return exec::RunWorker(config, links);
}

void FaultyJob::Hit(int process, int signal) const {
  shared_->hit = true;
  kill(shared_->pids[process], signal);
  if (shared_->pids[process] == getpid()) pause();
}

void FaultyJob::AwaitTrainers() const {
  ++shared_->there;
  for (const double end = Now() + 30; shared_->there < kTrainers && !hit() && Now() < end;)
    usleep(1000);
}

bool FaultyJob::hit() const { return shared_->hit; }

void FaultyJob::AwaitHit() const {
  for (const double end = Now() + 30; !hit() && Now() < end;) usleep(1000);
}

void FaultyJob::Drain(Process& process) const {
  if (process.control < 0) return;
  char buffer[4096];
  for (ssize_t n; (n = read(process.control, buffer, sizeof(buffer))) > 0;)
    process.said.append(buffer, static_cast<size_t>(n));
}

FaultyJob::End FaultyJob::Await(int number, double seconds) {
  Process& process = processes_[static_cast<size_t>(number)];
  End end;
  int status = 0;
  for (const double until = Now() + seconds; !end.in_time && Now() < until; usleep(2000)) {
    Drain(process);
    end.in_time = waitpid(process.pid, &status, WNOHANG) == process.pid;
  }
  Drain(process);
  std::istringstream lines(process.said);
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json["event"] == "error") end.message = json.value("message", "");
  }
  if (!end.in_time) return end;
  process.pid = 0;
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  return end;
}

void FaultyJob::Kill(int number) {
  Process& process = processes_[static_cast<size_t>(number)];
  if (process.pid > 0) {
    kill(process.pid, SIGKILL);
    waitpid(process.pid, nullptr, 0);
    process.pid = 0;
  }
  if (process.control >= 0) close(std::exchange(process.control, -1));
}

void FaultyJob::RequireNothingLeft() const {
  for (const Process& process : processes_) CHECK(process.pid == 0);
  for (const std::string& address : addresses_) CHECK(comm::Listen(address).ok());
  const auto newest = exec::NewestCheckpoint(folder_ + "/checkpoints");
  INFO(newest.status().ToString());
  REQUIRE(newest.ok());
  if (*newest) CHECK(std::filesystem::file_size((*newest)->folder + "/w") > 7 * 2 * sizeof(float));
}

}  // namespace dtranspile::ps::test

// The table of faults and phases (fault_table.h): workers as real processes, two trainers and two
// servers that write a checkpoint after every round; one of them is killed or stopped in a phase of
// the third round, the others end in time with status 4 and name it, and nothing is left.
#include "test/runtime/ps/fault_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/exec/checkpoint_folder.h"
#include "runtime/exec/worker.h"
#include "runtime/io/npy.h"
#include "runtime/ps/worker_links.h"
#include "test/runtime/comm/processes.h"
#include "test/runtime/exec/role_plans.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {
namespace {

using comm::test::Now;
using exec::Json;

constexpr int kTrainers = 2, kServers = 2, kRound = 2, kSteps = 5;
constexpr double kDeadline = 2;
constexpr int kTrainer1 = 1, kServer1 = kTrainers + 1;

// Called where a process stands; of this process and fault it may not come back.
using Hook = std::function<void(Phase phase, int64_t round)>;

// A trainer's link that says where it stands.
class HookedLink : public exec::ServerLink {
 public:
  HookedLink(std::unique_ptr<exec::ServerLink> link, Hook hook)
      : link_(std::move(link)), hook_(std::move(hook)) {}
  absl::Status Push(const exec::TableRequest& request, exec::Merge merge,
                    const TensorView& value) override {
    hook_(Phase::kPush, link_->rounds());
    return link_->Push(request, merge, value);
  }
  absl::Status PushRows(const exec::TableRequest& request, exec::Merge merge,
                        const exec::Value& value) override {
    return link_->PushRows(request, merge, value);
  }
  absl::Status Pull(const exec::TableRequest& request, const exec::TensorRoom& to) override {
    hook_(Phase::kPull, link_->rounds());
    return link_->Pull(request, to);
  }
  absl::Status Lookup(const exec::TableRequest& request, const int64_t* ids, int64_t count,
                      const exec::TensorRoom& to) override {
    return link_->Lookup(request, ids, count, to);
  }
  absl::Status EndPhase(const std::string& op, exec::Phase phase) override {
    if (phase == exec::Phase::kPush) hook_(Phase::kBarrier, link_->rounds());
    return link_->EndPhase(op, phase);
  }
  int64_t rounds() const override { return link_->rounds(); }
  absl::Status Leave() override {
    hook_(Phase::kShutdown, kRound);
    return link_->Leave();
  }
  void Abort(const std::string& why) override { link_->Abort(why); }
  int64_t bytes_sent() const override { return link_->bytes_sent(); }
  int64_t bytes_received() const override { return link_->bytes_received(); }

 private:
  const std::unique_ptr<exec::ServerLink> link_;
  const Hook hook_;
};

// A server's rounds; what follows Finish is the checkpoint.
class HookedRounds : public exec::Rounds {
 public:
  HookedRounds(std::unique_ptr<exec::Rounds> rounds, Hook hook)
      : rounds_(std::move(rounds)), hook_(std::move(hook)) {}
  absl::Status Open(std::vector<exec::Table> tables, std::vector<Handler> handlers) override {
    return rounds_->Open(std::move(tables), std::move(handlers));
  }
  absl::StatusOr<exec::Turn> Next() override {
    absl::StatusOr<exec::Turn> turn = rounds_->Next();
    if (turn.ok()) round_ = turn->round;
    return turn;
  }
  void Finish(const absl::Status& status) override {
    rounds_->Finish(status);
    hook_(Phase::kCheckpoint, round_);
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
  const Hook hook_;
  int64_t round_ = 0;
};

class FaultyJob {
 public:
  explicit FaultyJob(const FaultRow& row) : row_(row) {
    char name[] = "/tmp/dtranspile-faults-XXXXXX";
    folder_ = mkdtemp(name);
    pids_ = static_cast<pid_t*>(mmap(nullptr, sizeof(pid_t) * kAll, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pids_ != MAP_FAILED);
    WritePlan("trainer", exec::TrainerPlan().json);
    WritePlan("server", exec::ServerPlan(kServers).json);
    const std::vector<float> g(static_cast<size_t>(kSteps * kTrainers * 7 * 2), 1.0F);
    REQUIRE(io::WriteNpy(folder_ + "/g.npy", {DType::kFloat32,
                                              {kSteps, kTrainers * 7, 2},
                                              reinterpret_cast<const std::byte*>(g.data())})
                .ok());
    for (int s = 0; s < kServers; ++s) {
      listeners_.push_back(*comm::Listen("127.0.0.1:0"));
      addresses_.push_back(comm::WithPortOf(listeners_.back(), "127.0.0.1:0"));
    }
    listeners_.clear();
  }
  ~FaultyJob() {
    for (int i = 0; i < kAll; ++i)
      if (pids_[i] > 0) {
        kill(pids_[i], SIGKILL);
        waitpid(pids_[i], nullptr, 0);
      }
    munmap(pids_, sizeof(pid_t) * kAll);
    std::filesystem::remove_all(folder_);
  }

  // Hits at the row's place; waits for all others.
  void Run() {
    for (int i = 0; i < kAll; ++i) Start(i);
    const double begin = Now();
    for (int i = 0; i < kAll; ++i)
      if (i != victim()) Await(i, begin);
    CHECK(Now() - begin <= row_.within + kBeforeFault);
    // Who has been stopped goes too, and with it every port.
    kill(pids_[victim()], SIGKILL);
    int status = 0;
    waitpid(std::exchange(pids_[victim()], 0), &status, 0);
    CHECK(WIFSIGNALED(status));
    for (const std::string& address : addresses_) CHECK(comm::Listen(address).ok());
    // What is there of checkpoints is whole.
    const auto newest = exec::NewestCheckpoint(folder_ + "/checkpoints");
    INFO(newest.status().ToString());
    REQUIRE(newest.ok());
    if (*newest)
      CHECK(std::filesystem::file_size((*newest)->folder + "/w") > 7 * 2 * sizeof(float));
  }

 private:
  static constexpr int kAll = kTrainers + kServers;
  // Rounds until the fault, on a busy machine.
  static constexpr double kBeforeFault = 3;

  int victim() const { return row_.server ? kServer1 : kTrainer1; }

  void WritePlan(const std::string& role, Json plan) const {
    plan["role"] = plan["class"] = role;
    std::filesystem::create_directory(folder_ + "/" + role);
    std::ofstream(folder_ + "/" + role + "/plan.json") << plan.dump();
    std::filesystem::copy_file(
        std::filesystem::current_path() / "test/runtime/exec/libtest_kernels.so",
        folder_ + "/" + role + "/libtest_kernels.so");
  }

  exec::WorkerConfig ConfigOf(int index) const {
    const bool server = index >= kTrainers;
    exec::WorkerConfig c;
    c.role = c.class_name = server ? "server" : "trainer";
    c.plan = folder_ + "/" + c.role;
    c.digest = "sha256:0";
    c.rank = server ? index - kTrainers : index;
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
    c.steps = kSteps;
    if (server) {
      c.mesh = {{"ps", kServers}};
      c.coordinates = {{"ps", c.rank}};
      c.serves = rpc;
      c.per_step = {{"rate", std::vector<double>(kSteps, 0.5)}};
      c.checkpoint = exec::CheckpointConfig{
          folder_ + "/checkpoints", 1,  2,    "server." + std::to_string(c.rank),
          {"server.0", "server.1"}, {}, {"w"}};
    } else {
      c.mesh = {{"dp", kTrainers}};
      c.coordinates = {{"dp", c.rank}};
      c.servers = {rpc};
      c.feeds = {{"g", folder_ + "/g.npy"}};
    }
    return c;
  }

  // Called in the process itself: where trainer 1 stands, or server 1 for what only it knows.
  void Stand(int index, Phase phase, int64_t round) const {
    if (phase != row_.phase || (phase != Phase::kRendezvous && round != kRound)) return;
    const bool own = phase == Phase::kRendezvous   ? index == victim()
                     : phase == Phase::kCheckpoint ? index == kServer1
                                                   : index == kTrainer1;
    if (!own) return;
    kill(pids_[victim()], row_.signal);
    if (index == victim()) pause();
    // So that the other one has noticed nothing less than its end.
    usleep(50'000);
  }

  void Start(int index) {
    const exec::WorkerConfig config = ConfigOf(index);
    const std::string stem = folder_ + "/" + std::to_string(index);
    const int control = open((stem + ".control").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    exec::WorkerConfig own = config;
    own.control_fd = control;
    std::ofstream(stem + ".json") << exec::ToJson(own).dump();
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      pids_[index] = getpid();
      _exit(Work(index, stem + ".json"));
    }
    close(control);
    pids_[index] = pid;
  }

  int Work(int index, const std::string& config) const {
    const Hook hook = [this, index](Phase phase, int64_t round) { Stand(index, phase, round); };
    exec::WorkerLinks links;
    links.find_function = [](const std::string&) -> DtFunction { return nullptr; };
    links.connect =
        [&](const exec::WorkerConfig& worker,
            const exec::RpcConfig& rpc) -> absl::StatusOr<std::unique_ptr<exec::ServerLink>> {
      hook(Phase::kRendezvous, 0);
      DT_ASSIGN_OR_RETURN(auto link, Connect(worker, rpc));
      return std::make_unique<HookedLink>(std::move(link), hook);
    };
    links.serve = [&](const exec::WorkerConfig& worker,
                      const exec::RpcConfig& rpc) -> absl::StatusOr<std::unique_ptr<exec::Rounds>> {
      hook(Phase::kRendezvous, 0);
      DT_ASSIGN_OR_RETURN(auto rounds, ps::Serve(worker, rpc));
      return std::make_unique<HookedRounds>(std::move(rounds), hook);
    };
    return exec::RunWorker(config, links);
  }

  void Await(int index, double begin) {
    int status = 0;
    bool ended = false;
    while (!ended && Now() - begin < row_.within + kBeforeFault + 5) {
      ended = waitpid(pids_[index], &status, WNOHANG) == pids_[index];
      usleep(2000);
    }
    const std::string message = MessageOf(index);
    INFO((index < kTrainers ? "trainer " : "server ") << index % kTrainers << ": " << message);
    REQUIRE(ended);
    pids_[index] = 0;
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == exec::kWorkerDone) {
      CHECK(row_.may_be_done);
      return;
    }
    CHECK(WEXITSTATUS(status) == exec::kWorkerFailed);
    bool said = false;
    for (const std::string& one : row_.says) said |= message.find(one) != std::string::npos;
    CHECK(said);
  }

  std::string MessageOf(int index) const {
    std::string message;
    std::ifstream in(folder_ + "/" + std::to_string(index) + ".control");
    for (std::string line; std::getline(in, line);) {
      const Json json = Json::parse(line, nullptr, false);
      if (json.is_object() && json["event"] == "error") message = json.value("message", "");
    }
    return message;
  }

  const FaultRow& row_;
  std::string folder_;
  pid_t* pids_ = nullptr;  // seen by all processes
  std::vector<comm::Socket> listeners_;
  std::vector<std::string> addresses_;
};

}  // namespace

TEST_CASE("whoever is killed or stopped, wherever: the others end in time and say who it was") {
  for (const FaultRow& row : FaultTable()) {
    INFO((row.server ? "server " : "trainer ") << (row.signal == SIGKILL ? "killed" : "stopped")
                                               << " in the phase " << NameOf(row.phase));
    FaultyJob(row).Run();
  }
}

TEST_CASE("the page has the table of this test") {
  std::ifstream in("docs/parameter-server.md");
  std::stringstream page;
  page << in.rdbuf();
  const std::string begin = "<!-- faults: made by test/runtime/ps/fault_table_test.cc -->\n";
  INFO("write this below the mark:\n" << FaultTablePage());
  const size_t at = page.str().find(begin);
  REQUIRE(at != std::string::npos);
  CHECK(page.str().compare(at + begin.size(), FaultTablePage().size(), FaultTablePage()) == 0);
}

}  // namespace dtranspile::ps::test

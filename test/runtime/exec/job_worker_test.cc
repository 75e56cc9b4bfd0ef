// Workers of jobs of several programs: trainers and servers that meet in memory, ranks that have a
// part of what is read and saved, plans that are another rank's.
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/exec/worker.h"
#include "runtime/io/npy.h"
#include "runtime/io/tensor_record.h"
#include "runtime/kernels/cpu/call_table.h"
#include "test/runtime/exec/memory_servers.h"
#include "test/runtime/exec/role_plans.h"

namespace dtranspile::exec {
namespace {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/dtranspile-job-worker-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  std::string Path(const std::string& name) const { return path_ + "/" + name; }

  // A folder for a plan, with the test kernels beside it.
  std::string Plan(const std::string& name, const PlanBuilder& plan) const {
    const std::string own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    std::filesystem::create_directories(Path(name));
    std::filesystem::copy_file(own + "/libtest_kernels.so", Path(name) + "/libtest_kernels.so",
                               std::filesystem::copy_options::skip_existing);
    std::ofstream(Path(name) + "/plan.json") << plan.json.dump();
    return Path(name);
  }

 private:
  std::string path_;
};

// One rank, from its CONFIG to its lines.
struct Rank {
  WorkerConfig config;
  WorkerLinks links;
  int status = -1;
  std::vector<Json> lines;

  void Run(const std::string& place) {
    links.find_function = kernels::FindFunction;
    const std::string control = place + ".control";
    config.control_fd = open(control.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    std::ofstream(place + ".json") << ToJson(config).dump();
    status = RunWorker(place + ".json", links);
    close(config.control_fd);
    std::ifstream in(control);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  }
  std::string error() const {
    return lines.empty() ? "" : lines.back().value("message", std::string());
  }
};

// Trainers and servers of a job, as threads.
class Job {
 public:
  Job(int trainers, int servers, double seconds = 20) : memory_(trainers, servers, seconds) {
    const std::string trainer = folder.Plan("trainer", TrainerPlan());
    const std::string server = folder.Plan("server", ServerPlan(servers));
    std::vector<float> g(static_cast<size_t>(2 * trainers * 14));
    for (size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i % 14) + 1;
    REQUIRE(io::WriteNpy(folder.Path("g.npy"), {DType::kFloat32,
                                                {2, 7 * trainers, 2},
                                                reinterpret_cast<const std::byte*>(g.data())})
                .ok());
    const RpcConfig rpc = {"server",          "trainer", "",       "key", {},
                           {{"ps", servers}}, servers,   trainers, 0};
    for (int i = 0; i < trainers; ++i) {
      WorkerConfig config = Config(trainer, "trainer", i, "dp", trainers);
      config.feeds = {{"g", folder.Path("g.npy")}};
      config.fetch = {"w"};
      config.servers = {rpc};
      config.servers[0].number = i;
      Add(std::move(config));
    }
    for (int i = 0; i < servers; ++i) {
      WorkerConfig config = Config(server, "server", i, "ps", servers);
      config.serves = rpc;
      config.serves->number = i;
      config.fetch = {"rate"};
      config.per_step = {{"rate", {0.5, 0.25}}};
      Add(std::move(config));
    }
  }

  void Run() {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < ranks.size(); ++i)
      threads.emplace_back([this, i] { ranks[i].Run(folder.Path(std::to_string(i))); });
    for (std::thread& thread : threads) thread.join();
  }

  Folder folder;
  std::vector<Rank> ranks;  // trainers, then servers

 private:
  static WorkerConfig Config(const std::string& plan, const char* role, int rank, const char* axis,
                             int size) {
    WorkerConfig config;
    config.plan = plan;
    config.role = role;
    config.rank = rank;
    config.coordinates = {{axis, rank}};
    config.mesh = {{axis, size}};
    config.steps = 2;
    return config;
  }
  void Add(WorkerConfig config) {
    Rank& rank = ranks.emplace_back();
    rank.config = std::move(config);
    rank.links.connect = [this](const WorkerConfig&, const RpcConfig& rpc) {
      return memory_.Connect(rpc.number);
    };
    rank.links.serve = [this](const WorkerConfig&, const RpcConfig& rpc) {
      return memory_.Serve(rpc.number);
    };
  }

  MemoryServers memory_;
};

std::vector<float> FloatsOf(const std::string& path) {
  const auto read = io::ReadTensorFile(path);
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  return {read->as<float>(), read->as<float>() + read->bytes.size() / sizeof(float)};
}

}  // namespace

TEST_CASE("trainers and servers step together, in rounds") {
  for (int trainers : {1, 2, 3})
    for (int servers : {1, 2}) {
      Job job(trainers, servers);
      for (size_t i = static_cast<size_t>(trainers); i < job.ranks.size(); ++i) {
        job.ranks[i].config.save_parts = job.folder.Path("parts" + std::to_string(i));
        job.ranks[i].config.part_names = {"w"};
      }
      job.Run();
      for (const Rank& rank : job.ranks) {
        INFO(trainers << " x " << servers << ": " << rank.config.role << " " << rank.config.rank
                      << " " << rank.error());
        REQUIRE(rank.status == kWorkerDone);
        REQUIRE(rank.lines.size() == 4);
        const bool trains = rank.config.role == "trainer";
        CHECK(rank.lines[3]["bytes_sent"] == (trains ? 1 : 3));
        const Json& last = rank.lines[2]["fetch"];
        if (!trains) {
          CHECK(last["rate"] == Json{0.25});
          continue;
        }
        // All trainers push the same: the mean is that.
        Json expected = Json::array();
        for (int i = 0; i < 14; ++i) expected.push_back(-0.75 * (i + 1));
        CHECK(last["w"] == expected);
      }
      const std::string part = "parts" + std::to_string(trainers + servers - 1) + "/w";
      const std::vector<float> saved = FloatsOf(job.folder.Path(part));
      CHECK(saved.size() == (servers == 1 ? 14 : 6));
      CHECK(saved[0] == -0.75F * (servers == 1 ? 1 : 5));
      CHECK(saved.back() == -0.75F * 14);
    }
}

TEST_CASE("a trainer that fails ends the servers and the other trainers") {
  Job job(2, 2);
  job.ranks[1].config.steps = 3;
  job.ranks[1].config.feeds[0].file = job.folder.Path("none.npy");
  job.Run();
  CHECK(job.ranks[1].error().find("none.npy") != std::string::npos);
  for (size_t i : {size_t{0}, size_t{2}, size_t{3}}) {
    CHECK(job.ranks[i].status == kWorkerFailed);
    CHECK(job.ranks[i].error().find("trainer 1 failed: ") != std::string::npos);
    CHECK(job.ranks[i].lines.back()["waiting"] == true);
  }
}

TEST_CASE("a server that fails in a round ends the trainers; one without rates for it says so") {
  Job job(2, 1);
  job.ranks[2].config.per_step["rate"] = {1, 2};
  for (Rank& rank : job.ranks) rank.config.steps = rank.config.role == "server" ? 1 : 2;
  job.ranks[2].config.per_step["rate"] = {1};
  job.Run();
  CHECK(job.ranks[2].error() == "per-step values: 1 values of 'rate', none for step 1");
  CHECK(job.ranks[2].lines.back()["step"] == 1);
  CHECK(job.ranks[2].lines.back()["waiting"] == false);
  CHECK(job.ranks[0].error() ==
        "op 0:3 pull: per-step values: 1 values of 'rate', none for step 1");
  CHECK(job.ranks[0].lines.back()["waiting"] == true);
}

TEST_CASE("a server that never comes is waited for until the deadline") {
  Job job(1, 2, 0.5);
  job.ranks.pop_back();
  job.Run();
  CHECK(job.ranks[0].error() == "op 0:1 push: server 1 has not come within 0.5 s");
  CHECK(job.ranks[0].status == kWorkerFailed);
  CHECK(job.ranks[1].status == kWorkerFailed);
}

TEST_CASE("a plan of servers wants a worker that can serve, and one that asks, servers") {
  Job job(1, 1);
  for (Rank& rank : job.ranks) rank.links.connect = nullptr, rank.links.serve = nullptr;
  job.Run();
  CHECK(job.ranks[0].error() == "communicator 'ps': this worker cannot ask servers");
  CHECK(job.ranks[1].error() == "the plan is a server's, and this worker cannot serve");
  for (Rank& rank : job.ranks) rank.config.servers.clear(), rank.config.serves.reset();
  job.Run();
  CHECK(job.ranks[0].error() == "CONFIG has no servers 'server' for communicator 'ps'");
  CHECK(job.ranks[1].error().find("CONFIG says nothing of whom it serves") != std::string::npos);
}

TEST_CASE("a plan of another role, class or job is refused by name") {
  Job job(1, 1);
  Rank& rank = job.ranks[0];
  const auto error = [&](const auto& change) {
    const WorkerConfig before = rank.config;
    change(rank.config);
    rank.Run(job.folder.Path("wrong"));
    rank.config = before;
    return rank.error();
  };
  const std::string plan = job.folder.Path("trainer");
  CHECK(error([](WorkerConfig& c) { c.role = "server"; }) ==
        plan + ": is a plan of role 'trainer', this rank is to run 'server'");
  CHECK(error([](WorkerConfig& c) { c.class_name = "trainer[pp=1]"; }) ==
        plan + ": is a plan of class 'trainer', this rank is to run 'trainer[pp=1]'");
  CHECK(error([](WorkerConfig& c) { c.digest = "sha256:1"; }) ==
        plan + ": is a plan of job 'sha256:0', this rank is to run 'sha256:1'");
  CHECK(error([](WorkerConfig& c) { c.comms = {{"grad", "g", 0, 1}}; }) ==
        "CONFIG has a communicator 'grad', which the plan lacks");
}

TEST_CASE("a rank reads and saves what it has: its variables, its parts of cut ones") {
  Folder folder;
  PlanBuilder b;
  b.Variable("own", "float32", {2});
  b.variable()["at"] = {{"dp", {1, 2}}};
  b.Variable("rows", "float32", {2, 2});
  b.variable()["layout"] = LayoutNodeJson("even", "dp", {3, 2});
  b.Variable("flat", "float32", {3});
  b.variable()["layout"] = LayoutNodeJson("even", "dp", {6});
  b.variable()["layout"].update({{"dim", -1}, {"whole", {2, 3}}});
  const auto write = [&](const char* name, std::vector<int64_t> dims) {
    std::vector<float> values(6);
    for (size_t i = 0; i < 6; ++i) values[i] = static_cast<float>(i + 1);
    std::filesystem::create_directories(folder.Path("init"));
    REQUIRE(io::WriteTensorFile(folder.Path("init/") + name,
                                TensorView{DType::kFloat32, std::move(dims),
                                           reinterpret_cast<const std::byte*>(values.data())})
                .ok());
  };
  write("own", {2}), write("rows", {3, 2}), write("flat", {2, 3});
  for (int64_t at : {0, 1}) {
    Rank rank;
    rank.config.plan = folder.Plan("plan", b);
    rank.config.role = "trainer";
    rank.config.coordinates = {{"dp", at}};
    rank.config.mesh = {{"dp", 2}};
    rank.config.steps = 1;
    rank.config.init = InitConfig{folder.Path("init"), "", {}};
    rank.config.save_parts = rank.config.save = folder.Path("after");
    rank.config.part_names = {"rows", "flat"};
    if (at == 1) rank.config.save_names = {"own"};
    rank.Run(folder.Path("rank"));
    INFO(rank.error());
    REQUIRE(rank.status == kWorkerDone);
    CHECK(FloatsOf(folder.Path("after/rows")) ==
          (at == 0 ? std::vector<float>{1, 2, 3, 4} : std::vector<float>{5, 6, 0, 0}));
    CHECK(FloatsOf(folder.Path("after/flat")) ==
          (at == 0 ? std::vector<float>{1, 2, 3} : std::vector<float>{4, 5, 6}));
    if (at == 1) CHECK(FloatsOf(folder.Path("after/own")) == std::vector<float>{1, 2});
    rank.config.save_names = {"own"};
    rank.Run(folder.Path("rank"));
    CHECK((rank.status == kWorkerDone) == (at == 1));
    if (at == 0) CHECK(rank.error() == "'own' is to be saved, but is no persistable of this rank");
  }
  write("rows", {2, 2});
  Rank rank;
  rank.config.plan = folder.Path("plan");
  rank.config.coordinates = {{"dp", 0}};
  rank.config.mesh = {{"dp", 2}};
  rank.config.init = InitConfig{folder.Path("init"), "", {}};
  rank.Run(folder.Path("rank"));
  CHECK(rank.error().find("'rows' is float32[2, 2], the program declares float32[3, 2]") !=
        std::string::npos);
}

}  // namespace dtranspile::exec

// Parameter-server jobs as workers run them: plans by hand, a dtranspile-worker per rank, values on
// their control channels.
#include "runtime/exec/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/exec/config.h"
#include "runtime/io/npy.h"
#include "runtime/io/tensor_record.h"
#include "test/runtime/exec/plan_builder.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {
namespace {

using comm::test::Now;
using exec::Json;

constexpr int64_t kRows = 7, kWidth = 2, kPer = 2;

Json Program(const char* when, Json body) {
  Json program = {{"when", when},
                  {"feeds", Json::array()},
                  {"fetches", Json::array()},
                  {"body", std::move(body)}};
  if (std::string(when) == "round") program["arguments"] = Json::array();
  return program;
}

Json BlocksLayout() { return exec::LayoutNodeJson("blocks", "ps", {kRows, kWidth}, kPer, 1); }

// w comes from the servers; its gradient is what is fed.
Json TrainerPlan() {
  exec::PlanBuilder b;
  b.json["comms"] =
      Json::array({{{"name", "ps"}, {"axes", {"dp"}}, {"kind", "rpc"}, {"server", "server"}}});
  const int w = b.Variable("w", "float32", {kRows, kWidth});
  const int g = b.Arena("g", "float32", {kRows, kWidth});
  const Json layout = BlocksLayout();
  const Json pull = {{"pull", "w"}, {"comm", 0}, {"to", w}, {"layout", layout}, {"op", "0:3 pull"}};
  const Json end = {{"phase", "pull"}, {"comm", 0}, {"op", "0:4 phase"}};
  const Json push = {{"push", "w"},     {"comm", 0},        {"from", g},
                     {"merge", "mean"}, {"layout", layout}, {"op", "0:1 push"}};
  b.startup() = Json::array({pull, end});
  b.body() = Json::array({push, {{"phase", "push"}, {"comm", 0}, {"op", "0:2 phase"}}, pull, end});
  b.main()["feeds"] =
      Json::array({{{"name", "g"}, {"buffer", g}, {"split", {{"dim", 0}, {"axes", {"dp"}}}}}});
  b.main()["fetches"] = Json::array({{{"name", "w"}, {"buffer", w}, {"combine", "same"}}});
  b.json["role"] = "trainer";
  return b.json;
}

// Plain gradient descent with rate 2, block by block; w begins with 2 everywhere.
Json ServerPlan(int servers) {
  exec::PlanBuilder b;
  const Json layout = BlocksLayout();
  const int64_t blocks = (kRows + kPer - 1) / kPer, owned = (blocks + servers - 1) / servers;
  // Block 0 is on the server that has the last block too, where their number asks for it.
  const int64_t room = servers == 1 ? kRows : owned * kPer;
  const int w = b.Variable("w", "float32", {room, kWidth});
  b.variable()["layout"] = layout;
  const int two = b.Constant("two", "00000040");
  const int whole = b.Arena("whole", "float32", {kRows, kWidth});
  const int64_t stride = kPer * kWidth * 4;
  const auto body = [&](int64_t extent) {
    const std::string name = std::to_string(extent);
    const int mine = b.View("w." + name, w, 0, {extent, kWidth}, stride, owned);
    const int g = b.Arena("g." + name, "float32", {extent, kWidth});
    return Json{{"extent", extent},
                {"body",
                 {{{"merged", "w"}, {"to", g}, {"op", "0:0 merged"}},
                  {{"kernel", "k_update"},
                   {"args", {mine, g, two}},
                   {"n", extent * kWidth},
                   {"grain", 1},
                   {"op", "0:1 sgd"}}}}};
  };
  const Json bodies = {body(kPer), body(kRows % kPer)};
  b.json["programs"] = {
      {"startup",
       Program("startup", {exec::FillNodeJson(whole, two, kRows * kWidth),
                           {{"slice", {whole, w}}, {"layout", layout}, {"op", "0:1 slice"}}})},
      {"main",
       Program(
           "round",
           Json::array({{{"blocks", layout}, {"bodies", bodies}, {"op", "0:0 foreach_block"}}}))}};
  b.json["class"] = b.json["role"] = "server";
  return b.json;
}

float GradientAt(int step, int trainer, int64_t i) {
  return static_cast<float>((step * 5 + trainer * 3 + static_cast<int>(i)) % 11) / 8;
}

// A job in a folder of its own; workers are killed and the folder goes at the end.
class Workers {
 public:
  Workers(const TestJob& job, int steps) : job_(job), steps_(steps) {
    char name[] = "/tmp/dtranspile-ps-XXXXXX";
    folder_ = mkdtemp(name);
    runfiles_ = std::filesystem::current_path();
    WritePlan("trainer", TrainerPlan());
    WritePlan("server", ServerPlan(job.servers));
    const int64_t rows = kRows * job.trainers;
    std::vector<float> g;
    for (int step = 0; step < steps; ++step)
      for (int trainer = 0; trainer < job.trainers; ++trainer)
        for (int64_t i = 0; i < kRows * kWidth; ++i) g.push_back(GradientAt(step, trainer, i));
    REQUIRE(io::WriteNpy(folder_ + "/g.npy", {DType::kFloat32,
                                              {steps, rows, kWidth},
                                              reinterpret_cast<const std::byte*>(g.data())})
                .ok());
  }
  ~Workers() {
    for (const pid_t pid : pids_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  exec::WorkerConfig ConfigOf(bool server, int rank) const {
    exec::WorkerConfig c;
    c.role = c.class_name = server ? "server" : "trainer";
    c.plan = folder_ + "/" + c.role;
    c.digest = "sha256:0";
    c.rank = rank;
    c.rendezvous.token = kToken;
    c.rendezvous.timeout_seconds = job_.timeout_seconds;
    exec::RpcConfig rpc;
    rpc.role = "server";
    rpc.sender_role = "trainer";
    rpc.store = job_.store.address();
    rpc.key = "job.server";
    rpc.mesh = {{"ps", job_.servers}};
    rpc.servers = job_.servers;
    rpc.senders = job_.trainers;
    rpc.number = rank;
    if (server) {
      c.mesh = {rpc.mesh.begin(), rpc.mesh.end()};
      c.coordinates = {{"ps", rank}};
      c.serves = rpc;
      c.save_parts = folder_ + "/saved." + std::to_string(rank);
      c.part_names = {"w"};
    } else {
      c.mesh = {{"dp", job_.trainers}};
      c.coordinates = {{"dp", rank}};
      c.servers = {rpc};
      c.feeds = {{"g", folder_ + "/g.npy"}};
      c.fetch = {"w"};
    }
    c.steps = steps_;
    return c;
  }

  // Starts a rank; its number among all that have been.
  size_t Start(exec::WorkerConfig config) {
    const std::string stem = folder_ + "/" + std::to_string(pids_.size());
    constexpr int kControl = 100;  // no number that the test has open
    config.control_fd = kControl;
    std::ofstream(stem + ".json") << exec::ToJson(config).dump();
    const int control =
        open((stem + ".control").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const std::string worker = runfiles_ + "/tools/dtranspile/dtranspile-worker";
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(control, kControl);
      execl(worker.c_str(), worker.c_str(), (stem + ".json").c_str(), nullptr);
      _exit(127);
    }
    close(control);
    pids_.push_back(pid);
    return pids_.size() - 1;
  }
  void StartAll() {
    for (int t = 0; t < job_.trainers; ++t) Start(ConfigOf(false, t));
    for (int s = 0; s < job_.servers; ++s) Start(ConfigOf(true, s));
  }

  void Signal(size_t worker, int signal) const { kill(pids_[worker], signal); }

  // The exit status of a worker, -1 for one that was killed or does not end in time.
  int Wait(size_t worker, double seconds = 30) const {
    const double end = Now() + seconds;
    for (int status = 0; Now() < end; usleep(2000))
      if (waitpid(pids_[worker], &status, WNOHANG) == pids_[worker])
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return -1;
  }

  // What a worker has said so far, but for signs of life.
  std::vector<Json> Lines(size_t worker) const {
    std::vector<Json> lines;
    std::ifstream in(folder_ + "/" + std::to_string(worker) + ".control");
    for (std::string line; std::getline(in, line);) {
      Json json = Json::parse(line, nullptr, false);
      if (json.is_object() && json["event"] != "alive") lines.push_back(std::move(json));
    }
    return lines;
  }
  std::string Error(size_t worker) const {
    const std::vector<Json> lines = Lines(worker);
    return lines.empty() ? "" : lines.back().value("message", "");
  }
  // Waits until a worker has said so many lines.
  void Await(size_t worker, size_t lines) const {
    for (const double end = Now() + 20; Now() < end && Lines(worker).size() < lines;) usleep(2000);
    REQUIRE(Lines(worker).size() >= lines);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void WritePlan(const std::string& role, const Json& plan) {
    std::filesystem::create_directory(folder_ + "/" + role);
    std::ofstream(folder_ + "/" + role + "/plan.json") << plan.dump();
    std::filesystem::copy_file(runfiles_ + "/test/runtime/exec/libtest_kernels.so",
                               folder_ + "/" + role + "/libtest_kernels.so");
  }

  const TestJob& job_;
  const int steps_;
  std::string folder_, runfiles_;
  std::vector<pid_t> pids_;
};

}  // namespace

TEST_CASE("workers of trainers and servers train, whatever their number") {
  constexpr int kSteps = 4;
  const std::pair<int, int> sizes[] = {{2, 1}, {3, 2}};
  for (const auto& [trainers, servers] : sizes) {
    INFO(trainers << " trainers, " << servers << " servers");
    const TestJob job{trainers, servers};
    Workers workers(job, kSteps);
    workers.StartAll();
    std::vector<float> w(kRows * kWidth, 2.0F);
    std::vector<std::vector<float>> after;
    for (int step = 0; step < kSteps; ++step) {
      for (int64_t i = 0; i < kRows * kWidth; ++i) {
        float sum = GradientAt(step, 0, i);
        for (int t = 1; t < trainers; ++t) sum += GradientAt(step, t, i);
        w[static_cast<size_t>(i)] -= 2 * (sum * static_cast<float>(1.0 / trainers));
      }
      after.push_back(w);
    }
    for (int i = 0; i < trainers + servers; ++i) {
      INFO("worker " << i << ": " << workers.Error(static_cast<size_t>(i)));
      REQUIRE(workers.Wait(static_cast<size_t>(i)) == exec::kWorkerDone);
    }
    for (int t = 0; t < trainers; ++t) {
      const std::vector<Json> lines = workers.Lines(static_cast<size_t>(t));
      REQUIRE(lines.size() == kSteps + 2);
      for (size_t step = 0; step < kSteps; ++step) {
        std::vector<float> values;
        for (const Json& value : lines[step + 1]["fetch"]["w"]) values.push_back(value);
        CHECK(values == after[step]);
      }
      CHECK(lines.back()["bytes_sent"] >= kSteps * kRows * kWidth * 4);
    }
    const exec::Layout layout = LayoutOf(exec::LayoutKind::kBlocks, {kRows, kWidth}, 0, kPer, 1);
    const exec::Parts parts(layout, servers);
    for (int s = 0; s < servers; ++s) {
      CHECK(workers.Lines(static_cast<size_t>(trainers + s)).back()["event"] == "done");
      const auto saved = io::ReadTensorFile(workers.Path("saved." + std::to_string(s) + "/w"));
      INFO(saved.status().ToString());
      REQUIRE(saved.ok());
      std::vector<float> part(static_cast<size_t>(parts.extent(s) * kWidth));
      parts.Take(s, 4, reinterpret_cast<const std::byte*>(w.data()),
                 reinterpret_cast<std::byte*>(part.data()), false);
      REQUIRE(saved->dims == parts.dims(s));
      CHECK(std::vector<float>(saved->as<float>(), saved->as<float>() + part.size()) == part);
    }
  }
}

TEST_CASE("workers whose server or trainer is killed or stopped report it with the op") {
  constexpr int kSteps = 100000;  // more than there is time for
  const bool server = GENERATE(true, false);
  const int signal = GENERATE(SIGKILL, SIGSTOP);
  INFO((server ? "server, " : "trainer, ") << strsignal(signal));
  TestJob job{2, 1};
  job.timeout_seconds = 2;
  Workers workers(job, kSteps);
  workers.StartAll();
  workers.Await(0, 3);
  const size_t victim = server ? 2 : 1;
  workers.Signal(victim, signal);
  const double begin = Now();
  for (const size_t i : {size_t{0}, server ? size_t{1} : size_t{2}}) {
    CHECK(workers.Wait(i, 10) == exec::kWorkerFailed);
    INFO("worker " << i << ": " << workers.Error(i));
    const std::string who = server ? "server 0 " : "trainer 1 ";
    CHECK_THAT(workers.Error(i), Catch::Contains(who + "is dead, or gives no sign of life") ||
                                     Catch::Contains(who + "has not "));
    const Json last = workers.Lines(i).back();
    CHECK(last["waiting"] == true);
    if (i == 0) CHECK(last["op"].get<std::string>().rfind("0:", 0) == 0);
    CHECK(last["step"].is_number());
  }
  CHECK(Now() - begin < (signal == SIGKILL ? 5 : 8));
}

TEST_CASE("a worker whose servers are not there, or of another job, says so") {
  TestJob job{1, 1};
  job.timeout_seconds = 1;
  Workers workers(job, 1);
  SECTION("not there") {
    workers.Start(workers.ConfigOf(false, 0));
    const double begin = Now();
    CHECK(workers.Wait(0, 10) == exec::kWorkerFailed);
    CHECK(Now() - begin < 6);
    CHECK_THAT(workers.Error(0),
               Catch::Contains("server 0 is not there: it has not told its address within 1 s"));
    CHECK(workers.Lines(0).back()["waiting"] == true);
  }
  SECTION("another job") {
    exec::WorkerConfig trainer = workers.ConfigOf(false, 0);
    trainer.servers[0].senders = 2;
    workers.Start(trainer);
    workers.Start(workers.ConfigOf(true, 0));
    for (const size_t i : {0, 1}) {
      CHECK(workers.Wait(i, 10) == exec::kWorkerFailed);
      CHECK_THAT(workers.Error(i), Catch::Contains("trainer 0 is one of 2, and server 0 has 1"));
    }
  }
  SECTION("no store") {
    exec::WorkerConfig trainer = workers.ConfigOf(false, 0);
    trainer.servers[0].store = "127.0.0.1:1";
    workers.Start(trainer);
    CHECK(workers.Wait(0, 10) == exec::kWorkerFailed);
    CHECK_THAT(workers.Error(0), Catch::Contains("127.0.0.1:1"));
  }
}

}  // namespace dtranspile::ps::test

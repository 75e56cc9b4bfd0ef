// Guards, coordinates, parts, micro-batches and blocks: what a rank runs of the plan of its class.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <numeric>
#include <thread>

#include "runtime/exec/executor.h"
#include "test/runtime/exec/plan_builder.h"
#include "test/runtime/exec/role_plans.h"
#include "test/runtime/exec/test_calls.h"

namespace dtranspile::exec {
namespace {

std::string OwnFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

Position At(int64_t at, int64_t of) { return {{{"dp", at}}, {{"dp", of}}}; }

absl::StatusOr<std::unique_ptr<Executor>> Load(const PlanBuilder& b, ExecutorOptions options) {
  auto plan = ParsePlan("plan.json", b.json.dump());
  if (!plan.ok()) return plan.status();
  plan->folder = OwnFolder();
  options.find_function = FindTestFunction;
  return Executor::Load(*std::move(plan), std::move(options));
}

std::unique_ptr<Executor> LoadAt(const PlanBuilder& b, const Position& position) {
  ExecutorOptions options;
  options.position = position;
  auto executor = Load(b, std::move(options));
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  return *std::move(executor);
}

std::string ErrorAt(const PlanBuilder& b, const Position& position) {
  ExecutorOptions options;
  options.position = position;
  return std::string(Load(b, std::move(options)).status().message());
}

void Step(Executor& executor) {
  const absl::Status status = executor.RunMain();
  INFO(status.ToString());
  REQUIRE(status.ok());
}

template <typename T>
std::vector<T> Read(const Executor& executor, int buffer) {
  const auto* data = reinterpret_cast<const T*>(executor.data(buffer));
  const auto id = static_cast<size_t>(buffer);
  return {data, data + executor.plan().buffers[id].count()};
}
std::vector<float> Floats(const Executor& executor, int buffer) {
  return Read<float>(executor, buffer);
}

void Write(const Executor& executor, int buffer, const std::vector<float>& values) {
  std::copy(values.begin(), values.end(), reinterpret_cast<float*>(executor.data(buffer)));
}

std::vector<float> Counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

// Remembers what is asked of it, in order: "send 0" when the first transfer starts, "wait 0" when
// it is waited for.
class Recorder : public comm::Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  const char* backend() const override { return "test"; }
  absl::StatusOr<comm::Ticket> Start(comm::Request request) override {
    events.push_back("send " + std::to_string(started));
    sent.push_back(*static_cast<const float*>(request.inputs[0].data));
    return static_cast<comm::Ticket>(++started);
  }
  absl::Status Wait(comm::Ticket ticket) override {
    events.push_back("wait " + std::to_string(ticket - 1));
    return fails ? absl::DeadlineExceededError("rank 1 has not come") : absl::OkStatus();
  }
  absl::Status Run(comm::Request) override { return absl::OkStatus(); }
  int64_t bytes_sent() const override { return 0; }
  int64_t bytes_received() const override { return 0; }
  void Abort(const std::string&) override {}

  std::vector<std::string> events;
  std::vector<float> sent;
  int started = 0;
  bool fails = false;
};

}  // namespace

TEST_CASE("a guard that is data of the rank decides which body it runs") {
  PlanBuilder b;
  const int one = b.Constant("one", kOne), own = b.Variable("own", "float32", {2});
  b.variable()["at"] = {{"dp", {1, 2, 3, 4}}};
  const int other = b.Variable("other", "float32", {2});
  b.body() = Json::array({{{"at", {{"dp", {1, 2, 3, 4}}}},
                           {"body", {FillNodeJson(own, one, 2)}},
                           {"else", {FillNodeJson(other, one, 2)}},
                           {"op", "0:1 on"}}});
  for (int64_t at = 0; at < 4; ++at) {
    const auto executor = LoadAt(b, At(at, 4));
    Step(*executor);
    const bool owner = at % 2 == 1;
    CHECK((executor->data(own) != nullptr) == owner);
    if (owner) CHECK(Floats(*executor, own) == std::vector<float>{1, 1});
    CHECK(Floats(*executor, other) == std::vector<float>(2, owner ? 0.0F : 1.0F));
  }
  // Without its guard an op names what this rank lacks, before anything runs.
  b.body() = Json::array({FillNodeJson(own, one, 2)});
  CHECK(ErrorAt(b, At(1, 4)).empty());
  CHECK(ErrorAt(b, At(2, 4)) ==
        "op 0:0 fill_constant: 'own' is not on this rank, and the op stands under no guard that "
        "says so");
}

TEST_CASE("an operation between ranks wants a guard with a class of its own") {
  PlanBuilder b;
  const int x = b.Arena("x", "float32", {1});
  b.json["comms"] = Json::array({{{"name", "grad"}, {"axes", {"dp"}}}});
  b.body() = Json::array({{{"at", {{"dp", {0, 1}}}},
                           {"body",
                            {StartNodeJson("all_reduce", 0, 0, {x}, {x}, 0, "0:2 all_reduce"),
                             WaitNodeJson(0, "0:2 all_reduce")}},
                           {"else", Json::array()},
                           {"op", "0:1 on"}}});
  CHECK_THAT(
      ErrorAt(b, At(0, 2)),
      Catch::Contains("body[0].body[0]: communicates under a guard that is data of the rank"));
}

TEST_CASE("a rank that is no member of a communicator may not use it") {
  PlanBuilder b;
  const int x = b.Arena("x", "float32", {1});
  b.json["comms"] =
      Json::array({{{"name", "first"}, {"axes", {"dp"}}, {"subset", {{"dp", {0, 2, 3, 4}}}}}});
  b.body() = Json::array({StartNodeJson("all_reduce", 0, 0, {x}, {x}, 0, "0:2 all_reduce"),
                          WaitNodeJson(0, "0:2 all_reduce")});
  ExecutorOptions options;
  options.position = At(2, 4);
  options.comms = {nullptr};
  CHECK(Load(b, std::move(options)).status().message() ==
        "op 0:2 all_reduce: this rank is no member of communicator 'first' (it has dp 0 to 1, dp 3 "
        "to 3); the op lacks its guard");
}

TEST_CASE("coordinates and parts are those of the rank") {
  PlanBuilder b;
  const int whole = b.Arena("whole", "float32", {5, 2}), part = b.Arena("part", "float32", {2, 2});
  const int columns = b.Arena("columns", "float32", {5, 1});
  const int number = b.Arena("number", "int64", {1});
  Json across = LayoutNodeJson("even", "mp", {5, 2});
  across["dim"] = 1, across["extent"] = 2;
  b.body() = Json::array({{{"coord", "dp"}, {"to", number}, {"op", "0:1 coord"}},
                          {{"slice", {whole, part}},
                           {"layout", LayoutNodeJson("even", "dp", {5, 2})},
                           {"op", "0:2 s"}},
                          {{"slice", {whole, columns}}, {"layout", across}, {"op", "0:3 slice"}}});
  for (int64_t at = 0; at < 3; ++at) {
    const auto executor = LoadAt(b, {{{"dp", at}, {"mp", 1}}, {{"dp", 3}, {"mp", 2}}});
    Write(*executor, whole, Counted(10));
    Write(*executor, part, {9, 9, 9, 9});
    Step(*executor);
    CHECK(Read<int64_t>(*executor, number) == std::vector<int64_t>{at});
    const auto first = static_cast<float>(4 * at);
    // The last part has one row, and zeros after it.
    CHECK(Floats(*executor, part) ==
          (at < 2 ? std::vector<float>{first + 1, first + 2, first + 3, first + 4}
                  : std::vector<float>{9, 10, 0, 0}));
    CHECK(Floats(*executor, columns) == std::vector<float>{2, 4, 6, 8, 10});
  }
  CHECK(
      ErrorAt(b, {{{"dp", 0}, {"mp", 0}}, {{"dp", 2}, {"mp", 2}}}) ==
      "op 0:2 s: 'part' is float32[2, 2], a part of 'whole' on 2 coordinates is float32[3, 2]; was "
      "the plan compiled for another mesh?");
  CHECK(ErrorAt(b, At(0, 3)) == "op 0:3 slice: axis 'mp' is none of this rank's mesh");
}

TEST_CASE("a server cuts its blocks out of a whole initial value, and runs a body for each") {
  PlanBuilder b;
  const int whole = b.Arena("whole", "float32", {7, 8}), w = b.Variable("w", "float32", {4, 8});
  const Json layout = LayoutNodeJson("blocks", "dp", {7, 8}, 2);
  b.variable()["layout"] = layout;
  const int full = b.View("w.2", w, 0, {2, 8}, 64, 2), last = b.View("w.1", w, 0, {1, 8}, 64, 2);
  const int one = b.Constant("one", kOne), ones = b.Arena("ones", "float32", {2, 8});
  b.startup() = Json::array({{{"slice", {whole, w}}, {"layout", layout}, {"op", "0:0 slice"}}});
  b.body() = Json::array({FillNodeJson(ones, one, 16),
                          {{"blocks", layout},
                           {"bodies",
                            {{{"extent", 2}, {"body", {AddNodeJson(full, ones, 16)}}},
                             {{"extent", 1}, {"body", {AddNodeJson(last, ones, 8)}}}}},
                           {"op", "0:1 foreach_block"}}});
  for (int64_t at = 0; at < 2; ++at) {
    const auto executor = LoadAt(b, At(at, 2));
    Write(*executor, whole, Counted(56));
    REQUIRE(executor->RunStartup().ok());
    Step(*executor);
    // Rows 0, 1, 4, 5 on the first one, 2, 3, 6 on the other.
    std::vector<float> expected;
    for (int row : at == 0 ? std::vector<int>{0, 1, 4, 5} : std::vector<int>{2, 3, 6})
      for (int i = 0; i < 8; ++i) expected.push_back(static_cast<float>(8 * row + i + 2));
    const auto* data = reinterpret_cast<const float*>(executor->data(w));
    CHECK(std::vector<float>(data, data + expected.size()) == expected);
  }
  // The variable as a whole is on no rank of the two.
  b.startup() = Json::array({FillNodeJson(w, one, 32)});
  CHECK_THAT(ErrorAt(b, At(1, 2)), Catch::Contains("'w' is not as a whole on this rank"));
  b.startup() = Json::array();
  b.body()[1]["bodies"].erase(1);
  CHECK_THAT(ErrorAt(b, At(1, 2)),
             Catch::Contains("op 0:1 foreach_block: block 3 has an extent of 1, which the plan has "
                             "no body for"));
}

TEST_CASE("tasks of micro-batches run in the order of the schedule, each with its instance") {
  // F takes its rows of x and stashes them, B adds the stash; acc is all rows in the order of B.
  PlanBuilder b;
  const int x = b.Arena("x", "float32", {4, 2}), part = b.Arena("part", "float32", {1, 2});
  const int stash = b.Arena("stash", "float32", {1, 2}, 2);
  const int number = b.Arena("number", "int64", {1}), last = b.Arena("last", "int64", {1});
  const int acc = b.Arena("acc", "float32", {1, 2});
  const Json slice = {
      {"slice", {x, part}}, {"layout", LayoutNodeJson("even", "micro", {4, 2})}, {"op", "0:1 s"}};
  const Json coord = {{"coord", "micro"}, {"to", number}, {"op", "0:2 coord"}};
  const Json forward = {slice, coord, CopyNodeJson(part, stash)};
  const Json backward = {AddNodeJson(acc, stash, 2),
                         {{"at", {{"micro", {3, 4}}}},
                          {"body", {CopyNodeJson(number, last)}},
                          {"else", Json::array()},
                          {"op", "0:3 on"}}};
  const auto plan = [&](int64_t instances, const Json& order) {
    PlanBuilder copy = b;
    copy.body() = Json::array(
        {MicroJson(4, instances, {TaskJson("F", forward), TaskJson("B", backward)}, order)});
    return copy;
  };
  const Json one_f_one_b = {{0, 0}, {0, 1}, {1, 0}, {0, 2}, {1, 1}, {0, 3}, {1, 2}, {1, 3}};
  std::vector<std::pair<int64_t, int64_t>> stood;
  ExecutorOptions options;
  options.position = At(1, 2);
  options.stand = [&](const Position& position) {
    const auto at = position.coordinates.find("micro");
    stood.emplace_back(at == position.coordinates.end() ? -1 : at->second,
                       position.coordinates.at("dp"));
  };
  Trace trace;
  options.trace = &trace;
  const auto executor = Load(plan(2, one_f_one_b), std::move(options));
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  Write(**executor, x, Counted(8));
  Step(**executor);
  CHECK(Floats(**executor, acc) == std::vector<float>{16, 20});
  // The task of the last micro-batch alone copies the number.
  CHECK(Read<int64_t>(**executor, last) == std::vector<int64_t>{3});
  CHECK(stood.size() == 9);
  CHECK(stood[2] == std::pair<int64_t, int64_t>{0, 1});
  CHECK(stood.back() == std::pair<int64_t, int64_t>{-1, 1});
  Step(**executor);
  CHECK(Floats(**executor, acc) == std::vector<float>{32, 40});

  // A schedule that has more micro-batches under way than there are instances loses the stash of
  // the first ones: instances are what keeps them apart.
  const Json f_then_b = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}};
  PlanBuilder few = plan(2, f_then_b);
  const auto mixed = LoadAt(few, At(0, 2));
  Write(*mixed, x, Counted(8));
  Step(*mixed);
  CHECK(Floats(*mixed, acc) == std::vector<float>{2 * 12, 2 * 14});
  // More instances than memory for them are refused.
  CHECK_THAT(ErrorAt(plan(4, f_then_b), At(0, 2)),
             Catch::Contains("'stash' has 2 instances, instance 2 is used"));
  CHECK_THAT(ErrorAt(plan(5, f_then_b), At(0, 2)), Catch::Contains("5 for 4 micro-batches"));
  CHECK_THAT(ErrorAt(plan(2, {{0, 0}, {0, 0}}), At(0, 2)), Catch::Contains("stands there twice"));
  CHECK_THAT(ErrorAt(plan(2, {{0, 0}, {1, 0}}), At(0, 2)),
             Catch::Contains("has 2 entries for 2 tasks of 4 micro-batches"));
}

TEST_CASE("what a micro-batch sends is waited for before its instance is used again") {
  PlanBuilder b;
  b.json["comms"] = Json::array({{{"name", "next"}, {"axes", {"pp"}}, {"kind", "pairs"}}});
  const int x = b.Arena("x", "float32", {4}), h = b.Arena("h", "float32", {1}, 2);
  const Json slice = {
      {"slice", {x, h}}, {"layout", LayoutNodeJson("even", "micro", {4})}, {"op", "0:1 slice"}};
  const Json send = StartNodeJson("send", 0, 1, {h}, {}, 0, "0:2 transfer");
  b.body() = Json::array(
      {MicroJson(4, 2, {TaskJson("F", {slice, send})}, {{0, 0}, {0, 1}, {0, 2}, {0, 3}})});
  Recorder recorder;
  ExecutorOptions options;
  options.comms = {&recorder};
  const auto executor = Load(b, std::move(options));
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  Write(**executor, x, Counted(4));
  Step(**executor);
  CHECK(recorder.events == std::vector<std::string>{"send 0", "send 1", "wait 0", "send 2",
                                                    "wait 1", "send 3", "wait 2", "wait 3"});
  CHECK(recorder.sent == Counted(4));
  recorder.fails = true;
  const absl::Status status = (*executor)->RunMain();
  CHECK(status.message() == "op 0:9 micro: rank 1 has not come");
  CHECK((*executor)->failed_waiting());
}

TEST_CASE("an error in a task names task and micro-batch") {
  PlanBuilder b;
  const int x = b.Arena("x", "float32", {1});
  const Json wrong = {{"call", "dt_test_reduce"}, {"args", {x, x}},        {"slots", {0, 1, 2}},
                      {"attrs", {"s1"}},          {"strings", {"median"}}, {"op", "0:1 reduce"}};
  const Json at = {
      {"at", {{"micro", {1, 2}}}}, {"body", {wrong}}, {"else", Json::array()}, {"op", "0:2 on"}};
  b.body() = Json::array({MicroJson(2, 1, {TaskJson("B", {at})}, {{0, 0}, {0, 1}})});
  const auto executor = LoadAt(b, At(0, 1));
  CHECK(executor->RunMain().message() ==
        "op 0:1 reduce: dt_test_reduce: no reduction 'median'; in task B of micro-batch 1");
  CHECK(executor->failed_op() == "0:1 reduce");
}

TEST_CASE("pipelines of real ranks end with the same sums, whatever the schedule") {
  constexpr int64_t kMicros = 6;
  for (int stages : {2, 3})
    for (bool interleaves : {false, true}) {
      comm::Rendezvous rendezvous;
      rendezvous.job = "nodes_test." + std::to_string(getpid()) + "." + std::to_string(stages) +
                       (interleaves ? "i" : "f");
      rendezvous.timeout_seconds = 20;
      std::vector<std::string> errors(static_cast<size_t>(stages));
      std::vector<float> sums(static_cast<size_t>(stages));
      std::vector<std::thread> threads;
      for (int stage = 0; stage < stages; ++stage)
        threads.emplace_back([&, stage] {
          std::string& error = errors[static_cast<size_t>(stage)];
          const int64_t instances = interleaves ? stages - stage : kMicros;
          const PlanBuilder b =
              StagePlan(stage, stages, kMicros, instances,
                        interleaves ? OneFOneB(stage, stages, kMicros) : FThenB(kMicros));
          auto comm = comm::Join(rendezvous, "stages", stage, stages);
          if (!comm.ok()) return void(error = comm.status().ToString());
          ExecutorOptions options;
          options.comms = {comm->get()};
          options.position = {{{"pp", stage}}, {{"pp", stages}}};
          auto executor = Load(b, std::move(options));
          if (!executor.ok()) return void(error = executor.status().ToString());
          float* x = reinterpret_cast<float*>((*executor)->data(0));
          for (int64_t m = 0; m < kMicros; ++m) x[m] = static_cast<float>(m);
          for (int step = 0; step < 3; ++step)
            if (const absl::Status status = (*executor)->RunMain(); !status.ok())
              return void(error = status.ToString());
          const size_t acc = (*executor)->plan().buffers.size() - 1;
          sums[static_cast<size_t>(stage)] =
              *reinterpret_cast<const float*>((*executor)->data(static_cast<int>(acc)));
        });
      for (std::thread& thread : threads) thread.join();
      float expected = 0;
      for (int64_t m = 0; m < kMicros; ++m) expected += static_cast<float>(m + stages);
      for (int stage = stages - 1; stage >= 0; --stage) {
        expected *= 2;
        INFO(stages << " stages, stage " << stage << ": " << errors[static_cast<size_t>(stage)]);
        CHECK(sums[static_cast<size_t>(stage)] == 3 * expected);
      }
    }
}

}  // namespace dtranspile::exec

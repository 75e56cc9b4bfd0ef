#include "runtime/exec/executor.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>

#include "test/runtime/exec/plan_text.h"
#include "test/runtime/exec/test_calls.h"

// Counts what is allocated anywhere in the process by C++.
namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

void* operator new(size_t bytes) {
  allocations++;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace dtranspile::exec {
namespace {

// A group of one that counts what is asked of it.
class Alone : public comm::Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  const char* backend() const override { return "test"; }
  absl::StatusOr<comm::Ticket> Start(comm::Request request) override {
    ++starts;
    return fails ? absl::StatusOr<comm::Ticket>(absl::DeadlineExceededError("rank 1 did not come"))
                 : comm::Ticket(starts);
  }
  absl::Status Wait(comm::Ticket ticket) override {
    waited.push_back(ticket);
    return absl::OkStatus();
  }
  absl::Status Run(comm::Request request) override {
    ++runs;
    return absl::OkStatus();
  }
  int64_t bytes_sent() const override { return 0; }
  int64_t bytes_received() const override { return 0; }
  void Abort(const std::string&) override {}
  int starts = 0, runs = 0;
  bool fails = false;
  std::vector<comm::Ticket> waited;
};

std::string OwnFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

absl::StatusOr<std::unique_ptr<Executor>> Load(const Json& json, int threads = 1,
                                               std::vector<comm::Communicator*> comms = {},
                                               Trace* trace = nullptr) {
  auto plan = ParsePlan("plan.json", json.dump());
  INFO(plan.status().ToString());
  REQUIRE(plan.ok());
  plan->folder = OwnFolder();
  ExecutorOptions options;
  options.pool = {threads, false};
  options.find_function = FindTestFunction;
  options.comms = std::move(comms);
  options.trace = trace;
  return Executor::Load(*std::move(plan), std::move(options));
}

const float* Floats(const Executor& executor, int buffer) {
  return reinterpret_cast<const float*>(executor.data(buffer));
}

}  // namespace

TEST_CASE("start-up and steps") {
  for (int threads : {1, 2}) {
    const auto executor = Load(PlanJson(), threads);
    INFO(executor.status().ToString());
    REQUIRE(executor.ok());
    Executor& e = **executor;
    for (int buffer = 0; buffer < 7; ++buffer)
      CHECK(reinterpret_cast<uintptr_t>(e.data(buffer)) % 64 == 0);
    CHECK(Floats(e, 0)[3] == 0);
    REQUIRE(e.RunStartup().ok());
    CHECK(Floats(e, 0)[3] == 2);
    CHECK(Floats(e, 1)[0] == 2);
    float* x = reinterpret_cast<float*>(e.data(2));
    for (int i = 0; i < 4; ++i) x[i] = static_cast<float>(i);
    REQUIRE(e.RunMain().ok());
    CHECK(Floats(e, 3)[0] == 8);
    CHECK(Floats(e, 0)[3] == 2 - 2 * 3);
    REQUIRE(e.RunMain().ok());
    CHECK(Floats(e, 3)[0] == 8 - 2 * 6);
  }
}

TEST_CASE("kernels get the rows of their part, from the first to one past the last") {
  Json plan = PlanJson();
  plan["programs"]["main"]["body"] = Json::array(
      {{{"kernel", "k_rows"}, {"args", {0}}, {"n", 4}, {"grain", 1}, {"op", "0:0 range"}}});
  for (int threads : {1, 2, 4}) {
    const auto executor = Load(plan, threads);
    REQUIRE(executor.ok());
    REQUIRE((*executor)->RunMain().ok());
    // One thread has all rows at once; several have pieces as small as the grain allows.
    for (int row = 0; row < 4; ++row) {
      const int first = threads == 1 ? 0 : row, end = threads == 1 ? 4 : row + 1;
      CHECK(Floats(**executor, 0)[row] == static_cast<float>(100 * first + end));
    }
  }
}

TEST_CASE("no allocation in a step after the first") {
  for (int threads : {1, 2}) {
    Json plan = PlanJson();
    Json& body = plan["programs"]["main"]["body"];
    body.push_back({{"call", "dt_transpose"},
                    {"args", {0, 2}},
                    {"slots", {0, 1, 2}},
                    {"attrs", {"i1"}},
                    {"ints", {0}},
                    {"op", "0:3 transpose2"}});
    body.push_back(
        {{"if", 4}, {"then", Json::array()}, {"else", Json::array({body[0]})}, {"op", "0:4 cond"}});
    const Json at = {
        {"at", {{"m", {1, 2}}}}, {"body", {body[0]}}, {"else", Json::array()}, {"op", "0:5 on"}};
    body.push_back({{"micro", "m"},
                    {"micros", 2},
                    {"instances", 1},
                    {"tasks", {{{"name", "F"}, {"body", {at}}}}},
                    {"order", {{0, 0}, {0, 1}}},
                    {"op", "0:6 micro"}});
    const auto executor = Load(plan, threads);
    REQUIRE(executor.ok());
    REQUIRE((*executor)->RunMain().ok());
    const int64_t before = allocations;
    for (int step = 0; step < 10; ++step)
      if (!(*executor)->RunMain().ok()) std::abort();
    const int64_t after = allocations;
    CHECK(after == before);
  }
  // The counter counts.
  const int64_t before = allocations;
  static int* volatile memory;
  memory = new int(1);
  const int64_t after = allocations;
  delete memory;
  CHECK(after == before + 1);
}

TEST_CASE("loops and branches follow their conditions") {
  Json plan = PlanJson();
  const Json count = {
      {"kernel", "k_count"}, {"args", {6, 4}}, {"n", 1}, {"grain", 1}, {"op", "1:0 increment"}};
  const Json loop = {
      {"while", 4}, {"body", Json::array({count})}, {"limit", 100}, {"op", "0:1 while"}};
  plan["programs"]["main"]["body"] = Json::array({count, loop});
  auto executor = Load(plan);
  REQUIRE(executor.ok());
  REQUIRE((*executor)->RunMain().ok());
  CHECK(*reinterpret_cast<int32_t*>((*executor)->data(6)) == 5);

  plan["programs"]["main"]["body"][1]["limit"] = 2;
  executor = Load(plan);
  REQUIRE(executor.ok());
  const absl::Status status = (*executor)->RunMain();
  CHECK(status.message() == "op 0:1 while: the loop has not ended after 2 turns");
}

TEST_CASE("operations between ranks start, overlap and are waited for") {
  Json plan = PlanJson();
  plan["comms"] =
      Json::array({{{"name", "a"}, {"axes", {"dp"}}}, {{"name", "b"}, {"axes", {"dp"}}}});
  const auto start = [](int comm, int ticket) {
    return Json{{"start", "all_reduce"}, {"comm", comm},     {"inputs", {0}},
                {"outputs", {0}},        {"ticket", ticket}, {"op", "0:7 c_allreduce_sum"}};
  };
  const auto wait = [](int ticket) { return Json{{"wait", ticket}, {"op", "0:8 wait"}}; };
  plan["programs"]["main"]["body"] =
      Json::array({start(0, 5), start(1, 6), wait(5), wait(6), start(0, 7), wait(7)});
  Alone a, b;
  Trace trace;
  auto executor = Load(plan, 1, {&a, &b}, &trace);
  REQUIRE(executor.ok());
  REQUIRE((*executor)->RunMain().ok());
  CHECK(a.starts == 1);
  CHECK(b.starts == 1);
  CHECK(a.waited == std::vector<comm::Ticket>{1});
  CHECK(a.runs == 1);  // started and waited for at once
  const std::string file =
      std::filesystem::temp_directory_path() / ("dtranspile-trace-" + std::to_string(getpid()));
  REQUIRE(trace.Write(file, 0, "trainer 0", {"a", "b"}).ok());
  std::ifstream in(file);
  const Json events = Json::parse(in)["traceEvents"];
  std::map<int, int> spans;
  for (const Json& event : events) spans[event["ph"] == "X" ? event["tid"].get<int>() : -1]++;
  CHECK(spans[0] == 6);
  CHECK(spans[1] == 1);
  CHECK(spans[2] == 1);
  std::filesystem::remove(file);

  // The start-up program counts its tickets anew.
  plan["programs"]["startup"]["body"] = Json::array({start(1, 5), start(0, 6), wait(5), wait(6)});
  executor = Load(plan, 1, {&a, &b});
  REQUIRE(executor.ok());
  a.waited.clear();
  REQUIRE((*executor)->RunStartup().ok());
  CHECK(a.waited.size() == 1);
  REQUIRE((*executor)->RunMain().ok());
  CHECK(a.waited == std::vector<comm::Ticket>{2, 3});

  b.fails = true;
  const absl::Status status = (*executor)->RunMain();
  CHECK(status.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(status.message() == "op 0:7 c_allreduce_sum: rank 1 did not come");
  CHECK((*executor)->failed_op() == "0:7 c_allreduce_sum");
  CHECK(Load(plan, 1, {&a}).status().message().find("the plan has 2 communicators, 1 given") !=
        std::string::npos);
}

TEST_CASE("a failing call is named by its op") {
  Json plan = PlanJson();
  plan["programs"]["main"]["body"][0]["strings"] = {"median"};
  const auto executor = Load(plan);
  REQUIRE(executor.ok());
  CHECK((*executor)->RunMain().message() ==
        "op 0:1 reduce_sum: dt_test_reduce: no reduction 'median'");
  CHECK((*executor)->failed_op() == "0:1 reduce_sum");
}

TEST_CASE("everything that is missing is named at once, before anything runs") {
  Json plan = PlanJson();
  plan["programs"]["main"]["body"][0]["call"] = "dt_sort_of";
  plan["programs"]["main"]["body"][1]["kernel"] = "k_gone";
  const std::string message(Load(plan).status().message());
  CHECK(message.find("op 0:1 reduce_sum: this runtime has no call 'dt_sort_of'") !=
        std::string::npos);
  CHECK(message.find("has no kernel 'k_gone'") != std::string::npos);

  plan["library"] = "absent.so";
  CHECK(Load(plan).status().message().find("absent.so: cannot be loaded") != std::string::npos);
  plan["arena_bytes"] = int64_t{1} << 47;
  CHECK(Load(plan).status().message().find("the plan asks for") != std::string::npos);
}

TEST_CASE("kernels of another machine are refused by what is missing") {
  CHECK(CheckTarget("old", "+sse3,-avx512f,+some-tuning").ok());
  // No processor has both of these.
  const absl::Status status = CheckTarget("both", "+fma4,+avx512vbmi2,+avx512vpopcntdq");
  CHECK(status.message().find("kernels were compiled for 'both', this machine lacks ") == 0);
}

}  // namespace dtranspile::exec

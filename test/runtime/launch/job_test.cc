// Jobs of real worker processes: runs, and every way in which they end early. The launcher is a
// process of its own here, so that it can be interrupted and killed.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/exec/abi.h"
#include "runtime/io/npy.h"
#include "runtime/io/tensor_record.h"
#include "test/runtime/launch/launcher.h"

namespace dtranspile::launch {
namespace {

constexpr int64_t kForever = 100000000;

Json Buffer(const char* name, const char* space, int64_t offset, const char* dtype,
            std::vector<int64_t> dims, int64_t bytes) {
  return {{"name", name},   {"space", space}, {"offset", offset},
          {"bytes", bytes}, {"dtype", dtype}, {"dims", dims}};
}

// The sum of x (so many) as its product with ones.
Json SumJson(int64_t count) {
  return {{"call", "dt_gemm"},
          {"args", {0, 6, 1}},
          {"slots", {0, 1, 2, 3}},
          {"attrs", {"i1", "i1", "i1", "i1", "i1", "i1", "i1", "i1", "i1", "i1", "i1", "i1", "r1"}},
          {"ints", {0, 0, 1, 1, count, count, 1, 1, 1, 0, 0, 0}},
          {"reals", {1.0}},
          {"op", "0:1 reduce_sum"}};
}

// Every rank sums its part of x into `part`, all ranks sum the parts into `total`; `w` starts at 1
// and takes the total each step. Ids are checked to be below 100.
Json PlanJson() {
  Json one = Buffer("one", "constant", 0, "float32", {1}, 4);
  one["data"] = "0000803f";
  Json ones = Buffer("ones", "constant", 0, "float32", {4}, 16);
  ones["data"] = "0000803f0000803f0000803f0000803f";
  const Json reduce = SumJson(2);
  const Json check = {{"call", "dt_check_range"},          {"args", {5}},      {"slots", {0, 1}},
                      {"attrs", {"i1", "i1", "i0", "s1"}}, {"ints", {0, 100}}, {"strings", {"ids"}},
                      {"op", "0:0 lookup_table"}};
  const Json start = {{"start", "all_reduce"},
                      {"comm", 0},
                      {"reduce", "sum"},
                      {"inputs", {1}},
                      {"outputs", {2}},
                      {"ticket", 0},
                      {"op", "0:2 c_allreduce_sum"}};
  const Json wait = {{"wait", 0}, {"op", "0:2 c_allreduce_sum"}};
  const Json add = {
      {"call", "dt_accumulate"}, {"args", {2, 3}}, {"slots", {0, 1, 2}}, {"op", "0:3 sgd"}};
  const auto feed = [](const char* name, int buffer) {
    return Json{{"name", name}, {"buffer", buffer}, {"split", {{"dim", 0}, {"axes", {"dp"}}}}};
  };
  return {{"schema", 4},
          {"abi", DT_ABI_VERSION},
          {"class", "trainer"},
          {"target", {{"cpu", ""}, {"features", ""}}},
          {"library", nullptr},
          {"digest", "sha256:1"},
          {"comms", Json::array({{{"name", "grad"}, {"axes", {"dp"}}}})},
          {"arena_bytes", 256},
          {"persistent_bytes", 64},
          {"buffers", Json::array({Buffer("x", "arena", 0, "float32", {2}, 8),
                                   Buffer("part", "arena", 64, "float32", {1}, 4),
                                   Buffer("total", "arena", 128, "float32", {1}, 4),
                                   Buffer("w", "persistent", 0, "float32", {1}, 4), one,
                                   Buffer("ids", "arena", 192, "int64", {1}, 8), ones})},
          {"persistables",
           Json::array(
               {{{"name", "w"}, {"buffer", 3}, {"parameter", true}, {"relation", {{"dp", "R"}}}}})},
          {"programs",
           {{"startup",
             {{"when", "startup"},
              {"feeds", Json::array()},
              {"fetches", Json::array()},
              {"body", Json::array({{{"copy", {4, 3}}, {"op", "0:0 fill_constant"}}})}}},
            {"main",
             {{"when", "step"},
              {"feeds", Json::array({feed("x", 0), feed("ids", 5)})},
              {"fetches", Json::array({{{"name", "part"}, {"buffer", 1}, {"combine", "mean"}},
                                       {{"name", "w_after"}, {"buffer", 3}, {"combine", "same"}}})},
              {"body", Json::array({check, reduce, start, wait, add})}}}}}};
}

// A launcher of two ranks of one plan, with feeds for two steps.
class Place : public Launcher {
 public:
  Place() {
    spec.digest = "sha256:1";
    spec.roles = {{"trainer", {{"dp", 2}}, {folder()}, 7}};
    spec.fetch = {"part", "w_after"};
    spec.steps = 2;
    Feeds({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4});
  }

  void Feeds(const std::vector<float>& x, const std::vector<int64_t>& ids) {
    const auto steps = static_cast<int64_t>(ids.size() / 2);
    REQUIRE(
        io::WriteNpy(Path("x.npy"),
                     {DType::kFloat32, {steps, 4}, reinterpret_cast<const std::byte*>(x.data())})
            .ok());
    REQUIRE(
        io::WriteNpy(Path("ids.npy"),
                     {DType::kInt64, {steps, 2}, reinterpret_cast<const std::byte*>(ids.data())})
            .ok());
    spec.feeds = {{"x", Path("x.npy")}, {"ids", Path("ids.npy")}};
  }

  // Steps without data, until somebody ends them.
  void RunForever() {
    plan["programs"]["main"]["feeds"] = Json::array();
    plan["programs"]["main"]["body"].erase(0);
    spec.feeds.clear();
    spec.fetch.clear();
    spec.steps = kForever;
  }

  void Prepare() override { std::ofstream(Path("plan.json")) << plan.dump(); }

  Json plan = PlanJson();
};

}  // namespace

TEST_CASE("two ranks step together and report") {
  for (const char* backend : {"shm", "gloo"}) {
    Place place;
    place.spec.backend = backend;
    place.spec.save = place.Path("after");
    place.spec.save_fetches = place.Path("fetched");
    place.spec.trace = place.Path("trace");
    const int status = place.Run();
    INFO(place.report.dump() << ReadText(place.Path("log")));
    REQUIRE(status == 0);
    CHECK(place.report["ok"] == true);
    CHECK(place.report["error"].is_null());
    CHECK(place.report["digest"] == "sha256:1");
    // Parts 1+2 and 3+4, then 5+6 and 7+8.
    CHECK(place.report["fetch"]["part"] == Json{5.0, 13.0});
    CHECK(place.report["fetch"]["w_after"] == Json{11.0, 37.0});
    const Json& second = place.report["ranks"][1];
    CHECK(second["role"] == "trainer");
    CHECK(second["rank"] == 1);
    CHECK(second["fetch"]["part"] == Json{7.0, 15.0});
    CHECK(second["step_ms"].size() == 2);
    CHECK(second["compile_ms"] == 7);
    CHECK(second["bytes_sent"] > 0);
    CHECK(second["peak_rss_bytes"] > 0);
    const auto w = io::ReadTensorFile(place.Path("after/w"));
    REQUIRE(w.ok());
    CHECK(w->as<float>()[0] == 37);
    const auto part = io::ReadNpy(place.Path("fetched/part.npy"));
    REQUIRE(part.ok());
    CHECK(part->as<float>()[1] == 13);
    CHECK(std::filesystem::exists(place.Path("trace/trainer.1.json")));
  }
}

TEST_CASE("one rank alone needs no mesh") {
  Place place;
  place.spec.roles[0].mesh.clear();
  place.plan["comms"][0]["axes"] = Json::array();
  for (Json& feed : place.plan["programs"]["main"]["feeds"]) feed["split"] = nullptr;
  place.Feeds({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4});
  place.plan["buffers"][0]["dims"] = {4};
  place.plan["buffers"][0]["bytes"] = 16;
  place.plan["programs"]["main"]["body"][1] = SumJson(4);
  place.plan["buffers"][5]["dims"] = {2};
  place.plan["buffers"][5]["bytes"] = 16;
  const int status = place.Run();
  INFO(place.report.dump() << ReadText(place.Path("log")));
  REQUIRE(status == 0);
  CHECK(place.report["fetch"]["w_after"] == Json{11.0, 37.0});
}

TEST_CASE("a failing rank ends the job and is named with op, step and reason") {
  Place place;
  place.Feeds({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 400});
  const auto begin = Clock::now();
  REQUIRE(place.Run() == 4);
  CHECK(SecondsSince(begin) < 8);
  const Json& error = place.report["error"];
  INFO(error.dump());
  CHECK(place.report["ok"] == false);
  CHECK(error["rank"] == 1);
  CHECK(error["role"] == "trainer");
  CHECK(error["op"] == "0:0 lookup_table");
  CHECK(error["step"] == 1);
  CHECK(error["message"] ==
        "trainer 1: op 0:0 lookup_table: dt_check_range: element 0 of 'ids' is 400, expected at "
        "least 0 and below 100");
  CHECK(place.report["fetch"]["part"] == Json{5.0});
}

TEST_CASE("a killed rank is noticed at once, and where the others waited for it") {
  for (const char* backend : {"shm", "gloo"}) {
    Place place;
    place.RunForever();
    place.spec.backend = backend;
    place.Launch();
    place.WaitForSteps();
    const auto begin = Clock::now();
    kill(place.workers[1], SIGKILL);
    REQUIRE(place.Finish() == 4);
    CHECK(SecondsSince(begin) < 5);
    const Json& error = place.report["error"];
    INFO(backend << ": " << error.dump());
    CHECK(error["rank"] == 1);
    CHECK(error["op"] == "0:2 c_allreduce_sum");
    CHECK(error["step"].is_number());
    CHECK(error["message"] == "trainer 1: was killed by signal 9 (Killed); in step " +
                                  error["step"].dump() +
                                  " others waited for it in op 0:2 c_allreduce_sum");
  }
}

TEST_CASE("a stopped rank is noticed within the deadline, and where the others waited for it") {
  for (const char* backend : {"shm", "gloo"}) {
    Place place;
    place.RunForever();
    place.spec.backend = backend;
    place.spec.timeout_seconds = 3;
    place.Launch();
    place.WaitForSteps();
    const auto begin = Clock::now();
    kill(place.workers[0], SIGSTOP);
    REQUIRE(place.Finish() == 4);
    CHECK(SecondsSince(begin) < 3 + 5);
    const Json& error = place.report["error"];
    INFO(backend << ": " << error.dump());
    CHECK(error["rank"] == 0);
    CHECK(error["op"] == "0:2 c_allreduce_sum");
    const auto message = error["message"].get<std::string>();
    CHECK(message.find("trainer 0: is stopped") == 0);
    CHECK(message.find(" others waited for it in op 0:2 c_allreduce_sum") != std::string::npos);
  }
}

TEST_CASE("interrupting the launcher leaves nothing") {
  for (int signal : {SIGINT, SIGTERM, SIGQUIT}) {
    Place place;
    place.RunForever();
    place.Launch();
    place.WaitForSteps();
    const auto begin = Clock::now();
    kill(place.launcher, signal);
    CHECK(place.Finish() == 130);
    CHECK(SecondsSince(begin) < 5);
    CHECK(place.report["error"]["message"].get<std::string>().find("interrupted by signal") == 0);
    CHECK(place.report["error"]["rank"].is_null());
  }
}

TEST_CASE("workers do not outlive a launcher that is killed") {
  enum class When { kStepping, kStarting, kRankStopped };
  for (const char* backend : {"shm", "gloo"})
    for (When when : {When::kStepping, When::kStarting, When::kRankStopped}) {
      Place place;
      place.RunForever();
      place.spec.backend = backend;
      place.Launch();
      if (when == When::kStarting) place.Workers();
      else place.WaitForSteps();
      if (when == When::kRankStopped) kill(place.workers[1], SIGSTOP);
      kill(place.launcher, SIGKILL);
      int status = 0;
      REQUIRE(waitpid(place.launcher, &status, 0) == place.launcher);
      INFO(backend << " " << static_cast<int>(when));
      CHECK(WaitFor(
          [&] { return kill(place.workers[0], 0) != 0 && kill(place.workers[1], 0) != 0; }, 5));
      if (when != When::kStarting) place.CheckNothingLeft();
      place.launcher = 0;
    }
}

TEST_CASE("a launcher that was stopped itself blames nobody for its own silence") {
  // With little to say per step and with much: a rank that cannot write must not hold up the other.
  for (const char* backend : {"shm", "gloo"})
    for (bool talks : {false, true}) {
      Place place;
      place.RunForever();
      if (talks) place.spec.fetch = {"part", "w_after"};
      place.spec.backend = backend;
      place.spec.timeout_seconds = 2;
      place.Launch();
      place.WaitForSteps();
      kill(place.launcher, SIGSTOP);
      std::this_thread::sleep_for(std::chrono::milliseconds(4500));
      kill(place.launcher, SIGCONT);
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      int status = 0;
      INFO(backend << " " << talks << ReadText(place.Path("report")));
      REQUIRE(waitpid(place.launcher, &status, WNOHANG) == 0);
      // It still notices a rank that is stopped.
      kill(place.workers[0], SIGSTOP);
      CHECK(place.Finish() == 4);
      CHECK(place.report["error"]["message"].get<std::string>().find("trainer 0: is stopped") == 0);
    }
}

// Sanitizers need more memory for themselves than the limit of this test.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST_CASE("more threads than the system grants end the job with a word") {
  Place place;
  place.RunForever();
  place.spec.threads = 1024;
  place.limit = size_t{1} << 30;  // no room for so many stacks
  REQUIRE(place.Run() == 4);
  const std::string message = place.report["error"]["message"];
  CHECK(message.find(" of the 1024 threads that are asked for") != std::string::npos);
  CHECK(message.find("ask for fewer") != std::string::npos);
}
#endif

TEST_CASE("the launcher's memory does not grow with the number of steps") {
  const auto grown = [](int64_t steps) {
    Place place;
    place.RunForever();
    place.spec.fetch = {"part", "w_after"};
    place.spec.steps = steps;
    place.measure = true;
    REQUIRE(place.Run() == 0);
    CHECK(place.report["ranks"][1]["step_ms"].size() == static_cast<size_t>(steps));
    CHECK(place.report["ranks"][1]["fetch"]["part"].size() == static_cast<size_t>(steps));
    CHECK(place.report["fetch"]["w_after"].size() == static_cast<size_t>(steps));
    return std::stoll(ReadText(place.Path("grown")));
  };
  const int64_t few = grown(1000), many = grown(21000);
  INFO("1,000 steps: " << few << " bytes, 21,000 steps: " << many);
  CHECK(many - few < int64_t{512} << 10);
}

TEST_CASE("a worker that ignores the request to end is killed") {
  Place place;
  const std::string script = place.Path("stubborn");
  std::ofstream(script) << "#!/bin/sh\ntrap '' TERM\necho a line of log\n"
                           "echo "
                           "'{\"event\":\"error\",\"waiting\":false,\"op\":null,\"step\":null,"
                           "\"message\":\"planned\"}' >&3\n"
                           "while :; do sleep 1; done\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  place.spec.worker = script;
  const auto begin = Clock::now();
  REQUIRE(place.Run() == 4);
  CHECK(SecondsSince(begin) < 5);
  CHECK(place.report["error"]["message"].get<std::string>().find("planned") != std::string::npos);
  CHECK(ReadText(place.Path("log")).find("[trainer 1] a line of log\n") != std::string::npos);
}

TEST_CASE("what a worker should not say or do is a failure of that rank") {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"echo nonsense >&3; sleep 20", "no JSON object"},
      {"echo '{\"event\":\"song\"}' >&3; sleep 20", "unknown event 'song'"},
      {"echo '{\"event\":\"step\",\"ms\":\"fast\",\"fetch\":{}}' >&3; sleep 20",
       "ms: expected a number"},
      {"exit 0", "ended without a report"},
      {"exit 3", "exited with status 3"},
      {"kill -SEGV $$", "was killed by signal 11"},
  };
  for (const Row& row : rows) {
    Place place;
    const std::string script = place.Path("odd");
    std::ofstream(script) << "#!/bin/sh\n" << row.text << "\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    place.spec.worker = script;
    place.spec.roles[0].mesh.clear();
    place.plan["comms"] = Json::array();
    place.plan["programs"]["main"]["body"] = place.plan["programs"]["main"]["feeds"] =
        Json::array();
    REQUIRE(place.Run() == 4);
    INFO(row.text << ": " << place.report.dump());
    CHECK(place.report["error"]["message"].get<std::string>().find(row.message) !=
          std::string::npos);
  }
}

TEST_CASE("what is wrong beforehand is said before anything starts") {
  const auto message = [](const std::function<void(Place&)>& change) {
    Place place;
    change(place);
    CHECK(place.Run() == 2);
    return place.report.get<std::string>();
  };
  CHECK(message([](Place& p) { p.plan["schema"] = 1; }).find("schema") != std::string::npos);
  CHECK(message([](Place& p) {
          p.spec.roles[0].plans = {"/nonexistent"};
        }).find("/nonexistent/plan.json") == 0);
  CHECK(message([](Place& p) {
          p.spec.roles[0].mesh = {{"mp", 2}};
        }).find("axis 'dp', which the mesh lacks") != std::string::npos);
  CHECK(message([](Place& p) {
          p.spec.roles[0].mesh = {{"dp", 100000}};
        }).find("1 to 4096 ranks") != std::string::npos);
  CHECK(message([](Place& p) {
          p.spec.fetch = {"gain"};
        }).find("was not compiled to fetch 'gain'") != std::string::npos);
  CHECK(message([](Place& p) {
          p.spec.worker = "/nonexistent";
        }).find("not there or not executable") != std::string::npos);
  CHECK(message([](Place& p) {
          std::filesystem::rename(p.Path("x.npy"), p.Path("\xff.npy"));
          p.spec.feeds[0].file = p.Path("\xff.npy");
        }).find("is not UTF-8") != std::string::npos);
  CHECK(message([](Place& p) { p.spec.steps = 3; }).find("use --steps 2") != std::string::npos);
  CHECK(message([](Place& p) { p.spec.feeds.pop_back(); }).find("feed 'ids' is not given") == 0);
  CHECK(message([](Place& p) {
          p.spec.feeds[0].file = p.Path("ids.npy");
        }).find("is int64[2], the job was compiled for float32[4]") != std::string::npos);
  CHECK(message([](Place& p) {
          p.spec.per_step["v"] = {1, 2};
        }).find("'v' is no persistable of the job") != std::string::npos);
  CHECK(message([](Place& p) { p.spec.per_step["w"] = {1}; }).find("1 values of 'w' for 2 steps") !=
        std::string::npos);
  CHECK(message([](Place& p) {
          p.spec.init = {"/nonexistent", "", {}};
        }).find("/nonexistent: has no value for w") == 0);
  const auto saved = [](Place& p, std::vector<int64_t> dims) {
    const float values[] = {1, 2};
    REQUIRE(io::WriteTensorFile(p.Path("w"), TensorView{DType::kFloat32, std::move(dims),
                                                        reinterpret_cast<const std::byte*>(values)})
                .ok());
  };
  CHECK(message([&](Place& p) {
          saved(p, {2});
          p.spec.init = {p.Path(""), "", {}};
        }).find("'w' is float32[2], the program declares float32[1]") != std::string::npos);
  CHECK(message([&](Place& p) {
          saved(p, {2});
          p.spec.init = {"", p.Path("w"), {"w"}};
        }).find("record 0 is float32[2], but 'w' is float32[1]") != std::string::npos);
  CHECK(message([&](Place& p) {
          saved(p, {1});
          std::filesystem::resize_file(p.Path("w"), std::filesystem::file_size(p.Path("w")) - 1);
          p.spec.init = {p.Path(""), "", {}};
        }).find("the file is cut off") != std::string::npos);
  CHECK(message([](Place& p) { p.spec.timeout_seconds = 0; }).find("a deadline of 0 s") !=
        std::string::npos);
  CHECK(message([](Place& p) { p.spec.timeout_seconds = 0.1; }) ==
        "a deadline of 0.1 s is too short: a rank gives a sign of life every 1 s, so a healthy one "
        "may take 2 s; give 2 s or more");
}

TEST_CASE("what only a worker can find out ends the job before its first step") {
  Place place;
  place.plan["programs"]["main"]["body"][1]["call"] = "dt_nothing";
  REQUIRE(place.Run() == 4);
  CHECK(place.report["error"]["message"].get<std::string>().find(
            "this runtime has no call 'dt_nothing'") != std::string::npos);
  CHECK(place.report["error"]["step"].is_null());
}

}  // namespace dtranspile::launch

// Jobs of several roles and classes, as real worker processes: who has what, who gives what, and
// how they end when one of them fails.
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "runtime/io/npy.h"
#include "test/runtime/exec/role_plans.h"
#include "test/runtime/launch/place.h"

namespace dtranspile::launch {
namespace {

using exec::PlanBuilder;

constexpr int64_t kForever = 100000000;

std::vector<float> Counted(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

constexpr int64_t kMicros = 4;

// Two stages, each a class with a variable of its own; the second one has the sum.
void AddPipeline(Place& place, bool interleaves = true) {
  std::vector<std::string> plans, classes;
  for (int stage = 0; stage < 2; ++stage) {
    PlanBuilder b =
        exec::StagePlan(stage, 2, kMicros, interleaves ? 2 - stage : kMicros,
                        interleaves ? exec::OneFOneB(stage, 2, kMicros) : exec::FThenB(kMicros));
    const int acc = static_cast<int>(b.json["buffers"].size()) - 1;
    const std::string name = "w" + std::to_string(stage);
    const int w = b.Variable(name, "float32", {1});
    b.json["role"] = "trainer";
    b.json["class"] = "trainer[pp=" + std::to_string(stage) + "]";
    b.body().push_back(exec::AddNodeJson(w, acc, 1));
    if (stage == 0) b.main()["feeds"] = Json::array({{{"name", "x"}, {"buffer", 0}}});
    if (stage == 1)
      b.main()["fetches"] = Json::array({{{"name", "acc"}, {"buffer", acc}, {"combine", "same"}}});
    plans.push_back(place.Plan("stage" + std::to_string(stage), b));
    classes.push_back(b.json["class"]);
  }
  place.spec.roles = {{"trainer", {{"pp", 2}}, plans, 0, classes}};
  place.Write("x.npy", {2, kMicros}, {0, 1, 2, 3, 0, 1, 2, 3});
  place.spec.feeds = {{"x", place.Path("x.npy")}};
  place.spec.fetch = {"acc"};
  place.spec.steps = 2;
}

void RunForever(Place& place) {
  for (const char* stage : {"stage0", "stage1"}) {
    const std::string file = place.Path(stage) + "/plan.json";
    Json plan = Json::parse(ReadText(file));
    plan["programs"]["main"]["feeds"] = Json::array();
    std::ofstream(file) << plan.dump();
  }
  place.spec.feeds.clear();
  place.spec.fetch.clear();
  place.spec.steps = kForever;
}

// Trainers and servers over gRPC; the plans of test/runtime/exec/role_plans.h.
void AddServers(Place& place, int trainers, int servers, int64_t steps = 2) {
  place.spec.roles = {
      {"trainer", {{"dp", trainers}}, {place.Plan("trainer", exec::TrainerPlan())}, 0},
      {"server", {{"ps", servers}}, {place.Plan("server", exec::ServerPlan(servers))}, 0}};
  std::vector<float> g;
  for (int64_t i = 0; i < std::min<int64_t>(steps, 2) * trainers; ++i)
    for (float value : Counted(14)) g.push_back(value);
  place.Write("g.npy", {std::min<int64_t>(steps, 2), 7 * trainers, 2}, g);
  place.spec.feeds = {{"g", place.Path("g.npy")}};
  place.spec.fetch = {"w", "rate"};
  place.spec.per_step = {{"rate", {0.5, 0.25}}};
  place.spec.steps = steps;
}

void ServeForever(Place& place, int trainers, int servers) {
  AddServers(place, trainers, servers);
  const std::string file = place.Path("trainer/plan.json");
  Json plan = Json::parse(ReadText(file));
  plan["programs"]["main"]["feeds"] = Json::array();
  std::ofstream(file) << plan.dump();
  place.spec.feeds.clear();
  place.spec.fetch.clear();
  place.spec.per_step.clear();
  place.spec.steps = kForever;
}

}  // namespace

TEST_CASE("stages of a pipeline: feeds, fetches and variables are where the stage has them") {
  for (const char* backend : {"shm", "gloo"})
    for (bool interleaves : {false, true}) {
      Place place;
      AddPipeline(place, interleaves);
      place.spec.backend = backend;
      place.spec.save = place.Path("after");
      place.spec.save_fetches = place.Path("fetched");
      place.spec.trace = place.Path("trace");
      place.RunWell();
      // Σ 2·(x + 2), and the sum goes on in the second step.
      CHECK(place.report["fetch"]["acc"] == Json{28.0, 56.0});
      CHECK(place.report["ranks"][0]["fetch"].empty());
      CHECK(place.report["ranks"][1]["class"] == "trainer[pp=1]");
      CHECK(place.Floats("after/w0") == std::vector<float>{56 + 112});
      CHECK(place.Floats("after/w1") == std::vector<float>{28 + 56});
      const auto acc = io::ReadNpy(place.Path("fetched/acc.npy"));
      REQUIRE(acc.ok());
      CHECK(acc->as<float>()[1] == 56);
      const Json trace = Json::parse(ReadText(place.Path("trace/trainer.0.json")));
      const auto has = [&](const char* name) {
        for (const Json& event : trace["traceEvents"])
          if (event["name"] == name) return true;
        return false;
      };
      CHECK(has("F 3"));
      CHECK(has("B 0"));
    }
}

TEST_CASE("ranks have owned variables and parts; whole ones are read and saved") {
  PlanBuilder b;
  const int own = b.Variable("own", "float32", {2});
  b.variable()["at"] = {{"dp", {1, 2}}};
  const int rate = b.Variable("rate", "float32", {1});
  b.variable()["at"] = {{"dp", {1, 2}}};
  b.variable()["parameter"] = false;
  const int rows = b.Variable("rows", "float32", {2, 2});
  b.variable()["layout"] = exec::LayoutNodeJson("even", "dp", {5, 2});
  const int blocks = b.Variable("blocks", "float32", {3, 2});
  const Json layout = exec::LayoutNodeJson("blocks", "dp", {7, 2}, 2, 1);
  b.variable()["layout"] = layout;
  const int two = b.View("blocks.2", blocks, 0, {2, 2}, 16, 2);
  const int one = b.View("blocks.1", blocks, 0, {1, 2}, 16, 2);
  const int ones = b.Arena("ones", "float32", {2, 2}), c = b.Constant("one", exec::kOne);
  b.startup() = Json::array();
  b.body() = Json::array({exec::FillNodeJson(ones, c, 4),
                          exec::AddNodeJson(rows, ones, 4),
                          {{"at", {{"dp", {1, 2}}}},
                           {"body", {exec::FillNodeJson(own, rate, 2)}},
                           {"else", Json::array()},
                           {"op", "0:3 on"}},
                          {{"blocks", layout},
                           {"bodies",
                            {{{"extent", 2}, {"body", {exec::AddNodeJson(two, ones, 4)}}},
                             {{"extent", 1}, {"body", {exec::AddNodeJson(one, ones, 2)}}}}},
                           {"op", "0:4 foreach_block"}}});
  b.main()["fetches"] = Json::array({{{"name", "own"}, {"buffer", own}, {"combine", "same"}},
                                     {{"name", "rows"}, {"buffer", rows}, {"combine", "concat"}}});
  b.main()["fetches"][0]["at"] = {{"dp", {1, 2}}};
  Place place;
  place.spec.roles = {{"trainer", {{"dp", 3}}, {place.Plan("plan", b)}, 0}};
  place.spec.steps = 2;
  place.spec.fetch = {"own", "rows"};
  place.spec.per_step = {{"rate", {5, 6}}};
  place.spec.init = {place.Path("init"), "", {}};
  place.spec.save = place.Path("after");
  place.Write("init/own", {2}, {0, 0});
  place.Write("init/rows", {5, 2}, Counted(10));
  place.Write("init/blocks", {7, 2}, Counted(14));
  place.RunWell();
  CHECK(place.report["fetch"]["own"] == Json::array({Json{5.0, 5.0}, Json{6.0, 6.0}}));
  CHECK(place.report["fetch"]["rows"][0].size() == 12);
  CHECK(place.report["ranks"][0]["fetch"].count("own") == 0);
  CHECK(place.Floats("after/own") == std::vector<float>{6, 6});
  std::vector<float> expected = Counted(14);
  for (float& value : expected) value += 2;
  CHECK(place.Floats("after/blocks") == expected);
  expected.resize(10);
  CHECK(place.Floats("after/rows") == expected);
  for (const auto& entry : std::filesystem::directory_iterator(place.Path("after")))
    CHECK(entry.path().filename().string().find(".dtranspile") != 0);

  // What nobody has, and what only others have.
  place.spec.per_step = {{"speed", {5, 6}}};
  CHECK(place.Refusal() == "per-step values: 'speed' is no persistable of the job");
  place.spec.per_step.clear();
  place.Write("init/rows", {2, 2}, Counted(4));
  CHECK(place.Refusal().find("'rows' is float32[2, 2], the program declares float32[5, 2]") !=
        std::string::npos);
}

TEST_CASE("a subset of the ranks is a group of its own") {
  for (const char* backend : {"shm", "gloo"}) {
    const auto plan = [](bool member, bool guarded) {
      PlanBuilder b;
      b.json["comms"] =
          Json::array({{{"name", "ends"}, {"axes", {"dp"}}, {"subset", {{"dp", {0, 1, 2, 3}}}}}});
      b.json["class"] = member ? "trainer[dp=0,2]" : "trainer[dp=1]";
      const int x = b.Arena("x", "float32", {1}), one = b.Constant("one", exec::kOne);
      b.body().push_back(exec::FillNodeJson(x, one, 1));
      if (member || !guarded) {
        b.body().push_back(exec::StartNodeJson("all_reduce", 0, 0, {x}, {x}, 0, "0:1 all_reduce"));
        b.body().push_back(exec::WaitNodeJson(0, "0:1 all_reduce"));
      }
      b.main()["fetches"] = Json::array({{{"name", "x"}, {"buffer", x}, {"combine", "list"}}});
      return b;
    };
    Place place;
    place.spec.backend = backend;
    const std::string member = place.Plan("member", plan(true, true));
    const std::string other = place.Plan("other", plan(false, true));
    place.spec.roles = {{"trainer", {{"dp", 3}}, {member, other, member}, 0}};
    place.spec.fetch = {"x"};
    place.RunWell();
    CHECK(place.report["fetch"]["x"] ==
          Json::array({Json::array({Json{2.0}, Json{1.0}, Json{2.0}})}));
    // Without its guard the op is refused when the rank loads its plan.
    place.Plan("other", plan(false, false));
    const auto begin = Clock::now();
    REQUIRE(place.Run() == 4);
    CHECK(SecondsSince(begin) < 8);
    CHECK(place.Message() ==
          "trainer 1 (trainer[dp=1]): op 0:1 all_reduce: this rank is no member of communicator "
          "'ends' (it has dp 0 to 0, dp 2 to 2); the op lacks its guard");
    CHECK(place.report["error"]["class"] == "trainer[dp=1]");
  }
}

TEST_CASE("trainers and servers over gRPC step together, in rounds") {
  for (int servers : {1, 2}) {
    Place place;
    AddServers(place, 2, servers);
    place.spec.save = place.Path("after");
    place.RunWell();
    std::vector<float> expected;
    for (float value : Counted(14)) expected.push_back(-0.75F * value);
    CHECK(place.report["fetch"]["w"][1] == Json(expected));
    CHECK(place.report["fetch"]["rate"] == Json{0.5, 0.25});
    // The trainers' copy, which is the first; the rate is the servers' alone.
    CHECK(place.Floats("after/w") == expected);
    CHECK(place.Floats("after/rate") == std::vector<float>{0.25});
    CHECK(place.report["ranks"][2]["role"] == "server");
    CHECK(place.report["ranks"][2]["step_ms"].size() == 2);
  }
}

TEST_CASE("a stage that is killed, stopped or late ends the job in time, and is named") {
  for (int signal : {SIGKILL, SIGSTOP})
    for (size_t stage : {size_t{0}, size_t{1}}) {
      Place place;
      AddPipeline(place);
      RunForever(place);
      place.spec.timeout_seconds = 3;
      place.Launch();
      place.WaitForSteps();
      const auto begin = Clock::now();
      kill(place.workers[stage], signal);
      REQUIRE(place.Finish() == 4);
      CHECK(SecondsSince(begin) < (signal == SIGKILL ? 5 : 3 + 5));
      INFO(place.report["error"].dump());
      CHECK(place.report["error"]["rank"] == stage);
      const std::string name =
          "trainer " + std::to_string(stage) + " (trainer[pp=" + std::to_string(stage) + "]): ";
      CHECK(place.Message().find(
                name + (signal == SIGKILL ? "was killed by signal 9" : "is stopped")) == 0);
      CHECK(place.Message().find(" others waited for it in op 0:") != std::string::npos);
    }
  // A stage that does not come to the meeting.
  Place place;
  AddPipeline(place);
  place.spec.timeout_seconds = 2;
  const std::string script = place.Path("late");
  std::ofstream(script)
      << "#!/bin/sh\nif grep -q 'pp=1' /proc/self/fd/4; then kill -STOP $$; fi\nexec "
      << place.spec.worker << " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  place.spec.worker = script;
  const auto begin = Clock::now();
  REQUIRE(place.Run() == 4);
  CHECK(SecondsSince(begin) < 2 + 6);
  CHECK(place.report["error"]["rank"] == 1);
}

TEST_CASE("a server or a trainer that is killed or stopped ends the job in time, and is named") {
  for (int signal : {SIGKILL, SIGSTOP})
    for (size_t rank : {size_t{1}, size_t{2}}) {
      Place place;
      ServeForever(place, 2, 2);
      place.spec.timeout_seconds = 3;
      place.Launch();
      place.Workers(4);
      std::this_thread::sleep_for(std::chrono::milliseconds(2000));
      const auto begin = Clock::now();
      kill(place.workers[rank], signal);
      REQUIRE(place.Finish() == 4);
      CHECK(SecondsSince(begin) < (signal == SIGKILL ? 5 : 3 + 6));
      INFO(place.report["error"].dump());
      const std::string name = rank == 1 ? "trainer 1: " : "server 0: ";
      CHECK(place.Message().find(
                name + (signal == SIGKILL ? "was killed by signal 9" : "is stopped")) == 0);
    }
}

TEST_CASE("roles that do not fit each other are refused before anything is started") {
  const auto refusal = [](const std::function<void(Place&)>& change) {
    Place place;
    AddServers(place, 1, 1);
    change(place);
    return place.Refusal();
  };
  CHECK(refusal([](Place& p) {
          p.spec.roles.pop_back();
          p.spec.fetch = {"w"};
          p.spec.per_step.clear();
        }) == "role 'trainer' asks role 'server', which the job lacks");
  CHECK(refusal([](Place& p) { p.spec.roles.erase(p.spec.roles.begin()); }) ==
        "role 'server' is one of servers, and no role asks it");
  CHECK(refusal([](Place& p) {
          p.spec.roles[1].plans = p.spec.roles[0].plans;
        }).find("is a plan of role 'trainer', given to ranks of 'server'") != std::string::npos);
  CHECK(refusal([](Place& p) {
          p.spec.roles[0].classes = {"trainer[dp=1]"};
        }).find("is a plan of class 'trainer', given to ranks of 'trainer[dp=1]'") !=
        std::string::npos);
  CHECK(refusal([](Place& p) {
          p.spec.digest = "sha256:1";
        }).find("is a plan of job 'sha256:0', given to ranks of 'sha256:1'") != std::string::npos);
  CHECK(refusal([](Place& p) { p.spec.roles[1].name = "trainer"; }) ==
        "the job has two roles 'trainer'");
  CHECK(refusal([](Place& p) { p.spec.part = Part{"server", 0, 1}; }) ==
        "role 'server' is one of servers, and no role asks it");
  CHECK(refusal([](Place& p) {
          p.spec.part = Part{"server", 0, 1};
          p.spec.roles[0].asks = {{"server", {0}}};
        }) == "endpoints of role 'server': 0 given, 1 needed");
  CHECK(refusal([](Place& p) {
          p.spec.endpoints = {{"server", {"127.0.0.1:1", "127.0.0.1:2"}}};
        }) == "endpoints of role 'server': 2 given, 1 needed");
  CHECK(refusal([](Place& p) { p.spec.part = Part{"nobody", 0, 1}; }) == "the job has no ranks");
  CHECK(refusal([](Place& p) {
          p.spec.part = Part{"trainer", 0, 1};
          p.spec.roles[0].plans = {""};
        }) == "trainer 0 is to be started and has no plan");
  CHECK(refusal([](Place& p) { p.spec.roles[0].device = "cuda"; }) ==
        "role 'trainer' is to run on 'cuda'; this runtime runs on cpu");
  CHECK(refusal([](Place& p) {
          p.spec.fetch = {"loss"};
        }).find("was not compiled to fetch 'loss'") != std::string::npos);
  CHECK(refusal([](Place& p) {
          Json plan = Json::parse(ReadText(p.Path("trainer/plan.json")));
          plan["comms"][0]["server"] = "other";
          plan["role"] = "other";
          std::ofstream(p.Path("trainer/plan.json")) << plan.dump();
          p.spec.roles[0].name = "other";
        }).find("role 'other' asks role 'other', but ") == 0);
}

TEST_CASE("a plan that is written anew while the job starts is found out") {
  struct Row {
    const char *change, *says;
  };
  const Row rows[] = {
      {"s/pp=1\\]/pp=2]/",
       "is a plan of class 'trainer[pp=2]', this rank is to run 'trainer[pp=1]'"},
      {"s/sha256:0/sha256:1/", "is a plan of job 'sha256:1', this rank is to run 'sha256:0'"},
      {"s/\"role\":\"trainer\"/\"role\":\"server\"/",
       "is a plan of role 'server', this rank is to run 'trainer'"},
  };
  for (const Row& row : rows) {
    INFO(row.change);
    Place place;
    AddPipeline(place);
    place.spec.digest = "sha256:0";
    // The worker sees another plan than the launcher has read.
    const std::string script = place.Path("swap");
    std::ofstream(script) << "#!/bin/sh\nsed -i '" << row.change << "' "
                          << place.Path("stage1/plan.json") << "\nexec " << place.spec.worker
                          << " \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    place.spec.worker = script;
    const auto begin = Clock::now();
    REQUIRE(place.Run() == 4);
    CHECK(SecondsSince(begin) < 8);
    INFO(place.Message());
    CHECK(place.Message().find("trainer 1 (trainer[pp=1]): ") == 0);
    CHECK(place.Message().find(row.says) != std::string::npos);
  }
}

TEST_CASE("threads are those of the role, of the job, or shared") {
  Place place;
  AddServers(place, 2, 1);
  place.spec.threads = 2;
  place.spec.roles[1].threads = 1;
  place.RunWell();
}

}  // namespace dtranspile::launch

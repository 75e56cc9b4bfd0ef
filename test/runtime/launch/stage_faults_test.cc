// Stages of a pipeline that are disturbed in a phase of a step, over each back end: whoever it is,
// the job ends in time, and its message names the stage and where the other one waited for it.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "test/runtime/exec/role_plans.h"
#include "test/runtime/launch/place.h"

namespace dtranspile::launch {
namespace {

using exec::PlanBuilder;

constexpr int kStages = 2;
constexpr int64_t kMicros = 4, kForever = 100000000;
constexpr double kDeadline = 2;
// Until the fault, and processes that end on a machine with other work.
constexpr double kBusy = 5;

enum class Phase { kForward, kBackward, kUpdate };

struct Fault {
  const char* name;
  int signal;     // 0: the stage sleeps for longer than the deadline
  double within;  // seconds until the job has ended
};
constexpr Fault kFaults[] = {
    {"killed", SIGKILL, 2}, {"stopped", SIGSTOP, kDeadline + 3}, {"late", 0, kDeadline + 3}};

std::string HexOf(float value) {
  unsigned char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  std::string hex;
  for (const unsigned char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

// What hits the process at its five hundredth call.
Json FaultNode(PlanBuilder& b, int signal) {
  const int calls = b.Variable("calls", "float32", {1});
  const int at = b.Constant("at", HexOf(500).c_str());
  const int what = b.Constant("signal", HexOf(static_cast<float>(signal)).c_str());
  const int seconds = b.Constant("seconds", HexOf(60).c_str());
  return {{"kernel", "k_fault"},
          {"args", {calls, at, what, seconds}},
          {"n", 1},
          {"grain", 1},
          {"op", "0:8 fault"}};
}

// A stage that is fed nothing, with a sum over both stages behind its micro-batches.
PlanBuilder PlanOf(int stage, const Fault* fault, Phase phase) {
  PlanBuilder b = exec::StagePlan(stage, kStages, kMicros, kStages - stage,
                                  exec::OneFOneB(stage, kStages, kMicros));
  b.json["class"] = "trainer[pp=" + std::to_string(stage) + "]";
  b.json["role"] = "trainer";
  b.json["comms"].push_back({{"name", "all"}, {"axes", {"pp"}}});
  const int one = b.Constant("summand", exec::kOne), sum = b.Arena("sum", "float32", {1});
  if (fault != nullptr && phase != Phase::kUpdate) {
    Json& body = b.body()[0]["tasks"][phase == Phase::kForward ? 0 : 1]["body"];
    // Behind what is received, in front of what is sent.
    const bool sends = body.back().count("start") != 0;
    body.insert(body.end() - (sends ? 1 : 0), FaultNode(b, fault->signal));
  }
  b.body().push_back(exec::FillNodeJson(sum, one, 1));
  if (fault != nullptr && phase == Phase::kUpdate) b.body().push_back(FaultNode(b, fault->signal));
  b.body().push_back(exec::StartNodeJson("all_reduce", 1, 0, {sum}, {sum}, 4, "0:7 all_reduce"));
  b.body().push_back(exec::WaitNodeJson(4, "0:7 all_reduce"));
  return b;
}

void AddStages(Place& place, const char* backend, int victim, const Fault* fault, Phase phase) {
  std::vector<std::string> plans, classes;
  for (int stage = 0; stage < kStages; ++stage) {
    const PlanBuilder b = PlanOf(stage, stage == victim ? fault : nullptr, phase);
    plans.push_back(place.Plan("stage" + std::to_string(stage), b));
    classes.push_back(b.json["class"]);
  }
  place.spec.roles = {{"trainer", {{"pp", kStages}}, plans, 0, classes}};
  place.spec.backend = backend;
  place.spec.steps = kForever;
  place.spec.timeout_seconds = kDeadline;
}

std::string NameOf(int stage) {
  return "trainer " + std::to_string(stage) + " (trainer[pp=" + std::to_string(stage) + "]): ";
}

void Check(const char* backend, const Fault& fault, Phase phase, int victim) {
  INFO(backend << ": stage " << victim << " " << fault.name << " in phase "
               << static_cast<int>(phase));
  Place place;
  AddStages(place, backend, victim, &fault, phase);
  const auto begin = Clock::now();
  place.Launch();
  place.Workers(kStages);
  REQUIRE(place.Finish() == 4);
  CHECK(SecondsSince(begin) < fault.within + kBusy);
  const Json& error = place.report["error"];
  INFO(error.dump());
  CHECK(error["role"] == "trainer");
  const std::string message = place.Message();
  if (fault.signal == 0) {
    // It lives, and computes: who waits for it says so.
    CHECK(error["rank"] == 1 - victim);
    CHECK(message.find(NameOf(1 - victim)) == 0);
    CHECK(message.find("rank " + std::to_string(victim)) != std::string::npos);
    CHECK(error["op"].get<std::string>().find(phase == Phase::kUpdate ? "all_reduce" : "0:") !=
          std::string::npos);
    return;
  }
  CHECK(error["rank"] == victim);
  CHECK(error["class"] == "trainer[pp=" + std::to_string(victim) + "]");
  CHECK(message.find(NameOf(victim) +
                     (fault.signal == SIGKILL ? "was killed by signal 9" : "is stopped")) == 0);
  CHECK(message.find(" others waited for it in op 0:") != std::string::npos);
}

}  // namespace

TEST_CASE("a stage that is killed, stopped or late in any phase ends the job in time by name") {
  for (const char* backend : {"shm", "gloo"})
    for (const Fault& fault : kFaults)
      for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kUpdate})
        for (int victim = 0; victim < kStages; ++victim) Check(backend, fault, phase, victim);
}

TEST_CASE("stages whose plans disagree about what is sent both fail, with both sides") {
  for (const char* backend : {"shm", "gloo"}) {
    Place place;
    AddStages(place, backend, -1, nullptr, Phase::kForward);
    // The second stage takes what it receives to be twice as long.
    PlanBuilder b = PlanOf(1, nullptr, Phase::kForward);
    for (Json& buffer : b.json["buffers"])
      if (buffer["name"] == "h" || buffer["name"] == "g")
        buffer["dims"] = Json::array({2}), buffer["bytes"] = 8;
    place.Plan("stage1", b);
    const auto begin = Clock::now();
    const int status = place.Run();
    INFO(place.report.dump());
    REQUIRE(status == 4);
    CHECK(SecondsSince(begin) < kBusy);
    CHECK(place.Message().find("trainer ") == 0);
    for (const char* says : {"ranks differ in the number of elements", "float32 x 1", "x 2"})
      CHECK(place.Message().find(says) != std::string::npos);
  }
}

}  // namespace dtranspile::launch

// The table of faults and phases (fault_table.h): workers as real processes, two trainers and two
// servers that write a checkpoint after every round or step; one of them is killed or stopped in a
// phase of the third one, the others end in time with status 4 and name it, and nothing is left.
#include "test/runtime/ps/fault_table.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "test/runtime/comm/processes.h"

namespace dtranspile::ps::test {
namespace {

using comm::test::Now;

constexpr int64_t kHitStep = 2;
// Rounds until the fault, on a busy machine.
constexpr double kBeforeFault = 3;

// Without rounds trainers go on by themselves: who is not hit waits for the fault, and then goes on
// slowly until it is told, so that nobody is done before.
constexpr int64_t kFewSteps = 5, kManySteps = 400;
constexpr unsigned kSlowStepUs = 25'000;

// Called in the process itself: where trainer 1 stands, or server 1 for what only it knows.
void StandAt(const FaultyJob& job, const FaultRow& row, int process, Phase phase, int64_t step) {
  if (phase == Phase::kPush && step == 0) job.AwaitTrainers();
  const int victim = row.server ? kServer1 : kTrainer1;
  const int knows = row.phase == Phase::kRendezvous   ? victim
                    : row.phase == Phase::kCheckpoint ? kServer1
                                                      : kTrainer1;
  const bool there = phase == row.phase &&
                     (phase == Phase::kRendezvous || phase == Phase::kShutdown || step == kHitStep);
  if (process == knows && there && !job.hit()) {
    job.Hit(victim, row.signal);
    // So that the other one has noticed nothing less than its end.
    usleep(50'000);
  }
  if (job.mode() == Mode::kRounds || phase != Phase::kPush) return;
  // Checkpoints are asked for by trainer 0: trainer 1 is not to be done before.
  const bool waits =
      process == 0 ? step > kHitStep
                   : process == kTrainer1 && row.phase == Phase::kCheckpoint && step == kHitStep;
  if (waits && !job.hit()) job.AwaitHit();
  if (job.hit()) usleep(kSlowStepUs);
}

void RunFault(Mode mode, const FaultRow& row) {
  FaultyJob job(mode);
  const int victim = row.server ? kServer1 : kTrainer1;
  for (int i = 0; i < kAll; ++i) {
    const bool few = mode == Mode::kRounds || (i == kTrainer1 && row.phase == Phase::kShutdown);
    job.Start(i, job.ConfigOf(i, few ? kFewSteps : kManySteps),
              [&, i](Phase phase, int64_t step) { StandAt(job, row, i, phase, step); });
  }
  const double begin = Now();
  for (int i = 0; i < kAll; ++i) {
    if (i == victim) continue;
    const FaultyJob::End end =
        job.Await(i, std::max(begin + row.within + kBeforeFault + 5 - Now(), 0.0));
    INFO((i < kTrainers ? "trainer " : "server ") << i % kTrainers << ": " << end.message);
    REQUIRE(end.in_time);
    if (end.status == exec::kWorkerDone) {
      CHECK(row.may_be_done);
      continue;
    }
    CHECK(end.status == exec::kWorkerFailed);
    bool said = false;
    for (const std::string& one : row.says) said |= end.message.find(one) != std::string::npos;
    CHECK(said);
  }
  const double took = Now() - begin;
  CHECK(took <= row.within + kBeforeFault);
  CHECK(job.hit());
  // Who has been stopped goes too, and with it every port.
  job.Kill(victim);
  job.RequireNothingLeft();
  if (std::getenv("VERBOSE") != nullptr)
    WARN(NameOf(mode) << ", " << WhatText(row) << took << " s");
}

std::string TextOf(const FaultRow& row) { return WhatText(row); }

void RequireOnPage(const std::string& mark, const std::string& table) {
  std::ifstream in("docs/parameter-server.md");
  std::stringstream page;
  page << in.rdbuf();
  const std::string begin = "<!-- " + mark + ": made by test/runtime/ps/fault_table_test.cc -->\n";
  INFO("write this below the mark '" << begin << "':\n" << table);
  const size_t at = page.str().find(begin);
  REQUIRE(at != std::string::npos);
  CHECK(page.str().compare(at + begin.size(), table.size(), table) == 0);
}

}  // namespace

TEST_CASE("whoever is killed or stopped, wherever: the others end in time and say who it was",
          "[sync]") {
  for (const FaultRow& row : FaultTable()) {
    INFO(TextOf(row));
    RunFault(Mode::kRounds, row);
  }
}

TEST_CASE("the same where every push is applied by itself", "[single]") {
  for (const FaultRow& row : SingleFaultTable())
    for (const Mode mode : ModesOf(row)) {
      INFO(NameOf(mode) << ": " << TextOf(row));
      RunFault(mode, row);
    }
}

TEST_CASE("the page has the tables of these tests", "[page]") {
  RequireOnPage("faults", FaultTablePage());
  RequireOnPage("faults without rounds", SingleFaultTablePage());
  RequireOnPage("misfits", MisfitTablePage());
}

}  // namespace dtranspile::ps::test

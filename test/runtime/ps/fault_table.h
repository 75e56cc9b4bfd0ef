// Every fault in every phase of a job, and what is required of the others: the tables of
// docs/parameter-server.md. fault_table_test.cc and its neighbours make each of them happen, and
// check that the page says the same.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "test/runtime/ps/faulty_job.h"

namespace dtranspile::ps::test {

// In Phase: where the one that is hit stands; of a server: what trainer 1 is about to do when it is
// hit.
struct FaultRow {
  bool server;  // server 1 is hit, else trainer 1
  int signal;   // SIGKILL, SIGSTOP
  Phase phase;
  double within;     // seconds until all others have ended; the deadline of the job is 2
  bool may_be_done;  // whether others may have ended well before
  std::vector<std::string> says;  // one of them is what the others say
};

inline std::string DeadOf(const std::string& who) {
  return who + " is dead, or gives no sign of life";
}

// With synchronous rounds.
inline const std::vector<FaultRow>& FaultTable() {
  const auto dead = DeadOf;
  static const std::string trainer = "trainer 1", server = "server 1";
  const std::string not_come = "trainer 1 has not come to server",
                    ended = "trainer 1 has not ended the ";
  const std::string not_reached = "server 1 at", not_answered = "server 1 has not answered the ";
  static const std::vector<FaultRow> rows = {
      {false, SIGKILL, Phase::kRendezvous, 6, false, {not_come}},
      {false, SIGKILL, Phase::kPush, 5, false, {dead(trainer)}},
      {false, SIGKILL, Phase::kBarrier, 5, false, {dead(trainer)}},
      {false, SIGKILL, Phase::kPull, 5, false, {dead(trainer)}},
      {false, SIGKILL, Phase::kCheckpoint, 5, false, {dead(trainer)}},
      {false, SIGKILL, Phase::kShutdown, 5, true, {dead(trainer)}},
      {false, SIGSTOP, Phase::kRendezvous, 6, false, {not_come}},
      {false, SIGSTOP, Phase::kPush, 7, false, {ended + "pushes", dead(trainer)}},
      {false, SIGSTOP, Phase::kBarrier, 7, false, {ended + "pushes", dead(trainer)}},
      {false, SIGSTOP, Phase::kPull, 7, false, {ended + "pulls", dead(trainer)}},
      {false, SIGSTOP, Phase::kCheckpoint, 7, false, {ended + "pu", dead(trainer)}},
      {false, SIGSTOP, Phase::kShutdown, 7, true, {dead(trainer)}},
      {true, SIGKILL, Phase::kRendezvous, 6, false, {not_reached, "server 1 is not there"}},
      {true, SIGKILL, Phase::kPush, 5, false, {dead(server)}},
      {true, SIGKILL, Phase::kBarrier, 5, false, {dead(server)}},
      {true, SIGKILL, Phase::kPull, 5, false, {dead(server)}},
      {true, SIGKILL, Phase::kCheckpoint, 5, false, {dead(server)}},
      {true, SIGKILL, Phase::kShutdown, 5, true, {dead(server)}},
      {true, SIGSTOP, Phase::kRendezvous, 6, false, {not_reached, "server 1 is not there"}},
      {true, SIGSTOP, Phase::kPush, 8, false, {not_answered, dead(server)}},
      {true, SIGSTOP, Phase::kBarrier, 8, false, {not_answered, dead(server)}},
      {true, SIGSTOP, Phase::kPull, 8, false, {not_answered, dead(server)}},
      {true, SIGSTOP, Phase::kCheckpoint, 8, false, {not_answered, dead(server)}},
      {true,
       SIGSTOP,
       Phase::kShutdown,
       8,
       true,
       {"server 1 has not taken note in time", dead(server)}},
  };
  return rows;
}

// Without rounds: nobody waits for a trainer but the pings of gRPC, and what a trainer asks of a
// server has a deadline of its own.
inline const std::vector<FaultRow>& SingleFaultTable() {
  static const std::vector<FaultRow> rows = [] {
    std::vector<FaultRow> all;
    for (const bool server : {false, true})
      for (const int signal : {SIGKILL, SIGSTOP})
        for (const Phase phase : {Phase::kRendezvous, Phase::kPush, Phase::kBarrier, Phase::kPull,
                                  Phase::kCheckpoint, Phase::kShutdown}) {
          FaultRow row{server, signal, phase, 5, false, {}};
          if (phase == Phase::kRendezvous) {
            row.within = 6;
            row.says = {server ? "server 1 at" : "trainer 1 has not come to server"};
          } else if (signal == SIGKILL) {
            row.says = {DeadOf(server ? "server 1" : "trainer 1")};
          } else {
            row.within = 8;
            row.says = {DeadOf(server ? "server 1" : "trainer 1")};
            if (server) row.says.push_back("server 1 has not answered the ");
            if (server && phase == Phase::kShutdown)
              row.says.push_back("server 1 has not taken note in time");
          }
          all.push_back(row);
        }
    return all;
  }();
  return rows;
}

// Of the modes without rounds one has an end of the pushes.
inline std::vector<Mode> ModesOf(const FaultRow& row) {
  if (row.phase == Phase::kBarrier) return {Mode::kHalfAsync};
  return {Mode::kAsync, Mode::kHalfAsync, Mode::kGeo, Mode::kQueues};
}

// What is wrong with a process, or comes from outside, beside signals.
enum class Misfit {
  kLateServer,
  kLateTrainer,
  kPortTaken,
  kWorldSize,
  kOtherJob,
  kNoise,
  kSlowTrainer,
  kTooLarge,
  kTruncated,
  kNoRoom
};
struct MisfitRow {
  Misfit misfit;
  const char* what;
  std::vector<Mode> modes;
  double within;                  // seconds until all have ended
  std::vector<std::string> says;  // one of them is what all say; none: all are done
};

inline const std::vector<MisfitRow>& MisfitTable() {
  const std::vector<Mode> all = {Mode::kRounds, Mode::kAsync, Mode::kHalfAsync, Mode::kGeo,
                                 Mode::kQueues};
  const std::vector<Mode> single(all.begin() + 1, all.end());
  // Who is turned away by one server never comes to the other; a server that has ended before the
  // last trainer comes is not there any more.
  const std::string missed = "not come to server 1 within", gone = "server 0 at";
  static const std::vector<MisfitRow> rows = {
      {Misfit::kLateServer, "server 1 comes 1 s after the others", all, 6, {}},
      {Misfit::kLateTrainer, "trainer 1 comes 1 s after the others", all, 6, {}},
      {Misfit::kPortTaken,
       "somebody listens at server 1's address",
       all,
       6,
       {"server 1: cannot listen at", "server 1 at"}},
      {Misfit::kWorldSize,
       "trainer 1 has the CONFIG of a job of 3 trainers",
       all,
       6,
       {"trainer 1 is one of 3, and server 0 has 2", missed, gone}},
      {Misfit::kOtherJob,
       "trainer 1 has the plan of another job",
       all,
       6,
       {"trainer 1 runs another job than server 0", missed, gone}},
      {Misfit::kNoise,
       "noise, proofs that end too early, silence and noise of a member at server 1's port",
       all,
       6,
       {}},
      {Misfit::kSlowTrainer, "trainer 1 computes for longer than the deadline", single, 8, {}},
      {Misfit::kSlowTrainer,
       "trainer 1 computes for longer than the deadline",
       {Mode::kRounds},
       7,
       {"trainer 1 has not ended the pushes"}},
      {Misfit::kTooLarge,
       "trainer 1 pushes a message of 4 MiB: it is refused",
       all,
       5,
       {"trainer 1 failed: "}},
      {Misfit::kTruncated,
       "trainer 1 pushes half of the bytes of a part",
       all,
       5,
       {"trainer 1's push"}},
      {Misfit::kNoRoom,
       "server 1 has no room for a checkpoint",
       all,
       5,
       {"the checkpoint of step 3 is not written"}},
  };
  return rows;
}

// The tables as the page has them.
inline std::string SaysText(const std::vector<std::string>& says) {
  std::string text;
  for (const std::string& one : says) text += (text.empty() ? "" : "; or: ") + one + "…";
  return text;
}

inline std::string ModesText(const std::vector<Mode>& modes) {
  std::string text;
  for (const Mode mode : modes) text += (text.empty() ? "" : ", ") + std::string(NameOf(mode));
  return text;
}

inline std::string WhatText(const FaultRow& row) {
  return std::string(row.server ? "server" : "trainer") + " " +
         (row.signal == SIGKILL ? "killed" : "stopped") + " | " + NameOf(row.phase) + " | ";
}

inline std::string FaultTablePage() {
  std::string text =
      "| hit | phase | others end within | status | and say |\n| --- | --- | --- | --- | --- |\n";
  for (const FaultRow& row : FaultTable())
    text += "| " + WhatText(row) + std::to_string(static_cast<int>(row.within)) + " s | " +
            (row.may_be_done ? "4; 0 of those that were done" : "4") + " | " + SaysText(row.says) +
            " |\n";
  return text;
}

inline std::string SingleFaultTablePage() {
  std::string text =
      "| hit | phase | in | others end within | status | and say |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  for (const FaultRow& row : SingleFaultTable())
    text += "| " + WhatText(row) + ModesText(ModesOf(row)) + " | " +
            std::to_string(static_cast<int>(row.within)) + " s | 4 | " + SaysText(row.says) +
            " |\n";
  return text;
}

inline std::string MisfitTablePage() {
  std::string text =
      "| what | in | all end within | status | and say |\n| --- | --- | --- | --- | --- |\n";
  for (const MisfitRow& row : MisfitTable())
    text += std::string("| ") + row.what + " | " + ModesText(row.modes) + " | " +
            std::to_string(static_cast<int>(row.within)) + " s | " +
            (row.says.empty() ? "0 | " : "4 | ") + SaysText(row.says) + " |\n";
  return text;
}

}  // namespace dtranspile::ps::test

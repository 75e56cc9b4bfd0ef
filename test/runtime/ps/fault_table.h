// Every fault in every phase of a synchronous job, and what is required of the others: the table of
// docs/parameter-server.md. fault_table_test.cc makes each of them happen and checks that the page
// says the same.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace dtranspile::ps::test {

// Where the one that is hit stands; of a server: what trainer 1 is about to do when it is hit.
enum class Phase { kRendezvous, kPush, kBarrier, kPull, kCheckpoint, kShutdown };

struct FaultRow {
  bool server;  // server 1 is hit, else trainer 1
  int signal;   // SIGKILL, SIGSTOP
  Phase phase;
  double within;     // seconds until all others have ended; the deadline of the job is 2
  bool may_be_done;  // whether others may have ended well before
  std::vector<std::string> says;  // one of them is what the others say
};

inline const char* NameOf(Phase phase) {
  switch (phase) {
    case Phase::kRendezvous: return "rendezvous";
    case Phase::kPush: return "push";
    case Phase::kBarrier: return "barrier";
    case Phase::kPull: return "pull";
    case Phase::kCheckpoint: return "checkpoint";
    case Phase::kShutdown: return "shutdown";
  }
  return "";
}

inline const std::vector<FaultRow>& FaultTable() {
  const auto dead = [](const std::string& who) {
    return who + " is dead, or gives no sign of life";
  };
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

// The table as the page has it.
inline std::string FaultTablePage() {
  std::string text =
      "| hit | phase | others end within | status | and say |\n| --- | --- | --- | --- | --- |\n";
  for (const FaultRow& row : FaultTable()) {
    std::string says;
    for (const std::string& one : row.says) says += (says.empty() ? "" : "; or: ") + one + "…";
    text += std::string("| ") + (row.server ? "server" : "trainer") + " " +
            (row.signal == SIGKILL ? "killed" : "stopped") + " | " + NameOf(row.phase) + " | " +
            std::to_string(static_cast<int>(row.within)) + " s | " +
            (row.may_be_done ? "4; 0 of those that were done" : "4") + " | " + says + " |\n";
  }
  return text;
}

}  // namespace dtranspile::ps::test

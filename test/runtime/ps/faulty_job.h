// Jobs of two trainers and two servers that a test disturbs: workers as real processes, in every
// mode, that write a checkpoint after every step and say where they stand. Used by the tables of
// docs/parameter-server.md (fault_table.h).
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/exec/config.h"
#include "runtime/exec/server_link.h"
#include "runtime/exec/worker.h"

namespace dtranspile::ps::test {

// What servers do with pushes; kQueues: as kAsync, with senders and a receiver on the trainer.
enum class Mode { kRounds, kAsync, kHalfAsync, kGeo, kQueues };
const char* NameOf(Mode mode);

// Where a process stands; a server only at the rendezvous and before it writes a checkpoint.
enum class Phase { kRendezvous, kPush, kBarrier, kPull, kCheckpoint, kShutdown };
const char* NameOf(Phase phase);

// Processes: trainers, then servers.
inline constexpr int kTrainers = 2, kServers = 2, kAll = kTrainers + kServers;
inline constexpr int kTrainer1 = 1, kServer1 = kTrainers + 1;
inline constexpr double kDeadline = 2;  // of the job, in seconds

class FaultyJob {
 public:
  explicit FaultyJob(Mode mode);
  ~FaultyJob();
  FaultyJob(const FaultyJob&) = delete;
  FaultyJob& operator=(const FaultyJob&) = delete;

  Mode mode() const { return mode_; }
  // "127.0.0.1:port", on which nobody listens yet.
  const std::string& address(int server) const { return addresses_[static_cast<size_t>(server)]; }
  // Of a job of `steps` steps.
  exec::WorkerConfig ConfigOf(int process, int64_t steps) const;
  // A folder with the plan of a job of another digest, for trainers.
  std::string OtherJob() const { return folder_ + "/other"; }

  // Called in the process itself; may not come back.
  using Stand = std::function<void(Phase phase, int64_t step)>;
  void Start(int process, const exec::WorkerConfig& config, const Stand& stand = nullptr);
  // A process that is no worker: ends with what `body` returns.
  void StartOther(int process, const std::function<int()>& body);
  // In a process of the job: sends a signal to a process, and tells all that it has.
  void Hit(int process, int signal) const;
  // In a trainer that has connections to all servers: waits until the others have them too, or
  // somebody has been hit. Without
  // rounds one could be done before another has come.
  void AwaitTrainers() const;
  // In a process of the job: waits until somebody has been hit.
  void AwaitHit() const;
  bool hit() const;

  // How a process has ended, within `seconds` of now.
  struct End {
    bool in_time = false;
    int status = -1;      // of exit; -1: a signal ended it
    std::string message;  // of a worker that failed
  };
  End Await(int process, double seconds);
  void Kill(int process);
  // All processes have been waited for: no port is taken, and the newest checkpoint is whole.
  void RequireNothingLeft() const;

 private:
  struct Shared;
  struct Process {
    pid_t pid = 0;
    int control = -1;  // what it says
    std::string said;
  };

  void WritePlan(const std::string& folder, exec::Json plan) const;
  void Fork(int process, const std::function<int()>& body);
  int Work(const std::string& config, const Stand& stand) const;
  void Drain(Process& process) const;

  const Mode mode_;
  std::string folder_;
  Shared* shared_ = nullptr;  // seen by all processes
  std::vector<Process> processes_;
  std::vector<std::string> addresses_;
};

}  // namespace dtranspile::ps::test

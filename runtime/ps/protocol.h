// One server's protocol: what trainers may ask for when (D29, docs/dialects/dist.md), who is waited
// for and how long, and what they have pushed. Knows nothing of sockets: the service (service.h)
// hands requests in, on threads of its own, and gets every answer through a callback; the server's
// own thread takes turns.
//
//     pulls of       all trainers have               all have ended
//     the start-up ──ended their pulls──► pushes of ──their pushes──► round r runs
//                                         round r                          │
//                                            ▲                             │ Finish
//                                            │         all have ended      ▼
//                                            └─ r + 1 ──their pulls── pulls of round r
//
// Whatever goes wrong ends all of it: the first reason is what every trainer and the server's own
// thread are told from then on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/server_link.h"
#include "runtime/ps/asked.h"
#include "runtime/ps/contribution.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/merge.h"

namespace dtranspile::ps {

// The round of start-up pulls, on the wire.
inline constexpr int64_t kStartUp = -1;
// "round 3", "the start-up".
std::string RoundName(int64_t round);

// Servers that apply every push by itself go another way with the same trainers (single_push.h).
class Protocol {
 public:
  struct Options {
    std::string server = "server 0";  // for messages
    std::string role = "trainer";     // of those who ask
    int trainers = 1;
    double timeout_seconds = 60;
    std::function<void(const std::string& why)> on_failure = {};  // called once, by any thread
  };
  // Called once, never while the protocol's lock is held: ok when the request may be answered.
  using Answer = std::function<void(const absl::Status&)>;

  // `handlers`: the requests that a program answers; those of pushes make another protocol.
  Protocol(Options options, std::vector<exec::Table> tables,
           const std::vector<exec::Rounds::Handler>& handlers = {});
  virtual ~Protocol() = default;

  // Where pushes are applied one by one, and requests numbered by pushes (messages.proto): how many
  // of a trainer are kept while they wait.
  virtual int64_t most_waiting() const { return 0; }
  const std::string& name() const { return options_.server; }

  // Of the service. A trainer is numbered from 0 on; one that is none of the job, or is there
  // already, is turned away with a status and nothing else happens.
  absl::Status Join(int trainer);
  virtual void Leave(int trainer);
  // Its connection is lost: its death, unless it has left.
  void Lost(int trainer);
  // A message of a push; the bytes of the chunk are what is left of the payload. An error has ended
  // the protocol.
  virtual absl::Status Push(int trainer, int64_t round, const std::string& table, PushChunk chunk,
                            Payload& payload);
  // A pull, a lookup, or the question which rows have changed: answered when the table's memory may
  // be read.
  enum class Reading { kPull, kLookup, kChanged };
  virtual void Read(int trainer, int64_t round, const std::string& table, Reading how,
                    Answer answer);
  // Whether pulls and lookups of the table are for Ask, not for Read and Memory.
  bool Asks(const exec::Table& table) const { return asked_.has(IndexOf(table)); }
  // The same where a program of the server answers, or another one may change the table meanwhile:
  // message `chunk` of a pull, a lookup of `rows` of the part, which are there.
  void Ask(int trainer, int64_t round, const exec::Table& table, Reading how, int64_t chunk,
           std::vector<int64_t> rows, Reply reply);
  // The bytes of a table, for (message `chunk` of) a request that Read has let through: they stay
  // as they are while the pointer lives. Of a round they do until the next one.
  virtual std::shared_ptr<const std::byte> Memory(int trainer, const exec::Table& table,
                                                  Reading how, int64_t chunk);
  // For a question that Read has let through: some of the rows that others have changed; they count
  // as asked for from now on. Servers with rounds do not know.
  virtual absl::StatusOr<std::vector<int64_t>> TakeChanged(int trainer, const exec::Table& table);
  virtual void EndPhase(int trainer, int64_t round, exec::Phase phase, Answer answer);
  // In front of the end of the pushes of a round: a checkpoint is to be written after it.
  void CheckpointAfter(int64_t round);
  // Of servers without rounds: a turn to write (exec::Turn::kCheckpoint), answered when it is over.
  virtual void Checkpoint(int trainer, int64_t pushes, int64_t step, Answer answer);
  const std::vector<exec::Table>& tables() const { return tables_; }
  // Null for a table that is not there.
  const exec::Table* Find(const std::string& table) const;
  // Ends everything, with a message that says who failed; nothing is left to end when the last
  // trainer has left.
  void Fail(const std::string& why);
  // Why it has ended; ok while it has not, and after the last trainer has left.
  absl::Status failure() const;

  // Whether every trainer has been here.
  bool AllHaveCome() const;

  // Of the server (exec::Rounds).
  virtual absl::StatusOr<exec::Turn> Next();
  virtual void Finish(const absl::Status& status);
  absl::Status Merged(const std::string& table, int64_t block, const exec::TensorRoom& to);
  absl::Status MergedRows(const std::string& table, int64_t block, exec::Value& to);
  virtual absl::Status Pulled(const std::string& table, int64_t block, const exec::TensorRoom& to);

 protected:
  enum class State { kPulls, kPushes, kRuns };
  struct Trainer {
    bool joined = false, left = false, lost = false;
    bool arrived = false;            // has ended the phase
    Answer answer;                   // of the end of its phase
    std::vector<Contribution> from;  // by table
  };
  // Answers to be given once the lock is free.
  using Answers = std::vector<std::function<void()>>;
  struct Rows {  // of a part: what a program merges at once
    int64_t begin = 0, count = 0;
  };

  size_t IndexOf(const exec::Table& table) const {
    return static_cast<size_t>(&table - tables_.data());
  }
  std::string Who(int trainer) const;
  std::string WhoOf(const std::vector<int>& trainers) const;
  std::string StateName() const;
  std::string PushName(int trainer, int64_t round, const std::string& table) const;
  bool takes_part(int trainer) const { return !trainers_[static_cast<size_t>(trainer)].left; }
  absl::Status FailLocked(const std::string& why, Answers& answers);
  absl::Status CheckPush(int trainer, int64_t round, const std::string& table,
                         const PushChunk& chunk) const;
  absl::Status CheckEnd(int trainer, int64_t round, exec::Phase phase) const;
  absl::Status CheckWhole(int trainer) const;
  absl::Status CheckAll() const;
  void Advance(Answers& answers);
  void EndPulls(Answers& answers);
  void EndPushes(Answers& answers);
  bool AllHaveLeft() const;
  void AnswerPhase(Answers& answers);
  int64_t Deadline() const;
  std::string Overdue() const;
  // The program that has answered a request has run; true where one had to.
  bool FinishAsked(const absl::Status& status, Answers& answers);
  // What a program may merge now.
  virtual absl::StatusOr<const exec::Table*> TableOfRound(const std::string& table) const;
  virtual absl::StatusOr<Contributions> PushedFor(const exec::Table& table) const;
  // The requests that wait for something else than the end of a phase.
  virtual std::vector<Answer> TakeParked() { return std::exchange(parked_, {}); }
  absl::StatusOr<Rows> RowsOfBlock(const exec::Table& table, int64_t block) const;

  const Options options_;
  const std::vector<exec::Table> tables_;
  const int64_t timeout_ns_, patience_ns_, opened_ns_;  // patience_ns_: with those who are to come
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kPulls;
  int64_t round_ = kStartUp;
  int64_t written_after_ = kStartUp;  // the last round that a trainer has asked a checkpoint of
  absl::Status failure_;
  Asked asked_;
  std::vector<Trainer> trainers_;
  std::vector<Answer> parked_;    // pulls and lookups that wait for the round
  int64_t first_arrival_ns_ = 0;  // of the phase; 0: nobody has
};

// "'s pull"
const char* NameOf(Protocol::Reading how);

}  // namespace dtranspile::ps

// A server that applies every push by itself: modes async and half_async (docs/parameter-server.md,
// Single pushes). Same trainers, same failures as with rounds (protocol.h); in place of the states
// of a round an order:
//
//     trainer 0   push 0 ─ push 1 ─ …     in the order of their numbers, each when all of it is
//     there trainer 1   push 0 ─ push 1 ─ …                          │
//                                                ready ◄───────┘   whose next push is complete
//                                                  │
//     pulls read a copy of what the last ◄── Next: one program at a time, on a table that nobody
//     reads program left, never half of an update
//
// A request of a trainer says how many of its pushes have to be applied before: a pull after a
// push sees it. Made by the server (server.h) for plans with programs of pushes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/ps/protocol.h"

namespace dtranspile::ps {

// Pushes of one trainer for one table that a server keeps while they wait.
inline constexpr int64_t kMostWaitingPushes = 64;

class SinglePushes : public Protocol {
 public:
  // `served`: the tables that pushes are taken for, each by a program of its own; `pulled`: those
  // of which programs ask what the trainer has pulled last; `handlers`: of pulls and lookups.
  SinglePushes(Options options, std::vector<exec::Table> tables,
               const std::vector<std::string>& served, const std::vector<std::string>& pulled = {},
               const std::vector<exec::Rounds::Handler>& handlers = {});

  int64_t most_waiting() const override { return most_waiting_; }
  void Leave(int trainer) override;
  // `number`: of the push among those of the trainer.
  absl::Status Push(int trainer, int64_t number, const std::string& table, PushChunk chunk,
                    Payload& payload) override;
  // `pushes`: how many of the trainer's have to be applied before.
  void Read(int trainer, int64_t pushes, const std::string& table, Reading how,
            Answer answer) override;
  // Of the pushes: answered when the first `pushes` of the trainer are applied.
  void EndPhase(int trainer, int64_t pushes, exec::Phase phase, Answer answer) override;
  // Between two programs, when the first `pushes` of the trainer are applied.
  void Checkpoint(int trainer, int64_t pushes, int64_t step, Answer answer) override;
  // Of a pull a copy, one for all messages of the pull; of a lookup the table itself, on which no
  // program begins meanwhile. Waits for the program that runs on it.
  std::shared_ptr<const std::byte> Memory(int trainer, const exec::Table& table, Reading how,
                                          int64_t chunk) override;
  // A question counts for what has been applied until then: a row that changes while its values
  // are on the way is told the next time.
  absl::StatusOr<std::vector<int64_t>> TakeChanged(int trainer, const exec::Table& table) override;
  absl::Status Pulled(const std::string& table, int64_t block, const exec::TensorRoom& to) override;

  absl::StatusOr<exec::Turn> Next() override;
  void Finish(const absl::Status& status) override;

 protected:
  // A program runs, of a push or of a request.
  bool runs() const { return running_ >= 0 || asked_.running(); }
  bool BeginPush(exec::Turn& turn);
  void FinishPush(const absl::Status& status, Answers& answers);
  void FinishCheckpoint(const absl::Status& status, Answers& answers);
  absl::StatusOr<const exec::Table*> TableOfRound(const std::string& table) const override;
  absl::StatusOr<Contributions> PushedFor(const exec::Table& table) const override;
  std::vector<Answer> TakeParked() override;

 private:
  struct Arriving {
    size_t table;
    Contribution what;
    bool tracked;
  };
  struct Sender {
    std::map<int64_t, std::unique_ptr<Arriving>> pushes;  // by number, not applied yet
    int64_t applied = 0;
    bool ready = false;  // stands in ready_, or is being applied
  };
  struct Waiting {
    int trainer;
    int64_t pushes;
    Answer answer;
  };
  struct Writing {
    int64_t step;
    Answer answer;
  };
  // Of a table.
  struct Use {
    bool served = false;
    bool changes = false;                        // its program runs
    int64_t readers = 0;                         // no program that changes it begins
    std::shared_ptr<const std::byte> copy = {};  // of what it holds now; made when first pulled
    // By trainer: what it has pulled last, where programs ask for it; and the rows that others have
    // changed since it asked, from the first tracked push on.
    std::vector<std::shared_ptr<const std::byte>> pulled = {};
    std::vector<std::vector<bool>> changed = {};
  };
  // The pull of a table by a trainer that is under way.
  struct Pulling {
    std::shared_ptr<const std::byte> copy = {};
    std::vector<bool> taken = {};  // by message
  };

  std::string PushText(int trainer, int64_t number, const std::string& table) const;
  absl::Status CheckSingle(int trainer, int64_t number, const std::string& table,
                           const PushChunk& chunk) const;
  std::string Unfinished(int trainer) const;
  void MakeReady(int trainer);
  void NoteChanges(int trainer, const Arriving& push);
  void AnswerApplied(int trainer, Answers& answers);
  void Await(int trainer, int64_t pushes, Answer answer, const std::string& wrong);
  void BeginReading(const exec::Table& table, std::unique_lock<std::mutex>& lock);
  void EndReading(const exec::Table& table);
  std::shared_ptr<const std::byte> CopyOf(const exec::Table& table,
                                          std::unique_lock<std::mutex>& lock);

  const int64_t most_waiting_;  // of one trainer
  std::vector<Sender> senders_;
  std::vector<Use> uses_;                       // by table
  std::vector<std::vector<Pulling>> pullings_;  // by trainer and table
  std::deque<int> ready_;                       // trainers, in the order in which they became so
  std::vector<Waiting> waiting_;
  std::deque<Writing> checkpoints_;  // the first one is being written where writing_
  bool writing_ = false;
  int64_t wide_readers_ = 0;  // of tables that any program may change
  int running_ = -1;          // the trainer whose push is applied
  int64_t from_ = 0;          // the same, as the program reads it
};

}  // namespace dtranspile::ps

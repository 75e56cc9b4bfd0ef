// Pulls and lookups that a program of the server answers (dist.handle pull, lookup): they wait here
// for their turn, and are answered when the program has run, with what the table then holds.
//
//     messages of a pull ──► one program ──► a copy of the table, of which every message has its
//     piece message of a lookup ─► one program ──► the rows that it asks for
//
// A table with such a program has all its pulls and lookups answered here, those without a program
// of their own too: nobody reads its memory while a program changes it. Owned by the protocol
// (protocol.h), which has the lock; only Answers are given without it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/server_link.h"

namespace dtranspile::ps {

// Bytes of a reply: they stay as they are while the pointer lives.
struct Served {
  std::shared_ptr<const std::byte> memory;
  int64_t begin = 0, bytes = 0;
};
// Called once, never while the protocol's lock is held.
using Reply = std::function<void(absl::StatusOr<Served>)>;

class Asked {
 public:
  using Answers = std::vector<std::function<void()>>;

  // `tables` outlive this. Handlers of pushes are none of its business.
  Asked(const std::vector<exec::Table>& tables, int trainers,
        const std::vector<exec::Rounds::Handler>& handlers);

  // Whether pulls and lookups of the table are answered here.
  bool has(size_t table) const { return uses_[table].any(); }

  // A message of a pull (kPull: its number) or of a lookup (kLookup: rows of the part, which are
  // there). Answered at once where the program of its pull has run.
  void Add(int trainer, size_t table, exec::When when, int64_t chunk, std::vector<int64_t> rows,
           Reply reply, Answers& answers);

  // What is next, taken from the queue; false where nothing is. Those without a program are
  // answered on the way.
  bool Begin(exec::Turn& turn, Answers& answers);
  bool running() const { return running_ != nullptr; }
  // "trainer 1's pull of table 'w'", of what runs.
  std::string Text(const std::string& role) const;
  // The program has run: answers.
  void Finish(Answers& answers);
  // All that wait, what runs included, are told.
  void Fail(const absl::Status& status, Answers& answers);

  // Told of every pull that is answered, and what the trainer gets.
  std::function<void(int trainer, size_t table, const std::shared_ptr<const std::byte>&)> on_pull;

 private:
  struct Use {
    bool pull = false, lookup = false;  // there is a program
    std::vector<int64_t> numbers = {};  // of the part's rows in the whole, where lookups have one
    bool any() const { return pull || lookup; }
  };
  struct Ask {
    int trainer = 0;
    size_t table = 0;
    exec::When when = exec::When::kPull;
    std::vector<int64_t> rows, numbers;               // of a lookup: in the part, in the whole
    std::vector<std::pair<int64_t, Reply>> messages;  // by number
  };
  // The pull of a table by a trainer that is under way.
  struct Pulling {
    std::shared_ptr<const std::byte> copy = {};
    std::vector<bool> taken = {};
  };

  Pulling& PullingOf(int trainer, size_t table) {
    return pulling_[static_cast<size_t>(trainer)][table];
  }
  Served Take(Pulling& pulling, size_t table, int64_t chunk);
  void AnswerPull(Ask& ask, Answers& answers);
  void AnswerLookup(Ask& ask, Answers& answers);

  const std::vector<exec::Table>& tables_;
  std::vector<Use> uses_;                      // by table
  std::vector<std::vector<Pulling>> pulling_;  // by trainer and table
  std::deque<std::unique_ptr<Ask>> queue_;
  std::unique_ptr<Ask> running_;
  int64_t from_ = 0;  // as the program reads it
};

}  // namespace dtranspile::ps

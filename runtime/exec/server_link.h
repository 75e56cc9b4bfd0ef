// Where a job's trainers and servers meet (docs/jobs.md, Parameter servers), as the executor and
// the worker see it: ServerLink on a rank that pushes and pulls, Rounds on a server. runtime/ps
// carries both over gRPC, tests have them in memory; the worker gets them through WorkerLinks
// (worker.h), so that nothing here knows of a transport.
//
// Layouts and places are those of layout.h; a table without a layout is whole on every server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/value.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {

// A request of a plan: who asks for what, for messages and for cutting.
struct TableRequest {
  std::string op;  // source position
  std::string table;
  const Layout* layout = nullptr;       // over the servers' mesh; null: whole on every server
  std::optional<int64_t> padding = {};  // of a lookup: the id of rows of zeros
  bool at_once = false;                 // of a push: waits in no queue, is merged with no other
};

// Elements to be filled: row-major, contiguous, of the given extents.
struct TensorRoom {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::byte* data = nullptr;
};

// The servers of one role, as one rank reaches them. Called by one thread. Every call but Abort
// ends within the deadline of the job; an error names the server and what was waited for, and the
// link is of no use afterwards.
class ServerLink {
 public:
  virtual ~ServerLink() = default;

  // Before any request: how gradients wait and travel. kInvalidArgument where nothing can wait.
  virtual absl::Status Configure(const Sending& sending);

  // Hands a dense gradient of the table's whole extents to the owners of its parts. `value` may be
  // written again when this returns.
  virtual absl::Status Push(const TableRequest& request, Merge merge, const TensorView& value) = 0;

  // The same of SelectedRows (value.h, Value::kRows): row numbers are those of the whole table,
  // and are cut by the layout, which is along dimension 0.
  virtual absl::Status PushRows(const TableRequest& request, Merge merge, const Value& value) = 0;

  // Fills `to`, of the table's whole extents, with the parts of all servers.
  virtual absl::Status Pull(const TableRequest& request, const TensorRoom& to) = 0;

  // The same of the rows of a change that are not zero, each push to be applied by itself.
  virtual absl::Status PushChanged(const TableRequest& request, Merge merge,
                                   const TensorView& value) {
    return Push(request, merge, value);
  }

  // `to` holds what the servers had when this rank asked last, with what it has pushed since: fills
  // the rows that other ranks have changed since then.
  virtual absl::Status PullChanged(const TableRequest& request, const TensorRoom& to) {
    return Pull(request, to);
  }

  // Row ids[i] of the table becomes row i of `to` ([count, extents of a row]), and zeros where
  // ids[i] is the padding of the request. kOutOfRange names an id that the table lacks.
  virtual absl::Status Lookup(const TableRequest& request, const int64_t* ids, int64_t count,
                              const TensorRoom& to) = 0;

  // Several lookups that do not wait for one another's answers: what they fill overlaps nothing
  // else of them.
  struct Wanted {
    const TableRequest* request = nullptr;
    const int64_t* ids = nullptr;
    int64_t count = 0;
    TensorRoom to = {};
  };
  virtual absl::Status Lookups(const std::vector<Wanted>& all);

  // The end of this rank's pushes of a round: returns when all servers know (kPush: not when the
  // round has run; the pulls after it wait for that). The end of its pulls likewise.
  virtual absl::Status EndPhase(const std::string& op, Phase phase) = 0;

  // How many rounds this rank has ended the pulls of; -1 where the servers have none.
  virtual int64_t rounds() const { return 0; }

  // Where they have none: every server writes what it has for the checkpoint of this step, after
  // this rank's pushes so far. Returns when all have.
  virtual absl::Status Checkpoint(int64_t step);

  // Where they have: all of them write after the round that this rank ends the pushes of next.
  virtual void CheckpointThisRound() {}

  // This rank has run its last step: servers no longer wait for it.
  virtual absl::Status Leave() = 0;

  // Makes the servers fail soon with `why`. Safe from any thread.
  virtual void Abort(const std::string& why) = 0;

  // Bytes of elements so far.
  virtual int64_t bytes_sent() const = 0;
  virtual int64_t bytes_received() const = 0;
};

// A variable that a server answers for: its part here, in memory that stays where it is. Written by
// programs only, which run between the calls of Rounds::Next and Rounds::Finish; read at any other
// time.
struct Table {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;     // of the part, without pad
  std::byte* data = nullptr;     // null where the part is empty
  std::optional<Layout> layout;  // over the servers' mesh; none: this is the whole
  Place place;                   // of this server along the layout's axes
  // Of a table whose rows are made when they are first touched (first_touch.h): to be called with
  // rows of the part before they are read, with null before the whole is. From any thread.
  std::function<absl::Status(const int64_t* rows, int64_t count)> touch = nullptr;
};

inline absl::Status ServerLink::Configure(const Sending& sending) {
  if (sending == Sending()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "gradients wait for the round of all trainers, and the plan has them wait in queues too");
}
inline absl::Status ServerLink::Lookups(const std::vector<Wanted>& all) {
  for (const Wanted& one : all)
    if (absl::Status status = Lookup(*one.request, one.ids, one.count, one.to); !status.ok())
      return status;
  return absl::OkStatus();
}
inline absl::Status ServerLink::Checkpoint(int64_t) {
  return absl::UnimplementedError("these servers write no checkpoint when they are asked to");
}

// What a server has to do next.
struct Turn {
  enum class Kind {
    kProgram,     // run the program of `when` (and `table`, but for rounds)
    kCheckpoint,  // write what there is for the checkpoint of step `round`
    kEnd,         // all trainers have left
  };
  Kind kind = Kind::kEnd;
  When when = When::kRound;
  std::string table;
  int64_t round = 0;   // kRound: its number, from 0 on; kCheckpoint
  bool asked = false;  // kRound: a trainer asks for a checkpoint after it
  // What arrives with a push or a lookup, for the program's arguments, in their order. Valid until
  // Finish.
  std::vector<TensorView> arguments;
};

// What trainers ask of one server, in the order in which it is done. Implementations receive
// requests on threads of their own and answer those that no program has to see (pulls and lookups
// of tables without a handler) from the tables' memory, while no program runs.
//
// A synchronous round: pushes are kept by sender until all trainers that have not left have ended
// their push phase; then Next gives the turn kRound; Finish(ok) opens the pulls; when all have
// ended their pull phase the next round may begin. Pulls of a trainer that has not ended a push
// phase yet are answered at once, with the first values.
class Rounds {
 public:
  virtual ~Rounds() = default;

  // Begins to listen, where trainers find it. `handlers`: the tables, by kind of request, that a
  // program answers. Called once, when the variables have their first values.
  struct Handler {
    When when = When::kPush;
    std::string table;
    bool pulled = false;  // the program asks for Pulled
  };
  virtual absl::Status Open(std::vector<Table> tables, std::vector<Handler> handlers) = 0;

  // Blocks until there is something to do. An error: what a trainer has done wrong, or that one is
  // gone without having left; names it.
  virtual absl::StatusOr<Turn> Next() = 0;

  // The program of the last turn has run, or why it has not.
  virtual void Finish(const absl::Status& status) = 0;

  // In a round: what the trainers have pushed for block `block` of the table (-1: for the part of
  // this server, of a table without blocks), combined in the order of their ranks. `to` has the
  // extents of the block. kFailedPrecondition where nobody has pushed, or not everybody.
  virtual absl::Status Merged(const std::string& table, int64_t block, const TensorRoom& to) = 0;

  // The same of SelectedRows: the trainers' rows one after the other, row numbers and height those
  // of the block; means are of the values.
  virtual absl::Status MergedRows(const std::string& table, int64_t block, Value& to) = 0;

  // In the program of a push: block `block` of the table as the trainer that has pushed has pulled
  // it last, or as it was at first.
  virtual absl::Status Pulled(const std::string& table, int64_t, const TensorRoom&) {
    return absl::UnimplementedError("nobody keeps what was pulled of table '" + table + "'");
  }

  // Tells all trainers that this server has failed. Safe from any thread.
  virtual void Abort(const std::string& why) = 0;

  virtual int64_t bytes_sent() const = 0;
  virtual int64_t bytes_received() const = 0;
};

}  // namespace dtranspile::exec

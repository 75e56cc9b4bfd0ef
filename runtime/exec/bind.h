// The binder: from the nodes of a plan to bound nodes (bound.h), for the rank that it stands on. A
// guard that is data of the rank is decided here, a body that runs several times is bound once for
// each of its instances. One Bind per kind of node; they stand in bind_compute.cc, bind_comm.cc,
// bind_control.cc, bind_rank.cc and bind_server.cc, each with what it makes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/bound.h"
#include "runtime/exec/context.h"
#include "runtime/exec/first_touch.h"
#include "runtime/exec/flight/recorder.h"
#include "runtime/exec/kernel_library.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/server_link.h"
#include "runtime/exec/storage.h"

namespace dtranspile::exec {

// What a rank has beside its plan. Everything pointed to outlives what is bound.
struct RankLinks {
  std::function<DtFunction(const std::string&)>
      find_function;  // the library calls; null for an unknown name
  // Element types that a library call takes, bit 1 << code; empty: every call takes all of them.
  std::function<uint64_t(const std::string&)> element_types = nullptr;
  // In the plan's order. Null where this rank is no member, and of kind rpc.
  std::vector<comm::Communicator*> comms = {};
  Position position = {};
  // In the plan's order, of communicators of kind rpc; null elsewhere. May be shorter.
  std::vector<ServerLink*> servers = {};
  Rounds* rounds = nullptr;  // of a server
  // Told where this rank stands when a micro-batch begins (the time axis among the coordinates) and
  // when it no longer does; may be empty.
  std::function<void(const Position&)> stand = nullptr;
  flight::Recorder* flight = nullptr;  // what is bound registers its operations with other ranks
};

// An operation that has been started and not been waited for.
class Pending;

// The part that a bound node has of a tensor: fixed by the rank, or by the micro-batch that runs.
struct RunningPlace {
  int64_t fixed = 0, of = 1;
  int64_t weight = 0;  // of the number of the micro-batch; 0: none
  const int64_t* micro = nullptr;
  int64_t at() const { return weight == 0 ? fixed : fixed + weight * *micro; }
};

using BindResult = absl::StatusOr<std::unique_ptr<BoundNode>>;

class Binder {
 public:
  // Everything outlives what is bound. `fault`: the cell that kernels are given (abi.h).
  Binder(const Plan& plan, const RankLinks& links, const Storage& storage,
         const FirstTouches& untouched, const KernelLibrary& library, DtContext& context,
         uint64_t& fault)
      : plan(plan),
        links(links),
        storage(storage),
        untouched(untouched),
        library(library),
        context(context),
        fault(fault) {}

  absl::StatusOr<BoundBody> Body(const std::vector<Node>& nodes);

  // Kernels and calls that are not there; the others are bound nevertheless, so that all are named
  // at once.
  const std::vector<std::string>& missing() const { return missing_; }
  void Miss(std::string what) { missing_.push_back(std::move(what)); }

  const Buffer& buffer(int id) const { return plan.buffers[static_cast<size_t>(id)]; }
  // The address of a buffer, in the instance that is being bound; null for values. The node that is
  // being bound may read and write there.
  // kFailedPrecondition where this rank has not all of it.
  absl::StatusOr<std::byte*> Address(int id) const;
  absl::StatusOr<RunningPlace> PlaceAlong(const std::vector<std::string>& axes) const;
  // An operation on a communicator of the plan, for the flight recorder.
  flight::Point PointOf(const Node& node, int comm, flight::Channel::Kind kind, int peer = 0) const;

  // Receives of a task that may begin before it does, into memory of its own micro-batch; it then
  // finds them begun.
  struct Receives {
    std::vector<std::function<absl::Status(const Walk&)>> begin;
    bool all = true;  // the task has no others
  };

  // Bodies that are bound several times.
  struct Scope {
    int64_t instance = 0;              // of buffers with a stride
    const MicroNode* micro = nullptr;  // around it
    const int64_t* micro_at = nullptr;
    std::vector<Pending*>* sends = nullptr;   // of the instance, that nothing in the body waits for
    Receives* receives = nullptr;             // of the task
    const std::vector<Node>* task = nullptr;  // its body
    int64_t block = -1;                       // of a table
  };
  Scope scope;
  // Of the bodies that are being bound, innermost last: numbers of tickets belong to a body,
  // another one may use them for its own operations.
  std::vector<std::pair<int64_t, Pending*>> tickets;

  // Of the one that is being bound: its body, and the one after it there.
  const std::vector<Node>* body = nullptr;
  const Node* next = nullptr;

  const Plan& plan;
  const RankLinks& links;
  const Storage& storage;
  const FirstTouches& untouched;
  const KernelLibrary& library;
  DtContext& context;
  uint64_t& fault;

  // That the node that is being bound may touch the rows of a variable there.
  void Touches(const std::byte* address) const;

 private:
  mutable std::vector<FirstTouch*> touched_;  // by the node that is being bound
  std::vector<std::string> missing_;
  bool failed_ = false;  // a node inside of the one that is being bound
};

BindResult Bind(const KernelNode& kernel, const Node& node, Binder& binder);
BindResult Bind(const CallNode& call, const Node& node, Binder& binder);
BindResult Bind(const CopyNode& copy, const Node& node, Binder& binder);
BindResult Bind(const StartNode& start, const Node& node, Binder& binder);
BindResult Bind(const WaitNode& wait, const Node& node, Binder& binder);
BindResult Bind(const IfNode& branch, const Node& node, Binder& binder);
BindResult Bind(const WhileNode& loop, const Node& node, Binder& binder);
BindResult Bind(const AtNode& guard, const Node& node, Binder& binder);
BindResult Bind(const CoordNode& coord, const Node& node, Binder& binder);
BindResult Bind(const SliceNode& slice, const Node& node, Binder& binder);
BindResult Bind(const DrawNode& draw, const Node& node, Binder& binder);
BindResult Bind(const MicroNode& micro, const Node& node, Binder& binder);
BindResult Bind(const BlocksNode& blocks, const Node& node, Binder& binder);
BindResult Bind(const PushNode& push, const Node& node, Binder& binder);
BindResult Bind(const PullNode& pull, const Node& node, Binder& binder);
BindResult Bind(const LookupNode& lookup, const Node& node, Binder& binder);
// How many lookups stand one after the other from a node on that can be asked for together: of the
// same servers, none of them filling what another one takes. 0 or 1: none.
size_t LookupsAt(const std::vector<Node>& nodes, size_t at, const Binder& binder);
BindResult BindLookups(const std::vector<Node>& nodes, size_t at, size_t count, Binder& binder);
BindResult Bind(const PhaseNode& phase, const Node& node, Binder& binder);
BindResult Bind(const MergedNode& merged, const Node& node, Binder& binder);

// The node, in front of which those of the rows are made that it may touch (bind_touch.cc).
std::unique_ptr<BoundNode> TouchFirst(const Node& node, std::unique_ptr<BoundNode> bound,
                                      std::vector<FirstTouch*> touched, const Binder& binder);

}  // namespace dtranspile::exec

// Operations between ranks: starts and waits.
#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/bind.h"
#include "runtime/exec/pending.h"

namespace dtranspile::exec {

absl::Status Pending::Start(const comm::Request& request, const Walk& walk) {
  if (walk.trace) begin_ns_ = NowNs();
  if (walk.flight) event_ = walk.flight->Begin(point_);
  DT_ASSIGN_OR_RETURN(ticket_, of_value_ ? of_value_->Start() : comm_.Start(request));
  return absl::OkStatus();
}

absl::Status Pending::Wait(const Walk& walk) {
  if (!open()) return absl::OkStatus();
  const comm::Ticket ticket = std::exchange(ticket_, 0);
  if (walk.flight) walk.flight->Wait(event_);
  const absl::Status status = of_value_ ? of_value_->Finish(ticket) : comm_.Wait(ticket);
  if (walk.trace) walk.trace->Add(name_, row_, begin_ns_, NowNs());
  if (walk.flight && status.ok()) walk.flight->End(event_);
  return status;
}

namespace {

// Starts an operation. Where its wait follows at once the two are one blocking call; a receive may
// have been started ahead of its task already.
class BoundStart : public BoundNode {
 public:
  BoundStart(const Node& node, comm::Communicator& comm, int row, flight::Point point,
             comm::Request request, std::unique_ptr<ValueCollective> of_value, bool completes)
      : BoundNode(node),
        comm_(comm),
        point_(point),
        request_(std::move(request)),
        pending_(comm, row, point, op().c_str(), std::move(of_value)),
        completes_(completes && !pending_.of_value()) {}

  Pending& pending() { return pending_; }

  absl::Status Run(Walk& walk) override {
    if (receives() && pending_.open()) return absl::OkStatus();  // has begun ahead of its task
    if (completes_) {
      flight::Blocking flight(walk.flight, point_);
      return flight.End(comm_.Run(request_));
    }
    DT_RETURN_IF_ERROR(pending_.Wait(walk));  // a send that nothing in its body waits for
    return pending_.Start(request_, walk);
  }
  bool needs_others() const override { return true; }

  absl::Status BeginAhead(const Walk& walk) {
    return pending_.open() ? absl::OkStatus() : pending_.Start(request_, walk);
  }

 private:
  bool receives() const { return request_.kind == comm::Kind::kRecv; }

  comm::Communicator& comm_;
  const flight::Point point_;
  const comm::Request request_;
  Pending pending_;
  const bool completes_;  // its wait follows at once, and then has nothing to do
};

class BoundWait : public BoundNode {
 public:
  BoundWait(const Node& node, Pending& pending) : BoundNode(node), pending_(pending) {}

  absl::Status Run(Walk& walk) override { return pending_.Wait(walk); }
  bool needs_others() const override { return true; }

 private:
  Pending& pending_;
};

flight::Channel::Kind ChannelOf(comm::Kind kind) {
  if (kind == comm::Kind::kSend) return flight::Channel::Kind::kTo;
  if (kind == comm::Kind::kRecv) return flight::Channel::Kind::kFrom;
  return flight::Channel::Kind::kGroup;
}

absl::Status NoMember(const PlanComm& comm) {
  std::string subset;
  for (const auto& [axis, bounds] : comm.subset.sets)
    for (size_t i = 0; i + 1 < bounds.size(); i += 2)
      absl::StrAppend(&subset, subset.empty() ? " (it has " : ", ", axis, " ", bounds[i], " to ",
                      bounds[i + 1] - 1);
  return absl::FailedPreconditionError(
      absl::StrCat("this rank is no member of communicator '", comm.name, "'",
                   subset.empty() ? "" : subset + ")", "; the op lacks its guard"));
}

// Buffers that are not needed on this rank may be null, but their counts still are part of the
// header that members compare.
absl::Status AddSegments(const std::vector<int>& ids, bool needed, const Binder& binder,
                         comm::Request& request, std::vector<comm::Segment>& segments) {
  for (int id : ids) {
    const Buffer& buffer = binder.buffer(id);
    request.dtype = buffer.dtype;
    std::byte* data = binder.storage.data(id);
    if (needed) {
      DT_ASSIGN_OR_RETURN(data, binder.Address(id));
    }
    segments.push_back({data, buffer.count()});
  }
  return absl::OkStatus();
}

// A receive may begin while the task before its own runs where a wire takes time by itself: ranks
// of one host copy, which takes a processor, and a lane's own thread would cost more than it gives.
bool MayBeginAhead(const StartNode& start, const comm::Communicator& comm, const Binder& binder) {
  const auto own = [&](int id) { return binder.buffer(id).stride > 0; };
  return binder.body == binder.scope.task && std::string_view(comm.backend()) != "shm" &&
         std::all_of(start.outputs.begin(), start.outputs.end(), own);
}

}  // namespace

// The request is made once, with fixed addresses; values whose extents only the step knows go by
// ValueCollective in its place.
BindResult Bind(const StartNode& start, const Node& node, Binder& binder) {
  const auto number = static_cast<size_t>(start.comm);
  comm::Communicator* comm = binder.links.comms[number];
  if (comm == nullptr) return NoMember(binder.plan.comms[number]);
  comm::Request request;
  request.kind = start.collective;
  request.reduce = start.reduce;
  request.peer = start.root;
  request.label = node.op;
  // What the root alone gives, or gets, the others need not have.
  const bool root = comm->rank() == start.root;
  const bool gives = start.collective != comm::Kind::kBroadcast || root;
  const bool gets = start.collective != comm::Kind::kReduce || root;
  DT_RETURN_IF_ERROR(AddSegments(start.inputs, gives, binder, request, request.inputs));
  DT_RETURN_IF_ERROR(AddSegments(start.outputs, gets, binder, request, request.outputs));
  std::unique_ptr<ValueCollective> of_value;
  if (!start.inputs.empty() && !start.outputs.empty())
    if (Value* from = binder.storage.value(start.inputs[0]))
      of_value = std::make_unique<ValueCollective>(*comm, start.collective, start.reduce,
                                                   binder.buffer(start.inputs[0]).name, node.op,
                                                   *from, *binder.storage.value(start.outputs[0]));
  const WaitNode* wait = binder.next ? binder.next->as<WaitNode>() : nullptr;
  const bool completes = wait != nullptr && wait->ticket == start.ticket;
  const flight::Channel::Kind channel = ChannelOf(start.collective);
  const int peer = channel == flight::Channel::Kind::kGroup ? 0 : start.root;
  auto bound = std::make_unique<BoundStart>(node, *comm, Trace::kComm + start.comm,
                                            binder.PointOf(node, start.comm, channel, peer),
                                            std::move(request), std::move(of_value), completes);
  binder.tickets.emplace_back(start.ticket, &bound->pending());
  if (start.collective == comm::Kind::kSend && binder.scope.sends != nullptr)
    binder.scope.sends->push_back(&bound->pending());
  if (start.collective == comm::Kind::kRecv && binder.scope.receives != nullptr) {
    if (MayBeginAhead(start, *comm, binder))
      binder.scope.receives->begin.push_back(
          [start = bound.get()](const Walk& walk) { return start->BeginAhead(walk); });
    else binder.scope.receives->all = false;
  }
  return bound;
}

BindResult Bind(const WaitNode& wait, const Node& node, Binder& binder) {
  // The reader has checked that the start stands before it in the same body, whose tickets are the
  // last ones.
  const auto found = std::find_if(binder.tickets.rbegin(), binder.tickets.rend(),
                                  [&](const auto& one) { return one.first == wait.ticket; });
  return std::make_unique<BoundWait>(node, *found->second);
}

}  // namespace dtranspile::exec

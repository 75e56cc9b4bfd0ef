// Requests to the servers of a role, and what a server's round gets of them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/bind.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

// One end of a request: memory of fixed extents, or a value.
struct End {
  const Buffer* buffer = nullptr;
  std::byte* data = nullptr;
  Value* value = nullptr;

  bool is_rows() const { return value != nullptr && value->kind == Value::Kind::kRows; }
  TensorView view() const {
    return value ? value->view() : TensorView{buffer->dtype, buffer->dims, data};
  }
  // Room for a tensor of these extents; errors of Value::Resize, and kInvalidArgument where they
  // are not those of the plan.
  absl::StatusOr<TensorRoom> Room(const std::vector<int64_t>& dims) const {
    if (value != nullptr) {
      DT_RETURN_IF_ERROR(value->Resize(dims));
      return TensorRoom{buffer->dtype, dims, value->data()};
    }
    if (buffer->dims != dims)
      return absl::InvalidArgumentError(
          absl::StrCat("'", buffer->name, "' is ", ShapeText(buffer->dtype, buffer->dims),
                       ", what arrives is ", ShapeText(buffer->dtype, dims)));
    return TensorRoom{buffer->dtype, buffer->dims, data};
  }
};

absl::StatusOr<End> EndOf(int id, const Binder& binder) {
  DT_ASSIGN_OR_RETURN(std::byte* const data, binder.Address(id));
  return End{&binder.buffer(id), data, binder.storage.value(id)};
}

// The servers that a request goes to, and what the flight recorder calls it.
struct Link {
  ServerLink* servers;
  flight::Point point;
};

absl::StatusOr<Link> LinkOf(const Node& node, int comm, const Binder& binder) {
  const auto number = static_cast<size_t>(comm);
  if (number < binder.links.servers.size() && binder.links.servers[number] != nullptr)
    return Link{binder.links.servers[number],
                binder.PointOf(node, comm, flight::Channel::Kind::kServers)};
  const PlanComm& c = binder.plan.comms[number];
  return absl::FailedPreconditionError(
      absl::StrCat("communicator '", c.name, "' has no servers ('", c.server, "') on this rank"));
}

TableRequest RequestOf(const Node& node, const std::string& table,
                       const std::optional<Layout>& layout) {
  return {node.op, table, layout ? &*layout : nullptr};
}

// A node that asks servers: it waits for other processes, which a message about a rank that hangs
// has to know.
class BoundRequest : public BoundNode {
 public:
  BoundRequest(const Node& node, Link link)
      : BoundNode(node), link_(*link.servers), point_(link.point) {}
  bool needs_others() const override { return true; }
  flight::Point point() const { return point_; }

  absl::Status Run(Walk& walk) final {
    flight::Blocking flight(walk.flight, point_);
    return flight.End(Ask());
  }

 protected:
  virtual absl::Status Ask() = 0;
  ServerLink& link() { return link_; }

 private:
  ServerLink& link_;
  const flight::Point point_;
};

// A gradient on its way to the servers: dense, sparse, or of a change only the rows that are not 0.
class BoundPush : public BoundRequest {
 public:
  BoundPush(const PushNode& push, const Node& node, Link link, End from)
      : BoundRequest(node, link),
        request_(RequestOf(node, push.table, push.layout)),
        merge_(push.merge),
        changed_(push.changed != 0),
        from_(from) {
    request_.at_once = push.at_once != 0;
  }

  absl::Status Ask() override {
    if (changed_) return link().PushChanged(request_, merge_, from_.view());
    if (from_.is_rows()) return link().PushRows(request_, merge_, *from_.value);
    return link().Push(request_, merge_, from_.view());
  }

 private:
  TableRequest request_;
  const Merge merge_;
  const bool changed_;
  const End from_;
};

// A table's value from the servers, whole, or the rows that others have changed since the last
// pull.
class BoundPull : public BoundRequest {
 public:
  BoundPull(const PullNode& pull, const Node& node, Link link, End to)
      : BoundRequest(node, link),
        request_(RequestOf(node, pull.table, pull.layout)),
        changed_(pull.changed != 0),
        to_(to) {}

  absl::Status Ask() override {
    const auto& dims = request_.layout ? request_.layout->whole : to_.buffer->dims;
    DT_ASSIGN_OR_RETURN(const TensorRoom room, to_.Room(dims));
    return changed_ ? link().PullChanged(request_, room) : link().Pull(request_, room);
  }

 private:
  const TableRequest request_;
  const bool changed_;
  const End to_;
};

// Ids of any extents become one row each: [ids…, extents of a row]; a trailing extent of 1 of the
// ids, which the framework's older lookups have, is taken by the row. Rows are cut into sequences
// like their ids.
class BoundLookup : public BoundRequest {
 public:
  BoundLookup(const LookupNode& lookup, const Node& node, Link link, End ids, End to)
      : BoundRequest(node, link),
        request_(RequestOf(node, lookup.table, lookup.layout)),
        ids_(ids),
        to_(to) {
    if (!lookup.padding.empty()) request_.padding = lookup.padding.front();
  }

  absl::Status Ask() override {
    DT_ASSIGN_OR_RETURN(const ServerLink::Wanted wanted, Want());
    return link().Lookup(*wanted.request, wanted.ids, wanted.count, wanted.to);
  }

  // What is asked for, of the ids as they are now; makes room for it.
  absl::StatusOr<ServerLink::Wanted> Want() {
    const TensorView ids = ids_.view();
    const int64_t count = ids.bytes() / static_cast<int64_t>(SizeOf(ids.dtype));
    const auto* numbers = reinterpret_cast<const int64_t*>(ids.data);
    if (ids.dtype == DType::kInt32) {
      const auto* narrow = reinterpret_cast<const int32_t*>(ids.data);
      wide_.assign(narrow, narrow + count);
      numbers = wide_.data();
    }
    DT_RETURN_IF_ERROR(CheckIds(numbers, count));
    DT_ASSIGN_OR_RETURN(const TensorRoom room, to_.Room(RowsFor(ids.dims)));
    if (to_.value != nullptr && ids_.value != nullptr) to_.value->lod = ids_.value->lod;
    return ServerLink::Wanted{&request_, numbers, count, room};
  }
  using BoundRequest::link;

 private:
  std::vector<int64_t> RowsFor(std::vector<int64_t> dims) const {
    const std::vector<int64_t>& to = to_.buffer->dims;
    std::vector<int64_t> row(to.end() - (to.empty() ? 0 : 1), to.end());
    if (request_.layout)
      row.assign(request_.layout->whole.begin() + 1, request_.layout->whole.end());
    if (dims.size() > 1 && dims.back() == 1 && dims.size() + row.size() > to.size())
      dims.pop_back();
    dims.insert(dims.end(), row.begin(), row.end());
    return dims;
  }

  // Of a table without a layout the servers say how many rows it has.
  absl::Status CheckIds(const int64_t* ids, int64_t count) const {
    if (!request_.layout || request_.layout->whole.empty()) return absl::OkStatus();
    const int64_t rows = request_.layout->whole.front();
    for (int64_t i = 0; i < count; ++i)
      if (ids[i] < 0 || ids[i] >= rows)
        return absl::OutOfRangeError(absl::StrCat(
            "the lookup in table '", request_.table, "': element ", i, " of '", ids_.buffer->name,
            "' is ", ids[i], ", expected at least 0 and below ", rows));
    return absl::OkStatus();
  }

  TableRequest request_;
  const End ids_, to_;
  std::vector<int64_t> wide_;  // ids of 32 bits
};

// Lookups that stand one after the other, asked for at once: a step with a table per slot waits for
// its servers once.
class BoundLookups : public BoundNode {
 public:
  BoundLookups(const Node& node, flight::Point point,
               std::vector<std::unique_ptr<BoundLookup>> lookups)
      : BoundNode(node), point_(point), lookups_(std::move(lookups)) {}
  bool needs_others() const override { return true; }

  // Several lookups in one request per server: all are prepared first, then sent together.
  absl::Status Run(Walk& walk) override {
    wanted_.clear();
    for (const auto& lookup : lookups_) {
      auto wanted = lookup->Want();
      if (!wanted.ok()) {
        walk.failed_op = lookup->op();
        return absl::Status(wanted.status().code(),
                            absl::StrCat("op ", walk.failed_op, ": ", wanted.status().message()));
      }
      wanted_.push_back(*std::move(wanted));
    }
    flight::Blocking flight(walk.flight, point_);
    return flight.End(lookups_.front()->link().Lookups(wanted_));
  }

 private:
  const flight::Point point_;
  const std::vector<std::unique_ptr<BoundLookup>> lookups_;
  std::vector<ServerLink::Wanted> wanted_;
};

absl::StatusOr<std::unique_ptr<BoundLookup>> LookupOf(const LookupNode& lookup, const Node& node,
                                                      Binder& binder) {
  DT_ASSIGN_OR_RETURN(const Link link, LinkOf(node, lookup.comm, binder));
  DT_ASSIGN_OR_RETURN(const End ids, EndOf(lookup.ids, binder));
  DT_ASSIGN_OR_RETURN(const End to, EndOf(lookup.to, binder));
  return std::make_unique<BoundLookup>(lookup, node, link, ids, to);
}

// Memory of one end of a request, or the value itself.
struct Range {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  bool overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
};

std::optional<Range> RangeOf(int id, const Binder& binder) {
  const auto end = EndOf(id, binder);
  if (!end.ok()) return std::nullopt;
  const auto* value = reinterpret_cast<const std::byte*>(end->value);
  if (value != nullptr) return Range{value, value + 1};
  return Range{end->data, end->data + end->buffer->bytes};
}

// The end of all pushes (or pulls) of a step: servers go on when every sender has said so.
class BoundPhase : public BoundRequest {
 public:
  BoundPhase(const PhaseNode& phase, const Node& node, Link link)
      : BoundRequest(node, link), phase_(phase.phase) {}

  absl::Status Ask() override { return link().EndPhase(op(), phase_); }

 private:
  const Phase phase_;
};

// On a server: what the pushes of a round add up to, for the block of the table that is updated
// now.
class BoundMerged : public BoundNode {
 public:
  BoundMerged(const MergedNode& merged, const Node& node, Rounds& rounds, int64_t block, End to)
      : BoundNode(node),
        table_(merged.table),
        pulled_(merged.pulled != 0),
        rounds_(rounds),
        block_(block),
        to_(to) {}

  absl::Status Run(Walk&) override {
    if (to_.is_rows()) return rounds_.MergedRows(table_, block_, *to_.value);
    DT_ASSIGN_OR_RETURN(const TensorRoom room, to_.Room(to_.buffer->dims));
    return pulled_ ? rounds_.Pulled(table_, block_, room) : rounds_.Merged(table_, block_, room);
  }

 private:
  const std::string& table_;
  const bool pulled_;
  Rounds& rounds_;
  const int64_t block_;
  const End to_;
};

}  // namespace

BindResult Bind(const PushNode& push, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(const Link link, LinkOf(node, push.comm, binder));
  DT_ASSIGN_OR_RETURN(const End from, EndOf(push.from, binder));
  return std::make_unique<BoundPush>(push, node, link, from);
}

BindResult Bind(const PullNode& pull, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(const Link link, LinkOf(node, pull.comm, binder));
  DT_ASSIGN_OR_RETURN(const End to, EndOf(pull.to, binder));
  return std::make_unique<BoundPull>(pull, node, link, to);
}

BindResult Bind(const LookupNode& lookup, const Node& node, Binder& binder) {
  return LookupOf(lookup, node, binder);
}

// How many lookups from `at` on may be one request: they ask the same servers, and none writes
// memory that another one reads or writes. By ranges of memory, since buffers may overlap in the
// arena.
size_t LookupsAt(const std::vector<Node>& nodes, size_t at, const Binder& binder) {
  std::vector<Range> taken, filled;
  const LookupNode* first = nullptr;
  size_t count = 0;
  for (; at + count < nodes.size(); ++count) {
    const auto* lookup = std::get_if<LookupNode>(&nodes[at + count].what);
    if (lookup == nullptr || (first != nullptr && lookup->comm != first->comm)) break;
    if (first == nullptr) first = lookup;
    const std::optional<Range> ids = RangeOf(lookup->ids, binder), to = RangeOf(lookup->to, binder);
    if (!ids || !to) break;
    const auto with = [](const Range& one) {
      return [&one](const Range& other) { return one.overlaps(other); };
    };
    if (ids->overlaps(*to) || std::any_of(filled.begin(), filled.end(), with(*ids)) ||
        std::any_of(filled.begin(), filled.end(), with(*to)) ||
        std::any_of(taken.begin(), taken.end(), with(*to)))
      break;
    taken.push_back(*ids);
    filled.push_back(*to);
  }
  return count;
}

BindResult BindLookups(const std::vector<Node>& nodes, size_t at, size_t count, Binder& binder) {
  std::vector<std::unique_ptr<BoundLookup>> lookups;
  for (size_t i = at; i < at + count; ++i) {
    DT_ASSIGN_OR_RETURN(lookups.emplace_back(),
                        LookupOf(std::get<LookupNode>(nodes[i].what), nodes[i], binder));
  }
  const flight::Point point = lookups.front()->point();
  return std::make_unique<BoundLookups>(nodes[at], point, std::move(lookups));
}

BindResult Bind(const PhaseNode& phase, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(const Link link, LinkOf(node, phase.comm, binder));
  return std::make_unique<BoundPhase>(phase, node, link);
}

BindResult Bind(const MergedNode& merged, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(const End to, EndOf(merged.to, binder));
  if (binder.links.rounds == nullptr)
    return absl::FailedPreconditionError(
        absl::StrCat("'", merged.table, "' is merged on a server only"));
  return std::make_unique<BoundMerged>(merged, node, *binder.links.rounds, binder.scope.block, to);
}

}  // namespace dtranspile::exec

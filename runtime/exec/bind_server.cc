// Requests to the servers of a role, and what a server's round gets of them.
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

absl::StatusOr<ServerLink*> LinkOf(int comm, const Binder& binder) {
  const auto number = static_cast<size_t>(comm);
  if (number < binder.links.servers.size() && binder.links.servers[number] != nullptr)
    return binder.links.servers[number];
  const PlanComm& c = binder.plan.comms[number];
  return absl::FailedPreconditionError(
      absl::StrCat("communicator '", c.name, "' has no servers ('", c.server, "') on this rank"));
}

TableRequest RequestOf(const Node& node, const std::string& table,
                       const std::optional<Layout>& layout) {
  return {node.op, table, layout ? &*layout : nullptr};
}

class BoundRequest : public BoundNode {
 public:
  BoundRequest(const Node& node, ServerLink& link) : BoundNode(node), link_(link) {}
  bool needs_others() const override { return true; }

 protected:
  ServerLink& link() { return link_; }

 private:
  ServerLink& link_;
};

class BoundPush : public BoundRequest {
 public:
  BoundPush(const PushNode& push, const Node& node, ServerLink& link, End from)
      : BoundRequest(node, link),
        request_(RequestOf(node, push.table, push.layout)),
        merge_(push.merge),
        changed_(push.changed != 0),
        from_(from) {
    request_.at_once = push.at_once != 0;
  }

  absl::Status Run(Walk&) override {
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

class BoundPull : public BoundRequest {
 public:
  BoundPull(const PullNode& pull, const Node& node, ServerLink& link, End to)
      : BoundRequest(node, link),
        request_(RequestOf(node, pull.table, pull.layout)),
        changed_(pull.changed != 0),
        to_(to) {}

  absl::Status Run(Walk&) override {
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
  BoundLookup(const LookupNode& lookup, const Node& node, ServerLink& link, End ids, End to)
      : BoundRequest(node, link),
        request_(RequestOf(node, lookup.table, lookup.layout)),
        ids_(ids),
        to_(to) {
    if (!lookup.padding.empty()) request_.padding = lookup.padding.front();
  }

  absl::Status Run(Walk&) override {
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
    return link().Lookup(request_, numbers, count, room);
  }

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

class BoundPhase : public BoundRequest {
 public:
  BoundPhase(const PhaseNode& phase, const Node& node, ServerLink& link)
      : BoundRequest(node, link), phase_(phase.phase) {}

  absl::Status Run(Walk&) override { return link().EndPhase(op(), phase_); }

 private:
  const Phase phase_;
};

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
  DT_ASSIGN_OR_RETURN(ServerLink* const link, LinkOf(push.comm, binder));
  DT_ASSIGN_OR_RETURN(const End from, EndOf(push.from, binder));
  return std::make_unique<BoundPush>(push, node, *link, from);
}

BindResult Bind(const PullNode& pull, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(ServerLink* const link, LinkOf(pull.comm, binder));
  DT_ASSIGN_OR_RETURN(const End to, EndOf(pull.to, binder));
  return std::make_unique<BoundPull>(pull, node, *link, to);
}

BindResult Bind(const LookupNode& lookup, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(ServerLink* const link, LinkOf(lookup.comm, binder));
  DT_ASSIGN_OR_RETURN(const End ids, EndOf(lookup.ids, binder));
  DT_ASSIGN_OR_RETURN(const End to, EndOf(lookup.to, binder));
  return std::make_unique<BoundLookup>(lookup, node, *link, ids, to);
}

BindResult Bind(const PhaseNode& phase, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(ServerLink* const link, LinkOf(phase.comm, binder));
  return std::make_unique<BoundPhase>(phase, node, *link);
}

BindResult Bind(const MergedNode& merged, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(const End to, EndOf(merged.to, binder));
  if (binder.links.rounds == nullptr)
    return absl::FailedPreconditionError(
        absl::StrCat("'", merged.table, "' is merged on a server only"));
  return std::make_unique<BoundMerged>(merged, node, *binder.links.rounds, binder.scope.block, to);
}

}  // namespace dtranspile::exec

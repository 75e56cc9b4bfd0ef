// Operations between ranks: every collective, send and receive becomes start and wait nodes on the
// communicators of the plan. A blocking op is waited for at once, a started one (`!dist.pending`)
// at its dist.wait. Parts that do not lie one after the other (other dims than 0, extents with a
// pad) are cut before the operation, or put together after it, by a library call.
#include "compiler/lower/dist_lowering.h"
#include "compiler/lower/transfers.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::lower {
namespace {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

enum class Shape : uint8_t { Same, Gathers, Scatters, Exchanges };

// What a dist op is in the plan. `shape`: whether the extents of its results are those of its
// operands.
struct CollectiveRow {
  llvm::StringLiteral op;  // name in the dialect
  comm::Kind kind;
  bool reduces = false;
  bool rooted = false;
  Shape shape = Shape::Same;
};
constexpr CollectiveRow kCollectives[] = {
    {"dist.all_reduce", comm::Kind::kAllReduce, true},
    {"dist.broadcast", comm::Kind::kBroadcast, false, true},
    {"dist.reduce", comm::Kind::kReduce, true, true},
    {"dist.all_gather", comm::Kind::kAllGather, false, false, Shape::Gathers},
    {"dist.reduce_scatter", comm::Kind::kReduceScatter, true, false, Shape::Scatters},
    {"dist.all_to_all", comm::Kind::kAllToAll, false, false, Shape::Exchanges},
    {"dist.barrier", comm::Kind::kBarrier},
};

// Called for ops of the table only.
const CollectiveRow& rowOf(mlir::Operation* op) {
  return *llvm::find_if(kCollectives, [&](const CollectiveRow& row) {
    return op->getName().getStringRef() == row.op;
  });
}

std::optional<comm::ReduceOp> reduceOf(llvm::StringRef name) {
  using comm::ReduceOp;
  for (ReduceOp op :
       {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd, ReduceOp::kOr})
    if (name == comm::NameOf(op)) return op;
  return std::nullopt;
}

// Rank inside the group of the member that the selector names: coordinates of the comm's axes, the
// last one fastest; of a subset the members before it count.
std::optional<int64_t> rootOf(dist::SelAttr selector, dist::CommOp comm, dist::MeshOp mesh) {
  int64_t rank = 0;
  for (auto axis : comm.getAxes().getAsRange<mlir::StringAttr>()) {
    dist::AxisSetAttr set = selector.lookup(axis.getValue());
    std::optional<int64_t> size = mesh.sizeOf(axis.getValue());
    if (!set || !set.isPoint() || !size) return std::nullopt;
    const int64_t at = set.getBounds()[0];
    dist::AxisSetAttr members =
        comm.getSubset() ? comm.getSubset()->lookup(axis.getValue()) : dist::AxisSetAttr();
    if (!members) {
      rank = rank * *size + at;
      continue;
    }
    int64_t before = 0;
    for (size_t i = 0; i < members.getBounds().size(); i += 2)
      before += std::clamp<int64_t>(at - members.getBounds()[i], 0,
                                    members.getBounds()[i + 1] - members.getBounds()[i]);
    rank = rank * members.count() + before;
  }
  return rank;
}

int64_t divideUp(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// One collective of the program with all of its operands: they are grouped by element type, and
// each group is one operation of the runtime, so that a bucket of gradients is one message.
class CollectiveLowering {
 public:
  CollectiveLowering(Lowering& lowering, mlir::Operation* op)
      : lowering_(lowering), op_(op), row_(rowOf(op)) {}

  // One collective of several operands becomes one start per element type (`groups_`), so that each
  // call moves one type; a barrier, which has no operands, moves nothing of any type. A pending
  // result is awaited by its dist.wait, else the wait follows at once.
  LogicalResult run() {
    llvm::FailureOr<CommOfPlan> comm = commOfPlan(lowering_, op_);
    if (failed(comm)) return failure();
    size_ = comm->op.groupSize(comm->mesh);
    what_.collective = row_.kind;
    what_.comm = comm->number;
    if (failed(findReduction()) || failed(findRoot(*comm))) return failure();
    results_ = dist::completedTypes(op_->getResultTypes());
    Lowering::Started state;
    for (auto [index, input] : llvm::enumerate(op_->getOperands()))
      if (failed(addOperand(static_cast<unsigned>(index), input, state))) return failure();
    if (op_->getNumOperands() == 0) groups_[DType::kFloat32];
    for (auto& [dtype, lists] : groups_) starts_.push_back(std::move(lists));
    for (const Lists& lists : starts_) state.tickets.push_back(start(lists));
    lowering_.started()[op_] = std::move(state);
    const bool started =
        op_->getNumResults() == 1 && llvm::isa<dist::PendingType>(op_->getResult(0).getType());
    return started ? success() : lowerWait(lowering_, op_);
  }

 private:
  // One start per element type, as the segments of an operation are of one type, and one per value.
  struct Lists {
    std::vector<int> inputs, outputs;
  };

  LogicalResult refuse(const llvm::Twine& why) {
    return op_->emitError() << lowering_.position() << ": " << why;
  }

  LogicalResult findReduction() {
    if (!row_.reduces) return success();
    // mean is a sum that the program divides; the runtime has the five others.
    llvm::StringRef how =
        dist::stringifyReduce(op_->getAttrOfType<dist::ReduceAttr>("reduce").getValue());
    std::optional<comm::ReduceOp> reduce = reduceOf(how);
    if (!reduce) return refuse("reduction '" + how + "' is not supported natively");
    what_.reduce = *reduce;
    return success();
  }

  LogicalResult findRoot(CommOfPlan comm) {
    if (!row_.rooted) return success();
    std::optional<int64_t> root =
        rootOf(op_->getAttrOfType<dist::SelAttr>("root"), comm.op, comm.mesh);
    if (!root) return refuse("its root is not one member of " + llvm::Twine(comm.op.getSymName()));
    what_.root = static_cast<int>(*root);
    return success();
  }

  // By what the operation does to extents. Where parts do not lie one after the other in memory, a
  // library call cuts them before, or joins them when the operation has been waited for.
  LogicalResult addOperand(unsigned index, mlir::Value input, Lowering::Started& state) {
    const pd::TensorInfo info = lowering_.info(input);
    if (isRunTimeValue(info)) return addValue(input, info, state);
    Lists& lists = groups_[info.dtype];
    switch (row_.shape) {
      case Shape::Same: return finish(lists, lowering_.bufferOf(input), input, info, state);
      case Shape::Gathers: return gather(lists, index, input, info, state);
      case Shape::Scatters: return scatter(lists, input, info, state);
      case Shape::Exchanges: return exchange(lists, input, info, state);
    }
  }

  // What only the step knows travels alone.
  LogicalResult addValue(mlir::Value input, const pd::TensorInfo& info, Lowering::Started& state) {
    const bool list = info.kind == pd::Kind::TensorArray;
    const bool rows = info.kind == pd::Kind::SelectedRows;
    const bool ragged = op_->hasAttr("ragged") && dim() == 0;
    const bool reduced =
        row_.kind == comm::Kind::kAllReduce && (!rows || what_.reduce == comm::ReduceOp::kSum);
    if (list || (!reduced && !ragged))
      return refuse(
          dist::nameOf(input) +
          llvm::Twine(" is SelectedRows, a list, or has extents that depend on data: ") +
          row_.op.drop_front(5) + " (" + comm::NameOf(what_.reduce) +
          ") of it is not supported natively; all_gather it `ragged`, along dim 0, or give it "
          "extents that are known");
    pd::TensorInfo result = info;
    if (ragged && info.lodLevel > 0)
      return refuse(
          dist::nameOf(input) +
          llvm::Twine(" has levels of sequences: gathering it is not supported natively; gather "
                      "what is made of its rows"));
    if (ragged && !rows) result.dims[0] = -1;
    return finish(starts_.emplace_back(), lowering_.bufferOf(input), input, result, state);
  }

  // `from` is sent, what arrives becomes the result.
  LogicalResult finish(Lists& lists, int from, mlir::Value input, const pd::TensorInfo& result,
                       Lowering::Started& state) {
    const int to = lowering_.newBuffer(dist::nameOf(input), result);
    lists.inputs.push_back(from);
    lists.outputs.push_back(to);
    state.buffers.push_back(to);
    state.infos.push_back(result);
    return success();
  }

  int64_t dim() const {
    auto dim = op_->getAttrOfType<mlir::IntegerAttr>("dim");
    return dim ? dim.getInt() : 0;
  }

  int temporary(mlir::Value of, llvm::ArrayRef<int64_t> dims, DType dtype) {
    pd::TensorInfo info;
    info.dims.assign(dims.begin(), dims.end());
    info.dtype = dtype;
    return lowering_.newBuffer((dist::nameOf(of) + ".parts").str(), info);
  }

  // All parts, one after the other: an extent for the parts before those of one.
  std::vector<int64_t> stacked(llvm::ArrayRef<int64_t> part) const {
    std::vector<int64_t> dims = {size_};
    dims.insert(dims.end(), part.begin(), part.end());
    return dims;
  }

  Node call(const char* callee, int from, int to, int64_t axis, int64_t parts) {
    CallNode what{.callee = callee, .ints = {axis, parts}};
    what.slots = {0, 1, 2};
    what.attrs = {"i1", "i1"};
    return {.op = lowering_.position(),
            .args = {from, to},
            .writes = {false, true},
            .reads = {true, false},
            .what = std::move(what)};
  }

  // The extents of all parts together, as the result type says them where it does: without the pad.
  LogicalResult gather(Lists& lists, unsigned index, mlir::Value input, pd::TensorInfo info,
                       Lowering::Started& state) {
    if (op_->hasAttr("ragged"))
      return refuse(dist::nameOf(input) +
                    llvm::Twine(" has the same extents on every rank: leave out `ragged`"));
    mlir::RankedTensorType declared = pd::tensorOf(results_[index]);
    const std::vector<int64_t> part(info.dims.begin(), info.dims.end());
    const bool flat = dim() == dist::kFlat;
    bool together = true;  // parts lie one after the other, and nothing is dropped
    if (flat) {
      if (!declared || !declared.hasStaticShape())
        return refuse("the flattened whole has extents that only the step knows");
      info.dims.assign(declared.getShape().begin(), declared.getShape().end());
      together = info.elements() == part[0] * size_;
    } else {
      const auto d = static_cast<size_t>(dim());
      const int64_t whole = declared ? declared.getDimSize(dim()) : mlir::ShapedType::kDynamic;
      info.dims[d] = whole >= 0 ? whole : part[d] * size_;
      const bool first = llvm::all_of(llvm::ArrayRef(part).take_front(d),
                                      [](int64_t extent) { return extent == 1; });
      together = first && info.dims[d] == part[d] * size_;
    }
    if (together) return finish(lists, lowering_.bufferOf(input), input, info, state);
    const int parts = temporary(input, stacked(part), info.dtype);
    const int whole = lowering_.newBuffer(dist::nameOf(input), info);
    lists.inputs.push_back(lowering_.bufferOf(input));
    lists.outputs.push_back(parts);
    state.finish.push_back(call("dt_join_parts", parts, whole, dim(), size_));
    state.buffers.push_back(whole);
    state.infos.push_back(info);
    return success();
  }

  // One part of what all members have, zero where the last ones have less.
  LogicalResult scatter(Lists& lists, mlir::Value input, pd::TensorInfo info,
                        Lowering::Started& state) {
    const bool flat = dim() == dist::kFlat;
    const int64_t elements = info.elements();
    const auto d = static_cast<size_t>(flat ? 0 : dim());
    const bool first = flat || llvm::all_of(llvm::ArrayRef(info.dims).take_front(d),
                                            [](int64_t extent) { return extent == 1; });
    if (flat) info.dims = {elements};
    const bool together = first && info.dims[d] % size_ == 0;
    info.dims[d] = divideUp(info.dims[d], size_);
    int from = lowering_.bufferOf(input);
    if (!together) {
      const int parts = temporary(input, stacked(info.dims), info.dtype);
      lowering_.add(call("dt_cut_parts", from, parts, dim(), size_));
      from = parts;
    }
    return finish(lists, from, input, info, state);
  }

  // Part j of a dim to member j; what arrives is put together along another one.
  LogicalResult exchange(Lists& lists, mlir::Value input, pd::TensorInfo info,
                         Lowering::Started& state) {
    const int64_t split = op_->getAttrOfType<mlir::IntegerAttr>("split").getInt(),
                  concat = op_->getAttrOfType<mlir::IntegerAttr>("concat").getInt();
    if (info.dims[static_cast<size_t>(split)] % size_ != 0)
      return refuse(llvm::Twine(size_) + " members do not divide the extent of " +
                    llvm::Twine(info.dims[static_cast<size_t>(split)]) + " of " +
                    dist::nameOf(input));
    info.dims[static_cast<size_t>(split)] /= size_;
    const std::vector<int64_t> parts = stacked(info.dims);
    const int given = temporary(input, parts, info.dtype),
              taken = temporary(input, parts, info.dtype);
    lowering_.add(call("dt_cut_parts", lowering_.bufferOf(input), given, split, size_));
    info.dims[static_cast<size_t>(concat)] *= size_;
    const int whole = lowering_.newBuffer(dist::nameOf(input), info);
    lists.inputs.push_back(given);
    lists.outputs.push_back(taken);
    state.finish.push_back(call("dt_join_parts", taken, whole, concat, size_));
    state.buffers.push_back(whole);
    state.infos.push_back(info);
    return success();
  }

  // Inputs are read and outputs written between start and wait: the planner of memory keeps both
  // alive until then.
  int start(const Lists& lists) {
    what_.ticket = lowering_.newTicket();
    what_.inputs = static_cast<int>(lists.inputs.size());
    Node node{.op = lowering_.position(), .args = lists.inputs, .what = what_};
    node.args.insert(node.args.end(), lists.outputs.begin(), lists.outputs.end());
    node.reads.assign(lists.inputs.size(), true);
    node.writes.assign(lists.inputs.size(), false);
    node.reads.resize(node.args.size(), false);
    node.writes.resize(node.args.size(), true);
    lowering_.add(std::move(node));
    return what_.ticket;
  }

  Lowering& lowering_;
  mlir::Operation* op_;
  const CollectiveRow& row_;
  int64_t size_ = 1;
  StartNode what_;
  llvm::SmallVector<mlir::Type> results_;
  std::map<DType, Lists> groups_;
  std::vector<Lists> starts_;
};

// What both ends of a transfer have in common.
llvm::FailureOr<StartNode> startOf(Lowering& lowering, mlir::Operation* op, comm::Kind kind,
                                   int64_t peer) {
  llvm::FailureOr<CommOfPlan> comm = commOfPlan(lowering, op);
  if (failed(comm)) return failure();
  return StartNode{.collective = kind,
                   .comm = comm->number,
                   .root = static_cast<int>(peer),
                   .ticket = lowering.newTicket()};
}

LogicalResult refuseValue(Lowering& lowering, mlir::Operation* op, llvm::StringRef name) {
  return op->emitError()
         << lowering.position() << ": " << name
         << " is SelectedRows, a list, or has extents that depend on data: sending "
            "it is not supported natively; keep what makes it and what takes it on one "
            "rank, or give it extents that are known (a pad)";
}

}  // namespace

LogicalResult lowerCollective(Lowering& lowering, mlir::Operation* op) {
  return CollectiveLowering(lowering, op).run();
}

// Waits for all tickets of the operation, puts parts together, and binds the results.
LogicalResult lowerWait(Lowering& lowering, mlir::Operation* op) {
  auto wait = llvm::dyn_cast<dist::WaitOp>(op);
  mlir::Operation* start = wait ? wait.getPending().getDefiningOp() : op;
  auto it = start ? lowering.started().find(start) : lowering.started().end();
  if (it == lowering.started().end() || it->second.buffers.size() < op->getNumResults())
    return op->emitError() << lowering.position() << ": waits for something that was not started";
  const Lowering::Started& state = it->second;
  for (int ticket : state.tickets)
    lowering.add({.op = lowering.position(), .what = WaitNode{ticket}});
  for (const Node& node : state.finish) lowering.add(node);
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    lowering.bind(result, state.buffers[i], state.infos[i]);
  return success();
}

// In a task it is left to the node of the micro-batches (exec::StartNode); elsewhere the end of the
// block waits, so that two ranks may send to each other.
LogicalResult lowerSend(Lowering& lowering, mlir::Operation* op) {
  auto send = llvm::cast<dist::SendOp>(op);
  if (isRunTimeValue(lowering.info(send.getInput())))
    return refuseValue(lowering, op, dist::nameOf(send.getInput()));
  llvm::FailureOr<StartNode> start =
      startOf(lowering, op, comm::Kind::kSend, static_cast<int64_t>(send.getTo()));
  if (failed(start)) return failure();
  start->inputs = 1;
  lowering.add({.op = lowering.position(),
                .args = {lowering.bufferOf(send.getInput())},
                .writes = {false},
                .reads = {true},
                .what = *start});
  lowering.addSend(start->ticket);
  return success();
}

// The framework declares an extent of 1 where it broadcasts 1 and -1 (matmul_v2): what is sent has
// the extent that the sender computes, in place of that 1.
void correctOnes(Lowering& lowering, dist::RecvOp recv, pd::TensorInfo& info) {
  if (!llvm::is_contained(info.dims, 1)) return;
  const pd::TensorInfo* sent = knownSent(lowering, recv);
  if (!sent || sent->dims.size() != info.dims.size()) return;
  for (auto [own, theirs] : llvm::zip(info.dims, sent->dims))
    if (own == 1 && theirs > 1) own = theirs;
}

// A blocking receive. Extents that its type does not say are those of the send that it meets, which
// is found in the text of the sender's class.
LogicalResult lowerRecv(Lowering& lowering, mlir::Operation* op) {
  auto recv = llvm::cast<dist::RecvOp>(op);
  pd::TensorInfo info = pd::declaredInfo(recv.getOutput().getType());
  if (llvm::any_of(info.dims, [](int64_t d) { return d < 0; })) {
    llvm::FailureOr<pd::TensorInfo> sent = sentInfo(lowering, recv);
    if (failed(sent)) return failure();
    // The job may have been widened since (`run --float64`): of it the extents alone are taken.
    sent->dtype = info.dtype;
    info = *sent;
  } else {
    correctOnes(lowering, recv, info);
  }
  if (isRunTimeValue(info)) return refuseValue(lowering, op, dist::nameOf(recv.getOutput()));
  llvm::FailureOr<StartNode> start =
      startOf(lowering, op, comm::Kind::kRecv, static_cast<int64_t>(recv.getFrom()));
  if (failed(start)) return failure();
  const int to = lowering.newBuffer(dist::nameOf(recv.getOutput()), info);
  lowering.add({.op = lowering.position(),
                .args = {to},
                .writes = {true},
                .reads = {false},
                .what = *start});
  lowering.add({.op = lowering.position(), .what = WaitNode{start->ticket}});
  lowering.bind(recv.getOutput(), to, std::move(info));
  return success();
}

}  // namespace dtranspile::lower

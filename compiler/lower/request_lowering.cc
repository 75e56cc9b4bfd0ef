// The trainer's side of parameter servers: pushes, pulls, lookups and the ends of phases.
#include "compiler/lower/dist_lowering.h"
#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

namespace {

exec::Merge mergeOf(dist::Merge merge) {
  static constexpr exec::Merge kMerges[] = {exec::Merge::kMean, exec::Merge::kSum,
                                            exec::Merge::kEach};
  return kMerges[static_cast<int>(merge)];
}

// A request for `table`, a variable of the server role, which stands in the text of the class with
// its variables (docs/dialects/dist.md, Specialisation). A diagnostic where it is not there.
llvm::FailureOr<RequestNode> requestFor(Lowering& lowering, mlir::Operation* op,
                                        mlir::SymbolRefAttr table) {
  llvm::FailureOr<CommOfPlan> comm = commOfPlan(lowering, op);
  if (failed(comm)) return failure();
  auto variable =
      llvm::dyn_cast_or_null<pd::VarOp>(mlir::SymbolTable::lookupSymbolIn(dist::jobOf(op), table));
  if (!variable) return op->emitError() << "there is no variable " << table, failure();
  auto layout = layoutOf(op, variable, dist::meshOf(variable));
  if (failed(layout)) return failure();
  if (*layout && !(*layout)->also.empty())
    return op->emitError() << op->getName() << ": " << table
                           << " is cut along several dims: tables are cut along one; keep it so",
           failure();
  return RequestNode{
      .comm = comm->number, .table = variable.getSymName().str(), .layout = std::move(*layout)};
}

template <typename Name>
LogicalResult refuse(mlir::Operation* op, Name name) {
  return op->emitError() << op->getName() << ": " << name
                         << " is a list, or has extents that depend on data: not supported "
                            "natively; ask for a dense table of known extents, or push its rows";
}

}  // namespace

// Dense gradients have the extents of the table; of SelectedRows the rows travel.
LogicalResult lowerPush(Lowering& lowering, mlir::Operation* op) {
  auto push = llvm::cast<dist::PushOp>(op);
  const pd::TensorInfo& info = lowering.info(push.getInput());
  if (info.kind != pd::Kind::SelectedRows && isRunTimeValue(info))
    return refuse(op, dist::nameOf(push.getInput()));
  llvm::FailureOr<RequestNode> request = requestFor(lowering, op, push.getVar());
  if (failed(request)) return failure();
  request->kind = RequestNode::Kind::Push;
  request->merge = mergeOf(push.getMerge());
  request->changed = op->hasAttr(dist::kChangedRowsAttr);
  request->atOnce = op->hasAttr(dist::kAtOnceAttr);
  lowering.add({.op = lowering.position(),
                .args = {lowering.bufferOf(push.getInput())},
                .writes = {false},
                .reads = {true},
                .keep = true,
                .what = std::move(*request)});
  return success();
}

// Pulls into a buffer of its own. Where the op names a variable of the trainer as known, that one
// is copied there first and the server sends the rows that have changed.
LogicalResult lowerPull(Lowering& lowering, mlir::Operation* op) {
  auto pull = llvm::cast<dist::PullOp>(op);
  pd::TensorInfo info = pd::declaredInfo(pull.getOutput().getType());
  if (isRunTimeValue(info)) return refuse(op, pull.getVar());
  llvm::FailureOr<RequestNode> request = requestFor(lowering, op, pull.getVar());
  if (failed(request)) return failure();
  request->kind = RequestNode::Kind::Pull;
  const int to = lowering.newBuffer(pull.getVar().getLeafReference().getValue(), info);
  const auto known = op->getAttrOfType<mlir::FlatSymbolRefAttr>(dist::kKnownAttr);
  if (known) {
    const Persistable* variable = lowering.variable(known.getValue());
    if (!variable || variable->layout)
      return op->emitError() << "dist.pull: " << known
                             << ", whose rows it is to keep, is no whole dense variable here";
    lowering.copy(variable->buffer, to);
    request->changed = 1;
  }
  lowering.add({.op = lowering.position(),
                .args = {to},
                .writes = {true},
                .reads = {static_cast<bool>(known)},
                .keep = true,
                .what = std::move(*request)});
  return lowering.bind(pull.getOutput(), to, std::move(info)), success();
}

// As many rows as there are ids, cut into sequences like them.
LogicalResult lowerLookup(Lowering& lowering, mlir::Operation* op) {
  auto lookup = llvm::cast<dist::LookupOp>(op);
  const pd::TensorInfo& ids = lowering.info(lookup.getIds());
  if (ids.kind != pd::Kind::Tensor || !ids.rankKnown)
    return refuse(op, dist::nameOf(lookup.getIds()));
  const pd::TensorInfo declared = pd::declaredInfo(lookup.getOutput().getType());
  llvm::FailureOr<RequestNode> request = requestFor(lowering, op, lookup.getVar());
  if (failed(request)) return failure();
  const int64_t width = declared.dims.empty() ? -1 : declared.dims.back();
  if (width < 0)
    return op->emitError() << "dist.lookup: the width of the rows of " << lookup.getVar()
                           << " is not known: declare it in the type of the result";
  pd::TensorInfo info = ids;
  info.dtype = declared.dtype;
  // The result's rank says whether a row takes the last dim of the ids (D33).
  if (info.rank() == declared.rank() && !info.dims.empty()) info.dims.pop_back();
  info.dims.push_back(width);
  request->kind = RequestNode::Kind::Lookup;
  if (lookup.getPadding()) request->padding = {static_cast<int64_t>(*lookup.getPadding())};
  const int from = lowering.bufferOf(lookup.getIds());
  const int to = lowering.newBuffer(dist::nameOf(lookup.getOutput()), info);
  lowering.add({.op = lowering.position(),
                .args = {from, to},
                .writes = {false, true},
                .reads = {true, false},
                .keep = true,
                .what = std::move(*request)});
  return lowering.bind(lookup.getOutput(), to, std::move(info)), success();
}

// Whoever takes it looks at its extents (D34), so it has no memory.
LogicalResult lowerRemote(Lowering& lowering, mlir::Operation* op) {
  mlir::Value value = llvm::cast<dist::RemoteOp>(op).getOutput();
  lowering.info(value) = pd::declaredInfo(value.getType());
  return success();
}

LogicalResult lowerPhase(Lowering& lowering, mlir::Operation* op) {
  auto phase = llvm::cast<dist::PhaseOp>(op);
  llvm::FailureOr<CommOfPlan> comm = commOfPlan(lowering, op);
  if (failed(comm)) return failure();
  const bool push = phase.getKind() == dist::PhaseKind::Push;
  lowering.add({.op = lowering.position(),
                .keep = true,
                .what = PhaseNode{push ? exec::Phase::kPush : exec::Phase::kPull, comm->number}});
  return success();
}

}  // namespace dtranspile::lower

// Constraints of requests to servers (docs/dialects/dist.md, parameter server).
#include "dialects/dist/changes.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/verify.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile::dist {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::SymbolTableCollection;

namespace {

// D5: `@role::@var` is a variable of the role that the comm serves.
mlir::FailureOr<pd::VarOp> verifyRemote(Operation* op, mlir::SymbolRefAttr var,
                                        SymbolTableCollection& tables) {
  mlir::FailureOr<CommOp> comm = verifyComm(op, CommKind::Rpc, tables);
  if (mlir::failed(comm)) return mlir::failure();
  if (var.getNestedReferences().size() != 1 ||
      var.getRootReference() != comm->getServerAttr().getAttr())
    return op->emitOpError("D5: names a variable of role ")
           << comm->getServerAttr() << ", which comm " << commOf(op) << " reaches, not " << var;
  auto found = llvm::dyn_cast_or_null<pd::VarOp>(tables.lookupSymbolIn(jobOf(op), var));
  if (!found) return op->emitOpError("D5: there is no variable ") << var;
  return found;
}

LogicalResult isRpc(Operation* op, SymbolTableCollection& tables) {
  return mlir::LogicalResult(verifyComm(op, CommKind::Rpc, tables));
}

// Extents that may be the same: one that is not known fits any.
bool fit(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}

}  // namespace

// D38: what may wait on a trainer, by how the servers work.
static LogicalResult verifySending(ServeOp serve, CommOp comm) {
  auto sending = comm->getAttrOfType<mlir::DictionaryAttr>(kSendingAttr);
  for (auto other : comm->getBlock()->getOps<CommOp>())
    if (other.getServer() == comm.getServer() && other->getAttr(kSendingAttr) != sending)
      return other.emitOpError("D38: has other queues than ")
             << comm.getSymNameAttr() << ", which asks the same servers";
  if (!sending) return mlir::success();
  if (serve.getMode() == ServeMode::Sync)
    return serve.emitOpError("D38: gradients wait for the round of all trainers, and ")
           << comm.getSymNameAttr() << " has them wait in queues too";
  const auto numberOf = [&](llvm::StringRef name, int64_t otherwise) {
    auto entry = sending.getAs<mlir::IntegerAttr>(name);
    return entry ? entry.getInt() : otherwise;
  };
  const int64_t merged = numberOf("max_merge_var_num", 1);
  if (merged > numberOf("send_queue_size", kDefaultQueueSize))
    return comm.emitOpError("D38: merges ") << merged << " gradients, which its queues never hold";
  const bool receives = sending.contains("independent_recv_thread");
  if (serve.getMode() != ServeMode::Async &&
      (merged > 1 || receives || numberOf("min_send_grad_num_before_recv", 1) > 1))
    return comm.emitOpError(
        "D38: trainers of these servers wait for their own pushes in every step: "
        "nothing is merged, and no pull is left out");
  bool compensates = false;
  serve.walk([&](Operation* op) { compensates |= op->hasAttr(kAsPulledAttr); });
  if (compensates && (merged > 1 || receives))
    return comm.emitOpError(
        "D38: gradients are corrected by what their trainer has pulled last, which is not what "
        "all that are merged, or the program, have seen");
  return mlir::success();
}

LogicalResult ServeOp::verifySymbolUses(SymbolTableCollection& tables) {
  CommOp comm = lookupComm(*this, getCommAttr(), &tables);
  if (comm && comm.getKind() == CommKind::Rpc && comm.getServer() == roleOf(*this))
    return verifySending(*this, comm);
  return emitOpError("D23: serves ")
         << getCommAttr() << ", which is no rpc comm to the role it stands in";
}

LogicalResult PushOp::verify() {
  if ((*this)->hasAttr(kChangedRowsAttr) &&
      (getMerge() != Merge::Each || !llvm::isa<mlir::RankedTensorType>(getInput().getType())))
    return emitOpError("D36: changed rows are those of a dense tensor, with merge each");
  if ((*this)->hasAttr(kAtOnceAttr) && getMerge() != Merge::Each)
    return emitOpError("D38: waits for the round of all trainers, and not in a queue");
  return verifyPending(*this);
}
LogicalResult PushOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyRemote(*this, getVar(), tables);
}
// D36: rows that do not come are those of a variable of this role, of the same type.
LogicalResult PullOp::verifySymbolUses(SymbolTableCollection& tables) {
  if (auto known = (*this)->getAttrOfType<mlir::FlatSymbolRefAttr>(kKnownAttr)) {
    auto var = tables.lookupNearestSymbolFrom<pd::VarOp>(*this, known);
    if (!var) return emitOpError("D5: there is no variable ") << known << " in this role";
    if (var.getType() != getOutput().getType())
      return emitOpError("D36: gives ")
             << getOutput().getType() << ", and " << known << " is " << var.getType();
  }
  return verifyRemote(*this, getVar(), tables);
}
LogicalResult PhaseOp::verifySymbolUses(SymbolTableCollection& tables) {
  return isRpc(*this, tables);
}

LogicalResult MergedOp::verifySymbolUses(SymbolTableCollection& tables) {
  auto handler = (*this)->getParentOfType<HandleOp>();
  const bool pushed =
      handler && handler.getKind() == Handler::Push && handler.getVarAttr() == getVarAttr();
  if (!pushed && (!handler || handler.getKind() != Handler::Round))
    return emitOpError("D18: exists in a round, and in the push handler of its variable");
  if (tables.lookupNearestSymbolFrom<pd::VarOp>(*this, getVarAttr())) return mlir::success();
  return emitOpError("D5: there is no variable ") << getVarAttr() << " in this role";
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

LogicalResult LookupOp::verify() { return verifyPending(*this); }

// D33: a row of the table for every id, which is an integer.
LogicalResult LookupOp::verifySymbolUses(SymbolTableCollection& tables) {
  mlir::FailureOr<pd::VarOp> var = verifyRemote(*this, getVar(), tables);
  if (mlir::failed(var)) return mlir::failure();
  mlir::RankedTensorType ids = pd::tensorOf(unlocated(getIds().getType())),
                         table = pd::tensorOf(var->getType()),
                         rows = pd::tensorOf(completedTypes((*this)->getResultTypes()).front());
  if (!ids || !(ids.getElementType().isInteger(32) || ids.getElementType().isInteger(64)))
    return emitOpError("D33: ids are integers of 32 or 64 bits, not ") << getIds().getType();
  if (!table || table.getRank() < 2 || !rows || rows.getElementType() != table.getElementType())
    return emitOpError("D33: gives ")
           << getOutput().getType() << " of " << getVar() << ", which is " << var->getType();
  llvm::ArrayRef<int64_t> row = table.getShape().drop_front();
  // A last dim of 1 of the ids stays, or is replaced by the row.
  llvm::SmallVector<int64_t> wanted(ids.getShape());
  if (!wanted.empty() && fit(wanted.back(), 1) &&
      rows.getRank() < ids.getRank() + static_cast<int64_t>(row.size()))
    wanted.pop_back();
  wanted.append(row.begin(), row.end());
  if (wanted.size() == rows.getShape().size() &&
      llvm::all_of(llvm::zip(wanted, rows.getShape()),
                   [](auto pair) { return fit(std::get<0>(pair), std::get<1>(pair)); }))
    return mlir::success();
  return emitOpError("D33: gives ") << getOutput().getType() << " for ids of " << getIds().getType()
                                    << " and rows of " << var->getType();
}

bool readsExtentsOnly(mlir::OpOperand& use) {
  Operation* op = use.getOwner();
  if (auto composite = llvm::dyn_cast<CompositeOp>(op))
    return composite.getBody().front().getArgument(use.getOperandNumber()).use_empty();
  if (!pd::OpView::isFrameworkOp(op)) return false;
  const pd::OpView view(op);
  static constexpr llvm::StringLiteral kGradients[] = {"lookup_table_grad", "lookup_table_v2_grad"};
  mlir::Value gradient = view.output("W@GRAD");
  return llvm::is_contained(kGradients, view.type()) && view.input("W") == use.get() && gradient &&
         llvm::isa<pd::RowsType>(unlocated(gradient.getType()));
}

// D34: of the type of the whole variable, and taken where its extents are looked at.
LogicalResult RemoteOp::verifySymbolUses(SymbolTableCollection& tables) {
  auto var = llvm::dyn_cast_or_null<pd::VarOp>(tables.lookupSymbolIn(jobOf(*this), getVar()));
  if (!var || getVar().getNestedReferences().size() != 1)
    return emitOpError("D5: there is no variable ") << getVar();
  mlir::RankedTensorType mine = pd::tensorOf(getOutput().getType()),
                         part = pd::tensorOf(var.getType());
  bool same = mine && part && mine.hasStaticShape() && mine.getRank() == part.getRank() &&
              mine.getElementType() == part.getElementType();
  auto relation = var->getAttrOfType<RelAttr>(kRelAttr);
  for (int64_t dim = 0; same && dim < mine.getRank(); ++dim) {
    int64_t extent = part.getDimSize(dim);
    for (AxisRelAttr axis : relation ? relation.getAxes() : llvm::ArrayRef<AxisRelAttr>())
      if (axis.getState() == StateKind::Split && axis.getDim() == dim)
        extent = axis.getLayout() ? axis.getLayout().getExtent() : mlir::ShapedType::kDynamic;
    same = fit(extent, mine.getDimSize(dim));
  }
  if (!same)
    return emitOpError("D34: is ")
           << getOutput().getType() << ", and the whole of " << getVar() << " is not";
  for (mlir::OpOperand& use : getOutput().getUses())
    if (!readsExtentsOnly(use))
      return use.getOwner()->emitOpError("D34: reads elements of ")
             << getVar() << ", of which none is here; pull it, or look rows up";
  return mlir::success();
}

}  // namespace dtranspile::dist

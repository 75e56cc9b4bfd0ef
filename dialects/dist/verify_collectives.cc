// Constraints of collectives and of moves between two ranks: what each asks of its operands, its
// results, its root and its communicator (labels of docs/dialects/dist.md).
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/verify.h"
#include "dialects/pd/types.h"

namespace dtranspile::dist {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::SymbolTableCollection;

LogicalResult AllReduceOp::verify() {
  return mlir::failed(verifyCollective(*this, getReduce(), getReduce() == Reduce::Sum))
             ? mlir::failure()
             : verifySameTypes(*this);
}
LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables);
}

// Only the root has the result, and its type says so, unless this is the text of the class of the
// root already.
LogicalResult ReduceOp::verify() {
  if (mlir::failed(verifyCollective(*this, getReduce()))) return mlir::failure();
  return verifyPairs(*this, [&](mlir::Type operand, mlir::Type result) -> LogicalResult {
    auto at = llvm::dyn_cast<AtType>(result);
    if (at && at.getType() == operand && at.getWhere() == getRoot()) return mlir::success();
    if (inClassText(*this) && getRoot().contains(ranksOf(*this)) && result == operand)
      return mlir::success();
    return emitOpError("D23: the result is located at the root: ")
           << AtType::get(getContext(), operand, getRoot()) << ", not " << result;
  });
}
LogicalResult ReduceOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables, [&](CommOp comm, MeshOp mesh) {
    return verifyRoot(*this, getRoot(), comm, mesh);
  });
}

LogicalResult BroadcastOp::verify() {
  if (mlir::failed(verifyCollective(*this, std::nullopt))) return mlir::failure();
  return verifyPairs(*this, [&](mlir::Type operand, mlir::Type result) -> LogicalResult {
    if (unlocated(operand) == result) return mlir::success();
    return emitOpError("D24: operand of type ")
           << operand << " arrives as " << unlocated(operand) << ", not " << result;
  });
}
// The root has to hold what it sends: the place of the operand must contain the ranks that are both
// under the op's guard and the root.
LogicalResult BroadcastOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables, [&](CommOp comm, MeshOp mesh) -> LogicalResult {
    if (mlir::failed(verifyRoot(*this, getRoot(), comm, mesh))) return mlir::failure();
    SelAttr sender = guardOf(*this, &tables).where.intersect(getRoot());
    if (!sender && inClassText(*this)) return mlir::success();  // the root is of another class
    for (mlir::Type type : getInputs().getTypes())
      if (auto at = llvm::dyn_cast<AtType>(type);
          at && (!sender || !at.getWhere().contains(sender)))
        return emitOpError("D23: the root does not hold ") << type;
    return mlir::success();
  });
}

LogicalResult AllGatherOp::verify() { return verifyCollective(*this, std::nullopt, getRagged()); }
LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables, [&](CommOp comm, MeshOp mesh) {
    if (getRagged()) return verifySameTypes(*this);
    return verifyPairs(*this, [&](mlir::Type part, mlir::Type whole) {
      return verifyPart(*this, whole, part, getDim(), comm.groupSize(mesh));
    });
  });
}

LogicalResult ReduceScatterOp::verify() { return verifyCollective(*this, getReduce()); }
LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables, [&](CommOp comm, MeshOp mesh) {
    return verifyPairs(*this, [&](mlir::Type whole, mlir::Type part) {
      return verifyPart(*this, whole, part, getDim(), comm.groupSize(mesh));
    });
  });
}

LogicalResult AllToAllOp::verify() { return verifyCollective(*this, std::nullopt); }
// Dim `split` is divided by the members, dim `concat` multiplied; unknown extents stay unknown.
LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables, [&](CommOp comm, MeshOp mesh) {
    int64_t size = comm.groupSize(mesh);
    return verifyPairs(*this, [&](mlir::Type before, mlir::Type after) -> LogicalResult {
      mlir::RankedTensorType from = pd::tensorOf(before), to = pd::tensorOf(after);
      int64_t split = getSplit(), concat = getConcat();
      if (!from || !to || from.getElementType() != to.getElementType() ||
          from.getRank() != to.getRank() || split == concat || std::min(split, concat) < 0 ||
          std::max(split, concat) >= from.getRank())
        return emitOpError("D25: cannot cut ")
               << before << " along dim " << split << " into " << after << " along dim " << concat;
      llvm::SmallVector<int64_t> expected(from.getShape());
      if (!from.isDynamicDim(split)) {
        if (expected[split] % size)
          return emitOpError("D25: ")
                 << size << " members do not divide dim " << split << " of " << before;
        expected[split] /= size;
      }
      int64_t joined = 0;
      if (!from.isDynamicDim(concat) && llvm::MulOverflow(expected[concat], size, joined))
        return emitOpError("D25: dim ")
               << concat << " of " << before << " times " << size << " members is too large";
      if (!from.isDynamicDim(concat)) expected[concat] = joined;
      if (to.getShape() == llvm::ArrayRef<int64_t>(expected)) return mlir::success();
      return emitOpError("D25: ") << before << " becomes "
                                  << mlir::RankedTensorType::get(expected, from.getElementType())
                                  << ", not " << after;
    });
  });
}

LogicalResult BarrierOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables);
}

LogicalResult TransferOp::verify() {
  if (mlir::failed(verifyCollective(*this, std::nullopt, true))) return mlir::failure();
  auto from = llvm::dyn_cast<AtType>(getInput().getType());
  auto to = llvm::dyn_cast<AtType>(getOutput().getType());
  if (!from || !to || from.getType() != to.getType())
    return emitOpError("D23: moves one located type to the same type elsewhere");
  return mlir::success();
}
// From one coordinate of the communicator's axis to another; along all other axes every pair moves
// at once, so the locations must agree there.
LogicalResult TransferOp::verifySymbolUses(SymbolTableCollection& tables) {
  mlir::FailureOr<CommOp> comm = verifyComm(*this, CommKind::Pairs, tables);
  if (mlir::failed(comm)) return mlir::failure();
  SelAttr from = llvm::cast<AtType>(getInput().getType()).getWhere(),
          to = llvm::cast<AtType>(getOutput().getType()).getWhere();
  auto axis = llvm::cast<mlir::StringAttr>(comm->getAxes()[0]);
  AxisSetAttr source = from.lookup(axis), target = to.lookup(axis);
  if (!source || !target || !source.isPoint() || !target.isPoint() || source == target)
    return emitOpError("D23: moves from one coordinate of axis '")
           << axis.getValue() << "' to another one";
  auto others = [&](SelAttr where) {
    return llvm::to_vector(llvm::make_filter_range(
        where.getSets(), [&](AxisSetAttr set) { return set.getAxis() != axis; }));
  };
  if (others(from) != others(to))
    return emitOpError("D23: the location changes along another axis than '")
           << axis.getValue() << "'";
  return verifySelector(*this, to, meshOfComm(*comm, &tables), "D23");
}

namespace {

// D27: sends and receives belong to the text of a class; `other`: the coordinate at the other end.
LogicalResult verifyEnd(Operation* op, int64_t other, SymbolTableCollection& tables) {
  mlir::FailureOr<CommOp> comm = verifyComm(op, CommKind::Pairs, tables);
  if (mlir::failed(comm)) return mlir::failure();
  if (!inClassText(op))
    return op->emitOpError(
        "D27: stands in the text of a class only; a job moves located values "
        "with dist.transfer");
  auto axis = llvm::cast<mlir::StringAttr>(comm->getAxes()[0]);
  MeshOp mesh = meshOfComm(*comm, &tables);
  if (other >= 0 && mesh && other < mesh.sizeOf(axis.getValue()).value_or(0))
    return mlir::success();
  return op->emitOpError("D23: axis '") << axis.getValue() << "' has no coordinate " << other;
}

}  // namespace

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyEnd(*this, getTo(), tables);
}
LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyEnd(*this, getFrom(), tables);
}

LogicalResult WaitOp::verify() {
  auto pending = llvm::cast<PendingType>(getPending().getType());
  if (llvm::equal(pending.getTypes(), getResultTypes())) return mlir::success();
  return emitOpError("D22: yields what was started: ") << pending;
}

}  // namespace dtranspile::dist

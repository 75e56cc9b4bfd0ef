// What all communication ops share: who may stand where, what started operations promise, and how
// operands and results belong together.
//
// The central question is D8: does every member of a group come to this op, and nobody else? A
// guard says which ranks come here (lookup.h, guardOf): per axis a set of coordinates. The members
// are the communicator's subset on its own axes. The two have to agree axis by axis on the axes
// that the communicator joins; what is guarded along other axes only says how many groups there
// are. In the text of one class of ranks the other members may stand in other texts, so that there
// the class's own ranks being members is all that can be asked for.
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/verify.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile::dist {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::SymbolTableCollection;

namespace {

// D8, D10, D19, D20: may an op that communicates on `comm` stand here?
LogicalResult verifyPlace(Operation* op, CommOp comm, SymbolTableCollection& tables) {
  if (auto loop = op->getParentOfType<ForeachBlockOp>()) {
    auto error = op->emitOpError(
        "D10: communicates once per owned block; the number of owned blocks differs between ranks");
    return error.attachNote(loop.getLoc()) << "the loop over blocks", error;
  }
  if (comm.getKind() != CommKind::Group) return mlir::success();
  auto handler = op->getParentOfType<HandleOp>();
  if (handler && handler.getKind() != Handler::Round)
    return op->emitOpError(
        "D19: a handler of single requests takes no part in group communication");
  if (auto role = op->getParentOfType<RoleOp>(); role && role.getMeshAttr() != comm.getMeshAttr())
    return op->emitOpError(handler ? "D20: " : "D8: ")
           << "comm @" << comm.getSymName() << " is over another mesh than role @"
           << role.getSymName();
  Guard guard = guardOf(op, &tables);
  const bool text = inClassText(op);
  for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>()) {
    AxisSetAttr members = comm.getSubset() ? comm.getSubset()->lookup(axis) : AxisSetAttr();
    AxisSetAttr here = guard.where.lookup(axis);
    bool vague = llvm::any_of(guard.partly, [&](mlir::StringAttr name) { return name == axis; });
    // The other members may be of other classes, whose texts rung 3 compares.
    bool ofClass =
        text && here == ranksOf(op).lookup(axis) && (!members || (here && members.contains(here)));
    if (!vague && (ofClass || (!text && here == members))) continue;
    auto error = op->emitOpError("D8: not every member of a group of @")
                 << comm.getSymName() << " comes here, or others do: axis '" << axis
                 << "' is guarded";
    return error.attachNote(comm.getLoc()) << "the comm; its members must be the guarded ranks",
           error;
  }
  return mlir::success();
}

}  // namespace

mlir::FailureOr<CommOp> verifyComm(Operation* op, CommKind kind, SymbolTableCollection& tables) {
  CommOp comm = lookupComm(op, commOf(op), &tables);
  if (!comm) return op->emitOpError("D23: there is no dist.comm ") << commOf(op);
  if (comm.getKind() != kind)
    return op->emitOpError("D23: needs a comm of kind ")
           << stringifyCommKind(kind) << ", and " << commOf(op) << " is of kind "
           << stringifyCommKind(comm.getKind());
  if (mlir::failed(verifyPlace(op, comm, tables))) return mlir::failure();
  return comm;
}

// D21, D22: what has been started is awaited exactly once, in its own block, so that a run-time
// system needs no more than a ticket per start.
LogicalResult verifyPending(Operation* op) {
  for (mlir::Value operand : op->getOperands())
    if (llvm::isa<PendingType>(operand.getType()))
      return op->emitOpError("D21: an operand has not arrived; wait for it first");
  for (mlir::OpResult result : op->getResults()) {
    if (!llvm::isa<PendingType>(result.getType())) continue;
    if (op->getNumResults() != 1) return op->emitOpError("D22: a started operation has one result");
    if (!result.hasOneUse())
      return op->emitOpError("D22: a pending result has exactly one use, a dist.wait");
    Operation* user = *result.user_begin();
    if (!llvm::isa<WaitOp>(user) || user->getBlock() != op->getBlock())
      return (op->emitOpError("D22: ")
              << "a pending result is waited for by a dist.wait in its own block")
                 .attachNote(user->getLoc())
             << "its use";
  }
  return mlir::success();
}

namespace {

bool isDense(mlir::Type type) { return llvm::isa<mlir::RankedTensorType, pd::LodType>(type); }

// D24: one element type that the reduction can combine, tensors only (SelectedRows where `rows`
// says so).
LogicalResult verifyElements(Operation* op, std::optional<Reduce> reduce, bool rows) {
  mlir::Type element;
  for (mlir::Value operand : op->getOperands()) {
    mlir::Type type = unlocated(operand.getType());
    mlir::RankedTensorType tensor = pd::tensorOf(type);
    if (!tensor || (!isDense(type) && !(rows && llvm::isa<pd::RowsType>(type))))
      return op->emitOpError("D24: cannot communicate a value of type ") << type;
    mlir::Type its = tensor.getElementType();
    if (element && its != element)
      return op->emitOpError("D24: operands of one op have one element type, not ")
             << element << " and " << its;
    element = its;
  }
  if (!element) return op->emitOpError("D24: has no operand");
  if (!reduce) return mlir::success();
  bool boolean = element.isInteger(1), complex = llvm::isa<mlir::ComplexType>(element);
  bool ordered = *reduce == Reduce::Max || *reduce == Reduce::Min;
  if (boolean != (*reduce == Reduce::Or) || (complex && ordered))
    return op->emitOpError("D24: cannot form '") << stringifyReduce(*reduce) << "' of " << element;
  return mlir::success();
}

}  // namespace

LogicalResult verifyPairs(Operation* op,
                          llvm::function_ref<LogicalResult(mlir::Type, mlir::Type)> relate) {
  llvm::SmallVector<mlir::Type> results = completedTypes(op->getResultTypes());
  if (results.size() != op->getNumOperands())
    return op->emitOpError("D24: ")
           << op->getNumOperands() << " operands give " << results.size() << " results";
  for (auto [operand, result] : llvm::zip(op->getOperandTypes(), results))
    if (mlir::failed(relate(operand, result))) return mlir::failure();
  return mlir::success();
}

LogicalResult verifyCollective(Operation* op, std::optional<Reduce> reduce, bool rows) {
  if (mlir::failed(verifyPending(op))) return mlir::failure();
  return verifyElements(op, reduce, rows);
}

LogicalResult verifySameTypes(Operation* op) {
  return verifyPairs(op, [&](mlir::Type operand, mlir::Type result) -> LogicalResult {
    if (operand == result) return mlir::success();
    return op->emitOpError("D24: operand of type ")
           << operand << " gives a result of that type, not " << result;
  });
}

// D23: the root is one member of every group of the communicator.
LogicalResult verifyRoot(Operation* op, SelAttr root, CommOp comm, MeshOp mesh) {
  if (root.getSets().size() != comm.getAxes().size())
    return op->emitOpError("D23: the root names one coordinate of each axis of the comm");
  for (AxisSetAttr set : root.getSets()) {
    AxisSetAttr members =
        comm.getSubset() ? comm.getSubset()->lookup(set.getAxis()) : AxisSetAttr();
    if (!set.isPoint() || !comm.overAxis(set.getAxis()) ||
        set.getBounds()[0] >= mesh.sizeOf(set.getAxis()).value_or(0) ||
        (members && !members.contains(set)))
      return op->emitOpError("D23: the root is no member of the comm: axis '")
             << set.getAxis().getValue() << "'";
  }
  return mlir::success();
}

// D25: an even part has ⌈extent / size⌉ elements along the dim (the last ones are filled up), and a
// flat part is a vector.
LogicalResult verifyPart(Operation* op, mlir::Type whole, mlir::Type part, int64_t dim,
                         int64_t size) {
  mlir::RankedTensorType all = pd::tensorOf(whole), own = pd::tensorOf(part);
  if (!all || !own)
    return op->emitOpError("D25: cannot cut or join a value of type ") << (all ? part : whole);
  if (dim < kFlat || dim >= all.getRank())
    return op->emitOpError("D25: there is no dim ") << dim << " in " << whole;
  auto share = [&](int64_t extent) {
    return mlir::ShapedType::isDynamic(extent) ? extent : extent / size + (extent % size != 0);
  };
  llvm::SmallVector<int64_t> expected(all.getShape());
  if (dim == kFlat)
    expected = {share(all.hasStaticShape() ? all.getNumElements() : mlir::ShapedType::kDynamic)};
  else expected[dim] = share(expected[dim]);
  if (all.getElementType() == own.getElementType() &&
      own.getShape() == llvm::ArrayRef<int64_t>(expected))
    return mlir::success();
  return op->emitOpError("D25: the part of ")
         << whole << " on an axis of " << size << " has type "
         << mlir::RankedTensorType::get(expected, all.getElementType()) << ", not " << part;
}

LogicalResult verifyAgainstComm(Operation* op, SymbolTableCollection& tables,
                                llvm::function_ref<LogicalResult(CommOp, MeshOp)> more) {
  mlir::FailureOr<CommOp> comm = verifyComm(op, CommKind::Group, tables);
  if (mlir::failed(comm)) return mlir::failure();
  MeshOp mesh = meshOfComm(*comm, &tables);
  if (mesh) return more ? more(*comm, mesh) : mlir::success();
  return op->emitOpError("D3: there is no dist.mesh ")
         << comm->getMeshAttr() << ", which comm " << commOf(op) << " is on";
}

}  // namespace dtranspile::dist

// Constraints of structure, communication and local ops: the labels D1 … of docs/dialects/dist.md.
// Region ops: verify_regions.cc, requests to servers: verify_servers.cc. What needs the whole
// program or all ranks (D15, D26, D28 … D30) belongs to compiler/verify.
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/verify.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::dist {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::SymbolTableCollection;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

namespace {

bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

LogicalResult verifyAxes(Operation* op, mlir::ArrayAttr axes, llvm::ArrayRef<int64_t> sizes,
                         llvm::StringSet<>& seen) {
  if (axes.size() != sizes.size())
    return op->emitOpError("D1: ") << axes.size() << " axes have " << sizes.size() << " sizes";
  for (auto [axis, size] : llvm::zip(axes.getAsValueRange<mlir::StringAttr>(), sizes)) {
    if (!isIdentifier(axis) || axis == "scale" || axis == "tags")
      return op->emitOpError("D1: '") << axis << "' is no name for an axis";
    if (!seen.insert(axis).second)
      return op->emitOpError("D1: axis '") << axis << "' is named twice";
    if (size < 1)
      return op->emitOpError("D1: axis '") << axis << "' has size " << size << "; the least is 1";
  }
  return mlir::success();
}

}  // namespace

LogicalResult MeshOp::verify() {
  llvm::StringSet<> seen;
  if (mlir::failed(verifyAxes(*this, getAxes(), getSizes(), seen)) ||
      mlir::failed(verifyAxes(*this, getTimeAxes(), getTimeSizes(), seen)))
    return mlir::failure();
  int64_t product = 1;
  for (int64_t size : getSizes())
    if (size > INT32_MAX || (product *= size) > INT32_MAX)
      return emitOpError("D2: the mesh has more than ") << INT32_MAX << " ranks";
  return mlir::success();
}

LogicalResult CommOp::verifySymbolUses(SymbolTableCollection& tables) {
  MeshOp mesh = meshOfComm(*this, &tables);
  if (!mesh) return emitOpError("D3: there is no dist.mesh ") << getMeshAttr();
  if (mesh->getBlock() != (*this)->getBlock() || !mesh->isBeforeInBlock(*this))
    return emitOpError("D3: ")
               .append("its mesh stands after it; order of comms is order of creation")
               .attachNote(mesh.getLoc())
           << "the mesh";
  if (getAxes().empty()) return emitOpError("D4: names no axis");
  std::optional<unsigned> last;
  for (llvm::StringRef axis : getAxes().getAsValueRange<mlir::StringAttr>()) {
    std::optional<unsigned> index = mesh.indexOf(axis);
    if (!index) return emitOpError("D4: '") << axis << "' is no rank axis of " << getMeshAttr();
    if (last && *index <= *last)
      return emitOpError("D4: axis '") << axis << "' is out of the mesh's order or named twice";
    last = index;
  }
  if (getKind() == CommKind::Pairs && getAxes().size() != 1)
    return emitOpError("D4: pairs lie along one axis, not ") << getAxes().size();
  if ((getKind() == CommKind::Rpc) != getServer().has_value())
    return emitOpError("D4: a server is named by rpc, and only by rpc");
  if (getServer() && roleOf(*this) != *getServer() &&
      !tables.lookupSymbolIn<RoleOp>((*this)->getParentOp(), getServerAttr()))
    return emitOpError("D4: there is no dist.role ") << getServerAttr();
  if (!getSubset()) return mlir::success();
  for (AxisSetAttr set : getSubset()->getSets())
    if (!overAxis(set.getAxis()))
      return emitOpError("D4: the subset names '")
             << set.getAxis().getValue() << "', no axis of the comm";
  return verifySelector(*this, *getSubset(), mesh, "D4");
}

namespace {

// D31: parts of a feed lie on the ranks in the order of the mesh, and the launcher hands them out
// so; an extent that is known is cut into equal parts.
LogicalResult verifyBatch(Operation* feed, BatchAttr batch, MeshOp mesh) {
  llvm::SmallVector<mlir::Attribute> axes(mesh.getAxes().begin(), mesh.getAxes().end());
  axes.append(mesh.getTimeAxes().begin(), mesh.getTimeAxes().end());
  auto next = axes.begin();
  int64_t parts = 1;
  for (mlir::StringAttr axis : batch.getAxes()) {
    auto at = llvm::find(axes, axis);
    if (at == axes.end())
      return feed->emitOpError("D31: '")
             << axis.getValue() << "' is no axis of @" << mesh.getSymName();
    if (at < next)
      return feed->emitOpError("D31: axis '")
             << axis.getValue() << "' is out of the mesh's order; list the axes as @"
             << mesh.getSymName() << " does";
    next = at + 1;
    // Micro-batches are cut from what a rank has: `verify` compares them with the reference's
    // extents.
    if (mesh.indexOf(axis)) parts *= mesh.sizeOf(axis).value_or(1);
  }
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(unlocated(feed->getResult(0).getType()));
  if (!type) return mlir::success();
  const int64_t dim = batch.getDim();
  if (dim >= type.getRank())
    return feed->emitOpError("D31: dim ") << dim << " is cut, the feed has " << type.getRank();
  if (!type.isDynamicDim(dim) && type.getDimSize(dim) % parts != 0)
    return feed->emitOpError("D31: dim ")
           << dim << " of extent " << type.getDimSize(dim) << " is cut into " << parts
           << " equal parts; cut a dim whose extent that divides";
  return mlir::success();
}

// D32: axes that draws differ along are those of the mesh.
LogicalResult verifyStreams(Operation* draw, mlir::ArrayAttr streams, MeshOp mesh) {
  for (auto axis : streams.getAsRange<mlir::StringAttr>())
    if (!mesh.sizeOf(axis))
      return draw->emitOpError("D32: dist.streams names '")
             << axis.getValue() << "', which is no axis of @" << mesh.getSymName();
  return mlir::success();
}

}  // namespace

LogicalResult RoleOp::verifySymbolUses(SymbolTableCollection& tables) {
  MeshOp mesh = meshOf(*this, &tables);
  if (!mesh) return emitOpError("D5: there is no dist.mesh ") << getMeshAttr();
  for (Operation& op : *getBody().begin())
    if (!llvm::isa<pd::VarOp, pd::ProgramOp>(op))
      return op.emitOpError("D5: a role holds pd.var and pd.program only");
  mlir::WalkResult axes = walk([&](Operation* op) {
    auto batch = op->getAttrOfType<BatchAttr>(kBatchAttr);
    auto streams = op->getAttrOfType<mlir::ArrayAttr>(kStreamsAttr);
    const bool wrong = (batch && mlir::failed(verifyBatch(op, batch, mesh))) ||
                       (streams && mlir::failed(verifyStreams(op, streams, mesh)));
    return wrong ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return axes.wasInterrupted() ? mlir::failure() : verifyLocatedVariables(*this, tables);
}

//===----------------------------------------------------------------------===//
// Communication: what all ops share
//===----------------------------------------------------------------------===//

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

// Same number of operands and (completed) results, and `relate` holds for each pair.
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

LogicalResult verifyCollective(Operation* op, std::optional<Reduce> reduce, bool rows = false) {
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

// D23: `root` names one coordinate of each axis of the comm, nothing else, and a member.
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

// D25: along `dim`, `part` has ⌈n/size⌉ of the n of `whole`; kFlat: `part` is one-dimensional.
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

LogicalResult verifyAgainstComm(
    Operation* op, SymbolTableCollection& tables,
    llvm::function_ref<LogicalResult(CommOp, MeshOp)> more = [](CommOp, MeshOp) {
      return mlir::success();
    }) {
  mlir::FailureOr<CommOp> comm = verifyComm(op, CommKind::Group, tables);
  if (mlir::failed(comm)) return mlir::failure();
  MeshOp mesh = meshOfComm(*comm, &tables);
  if (mesh) return more(*comm, mesh);
  return op->emitOpError("D3: there is no dist.mesh ")
         << comm->getMeshAttr() << ", which comm " << commOf(op) << " is on";
}

}  // namespace

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::verify() {
  return mlir::failed(verifyCollective(*this, getReduce(), getReduce() == Reduce::Sum))
             ? mlir::failure()
             : verifySameTypes(*this);
}
LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection& tables) {
  return verifyAgainstComm(*this, tables);
}

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

//===----------------------------------------------------------------------===//
// Local ops
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::verifySymbolUses(SymbolTableCollection& tables) {
  MeshOp mesh = meshOf(*this, &tables);
  int64_t size = 1;
  std::optional<unsigned> last;
  for (llvm::StringRef axis : getAxes().getAsValueRange<mlir::StringAttr>()) {
    std::optional<unsigned> index = mesh ? mesh.indexOf(axis) : std::nullopt;
    if (!index) return emitOpError("D9: '") << axis << "' is no rank axis here";
    if (last && *index <= *last)
      return emitOpError("D9: axis '") << axis << "' is out of the mesh's order or named twice";
    last = index;
    size *= mesh.getSizes()[*index];
  }
  mlir::RankedTensorType whole = pd::tensorOf(getInput().getType());
  if (!whole || static_cast<int64_t>(getDim()) < kFlat ||
      static_cast<int64_t>(getDim()) >= whole.getRank())
    return emitOpError("D25: cannot cut ")
           << getInput().getType() << " along dim " << static_cast<int64_t>(getDim());
  int64_t dim = getDim();
  int64_t extent = dim != kFlat             ? whole.getDimSize(dim)
                   : whole.hasStaticShape() ? whole.getNumElements()
                                            : mlir::ShapedType::kDynamic;
  if (mlir::ShapedType::isDynamic(extent) || extent != getLayout().getExtent())
    return emitOpError("D25: the layout is of an extent of ")
           << getLayout().getExtent() << ", the operand is " << getInput().getType();
  if (getLayout().getKind() == LayoutKind::Even)
    return verifyPart(*this, getInput().getType(), getOutput().getType(), dim, size);
  mlir::RankedTensorType part = pd::tensorOf(getOutput().getType());
  if (part && part.getElementType() == whole.getElementType()) return mlir::success();
  return emitOpError("D25: part and whole have different element types");
}

LogicalResult CoordOp::verify() {
  auto type = mlir::RankedTensorType::get({1}, mlir::IntegerType::get(getContext(), 64));
  return getOutput().getType() == type ? mlir::success()
                                       : LogicalResult(emitOpError("D9: a coordinate is ") << type);
}
LogicalResult CoordOp::verifySymbolUses(SymbolTableCollection& tables) {
  MeshOp mesh = meshOf(*this, &tables);
  if (mesh && mesh.indexOf(getAxis())) return mlir::success();
  return emitOpError("D9: '") << getAxis() << "' is no rank axis here";
}

LogicalResult CopyOp::verify() {
  return mlir::failed(verifyPending(*this)) ? mlir::failure() : verifySameTypes(*this);
}

}  // namespace dtranspile::dist

// Constraints of structure: meshes, communicators, roles, and what discardable attributes say of
// axes (labels of docs/dialects/dist.md). Communication: verify_communication.cc and
// verify_collectives.cc, local ops: verify_local.cc, region ops: verify_regions.cc, requests to
// servers: verify_servers.cc. What needs the whole program or all ranks (D15, D26, D28 … D30)
// belongs to compiler/verify.
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

namespace {

bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

// D1. `scale` and `tags` are words of the text of relations.
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

// D3, D4: a communicator stands behind its mesh, since all ranks create communicators in the order
// of the text.
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
  // Servers wait for all ranks of the mesh, and divide what they push by their number.
  if (getKind() == CommKind::Rpc && getSubset())
    return emitOpError("D4: all coordinates ask the servers; rpc has no subset");
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

// D39: a relation speaks of axes of the mesh and of dims that are there; those who hold a value are
// coordinates of its axis. What is flat does not tell its dims, which others may have cut before.
LogicalResult verifyRelation(Operation* op, RelAttr relation, mlir::Type type, MeshOp mesh) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(unlocated(type));
  const bool flat = llvm::any_of(relation.getAxes(), [](AxisRelAttr one) {
    return one.getState() == StateKind::Split && one.getDim() == kFlat;
  });
  for (AxisRelAttr one : relation.getAxes()) {
    const llvm::StringRef axis = one.getAxis().getValue();
    const std::optional<int64_t> size = mesh.sizeOf(axis);
    if (!size)
      return op->emitOpError("D39: dist.rel names '")
             << axis << "', which is no axis of @" << mesh.getSymName();
    if (one.getState() == StateKind::Split && tensor && !flat && one.getDim() >= tensor.getRank())
      return op->emitOpError("D39: dist.rel cuts dim ")
             << one.getDim() << " over '" << axis << "'; there are " << tensor.getRank();
    if (AxisSetAttr holders = one.getHolders(); holders && holders.getBounds().back() > *size)
      return op->emitOpError("D39: dist.rel names holders beyond the ")
             << *size << " coordinates of '" << axis << "'";
  }
  return mlir::success();
}

// `dist.rel` is one relation on a variable or an op, or a list with one per result.
LogicalResult verifyRelations(Operation* op, MeshOp mesh) {
  mlir::Attribute relation = op->getAttr(kRelAttr);
  if (auto var = llvm::dyn_cast<pd::VarOp>(op)) {
    auto one = llvm::dyn_cast_or_null<RelAttr>(relation);
    if (one && one.getNumber() != 0)
      return op->emitOpError("D39: dist.rel of a variable names value number ")
             << one.getNumber() << "; a variable holds all of its values";
    return one ? verifyRelation(op, one, var.getType(), mesh) : mlir::success();
  }
  auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(relation);
  for (mlir::OpResult result : op->getResults()) {
    mlir::Attribute own = list ? list[result.getResultNumber()] : relation;
    auto one = llvm::dyn_cast_or_null<RelAttr>(own);
    if (one && mlir::failed(verifyRelation(op, one, result.getType(), mesh)))
      return mlir::failure();
  }
  return mlir::success();
}

}  // namespace

// D5, and what discardable attributes inside of the role say of its axes.
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
                       (streams && mlir::failed(verifyStreams(op, streams, mesh))) ||
                       mlir::failed(verifyRelations(op, mesh));
    return wrong ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return axes.wasInterrupted() ? mlir::failure() : verifyLocatedVariables(*this, tables);
}

}  // namespace dtranspile::dist

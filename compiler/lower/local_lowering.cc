// Ops of dialect dist that no other rank takes part in: coordinates, parts, copies between
// memories.
#include "compiler/lower/dist_lowering.h"
#include "compiler/lower/pieces.h"
#include "compiler/lower/server_lowering.h"
#include "dialects/dist/lookup.h"
#include "runtime/exec/layout.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

namespace {

std::vector<std::string> namesOf(mlir::ArrayAttr axes) {
  std::vector<std::string> names;
  for (auto axis : axes.getAsValueRange<mlir::StringAttr>()) names.push_back(axis.str());
  return names;
}

void addSlice(Lowering& lowering, int from, int to, exec::Layout layout) {
  lowering.add({.op = lowering.position(),
                .args = {from, to},
                .writes = {false, true},
                .reads = {true, false},
                .what = SliceNode{std::move(layout)}});
}

exec::Layout layoutOf(Lowering& lowering, dist::SliceOp slice) {
  const pd::TensorInfo& whole = lowering.info(slice.getInput());
  return lower::layoutOf(slice.getLayout(), static_cast<int64_t>(slice.getDim()),
                         namesOf(slice.getAxes()), whole.dims);
}

LogicalResult refuseValue(mlir::Operation* op, mlir::Value value) {
  return op->emitError() << op->getName() << ": " << dist::nameOf(value)
                         << " is SelectedRows, a list, or has extents that depend on data: not "
                            "supported natively";
}

}  // namespace

LogicalResult lowerCoord(Lowering& lowering, mlir::Operation* op) {
  auto coord = llvm::cast<dist::CoordOp>(op);
  pd::TensorInfo info = pd::declaredInfo(coord.getOutput().getType());
  const int to = lowering.newBuffer(("coord." + coord.getAxis()).str(), info);
  lowering.add({.op = lowering.position(),
                .args = {to},
                .writes = {true},
                .reads = {false},
                .what = CoordNode{coord.getAxis().str()}});
  return lowering.bind(coord.getOutput(), to, std::move(info)), success();
}

bool isUneven(dist::SliceOp slice) { return slice.getLayout().getKind() != dist::LayoutKind::Even; }

// A part of a layout of unequal parts has extents that depend on the rank: it goes straight into
// the variable that is set to it, and is nothing by itself.
LogicalResult lowerSlice(Lowering& lowering, mlir::Operation* op) {
  auto slice = llvm::cast<dist::SliceOp>(op);
  pd::TensorInfo info = lowering.info(slice.getInput());
  if (isRunTimeValue(info)) return refuseValue(op, slice.getInput());
  if (isUneven(slice)) {
    for (mlir::Operation* user : slice.getOutput().getUsers())
      if (!llvm::isa<pd::SetOp>(user))
        return op->emitError() << "dist.slice: a part by " << slice.getLayout()
                               << " differs in extent from rank to rank; it can only be set to a "
                                  "variable of that layout";
    return success();
  }
  exec::Layout layout = layoutOf(lowering, slice);
  const exec::Parts parts(layout, coordinatesOf(dist::meshOf(op), layout.axes));
  const std::vector<int64_t> dims = parts.room_dims();
  info.dims.assign(dims.begin(), dims.end());
  const int to = lowering.newBuffer(dist::nameOf(slice.getOutput()), info);
  addSlice(lowering, lowering.bufferOf(slice.getInput()), to, std::move(layout));
  return lowering.bind(slice.getOutput(), to, std::move(info)), success();
}

bool isCutLike(Lowering& lowering, dist::SliceOp slice, const Persistable& variable) {
  const exec::Layout layout = layoutOf(lowering, slice);
  return variable.layout && variable.layout->kind == layout.kind &&
         variable.layout->axes == layout.axes && variable.layout->dim == layout.dim &&
         variable.layout->extent == layout.extent && variable.layout->per == layout.per &&
         variable.layout->first == layout.first;
}

// What is made in pieces has been put there already.
LogicalResult setToPart(Lowering& lowering, dist::SliceOp slice, const Persistable& variable) {
  mlir::Operation* maker = slice.getInput().getDefiningOp();
  if (maker && isMadeInPieces(lowering, maker)) return success();
  exec::Layout layout = layoutOf(lowering, slice);
  if (!isCutLike(lowering, slice, variable))
    return slice.emitError() << "dist.slice: persistable " << variable.name
                             << " is not cut like the part that it is set to, "
                             << slice.getLayout();
  layout.name = variable.layout->name;
  addSlice(lowering, lowering.bufferOf(slice.getInput()), variable.buffer, std::move(layout));
  return success();
}

// All memory is the host's here: a copy to either is one.
LogicalResult lowerCopy(Lowering& lowering, mlir::Operation* op) {
  auto copy = llvm::cast<dist::CopyOp>(op);
  const pd::TensorInfo info = lowering.info(copy.getInput());
  if (info.kind == pd::Kind::TensorArray) return refuseValue(op, copy.getInput());
  const int to = lowering.newBuffer(dist::nameOf(copy.getInput()), info);
  lowering.copy(lowering.bufferOf(copy.getInput()), to);
  if (!llvm::isa<dist::PendingType>(copy.getOutput().getType()))
    return lowering.bind(copy.getOutput(), to, info), success();
  lowering.started()[op] = {.tickets = {}, .buffers = {to}, .infos = {info}, .finish = {}};
  return success();
}

}  // namespace dtranspile::lower

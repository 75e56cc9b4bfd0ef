#include "compiler/export/collective/point_to_point.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

mlir::NamedAttribute number(mlir::Builder& builder, llvm::StringRef name, int64_t value) {
  return builder.getNamedAttr(name, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

bool isDynamic(mlir::Value value) {
  mlir::RankedTensorType tensor = pd::tensorOf(value.getType());
  return !tensor || !tensor.hasStaticShape();
}

const Ring* ringNamed(llvm::ArrayRef<Ring> rings, mlir::FlatSymbolRefAttr comm) {
  for (const Ring& ring : rings)
    if (dist::CommOp(ring.comm).getSymName() == comm.getValue()) return &ring;
  return nullptr;
}

}  // namespace

mlir::LogicalResult PointToPoint::check(mlir::Operation* op) const {
  auto send = llvm::dyn_cast<dist::SendOp>(op);
  mlir::Type type = send ? send.getInput().getType() : op->getResult(0).getType();
  if (!llvm::isa<mlir::RankedTensorType>(type))
    return op->emitError("export: the framework's send_v2 and recv_v2 take dense tensors, not ")
           << type;
  return mlir::success();
}

int PointToPoint::ringOf(mlir::Operation* op) const {
  const Ring* ring = ringNamed(rings_, dist::commOf(op));
  return ring ? ring->id : -1;
}

int64_t PointToPoint::peer(mlir::Operation* op, int64_t coordinate) const {
  dist::MeshOp mesh = mesh_;
  dist::CommOp comm = ringNamed(rings_, dist::commOf(op))->comm;
  const unsigned axis = *mesh.indexOf(llvm::cast<mlir::StringAttr>(comm.getAxes()[0]).getValue());
  std::vector<int64_t> members = groupOf(comm, mesh, rank_);
  const auto found = llvm::find_if(
      members, [&](int64_t member) { return mesh.coordinatesOf(member)[axis] == coordinate; });
  return found - members.begin();
}

// send_v2, after the computation that makes its value where it runs on a stream of its own
// (`aside`).
mlir::Value PointToPoint::send(mlir::OpBuilder& builder, pd::Declarations& declarations,
                               dist::SendOp op, int role, bool aside) const {
  mlir::Value value = op.getInput();
  if (aside)
    value = declarations
                .create(builder, op.getLoc(), "c_sync_calc_stream", {{"X", {value}}},
                        {{"Out", {{dist::nameOf(value).str(), value.getType()}}}}, {}, role)
                .output("Out");
  declarations.create(
      builder, op.getLoc(), "send_v2", {{"X", {value}}}, {},
      {number(builder, "ring_id", ringOf(op)),
       number(builder, "peer", peer(op, static_cast<int64_t>(op.getTo()))),
       builder.getNamedAttr("use_calc_stream", builder.getBoolAttr(!aside)),
       builder.getNamedAttr("dynamic_shape", builder.getBoolAttr(isDynamic(value)))},
      role);
  return value;
}

// recv_v2 wants shape and type as attributes; with dynamic extents the sender sends them
// (dynamic_shape).
mlir::Value PointToPoint::receive(mlir::OpBuilder& builder, pd::Declarations& declarations,
                                  dist::RecvOp op, int role) const {
  mlir::Value value = op.getOutput();
  llvm::SmallVector<int32_t> shape;
  mlir::RankedTensorType tensor = pd::tensorOf(value.getType());
  for (int64_t extent : tensor.getShape())
    shape.push_back(mlir::ShapedType::isDynamic(extent) ? -1 : static_cast<int32_t>(extent));
  const auto dtype = static_cast<int64_t>(*pd::dtypeOf(tensor.getElementType()));
  const std::string name = op.getVariable() ? op.getVariable()->str()
                                            : declarations.freshName(op->getBlock(), "received");
  return declarations
      .create(builder, op.getLoc(), "recv_v2", {}, {{"Out", {{name, value.getType()}}}},
              {number(builder, "ring_id", ringOf(op)),
               number(builder, "peer", peer(op, static_cast<int64_t>(op.getFrom()))),
               number(builder, "dtype", dtype),
               builder.getNamedAttr("out_shape", builder.getDenseI32ArrayAttr(shape)),
               builder.getNamedAttr("use_calc_stream", builder.getBoolAttr(true)),
               builder.getNamedAttr("dynamic_shape", builder.getBoolAttr(isDynamic(value)))},
              role)
      .output("Out");
}

}  // namespace dtranspile

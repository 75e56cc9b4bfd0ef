#include "passes/pipeline/target.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::passes::pipeline {

bool isDense(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && pd::dtypeOf(tensor.getElementType());
}

dist::SelAttr Target::selector(const Stages& set) const {
  if (isAll(set)) return {};
  llvm::SmallVector<std::pair<int64_t, int64_t>> intervals;
  for (unsigned stage : set.set_bits()) intervals.push_back({stage, stage + 1});
  return dist::SelAttr::of(axis.getContext(), dist::AxisSetAttr::of(axis, intervals));
}

mlir::Type Target::located(mlir::Type type, const Stages& set) const {
  dist::SelAttr where = selector(set);
  return where ? mlir::Type(dist::AtType::get(axis.getContext(), type, where)) : type;
}

// Communicators are made when they are first asked for, behind those that are there, and found by
// name from then on.
mlir::FlatSymbolRefAttr Target::makeComm(llvm::StringRef name, dist::SelAttr subset,
                                         dist::CommKind kind, llvm::StringRef carries) {
  auto& symbol = comms_[name];
  if (symbol) return symbol;
  mlir::Operation* module = dist::jobOf(job.role);
  dist::CommOp last;
  for (auto comm : module->getRegion(0).front().getOps<dist::CommOp>()) last = comm;
  mlir::OpBuilder builder(module->getContext());
  if (last) builder.setInsertionPointAfter(last);
  else builder.setInsertionPointAfter(job.mesh);
  dist::CommOp::create(builder, job.role.getLoc(), builder.getStringAttr(name),
                       mlir::FlatSymbolRefAttr::get(job.mesh.getSymNameAttr()),
                       builder.getStrArrayAttr({axis.getValue()}), subset,
                       dist::CommKindAttr::get(builder.getContext(), kind),
                       mlir::FlatSymbolRefAttr(), builder.getStringAttr(carries));
  return symbol = mlir::FlatSymbolRefAttr::get(builder.getContext(), name);
}

mlir::FlatSymbolRefAttr Target::among(const Stages& set) {
  std::string name = "stages";
  if (!isAll(set))
    for (unsigned stage : set.set_bits()) name += "_" + std::to_string(stage);
  return makeComm(name, selector(set), dist::CommKind::Group, "values of stages");
}

mlir::FlatSymbolRefAttr Target::channels(bool backward) {
  return makeComm(backward ? "backward" : "forward", {}, dist::CommKind::Pairs,
                  backward ? "gradients of activations" : "activations");
}

mlir::Value Target::zeros(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type type,
                          llvm::StringRef name, int role) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  const auto dtype = static_cast<int32_t>(*pd::dtypeOf(tensor.getElementType()));
  return declarations
      .create(builder, loc, "fill_constant", {}, {{"Out", {{name.str(), type}}}},
              {builder.getNamedAttr("dtype", builder.getI32IntegerAttr(dtype)),
               builder.getNamedAttr("force_cpu", builder.getBoolAttr(false)),
               builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(tensor.getShape())),
               builder.getNamedAttr("value", builder.getF32FloatAttr(0))},
              role)
      .output("Out");
}

dist::OnOp Target::guard(mlir::OpBuilder& builder, mlir::Location loc, const Stages& set,
                         mlir::ValueRange inputs, llvm::ArrayRef<mlir::Type> plainResults) {
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Type type : plainResults) types.push_back(located(type, set));
  auto on = dist::OnOp::create(builder, loc, types, selector(set), inputs, dist::TaskAttr(),
                               mlir::IntegerAttr());
  mlir::Block& block = on.getBody().emplaceBlock();
  for (mlir::Value input : inputs) block.addArgument(dist::unlocated(input.getType()), loc);
  return on;
}

}  // namespace dtranspile::passes::pipeline

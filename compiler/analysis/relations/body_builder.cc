#include "compiler/analysis/relations/body_builder.h"

#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

}  // namespace

// Creates the block of the body with one argument per operand of the composite; arguments are found
// by the slot of their operand from then on.
BodyBuilder::BodyBuilder(dist::CompositeOp composite, const Parts& parts,
                         pd::Declarations& declarations)
    : composite_(composite),
      parts_(parts),
      declarations_(declarations),
      builder_(composite.getContext()),
      role_(static_cast<int>(integer("op_role", pd::kForward))) {
  mlir::Block* block = builder_.createBlock(&composite_.getBody());
  for (auto [slot, value] : llvm::zip(
           composite_.getInputSlots().getAsValueRange<mlir::StringAttr>(), composite_.getInputs()))
    inputs_[slot] = block->addArgument(value.getType(), value.getLoc());
}

// Every result of the composite is yielded. Those that the body did not make are scratch outputs of
// the framework that nobody reads, and are undefined.
void BodyBuilder::finish() {
  llvm::SmallVector<mlir::Value> results;
  for (auto [slot, name, type] :
       llvm::zip(composite_.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                 composite_.getOutputNames().getAsValueRange<mlir::StringAttr>(),
                 composite_.getResultTypes())) {
    mlir::Value made = outputs_.lookup(slot);
    if (!made) made = pd::UndefOp::create(builder_, composite_.getLoc(), type, name);
    results.push_back(made);
  }
  dist::YieldOp::create(builder_, composite_.getLoc(), results);
}

mlir::Type BodyBuilder::typeOf(llvm::StringRef result) {
  for (auto [name, type] :
       llvm::zip(composite_.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                 composite_.getResultTypes()))
    if (name == result) return type;
  return {};
}

int64_t BodyBuilder::integer(llvm::StringRef attribute, int64_t otherwise) {
  auto value = composite_.getAttrs().getAs<mlir::IntegerAttr>(attribute);
  return value ? value.getInt() : otherwise;
}

mlir::Value BodyBuilder::op(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs,
                            mlir::Type result, llvm::ArrayRef<mlir::NamedAttribute> attributes,
                            llvm::StringRef slot) {
  auto first = llvm::cast<mlir::StringAttr>(composite_.getOutputNames()[0]);
  const std::string name = first.getValue().str() + ".part." + std::to_string(count_++);
  return declarations_
      .create(builder_, composite_.getLoc(), type, inputs, {{slot, {{name, result}}}}, attributes,
              role_)
      .output(slot);
}

mlir::Value BodyBuilder::compare(llvm::StringRef type, mlir::Value x, mlir::Value y) {
  return op(type, {{"X", {x}}, {"Y", {y}}}, tensorOf(x).clone(builder_.getI1Type()),
            {named("axis", i32(-1))});
}

mlir::Value BodyBuilder::cast(mlir::Value x, mlir::Type element) {
  mlir::RankedTensorType from = tensorOf(x);
  if (from.getElementType() == element) return x;
  const auto code = [&](mlir::Type one) { return i32(static_cast<int64_t>(*pd::dtypeOf(one))); };
  return op("cast", {{"X", {x}}}, from.clone(element),
            {named("in_dtype", code(from.getElementType())), named("out_dtype", code(element))});
}

mlir::Value BodyBuilder::constant(int64_t value) {
  const mlir::Type integer = builder_.getI64Type();
  return op("fill_constant", {}, mlir::RankedTensorType::get({1}, integer),
            {named("dtype", i32(static_cast<int64_t>(*pd::dtypeOf(integer)))),
             named("shape", builder_.getDenseI64ArrayAttr({1})),
             named("value", f32(static_cast<double>(value))),
             named("str_value", builder_.getStringAttr(std::to_string(value)))});
}

mlir::Value BodyBuilder::coordinate() {
  return dist::CoordOp::create(builder_, composite_.getLoc(),
                               mlir::RankedTensorType::get({1}, builder_.getI64Type()),
                               builder_.getStringAttr(parts_.axis));
}

mlir::ResultRange BodyBuilder::overRanks(dist::Reduce reduce, mlir::ValueRange values) {
  return dist::AllReduceOp::create(builder_, composite_.getLoc(), values.getTypes(),
                                   dist::ReduceAttr::get(builder_.getContext(), reduce), values,
                                   parts_.comm)
      ->getResults();
}

}  // namespace dtranspile::verify

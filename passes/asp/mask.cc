// The order of an order is the place that each element has in it: where Indices of argsort say
// which element comes first, second …, Indices of their argsort say of every element its rank.
// Those of rank 2 and 3 of four are kept.
#include "passes/asp/mask.h"

#include "dialects/pd/types.h"
#include "passes/support/branch.h"

namespace dtranspile::passes {
namespace {

constexpr int64_t kGroup = 4, kZeros = 2;

class Mask {
 public:
  Mask(mlir::OpBuilder& builder, mlir::Location loc, std::string name,
       pd::Declarations& declarations)
      : builder_(builder), loc_(loc), name_(std::move(name)), declarations_(declarations) {}

  mlir::Value of(mlir::Value weight) {
    auto type = llvm::cast<mlir::RankedTensorType>(weight.getType());
    const mlir::Type element = type.getElementType();
    // The grouped dim last.
    llvm::SmallVector<int64_t> order, back(type.getRank());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != groupedDim(type)) order.push_back(dim);
    order.push_back(groupedDim(type));
    llvm::SmallVector<int64_t> turned, padded;
    for (auto [at, dim] : llvm::enumerate(order)) {
      back[dim] = static_cast<int64_t>(at);
      turned.push_back(type.getDimSize(dim));
    }
    padded = turned;
    padded.back() = llvm::divideCeil(turned.back(), kGroup) * kGroup;

    mlir::Value values = transposed(weight, order, tensor(turned, element), "turned");
    if (padded != turned) values = filled(values, tensor(padded, element));
    const int64_t groups = type.getNumElements() / turned.back() * padded.back() / kGroup;
    values = reshaped(values, tensor({groups, kGroup}, element), "groups");
    values = one("abs", values, values.getType(), "size", {});
    mlir::Value kept = isLarge(rank(rank(values)));
    kept = one("cast", kept, tensor({groups, kGroup}, element), "numbers",
               {code("in_dtype", builder_.getI1Type()), code("out_dtype", element)});
    kept = reshaped(kept, tensor(padded, element), "lines");
    if (padded != turned) kept = cut(kept, tensor(turned, element));
    return transposed(kept, back, type, "");
  }

 private:
  static mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> dims, mlir::Type element) {
    return mlir::RankedTensorType::get(dims, element);
  }
  mlir::NamedAttribute ints(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    llvm::SmallVector<int32_t> narrow(values.begin(), values.end());
    return builder_.getNamedAttr(name, builder_.getDenseI32ArrayAttr(narrow));
  }
  mlir::NamedAttribute code(llvm::StringRef name, mlir::Type element) {
    return builder_.getNamedAttr(
        name, builder_.getI32IntegerAttr(static_cast<int32_t>(*pd::dtypeOf(element))));
  }
  std::string named(llvm::StringRef stem) {
    return stem.empty() ? name_
                        : declarations_.freshName(builder_.getBlock(), name_ + "_" + stem.str());
  }

  mlir::Value one(llvm::StringRef type, mlir::Value x, mlir::Type result, llvm::StringRef stem,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes) {
    return declarations_
        .create(builder_, loc_, type, {{"X", {x}}}, {{"Out", {{named(stem), result}}}}, attributes,
                pd::kForward)
        .output("Out");
  }
  // reshape2 and transpose2 say which extents they had.
  mlir::Value withShape(llvm::StringRef type, mlir::Value x, mlir::Type result,
                        llvm::StringRef stem, mlir::NamedAttribute attribute) {
    auto from = llvm::cast<mlir::RankedTensorType>(x.getType());
    llvm::SmallVector<int64_t> dims = {0};
    llvm::append_range(dims, from.getShape());
    return declarations_
        .create(builder_, loc_, type, {{"X", {x}}},
                {{"Out", {{named(stem), result}}},
                 {"XShape",
                  {{named((stem.empty() ? "back" : stem.str()) + "_xshape"),
                    tensor(dims, from.getElementType())}}}},
                {attribute}, pd::kForward)
        .output("Out");
  }
  mlir::Value transposed(mlir::Value x, llvm::ArrayRef<int64_t> order, mlir::Type result,
                         llvm::StringRef stem) {
    return withShape("transpose2", x, result, stem, ints("axis", order));
  }
  mlir::Value reshaped(mlir::Value x, mlir::RankedTensorType result, llvm::StringRef stem) {
    return withShape("reshape2", x, result, stem, ints("shape", result.getShape()));
  }

  // Zeros up to the next multiple of four.
  mlir::Value filled(mlir::Value x, mlir::RankedTensorType result) {
    auto from = llvm::cast<mlir::RankedTensorType>(x.getType());
    llvm::SmallVector<int64_t> paddings(2 * from.getRank(), 0);
    paddings.back() = result.getShape().back() - from.getShape().back();
    return one("pad", x, result, "filled",
               {ints("paddings", paddings),
                builder_.getNamedAttr("pad_value", builder_.getF32FloatAttr(0))});
  }
  mlir::Value cut(mlir::Value x, mlir::RankedTensorType result) {
    return declarations_
        .create(builder_, loc_, "slice", {{"Input", {x}}}, {{"Out", {{named("cut"), result}}}},
                {ints("axes", {result.getRank() - 1}), ints("starts", {0}),
                 ints("ends", {result.getShape().back()})},
                pd::kForward)
        .output("Out");
  }

  mlir::Value rank(mlir::Value x) {
    auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
    return declarations_
        .create(builder_, loc_, "argsort", {{"X", {x}}},
                {{"Out", {{named("sorted"), type}}},
                 {"Indices", {{named("order"), tensor(type.getShape(), builder_.getI64Type())}}}},
                {builder_.getNamedAttr("axis", builder_.getI32IntegerAttr(-1)),
                 builder_.getNamedAttr("descending", builder_.getBoolAttr(false))},
                pd::kForward)
        .output("Indices");
  }
  mlir::Value isLarge(mlir::Value rank) {
    auto type = llvm::cast<mlir::RankedTensorType>(rank.getType());
    mlir::Value least = constant(builder_, loc_, tensor({1}, builder_.getI64Type()), kZeros,
                                 named("zeros"), pd::kForward, declarations_);
    return declarations_
        .create(builder_, loc_, "greater_equal", {{"X", {rank}}, {"Y", {least}}},
                {{"Out", {{named("kept"), tensor(type.getShape(), builder_.getI1Type())}}}},
                {builder_.getNamedAttr("axis", builder_.getI32IntegerAttr(-1))}, pd::kForward)
        .output("Out");
  }

  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  std::string name_;
  pd::Declarations& declarations_;
};

}  // namespace

int64_t groupedDim(mlir::RankedTensorType weight) { return weight.getRank() == 4 ? 1 : 0; }

mlir::Value maskOf(mlir::OpBuilder& builder, mlir::Value weight, const std::string& name,
                   pd::Declarations& declarations) {
  return Mask(builder, weight.getLoc(), name, declarations).of(weight);
}

}  // namespace dtranspile::passes

// Fours: the order of an order is the place that each element has in it: where Indices of argsort
// say which element comes first, second …, Indices of their argsort say of every element its rank.
// Those of rank 2 and 3 of four are kept.
//
// Blocks: with all patterns that a block may have as the rows of a table, a product with the
// block's values and a maximum find the one that is kept. By size: values are 2^rank, so that an
// element outweighs all smaller ones together, and the largest sum is that of the elements taken
// one by one.
#include "passes/asp/mask.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "passes/support/branch.h"

namespace dtranspile::passes {
namespace {

constexpr int64_t kGroup = 4, kZeros = 2, kBlock = kGroup * kGroup;
constexpr int kKept = 8;

// The elements of a block, row by row, as the bits of a number, the first one highest.
constexpr uint32_t kRow = 0xF000, kColumn = 0x8888;

bool isLegal(uint32_t pattern) {
  for (int line = 0; line < kGroup; ++line)
    if (llvm::popcount(pattern & (kRow >> (kGroup * line))) > kZeros ||
        llvm::popcount(pattern & (kColumn >> line)) > kZeros)
      return false;
  return true;
}

// Elements taken one by one may end with seven, all legal places but one of them taken: a row and a
// column have one each, where they meet.
bool isFull(uint32_t pattern) {
  for (uint32_t more = 1; more < (1U << kBlock); more *= 2)
    if (!(pattern & more) && isLegal(pattern | more)) return false;
  return true;
}

// A row of 16 numbers for every pattern, ascending: of equal sums the first is taken, whose
// elements are the later ones.
std::vector<float> patternsOf(MaskAlgorithm algorithm) {
  std::vector<float> rows;
  for (uint32_t pattern = 0; pattern < (1U << kBlock); ++pattern) {
    if (!isLegal(pattern)) continue;
    if (algorithm == MaskAlgorithm::BlocksBySum ? llvm::popcount(pattern) != kKept
                                                : !isFull(pattern))
      continue;
    for (int at = kBlock - 1; at >= 0; --at)
      rows.push_back(static_cast<float>((pattern >> at) & 1));
  }
  return rows;
}

std::vector<float> powersOfTwo() {
  std::vector<float> powers(kBlock, 1);
  for (int i = 1; i < kBlock; ++i) powers[i] = 2 * powers[i - 1];
  return powers;
}

class Mask {
 public:
  Mask(mlir::OpBuilder& builder, mlir::Location loc, std::string name,
       pd::Declarations& declarations)
      : builder_(builder), loc_(loc), name_(std::move(name)), declarations_(declarations) {}

  // pd.assign_value
  mlir::Value table(llvm::StringRef stem, int64_t columns, const std::vector<float>& numbers) {
    llvm::SmallVector<int64_t> dims = {static_cast<int64_t>(numbers.size()) / columns};
    if (columns > 1) dims.push_back(columns);
    return declarations_
        .create(builder_, loc_, "assign_value", {},
                {{"Out",
                  {{declarations_.freshName(builder_.getBlock(), ("asp_" + stem).str()),
                    tensor(dims, builder_.getF32Type())}}}},
                {ints("shape", dims), code("dtype", builder_.getF32Type()),
                 builder_.getNamedAttr("fp32_values", builder_.getDenseF32ArrayAttr(numbers))},
                pd::kForward)
        .output("Out");
  }

  mlir::Value cast(mlir::Value x, mlir::Type element, llvm::StringRef stem) {
    auto type = llvm::cast<mlir::RankedTensorType>(x.getType());
    if (type.getElementType() == element) return x;
    return one("cast", x, type.clone(element), stem,
               {code("in_dtype", type.getElementType()), code("out_dtype", element)});
  }

  // Turns the grouped dim last, fills it up with zeros to whole groups, keeps the two largest of
  // each four by absolute value, and goes back to the shape of the weight.
  mlir::Value fours(mlir::Value weight) {
    auto type = llvm::cast<mlir::RankedTensorType>(weight.getType());
    const mlir::Type element = type.getElementType();
    // The grouped dim last.
    llvm::SmallVector<int64_t> order;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != groupedDim(type)) order.push_back(dim);
    order.push_back(groupedDim(type));
    llvm::SmallVector<int64_t> turned = extents(type, order), padded = turned;
    padded.back() = llvm::alignTo<kGroup>(turned.back());

    mlir::Value values = transposed(weight, order, tensor(turned, element), "turned");
    if (padded != turned) values = filled(values, tensor(padded, element));
    const int64_t groups = type.getNumElements() / turned.back() * padded.back() / kGroup;
    values = reshaped(values, tensor({groups, kGroup}, element), "groups");
    values = one("abs", values, values.getType(), "size", {});
    mlir::Value kept = cast(isLarge(rank(rank(values))), element, "numbers");
    kept = reshaped(kept, tensor(padded, element), "lines");
    if (padded != turned) kept = cut(kept, tensor(turned, element), {type.getRank() - 1});
    return transposed(kept, inverse(order), type, "");
  }

  // Where `sizes` is given an element counts what it holds for the element's rank.
  mlir::Value blocks(mlir::Value weight, mlir::Value patterns, mlir::Value sizes) {
    auto type = llvm::cast<mlir::RankedTensorType>(weight.getType());
    const mlir::Type element = type.getElementType();
    // The matrix that the framework takes: dims in opposite order, but for the grouped one, last.
    llvm::SmallVector<int64_t> order;
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
      if (dim != groupedDim(type)) order.push_back(dim);
    order.push_back(groupedDim(type));
    const llvm::SmallVector<int64_t> turned = extents(type, order);
    const int64_t columns = turned.back(), rows = type.getNumElements() / columns;
    const int64_t down = llvm::divideCeil(rows, kGroup), across = llvm::divideCeil(columns, kGroup);
    const mlir::RankedTensorType matrix = tensor({rows, columns}, element),
                                 padded = tensor({down * kGroup, across * kGroup}, element);

    mlir::Value values = transposed(weight, order, tensor(turned, element), "turned");
    if (values.getType() != matrix) values = reshaped(values, matrix, "matrix");
    if (padded != matrix) values = filled(values, padded);
    values = reshaped(values, tensor({down, kGroup, across, kGroup}, element), "quads");
    values =
        transposed(values, {0, 2, 1, 3}, tensor({down, across, kGroup, kGroup}, element), "blocks");
    values = reshaped(values, tensor({down * across, kBlock}, element), "elements");
    values = sizes ? weighed(values, sizes) : cast(values, builder_.getF64Type(), "wide");
    mlir::Value kept = cast(chosen(values, patterns), element, "numbers");

    kept = reshaped(kept, tensor({down, across, kGroup, kGroup}, element), "back_blocks");
    kept = transposed(kept, {0, 2, 1, 3}, tensor({down, kGroup, across, kGroup}, element),
                      "back_quads");
    kept = reshaped(kept, padded, "back_padded");
    if (padded != matrix) kept = cut(kept, matrix, {0, 1});
    if (turned.size() != 2) kept = reshaped(kept, tensor(turned, element), "back_turned");
    return transposed(kept, inverse(order), type, "");
  }

 private:
  static llvm::SmallVector<int64_t> extents(mlir::RankedTensorType type,
                                            llvm::ArrayRef<int64_t> order) {
    return llvm::map_to_vector(order, [&](int64_t dim) { return type.getDimSize(dim); });
  }
  static llvm::SmallVector<int64_t> inverse(llvm::ArrayRef<int64_t> order) {
    llvm::SmallVector<int64_t> back(order.size());
    for (auto [at, dim] : llvm::enumerate(order)) back[dim] = static_cast<int64_t>(at);
    return back;
  }
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

  // Zeros behind what is there.
  mlir::Value filled(mlir::Value x, mlir::RankedTensorType result) {
    auto from = llvm::cast<mlir::RankedTensorType>(x.getType());
    llvm::SmallVector<int64_t> paddings;
    for (auto [now, then] : llvm::zip(from.getShape(), result.getShape()))
      paddings.append({0, then - now});
    return one("pad", x, result, "filled",
               {ints("paddings", paddings),
                builder_.getNamedAttr("pad_value", builder_.getF32FloatAttr(0))});
  }
  mlir::Value cut(mlir::Value x, mlir::RankedTensorType result, llvm::ArrayRef<int64_t> axes) {
    llvm::SmallVector<int64_t> starts(axes.size(), 0), ends;
    for (int64_t axis : axes) ends.push_back(result.getDimSize(axis));
    return declarations_
        .create(builder_, loc_, "slice", {{"Input", {x}}}, {{"Out", {{named("cut"), result}}}},
                {ints("axes", axes), ints("starts", starts), ints("ends", ends)}, pd::kForward)
        .output("Out");
  }
  mlir::Value picked(mlir::Value from, mlir::Value places, mlir::RankedTensorType result,
                     llvm::StringRef stem) {
    return declarations_
        .create(builder_, loc_, "gather", {{"X", {from}}, {"Index", {places}}},
                {{"Out", {{named(stem), result}}}}, {}, pd::kForward)
        .output("Out");
  }

  // The number of `sizes` that stands where the size of an element does among those of its block.
  mlir::Value weighed(mlir::Value elements, mlir::Value sizes) {
    auto type = llvm::cast<mlir::RankedTensorType>(elements.getType());
    mlir::Value places = rank(rank(one("abs", elements, type, "size", {})));
    places = reshaped(places, tensor({type.getNumElements()}, builder_.getI64Type()), "ranks");
    mlir::Value picks =
        picked(sizes, places, tensor({type.getNumElements()}, builder_.getF32Type()), "weights");
    return reshaped(picks, type.clone(builder_.getF32Type()), "weighed");
  }
  // For every block the first pattern with the largest sum of the block's values.
  mlir::Value chosen(mlir::Value values, mlir::Value patterns) {
    auto type = llvm::cast<mlir::RankedTensorType>(values.getType());
    const int64_t blocks = type.getDimSize(0);
    auto table = llvm::cast<mlir::RankedTensorType>(patterns.getType());
    mlir::Value sums =
        declarations_
            .create(
                builder_, loc_, "matmul", {{"X", {values}}, {"Y", {patterns}}},
                {{"Out",
                  {{named("sums"), tensor({blocks, table.getDimSize(0)}, type.getElementType())}}}},
                {builder_.getNamedAttr("transpose_X", builder_.getBoolAttr(false)),
                 builder_.getNamedAttr("transpose_Y", builder_.getBoolAttr(true)),
                 builder_.getNamedAttr("alpha", builder_.getF32FloatAttr(1))},
                pd::kForward)
            .output("Out");
    mlir::Value places = one("arg_max", sums, tensor({blocks}, builder_.getI64Type()), "place",
                             {builder_.getNamedAttr("axis", builder_.getI64IntegerAttr(-1)),
                              builder_.getNamedAttr("keepdims", builder_.getBoolAttr(false)),
                              code("dtype", builder_.getI64Type())});
    return picked(patterns, places, tensor({blocks, kBlock}, table.getElementType()), "chosen");
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

mlir::Value MaskMaker::of(mlir::OpBuilder& builder, mlir::Value weight, const std::string& name) {
  Mask mask(builder, weight.getLoc(), name, declarations_);
  if (algorithm_ == MaskAlgorithm::Fours) return mask.fours(weight);
  const bool bySum = algorithm_ == MaskAlgorithm::BlocksBySum;
  if (!patterns_) {
    patterns_ = mask.table("patterns", kBlock, patternsOf(algorithm_));
    // Sums are of float64, which is exact unless values lie very far apart.
    if (bySum) patterns_ = mask.cast(patterns_, builder.getF64Type(), "patterns");
    else sizes_ = mask.table("powers", 1, powersOfTwo());
  }
  return mask.blocks(weight, patterns_, sizes_);
}

}  // namespace dtranspile::passes

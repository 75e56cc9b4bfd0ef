// Formulas of ops that put elements elsewhere: other orders of axes, axes of one position, pieces.
#include "compiler/verify/refinement/formula_parts.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify::formulas {
namespace {

// The result's axis i is the operand's axis[i]; backwards for a gradient.
Result transposed(const Context& c, llvm::StringRef slot, bool backwards) {
  const std::optional<Operand> x = c.operand(slot);
  if (!x) return std::nullopt;
  const std::vector<int64_t> axis = c.op().getInts("axis");
  Variables variables;
  const Axes own = variables.add(c.dims(*x));
  if (axis.size() != own.size()) return std::nullopt;
  Axes result(own.size(), -1);
  std::vector<bool> seen(own.size(), false);
  for (size_t i = 0; i < axis.size(); ++i) {
    const int64_t from = axis[i] < 0 ? axis[i] + static_cast<int64_t>(axis.size()) : axis[i];
    if (from < 0 || from >= static_cast<int64_t>(own.size()) || seen[from]) return std::nullopt;
    seen[from] = true;
    if (backwards) result[from] = own[i];
    else result[i] = own[from];
  }
  return formula(variables, result, {monomial(Rational(1), {element(*x, own)})});
}
Result transpose(const Context& c) {
  return c.slot() == "Out" ? transposed(c, "X", false) : std::nullopt;
}
Result transposeGrad(const Context& c) { return transposed(c, kOutGrad, true); }

// Extents of 1 come and go, and nothing else changes; one extent may be known by the step only.
Result view(const Context& c, llvm::StringRef slot) {
  const std::optional<Operand> x = c.operand(slot);
  if (!x) return std::nullopt;
  std::vector<Dim> kept;
  Axes own, result;
  Variables variables;
  int64_t unknown = 0;
  for (const Dim& dim : c.dims(*x)) {
    unknown += dim.extent < 0;
    own.push_back(variables.add(dim));
  }
  size_t next = 0;
  for (int64_t i = 0; i < c.type().getRank(); ++i) {
    const int64_t extent = c.type().isDynamicDim(i) ? -1 : c.type().getDimSize(i);
    if (extent == 1) {
      result.push_back(-1);
      continue;
    }
    if (next == variables.all.size() || variables.all[next].extent != extent) return std::nullopt;
    result.push_back(static_cast<int>(next++));
  }
  if (next != variables.all.size() || unknown > 1) return std::nullopt;
  return formula(variables, result, {monomial(Rational(1), {element(*x, own)})});
}
Result viewed(const Context& c) { return c.slot() == "Out" ? view(c, "X") : std::nullopt; }
Result viewedGrad(const Context& c) {
  return c.slot() == "X@GRAD" ? view(c, kOutGrad) : std::nullopt;
}
// Without axes, what a step finds to be of one position is taken out too.
Result squeeze(const Context& c) {
  const std::optional<Operand> x = c.operand("X");
  if (!x || (c.op().getInts("axes").empty() && !x->type.hasStaticShape())) return std::nullopt;
  return viewed(c);
}

// [from, to) of one axis of a known extent.
Result pieceOf(const Context& c, const Operand& x, int64_t axis, int64_t from, int64_t to) {
  std::vector<Dim> dims = c.dims(x);
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  if (axis < 0 || axis >= static_cast<int64_t>(dims.size())) return std::nullopt;
  const int64_t extent = dims[axis].extent;
  if (from < 0 || from >= to || to > extent) return std::nullopt;
  if (!c.sorts().piece(extent, from, to)) return std::nullopt;
  dims[axis] = {to - from, c.sorts().ofExtent(to - from)};
  // An axis of one position is a variable too: which position it is matters.
  Variables variables;
  Axes result, own;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (static_cast<int64_t>(i) != axis) {
      own.push_back(variables.add(dims[i]));
    } else {
      variables.all.push_back(dims[i]);
      own.push_back(static_cast<int>(variables.all.size()) - 1);
    }
  }
  Factor factor = element(x, own);
  factor.index[axis].shift = from;
  return formula(variables, own, {monomial(Rational(1), {factor})});
}

// Where the pieces of an axis begin, and the end of the last.
std::vector<int64_t> bordersOf(const std::vector<mlir::RankedTensorType>& types, int64_t axis) {
  std::vector<int64_t> borders = {0};
  for (mlir::RankedTensorType type : types) {
    const int64_t at = axis < 0 ? axis + type.getRank() : axis;
    if (at < 0 || at >= type.getRank() || type.isDynamicDim(at)) return {};
    borders.push_back(borders.back() + type.getDimSize(at));
  }
  return borders;
}

mlir::RankedTensorType tensorType(mlir::Value value) {
  return value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : nullptr;
}

// Result k is the piece of the operand between borders k and k + 1 along the axis.
Result split(const Context& c) {
  const std::optional<Operand> x = c.operand("X");
  if (!x || c.op().inputCount("AxisTensor") > 0 || c.op().inputCount("SectionsTensorList") > 0)
    return std::nullopt;
  std::vector<mlir::RankedTensorType> types;
  for (mlir::Value out : c.op().outputs("Out")) {
    types.push_back(tensorType(out));
    if (!types.back()) return std::nullopt;
  }
  const int64_t axis = c.op().getInt("axis");
  const std::vector<int64_t> borders = bordersOf(types, axis);
  const int64_t rank = x->type.getRank(), at = axis < 0 ? axis + rank : axis;
  if (borders.empty() || at < 0 || at >= rank || x->type.isDynamicDim(at) ||
      borders.back() != x->type.getDimSize(at))
    return std::nullopt;
  return pieceOf(c, *x, axis, borders[c.index()], borders[c.index() + 1]);
}

// Of one axis with constant bounds; negative ones count from the end, and bounds past the end are
// the end, as the framework has it.
Result slice(const Context& c) {
  const std::optional<Operand> x = c.operand("Input");
  const std::vector<int64_t> axes = c.op().getInts("axes"), starts = c.op().getInts("starts"),
                             ends = c.op().getInts("ends");
  if (!x || c.op().operation()->getNumOperands() != 1 || !c.op().getInts("decrease_axis").empty() ||
      axes.size() != 1 || starts.size() != 1 || ends.size() != 1)
    return std::nullopt;
  const int64_t rank = x->type.getRank(), axis = axes[0] < 0 ? axes[0] + rank : axes[0];
  if (axis < 0 || axis >= rank || x->type.isDynamicDim(axis)) return std::nullopt;
  const int64_t extent = x->type.getDimSize(axis);
  const auto position = [&](int64_t at) { return std::min(at < 0 ? at + extent : at, extent); };
  return pieceOf(c, *x, axis, position(starts[0]), position(ends[0]));
}

// A sum of one monomial per operand, each guarded to be zero outside of the positions of its piece
// and read there with the index shifted back by the beginning of the piece.
Result concat(const Context& c) {
  const std::vector<Operand> all = c.operands("X");
  if (all.empty() || c.op().inputCount("AxisTensor") > 0) return std::nullopt;
  std::vector<mlir::RankedTensorType> types;
  for (const Operand& one : all) types.push_back(one.type);
  const int64_t rank = types[0].getRank();
  int64_t axis = c.op().getInt("axis");
  const std::vector<int64_t> borders = bordersOf(types, axis);
  if (axis < 0) axis += rank;
  if (borders.empty() || axis >= rank) return std::nullopt;
  const int64_t extent = borders.back();
  std::vector<Dim> dims = c.dims(all[0]);
  dims[axis] = {extent, c.sorts().ofExtent(extent)};
  Variables variables;
  const Axes axes = variables.add(dims);
  if (axes[axis] < 0) return std::nullopt;
  std::vector<Monomial> monomials;
  for (size_t k = 0; k < all.size(); ++k) {
    const std::vector<Dim> own = c.dims(all[k]);
    if (own.size() != axes.size()) return std::nullopt;
    for (size_t i = 0; i < own.size(); ++i)
      if (static_cast<int64_t>(i) != axis && !c.demand(own[i], dims[i])) return std::nullopt;
    if (!c.sorts().piece(extent, borders[k], borders[k + 1])) return std::nullopt;
    Monomial one = monomial(Rational(1), {element(all[k], axes)});
    one.factors[0].index[axis].shift = -borders[k];
    one.guarded = axes[axis], one.from = borders[k], one.to = borders[k + 1];
    monomials.push_back(std::move(one));
  }
  return formula(variables, axes, std::move(monomials));
}

// The piece of the gradient at the positions of the operand.
Result concatGrad(const Context& c) {
  const std::optional<Operand> given = c.operand(kOutGrad);
  const std::vector<Operand> all = c.operands("X");
  if (!given || all.empty() || c.op().inputCount("AxisTensor") > 0) return std::nullopt;
  std::vector<mlir::RankedTensorType> types;
  for (const Operand& one : all) types.push_back(one.type);
  const int64_t axis = c.op().getInt("axis");
  const std::vector<int64_t> borders = bordersOf(types, axis);
  if (borders.empty() || c.index() + 1 >= borders.size()) return std::nullopt;
  return pieceOf(c, *given, axis, borders[c.index()], borders[c.index() + 1]);
}

constexpr FormulaRow kRows[] = {
    {"concat", concat},
    {"concat_grad", concatGrad},
    {"reshape", viewed},
    {"reshape2", viewed},
    {"reshape2_grad", viewedGrad},
    {"reshape_grad", viewedGrad},
    {"slice", slice},
    {"split", split},
    {"squeeze", squeeze},
    {"squeeze2", squeeze},
    {"squeeze2_grad", viewedGrad},
    {"squeeze_grad", viewedGrad},
    {"transpose", transpose},
    {"transpose2", transpose},
    {"transpose2_grad", transposeGrad},
    {"transpose_grad", transposeGrad},
    {"unsqueeze", viewed},
    {"unsqueeze2", viewed},
    {"unsqueeze2_grad", viewedGrad},
    {"unsqueeze_grad", viewedGrad},
};

}  // namespace

llvm::ArrayRef<FormulaRow> rowsOfMoves() { return kRows; }

}  // namespace dtranspile::verify::formulas

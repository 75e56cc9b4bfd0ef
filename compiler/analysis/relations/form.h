// The one theorem that most rules are instances of. A `Form` describes one result of an op by
// labels on dims and by how the result depends on each operand; `evaluate` derives the result's
// relation from the operands'.
//
// A label names an index that runs over a dim of several tensors, as in an einsum. Slice i of the
// result along a label depends only on slices i of the operands that carry it (and on all of those
// that do not). A label that the result lacks is folded: the result is the sum (max, …) over it.
// Hence, per axis: operands split along one label give a result split along it, or a partial result
// where it is folded; a partial operand stays partial through ops that are linear in it. In the
// parts reading every op maps component-wise.
#pragma once

#include "compiler/analysis/relations/relation.h"

namespace dtranspile::verify {

// Entry of a label list for a dim that must be whole (softmax's dim), and for a dim of extent 1
// that is broadcast.
inline constexpr int kWholeDim = -1;
inline constexpr int kBroadcastDim = -2;

using Labels = llvm::SmallVector<int, 6>;

// How a result depends on an operand when all others are fixed.
enum class Use {
  Linear,       // f(a + b) = f(a) + f(b), f(k·a) = k·f(a)
  Homogeneous,  // f(k·a) = k·f(a) for k > 0: relu, max pooling
  Sign,         // f(k·a) = f(a) for k > 0: masks, arg max
  Value,        // any function
  Shape,        // only the extents are read
};

struct Term {
  mlir::Value value;
  Labels labels;
  Use use = Use::Value;
};

// Product: linear in each Linear term alone. Sum: linear in all of them together (add, concat).
enum class Combine { Product, Sum };

// How a label that the result lacks is folded. Mean is Sum with the label in `averaged`.
enum class Fold { None, Sum, Max, Min, Prod, Or };

struct Form {
  llvm::SmallVector<Term, 4> terms;
  Labels result;
  Combine combine = Combine::Product;
  Fold fold = Fold::None;
  Labels averaged;  // labels whose extent the op divides by: locally it is 1/n of the whole
  Rational factor;  // the op multiplies by this
};

// Why a reading was lost.
struct Loss {
  std::string why;
  int axis = -1;        // -1: not about one axis
  mlir::Value operand;  // null: not about one operand
  bool wrong = false;   // not only unknown: no reading fits, as in a sum of values that were scaled
                        // differently
  bool misfit = false;  // on a rank the operands' extents differ, unless this one's is 1: one has a
                        // dim whole, another has a part of it
};

struct Outcome {
  Reading reading;
  Loss loss;  // where the reading is not known
};

using ReadingOf = llvm::function_ref<const Reading&(mlir::Value)>;
using IsZero = llvm::function_ref<bool(mlir::Value)>;

Outcome evaluate(const Form& form, const Axes& axes, ReadingOf readingOf, IsZero isZero);

}  // namespace dtranspile::verify

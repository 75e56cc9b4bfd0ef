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
//
// An op whose form the whole reading does not fit along a data axis is a site: it is evaluated per
// share, and the whole reading goes on with what that gives. Results with the batch's dim are put
// together along it; of others there is one value per share (state Parts), a coefficient that
// differs between the shares for the ops after it.
#pragma once

#include "compiler/analysis/relations/relation.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::verify {

// Entry of a label list for a dim that must be whole (softmax's dim), for a dim of extent 1 that is
// broadcast, and for a dim of which not even the extent is read (the batch, where boxes are made
// for a feature map): a part of it is as good as the whole.
inline constexpr int kWholeDim = -1;
inline constexpr int kBroadcastDim = -2;
inline constexpr int kAnyDim = -3;

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

// Whether the parts of a result are of equal extent: as those of the operands, always, or as data
// choose them.
enum class Rows { Operands, Even, Data };

// The extent of a tensor along a dim.
struct Extent {
  mlir::Value tensor;
  int dim = 0;
};

struct Form {
  llvm::SmallVector<Term, 4> terms;
  Labels result;
  Combine combine = Combine::Product;
  Fold fold = Fold::None;
  Labels averaged;  // labels whose extent the op divides by: locally it is 1/n of the whole
  // Extents that the op divides by, taken from a shape: locally they are those of the part, too.
  llvm::SmallVector<Extent, 1> divisors;
  Rational factor;  // the op multiplies by this
  // What it would be per share has no meaning: extents are fixed numbers, or positions are those of
  // the whole. Such an op is no site, its results are unknown.
  bool shareable = true;
  // Says the same of elements in memory order: of parts of flattened tensors too.
  bool flat = false;
  Rows rows = Rows::Operands;
};

// Why a reading was lost.
struct Reason {
  std::string why;
  int axis = -1;                // -1: not about one axis
  mlir::Value operand;          // null: not about one operand
  const char* wrong = nullptr;  // not only unknown: no reading fits, as in a sum of values that
                                // were scaled differently; the name of the rule that it breaks
  bool misfit = false;  // on a rank the operands' extents differ, unless this one's is 1: one has a
                        // dim whole, another has a part of it
};

struct Outcome {
  Reading reading;
  Reason reason;  // where the reading is not known
};

using ReadingOf = llvm::function_ref<const Reading&(mlir::Value)>;
using IsZero = llvm::function_ref<bool(mlir::Value)>;
using RelationOf = llvm::function_ref<const Relation&(mlir::Value)>;

// One reading. Values per share meet split and partial ones in the whole reading only, where
// `shareOf` gives the scale of a partial value as the contribution of its rank's own share.
// `uneven`: the parts of split operands may differ in extent.
using ShareOf = llvm::function_ref<Rational(mlir::Value)>;
Outcome evaluate(const Form& form, const Axes& axes, ReadingOf readingOf, IsZero isZero,
                 ShareOf shareOf = nullptr, bool uneven = false);

// Both readings of a result, and what goes along with its operands.
struct Evaluated {
  Relation relation;
  Reason reason;      // of the whole reading: why it is not known, or why the op is a site
  bool site = false;  // evaluated per share from here on
};
Evaluated evaluateBoth(const Form& form, const Axes& axes, RelationOf relationOf);

// How the shares' results of an op are put together: along the split dim of an operand whose shape
// a result has, else along dim 0 where its extent is only known when the step runs. Results without
// such a dim stay one value per share.
class Shares {
 public:
  Shares() = default;
  Shares(const Form& form, const Axes& axes, RelationOf relationOf);
  // Along data axes; elsewhere a value per coordinate stays what it is. True where nothing says
  // that the shares' results have equal extents.
  bool putTogether(Reading& reading, mlir::Value result, const Axes& axes) const;

 private:
  llvm::SmallVector<llvm::DenseMap<mlir::Type, int>, 2>
      splitDims_;  // per axis, by type of operands
};

}  // namespace dtranspile::verify

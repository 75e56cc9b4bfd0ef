#include "compiler/analysis/relations/form.h"

#include <optional>

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

using dist::Reduce;

// The reduction that puts partial results of a fold together.
std::optional<Reduce> reduceOf(Fold fold) {
  switch (fold) {
    case Fold::None: return std::nullopt;
    case Fold::Sum: return Reduce::Sum;
    case Fold::Max: return Reduce::Max;
    case Fold::Min: return Reduce::Min;
    case Fold::Prod: return Reduce::Prod;
    case Fold::Or: return Reduce::Or;
  }
  return std::nullopt;
}

// What is known of the operands along one axis.
struct AxisView {
  int label = kBroadcastDim;  // of the split dim; kBroadcastDim: nothing is split
  bool flat = false;
  bool partial = false, parts = false;
  mlir::StringAttr tag;     // of a different one
  dist::LayoutAttr layout;  // of the parts; null for even ones
};

// The join: from the states of the operands along every axis, and the form of the op, the state of
// its result. Axes are independent of one another except for scales. Every `lose` says why nothing
// is known, which becomes the text of a finding.
class Evaluation {
 public:
  // `uneven`: parts of the batch may have different numbers of rows, so that means over them may
  // not be averaged.
  Evaluation(const Form& form, const Axes& axes, ReadingOf readingOf, IsZero isZero,
             ShareOf shareOf, bool uneven)
      : form_(form),
        axes_(axes),
        readingOf_(readingOf),
        isZero_(isZero),
        shareOf_(shareOf),
        uneven_(uneven) {
    // A sum of zeros alone has the extents of its terms: of those that are parts, if any are.
    onlyZeros_ = llvm::all_of(form.terms, [&](const Term& term) {
      return term.use != Use::Linear || isZero(term.value);
    });
    partsOfZeros_ = onlyZeros_ && llvm::any_of(form.terms, [&](const Term& term) {
                      return term.use == Use::Linear && !readingOf(term.value).isReplicated();
                    });
  }

  Outcome run();

 private:
  bool isZeroOfSum(const Term& term) const {
    return form_.combine == Combine::Sum && term.use == Use::Linear && isZero_(term.value) &&
           (!onlyZeros_ || (partsOfZeros_ && readingOf_(term.value).isReplicated()));
  }
  // A zero fits whatever it is added to, unless the result has a dim from it alone.
  bool skipped(const Term& term) const { return isZeroOfSum(term) && !lendsDim(term); }
  // Lies flat along some axis: what is cut along a dim by another one is as flat, since no dim is
  // left to be told from the others.
  bool isFlat(const Term& term) const {
    const auto& states = readingOf_(term.value).states;
    for (unsigned axis = 0; axis < axes_.count(); ++axis)
      if (states[axis].isSplit() && states[axis].dim == dist::kFlat && axes_.sizes[axis] > 1)
        return true;
    return false;
  }
  bool lendsDim(const Term& term) const {
    return llvm::any_of(term.labels, [&](int label) {
      return label >= 0 && llvm::is_contained(form_.result, label) &&
             llvm::none_of(form_.terms, [&](const Term& other) {
               return !isZeroOfSum(other) && llvm::is_contained(other.labels, label);
             });
    });
  }
  bool lose(std::string why, int axis = -1, mlir::Value operand = {}) {
    outcome_.reason = {std::move(why), axis, operand};
    return false;
  }
  bool misfit(std::string why, int axis, mlir::Value operand) {
    lose(std::move(why), axis, operand);
    outcome_.reason.misfit = true;
    return false;
  }
  bool alongAxis(unsigned axis);
  bool alongPoint(unsigned axis);
  bool survey(unsigned axis, AxisView& view);
  bool meets(unsigned axis, int one, int other) const;
  bool surveySplit(unsigned axis, const Term& term, const State& state, AxisView& view);
  bool partsResult(unsigned axis, const AxisView& view);
  bool splitResult(unsigned axis, const AxisView& view);
  bool flatResult(unsigned axis);
  bool partialResult(unsigned axis);
  bool shares(const Term& term) const;
  bool combineScales();
  bool divide(unsigned axis);

  const Form& form_;
  const Axes& axes_;
  ReadingOf readingOf_;
  IsZero isZero_;
  ShareOf shareOf_;
  bool uneven_;
  bool onlyZeros_ = false, partsOfZeros_ = false;
  Outcome outcome_;
  llvm::SmallVector<Rational, 4> scales_;  // of the terms, in a common unit
  bool different_ = false;
};

// Split dims are compared by label: two operands that are cut along the same label, and by the same
// layout, meet element by element on every rank.
bool Evaluation::surveySplit(unsigned axis, const Term& term, const State& state, AxisView& view) {
  if (state.dim == dist::kFlat || isFlat(term)) {
    view.flat = true;
    return true;
  }
  int label = state.dim < static_cast<int>(term.labels.size()) ? term.labels[state.dim] : kWholeDim;
  if (label == kAnyDim) return true;
  if (label < 0) return lose("needs dim " + std::to_string(state.dim) + " whole", axis, term.value);
  if (view.label >= 0 && view.label != label) {
    const char* why = "operands are split along different dims";
    return meets(axis, view.label, label) ? misfit(why, axis, term.value)
                                          : lose(why, axis, term.value);
  }
  if (view.label >= 0 && view.layout != state.layoutAttr())
    return lose("takes parts that are cut by different layouts", axis, term.value);
  view.label = label;
  view.layout = state.layoutAttr();
  return true;
}

// One operand that is split along the one label has the other as well, and whole. Where none has
// (all pairs of two operands' rows), a rank's operands do fit; they are other pairs.
bool Evaluation::meets(unsigned axis, int one, int other) const {
  return llvm::any_of(form_.terms, [&](const Term& term) {
    const State& state = readingOf_(term.value).states[axis];
    if (skipped(term) || !state.isSplit() || isFlat(term) ||
        state.dim >= static_cast<int>(term.labels.size()))
      return false;
    const int label = term.labels[state.dim];
    return (label == one && llvm::is_contained(term.labels, other)) ||
           (label == other && llvm::is_contained(term.labels, one));
  });
}

// What the operands are along one axis, taken together. Terms that only lend their shape do not
// count where all have one shape.
bool Evaluation::survey(unsigned axis, AxisView& view) {
  for (const Term& term : form_.terms) {
    if (skipped(term)) continue;
    const State& state = readingOf_(term.value).states[axis];
    switch (state.kind) {
      case dist::StateKind::Replicated: break;
      case dist::StateKind::Split:
        if (!surveySplit(axis, term, state, view)) return false;
        break;
      case dist::StateKind::Partial:
        if (term.use == Use::Shape) break;
        if (term.use != Use::Linear || state.reduce != Reduce::Sum)
          return lose("is not linear in a partial value", axis, term.value);
        view.partial = true;
        break;
      // One value per share has one shape.
      case dist::StateKind::Parts: view.parts |= !shareOf_ || term.use != Use::Shape; break;
      case dist::StateKind::Different:
        if (term.use != Use::Shape) view.tag = state.tagAttr();  // all have one shape
        break;
      case dist::StateKind::Unknown:
        return lose("takes a value of unknown relation", axis, term.value);
    }
  }
  return true;
}

// Operands split along view.label; those that carry it must all be, the others must be whole.
bool Evaluation::splitResult(unsigned axis, const AxisView& view) {
  for (const Term& term : form_.terms) {
    if (skipped(term)) continue;
    const State& state = readingOf_(term.value).states[axis];
    if (state.isSplit() || state.isParts()) continue;
    if (state.isPartial()) return lose("mixes a partial value with a split one", axis, term.value);
    if (llvm::is_contained(term.labels, view.label))
      return misfit("takes this operand whole and others in parts", axis, term.value);
  }
  // With a value per share among the operands the op is that of the share, and so is the extent.
  if ((uneven_ || view.layout) && llvm::is_contained(form_.averaged, view.label) && !view.parts)
    return lose("divides by the number of its rows, which differs between the ranks", axis);
  if (llvm::is_contained(form_.averaged, view.label) && !view.parts)
    outcome_.reading.scale = outcome_.reading.scale * Rational(axes_.sizes[axis]);
  auto at = llvm::find(form_.result, view.label);
  if (at != form_.result.end()) {
    outcome_.reading.states[axis] = State::split(at - form_.result.begin(), view.layout);
    return true;
  }
  std::optional<Reduce> reduce = reduceOf(form_.fold);
  if (!reduce) return lose("folds a split dim in a way that parts cannot be put together", axis);
  outcome_.reading.states[axis] = State::partial(*reduce);
  return true;
}

// The type of a tensor of known extents; null for others.
mlir::RankedTensorType fixedType(mlir::Value value) {
  mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(value.getType()));
  return type && type.hasStaticShape() ? type : mlir::RankedTensorType();
}

// All of one shape, or scalars that are whole: element-wise on the flattened tensor; or one tensor
// summed up entirely. What stands along which dim is not known any more.
bool Evaluation::flatResult(unsigned axis) {
  if (!form_.flat) return lose("moves elements of a flat part", axis);
  const Term* first = nullptr;
  bool several = false;
  for (const Term& term : form_.terms) {
    if (skipped(term)) continue;
    const State& state = readingOf_(term.value).states[axis];
    mlir::RankedTensorType type = fixedType(term.value);
    if (state.isReplicated() && type && type.getNumElements() == 1) continue;
    if (!state.isSplit() || !isFlat(term))
      return lose("mixes a flat part with another operand", axis, term.value);
    if (first && (!type || fixedType(first->value).getShape() != type.getShape() ||
                  first->labels != term.labels))
      return lose("takes flat parts that may be of different shapes", axis, term.value);
    if (llvm::is_contained(term.labels, kWholeDim))
      return lose("needs a whole dim of a flat part", axis, term.value);
    if (first && !(readingOf_(first->value).states[axis] == state))
      return lose("takes parts that are cut by different layouts", axis, term.value);
    several |= first != nullptr;
    if (type && type.getNumElements() == 1)
      return lose("takes a flat part of one element", axis, term.value);
    if (!first && !type) {
      // Alone it may have any shape; beside another it must be known that they are equal.
      if (llvm::count_if(form_.terms, [&](const Term& one) { return !skipped(one); }) > 1)
        return lose("takes flat parts that may be of different shapes", axis, term.value);
    }
    if (!first) first = &term;
  }
  if (first && first->labels == form_.result) {
    outcome_.reading.states[axis] = readingOf_(first->value).states[axis];
    return true;
  }
  // The pad is zero: no term of a sum, and false.
  if ((form_.fold == Fold::Sum || form_.fold == Fold::Or) && form_.averaged.empty() && !several &&
      llvm::all_of(form_.result, [](int label) { return label < 0; })) {
    outcome_.reading.states[axis] = State::partial(*reduceOf(form_.fold));
    return true;
  }
  return lose("moves elements of a flat part", axis);
}

// f(Σ x) = Σ f(x) for linear f only. A sum of partial and equal values counts the latter once per
// rank, which shows as a scale; a product may have one partial factor.
bool Evaluation::partialResult(unsigned axis) {
  if (form_.fold != Fold::None && form_.fold != Fold::Sum)
    return lose("is not linear in a partial value", axis);
  unsigned partial = 0;
  for (auto [term, scale] : llvm::zip(form_.terms, scales_)) {
    if (skipped(term) || term.use == Use::Shape) continue;
    bool isPartial = readingOf_(term.value).states[axis].isPartial();
    partial += isPartial;
    // A replicated term of a sum, summed over the axis, counts n times. What the sum is taken of by
    // value is none of its terms.
    if (!isPartial && form_.combine == Combine::Sum && term.use != Use::Value)
      scale = scale * Rational(axes_.sizes[axis]);
  }
  if (partial > 1 && form_.combine == Combine::Product)
    return lose("multiplies two partial values", axis);
  outcome_.reading.states[axis] = State::partial(Reduce::Sum);
  return true;
}

// A value per share makes the result one, unless that is put together along a split dim. Partial
// values beside it count as the contribution of the rank's own share.
bool Evaluation::partsResult(unsigned axis, const AxisView& view) {
  if (view.flat || (!shareOf_ && (view.label >= 0 || view.partial)))
    return lose("mixes per-part values with split or partial ones", axis);
  if (view.label >= 0) return splitResult(axis, view);
  for (auto [term, scale] : llvm::zip(form_.terms, scales_))
    if (view.partial && !skipped(term) && readingOf_(term.value).states[axis].isPartial())
      scale = shareOf_(term.value);
  outcome_.reading.states[axis] = State::parts();
  return true;
}

// What is drawn on one coordinate of an axis is its own also where nothing else is looked at.
bool Evaluation::alongPoint(unsigned axis) {
  for (const Term& term : form_.terms)
    if (const State& state = readingOf_(term.value).states[axis];
        !skipped(term) && state.isDifferent() && term.use != Use::Shape)
      outcome_.reading.states[axis] = state;
  return true;
}

// By precedence: values that differ, values per share, flat parts, split dims, partial sums; with
// none of these the operands are equal on all ranks, and so is the result.
bool Evaluation::alongAxis(unsigned axis) {
  AxisView view;
  if (axes_.sizes[axis] == 1) return alongPoint(axis);
  if (!survey(axis, view)) return false;
  if (view.tag) {
    different_ = true;
    outcome_.reading.states[axis] = State::different(view.tag);
    return true;
  }
  if (view.parts) return partsResult(axis, view);
  if (view.flat)
    return view.label >= 0 || view.partial ? lose("mixes a flat part with another operand", axis)
                                           : flatResult(axis);
  if (view.label >= 0) return splitResult(axis, view);
  return view.partial ? partialResult(axis) : true;
}

// Holds a part of a value, beside values that differ between ranks anyway: each rank computes with
// what it has, and scales tell of the whole.
bool Evaluation::shares(const Term& term) const {
  return llvm::any_of(readingOf_(term.value).states, [](const State& state) {
    return !state.isReplicated() && !state.isDifferent();
  });
}

// Values may be known up to a rational factor (a gradient that is averaged later, say). A product
// multiplies the factors; a sum needs equal ones; of what is not linear only relu-like functions
// let a positive factor through.
bool Evaluation::combineScales() {
  std::optional<Rational> common;
  for (auto [term, scale] : llvm::zip(form_.terms, scales_)) {
    if (isZeroOfSum(term) || (different_ && shares(term))) continue;
    switch (term.use) {
      case Use::Linear:
        if (form_.combine == Combine::Product) {
          outcome_.reading.scale = outcome_.reading.scale * scale;
          break;
        }
        if (common && !(*common == scale)) {
          lose("adds values of scale " + common->text() + " and " + scale.text(), -1, term.value);
          if (!common->isLost() && !scale.isLost()) outcome_.reason.wrong = "scale";
          return false;
        }
        common = scale;
        break;
      case Use::Homogeneous:
        if (!scale.isPositive())
          return lose("is not linear and takes a value of scale " + scale.text(), -1, term.value);
        outcome_.reading.scale = outcome_.reading.scale * scale;
        break;
      case Use::Sign:
        if (!scale.isPositive())
          return lose("is not linear and takes a value of scale " + scale.text(), -1, term.value);
        break;
      case Use::Value:
        if (!scale.isOne())
          return lose("is not linear and takes a value of scale " + scale.text(), -1, term.value);
        break;
      case Use::Shape: break;
    }
  }
  if (common) outcome_.reading.scale = outcome_.reading.scale * *common;
  return outcome_.reading.scale.isLost() ? lose("has a scale that cannot be computed") : true;
}

// An extent of the share's own divides what is the share's own.
bool Evaluation::divide(unsigned axis) {
  if (axes_.sizes[axis] == 1 || llvm::any_of(form_.terms, [&](const Term& term) {
        return readingOf_(term.value).states[axis].isParts();
      }))
    return true;
  for (const Extent& extent : form_.divisors) {
    const Reading& reading = readingOf_(extent.tensor);
    if (!reading.known) return lose("divides by an extent of unknown relation", axis);
    if (reading.states[axis].isSplit())
      outcome_.reading.scale = outcome_.reading.scale * Rational(axes_.sizes[axis]);
  }
  return true;
}

// O(axes · terms).
Outcome Evaluation::run() {
  outcome_.reading = Reading::replicated(axes_);
  outcome_.reading.scale = form_.factor;
  for (const Term& term : form_.terms) {
    const Reading& reading = readingOf_(term.value);
    scales_.push_back(reading.scale);
    if (!reading.known && !skipped(term)) {
      lose("takes a value of unknown relation", -1, term.value);
      outcome_.reading = {};
      return std::move(outcome_);
    }
  }
  bool ok = true;
  for (unsigned axis = 0; ok && axis < axes_.count(); ++axis) ok = alongAxis(axis);
  ok = ok && combineScales();
  for (unsigned axis = 0; ok && axis < axes_.count(); ++axis) ok = divide(axis);
  if (!ok) outcome_.reading = {};
  return std::move(outcome_);
}

}  // namespace

Outcome evaluate(const Form& form, const Axes& axes, ReadingOf readingOf, IsZero isZero,
                 ShareOf shareOf, bool uneven) {
  return Evaluation(form, axes, readingOf, isZero, shareOf, uneven).run();
}

}  // namespace dtranspile::verify

#include "compiler/analysis/relations/form.h"

#include <optional>

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

using dist::Reduce;

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

class Evaluation {
 public:
  Evaluation(const Form& form, const Axes& axes, ReadingOf readingOf, IsZero isZero,
             ShareOf shareOf, bool uneven)
      : form_(form),
        axes_(axes),
        readingOf_(readingOf),
        isZero_(isZero),
        shareOf_(shareOf),
        uneven_(uneven) {}

  Outcome run();

 private:
  bool skipped(const Term& term) const {
    return form_.combine == Combine::Sum && term.use == Use::Linear && isZero_(term.value);
  }
  bool lose(std::string why, int axis = -1, mlir::Value operand = {}) {
    outcome_.loss = {std::move(why), axis, operand};
    return false;
  }
  bool misfit(std::string why, int axis, mlir::Value operand) {
    lose(std::move(why), axis, operand);
    outcome_.loss.misfit = true;
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

  const Form& form_;
  const Axes& axes_;
  ReadingOf readingOf_;
  IsZero isZero_;
  ShareOf shareOf_;
  bool uneven_;
  Outcome outcome_;
  llvm::SmallVector<Rational, 4> scales_;  // of the terms, in a common unit
  bool different_ = false;
};

bool Evaluation::surveySplit(unsigned axis, const Term& term, const State& state, AxisView& view) {
  if (state.dim == dist::kFlat) {
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
    if (skipped(term) || !state.isSplit() || state.dim == dist::kFlat ||
        state.dim >= static_cast<int>(term.labels.size()))
      return false;
    const int label = term.labels[state.dim];
    return (label == one && llvm::is_contained(term.labels, other)) ||
           (label == other && llvm::is_contained(term.labels, one));
  });
}

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

// All of one shape, or scalars that are whole: element-wise on the flattened tensor; or summed up
// entirely.
bool Evaluation::flatResult(unsigned axis) {
  const Labels* shape = nullptr;
  State part;
  for (const Term& term : form_.terms) {
    if (skipped(term)) continue;
    const State& state = readingOf_(term.value).states[axis];
    bool scalar = llvm::all_of(term.labels, [](int label) { return label < 0; });
    if (state.isReplicated() && scalar) continue;
    if (!state.isSplit() || state.dim != dist::kFlat)
      return lose("mixes a flat part with another operand", axis, term.value);
    if (shape && *shape != term.labels)
      return lose("moves elements of a flat part", axis, term.value);
    if (llvm::is_contained(term.labels, kWholeDim))
      return lose("needs a whole dim of a flat part", axis, term.value);
    if (shape && !(part == state))
      return lose("takes parts that are cut by different layouts", axis, term.value);
    shape = &term.labels;
    part = state;
  }
  if (shape && *shape == form_.result) {
    outcome_.reading.states[axis] = part;
    return true;
  }
  if (form_.fold == Fold::Sum && form_.averaged.empty() &&
      llvm::all_of(form_.result, [](int label) { return label < 0; })) {
    outcome_.reading.states[axis] = State::partial(Reduce::Sum);
    return true;
  }
  return lose("moves elements of a flat part", axis);
}

bool Evaluation::partialResult(unsigned axis) {
  if (form_.fold != Fold::None && form_.fold != Fold::Sum)
    return lose("is not linear in a partial value", axis);
  unsigned partial = 0;
  for (auto [term, scale] : llvm::zip(form_.terms, scales_)) {
    if (skipped(term) || term.use == Use::Shape) continue;
    bool isPartial = readingOf_(term.value).states[axis].isPartial();
    partial += isPartial;
    // A replicated term of a sum, summed over the axis, counts n times.
    if (!isPartial && form_.combine == Combine::Sum) scale = scale * Rational(axes_.sizes[axis]);
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

bool Evaluation::combineScales() {
  std::optional<Rational> common;
  for (auto [term, scale] : llvm::zip(form_.terms, scales_)) {
    if (skipped(term) || (different_ && shares(term))) continue;
    switch (term.use) {
      case Use::Linear:
        if (form_.combine == Combine::Product) {
          outcome_.reading.scale = outcome_.reading.scale * scale;
          break;
        }
        if (common && !(*common == scale)) {
          lose("adds values of scale " + common->text() + " and " + scale.text(), -1, term.value);
          if (!common->isLost() && !scale.isLost()) outcome_.loss.wrong = "scale";
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
  if (!ok || !combineScales()) outcome_.reading = {};
  return std::move(outcome_);
}

// How an operand enters an op that is evaluated per share: R as it is, all else as what its rank
// has. A partial value is its share's own contribution; that of a gradient only where the op is
// linear in it, since the share's own gradient has another scale.
bool enterShare(const Term& term, const Relation& relation, const Axes& axes, Reading& reading) {
  reading = relation.whole;
  bool partial = false;
  for (unsigned axis = 0; axis < axes.count(); ++axis) {
    State& state = reading.states[axis];
    if (!axes.isData[axis] || !(state.isSplit() || state.isPartial())) continue;
    partial |= state.isPartial();
    state = State::parts();
  }
  if (!partial || term.use == Use::Shape) return true;
  if (relation.gradient) return term.use == Use::Linear;
  reading.scale = relation.parts.scale;
  return relation.parts.known;
}

// The whole reading where the form does not fit it along a data axis: the op per share.
bool evaluateShare(const Form& form, const Axes& axes, RelationOf relationOf, IsZero isZero,
                   Evaluated& result) {
  llvm::DenseMap<mlir::Value, Reading> shares;
  for (const Term& term : form.terms)
    if (!enterShare(term, relationOf(term.value), axes, shares[term.value])) return false;
  Outcome outcome = evaluate(
      form, axes, [&](mlir::Value value) -> const Reading& { return shares.find(value)->second; },
      isZero);
  if (!outcome.reading.known) {
    result.loss = std::move(outcome.loss);
    return false;
  }
  // A record of a site, or the gradient of a value per share: what takes it is no site of its own.
  result.site = result.loss.misfit || llvm::none_of(form.terms, [&](const Term& term) {
                  return term.use != Use::Shape &&
                         llvm::any_of(relationOf(term.value).whole.states,
                                      [](const State& state) { return state.isParts(); });
                });
  result.relation.whole = std::move(outcome.reading);
  result.relation.perShare = true;
  return true;
}

bool hasUnevenParts(const Form& form, RelationOf relationOf) {
  return llvm::any_of(form.terms, [&](const Term& term) {
    const Relation& relation = relationOf(term.value);
    return relation.uneven &&
           llvm::any_of(relation.whole.states, [](const State& state) { return state.isSplit(); });
  });
}

}  // namespace

Outcome evaluate(const Form& form, const Axes& axes, ReadingOf readingOf, IsZero isZero,
                 ShareOf shareOf, bool uneven) {
  return Evaluation(form, axes, readingOf, isZero, shareOf, uneven).run();
}

Evaluated evaluateBoth(const Form& form, const Axes& axes, RelationOf relationOf) {
  auto isZero = [&](mlir::Value value) { return relationOf(value).isZero; };
  Evaluated evaluated;
  Relation& relation = evaluated.relation;
  for (const Term& term : form.terms) {
    if (term.use == Use::Shape) continue;
    relation.addTags(relationOf(term.value).tags);
    relation.perShare |= relationOf(term.value).perShare;
  }
  const bool uneven = hasUnevenParts(form, relationOf);
  relation.uneven = form.rows == Rows::Data || (form.rows == Rows::Operands && uneven);
  Outcome parts = evaluate(
      form, axes, [&](mlir::Value value) -> const Reading& { return relationOf(value).parts; },
      isZero);
  Outcome whole = evaluate(
      form, axes, [&](mlir::Value value) -> const Reading& { return relationOf(value).whole; },
      isZero,
      [&](mlir::Value value) {
        const Relation& one = relationOf(value);
        return one.gradient      ? one.whole.scale
               : one.parts.known ? one.parts.scale
                                 : Rational::lost();
      },
      uneven);
  relation.parts = std::move(parts.reading);
  relation.whole = std::move(whole.reading);
  evaluated.loss = std::move(whole.loss);
  const int axis = evaluated.loss.axis;
  if (!relation.whole.known && !evaluated.loss.wrong && form.shareable && axis >= 0 &&
      axes.isData[axis])
    evaluateShare(form, axes, relationOf, isZero, evaluated);
  return evaluated;
}

Shares::Shares(const Form& form, const Axes& axes, RelationOf relationOf) {
  splitDims_.resize(axes.count());
  for (const Term& term : form.terms) {
    const Reading& whole = relationOf(term.value).whole;
    mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(term.value.getType()));
    for (unsigned axis = 0; whole.known && type && axis < axes.count(); ++axis)
      if (const State& state = whole.states[axis]; state.isSplit() && state.dim != dist::kFlat)
        splitDims_[axis].try_emplace(type, state.dim);
  }
}

bool Shares::putTogether(Reading& reading, mlir::Value result, const Axes& axes) const {
  bool uneven = false;
  mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(result.getType()));
  if (!reading.known || !type || type.getRank() == 0) return uneven;
  for (unsigned axis = 0; axis < axes.count(); ++axis) {
    if (!axes.isData[axis] || !reading.states[axis].isParts()) continue;
    auto found = splitDims_[axis].find(type);
    if (found != splitDims_[axis].end()) reading.states[axis] = State::split(found->second);
    else if (type.isDynamicDim(0)) reading.states[axis] = State::split(0), uneven = true;
  }
  return uneven;
}

}  // namespace dtranspile::verify

// Both readings of a result, and how the shares of an op are put together (form.h).
#include "compiler/analysis/relations/form.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// Dims of the result whose extent is that of a share: those of such a dim of an operand, and, where
// the op is evaluated per share, those of a split one.
uint32_t dimsOfShare(const Form& form, const Axes& axes, RelationOf relationOf, bool perShare) {
  uint32_t dims = 0;
  for (const Term& term : form.terms) {
    const Relation& relation = relationOf(term.value);
    uint32_t own = relation.ofShare;
    for (unsigned axis = 0; perShare && relation.whole.known && axis < axes.count(); ++axis)
      if (const State& state = relation.whole.states[axis];
          axes.isData[axis] && state.isSplit() && state.dim >= 0 && state.dim < 32)
        own |= 1U << state.dim;
    for (size_t d = 0; own != 0 && d < term.labels.size() && d < 32; ++d) {
      if ((own >> d & 1U) == 0) continue;
      for (size_t r = 0; r < form.result.size() && r < 32; ++r)
        if (form.result[r] == term.labels[d] &&
            (term.labels[d] >= 0 || (r == d && relation.ofShare >> d & 1U)))
          dims |= 1U << r;
    }
  }
  return dims;
}

// How an operand enters an op that is evaluated per share: R as it is, all else as what its rank
// has; but a part of a flattened tensor is none of the batch. A partial value is its share's own
// contribution; that of a gradient only where the op is linear in it, since the share's own
// gradient has another scale.
bool enterShare(const Term& term, const Relation& relation, const Axes& axes, Reading& reading) {
  reading = relation.whole;
  bool partial = false;
  for (unsigned axis = 0; axis < axes.count(); ++axis) {
    State& state = reading.states[axis];
    if (!axes.isData[axis] || !(state.isSplit() || state.isPartial())) continue;
    if (state.isSplit() && state.dim == dist::kFlat) return false;
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
  for (const Extent& extent : form.divisors)
    shares.try_emplace(extent.tensor, Reading::replicated(axes));
  Outcome outcome = evaluate(
      form, axes, [&](mlir::Value value) -> const Reading& { return shares.find(value)->second; },
      isZero);
  if (!outcome.reading.known) {
    result.reason = std::move(outcome.reason);
    return false;
  }
  // A record of a site, or the gradient of a value per share: what takes it is no site of its own.
  result.site = result.reason.misfit || llvm::none_of(form.terms, [&](const Term& term) {
                  return term.use != Use::Shape &&
                         (relationOf(term.value).ofShare != 0 ||
                          llvm::any_of(relationOf(term.value).whole.states,
                                       [](const State& state) { return state.isParts(); }));
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

// Whether the operand that does not fit is the same whole tensor on every rank, of extents that do
// not follow from a rank's share: labels that are a range of constants.
bool isFixedWhole(const Reason& reason, RelationOf relationOf) {
  if (!reason.misfit || reason.axis < 0 || !reason.operand) return false;
  const Relation& relation = relationOf(reason.operand);
  mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(reason.operand.getType()));
  return relation.ofShare == 0 && relation.whole.known &&
         relation.whole.states[reason.axis].isReplicated() && type && type.hasStaticShape();
}

}  // namespace

// The two readings are evaluated independently: that in parts by the ranks' own shares, that of the
// whole with the scale that an operand has as a share (`shareOf`), which a term of a sum needs in
// order to be added to others. Where the whole is lost along a data axis, and the op may be
// evaluated per share, the result is read as one value per share, and the op becomes a site: a
// place where data parallelism computes something else than the reference.
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
  evaluated.reason = std::move(whole.reason);
  // Among pairs of a share's samples all extents are the share's, but for those that the program
  // fixes.
  if (llvm::any_of(form.terms,
                   [&](const Term& term) { return relationOf(term.value).ofShare != 0; }) &&
      !isFixedWhole(evaluated.reason, relationOf))
    evaluated.reason.misfit = false;
  const int axis = evaluated.reason.axis;
  if (!relation.whole.known && !evaluated.reason.wrong && form.shareable && axis >= 0 &&
      axes.isData[axis])
    evaluateShare(form, axes, relationOf, isZero, evaluated);
  relation.ofShare =
      dimsOfShare(form, axes, relationOf, relation.whole.known && !evaluated.reason.why.empty());
  return evaluated;
}

// Remembers, per data axis and type of operand, the dim along which the whole is split: a result of
// the same type is then put together along the same dim. The type stands for "has the dims of this
// operand", since all that a form of control flow says about its results is their type.
Shares::Shares(const Form& form, const Axes& axes, RelationOf relationOf) {
  splitDims_.resize(axes.count());
  for (const Term& term : form.terms) {
    const Reading& whole = relationOf(term.value).whole;
    mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(term.value.getType()));
    // A part of one element has the shape of every number.
    if (type && type.hasStaticShape() && type.getNumElements() == 1) continue;
    for (unsigned axis = 0; whole.known && type && axis < axes.count(); ++axis)
      if (const State& state = whole.states[axis]; state.isSplit() && state.dim != dist::kFlat)
        splitDims_[axis].try_emplace(type, state.dim);
  }
}

// Turns parts along data axes into a split dim: that of an operand of the result's type or, where
// the first dim is dynamic, that one, as the batch is. Returns whether the parts may have different
// extents.
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

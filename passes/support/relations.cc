#include "passes/support/relations.h"

#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::passes {
namespace {

// Of a job that holds no reference nothing is known: an empty one has no ops.
pd::ProgramOp mainOfReference(mlir::ModuleOp job) {
  mlir::Operation* reference = referenceModule(job);
  return reference ? findProgram(reference, "main") : pd::ProgramOp();
}

mlir::ModuleOp moduleOf(const JobOnAxes& job) {
  return llvm::cast<mlir::ModuleOp>(dist::jobOf(job.role));
}

// A term that is scaled otherwise than the others stands among those of a sum on the way to the
// value: no factor makes gradients right.
bool addsUnlikeTerms(const verify::Store& store, mlir::Value value) {
  llvm::SmallPtrSet<const void*, 16> seen;
  while (value && seen.insert(value.getAsOpaquePointer()).second) {
    const verify::Reason* why = store.reasonOf(value);
    if (!why) return false;
    if (why->wrong) return true;
    value = why->operand;
  }
  return false;
}

}  // namespace

MainQuestion::MainQuestion(const JobOnAxes& job)
    : reference_(mainOfReference(moduleOf(job))),
      contracts_(verify::Contracts::of(moduleOf(job))),
      question_{job.role, job.main, reference_, contracts_} {}

verify::AxisSet axesOf(const JobOnAxes& job, const verify::Axes& axes) {
  verify::AxisSet set(axes.count());
  for (auto name : mlir::ArrayAttr(job.axes).getAsValueRange<mlir::StringAttr>())
    set.set(axes.indexOf(name));
  return set;
}

// The wanted ones among `own`. Where these are all of `own` that have several coordinates it is
// `own` itself, with its axes of one coordinate, so that communicators over `own` serve.
verify::AxisSet axesToUse(const verify::AxisSet& wanted, const verify::AxisSet& own,
                          const verify::Axes& axes) {
  verify::AxisSet several(axes.count());
  for (unsigned axis : own.set_bits())
    if (axes.sizes[axis] > 1) several.set(axis);
  if (several.none()) return wanted;
  const verify::AxisSet used = verify::AxisSet(several) &= wanted;
  return used == several ? own : used;
}

mlir::ArrayAttr namesOf(const verify::AxisSet& set, const verify::Axes& axes,
                        mlir::MLIRContext* context) {
  llvm::SmallVector<mlir::Attribute> names;
  for (unsigned axis : set.set_bits())
    names.push_back(mlir::StringAttr::get(context, axes.names[axis]));
  return mlir::ArrayAttr::get(context, names);
}

// From the relation of the loss before any pass has touched it. Along an axis where ranks have
// parts (a split batch, or terms of a sum) gradients will be added up, and along others every rank
// has the same gradient already. With a mean over each share the sum of the shares' losses is
// `cut`·`others` times the reference's, with a sum it is the reference's itself: the factor makes
// up for what is too much, so that summed gradients are those of one device.
mlir::FailureOr<double> lossFactor(mlir::Operation* loss, const JobOnAxes& job) {
  const MainQuestion question(job);
  const verify::Store store = verify::analyse(*question);
  const verify::Axes& all = store.axes();
  const verify::AxisSet own = axesOf(job, all);
  // What stands for it last: a pass may have put it on a common scale (reduce-counts).
  const int number = store.of(loss->getResult(0)).reference;
  const mlir::Value last = number >= 0 ? store.lastFor(number) : mlir::Value();
  const verify::Reading& reading = store.of(last ? last : loss->getResult(0)).whole;
  if (!reading.known && addsUnlikeTerms(store, loss->getResult(0)))
    return loss->emitError(
        "the loss adds a sum over the batch and a term of another kind (a mean, or one that "
        "does not depend on the batch): no "
        "one factor makes summed gradients those of one device; make all terms means, or "
        "choose scale_strategy reference");
  // Where nothing is known it is what the framework takes the loss for: a value of each share, and
  // gradients are averaged. Verification will not know more.
  if (!reading.known) return 1.0 / static_cast<double>(job.ranks);
  int64_t once = 1;             // ranks that each have the gradient of the whole, or of a share
  int64_t cut = 1, others = 1;  // ranks that have a term each: along own axes, along others
  for (unsigned axis = 0; axis < all.count(); ++axis) {
    const verify::State& state = reading.states[axis];
    const bool term = state.isSplit() || (state.isPartial() && state.reduce == dist::Reduce::Sum);
    if (term) (own.test(axis) ? cut : others) *= all.sizes[axis];
    else if (own.test(axis)) once *= all.sizes[axis];
  }
  const double scale = static_cast<double>(reading.scale.numerator()) /
                       static_cast<double>(reading.scale.denominator());
  // A sum over the batch, a mean, or a factor of which it is not known which axis it comes from.
  if (reading.scale.isOne()) return 1.0 / static_cast<double>(once);
  if (reading.scale == verify::Rational(cut) * verify::Rational(others))
    return 1.0 / static_cast<double>(once * cut);
  if (others == 1) return 1.0 / (scale * static_cast<double>(once));
  return loss->emitError("the loss is ")
         << reading.scale.text()
         << " times the reference's when its parts are added up, and has parts along axes that "
            "the pass is not told of too: name all of them in axes";
}

}  // namespace dtranspile::passes

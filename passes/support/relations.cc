#include "passes/support/relations.h"

#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::passes {
namespace {

// Of a job that holds no reference nothing is known: an empty one has no ops.
pd::ProgramOp mainOfReference(mlir::ModuleOp job) {
  mlir::Operation* reference = verify::referenceOf(job);
  return reference ? findProgram(reference, "main") : pd::ProgramOp();
}

mlir::ModuleOp moduleOf(const JobOnAxes& job) {
  return llvm::cast<mlir::ModuleOp>(dist::jobOf(job.role));
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

}  // namespace dtranspile::passes

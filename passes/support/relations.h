// What passes ask the relation analysis (compiler/analysis/relations) about @main of a job: no pass
// has an opinion of its own of what is equal on all ranks.
#pragma once

#include "compiler/analysis/relations/differences.h"
#include "passes/support/job.h"

namespace dtranspile::passes {

// A question with what it refers to. Answers are those for the job as it is now.
class MainQuestion {
 public:
  explicit MainQuestion(const JobOnAxes& job);
  const verify::Question& operator*() const { return question_; }

 private:
  verify::Reference reference_;
  verify::Contracts contracts_;
  verify::Question question_;
};

// The axes of the mesh that a pass works on, as bits (verify::AxisSet).
verify::AxisSet axesOf(const JobOnAxes& job, const verify::Axes& axes);

// The axes to communicate over where `wanted` of a pass's `own` axes are in need of it. Axes of one
// rank go along where all others do, and by themselves only where there are no others: there
// communication is nothing.
verify::AxisSet axesToUse(const verify::AxisSet& wanted, const verify::AxisSet& own,
                          const verify::Axes& axes);

// The loss l has the relation Σ_c l_c = k·l, or l_c = k·l, along an axis; gradients are summed over
// the ranks, and become k times the reference's, or k·n times. The factor takes that back, as far
// as it comes from `axes`.
mlir::FailureOr<double> lossFactor(mlir::Operation* loss, const JobOnAxes& job);

// The names of axes, in mesh order.
mlir::ArrayAttr namesOf(const verify::AxisSet& set, const verify::Axes& axes,
                        mlir::MLIRContext* context);

}  // namespace dtranspile::passes

// The servers' program where every push is applied by itself: a handler per parameter, and one for
// the step of a trainer where the update part counts steps.
#pragma once

#include "passes/support/servers.h"

namespace dtranspile::passes {

// What a step of a trainer has to tell the servers beside its gradients.
struct SinglePlan {
  // The variable that a trainer pushes to at the begin of its step, so that servers count it; null
  // where nothing counts steps.
  pd::VarOp clock;
};

// Fills the empty `serve`, and declares in `main` what it names. With `compensate` a gradient g
// that sgd takes becomes g + (w - pulled)*g*g (DC-ASGD). What cannot be right when servers see one
// gradient at a time is an error.
mlir::FailureOr<SinglePlan> buildHandlers(const JobOnAxes& job, const UpdatePart& part,
                                          pd::ProgramOp main, dist::ServeOp serve, bool compensate);

}  // namespace dtranspile::passes

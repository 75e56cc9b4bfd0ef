// Tasks W: gradients of weights by themselves, for schedules that run them where a stage would
// stand idle (ZB-H1).
#pragma once

#include "passes/pipeline/plan.h"

namespace dtranspile::passes::pipeline {

// Whether the schedule of that name has tasks W.
bool hasWeights(llvm::StringRef schedule);

// Moves what no other stage waits for from tasks B into tasks W, and takes apart gradients of
// products, which give both. Behind makePlan and before anything is built: the program changes,
// though by ops only that give together what one gave before.
void moveWeights(Plan& plan);

}  // namespace dtranspile::passes::pipeline

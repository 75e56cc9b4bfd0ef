// Rung 2, names: what is fetched, exported and saved by a name is what the reference has under it.
#pragma once

#include "compiler/analysis/relations/analysis.h"

namespace dtranspile::verify {

void checkNames(const Question& question, const Store& store, Rung& findings);

// The same of values that no walk has met, by their names alone: those in the bodies of composites,
// and where parts of the job are looked at by themselves (`apart`: exchanges, compressed updates,
// averages by the loss) all that was put in.
void checkNamesApart(mlir::ModuleOp job, bool apart, Rung& findings);

}  // namespace dtranspile::verify

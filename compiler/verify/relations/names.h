// Rung 2, names: what is fetched, exported and saved by a name is what the reference has under it.
#pragma once

#include "compiler/analysis/relations/analysis.h"

namespace dtranspile::verify {

void checkNames(const Question& question, const Store& store, Rung& findings);

}  // namespace dtranspile::verify

// The ops that couple the samples of a batch, as far as what a job keeps depends on them.
#pragma once

#include "compiler/analysis/relations/analysis.h"

namespace dtranspile::verify {

// Sites on which a persistable or an update depends, in program order.
std::vector<Site> reachedSites(const Question& question, const Store& store);

}  // namespace dtranspile::verify

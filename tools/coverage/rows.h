// Between the generated rows and the look-up of find.cc.
#pragma once

#include "tools/coverage/coverage.h"

namespace dtranspile::coverage {

// Sorted by type.
std::span<const Use> allUses();

}  // namespace dtranspile::coverage

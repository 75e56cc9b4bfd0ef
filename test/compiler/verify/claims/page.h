// docs/operators/relations.md: the rule of every operator, and how many of its claims were tested.
#pragma once

#include <string>

#include "test/compiler/verify/claims/report.h"

namespace dtranspile::claims {

std::string pageOf(const Report& report);

}  // namespace dtranspile::claims

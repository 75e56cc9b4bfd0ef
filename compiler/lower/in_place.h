// Updates in place: an op that computes the new value of a persistable into a temporary that is
// then copied writes the persistable's own memory instead, where nobody needs the old value any
// more. Optimizer updates become read-write operands of one kernel.
#pragma once

#include "compiler/lower/plan.h"

namespace dtranspile::lower {

void updateInPlace(Plan& plan, PlanProgram& program);

}  // namespace dtranspile::lower

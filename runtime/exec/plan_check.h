// What must hold of a plan beyond the form of its fields, before anything of it is used: sizes and
// places of buffers, arguments of nodes, tickets. Whoever writes a plan by hand is nobody's friend.
#pragma once

#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan.h"

namespace dtranspile::exec {

// Adds the first thing that is wrong, with its place ("programs.main.body[3].args"). Counts unknown
// extents.
void CheckPlan(Plan& plan, JsonErrors& errors);

}  // namespace dtranspile::exec

// The round of the servers, out of the update part of the trainers' program.
#pragma once

#include "passes/support/servers.h"

namespace dtranspile::passes {

// Fills the empty `round`, and declares in `main` what it names. The variables of `role` are there.
mlir::LogicalResult buildRound(mlir::ModuleOp module, const JobOnAxes& job, const UpdatePart& part,
                               dist::RoleOp role, pd::ProgramOp main, dist::HandleOp round);

}  // namespace dtranspile::passes

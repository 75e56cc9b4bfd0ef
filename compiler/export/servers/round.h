// The program @main of a server: internal to this folder.
#pragma once

#include "compiler/export/servers/round_plan.h"

namespace dtranspile {

// Writes `listen_and_serv` with the planned blocks into the empty `main`, in whose module the
// server's variables are. The operations of the plan stand elsewhere and are copied.
mlir::LogicalResult writeRound(pd::ProgramOp main, const RoundPlan& plan, const Tables& tables,
                               int64_t server, mlir::Location loc);

}  // namespace dtranspile

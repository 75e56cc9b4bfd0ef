// Trainers that exchange what they have learned with servers every so many steps (geo-SGD,
// docs/passes/parameter-server.md), as the worker needs it.
#pragma once

#include "absl/status/status.h"
#include "runtime/exec/executor.h"

namespace dtranspile::exec {

// Makes the next step one that exchanges; nothing where the plan has no such steps.
absl::Status ExchangeNext(const Executor& executor);

}  // namespace dtranspile::exec

// What a request asks for, and the module shows by what it consists of: meshes, schedules, servers,
// contracts, declared changes. A feature that was asked for and is not there is as wrong as one
// that nobody has asked for.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "nlohmann/json.hpp"

namespace dtranspile::verify {

// A field of the strategy that the module says too. Null: this module says nothing of it.
struct StrategyFact {
  const char* field;
  nlohmann::ordered_json (*inModule)(mlir::ModuleOp job, const nlohmann::ordered_json& manifest);
};

llvm::ArrayRef<StrategyFact> shapeFacts();

}  // namespace dtranspile::verify

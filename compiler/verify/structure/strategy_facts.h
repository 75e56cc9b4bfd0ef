// What the manifest says that was asked for, and the module shows: the strategy of a job.
#pragma once

#include <functional>
#include <string>

#include "compiler/artifact/job.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// `expected`: the manifest that the module would get. `refute` takes a field and what is wrong.
void checkStrategy(mlir::ModuleOp job, const nlohmann::ordered_json& strategy,
                   const nlohmann::ordered_json& expected,
                   const std::function<void(const std::string&, std::string)>& refute);

}  // namespace dtranspile::verify

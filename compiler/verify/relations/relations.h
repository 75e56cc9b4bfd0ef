// Rung 2: every value of every role has one relation to the reference, variables keep theirs over
// start-up and steps, gradients are reduced exactly once and with the right scale. Called by
// verify.cc.
#pragma once

#include <nlohmann/json.hpp>

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// `manifest`: the variable that it calls the loss must have a relation too, and its fetches that of
// their values; null: nothing is asked of them.
Rung verifyRelations(mlir::ModuleOp job, const nlohmann::ordered_json* manifest = nullptr);

// How to be rid of a site at an op of this type; for messages that require the whole batch.
std::string siteRemedy(llvm::StringRef type);

}  // namespace dtranspile::verify

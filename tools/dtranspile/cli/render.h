// Programs and jobs for people: what `show` prints besides MLIR.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "nlohmann/json.hpp"

namespace dtranspile::cli {

// One line per op: number, role, type, inputs, outputs.
std::string listModule(mlir::ModuleOp module);

// The data flow of the programs as a Graphviz digraph.
std::string drawModule(mlir::ModuleOp module);

// A manifest in words.
std::string describeJob(const nlohmann::ordered_json& manifest);
}  // namespace dtranspile::cli

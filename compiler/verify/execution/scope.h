// What an execution of a job can be held against, and under which conditions: read off contracts,
// draws and declared relations. docs/verification.md, Rung 5.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "runtime/trial/config.h"

namespace dtranspile::verify {

struct ExecutionScope {
  // Why nothing can be compared; empty: it can.
  std::string refused;
  // The samples of all parts are equal: contracts speak of each part by itself, or every part draws
  // its own random numbers.
  bool equal = false;
  std::string why;  // of `equal`, for people
  // Whether a right job must agree, so that a difference refutes.
  bool decisive = true;
  std::string doubt;   // why not
  bool draws = false;  // the step draws random numbers
  int64_t parts = 1;   // of the batch
  std::vector<trial::Variable> variables;
  std::vector<std::string> skipped;  // variables that no rank's value is compared of
};

// `job`: with roles and @reference or @source, and a structure that was found right.
ExecutionScope executionScopeOf(mlir::ModuleOp job);

}  // namespace dtranspile::verify

// Which values differ between ranks, whatever they stand for: what decides whether communication
// inside of branches and loops is met by all members (D26). A forward analysis over all programs of
// a role: feeds that are cut, draws, coordinates and parts differ; what was reduced or broadcast is
// equal, and so is what is computed from equal values. Variables are followed over start-up and
// steps until nothing changes.
//
// Asked by rung 2 for its findings, by rung 3 for its condition C2, and by `run`, `compile` and
// `export`, which refuse what is not shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// Communication under control flow that not all of its members are known to take alike.
struct DivergentControl {
  mlir::Operation* control;        // the branch or loop
  mlir::Operation* communication;  // inside of it
  std::string axis;                // along which the predicate may differ
  bool differs;     // it does: what it is computed from differs; else it is not known
  std::string why;  // "`x` is fed a part of the batch"
  mlir::Operation* cause;
};

// Every such pair of the job, once per branch and axis.
std::vector<DivergentControl> divergentControl(mlir::ModuleOp job);

// The same as messages of rule D26.
void reportDivergence(mlir::ModuleOp job, Rung& rung);

// The same as errors at the branches; success where there is none. Jobs without communication under
// control flow cost a walk.
mlir::LogicalResult checkUniform(mlir::ModuleOp job);

}  // namespace dtranspile::verify

// What runs once per step, behind the loop: on which stages each op runs, in which turn, and which
// values travel between stages. Between two turns values are made known to other stages. A branch
// whose block touches variables of several stages is taken by all of them, and its block is placed
// and ordered as what is around it: turns of a block are its own.
#pragma once

#include "mlir/IR/IRMapping.h"
#include "passes/pipeline/plan.h"

namespace dtranspile::passes::pipeline {

struct Node {
  enum class Kind { Total, Get, Op, Join, Set, Branch };
  Kind kind = Kind::Op;
  mlir::Operation* op = nullptr;  // none: a total
  mlir::Value value = {};         // of a total
  int inside = -1;                // the node of the branch in whose block it stands
  std::vector<int> takes = {};    // nodes of its operands
  std::vector<int> users = {};
  std::vector<mlir::StringAttr> reads = {}, writes = {};  // variables
  Stages able = {}, place = {};                           // where its operands are; where it runs
  bool shared = false;  // what it gives is broadcast to all stages
  int turn = 0;
  bool dropped = false;  // nobody needs it

  // The turn in which other stages have what it gives.
  int ready() const { return turn + (shared || kind == Kind::Join ? 1 : 0); }
};

struct OncePlan {
  std::vector<Node> nodes;  // in program order
  llvm::DenseMap<mlir::Value, int> nodeOf;
  llvm::MapVector<mlir::StringAttr, Stages> variables;  // where each is
};

mlir::FailureOr<OncePlan> planOnce(const Target& target, const Plan& plan);

// Builds it at the insertion point.
void buildOnce(Target& target, const Plan& plan, const OncePlan& once, mlir::OpBuilder& builder,
               mlir::IRMapping& plain);

}  // namespace dtranspile::passes::pipeline

// A conditional_block or while whose block is walked op by op, on its way through the walk
// (walk.cc).
#pragma once

#include <map>

#include "compiler/analysis/relations/transfer.h"

namespace dtranspile::verify {

// Ops of the job stand inside, not only those of the reference.
bool hasJobOps(mlir::Operation* op);

// The blocks only compute: no communication, no random numbers (blocks.cc).
bool isLocal(mlir::Operation* op);
// They are those of the reference, op by op, around values that stand for the reference's; reports
// where they are not (blocks.cc).
bool blocksAgree(const Scene& scene, mlir::Operation* op, mlir::Operation* reference);
// A branch that all ranks take, or none, over values that they have parts of: what is known of what
// it gives is known op by op, not of all that it reads together.
bool isUniformBranch(const Scene& scene, mlir::Operation* op);

class Branch {
 public:
  Branch(const Scene& scene, mlir::Operation* op, mlir::Operation* reference)
      : scene_(scene), op_(op), reference_(reference) {}

  // What enters the block; its ops are walked after that. False where nothing is known of them.
  bool enter();
  // What is so after it, whether it has run or not.
  void leave();

 private:
  mlir::Value outside(unsigned argument) const;
  void giveUp(const std::string& why);
  void leaveVariable(const std::string& name, const Relation& before);
  void leaveResult(mlir::OpResult result);
  bool turnsAlike();

  const Scene& scene_;
  mlir::Operation *op_, *reference_;
  bool repeats_ = false;
  std::map<std::string, Relation> before_;  // of the variables that the block sets
};

}  // namespace dtranspile::verify

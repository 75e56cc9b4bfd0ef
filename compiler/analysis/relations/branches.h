// A conditional_block or while whose block communicates, on its way through the walk (walk.cc).
#pragma once

#include <map>

#include "compiler/analysis/relations/transfer.h"

namespace dtranspile::verify {

// Ops of the job stand inside, not only those of the reference.
bool hasJobOps(mlir::Operation* op);

class Branch {
 public:
  Branch(const Scene& scene, mlir::Operation* op, mlir::Operation* reference)
      : scene_(scene), op_(op), reference_(reference) {}

  // What enters the block; its ops are walked after that. False where nothing is known of them.
  bool enter();
  // What is so after it, whether it has run or not.
  void leave();

 private:
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

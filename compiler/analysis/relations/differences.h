// Along which axes of the mesh the ranks may hold different values, in any step. What the relation
// analysis knows of a value it says; of any other its operands say, since an op that neither draws
// nor communicates gives equal results from equal operands. A variable that ends a step differently
// begins the next one so.
#pragma once

#include <vector>

#include "compiler/analysis/relations/analysis.h"
#include "llvm/ADT/SmallBitVector.h"

namespace dtranspile::verify {

// Bit i is axis i of the role's mesh.
using AxisSet = llvm::SmallBitVector;

class Differences {
 public:
  // One walk of the program by the analysis, one that joins values to what is made of them, and
  // then every value once per axis: linear in ops, whatever variables hand on from step to step.
  explicit Differences(const Question& question);

  // What start-up leaves, where every draw counts as one that differs: a fixed seed makes draws
  // equal in one program on one kind of device, and one rank's value is right whatever made it.
  // Constants, and what is computed from them, are equal.
  static Differences ofStartup(dist::RoleOp role, pd::ProgramOp startup);

  const Axes& axes() const { return axes_; }
  // Empty for values that the program does not have.
  AxisSet of(mlir::Value value) const;

  // A variable that the program sets, by its last set, and how it ends a step.
  struct Ending {
    pd::SetOp set;
    AxisSet along;
  };
  // In the order of the sets.
  const std::vector<Ending>& endings() const { return endings_; }

 private:
  Differences(const Store& store, pd::ProgramOp program, bool startup);

  Axes axes_;
  llvm::DenseMap<mlir::Value, AxisSet> along_;
  std::vector<Ending> endings_;
};

}  // namespace dtranspile::verify

// How the values of a program of parallel layers lie on the ranks of its group, and the program of
// one device that these compute together. Used by lift-parallel-ops.
#pragma once

#include "passes/lift-parallel-ops/parallel_ops.h"
#include "passes/support/variables.h"
#include "passes/tensor-parallel/solver.h"

namespace dtranspile::passes {

// Works in place: types, shapes of reshapes and marks of variables are changed op by op, so that a
// rule is asked about an op whose operands are whole already. Nothing is known of a variable until
// an op shows how it lies:
//
//   1 a product of what c_identity gives has a parameter in parts along its columns;
//   2 any other op takes a variable whole where its rule allows it beside the other operands, else
//     in the parts with which it does;
//   3 what is set ends the step as it has begun it.
class Lift {
 public:
  Lift(mlir::ModuleOp module, pd::ProgramOp main, pd::ProgramOp startup, int64_t degree);
  // Reports and fails where the program is no such program. On failure the module is in between.
  mlir::LogicalResult run();

 private:
  using States = llvm::SmallVector<verify::State, 8>;

  mlir::LogicalResult check();
  mlir::LogicalResult visit(mlir::Operation* op);
  mlir::LogicalResult visitGet(pd::GetOp get);
  mlir::LogicalResult visitSet(pd::SetOp set);
  mlir::LogicalResult visitParallel(mlir::Operation* op, const ParallelOp& row);
  mlir::LogicalResult visitBlock(mlir::Operation* op);
  mlir::LogicalResult visitOp(mlir::Operation* op);
  mlir::FailureOr<verify::State> demanded(pd::OpView op, const SlotLies& lies, mlir::Value value);

  // Variables that are not known yet, and values that are as they are: what gets read, and casts.
  mlir::StringAttr unknownOf(mlir::Value value) const { return unknown_.lookup(value); }
  void decide(mlir::StringAttr variable, const verify::State& state);
  void lie(mlir::Value value, const verify::State& state);
  bool tryVariables(mlir::Operation* op, llvm::ArrayRef<mlir::StringAttr> names, bool columns,
                    States& results);
  std::optional<States> results(mlir::Operation* op);
  mlir::LogicalResult stuck(mlir::Operation* op);

  void declareWholes(pd::ProgramOp program);
  void becomeWhole(mlir::Operation* op, const ParallelOp& row);
  mlir::LogicalResult liftStartup();

  mlir::ModuleOp module_;
  pd::ProgramOp main_, startup_;
  Group group_;
  Solver solver_;
  pd::Declarations declarations_;
  llvm::DenseMap<mlir::Value, verify::State> states_;
  llvm::DenseMap<mlir::Value, mlir::Type> parts_;  // types in the program that is read
  llvm::DenseMap<mlir::StringAttr, verify::State> variables_;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> unknown_;
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Value>> holders_;
  llvm::DenseSet<mlir::Value> entered_;        // what c_identity gives, and casts of it
  llvm::DenseMap<mlir::StringAttr, int> cut_;  // names of values in parts, and along which dim
  mlir::Operation* mended_ = nullptr;  // the first op of the update that takes terms as wholes
};

}  // namespace dtranspile::passes

// When replicas average next, as the loss and the learning rate say (AdaComm): counters, and the
// branches that set them. Used by pass local-sgd.
#pragma once

#include "compiler/analysis/relations/averages.h"
#include "passes/support/job.h"

namespace dtranspile::passes {

class Adaptation {
 public:
  Adaptation(JobOnAxes& job, const verify::AdaptivePeriod& period, mlir::FlatSymbolRefAttr comm,
             pd::Declarations& declarations);

  // The loss and the learning rate of the program; reports and fails where there are none, or
  // several rates.
  mlir::LogicalResult find();
  // The branch at the end of the program into which averages go; it has noted the step already.
  mlir::Operation* addAverage();
  // What is looked at in step 1, and what an average looks at to say when the next one is.
  void addRest();

 private:
  pd::VarOp addVariable(llvm::StringRef stem, mlir::RankedTensorType type, double value);
  mlir::Value get(mlir::OpBuilder& builder, pd::VarOp var);
  void set(mlir::OpBuilder& builder, pd::VarOp var, mlir::Value value);
  mlir::Value make(mlir::OpBuilder& builder, llvm::StringRef type,
                   llvm::ArrayRef<pd::InputSlot> inputs, llvm::StringRef stem, mlir::Type result,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::Value two(mlir::OpBuilder& builder, llvm::StringRef type, mlir::Value x, mlir::Value y,
                  llvm::StringRef stem, mlir::Type result);
  mlir::Value number(mlir::OpBuilder& builder, mlir::RankedTensorType type, double value,
                     llvm::StringRef stem);
  mlir::Value asReal(mlir::OpBuilder& builder, mlir::Value number);
  mlir::Value meanLoss(mlir::OpBuilder& builder, mlir::Value own);
  mlir::Operation* addBlock(mlir::Value taken, llvm::ArrayRef<mlir::Value> captures);

  JobOnAxes& job_;
  verify::AdaptivePeriod period_;
  mlir::FlatSymbolRefAttr comm_;
  pd::Declarations& declarations_;
  mlir::RankedTensorType count_, flag_, real_;
  mlir::Value loss_, rate_, step_, early_, due_;
  pd::VarOp last_, next_, firstLoss_, firstRate_;
};

}  // namespace dtranspile::passes

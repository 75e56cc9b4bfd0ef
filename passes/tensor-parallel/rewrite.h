// Rewrites a job by a TensorPlan. Used by tensor-parallel.
#pragma once

#include "compiler/analysis/relations/term_sum.h"
#include "passes/tensor-parallel/plan.h"

namespace dtranspile::passes {

// One pass over the plan; nothing is decided here. Types of parts come first; then every op gets
// its operands as it takes them: cut, put together, summed. What several ops take alike is made
// once, in front of the first of them; what one op takes is sent in one operation per kind, and so
// are gradients of norms on parts of sequences.
class TensorRewriter {
 public:
  TensorRewriter(JobOnAxes& job, const TensorPlan& plan, dist::CommOp comm);
  void run();

 private:
  mlir::Type typeAs(mlir::Value value, const verify::State& state) const;
  mlir::Type partType(mlir::Type whole, int64_t dim) const;
  void collect(mlir::Block& block);
  void sumVectorsTogether();
  void convertOperands(mlir::Operation* op);
  void makeAll(mlir::Operation* before, llvm::ArrayRef<mlir::OpOperand*> uses);
  mlir::Value& made(mlir::Value value, const verify::State& state);
  mlir::Value cut(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value whole, mlir::Type type,
                  int64_t dim);
  mlir::Value share(mlir::OpBuilder& builder, mlir::Operation* before, mlir::Value whole);
  void declareStreams(mlir::Operation* op);
  void composeFormed();
  verify::TermSum howTermsAreSummed(mlir::Operation* op) const;
  void closeShapes();
  void declareVariables();

  JobOnAxes& job_;
  const TensorPlan& plan_;
  dist::CommOp comm_;
  mlir::ArrayAttr axes_;
  pd::Declarations declarations_;
  std::vector<mlir::Operation*> ops_;     // those of branches that are looked into as well
  std::vector<mlir::Operation*> formed_;  // those that a composite stands for
  std::vector<mlir::Operation*> normed_;  // updates with norms, for which one stands too
  std::vector<std::pair<mlir::Operation*, verify::TermSum>> termSums_;  // sums of terms and parts
  llvm::DenseMap<mlir::Value, mlir::Type> whole_;  // types before the rewrite, where they differ
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::pair<verify::State, mlir::Value>, 1>> made_;
};

}  // namespace dtranspile::passes

// What rows of the table of mutants are made of: small edits of a job module.
#pragma once

#include <optional>

#include "tools/dtranspile-mutate/mutate.h"

namespace dtranspile::mutate {

// The rows of each file of kinds.
std::vector<Kind> communicationKinds();
std::vector<Kind> scaleKinds();
std::vector<Kind> lineageKinds();
std::vector<Kind> variableKinds();
std::vector<Kind> attributeKinds();
std::vector<Kind> nameKinds();
std::vector<Kind> contractKinds();
std::vector<Kind> programKinds();
std::vector<Kind> placementKinds();
std::vector<Kind> pipelineKinds();
std::vector<Kind> serverKinds();
std::vector<Kind> semanticKinds();
std::vector<Kind> recomputeKinds();
std::vector<Kind> shardingKinds();
std::vector<Kind> layerKinds();
std::vector<Kind> ampKinds();
std::vector<Kind> jobKinds();
std::vector<Kind> wordKinds();
std::vector<Kind> orderKinds();
std::vector<Kind> claimKinds();
std::vector<Kind> requestKinds();

// The ops of a kind in the program of the view, in its order.
template <typename Op>
std::vector<Op> opsIn(JobView& view) {
  std::vector<Op> found;
  view.program->walk([&](Op op) { found.push_back(op); });
  return found;
}

// The readers of a value as they are now: what is built from the value later is none of them.
class Readers {
 public:
  explicit Readers(mlir::Value value);
  void read(mlir::Value now);

 private:
  llvm::SmallVector<mlir::OpOperand*> uses_;
};

// Results of a collective; of a started one those of its wait.
llvm::SmallVector<mlir::Value> resultsOf(mlir::Operation* collective);
// Whether each result has an operand of its type: what is pulled, looked up or received has none.
bool givesBack(mlir::Operation* collective);
// The collective goes, and its readers read what went into it. Only of one that gives back.
void bypass(mlir::Operation* collective);

bool isFloat(mlir::Value value);
bool isStatic(mlir::Value value);
bool isInserted(mlir::Operation* op);
bool isOptimizer(mlir::Operation* op);
// Name of a value for descriptions and for results of new ops.
std::string nameFor(mlir::Value value);
std::string quoted(mlir::Value value);

// New ops, at the builder's place.
mlir::Value scaled(mlir::OpBuilder& builder, mlir::Value value, double factor, double bias = 0);
mlir::Value reduced(mlir::OpBuilder& builder, mlir::Value value, dist::CommOp comm);
mlir::Value zeros(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<int64_t> shape,
                  mlir::Type element);
mlir::Value cast(mlir::OpBuilder& builder, mlir::Value value, mlir::Type element);
// `first` on the ranks of coordinate 0 of the axis, `second` elsewhere; both are built inside.
mlir::Value onOneRank(mlir::OpBuilder& builder, llvm::StringRef axis, mlir::Value like,
                      llvm::function_ref<mlir::Value(mlir::OpBuilder&)> first,
                      llvm::function_ref<mlir::Value(mlir::OpBuilder&)> second);

// Another value of the same kind of attribute; null where none is at hand.
mlir::Attribute perturbed(mlir::Attribute attribute);
// Framework op number `index` of a program, counted as dist.src counts; null if there is none.
mlir::Operation* opNumber(pd::ProgramOp program, int64_t index);
// The job's own @reference, which begins as a copy of @source.
mlir::ModuleOp addReference(mlir::ModuleOp job);
std::optional<int64_t> sourceOf(mlir::Operation* op);

// The name of one result in its op's slots.
void rename(mlir::OpResult result, llvm::StringRef name);

std::vector<pd::VarOp> variablesOf(JobView& view);
void declareDifferent(pd::VarOp var, llvm::StringRef axis, llvm::StringRef tag);
void declareContract(mlir::ModuleOp job, llvm::StringRef tag, llvm::ArrayRef<std::string> sites);

}  // namespace dtranspile::mutate

// A block of a pd.program to the body of a plan's program: finds what is needed for the fetches and
// the persistables, refines types from the feeds on, applies the rule of every op. Called by
// compile.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lower/lowering.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::lower {

class ProgramLowering : public Lowering {
 public:
  // `named`: what the program of the plan is called, and when it runs.
  ProgramLowering(Plan& plan, const Variables& variables, pd::ProgramOp program,
                  const LoweringRequest& request, PlanProgram named)
      : Lowering(plan, variables, program, request) {
    result() = std::move(named);
  }

  // `block` is the program's own, or that of a handler in it. Errors are diagnostics at the op; ops
  // without a rule are listed all at once.
  llvm::FailureOr<PlanProgram> run(mlir::Block& block);

  llvm::LogicalResult lower(mlir::Operation& op) override;

 private:
  // A variable to report. A null value: the persistable of that name.
  struct Fetched {
    std::string name;
    mlir::Value value;
    exec::Selector at;
  };

  void takeArguments(mlir::Block& block);
  llvm::LogicalResult findFetches(mlir::Block& block);
  int fetchBuffer(mlir::Value value);
  using Missing = std::map<std::string, std::vector<mlir::Operation*>>;
  void findMissing(mlir::Block& block, Missing& missing);
  llvm::LogicalResult checkRules(mlir::Block& block);
  llvm::LogicalResult lowerInput(pd::InputOp op);
  llvm::LogicalResult lowerGet(pd::GetOp op);
  llvm::LogicalResult lowerSet(pd::SetOp op);
  void lowerUndef(pd::UndefOp op);
  void updateListsInPlace(pd::OpView op);
  bool isReadBehind(mlir::Operation* op, mlir::Value value);
  bool isHeldByParts(pd::SetOp op);
  llvm::ArrayRef<mlir::Operation*> writersBehind(mlir::Operation* op, mlir::StringAttr variable);
  llvm::LogicalResult lowerFramework(pd::OpView op);
  void numberRandomOps();
  llvm::LogicalResult lowerRandom(pd::OpView op);

  std::vector<Fetched> fetched_;
  // Of random ops of a main program: its number among the framework ops of the program, and that of
  // the op of the reference that it stands for.
  struct Draw {
    int64_t number, lineage;
  };
  llvm::DenseMap<mlir::Operation*, Draw> draws_;
  // Per block and variable the ops that set it, in order; made when first asked for.
  llvm::DenseMap<mlir::Block*, llvm::DenseMap<mlir::StringAttr, std::vector<mlir::Operation*>>>
      writers_;
};

}  // namespace dtranspile::lower

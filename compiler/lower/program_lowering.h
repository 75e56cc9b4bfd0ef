// One pd.program to the body of a plan: finds what is needed for the fetches and the persistables,
// refines types from the feeds on, applies the rule of every op. Called by compile.h; rules see it
// through op_lowering.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/plan.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::lower {

struct LoweringRequest {
  std::map<std::string, std::vector<int64_t>>
      feedDims;                      // concrete dims of feeds, where the program says -1
  std::vector<std::string> fetches;  // variables to report, in this order
  std::map<std::string, FeedSplit> splits;
  std::map<std::string, std::string> combine;  // of fetches; "same" where not said
  bool startup = false;  // draws without a seed go on from op to op, as the framework's do
  bool mendDefects =
      false;  // formulas where the framework's kernels depart from them (docs/operators/defects.md)
};

class ProgramLowering {
 public:
  // `variables`: buffers of persistables by symbol, shared by the programs of the plan.
  ProgramLowering(Plan& plan, llvm::StringMap<int>& variables, pd::ProgramOp program,
                  const LoweringRequest& request)
      : plan_(plan), variables_(variables), program_(program), request_(request) {}

  // Errors are diagnostics at the op; ops without a rule are listed all at once.
  llvm::FailureOr<std::unique_ptr<PlanProgram>> run();

 private:
  friend class OpLowering;
  friend class InferAdapter;
  friend class BlockLowering;

  llvm::LogicalResult findFetches();
  int fetchBuffer(mlir::Value value);
  void markNeeded();
  void markRegion(mlir::Operation* op);
  void findMissing(mlir::Block& block,
                   std::map<std::string, std::vector<mlir::Operation*>>& missing);
  llvm::LogicalResult checkRules();
  llvm::LogicalResult lowerInput(pd::InputOp op);
  void lowerGet(pd::GetOp op);
  void lowerUndef(pd::UndefOp op);
  void updateListsInPlace(pd::OpView op);
  void lowerSet(pd::SetOp op);
  bool isHeldByParts(pd::SetOp op);
  llvm::ArrayRef<mlir::Operation*> writersBehind(mlir::Operation* op, mlir::StringAttr variable);
  llvm::LogicalResult lowerFramework(pd::OpView op);
  void numberRandomOps();
  llvm::LogicalResult lowerRandom(pd::OpView op);
  llvm::LogicalResult lowerOp(mlir::Operation& op);
  // dist_lowering.cc
  static bool isCommunication(mlir::Operation* op);
  llvm::LogicalResult lowerCommunication(mlir::Operation* op);
  llvm::LogicalResult startCollective(mlir::Operation* op);
  llvm::LogicalResult lowerWait(mlir::Operation* start, mlir::ResultRange results);
  bool needed(mlir::Value value) const { return needed_.contains(value); }
  int bufferOf(mlir::Value value);  // made on first use
  int newBuffer(llvm::StringRef name, const pd::TensorInfo& info);
  Node& add(Node node);
  // Says that a library call was made for extents that are not known; the lowering then fails.
  void refuse(mlir::Operation* op, llvm::StringRef function);

  Plan& plan_;
  llvm::StringMap<int>& variables_;
  pd::ProgramOp program_;
  const LoweringRequest& request_;
  PlanProgram result_;
  std::vector<Node>* body_ =
      &result_.body;  // where nodes go: the program's, or that of the loop or branch being lowered
  // What the turns of a loop hand on, as it was when the loop was lowered last.
  llvm::DenseMap<mlir::Operation*, std::vector<pd::TensorInfo>> handedOn_;
  llvm::DenseMap<mlir::Value, Tape> tapes_;  // by the tape value of the forward op
  // Of random ops of a main program: its number among the framework ops of the program, and that of
  // the op of the reference that it stands for.
  struct Draw {
    int64_t number, lineage;
  };
  llvm::DenseMap<mlir::Operation*, Draw> draws_;
  std::string position_;  // of the op that is being lowered
  llvm::DenseSet<mlir::Value> needed_;
  llvm::DenseSet<mlir::Operation*> live_;
  llvm::DenseMap<mlir::Value, pd::TensorInfo> infos_;
  llvm::DenseMap<mlir::Value, int> buffers_;
  // Per block and variable the ops that set it, in order; made when first asked for.
  llvm::DenseMap<mlir::Block*, llvm::DenseMap<mlir::StringAttr, std::vector<mlir::Operation*>>>
      writers_;
  // Collectives under way.
  struct Started {
    std::vector<int> tickets, buffers;  // buffers of the results, in the order of the operands
    std::vector<pd::TensorInfo> infos;
  };
  llvm::DenseMap<mlir::Operation*, Started> started_;
  int nextTicket_ = 0;
  bool refused_ = false;
  std::vector<std::pair<std::string, mlir::Value>>
      fetched_;  // a null value: the persistable of that name
};

// Whether a value is known only at run time in more than its elements: it is no tensor, has LoD, or
// extents of -1.
bool isRunTimeValue(const pd::TensorInfo& info);

// The communicators of a specialised module, in the order of their creation.
void addCommunicators(mlir::Operation* table, Plan& plan);

}  // namespace dtranspile::lower

// A training program as a list of steps, for choosing what is computed again: which values the
// backward part reads, who else does, how large they are.
#pragma once

#include <vector>

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::passes {

// A framework op at the top of the program.
struct Step {
  mlir::Operation* op = nullptr;
  bool forward = false;
  bool gradient = false;  // of role Backward, computing gradients of another op
  bool again = false;     // a forward op that may be computed again
  double work = 0;
  // Values by number. What an op takes for its extents only is not read: its memory need not live.
  std::vector<int> reads, makes;
};

// A result of a step.
struct StepValue {
  mlir::Value value;
  int step = 0;         // that makes it
  int storage = 0;      // number of the value whose memory it is a view of; its own otherwise
  int64_t bytes = 0;    // of its own memory
  int lastForward = 0;  // the last forward step that reads it, or that makes it
  bool byGradients = false;
  // Read by what is no forward step and no gradient: it lives until then in any case.
  bool byOthers = false;
};

class Steps {
 public:
  explicit Steps(pd::ProgramOp main);

  const std::vector<Step>& all() const { return steps_; }
  const std::vector<StepValue>& values() const { return values_; }
  int forwards() const { return forwards_; }  // the first so many steps are the forward part
  int numberOf(mlir::Value value) const;      // -1 for what no step makes
  // The number of the last value of that name which the forward part makes; -1 where there is none.
  int lastNamed(llvm::StringRef name) const;
  double work() const;  // of the forward and the backward part

 private:
  void addStep(mlir::Operation* op);
  void addReads();

  std::vector<Step> steps_;
  std::vector<StepValue> values_;
  llvm::DenseMap<mlir::Value, int> numbers_;
  llvm::DenseMap<mlir::Operation*, int> stepOf_;
  int forwards_ = 0;
};

// The random op that can be told its seed, and so draws the same numbers again.
bool isDropout(pd::OpView op);

}  // namespace dtranspile::passes

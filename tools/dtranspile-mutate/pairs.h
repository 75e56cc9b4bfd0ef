// Which op and which set of the role stand for which of @reference: what is changed in both alike
// is seen by the proof of @reference from @source alone.
#pragma once

#include <utility>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "tools/dtranspile-mutate/mutate.h"

namespace dtranspile::mutate {

// An op of the role beside the op of the reference that it stands for.
struct Pair {
  mlir::Operation *own, *theirs;
};

// Ops are paired by dist.src, their number in the reference's textual order, where the names agree.
// Empty for a job without a @reference of its own.
class Pairs {
 public:
  explicit Pairs(JobView& view);

  std::vector<Pair> list;
  std::vector<std::pair<pd::SetOp, pd::SetOp>> sets;

 private:
  pd::SetOp setLike(pd::SetOp set, pd::ProgramOp program);

  llvm::StringMap<int> counted_;
};

}  // namespace dtranspile::mutate

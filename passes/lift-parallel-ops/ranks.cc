#include "passes/lift-parallel-ops/ranks.h"

#include <map>

#include "compiler/analysis/program_diff.h"
#include "passes/lift-parallel-ops/parallel_ops.h"

namespace dtranspile::passes {
namespace {

// What a rank says of itself alone, and what is said for people only, is taken away. Returns the
// rank it is of, -1 where no op says so.
mlir::FailureOr<int64_t> forgetRank(pd::ProgramOp main, int64_t degree) {
  Group group(degree);
  const mlir::WalkResult walked = main.walk([&](mlir::Operation* op) {
    return parallelOp(op) && mlir::failed(group.see(pd::OpView(op))) ? mlir::WalkResult::interrupt()
                                                                     : mlir::WalkResult::advance();
  });
  if (walked.wasInterrupted()) return mlir::failure();
  main.walk([](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    pd::OpView view(op);
    for (llvm::StringRef name : {"op_callstack", "op_namescope"})
      if (view.hasAttr(name)) view.setAttr(name, {});
    for (llvm::StringRef name : {"rank", "start_index"})
      if (parallelOp(op) && view.hasAttr(name)) view.setAttr(name, {});
  });
  return group.rank();
}

}  // namespace

// Programs of all ranks of a group are one text, apart from the rank: it is taken out of copies,
// which are then compared op by op with that of the first file.
mlir::LogicalResult checkRanksAgree(llvm::ArrayRef<RankProgram> programs, int64_t degree) {
  std::map<int64_t, std::string> ranks;
  llvm::SmallVector<mlir::OwningOpRef<mlir::ModuleOp>> copies;
  pd::ProgramOp first;
  for (RankProgram one : programs) {
    copies.push_back(one.module.clone());
    auto main = copies.back()->lookupSymbol<pd::ProgramOp>("main");
    if (!main) return one.module.emitError() << one.file << ": there is no pd.program @main";
    const mlir::FailureOr<int64_t> rank = forgetRank(main, degree);
    if (mlir::failed(rank)) return mlir::failure();
    if (const auto [at, added] = ranks.try_emplace(*rank, one.file); !added && *rank >= 0)
      return main.emitError() << one.file << " is of rank " << *rank << ", as " << at->second
                              << " is; give one program of each rank";
    if (!first) {
      first = main;
      continue;
    }
    const auto different = firstDifference(main, first, {});
    if (!different) continue;
    mlir::InFlightDiagnostic error = different->mine->emitError()
                                     << one.file << " says something else than "
                                     << programs.front().file << ": " << different->text
                                     << "; programs of one group differ in their rank only";
    if (different->theirs) error.attachNote(different->theirs->getLoc()) << "the other one is here";
    return error;
  }
  return mlir::success();
}

}  // namespace dtranspile::passes

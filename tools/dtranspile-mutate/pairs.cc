#include "tools/dtranspile-mutate/pairs.h"

#include "compiler/analysis/program_info.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

std::vector<pd::SetOp> setsOf(pd::ProgramOp program) {
  std::vector<pd::SetOp> all;
  program.walk([&](pd::SetOp set) { all.push_back(set); });
  return all;
}

}  // namespace

// Ops of the role with the ops of its own reference that they stand for, so that both can be
// changed alike.
Pairs::Pairs(JobView& view) {
  mlir::ModuleOp reference = findModule(view.job, "reference");
  pd::ProgramOp program = reference && view.program
                              ? findProgram(reference, view.program.getSymName())
                              : pd::ProgramOp();
  if (!program) return;
  std::vector<mlir::Operation*> ops;
  program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op)) ops.push_back(op);
  });
  for (mlir::Operation* own : view.framework)
    if (auto number = sourceOf(own); number && *number < static_cast<int64_t>(ops.size()) &&
                                     ops[*number]->getName() == own->getName())
      list.push_back({own, ops[*number]});
  for (pd::SetOp set : setsOf(view.program))
    if (pd::SetOp other = setLike(set, program)) sets.emplace_back(set, other);
}

// The n-th set of a variable stands for the n-th one.
pd::SetOp Pairs::setLike(pd::SetOp set, pd::ProgramOp program) {
  int number = counted_[set.getVar()]++;
  for (pd::SetOp other : setsOf(program))
    if (other.getVar() == set.getVar() && number-- == 0) return other;
  return {};
}

}  // namespace dtranspile::mutate

#include "passes/support/varying.h"

#include "dialects/pd/op_view.h"

namespace dtranspile::passes {
namespace {

// Results that are equal on all replicas whatever the operands are: reduced, or only a matter of
// shape (parts of a batch are equal).
bool makesEqual(mlir::Operation& op) {
  if (llvm::isa<dist::AllReduceOp, dist::BroadcastOp, dist::AllGatherOp>(op)) return true;
  return pd::OpView::isFrameworkOp(&op) && pd::OpView(&op).type() == "shape";
}

// Outputs that hand an input through unchanged, so that the saved program can name both: they
// differ only if that input does.
struct PassThrough {
  llvm::StringRef type, output, input;
};
constexpr PassThrough kPassThrough[] = {{"hierarchical_sigmoid", "W_Out", "W"}};

}  // namespace

Varying::Varying(pd::ProgramOp program) {
  // A step can make at least one more variable differ, or nothing changes any more.
  for (size_t before = 0;; before = now_.size()) {
    llvm::DenseSet<mlir::StringAttr> entry = now_;
    runBlock(*program.getBodyBlock());
    // What differed at the beginning of a step and was made equal in it differs again only if a
    // step makes it so.
    atEnd_.remove_if([&](auto& item) { return !now_.contains(item.first); });
    now_.insert(entry.begin(), entry.end());
    if (now_.size() == before) break;
  }
}

bool Varying::anyOperand(mlir::Operation& op) const {
  return llvm::any_of(op.getOperands(), [&](mlir::Value value) { return values_.contains(value); });
}

void Varying::runBlock(mlir::Block& block) {
  for (mlir::Operation& op : block) runOp(op);
}

void Varying::runOp(mlir::Operation& op) {
  if (op.hasAttr(dist::kBatchAttr)) return mark(op.getResults());
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
    if (now_.contains(get.getVarAttr().getAttr())) mark(op.getResults());
    return;
  }
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
    mlir::StringAttr name = set.getVarAttr().getAttr();
    if (!values_.contains(set.getValue())) {
      now_.erase(name);
    } else {
      now_.insert(name);
      atEnd_[name] = set;
    }
    return;
  }
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) {
    mlir::Operation* start = wait.getPending().getDefiningOp();
    if (start && makesEqual(*start)) return;
  }
  if (op.getNumRegions() != 0) return runRegions(op);
  if (!anyOperand(op) || makesEqual(op)) return;
  mark(op.getResults());
  for (const PassThrough& row : kPassThrough) {
    if (!pd::OpView::isFrameworkOp(&op) || pd::OpView(&op).type() != row.type) continue;
    pd::OpView view(&op);
    if (!values_.contains(view.input(row.input))) values_.erase(view.output(row.output));
  }
}

void Varying::runRegions(mlir::Operation& op) {
  // A composite's arguments are its operands one by one; other regions may run any number of times,
  // with any operand in any argument.
  bool direct = llvm::isa<dist::CompositeOp>(op);
  bool any = anyOperand(op);
  for (mlir::Region& region : op.getRegions())
    for (mlir::Block& block : region) {
      for (mlir::BlockArgument argument : block.getArguments())
        if (direct ? values_.contains(op.getOperand(argument.getArgNumber())) : any) mark(argument);
      size_t before = 0;
      do {
        before = values_.size();
        runBlock(block);
        if (!direct && !block.empty() &&
            llvm::any_of(block.back().getOperands(),
                         [&](mlir::Value value) { return values_.contains(value); })) {
          any = true;
          mark(block.getArguments());
        }
      } while (values_.size() != before);
      if (direct)
        for (auto [result, value] : llvm::zip(op.getResults(), block.back().getOperands()))
          if (values_.contains(value)) mark(result);
    }
  if (any && !direct) mark(op.getResults());
}

}  // namespace dtranspile::passes

#include "compiler/lower/needed.h"

#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"

namespace dtranspile::lower {
namespace {

// True for ops that matter whether somebody reads their results or not, and for those with such an
// op in a region. A block that no op refers to is never run.
bool hasEffect(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op))
    return !llvm::isa<pd::DeclOp, pd::InputOp, pd::GetOp, pd::UndefOp, dist::SliceOp, dist::CoordOp,
                      dist::RemoteOp>(op);
  if (op->getName().getStringRef() == "pd.orphan_block") return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  if (!spec || (spec->effects & (pd::kHost | pd::kCommunicates)) != 0) return true;
  mlir::WalkResult found = op->walk([&](mlir::Operation* inner) {
    if (inner == op || llvm::isa<pd::YieldOp, dist::YieldOp>(inner))
      return mlir::WalkResult::advance();
    const bool leaf = inner->getNumRegions() == 0;
    return leaf && hasEffect(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found.wasInterrupted();
}

// Goes on with the numbers of the process.
bool continuesSequence(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op) || op->getNumRegions() > 0) return false;
  const pd::OpView view(op);
  return view.spec() && (view.spec()->effects & pd::kRandom) && view.getInt("seed") == 0;
}

}  // namespace

bool Needed::mark(mlir::Block& block) {
  bool any = false;
  for (mlir::Operation& op : llvm::reverse(block))
    if (!op.hasTrait<mlir::OpTrait::IsTerminator>()) any |= mark(op);
  return any;
}

// An op is needed if it has an effect or if one of its results is; the walk goes backwards, so that
// users have been seen. In start-up (`keepsSequence_`) draws are needed too, as they move the
// generator on.
bool Needed::mark(mlir::Operation& op) {
  if (llvm::isa<dist::OnOp>(op)) return markGuard(&op);
  if (llvm::isa<dist::MicroOp, dist::ForeachBlockOp>(op)) return markRepeated(&op);
  const bool continues = keepsSequence_ && continuesSequence(&op);
  if (continues) values_.insert(op.result_begin(), op.result_end());
  if (!continues && !hasEffect(&op) &&
      llvm::none_of(op.getResults(), [&](mlir::Value v) { return values_.contains(v); }))
    return false;
  take(op);
  if (op.getNumRegions() > 0) markAll(&op);
  return true;
}

void Needed::take(mlir::Operation& op) {
  live_.insert(&op);
  values_.insert(op.operand_begin(), op.operand_end());
}

// All of a block of the framework is needed where its op is: names, not results, tie it to what is
// outside.
void Needed::markAll(mlir::Operation* op) {
  op->walk([&](mlir::Operation* inner) {
    if (inner == op) return;
    take(*inner);
    values_.insert(inner->result_begin(), inner->result_end());
  });
}

// Of a guard what its needed results are made of, and what has an effect inside.
bool Needed::markGuard(mlir::Operation* guard) {
  bool any = false;
  for (mlir::OpResult result : guard->getResults()) {
    if (!values_.contains(result)) continue;
    any = true;
    for (mlir::Region& region : guard->getRegions())
      if (!region.empty())
        values_.insert(region.front().getTerminator()->getOperand(result.getResultNumber()));
  }
  for (mlir::Region& region : guard->getRegions()) {
    if (region.empty()) continue;
    live_.insert(region.front().getTerminator());
    any |= mark(region.front());
  }
  if (!any) return false;
  live_.insert(guard);
  mlir::Block& body = guard->getRegion(0).front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), guard->getOperands()))
    if (values_.contains(argument)) values_.insert(operand);
  return true;
}

// What one run of the body hands to the next is needed, if anything of the op is.
bool Needed::markRepeated(mlir::Operation* op) {
  mlir::Block& body = op->getRegion(0).front();
  take(*body.getTerminator());
  const bool read =
      llvm::any_of(op->getResults(), [&](mlir::Value v) { return values_.contains(v); });
  if (!mark(body) && !read) return false;
  take(*op);
  return true;
}

}  // namespace dtranspile::lower

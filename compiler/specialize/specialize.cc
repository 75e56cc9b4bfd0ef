#include "compiler/specialize/specialize.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {
namespace {

using dist::AxisSetAttr;
using dist::SelAttr;

// Ops that need rank data beyond a coordinate, or a schedule.
bool isUnsupported(mlir::Operation* op) {
  return llvm::isa<dist::TransferOp, dist::MicroOp, dist::ForeachBlockOp, dist::ServeOp,
                   dist::HandleOp, dist::CoordOp, dist::SliceOp, dist::ReduceOp, dist::PushOp,
                   dist::PullOp, dist::LookupOp, dist::PhaseOp, dist::MergedOp, dist::CopyOp>(op);
}

// Moves the ops of a body (all but its terminator) before `op`, declarations to the top of the
// program's block.
void spliceBody(mlir::Operation* op, mlir::Block& body) {
  mlir::Operation* terminator = body.getTerminator();
  mlir::Block* block = op->getBlock();
  for (mlir::Operation& inner : llvm::make_early_inc_range(body)) {
    if (&inner == terminator) break;
    if (llvm::isa<pd::DeclOp>(inner)) inner.moveBefore(block, block->begin());
    else inner.moveBefore(op);
  }
}

// The body takes the place of the op: arguments become operands, results what the body yields.
void inlineBody(mlir::Operation* op, mlir::Region& region) {
  mlir::Block& body = region.front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op->getOperands()))
    argument.replaceAllUsesWith(operand);
  llvm::SmallVector<mlir::Value> yielded(body.getTerminator()->getOperands());
  spliceBody(op, body);
  op->replaceAllUsesWith(yielded);
  op->erase();
}

// The numbers that a random op draws belong to the op that it stands for (docs/tensor-files.md).
bool draws(mlir::Operation* op) {
  const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
  return spec && (spec->effects & pd::kRandom) != 0;
}

class Specializer {
 public:
  Specializer(const RankClass& rankClass, const SpecializeOptions& options)
      : class_(rankClass), options_(options) {}

  mlir::LogicalResult run(pd::ProgramOp program) {
    if (mlir::Operation* op = firstUnsupported(program)) return op->emitError(kUnsupported);
    // Outer guards first: what they drop is not looked at.
    for (dist::OnOp on = firstOf<dist::OnOp>(program); on; on = firstOf<dist::OnOp>(program))
      resolve(on);
    if (options_.inlineComposites)
      for (auto op = firstOf<dist::CompositeOp>(program); op;
           op = firstOf<dist::CompositeOp>(program))
        inlineBody(op, op.getBody());
    program.walk([](mlir::Operation* op) {
      if (!draws(op)) op->removeAttr(dist::kSrcAttr);
      for (mlir::Value result : op->getResults()) result.setType(dist::unlocated(result.getType()));
    });
    return mlir::success();
  }

 private:
  template <typename Op>
  static Op firstOf(pd::ProgramOp program) {
    Op first;
    program.walk<mlir::WalkOrder::PreOrder>([&](Op op) {
      first = op;
      return mlir::WalkResult::interrupt();
    });
    return first;
  }

  void resolve(dist::OnOp on) {
    if (on.getWhere().contains(class_.where)) return inlineBody(on, on.getBody());
    if (!on.getOtherwise().empty()) return inlineOtherwise(on);
    // Nobody of this class looks at these results; a broadcast takes them as operands that only its
    // root reads.
    mlir::OpBuilder builder(on);
    for (mlir::Value result : on.getResults()) {
      if (result.use_empty()) continue;
      mlir::Value nothing = pd::UndefOp::create(
          builder, on.getLoc(), dist::unlocated(result.getType()), dist::nameOf(result));
      result.replaceAllUsesWith(nothing);
    }
    on.erase();
  }

  static void inlineOtherwise(dist::OnOp on) {
    llvm::SmallVector<mlir::Value> yielded(
        on.getOtherwise().front().getTerminator()->getOperands());
    spliceBody(on, on.getOtherwise().front());
    on->replaceAllUsesWith(yielded);
    on.erase();
  }

  const RankClass& class_;
  const SpecializeOptions& options_;
};

}  // namespace

mlir::Operation* firstUnsupported(mlir::Operation* root) {
  mlir::Operation* first = nullptr;
  root->walk([&](mlir::Operation* op) {
    if (!isUnsupported(op)) return mlir::WalkResult::advance();
    first = op;
    return mlir::WalkResult::interrupt();
  });
  return first;
}

mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> specialize(dist::RoleOp role,
                                                              const RankClass& rankClass,
                                                              const SpecializeOptions& options) {
  dist::MeshOp mesh = dist::meshOf(role);
  if (!mesh) return role.emitError("has no mesh");
  mlir::OpBuilder builder(role.getContext());
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(role.getLoc()));
  (*module)->setAttr(dist::kClassAttr, builder.getStringAttr(rankClass.name));
  builder.setInsertionPointToEnd(module->getBody());
  builder.clone(*mesh);
  for (auto comm : llvm::cast<mlir::ModuleOp>(role->getParentOp()).getOps<dist::CommOp>())
    if (comm.getMesh() == mesh.getSymName()) builder.clone(*comm);
  for (mlir::Operation& op : role.getBody().front()) {
    auto at = op.getAttrOfType<SelAttr>(dist::kAtAttr);
    if (at && !at.contains(rankClass.where)) continue;
    mlir::Operation* copy = builder.clone(op);
    copy->removeAttr(dist::kAtAttr);
    auto program = llvm::dyn_cast<pd::ProgramOp>(copy);
    if (program && mlir::failed(Specializer(rankClass, options).run(program)))
      return mlir::failure();
  }
  if (options.verify && mlir::failed(mlir::verify(*module))) return mlir::failure();
  return std::move(module);
}

}  // namespace dtranspile

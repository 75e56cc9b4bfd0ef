// What a pass that computes activations again may get wrong: the same in the role and in its
// @reference, so that only the proof that @reference means what @source does can see it.
#include "compiler/analysis/program_info.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

constexpr llvm::StringLiteral kCopy = ".subprog_";

bool isCopy(mlir::Operation* op) {
  return (pd::OpView(op).role() & pd::kBackward) && op->getNumResults() > 0 &&
         pd::nameOf(op->getResult(0)).contains(kCopy);
}

pd::ProgramOp referenceMain(mlir::ModuleOp job) {
  mlir::ModuleOp reference = findModule(job, "reference");
  return reference ? reference.lookupSymbol<pd::ProgramOp>("main") : pd::ProgramOp();
}

// The op of @reference that an op of the role stands for; null for inserted ones.
mlir::Operation* counterpart(mlir::ModuleOp job, mlir::Operation* op) {
  pd::ProgramOp main = referenceMain(job);
  const std::optional<int64_t> source = op && main ? sourceOf(op) : std::nullopt;
  return source ? opNumber(main, *source) : nullptr;
}

// Both operands of the same number; nothing where @reference has no such value.
void setBoth(mlir::ModuleOp job, mlir::Operation* op, unsigned operand, mlir::Value value) {
  mlir::Operation *theirs = counterpart(job, op), *from = counterpart(job, value.getDefiningOp());
  if (!theirs || !from) return;
  op->setOperand(operand, value);
  theirs->setOperand(operand, from->getResult(llvm::cast<mlir::OpResult>(value).getResultNumber()));
}

// Another value of the type, made before the op, that stands for one of @reference.
mlir::Value otherBefore(JobView& view, mlir::Operation* op, mlir::Value now) {
  std::vector<mlir::Value> found;
  for (mlir::Operation* one : view.framework)
    if (one->getBlock() == op->getBlock() && one->isBeforeInBlock(op) && counterpart(view.job, one))
      for (mlir::Value result : one->getResults())
        if (result != now && result.getType() == now.getType()) found.push_back(result);
  return found.empty() ? mlir::Value() : found[view.draw(found.size())];
}

void otherOperand(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    if (!isCopy(op) || !counterpart(view.job, op)) continue;
    for (mlir::OpOperand& use : op->getOpOperands())
      if (mlir::Value other = otherBefore(view, op, use.get()))
        edits.add(op, "takes " + quoted(other) + " instead of " + quoted(use.get()),
                  [job = view.job, op, number = use.getOperandNumber(), other]() {
                    setBoth(job, op, number, other);
                  });
  }
}

void otherReader(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    if (isCopy(op) || !counterpart(view.job, op)) continue;
    for (mlir::OpOperand& use : op->getOpOperands()) {
      mlir::Operation* maker = use.get().getDefiningOp();
      if (!maker || !pd::OpView::isFrameworkOp(maker) || !isCopy(maker)) continue;
      if (mlir::Value other = otherBefore(view, op, use.get()))
        edits.add(op, "takes " + quoted(other) + " instead of " + quoted(use.get()),
                  [job = view.job, op, number = use.getOperandNumber(), other]() {
                    setBoth(job, op, number, other);
                  });
    }
  }
}

// Who reads its result reads what it was made of.
void dropped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    if (!isCopy(op) || !counterpart(view.job, op)) continue;
    for (mlir::Value operand : op->getOperands()) {
      if (operand.getType() != op->getResult(0).getType()) continue;
      if (!operand.getDefiningOp() || !counterpart(view.job, operand.getDefiningOp())) continue;
      edits.add(op, "is left out: its readers take " + quoted(operand),
                [job = view.job, op, operand]() {
                  llvm::SmallVector<mlir::OpOperand*> uses;
                  for (mlir::OpOperand& use : op->getResult(0).getUses()) uses.push_back(&use);
                  for (mlir::OpOperand* use : uses)
                    setBoth(job, use->getOwner(), use->getOperandNumber(), operand);
                });
      break;
    }
  }
}

// The second run of a dropout draws by the seed of another one.
void otherMask(JobView& view, Edits& edits) {
  std::vector<mlir::Value> seeds;
  for (mlir::Operation* op : view.framework)
    if (pd::OpView(op).type() == "seed") seeds.push_back(op->getResult(0));
  for (mlir::Operation* op : view.framework) {
    if (!isCopy(op) || pd::OpView(op).type() != "dropout") continue;
    for (mlir::OpOperand& use : op->getOpOperands())
      for (mlir::Value seed : seeds)
        if (llvm::is_contained(seeds, use.get()) && seed != use.get())
          edits.add(op, "draws by " + quoted(seed),
                    [job = view.job, op, number = use.getOperandNumber(), seed]() {
                      setBoth(job, op, number, seed);
                    });
  }
}

// The repeated op moves running statistics once more.
void statisticsTwice(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    mlir::Operation* theirs = counterpart(view.job, op);
    if (!theirs || !isCopy(op) || pd::OpView(op).type() != "batch_norm") continue;
    for (auto [own, other] : llvm::zip(op->getResults(), theirs->getResults())) {
      const llvm::StringRef name = pd::nameOf(own).split(kCopy).first;
      if (!mlir::SymbolTable::lookupSymbolIn(view.role, name)) continue;
      edits.add(op, "sets `" + name.str() + "` again", [own, other, name = name.str()]() {
        for (mlir::Value value : {mlir::Value(own), mlir::Value(other)}) {
          mlir::OpBuilder builder(value.getContext());
          builder.setInsertionPointAfterValue(value);
          pd::SetOp::create(builder, value.getLoc(),
                            mlir::FlatSymbolRefAttr::get(value.getContext(), name), value);
        }
      });
    }
  }
}

}  // namespace

std::vector<Kind> recomputeKinds() {
  const char* group = "recompute";
  return {
      {group, "recompute-operand", "an op that is computed again takes another value", Place::Main,
       otherOperand},
      {group, "recompute-reader", "a gradient takes another value than the repeated one",
       Place::Main, otherReader},
      {group, "recompute-dropped", "an op that is computed again is left out", Place::Main,
       dropped},
      {group, "recompute-mask", "a dropout draws another mask when it is computed again",
       Place::Main, otherMask},
      {group, "recompute-statistics", "running statistics move twice", Place::Main,
       statisticsTwice},
  };
}

}  // namespace dtranspile::mutate

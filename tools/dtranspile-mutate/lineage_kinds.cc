// Ops that take the wrong values, stand for the wrong op of the reference, are missing or stand
// twice.
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Whether the op can take the value: made earlier in the same block, or an argument of it.
bool isBefore(mlir::Value value, mlir::Operation* op) {
  if (value.getParentBlock() != op->getBlock()) return false;
  mlir::Operation* definition = value.getDefiningOp();
  return !definition || definition->isBeforeInBlock(op);
}

// Values of the block that an op could take in place of another one, in textual order.
std::vector<mlir::Value> candidates(mlir::Operation* op, mlir::Value instead) {
  std::vector<mlir::Value> found;
  auto offer = [&](mlir::Value value) {
    if (value != instead && value.getType() == instead.getType() && isBefore(value, op))
      found.push_back(value);
  };
  for (mlir::BlockArgument argument : op->getBlock()->getArguments()) offer(argument);
  for (mlir::Operation& other : *op->getBlock()) {
    if (&other == op) break;
    for (mlir::Value result : other.getResults()) offer(result);
  }
  return found;
}

// Two operands of one type; harmless for commutative ops, and then the mutant may be proved right.
void operandsSwapped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (unsigned i = 0; i + 1 < op->getNumOperands(); ++i)
      for (unsigned j = i + 1; j < op->getNumOperands(); ++j) {
        mlir::Value a = op->getOperand(i), b = op->getOperand(j);
        if (a == b || a.getType() != b.getType()) continue;
        edits.add(op, quoted(a) + " and " + quoted(b) + " change places", [=]() {
          op->setOperand(i, b);
          op->setOperand(j, a);
        });
      }
}

// One of the others, drawn, so that the number of edits stays that of the operands.
void replaced(JobView& view, Edits& edits, mlir::Operation* op, unsigned index,
              const std::vector<mlir::Value>& others) {
  if (others.empty()) return;
  mlir::Value now = others[view.draw(others.size())];
  edits.add(op, "takes " + quoted(now) + " in place of " + quoted(op->getOperand(index)),
            [=]() { op->setOperand(index, now); });
}

// Every operand of every op: the kind with the most mutants, of which the others are special cases
// worth having by name.
void operandReplaced(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      replaced(view, edits, op, i, candidates(op, op->getOperand(i)));
}

// Values of one name are versions of one variable: an op that reads a stale one looks right in the
// text of the program.
void olderDefinition(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      std::vector<mlir::Value> others = candidates(op, op->getOperand(i));
      llvm::erase_if(others, [&](mlir::Value value) {
        return nameFor(value) != nameFor(op->getOperand(i)) || nameFor(value) == "value";
      });
      replaced(view, edits, op, i, others);
    }
}

// pd.undef stands for a variable read before it was written.
void operandUndefined(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (mlir::OpOperand& operand : op->getOpOperands())
      edits.add(
          op, "takes what nobody has written in place of " + quoted(operand.get()),
          [at = &operand]() {
            mlir::OpBuilder builder(at->getOwner());
            at->set(pd::UndefOp::create(builder, at->getOwner()->getLoc(), at->get().getType(),
                                        builder.getStringAttr(nameFor(at->get()))));
          });
}

// The gradients of two parameters of one shape change places in front of the update.
void gradientsSwapped(JobView& view, Edits& edits) {
  std::vector<pd::OpView> updates;
  for (mlir::Operation* op : view.framework)
    if (isOptimizer(op) && pd::OpView(op).input("Grad")) updates.emplace_back(op);
  for (size_t i = 0; i < updates.size(); ++i)
    for (size_t j = i + 1; j < updates.size(); ++j) {
      pd::OpView a = updates[i], b = updates[j];
      mlir::Value ofA = a.input("Grad"), ofB = b.input("Grad");
      if (ofA.getType() != ofB.getType() || !isBefore(ofB, a.operation())) continue;
      edits.add(a.operation(), quoted(ofA) + " and " + quoted(ofB) + " change places",
                [=]() mutable {
                  a.setInput("Grad", 0, ofB);
                  b.setInput("Grad", 0, ofA);
                });
    }
}

// dist.src is what the relation analysis starts from: it must not believe it.
void sourceChanged(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (mlir::Operation* other : view.framework)
      if (op != other && op->getName() == other->getName() && !isInserted(op) &&
          !isInserted(other) &&
          op->getAttrDictionary().get("attrs") == other->getAttrDictionary().get("attrs")) {
        edits.add(op, "says that it stands for what another op stands for",
                  [=]() { op->setAttr(dist::kSrcAttr, other->getAttr(dist::kSrcAttr)); });
        break;
      }
}

// Pairs of ops of one name and equal types, both of the program: both claims are well formed, and
// false.
void sourcesSwapped(JobView& view, Edits& edits) {
  for (size_t i = 0; i < view.framework.size(); ++i)
    for (size_t j = i + 1; j < view.framework.size(); ++j) {
      mlir::Operation *op = view.framework[i], *other = view.framework[j];
      if (op->getName() != other->getName() || isInserted(op) || isInserted(other) ||
          op->getOperandTypes() != other->getOperandTypes())
        continue;
      edits.add(op, "and another op say that they stand for each other's", [=]() {
        mlir::Attribute first = op->getAttr(dist::kSrcAttr);
        op->setAttr(dist::kSrcAttr, other->getAttr(dist::kSrcAttr));
        other->setAttr(dist::kSrcAttr, first);
      });
      break;
    }
}

// The op counts as inserted by a pass, and nothing may be claimed of what it computes but what
// follows from its operands.
void sourceDropped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    if (!isInserted(op))
      edits.add(op, "no longer says what it stands for", [=]() { op->removeAttr(dist::kSrcAttr); });
}

// An op that a pass has inserted pretends to be one of the program.
void sourceGiven(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (mlir::Operation* other : view.framework)
      if (isInserted(op) && !isInserted(other) && op->getName() == other->getName()) {
        edits.add(op, "was inserted, and says that it stands for an op of the reference",
                  [=]() { op->setAttr(dist::kSrcAttr, other->getAttr(dist::kSrcAttr)); });
        break;
      }
}

// Where each of its results has an operand of the same type to stand for it.
void opDropped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    if (op->getNumRegions() || op->getNumResults() == 0) continue;
    std::vector<std::pair<mlir::Value, mlir::Value>> reroute;
    for (mlir::OpResult result : op->getResults()) {
      if (result.use_empty()) continue;
      auto same = llvm::find_if(op->getOperands(), [&](mlir::Value operand) {
        return operand.getType() == result.getType();
      });
      if (same != op->operand_end()) reroute.emplace_back(result, *same);
      else reroute.emplace_back(result, mlir::Value());
    }
    if (reroute.empty() || llvm::any_of(reroute, [](const auto& pair) { return !pair.second; }))
      continue;
    edits.add(op, "is left out, its readers read what it read", [op, reroute]() {
      for (auto [result, operand] : reroute) result.replaceAllUsesWith(operand);
      op->erase();
    });
  }
}

// The second one takes the first one's result.
void opDoubled(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    if (op->getNumRegions() || op->getNumResults() == 0 || op->getResult(0).use_empty()) continue;
    for (mlir::OpOperand& operand : op->getOpOperands())
      if (operand.get().getType() == op->getResult(0).getType()) {
        edits.add(op, "stands twice, the second time on its own result",
                  [op, index = operand.getOperandNumber()]() {
                    Readers readers(op->getResult(0));
                    mlir::OpBuilder builder(op->getContext());
                    builder.setInsertionPointAfter(op);
                    mlir::Operation* again = builder.clone(*op);
                    again->setOperand(index, op->getResult(0));
                    readers.read(again->getResult(0));
                  });
      }
  }
}

// The others go on with an operand of the result's type, so that the program stays well typed.
void opOnOneRank(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (mlir::Operation* op : view.framework) {
    if (op->getNumRegions() || op->getNumResults() != 1 || op->getResult(0).use_empty()) continue;
    auto same = llvm::find_if(op->getOperands(), [&](mlir::Value operand) {
      return operand.getType() == op->getResult(0).getType();
    });
    if (same == op->operand_end()) continue;
    edits.add(op, "is run on one rank, the others go on with " + quoted(*same),
              [op, other = *same, axis = view.axis]() {
                Readers readers(op->getResult(0));
                mlir::OpBuilder builder(op);
                readers.read(onOneRank(
                    builder, axis, op->getResult(0),
                    [&](mlir::OpBuilder& inside) { return inside.clone(*op)->getResult(0); },
                    [&](mlir::OpBuilder&) { return other; }));
                op->erase();
              });
  }
}

// Two readers of one draw (a mask, and the gradient through it) see different numbers.
void drawDoubled(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    const pd::OpSpec* spec = pd::OpView(op).spec();
    if (!spec || !(spec->effects & pd::kRandom)) continue;
    for (mlir::OpResult result : op->getResults())
      for (mlir::OpOperand& use : result.getUses())
        edits.add(op, "is drawn once more for one of its readers",
                  [op, at = &use, index = result.getResultNumber()]() {
                    mlir::OpBuilder builder(op->getContext());
                    builder.setInsertionPointAfter(op);
                    at->set(builder.clone(*op)->getResult(index));
                  });
  }
}

// What a block hands out, in each other's place.
void yieldsSwapped(JobView& view, Edits& edits) {
  std::vector<mlir::Operation*> ends;
  view.program->walk([&](mlir::Operation* op) {
    bool composite =
        llvm::isa<dist::YieldOp>(op) && llvm::isa<dist::CompositeOp>(op->getParentOp());
    if (view.place == Place::Composites ? composite : llvm::isa<pd::YieldOp>(op))
      ends.push_back(op);
  });
  for (mlir::Operation* op : ends)
    for (unsigned i = 0; i + 1 < op->getNumOperands(); ++i)
      for (unsigned j = i + 1; j < op->getNumOperands(); ++j) {
        mlir::Value a = op->getOperand(i), b = op->getOperand(j);
        if (a == b || a.getType() != b.getType()) continue;
        edits.add(op->getParentOp(),
                  "hands out " + quoted(a) + " and " + quoted(b) + " in each other's place", [=]() {
                    op->setOperand(i, b);
                    op->setOperand(j, a);
                  });
      }
}

}  // namespace

std::vector<Kind> lineageKinds() {
  const char* lineage = "lineage";
  const char* bodies = "bodies";
  const char* startup = "start-up";
  return {
      {lineage, "operands-swapped", "two operands change places", Place::Main, operandsSwapped},
      {lineage, "operand-replaced", "an operand is another value of its type", Place::Main,
       operandReplaced},
      {lineage, "operand-other-version", "an operand is another version of its variable",
       Place::Main, olderDefinition},
      {lineage, "operand-undefined", "an operand is not written", Place::Main, operandUndefined},
      {lineage, "gradients-swapped", "two updates take each other's gradient", Place::Main,
       gradientsSwapped},
      {lineage, "source-changed", "dist.src names another op of the type", Place::Main,
       sourceChanged},
      {lineage, "sources-swapped", "two ops name each other's op of the reference", Place::Main,
       sourcesSwapped},
      {lineage, "source-dropped", "an op no longer says what it stands for", Place::Main,
       sourceDropped},
      {lineage, "source-given", "an inserted op says that it stands for one of the reference",
       Place::Main, sourceGiven},
      {lineage, "op-dropped", "an op is left out", Place::Main, opDropped},
      {lineage, "op-doubled", "an op stands twice", Place::Main, opDoubled},
      {"on-regions", "op-on-one-rank", "an op is run on one rank only", Place::Main, opOnOneRank},
      {"random", "draw-doubled", "one reader of a draw gets another one", Place::Main, drawDoubled},
      {bodies, "body-operands-swapped", "two operands in a block change places", Place::Bodies,
       operandsSwapped},
      {bodies, "body-operand-replaced", "an operand in a block is another value", Place::Bodies,
       operandReplaced},
      {bodies, "body-op-dropped", "an op in a block is left out", Place::Bodies, opDropped},
      {bodies, "body-op-doubled", "an op in a block stands twice", Place::Bodies, opDoubled},
      {bodies, "body-yields-swapped", "a block hands out values in each other's place",
       Place::Bodies, yieldsSwapped},
      {bodies, "composite-operands-swapped", "two operands in a composite change places",
       Place::Composites, operandsSwapped},
      {bodies, "composite-operand-replaced", "an operand in a composite is another value",
       Place::Composites, operandReplaced},
      {bodies, "composite-op-dropped", "an op in a composite is left out", Place::Composites,
       opDropped},
      {bodies, "composite-op-doubled", "an op in a composite stands twice", Place::Composites,
       opDoubled},
      {bodies, "composite-yields-swapped", "a composite hands out values in each other's place",
       Place::Composites, yieldsSwapped},
      {startup, "startup-operand-replaced", "an operand in the start-up program is another value",
       Place::Startup, operandReplaced},
      {startup, "startup-op-dropped", "an op of the start-up program is left out", Place::Startup,
       opDropped},
      {startup, "startup-sources-swapped", "two initialisers name each other's", Place::Startup,
       sourcesSwapped},
  };
}

}  // namespace dtranspile::mutate

// Values, variables and updates on other ranks than theirs: owners, guards, and branches whose
// predicate is to be equal on all ranks.
#include "dialects/dist/lookup.h"
#include "mlir/IR/IRMapping.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Ops of one kind at the place that the view is of (the program, its blocks or composites).
template <typename Op>
std::vector<Op> all(JobView& view) {
  std::vector<Op> found;
  view.program->walk([&](Op op) {
    if (view.holds(op)) found.push_back(op);
  });
  return found;
}

dist::YieldOp yieldOf(mlir::Region& region) {
  return llvm::cast<dist::YieldOp>(region.front().getTerminator());
}

//===--- owners ---===//

// The claim of where a variable is, broken towards too many ranks: those without an update keep the
// initial value and read it.
void everybodyOwns(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view))
    if (var->hasAttr(dist::kAtAttr))
      edits.add(var, "`" + var.getSymName().str() + "` exists on every rank", [var]() {
        var->removeAttr(dist::kAtAttr);
        if (auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr))
          var->setAttr(dist::kRelAttr, dist::RelAttr::of(relation.getVariable()));
      });
}

// The same for one rank more, beside the owner, so that the set stays a proper subset of the ranks.
void anotherOwnsToo(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view)) {
    auto where = var->getAttrOfType<dist::SelAttr>(dist::kAtAttr);
    if (!where || where.getSets().size() != 1 || !where.getSets()[0].isPoint()) continue;
    dist::AxisSetAttr set = where.getSets()[0];
    const int64_t size = view.mesh.sizeOf(set.getAxis().getValue()).value_or(1);
    const int64_t own = set.getBounds()[0], other = (own + 1) % size;
    if (size < 3) continue;  // two of two are all
    edits.add(var, "`" + var.getSymName().str() + "` exists on one more rank", [=]() mutable {
      auto both = dist::AxisSetAttr::of(set.getAxis(), {{own, own + 1}, {other, other + 1}});
      var->setAttr(dist::kAtAttr, dist::SelAttr::of(var.getContext(), both));
    });
  }
}

// The whole of an owner's things on another rank: guards, variables and what travels stay together,
// but for one of them.
void updateElsewhere(JobView& view, Edits& edits) {
  for (auto on : all<dist::OnOp>(view)) {
    dist::SelAttr where = on.getWhere();
    if (where.getSets().size() != 1 || !where.getSets()[0].isPoint() || !on.getInputs().empty() ||
        !on.getOutputs().empty())
      continue;
    dist::AxisSetAttr set = where.getSets()[0];
    const int64_t size = view.mesh.sizeOf(set.getAxis().getValue()).value_or(1);
    const int64_t other = (set.getBounds()[0] + 1) % size;
    edits.add(on, "runs on another rank", [=]() mutable {
      on.setWhereAttr(dist::SelAttr::point(on.getContext(), set.getAxis().getValue(), other));
    });
  }
}

// The body moves in front of its guard. Only of guards without operands and results, whose body
// reads and writes variables alone.
void guardOpened(JobView& view, Edits& edits) {
  for (auto on : all<dist::OnOp>(view)) {
    if (!on.getInputs().empty() || !on.getOutputs().empty()) continue;
    edits.add(on, "runs on every rank", [on]() mutable {
      for (mlir::Operation& op : llvm::make_early_inc_range(on.getBody().front()))
        if (!llvm::isa<dist::YieldOp>(op)) op.moveBefore(on);
      on.erase();
    });
  }
}

void guardDropped(JobView& view, Edits& edits) {
  for (auto on : all<dist::OnOp>(view))
    if (on.getOutputs().empty()) edits.add(on, "is left out", [on]() mutable { on.erase(); });
}

// Two located values of one type change places on their way into a guard.
void argumentsSwapped(JobView& view, Edits& edits) {
  for (auto on : all<dist::OnOp>(view))
    for (unsigned i = 0; i < on.getInputs().size(); ++i)
      for (unsigned j = i + 1; j < on.getInputs().size(); ++j)
        if (on.getInputs()[i].getType() == on.getInputs()[j].getType() &&
            on.getInputs()[i] != on.getInputs()[j])
          edits.add(
              on,
              "its arguments " + std::to_string(i) + " and " + std::to_string(j) + " change places",
              [=]() mutable {
                mlir::Value a = on->getOperand(i);
                on->setOperand(i, on->getOperand(j));
                on->setOperand(j, a);
              });
}

// All pairs of results of one type: the types then still fit, and only what is proved of the values
// can tell them apart.
void yieldsSwapped(JobView& view, Edits& edits) {
  for (auto on : all<dist::OnOp>(view)) {
    dist::YieldOp yield = yieldOf(on.getBody());
    for (unsigned i = 0; i < yield.getValues().size(); ++i)
      for (unsigned j = i + 1; j < yield.getValues().size(); ++j)
        if (yield.getValues()[i].getType() == yield.getValues()[j].getType() &&
            yield.getValues()[i] != yield.getValues()[j])
          edits.add(
              on,
              "its results " + std::to_string(i) + " and " + std::to_string(j) + " change places",
              [=]() mutable {
                mlir::Value a = yield->getOperand(i);
                yield->setOperand(i, yield->getOperand(j));
                yield->setOperand(j, a);
              });
  }
}

// What was to be counted once is counted on every rank, or on none.
void countedEverywhere(JobView& view, Edits& edits) {
  for (auto on : all<dist::OnOp>(view)) {
    if (on.getOtherwise().empty() || on.getOutputs().empty() || !on.getInputs().empty()) continue;
    edits.add(on, "its body runs on every rank", [on]() mutable {
      mlir::Region& otherwise = on.getOtherwise();
      mlir::IRMapping none;
      otherwise.front().erase();
      mlir::Block* block = &otherwise.emplaceBlock();
      auto builder = mlir::OpBuilder::atBlockEnd(block);
      for (mlir::Operation& op : on.getBody().front()) builder.clone(op, none);
    });
  }
}

// The other branch of a guard gives zeros, which a sum over the ranks does not count; x + 1 of them
// is counted once per rank.
void countedOneMore(JobView& view, Edits& edits) {
  for (auto on : all<dist::OnOp>(view)) {
    if (on.getOtherwise().empty()) continue;
    dist::YieldOp yield = yieldOf(on.getOtherwise());
    for (unsigned i = 0; i < yield.getValues().size(); ++i) {
      mlir::Value value = yield.getValues()[i];
      if (!isFloat(value) || !isStatic(value)) continue;
      edits.add(on, "gives 1 in place of nothing on the other ranks", [=]() mutable {
        mlir::OpBuilder builder(yield);
        yield->setOperand(i, scaled(builder, yield->getOperand(i), 1, 1));
      });
    }
  }
}

// An owner's result is that of the rank before.
void rootMoved(JobView& view, Edits& edits) {
  for (auto op : all<dist::ReduceOp>(view)) {
    dist::SelAttr root = op.getRoot();
    if (root.getSets().size() != 1) continue;
    dist::AxisSetAttr set = root.getSets()[0];
    const int64_t size = view.mesh.sizeOf(set.getAxis().getValue()).value_or(1);
    const int64_t other = (set.getBounds()[0] + 1) % size;
    edits.add(op, "goes to another rank", [=]() mutable {
      auto where = dist::SelAttr::point(op.getContext(), set.getAxis().getValue(), other);
      op.setRootAttr(where);
      for (mlir::OpResult result : op->getResults())
        result.setType(
            dist::AtType::get(op.getContext(), dist::unlocated(result.getType()), where));
    });
  }
}

void reduceOperation(JobView& view, Edits& edits) {
  for (auto op : all<dist::ReduceOp>(view))
    for (dist::Reduce reduce : {dist::Reduce::Max, dist::Reduce::Min})
      edits.add(op, "combines with " + dist::stringifyReduce(reduce).str(), [op, reduce]() mutable {
        op.setReduceAttr(dist::ReduceAttr::get(op.getContext(), reduce));
      });
}

// Another earlier value of the block, the first that fits: one mutant per operand, lest the number
// grow with the square of the program.
void reduceOther(JobView& view, Edits& edits) {
  for (auto op : all<dist::ReduceOp>(view))
    for (auto [i, operand] : llvm::enumerate(op.getInputs()))
      for (mlir::Value other : view.values)
        if (other != operand && other.getType() == operand.getType() &&
            other.getParentBlock() == op->getBlock() && other.getDefiningOp() &&
            other.getDefiningOp()->isBeforeInBlock(op)) {
          edits.add(op, quoted(other) + " is reduced in place of " + quoted(operand),
                    [=, i = i]() mutable { op->setOperand(i, other); });
          break;
        }
}

//===--- branches ---===//

// Blocks of control flow with communication inside.
std::vector<mlir::Operation*> branches(JobView& view) {
  std::vector<mlir::Operation*> found;
  view.program->walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || op->getNumRegions() == 0) return;
    bool inside = false;
    op->walk([&](mlir::Operation* inner) { inside |= static_cast<bool>(dist::commOf(inner)); });
    if (inside) found.push_back(op);
  });
  return found;
}

// A branch with communication must be taken by all ranks or none. Here one side of the comparison
// that decides it becomes the rank's coordinate: ranks that take the branch wait for those that do
// not.
void predicateLocal(JobView& view, Edits& edits) {
  for (mlir::Operation* branch : branches(view))
    for (mlir::OpOperand& operand : branch->getOpOperands()) {
      auto type = llvm::dyn_cast<mlir::RankedTensorType>(operand.get().getType());
      if (!type || !type.getElementType().isInteger(1)) continue;
      mlir::Operation* compare = operand.get().getDefiningOp();
      if (!compare || compare->getNumOperands() == 0) continue;
      for (mlir::OpOperand& side : compare->getOpOperands()) {
        auto number = llvm::dyn_cast<mlir::RankedTensorType>(side.get().getType());
        if (!number || number.getNumElements() != 1 || !number.getElementType().isInteger(64))
          continue;
        edits.add(branch, "its predicate depends on the rank",
                  [at = &side, compare, axis = view.axis]() {
                    mlir::OpBuilder builder(compare);
                    at->set(dist::CoordOp::create(builder, compare->getLoc(), at->get().getType(),
                                                  builder.getStringAttr(axis)));
                  });
      }
    }
}

// What a branch reduces every k-th step is reduced in every step, and the variables set to the
// sums: right in the steps in which the branch is taken, wrong in all others. Only reductions of
// what was read from variables can move in front of the branch.
void hoisted(JobView& view, Edits& edits) {
  for (mlir::Operation* branch : branches(view))
    branch->walk([&](dist::AllReduceOp op) {
      bool outside = llvm::all_of(op.getInputs(), [](mlir::Value value) {
        return value.getDefiningOp<pd::GetOp>() != nullptr;
      });
      if (!outside || op->getParentOp() != branch) return;
      edits.add(op, "is made before the branch, in every run, and stored", [=]() mutable {
        mlir::OpBuilder builder(branch);
        llvm::SmallVector<mlir::Value> values;
        llvm::SmallVector<mlir::FlatSymbolRefAttr> names;
        for (mlir::Value value : op.getInputs()) {
          auto get = value.getDefiningOp<pd::GetOp>();
          names.push_back(get.getVarAttr());
          values.push_back(builder.clone(*get)->getResult(0));
        }
        auto sum =
            dist::AllReduceOp::create(builder, op.getLoc(), mlir::ValueRange(values).getTypes(),
                                      op.getReduceAttr(), values, op.getCommAttr());
        for (auto [name, result] : llvm::zip(names, sum.getResults()))
          pd::SetOp::create(builder, op.getLoc(), name, result);
        op->replaceAllUsesWith(op.getInputs());
        op->erase();
      });
    });
}

}  // namespace

std::vector<Kind> placementKinds() {
  const char* group = "placement";
  return {
      {group, "owner-everybody", "a variable of one rank exists on all, and one updates it",
       Place::Main, everybodyOwns},
      {group, "owner-one-more", "a variable exists on a rank that does not update it", Place::Main,
       anotherOwnsToo},
      {group, "guard-elsewhere", "what one rank is to do, another one does", Place::Main,
       updateElsewhere},
      {group, "guard-opened", "what one rank is to do, all of them do", Place::Main, guardOpened},
      {group, "guard-dropped", "what one rank is to do, nobody does", Place::Main, guardDropped},
      {group, "guard-arguments", "two values change places on their way into a guard", Place::Main,
       argumentsSwapped},
      {group, "guard-results", "two values change places on their way out of a guard", Place::Main,
       yieldsSwapped},
      {group, "counted-everywhere", "what is to be counted once is counted on every rank",
       Place::Main, countedEverywhere},
      {group, "counted-more", "nothing is something on the other ranks", Place::Main,
       countedOneMore},
      {group, "root-moved", "a reduction goes to another rank", Place::Main, rootMoved},
      {group, "root-operation", "a reduction to a rank combines otherwise", Place::Main,
       reduceOperation},
      {group, "root-other", "another value is reduced to the owner", Place::Main, reduceOther},
      {group, "startup-guard-elsewhere", "an initial value is made on another rank", Place::Startup,
       updateElsewhere},
      {group, "startup-guard-dropped", "an initial value is not made", Place::Startup,
       guardDropped},
      {group, "predicate-local", "a branch with communication that some ranks take", Place::Main,
       predicateLocal},
      {group, "branch-hoisted", "a reduction of a branch is made in every run", Place::Bodies,
       hoisted},
      {group, "branch-reduction-dropped", "a reduction of a branch is left out", Place::Bodies,
       [](JobView& view, Edits& edits) {
         for (mlir::Operation* op : view.collectives)
           if (givesBack(op)) edits.add(op, "left out", [op] { bypass(op); });
       }},
  };
}

}  // namespace dtranspile::mutate

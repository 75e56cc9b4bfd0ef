// Steps that are counted otherwise, branches that are taken in other steps, and things that two
// places do in each other's place or order.
#include "dialects/pd/declarations.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Counters of the job: variables that a step sets to one more than what they were.
void countedTwice(JobView& view, Edits& edits) {
  view.program->walk([&](pd::SetOp set) {
    mlir::Operation* more = set.getValue().getDefiningOp();
    if (!view.holds(set) || !more || !pd::OpView::isFrameworkOp(more) || !isInserted(more) ||
        pd::OpView(more).type() != "increment")
      return;
    edits.add(set, "`" + set.getVar().str() + "` is counted twice in a step",
              [set, more]() mutable {
                mlir::OpBuilder builder(set.getContext());
                builder.setInsertionPointAfter(set);
                mlir::Operation* again = builder.clone(*more);
                pd::OpView(again).setInput("X", 0, more->getResult(0));
                pd::SetOp::create(builder, set.getLoc(), set.getVarAttr(), again->getResult(0));
              });
  });
}

// Branches that passes put in, with their conditions.
std::vector<pd::OpView> branchesOf(JobView& view) {
  std::vector<pd::OpView> found;
  for (mlir::Operation* op : view.framework)
    if (isInserted(op) && pd::OpView(op).type() == "conditional_block" &&
        pd::OpView(op).input("Cond"))
      found.emplace_back(op);
  return found;
}

mlir::Value logical(mlir::OpBuilder& builder, llvm::StringRef type, mlir::Value x, mlir::Value y) {
  pd::Declarations declarations;
  const std::string name = declarations.freshName(builder.getInsertionBlock(), "logical");
  std::vector<pd::InputSlot> inputs = {{"X", {x}}};
  if (y) inputs.push_back({"Y", {y}});
  return declarations
      .create(builder, x.getLoc(), type, inputs, {{"Out", {{name, x.getType()}}}}, {},
              pd::kOptimize)
      .output("Out");
}

enum class Taken { Otherwise, Always, Never };

// The condition stays what it is for all that reads it besides.
template <Taken taken>
void takenOtherwise(JobView& view, Edits& edits) {
  for (pd::OpView branch : branchesOf(view))
    edits.add(branch.operation(),
              taken == Taken::Always  ? "is taken in every step"
              : taken == Taken::Never ? "is taken in no step"
                                      : "is taken in the other steps",
              [branch]() mutable {
                mlir::OpBuilder builder(branch.operation());
                mlir::Value now = branch.input("Cond");
                mlir::Value other = logical(builder, "logical_not", now, {});
                if (taken != Taken::Otherwise)
                  other = logical(builder, taken == Taken::Always ? "logical_or" : "logical_and",
                                  now, other);
                branch.setInput("Cond", 0, other);
              });
}

// Two branches that are taken in each other's steps.
void conditionsSwapped(JobView& view, Edits& edits) {
  const std::vector<pd::OpView> branches = branchesOf(view);
  for (size_t i = 0; i < branches.size(); ++i)
    for (size_t j = i + 1; j < branches.size(); ++j) {
      mlir::Value a = branches[i].input("Cond"), b = branches[j].input("Cond");
      mlir::Operation* maker = b.getDefiningOp();
      if (a == b || a.getType() != b.getType() || !maker ||
          !maker->isBeforeInBlock(branches[i].operation()))
        continue;
      edits.add(branches[i].operation(),
                "is taken where another branch is, and the other way round",
                [first = branches[i], second = branches[j], a, b]() mutable {
                  first.setInput("Cond", 0, b);
                  second.setInput("Cond", 0, a);
                });
    }
}

// What two guards are to do, each other's ranks do.
void guardsExchanged(JobView& view, Edits& edits) {
  std::vector<dist::OnOp> guards;
  view.program->walk([&](dist::OnOp on) {
    if (view.holds(on)) guards.push_back(on);
  });
  for (size_t i = 0; i < guards.size(); ++i)
    for (size_t j = i + 1; j < guards.size(); ++j) {
      dist::OnOp a = guards[i], b = guards[j];
      if (a->getBlock() != b->getBlock() || a.getWhere() == b.getWhere()) continue;
      edits.add(a, "is run where another guard's body is, and the other way round",
                [a, b]() mutable {
                  dist::SelAttr where = a.getWhere();
                  a.setWhereAttr(b.getWhere());
                  b.setWhereAttr(where);
                });
      break;
    }
}

// Two sets of one variable in a block: what it holds in between is what it should end as.
void setsReordered(JobView& view, Edits& edits) {
  std::vector<pd::SetOp> sets;
  view.program->walk([&](pd::SetOp set) {
    if (view.holds(set)) sets.push_back(set);
  });
  for (size_t i = 0; i < sets.size(); ++i)
    for (size_t j = i + 1; j < sets.size(); ++j) {
      pd::SetOp first = sets[i], second = sets[j];
      if (first.getVar() != second.getVar() || first->getBlock() != second->getBlock()) continue;
      edits.add(second, "`" + second.getVar().str() + "` ends as what it holds in between",
                [first, second]() { first->moveAfter(second); });
      break;
    }
}

// An op in front of what it is not to see: moved up over all that it does not take. What variables
// hold there, and which requests have been answered, is another matter.
void readOverRequest(JobView& view, Edits& edits) {
  view.program->walk([&](pd::GetOp get) {
    if (!view.holds(get)) return;
    mlir::Operation* before = get->getPrevNode();
    while (before && !llvm::isa<pd::SetOp>(before)) before = before->getPrevNode();
    auto set = llvm::dyn_cast_or_null<pd::SetOp>(before);
    while (set && set.getVar() != get.getVar()) {
      before = before->getPrevNode();
      while (before && !llvm::isa<pd::SetOp>(before)) before = before->getPrevNode();
      set = llvm::dyn_cast_or_null<pd::SetOp>(before);
    }
    if (set)
      edits.add(get, "`" + get.getVar().str() + "` is read in front of its last set",
                [get, set]() { get->moveBefore(set); });
  });
}

}  // namespace

std::vector<Kind> orderKinds() {
  const char* group = "order";
  return {
      {group, "counted-twice", "a step counts twice", Place::Main, countedTwice},
      {group, "branch-otherwise", "an inserted branch is taken in the other steps", Place::Main,
       takenOtherwise<Taken::Otherwise>},
      {group, "branch-always", "an inserted branch is taken in every step", Place::Main,
       takenOtherwise<Taken::Always>},
      {group, "branch-never", "an inserted branch is taken in no step", Place::Main,
       takenOtherwise<Taken::Never>},
      {group, "branch-conditions-swapped", "two branches are taken in each other's steps",
       Place::Main, conditionsSwapped},
      {group, "guards-exchanged", "two guards' bodies run on each other's ranks", Place::Main,
       guardsExchanged},
      {group, "startup-guards-exchanged",
       "two guards' bodies at the start run on each other's ranks", Place::Startup,
       guardsExchanged},
      {group, "sets-reordered", "a variable ends as what it holds in between", Place::Main,
       setsReordered},
      {group, "body-sets-reordered", "a variable of a block ends as what it holds in between",
       Place::Bodies, setsReordered},
      {group, "startup-sets-reordered", "a variable begins as what it holds in between",
       Place::Startup, setsReordered},
      {group, "read-before-set", "a variable is read in front of its last set", Place::Main,
       readOverRequest},
      {group, "body-read-before-set", "a variable of a block is read in front of its last set",
       Place::Bodies, readOverRequest},
      {group, "startup-read-before-set", "a variable is read in front of its last set at the start",
       Place::Startup, readOverRequest},
  };
}

}  // namespace dtranspile::mutate

// Updates that are missing, misdirected or made on some ranks only, and variables that go with
// them.
#include "dialects/pd/declarations.h"
#include "llvm/ADT/SetVector.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// In the order of the text, at the place of the view.
std::vector<pd::SetOp> setsOf(JobView& view) {
  std::vector<pd::SetOp> found;
  view.program->walk([&](pd::SetOp set) {
    if (view.holds(set)) found.push_back(set);
  });
  return found;
}

// Those after which a variable is not set again.
std::vector<pd::SetOp> lastSetsOf(JobView& view) {
  std::vector<pd::SetOp> sets = setsOf(view), last;
  for (auto [i, set] : llvm::enumerate(sets))
    if (llvm::none_of(llvm::drop_begin(sets, i + 1),
                      [name = set.getVar()](pd::SetOp other) { return other.getVar() == name; }))
      last.push_back(set);
  return last;
}

void setDropped(JobView& view, Edits& edits) {
  for (pd::SetOp set : setsOf(view))
    edits.add(set, "`" + set.getVar().str() + "` is not set", [set]() { set->erase(); });
}

// All states of an optimizer at once; set-dropped takes one at a time.
void updateDropped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    if (!isOptimizer(op)) continue;
    edits.add(op, "no result of it is stored", [op]() {
      for (mlir::Value result : op->getResults())
        for (mlir::Operation* user : llvm::make_early_inc_range(result.getUsers()))
          if (llvm::isa<pd::SetOp>(user)) user->erase();
    });
  }
}

// Each with the next one of its type only, since pairs grow with the square of the variables.
void setsSwapped(JobView& view, Edits& edits) {
  std::vector<pd::SetOp> sets = setsOf(view);
  for (size_t i = 0; i < sets.size(); ++i)
    for (size_t j = i + 1; j < sets.size(); ++j) {
      pd::SetOp a = sets[i], b = sets[j];
      if (a.getValue().getType() != b.getValue().getType() || a.getVar() == b.getVar()) continue;
      edits.add(
          a, "`" + a.getVar().str() + "` and `" + b.getVar().str() + "` get each other's new value",
          [a, b]() mutable {
            mlir::FlatSymbolRefAttr name = a.getVarAttr();
            a.setVarAttr(b.getVarAttr());
            b.setVarAttr(name);
          });
      break;
    }
}

// To any earlier value of the block of the same type.
void setToOther(JobView& view, Edits& edits) {
  for (pd::SetOp set : setsOf(view)) {
    std::vector<mlir::Value> others;
    for (mlir::Operation& op : *set->getBlock()) {
      if (&op == set.getOperation()) break;
      for (mlir::Value result : op.getResults())
        if (result != set.getValue() && result.getType() == set.getValue().getType())
          others.push_back(result);
    }
    if (others.empty()) continue;
    mlir::Value now = others[view.draw(others.size())];
    edits.add(set, "`" + set.getVar().str() + "` is set to " + quoted(now),
              [set, now]() mutable { set.getValueMutable().assign(now); });
  }
}

// One of the others of the type, drawn.
void getOther(JobView& view, Edits& edits) {
  std::vector<pd::VarOp> variables = variablesOf(view);
  view.program->walk([&](pd::GetOp get) {
    std::vector<pd::VarOp> others;
    for (pd::VarOp var : variables)
      if (var.getType() == get.getValue().getType() && var.getSymName() != get.getVar())
        others.push_back(var);
    if (others.empty()) return;
    pd::VarOp now = others[view.draw(others.size())];
    edits.add(get,
              "`" + now.getSymName().str() + "` is read in place of `" + get.getVar().str() + "`",
              [get, now]() mutable {
                get.setVarAttr(mlir::FlatSymbolRefAttr::get(now.getSymNameAttr()));
              });
  });
}

// The new value is stored before the old one is read.
void setMovedEarly(JobView& view, Edits& edits) {
  for (pd::SetOp set : setsOf(view))
    for (mlir::Operation& op : *set->getBlock()) {
      auto get = llvm::dyn_cast<pd::GetOp>(op);
      mlir::Operation* definition = set.getValue().getDefiningOp();
      if (!get || get.getVar() != set.getVar() || !definition ||
          !definition->isBeforeInBlock(get) || !get->isBeforeInBlock(set))
        continue;
      edits.add(set, "`" + set.getVar().str() + "` is stored before it is read",
                [set, definition]() { set->moveAfter(definition); });
    }
}

// The new value is read where the old one was.
void getMovedLate(JobView& view, Edits& edits) {
  for (pd::SetOp set : setsOf(view))
    for (mlir::Operation* op : view.framework) {
      if (op->getBlock() != set->getBlock() || !set->isBeforeInBlock(op)) continue;
      for (mlir::OpOperand& operand : op->getOpOperands()) {
        auto get = operand.get().getDefiningOp<pd::GetOp>();
        if (!get || get.getVar() != set.getVar() || !get->isBeforeInBlock(set)) continue;
        edits.add(op, "reads `" + set.getVar().str() + "` as it is after its update",
                  [at = &operand, set]() mutable { at->set(set.getValue()); });
      }
    }
}

// Ops of a program that nothing but the setting of a variable needs.
llvm::SetVector<mlir::Operation*> onlyFor(pd::ProgramOp program, llvm::StringRef name) {
  llvm::SetVector<mlir::Operation*> dead;
  for (bool grown = true; grown;) {
    grown = false;
    for (mlir::Operation& op : llvm::reverse(*program.getBodyBlock())) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      bool goes =
          set ? set.getVar() == name
              : op.getNumResults() > 0 && op.getNumRegions() == 0 && !llvm::isa<pd::InputOp>(op) &&
                    llvm::all_of(op.getUsers(),
                                 [&](mlir::Operation* user) { return dead.contains(user); }) &&
                    !op.use_empty();
      if (goes) grown |= dead.insert(&op);
    }
  }
  return dead;
}

void eraseAll(const llvm::SetVector<mlir::Operation*>& ops) {
  for (mlir::Operation* op : ops) op->dropAllUses(), op->dropAllReferences();
  for (mlir::Operation* op : ops) op->erase();
}

// Whether anything but the dead ops touches the variable.
bool stillReads(pd::ProgramOp program, llvm::StringRef name,
                const llvm::SetVector<mlir::Operation*>& dead) {
  return program
      ->walk([&](mlir::Operation* op) {
        auto get = llvm::dyn_cast<pd::GetOp>(op);
        auto set = llvm::dyn_cast<pd::SetOp>(op);
        bool touches = (get && get.getVar() == name) || (set && set.getVar() == name);
        return touches && !dead.contains(op) ? mlir::WalkResult::interrupt()
                                             : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// A variable, its update and its initial value go together: nothing is left that misses it.
void variableDeleted(JobView& view, Edits& edits) {
  std::vector<pd::ProgramOp> programs;
  for (auto program : view.role.getBody().front().getOps<pd::ProgramOp>())
    programs.push_back(program);
  for (pd::VarOp var : variablesOf(view)) {
    llvm::StringRef name = var.getSymName();
    bool free = llvm::none_of(programs, [&](pd::ProgramOp program) {
      return stillReads(program, name, onlyFor(program, name));
    });
    if (!free) continue;
    edits.add(var, "`" + name.str() + "` is deleted with its update", [var, programs]() mutable {
      std::string gone = var.getSymName().str();
      for (pd::ProgramOp program : programs) {
        eraseAll(onlyFor(program, gone));
        if (pd::DeclOp decl = program.lookupDecl(gone)) decl->erase();
      }
      var->erase();
    });
  }
}

// The others keep the old value: replicas drift apart from that step on.
void setOnOneRank(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (pd::SetOp set : setsOf(view)) {
    edits.add(set, "`" + set.getVar().str() + "` is set on one rank", [set, axis = view.axis]() {
      mlir::OpBuilder builder(set);
      auto on = dist::OnOp::create(builder, set->getLoc(), mlir::TypeRange(),
                                   dist::SelAttr::point(builder.getContext(), axis, 0),
                                   mlir::ValueRange(), dist::TaskAttr(), mlir::IntegerAttr());
      builder.createBlock(&on.getBody());
      set->moveBefore(dist::YieldOp::create(builder, set->getLoc(), mlir::ValueRange()));
    });
  }
}

// All ranks but one store an operand of the op that makes the value, mostly the old one: as in
// set-on-one-rank, but with a set on every rank, so that it is not seen by who stores.
void setDiffers(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (pd::SetOp set : lastSetsOf(view)) {
    mlir::Operation* maker = set.getValue().getDefiningOp();
    if (!maker || !pd::OpView::isFrameworkOp(maker)) continue;
    auto other = llvm::find_if(maker->getOperands(), [&](mlir::Value operand) {
      return operand.getType() == set.getValue().getType();
    });
    if (other == maker->operand_end()) continue;
    edits.add(set,
              "`" + set.getVar().str() + "` is set to " + quoted(*other) + " on all ranks but one",
              [set, now = *other, axis = view.axis]() mutable {
                mlir::OpBuilder builder(set);
                mlir::Value value = onOneRank(
                    builder, axis, set.getValue(), [&](mlir::OpBuilder&) { return set.getValue(); },
                    [&](mlir::OpBuilder&) { return now; });
                set.getValueMutable().assign(value);
              });
  }
}

// The update is dropped, and the variable said to be the whole of others, which are the truth.
void partsOfOthers(JobView& view, Edits& edits) {
  for (pd::SetOp set : setsOf(view)) {
    std::vector<pd::VarOp> variables = variablesOf(view);
    auto own =
        llvm::find_if(variables, [&](pd::VarOp var) { return var.getSymName() == set.getVar(); });
    auto other =
        llvm::find_if(variables, [&](pd::VarOp var) { return var.getSymName() != set.getVar(); });
    if (own == variables.end() || other == variables.end()) continue;
    edits.add(set, "`" + set.getVar().str() + "` is not set, and said to be kept in its parts",
              [set, var = *own, part = *other]() mutable {
                mlir::Builder builder(set.getContext());
                var->setAttr(
                    pd::kPartsAttr,
                    builder.getArrayAttr(mlir::FlatSymbolRefAttr::get(part.getSymNameAttr())));
                set->erase();
              });
  }
}

// The other way from owner-everybody: other ranks read what they do not have.
void existsOnOneRank(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (pd::VarOp var : variablesOf(view))
    edits.add(var, "`" + var.getSymName().str() + "` exists on one rank",
              [var, axis = view.axis]() mutable {
                var->setAttr(dist::kAtAttr, dist::SelAttr::point(var.getContext(), axis, 0));
              });
}

// Two variables of one type change names throughout the role.
void namesSwapped(JobView& view, Edits& edits) {
  std::vector<pd::VarOp> variables = variablesOf(view);
  for (size_t i = 0; i < variables.size(); ++i)
    for (size_t j = i + 1; j < variables.size(); ++j) {
      pd::VarOp a = variables[i], b = variables[j];
      if (a.getType() != b.getType()) continue;
      edits.add(a, "`" + a.getSymName().str() + "` and `" + b.getSymName().str() + "` change names",
                [a, b, role = view.role]() mutable {
                  mlir::StringAttr first = a.getSymNameAttr(), second = b.getSymNameAttr();
                  auto other = [&](mlir::FlatSymbolRefAttr name) {
                    if (name.getAttr() == first) return mlir::FlatSymbolRefAttr::get(second);
                    return name.getAttr() == second ? mlir::FlatSymbolRefAttr::get(first) : name;
                  };
                  role.walk([&](mlir::Operation* op) {
                    if (auto get = llvm::dyn_cast<pd::GetOp>(op))
                      get.setVarAttr(other(get.getVarAttr()));
                    if (auto set = llvm::dyn_cast<pd::SetOp>(op))
                      set.setVarAttr(other(set.getVarAttr()));
                  });
                  a.setSymNameAttr(second);
                  b.setSymNameAttr(first);
                });
      break;
    }
}

// A variable that no op knows.
void variableAdded(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view))
    edits.add(var, "stands there again, under a name of its own, for nothing", [var]() mutable {
      mlir::OpBuilder builder(var);
      auto extra = llvm::cast<pd::VarOp>(builder.clone(*var));
      extra.setSymName((var.getSymName() + ".extra").str());
      extra->removeAttr(dist::kRelAttr);
      extra.setParameter(false);
    });
}

}  // namespace

std::vector<Kind> variableKinds() {
  const char* lineage = "lineage";
  const char* startup = "start-up";
  return {
      {lineage, "set-dropped", "a variable is not set", Place::Main, setDropped},
      {lineage, "update-dropped", "an update computes and stores nothing", Place::Main,
       updateDropped},
      {lineage, "sets-swapped", "two variables get each other's new value", Place::Main,
       setsSwapped},
      {lineage, "set-to-other", "a variable is set to another value", Place::Main, setToOther},
      {lineage, "get-of-other", "another variable is read", Place::Main, getOther},
      {lineage, "set-before-get", "a variable is stored before it is read", Place::Main,
       setMovedEarly},
      {lineage, "get-after-set", "a value is read after its update", Place::Main, getMovedLate},
      {lineage, "variable-deleted", "a variable goes with all that sets it", Place::Main,
       variableDeleted},
      {lineage, "variable-added", "a variable that nobody reads or sets", Place::Main,
       variableAdded},
      {lineage, "variables-swapped", "two variables change names", Place::Main, namesSwapped},
      {"on-regions", "set-on-one-rank", "a variable is set on one rank only", Place::Main,
       setOnOneRank},
      {"on-regions", "set-differs", "a variable is set to something else on some ranks",
       Place::Main, setDiffers},
      {"on-regions", "variable-on-one-rank", "a variable exists on one rank only", Place::Main,
       existsOnOneRank},
      {"parts", "parts-of-others", "a variable that is not set is said to be kept in others",
       Place::Main, partsOfOthers},
      {startup, "startup-set-dropped", "an initial value is not stored", Place::Startup,
       setDropped},
      {startup, "startup-sets-swapped", "two variables get each other's initial value",
       Place::Startup, setsSwapped},
      {startup, "startup-set-to-other", "an initial value is another one", Place::Startup,
       setToOther},
      {startup, "startup-set-on-one-rank", "an initial value is stored on one rank only",
       Place::Startup, setOnOneRank},
  };
}

}  // namespace dtranspile::mutate

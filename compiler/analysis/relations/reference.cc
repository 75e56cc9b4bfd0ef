// Numbers the values of the reference in the order in which they are made. Two versions of a
// variable are two numbers: a get gives the number of what was set last, so that "the parameter
// before the step" and "after sgd" are told apart wherever they are read. Ops that hand an operand
// on give its number. A block may run or not, and more than once: what it sets has one number
// within it, one before it and one after it, and a role's branch is held against all three
// (branches.cc).
#include "compiler/analysis/relations/reference.h"

#include "compiler/analysis/relations/updates.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/position.h"

namespace dtranspile::verify {
namespace {

int lookup(const llvm::StringMap<int>& map, llvm::StringRef key) {
  auto found = map.find(key);
  return found == map.end() ? -1 : found->second;
}

}  // namespace

// Numbers first what variables hold before the step, then what the program makes.
Reference::Reference(pd::ProgramOp program) {
  if (!program) return;
  // Every variable has a number, also one that only the role touches.
  if (mlir::Operation* table = program->getParentOp())
    for (mlir::Region& region : table->getRegions())
      for (auto var : region.getOps<pd::VarOp>())
        initial_[var.getSymName()] = add(var, var.getSymName(), " before the step");
  for (const auto& entry : initial_) current_[entry.getKey()] = entry.getValue();
  number(*program.getBodyBlock());
}

int Reference::add(mlir::Operation* op, llvm::StringRef name, const char* kind) {
  definitions_.push_back({op, name, kind, ++counts_[name]});
  return static_cast<int>(definitions_.size()) - 1;
}

bool Reference::isDefinition(int number, llvm::StringRef name, int64_t count) const {
  return number >= 0 && definitions_[number].name == name &&
         definitions_[number].count == std::max<int64_t>(count, 1);
}

std::string Reference::describe(int number) const {
  const Definition& definition = definitions_[number];
  std::string text = definition.name.empty() ? "a value" : "`" + definition.name.str() + "`";
  text += definition.kind;
  return pd::OpView::isFrameworkOp(definition.op) ? text + pd::describe(definition.op) : text;
}

// Gets and sets inside change `current_`; what regions set has a number of its own after the op,
// since a branch may not run.
void Reference::enterRegions(mlir::Operation* op, int64_t index) {
  llvm::StringMap<int> before = current_;
  for (mlir::Region& region : op->getRegions())
    for (mlir::Block& block : region) {
      for (mlir::BlockArgument argument : block.getArguments())
        numbers_[argument] = add(op, "", " that enters the block of ");
      number(block);
    }
  for (auto& entry : current_) {
    if (lookup(before, entry.getKey()) == entry.getValue()) continue;
    before_[index][entry.getKey()] = lookup(before, entry.getKey());
    within_[index][entry.getKey()] = entry.getValue();
    entry.second = add(op, entry.getKey(), " after ");
    after_[index][entry.getKey()] = entry.getValue();
  }
}

// A parameter is trained if an optimizer op (slots Param and ParamOut) reads it or sets it.
void Reference::noteTrained(mlir::Operation* op) {
  pd::OpView view(op);
  if (!view.hasInput("Param") || !view.hasOutput("ParamOut")) return;
  for (mlir::Value value : view.inputs("Param"))
    if (auto get = value ? value.getDefiningOp<pd::GetOp>() : pd::GetOp())
      trained_.insert(get.getVar());
  // A forward op may hand a parameter on (W_Out of hierarchical_sigmoid): then what is set tells.
  for (mlir::Value value : view.outputs("ParamOut")) {
    if (!value) continue;
    for (mlir::Operation* user : value.getUsers())
      if (auto set = llvm::dyn_cast<pd::SetOp>(user)) trained_.insert(set.getVar());
  }
}

void Reference::notePowers(mlir::Operation* op) {
  for (const Power& power : powersOf(pd::OpView(op)))
    powers_.try_emplace(numberOf(power.in), Multiple{numberOf(power.out), power.factor});
}

// Value numbering in program order, as the comment at the top says. `current_` is the number that
// each variable holds at this point, `named_` the last value of each declared name at the top
// level, and ops are numbered in the order in which lineage attributes count them, before what
// their regions hold.
void Reference::number(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    if (auto input = llvm::dyn_cast<pd::InputOp>(op)) {
      inputs_[input.getName()] = numbers_[input.getValue()] = add(&op, input.getName(), " as fed");
    } else if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
      numbers_[get.getValue()] = lookup(current_, get.getVar());
    } else if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
      current_[set.getVar()] = numberOf(set.getValue());
    } else if (pd::OpView::isFrameworkOp(&op)) {
      auto index = static_cast<int64_t>(ops_.size());
      ops_.push_back(&op);
      noteTrained(&op);
      for (mlir::OpResult result : op.getResults()) {
        mlir::Value same = passedThrough(result);
        int id = numbers_[result] = same ? numberOf(same) : add(&op, pd::nameOf(result), " of ");
        if (llvm::isa<pd::ProgramOp>(op.getParentOp())) named_[pd::nameOf(result)] = id;
      }
      notePowers(&op);
      if (op.getNumRegions()) enterRegions(&op, index);
    } else {
      for (mlir::OpResult result : op.getResults())
        numbers_[result] = add(&op, pd::nameOf(result), "");
    }
  }
}

int Reference::numberOf(mlir::Value value) const {
  auto found = numbers_.find(value);
  return found == numbers_.end() ? -1 : found->second;
}

int Reference::inputNumber(llvm::StringRef name) const { return lookup(inputs_, name); }
int Reference::initialNumber(llvm::StringRef var) const { return lookup(initial_, var); }
int Reference::finalNumber(llvm::StringRef var) const { return lookup(current_, var); }
int Reference::namedNumber(llvm::StringRef name) const { return lookup(named_, name); }

int Reference::numberBefore(int64_t index, llvm::StringRef var) const {
  auto found = before_.find(index);
  return found == before_.end() ? -1 : lookup(found->second, var);
}

int Reference::numberWithin(int64_t index, llvm::StringRef var) const {
  auto found = within_.find(index);
  return found == within_.end() ? -1 : lookup(found->second, var);
}

int Reference::numberAfter(int64_t index, llvm::StringRef var) const {
  auto found = after_.find(index);
  return found == after_.end() ? -1 : lookup(found->second, var);
}

}  // namespace dtranspile::verify

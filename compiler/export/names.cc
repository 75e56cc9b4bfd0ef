// Values back to named cells. Passes move and add uses without regard to names; here every read is
// made to find the value it means.
#include "compiler/export/program.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile {
namespace {

using mlir::Operation;
using mlir::Value;

// Follows execution through one block and reports values that are read after their cell was
// overwritten.
class Simulator {
 public:
  // Values in the order in which a stale read of them was met first.
  llvm::SetVector<Value> stale;

  // An abstract execution: `cells_` has the value that each name holds at this point. Results take
  // their names' cells, sets write the variables', and an operand whose cell holds another value by
  // now is stale.
  void run(mlir::Block* block) {
    for (mlir::BlockArgument argument : block->getArguments())
      assign(pd::nameAttrOf(argument), argument);
    for (Operation& op : *block) {
      if (llvm::isa<pd::DeclOp>(op)) continue;
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        // Two reads of a persistable with no write between them are one version of it.
        Value& cell = cells_[get.getVarAttr().getAttr()];
        if (cell) same_[get.getValue()] = version(cell);
        else assign(get.getVarAttr().getAttr(), get.getValue());
        continue;
      }
      if (!llvm::isa<pd::YieldOp>(op))
        for (Value operand : op.getOperands()) check(operand);
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        assign(set.getVarAttr().getAttr(), set.getValue());
        written_.push_back(set.getVarAttr().getAttr());
        continue;
      }
      for (mlir::Region& region : op.getRegions())
        for (mlir::Block& inner : region) runInner(&inner);
      for (Value result : op.getResults()) assign(pd::nameAttrOf(result), result);
    }
  }

 private:
  // What a region does to the cells is undone after it: its values do not live there. Persistables
  // that it sets are read anew.
  void runInner(mlir::Block* block) {
    size_t start = undo_.size(), firstWritten = written_.size();
    ++depth_;
    run(block);
    --depth_;
    for (; undo_.size() > start; undo_.pop_back()) cells_[undo_.back().first] = undo_.back().second;
    for (size_t i = firstWritten; i < written_.size(); ++i) assign(written_[i], Value());
  }

  void assign(mlir::StringAttr name, Value value) {
    Value& cell = cells_[name];
    if (depth_ > 0) undo_.emplace_back(name, cell);
    cell = value;
  }

  Value version(Value value) const {
    auto found = same_.find(value);
    return found == same_.end() ? value : found->second;
  }

  void check(Value value) {
    if (!value.getDefiningOp()) return;
    Value cell = cells_.lookup(pd::nameAttrOf(value));
    if (cell && cell != value && version(cell) != version(value)) stale.insert(value);
  }

  llvm::DenseMap<mlir::StringAttr, Value> cells_;  // null: not known
  std::vector<std::pair<mlir::StringAttr, Value>> undo_;
  int depth_ = 0;  // of regions around the op being walked
  llvm::DenseMap<Value, Value> same_;
  std::vector<mlir::StringAttr>
      written_;  // persistables set so far, in order, those of regions too
};

// Declares a copy of `name` under a new name and returns it.
std::string declareVersion(pd::Declarations& declarations, mlir::Block* block, llvm::StringRef name,
                           mlir::Type type, int& next) {
  std::string fresh;
  do fresh = (name + "@v" + llvm::Twine(next++)).str();
  while (declarations.find(block, fresh));
  if (pd::DeclOp original = declarations.find(block, name)) declarations.copy(original, fresh);
  else declarations.declare(block, fresh, type);
  return fresh;
}

// New names of some results of an op, by their number; all at once, for each makes a new list.
using Renames = llvm::SmallDenseMap<unsigned, std::string>;

void renameResults(Operation* op, const Renames& renames) {
  mlir::Builder builder(op->getContext());
  unsigned at = 0;
  llvm::SmallVector<mlir::Attribute> slots;
  for (mlir::Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>("outs")) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    llvm::SmallVector<mlir::StringAttr> arguments(slot.getArgs());
    for (mlir::StringAttr& argument : arguments) {
      if (argument.getValue() == pd::kEmptyArgument) continue;
      if (auto fresh = renames.find(at++); fresh != renames.end())
        argument = builder.getStringAttr(fresh->second);
    }
    slots.push_back(pd::SlotAttr::get(op->getContext(), slot.getName(), arguments));
  }
  op->setAttr("outs", builder.getArrayAttr(slots));
}

bool isPersistableName(pd::Declarations& declarations, mlir::Block* block, llvm::StringRef name) {
  pd::DeclOp decl = declarations.find(block, name);
  return decl && decl.isPersistable();
}

pd::InputSlot input(llvm::StringRef slot, Value value) { return {slot, {value}}; }

pd::OutputSlot output(llvm::StringRef slot, llvm::StringRef name, mlir::Type type) {
  return {slot, {{name.str(), type}}};
}

// A copy of `value` in a cell of its own, made right after its definition.
Value copyBehind(pd::Declarations& declarations, Value value, llvm::StringRef fresh) {
  mlir::OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  int role = pd::kForward;
  for (Operation* user : value.getUsers())
    if (pd::OpView::isFrameworkOp(user)) role = pd::OpView(user).role();
  pd::OpView copy = declarations.create(builder, value.getLoc(), "assign", input("X", value),
                                        output("Out", fresh, value.getType()), {}, role);
  return copy.output("Out");
}

// `pd.set @w, %v` of a value of another name: `assign` into @w, in the block that sets it. A block
// of control flow writes the cell of the block around it, as it does under the variable's own name.
void assignSets(pd::Declarations& declarations, pd::ProgramOp program) {
  llvm::SmallVector<pd::SetOp> sets;
  program.walk([&](pd::SetOp set) { sets.push_back(set); });
  for (pd::SetOp set : sets) {
    Value value = set.getValue();
    if (pd::nameOf(value) == set.getVar()) continue;
    mlir::OpBuilder builder(set);
    pd::OpView copy =
        declarations.create(builder, set.getLoc(), "assign", input("X", value),
                            output("Out", set.getVar(), value.getType()), {}, pd::kOptimize);
    set.getValueMutable().set(copy.output("Out"));
  }
}

}  // namespace

// Every stale value gets a name of its own: its definition is renamed where that is possible, and
// else it is copied right behind its definition, and late readers read the copy.
mlir::LogicalResult resolveNames(pd::ProgramOp program) {
  mlir::Block* block = program.getBodyBlock();
  pd::Declarations declarations;
  assignSets(declarations, program);
  Simulator simulator;
  simulator.run(block);
  llvm::StringMap<int> next;
  llvm::DenseMap<Operation*, Renames> renames;
  for (Value value : simulator.stale) {
    Operation* definition = value.getDefiningOp();
    std::string name = pd::nameOf(value).str();
    mlir::Block* home = definition->getBlock();
    int& number = next.try_emplace(name, 1).first->second;
    std::string fresh = declareVersion(declarations, home, name, value.getType(), number);
    if (pd::OpView::isFrameworkOp(definition) && !isPersistableName(declarations, block, name) &&
        definition->getNumRegions() == 0) {
      renames[definition][llvm::cast<mlir::OpResult>(value).getResultNumber()] = fresh;
      continue;
    }
    Value copy = copyBehind(declarations, value, fresh);
    // Early readers may keep the original cell; all read the copy, which is right for each of them.
    // The set of the cell stays.
    value.replaceUsesWithIf(copy, [&](mlir::OpOperand& use) {
      return use.getOwner() != copy.getDefiningOp() && !llvm::isa<pd::SetOp>(use.getOwner());
    });
  }
  for (const auto& [op, fresh] : renames) renameResults(op, fresh);
  return mlir::success();
}

}  // namespace dtranspile

// Values back to named cells. Passes move and add uses without regard to names; here every read is made to find the value it means.
#include "compiler/export/program.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile {
namespace {

using mlir::Operation;
using mlir::Value;

// Follows execution through one block and reports values that are read after their cell was overwritten.
class Simulator {
 public:
  // Values in the order in which a stale read of them was met first.
  llvm::MapVector<Value, Operation*> stale;

  void run(mlir::Block* block, llvm::DenseMap<llvm::StringRef, Value> cells) {
    for (mlir::BlockArgument argument : block->getArguments()) cells[pd::nameOf(argument)] = argument;
    for (Operation& op : *block) {
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        check(set.getValue(), &op, cells);
        cells[set.getVar()] = set.getValue();
        written_.insert(set.getVar());
        continue;
      }
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        // Two reads of a persistable with no write between them are one version of it.
        auto [cell, first] = cells.try_emplace(get.getVar(), get.getValue());
        if (!first) same_[get.getValue()] = version(cell->second);
        continue;
      }
      for (Value operand : op.getOperands()) check(operand, &op, cells);
      for (mlir::Region& region : op.getRegions())
        for (mlir::Block& inner : region) {
          written_.clear();
          run(&inner, cells);
          for (llvm::StringRef name : written_) cells.erase(name);
        }
      for (Value result : op.getResults()) cells[pd::nameOf(result)] = result;
    }
  }

 private:
  Value version(Value value) const {
    auto found = same_.find(value);
    return found == same_.end() ? value : found->second;
  }

  void check(Value value, Operation* user, const llvm::DenseMap<llvm::StringRef, Value>& cells) {
    if (llvm::isa<pd::YieldOp>(user) || !value.getDefiningOp()) return;
    auto found = cells.find(pd::nameOf(value));
    if (found != cells.end() && version(found->second) != version(value)) stale.insert({value, user});
  }

  llvm::DenseMap<Value, Value> same_;
  llvm::SetVector<llvm::StringRef> written_;  // persistables set in the region being walked
};

pd::DeclOp findDecl(mlir::Block* block, llvm::StringRef name) {
  for (auto decl : block->getOps<pd::DeclOp>())
    if (decl.getName() == name) return decl;
  return {};
}

// Declares a copy of `name` under a new name and returns it.
std::string declareVersion(mlir::Block* block, llvm::StringRef name, mlir::Type type, int& next) {
  std::string fresh;
  do fresh = (name + "@v" + llvm::Twine(next++)).str();
  while (findDecl(block, fresh));
  if (pd::DeclOp original = findDecl(block, name)) {
    mlir::OpBuilder builder(original);
    builder.setInsertionPointAfter(original);
    auto copy = llvm::cast<pd::DeclOp>(builder.clone(*original));
    copy.setName(fresh);
    copy.removePersistableAttr();
    copy.removeIsParameterAttr();
    copy.removeNeedCheckFeedAttr();
  } else {
    pd::declare(block, fresh, type);
  }
  return fresh;
}

void renameResult(mlir::OpResult result, llvm::StringRef fresh) {
  Operation* op = result.getOwner();
  mlir::Builder builder(op->getContext());
  unsigned at = 0;
  llvm::SmallVector<mlir::Attribute> slots;
  for (mlir::Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>("outs")) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    llvm::SmallVector<mlir::StringAttr> arguments(slot.getArgs());
    for (mlir::StringAttr& argument : arguments)
      if (argument.getValue() != pd::kEmptyArgument && at++ == result.getResultNumber()) argument = builder.getStringAttr(fresh);
    slots.push_back(pd::SlotAttr::get(op->getContext(), slot.getName(), arguments));
  }
  op->setAttr("outs", builder.getArrayAttr(slots));
}

bool isPersistableName(mlir::Block* block, llvm::StringRef name) {
  pd::DeclOp decl = findDecl(block, name);
  return decl && decl.isPersistable();
}

pd::InputSlot input(llvm::StringRef slot, Value value) { return {slot, {value}}; }

pd::OutputSlot output(llvm::StringRef slot, llvm::StringRef name, mlir::Type type) { return {slot, {{name.str(), type}}}; }

// A copy of `value` in a cell of its own, made right behind its definition.
Value copyBehind(Value value, llvm::StringRef fresh) {
  mlir::OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  int role = pd::kForward;
  for (Operation* user : value.getUsers())
    if (pd::OpView::isFrameworkOp(user)) role = pd::OpView(user).role();
  pd::OpView copy = pd::createOp(builder, value.getLoc(), "assign", input("X", value), output("Out", fresh, value.getType()), {}, role);
  return copy.output("Out");
}

// `pd.set @w, %v` of a value of another name: `assign` into @w.
void assignSets(mlir::Block* block) {
  for (pd::SetOp set : llvm::make_early_inc_range(block->getOps<pd::SetOp>())) {
    Value value = set.getValue();
    if (pd::nameOf(value) == set.getVar()) continue;
    mlir::OpBuilder builder(set);
    pd::OpView copy = pd::createOp(builder, set.getLoc(), "assign", input("X", value), output("Out", set.getVar(), value.getType()), {}, pd::kOptimize);
    set.getValueMutable().set(copy.output("Out"));
  }
}

}  // namespace

mlir::LogicalResult resolveNames(pd::ProgramOp program) {
  mlir::Block* block = program.getBodyBlock();
  assignSets(block);
  Simulator simulator;
  simulator.run(block, llvm::DenseMap<llvm::StringRef, Value>());
  llvm::StringMap<int> next;
  for (auto [value, user] : simulator.stale) {
    Operation* definition = value.getDefiningOp();
    std::string name = pd::nameOf(value).str();
    mlir::Block* home = definition->getBlock();
    int& number = next.try_emplace(name, 1).first->second;
    std::string fresh = declareVersion(home, name, value.getType(), number);
    if (pd::OpView::isFrameworkOp(definition) && !isPersistableName(block, name) && definition->getNumRegions() == 0) {
      renameResult(llvm::cast<mlir::OpResult>(value), fresh);
      continue;
    }
    Value copy = copyBehind(value, fresh);
    // Early readers may keep the original cell; all read the copy, which is right for each of them. The set of the cell stays.
    value.replaceUsesWithIf(copy, [&](mlir::OpOperand& use) { return use.getOwner() != copy.getDefiningOp() && !llvm::isa<pd::SetOp>(use.getOwner()); });
  }
  return mlir::success();
}

}  // namespace dtranspile

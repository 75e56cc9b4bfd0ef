#include "passes/amp/apart.h"

#include "dialects/pd/op_view.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::passes {
namespace {

bool isCastOfUpdate(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kOptimize) &&
         pd::OpView(op).type() == "cast";
}

// The parameter's gradient is complete behind `cast`, and not behind `maker`.
void completeAt(pd::OpView cast, pd::OpView maker, const std::string& parameter) {
  mlir::Builder builder(cast.operation()->getContext());
  const auto list = [&](const std::vector<std::string>& all) {
    return builder.getStrArrayAttr(llvm::SmallVector<llvm::StringRef>(all.begin(), all.end()));
  };
  std::vector<std::string> left;
  const std::vector<std::string> names = maker.getStrings("op_role_var");
  for (size_t i = 0; i + 1 < names.size(); i += 2)
    if (names[i] != parameter) left.insert(left.end(), {names[i], names[i + 1]});
  maker.setAttr("op_role_var", left.empty() ? mlir::Attribute() : list(left));
  cast.setAttr("op_role_var", list({parameter, pd::nameOf(cast.operation()->getResult(0)).str()}));
  cast.setAttr("op_role", builder.getI32IntegerAttr(pd::kBackward));
}

// Variables that the ops set.
llvm::StringSet<> setBy(const Ops& ops) {
  llvm::StringSet<> names;
  for (mlir::Operation* op : ops)
    for (mlir::Operation* user : op->getUsers())
      if (auto set = llvm::dyn_cast<pd::SetOp>(user)) names.insert(set.getVar());
  return names;
}

bool isSet(mlir::Operation* op) {
  return llvm::any_of(op->getUsers(),
                      [](mlir::Operation* user) { return llvm::isa<pd::SetOp>(user); });
}

bool hasNoEffects(mlir::Operation* op) {
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return spec && spec->effects == pd::kPure && op->getNumRegions() == 0;
}

}  // namespace

// `op_role_var` of a backward op lists pairs (parameter, gradient) that the op completes. Where the
// gradient is then cast for the update, that cast moves to the backward part and completes it
// instead.
void completeInFloat32(pd::ProgramOp main) {
  for (mlir::Operation& op : *main.getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op)) continue;
    pd::OpView maker(&op);
    if (!(maker.role() & pd::kBackward) || !maker.hasAttr("op_role_var")) continue;
    const std::vector<std::string> names = maker.getStrings("op_role_var");
    for (size_t i = 0; i + 1 < names.size(); i += 2)
      for (mlir::Value result : op.getResults()) {
        if (pd::nameOf(result) != names[i + 1]) continue;
        for (mlir::Operation* user : result.getUsers())
          if (isCastOfUpdate(user)) completeAt(pd::OpView(user), maker, names[i]);
      }
  }
}

// Common ops first, in program order: pure ones whose operands come from outside, from variables
// that the update does not write, or from other common ops. The rest falls into connected
// components (union-find over ops and the variables that they read or write): ops of one component
// must stay together, and two components share nothing.
Apart takeApart(const Ops& ops) {
  const llvm::StringSet<> written = setBy(ops);
  Apart apart;
  for (mlir::Operation* op : ops) {
    const bool common =
        hasNoEffects(op) && !isSet(op) && llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
          mlir::Operation* maker = operand.getDefiningOp();
          if (auto get = llvm::dyn_cast_or_null<pd::GetOp>(maker))
            return !written.contains(get.getVar());
          return !maker || !ops.contains(maker) || apart.common.contains(maker);
        });
    if (common) apart.common.insert(op);
  }
  // Ops and variables (by attribute) that belong together.
  llvm::EquivalenceClasses<const void*> together;
  for (mlir::Operation* op : ops) {
    if (apart.common.contains(op)) continue;
    together.insert(op);
    for (mlir::Value operand : op->getOperands()) {
      mlir::Operation* maker = operand.getDefiningOp();
      auto get = llvm::dyn_cast_or_null<pd::GetOp>(maker);
      if (get && written.contains(get.getVar()))
        together.unionSets(op, get.getVarAttr().getAttr().getAsOpaquePointer());
      else if (maker && ops.contains(maker) && !apart.common.contains(maker))
        together.unionSets(op, maker);
    }
    for (mlir::Operation* user : op->getUsers())
      if (auto set = llvm::dyn_cast<pd::SetOp>(user))
        together.unionSets(op, set.getVarAttr().getAttr().getAsOpaquePointer());
  }
  llvm::MapVector<const void*, Ops> groups;  // in the order of their first ops
  for (mlir::Operation* op : ops)
    if (!apart.common.contains(op)) groups[together.getLeaderValue(op)].insert(op);
  for (auto& [leader, group] : groups) apart.groups.push_back(std::move(group));
  return apart;
}

}  // namespace dtranspile::passes

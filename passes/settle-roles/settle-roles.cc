// The ops of the update that a program's author wrote. First of the passes that change a program:
// it keeps the source where nothing has yet, and only if there is something to settle.
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "passes/settle-roles/pass.h"
#include "passes/support/changes.h"
#include "passes/support/step.h"
#include "passes/support/update_ops.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SETTLEROLES
#include "passes/settle-roles/pass.h.inc"

namespace {

constexpr llvm::StringLiteral kOfStep = "@STEP";      // what the step computes of a variable
constexpr llvm::StringLiteral kOfUpdate = "@UPDATE";  // and the update, once more

void setRole(mlir::Operation* op) {
  op->walk([](mlir::Operation* inner) {
    if (pd::OpView::isFrameworkOp(inner))
      pd::OpView(inner).setAttr(
          "op_role", mlir::Builder(inner->getContext()).getI32IntegerAttr(pd::kOptimize));
  });
}

void rename(mlir::OpResult result, llvm::StringRef name) {
  mlir::Operation* op = result.getOwner();
  mlir::MLIRContext* context = op->getContext();
  unsigned number = 0;
  llvm::SmallVector<mlir::Attribute> slots;
  for (auto slot : op->getAttrOfType<mlir::ArrayAttr>("outs").getAsRange<pd::SlotAttr>()) {
    llvm::SmallVector<mlir::StringAttr> names(slot.getArgs());
    for (mlir::StringAttr& each : names)
      if (each.getValue() != pd::kEmptyArgument && number++ == result.getResultNumber())
        each = mlir::StringAttr::get(context, name);
    slots.push_back(pd::SlotAttr::get(context, slot.getName(), names));
  }
  op->setAttr("outs", mlir::ArrayAttr::get(context, slots));
}

// What the ops of a program read and set, in its order. Variables that blocks read and set count
// for the op that has the blocks.
class Order {
 public:
  explicit Order(mlir::Block* block) : block_(block) {
    for (mlir::Operation& op : *block) {
      position_[&op] = position_.size();
      op.walk([&](mlir::Operation* inner) {
        if (auto get = llvm::dyn_cast<pd::GetOp>(inner)) getters_[get.getVar()].push_back(&op);
        if (auto set = llvm::dyn_cast<pd::SetOp>(inner)) setters_[set.getVar()].push_back(&op);
      });
    }
  }

  bool isBefore(mlir::Operation* one, mlir::Operation* other) const {
    return position_.lookup(one) < position_.lookup(other);
  }
  llvm::ArrayRef<mlir::Operation*> settersOf(llvm::StringRef variable) const {
    return of(setters_, variable);
  }
  llvm::ArrayRef<mlir::Operation*> gettersOf(llvm::StringRef variable) const {
    return of(getters_, variable);
  }
  mlir::Operation* inProgram(mlir::Operation* op) const {
    return block_->findAncestorOpInBlock(*op);
  }

  // Variables that the op itself, or its blocks, read.
  static llvm::SetVector<mlir::StringAttr> readBy(mlir::Operation* op) {
    llvm::SetVector<mlir::StringAttr> names;
    op->walk([&](pd::GetOp get) { names.insert(get.getVarAttr().getAttr()); });
    return names;
  }
  // What the op follows from: makers of its operands, and ops that have set what it reads.
  llvm::SmallVector<mlir::Operation*> sourcesOf(mlir::Operation* op) const {
    llvm::SmallVector<mlir::Operation*> sources;
    for (mlir::Value operand : operandsOf(op))
      if (mlir::Operation* maker = operand.getDefiningOp()) sources.push_back(inProgram(maker));
    for (mlir::StringAttr name : readBy(op))
      for (mlir::Operation* setter : settersOf(name))
        if (isBefore(setter, op)) sources.push_back(setter);
    return sources;
  }

 private:
  using Lists = llvm::StringMap<llvm::SmallVector<mlir::Operation*>>;
  static llvm::ArrayRef<mlir::Operation*> of(const Lists& lists, llvm::StringRef variable) {
    auto found = lists.find(variable);
    return found == lists.end() ? llvm::ArrayRef<mlir::Operation*>()
                                : llvm::ArrayRef<mlir::Operation*>(found->second);
  }

  mlir::Block* block_;
  llvm::DenseMap<mlir::Operation*, size_t> position_;
  Lists getters_, setters_;
};

class Settler {
 public:
  Settler(pd::ProgramOp main, bool byBlock)
      : main_(main), block_(main.getBodyBlock()), byBlock_(byBlock) {}

  // The names of values that belong to the update, though they did not say so; and whether anything
  // else of the program was changed.
  std::vector<std::string> run(bool& changed) {
    changed = completeBeforeSums();
    for (auto& entry : completeGradients(main_)) {
      gradients_.insert(entry.second);
      trained_.insert(entry.first());
    }
    if (gradients_.empty()) return {};  // no training program: all of it is the step
    look();
    if (repeatForUpdate()) look();
    findUpdate();
    std::vector<std::string> names;
    for (mlir::Operation* op : update_) {
      setRole(op);
      changed = true;
      for (mlir::Value result : op->getResults()) names.push_back(pd::nameOf(result).str());
    }
    changed |= !copies_.empty();
    llvm::sort(names);
    names.erase(llvm::unique(names), names.end());
    return names;
  }

 private:
  static bool isVariableOf(mlir::Operation* set, pd::GetOp get) {
    auto one = llvm::dyn_cast<pd::SetOp>(set);
    return one && get && one.getVarAttr() == get.getVarAttr();
  }

  // variable + gradient that goes back to the variable, listed as the gradient (the framework's
  // GradientMergeOptimizer): what is added is the gradient of this step.
  bool completeBeforeSums() {
    bool changed = false;
    for (mlir::Operation& op : *block_) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      pd::OpView sum(&op);
      if (!(sum.role() & pd::kBackward) || !sum.hasAttr("op_role_var") ||
          sum.type() != "elementwise_add")
        continue;
      const std::vector<std::string> names = sum.getStrings("op_role_var");
      auto get = sum.input("Y").getDefiningOp<pd::GetOp>();
      mlir::Operation* maker = sum.input("X").getDefiningOp();
      const bool goesBack = llvm::any_of(
          op.getUsers(), [&](mlir::Operation* user) { return isVariableOf(user, get); });
      if (names.size() != 2 || !goesBack || !maker || !pd::OpView::isFrameworkOp(maker) ||
          !(pd::OpView(maker).role() & pd::kBackward))
        continue;
      pd::OpView gradient(maker);
      std::vector<std::string> listed;
      if (gradient.hasAttr("op_role_var")) listed = gradient.getStrings("op_role_var");
      listed.push_back(names[0]);
      listed.push_back(pd::nameOf(sum.input("X")).str());
      mlir::Builder builder(op.getContext());
      gradient.setAttr("op_role_var", builder.getStrArrayAttr(llvm::SmallVector<llvm::StringRef>(
                                          listed.begin(), listed.end())));
      sum.setAttr("op_role_var", {});
      sum.setAttr("op_role", builder.getI32IntegerAttr(pd::kForward));
      changed = true;
    }
    return changed;
  }

  void look() {
    order_.emplace(block_);
    findStep();
    findOfBatch();
  }

  // Everything that the loss and the backward part follow from, but for what an update has left.
  void findStep() {
    step_.clear();
    llvm::SmallVector<mlir::Operation*> open;
    for (mlir::Operation& op : *block_)
      if (pd::OpView::isFrameworkOp(&op) && (pd::OpView(&op).role() & (pd::kBackward | pd::kLoss)))
        open.push_back(&op);
    while (!open.empty()) {
      mlir::Operation* op = open.pop_back_val();
      if (isOfUpdate(op) || !step_.insert(op).second) continue;
      llvm::append_range(open, order_->sourcesOf(op));
    }
  }

  // Feeds, what the step draws, and what follows from them otherwise than through gradients.
  void findOfBatch() {
    ofBatch_.clear();
    for (mlir::Operation& op : *block_) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(&op) ? pd::OpView(&op).spec() : nullptr;
      bool of = llvm::isa<pd::InputOp>(op) ||
                (step_.contains(&op) && spec && (spec->effects & pd::kRandom));
      for (mlir::Value operand : operandsOf(&op))
        of = of || (!gradients_.contains(operand) && operand.getDefiningOp() &&
                    ofBatch_.contains(order_->inProgram(operand.getDefiningOp())));
      for (mlir::StringAttr name : Order::readBy(&op))
        for (mlir::Operation* setter : order_->settersOf(name))
          of = of || (order_->isBefore(setter, &op) && ofBatch_.contains(setter));
      if (of) ofBatch_.insert(&op);
    }
  }

  bool isUpdating(mlir::Operation* op) const { return update_.contains(op) || isOfUpdate(op); }
  // Whether what sets a variable belongs to the update.
  bool setsForUpdate(mlir::Operation* setter) const {
    auto set = llvm::dyn_cast<pd::SetOp>(setter);
    mlir::Operation* writer = set ? set.getValue().getDefiningOp() : setter;
    return writer && isUpdating(writer);
  }

  bool canBeOfUpdate(mlir::Operation* op) const {
    if (!pd::OpView::isFrameworkOp(op) || isOfUpdate(op)) return false;
    const pd::OpView view(op);
    return view.spec() && (view.role() & ~pd::kNotSpecified) == pd::kForward &&
           !step_.contains(op) && !ofBatch_.contains(op) && takesCapturesOnly(op);
  }
  bool isTakenByUpdate(mlir::Operation* op) const {
    bool sets = false;
    if (op->getNumRegions()) op->walk([&](pd::SetOp) { sets = true; });
    return (sets || !op->use_empty()) && llvm::all_of(op->getUsers(), [&](mlir::Operation* user) {
             user = order_->inProgram(user);
             return llvm::isa<pd::SetOp>(user) || isUpdating(user);
           });
  }
  // A variable is the same at the end of the step as where the op reads it, but for updates.
  bool isReadForGood(llvm::StringRef name, mlir::Operation* reader) const {
    return llvm::all_of(order_->settersOf(name), [&](mlir::Operation* setter) {
      return order_->isBefore(setter, reader) || setsForUpdate(setter);
    });
  }
  bool readsForGood(mlir::Operation* op) const {
    for (mlir::StringAttr name : Order::readBy(op))
      if (!isReadForGood(name, op)) return false;
    for (mlir::Value operand : operandsOf(op))
      if (auto get = operand.getDefiningOp<pd::GetOp>())
        if (!isReadForGood(get.getVar(), get)) return false;
    return true;
  }

  // The largest set: all candidates, less those that do not fit what is left.
  void findUpdate() {
    for (mlir::Operation& op : *block_)
      if (canBeOfUpdate(&op)) update_.insert(&op);
    for (bool changed = true; changed;) {
      changed = false;
      for (mlir::Operation& op : llvm::reverse(*block_))
        if (update_.contains(&op) && !(isTakenByUpdate(&op) && readsForGood(&op)))
          changed |= update_.erase(&op);
    }
  }

  // Pure ops of the step that follow from variables alone, as the step finds them.
  llvm::DenseSet<mlir::Operation*> findOfVariables() const {
    llvm::DenseSet<mlir::Operation*> ops;
    for (mlir::Operation& op : *block_) {
      if (!step_.contains(&op) || !pd::OpView::isFrameworkOp(&op) || op.getNumRegions()) continue;
      const pd::OpView view(&op);
      if (!view.spec() || view.spec()->effects != pd::kPure ||
          (view.role() & ~pd::kNotSpecified) != pd::kForward)
        continue;
      if (llvm::all_of(op.getOperands(), [&](mlir::Value operand) {
            mlir::Operation* maker = operand.getDefiningOp();
            auto get = llvm::dyn_cast_or_null<pd::GetOp>(maker);
            return get ? order_->sourcesOf(get).empty() : maker && ops.contains(maker);
          }))
        ops.insert(&op);
    }
    return ops;
  }

  // Whether the variable is set once, and nothing reads it behind that: what takes the new value
  // takes it from its op.
  bool isSetForNextStep(pd::SetOp set) const {
    return order_->settersOf(set.getVar()).size() == 1 &&
           llvm::all_of(order_->gettersOf(set.getVar()),
                        [&](mlir::Operation* getter) { return order_->isBefore(getter, set); });
  }

  bool repeatForUpdate() {
    const llvm::DenseSet<mlir::Operation*> ofVariables = findOfVariables();
    const auto isShared = [&](mlir::Value value) {
      mlir::Operation* maker = value.getDefiningOp();
      return maker && ofVariables.contains(maker) && !isConstantOp(maker);
    };
    for (mlir::Operation& op : llvm::make_early_inc_range(*block_)) {
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        if (isShared(set.getValue()) && isSetForNextStep(set) &&
            !(byBlock_ && followsFromTrained(set.getValue())))
          setLate(set);
      } else if (isOfUpdate(&op) || canBeOfUpdate(&op)) {
        for (mlir::OpOperand& operand : op.getOpOperands())
          if (isShared(operand.get())) operand.set(again(operand.get()));
      }
    }
    return !copies_.empty();
  }

  // Servers would keep it beside the parameter, in blocks; trainers, who read it, have all that it
  // follows from.
  bool followsFromTrained(mlir::Value value) const {
    llvm::SmallVector<mlir::Operation*> open = {value.getDefiningOp()};
    llvm::DenseSet<mlir::Operation*> seen;
    while (!open.empty()) {
      mlir::Operation* op = open.pop_back_val();
      if (!op || !seen.insert(op).second) continue;
      if (auto get = llvm::dyn_cast<pd::GetOp>(op); get && trained_.contains(get.getVar()))
        return true;
      for (mlir::Value operand : op->getOperands()) open.push_back(operand.getDefiningOp());
    }
    return false;
  }

  // The variable gets what the update computes, under its name; the step has its own.
  void setLate(pd::SetOp set) {
    auto value = llvm::cast<mlir::OpResult>(set.getValue());
    mlir::Value copy = again(value);
    const std::string name = pd::nameOf(value).str();
    giveName(value, name + kOfStep.str());
    rename(llvm::cast<mlir::OpResult>(copy), name);
    set.getValueMutable().assign(copy);
  }

  void giveName(mlir::OpResult result, const std::string& stem) {
    const std::string name = declarations_.freshName(block_, stem);
    declarations_.declare(block_, name, result.getType());
    rename(result, name);
  }

  // The same value, of ops that stand beside those that make it.
  mlir::Value again(mlir::Value value) {
    mlir::Operation* maker = value.getDefiningOp();
    if (llvm::isa<pd::GetOp>(maker)) return value;
    mlir::Operation*& copy = copies_[maker];
    if (!copy) {
      copy = maker->clone();
      for (mlir::OpOperand& operand : copy->getOpOperands()) operand.set(again(operand.get()));
      block_->getOperations().insertAfter(maker->getIterator(), copy);
      for (mlir::OpResult result : copy->getResults())
        giveName(result, (pd::nameOf(result) + kOfUpdate).str());
    }
    return copy->getResult(llvm::cast<mlir::OpResult>(value).getResultNumber());
  }

  pd::ProgramOp main_;
  mlir::Block* block_;
  pd::Declarations declarations_;
  std::optional<Order> order_;
  const bool byBlock_;
  llvm::DenseSet<mlir::Value> gradients_;
  llvm::StringSet<> trained_;
  llvm::DenseSet<mlir::Operation*> step_, ofBatch_, update_;
  llvm::DenseMap<mlir::Operation*, mlir::Operation*> copies_;  // of ops of the step
};

class SettleRoles : public impl::SettleRolesBase<SettleRoles> {
 public:
  using SettleRolesBase::SettleRolesBase;

  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main)) return signalPassFailure();
    mlir::ModuleOp module = getOperation();
    const bool kept = static_cast<bool>(module.lookupSymbol<mlir::ModuleOp>("source"));
    if (!kept) keepSource(module);
    bool changed = false;
    const std::vector<std::string> names = Settler(*main, by_block).run(changed);
    if (changed)
      declareChange(
          module,
          Change(&getContext(), "settle-roles").set("values", llvm::ArrayRef<std::string>(names)));
    else if (!kept) module.lookupSymbol<mlir::ModuleOp>("source").erase();
  }
};

}  // namespace
}  // namespace dtranspile::passes

#include "compiler/verify/relations/every.h"

#include <optional>

#include "dialects/pd/op_view.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile::verify {
namespace {

constexpr llvm::StringLiteral kRemedy =
    "count steps from 0 on in a variable of its own, by one per step, and take the branch where "
    "the remainder by k is 0";

// The op that makes a value, if it is of the type; a null view otherwise.
pd::OpView opOf(mlir::Value value, llvm::StringRef type) {
  mlir::Operation* op = value ? value.getDefiningOp() : nullptr;
  if (!op || !pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != type)
    return pd::OpView(nullptr);
  return pd::OpView(op);
}

// One number of 64 bits: several are no count, and of fewer bits, or of floats, counting ends.
bool isOneInteger(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getElementType().isInteger(64);
}

// The number of a fill_constant that nothing at run time can change.
std::optional<double> constantOf(mlir::Value value) {
  const pd::OpView fill = opOf(value, "fill_constant");
  if (!fill.operation() || fill.operation()->getNumOperands() != 0 ||
      !fill.getString("str_value").empty() || !isOneInteger(value))
    return std::nullopt;
  return fill.getFloat("value");
}

// The parts of the condition; null where it has another form.
struct Condition {
  pd::OpView mod{nullptr}, increment{nullptr};
  pd::GetOp counter;
  std::optional<double> every, rest;
};

// The one form that passes make: equal(mod(increment(get counter), k), 0). Another form is no
// error, but its steps are unknown.
Condition conditionOf(mlir::Operation* branch) {
  Condition condition;
  const pd::OpView view(branch);
  const pd::OpView equal = opOf(view.input("Cond"), "equal");
  if (!equal.operation()) return condition;
  condition.rest = constantOf(equal.input("Y"));
  condition.mod = opOf(equal.input("X"), "elementwise_mod");
  if (!condition.mod.operation()) return condition;
  condition.every = constantOf(condition.mod.input("Y"));
  condition.increment = opOf(condition.mod.input("X"), "increment");
  if (condition.increment.operation())
    if (mlir::Value from = condition.increment.input("X"))
      condition.counter = from.getDefiningOp<pd::GetOp>();
  return condition;
}

}  // namespace

// That the branch is taken in every k-th step, and in no other, follows from: the counter begins at
// 0, is read and set once per step in the main block, and is set to one more. Whatever breaks one
// of these is `wrong`, the first one found.
EverySteps everySteps(mlir::Operation* branch, pd::ProgramOp main, pd::ProgramOp startup) {
  EverySteps every;
  every.remedy = kRemedy.str();
  Condition condition = conditionOf(branch);
  if (!condition.counter || !condition.every || !condition.rest ||
      condition.counter->getBlock() != main.getBodyBlock() ||
      !pd::OpView(branch).getBool("is_scalar_condition")) {
    every.open = "it is not known which steps take this branch";
    return every;
  }
  const auto wrong = [&](mlir::Operation* op, std::string why) {
    if (every.wrong) return;
    every.wrong = op;
    every.why = std::move(why);
  };
  if (!isOneInteger(condition.counter.getValue()) ||
      !isOneInteger(condition.increment.output("Out")) ||
      !isOneInteger(condition.mod.output("Out")))
    wrong(condition.increment.operation(),
          "counts steps in something else than one number of 64 bits: whether the branch is taken "
          "is no one answer, or not that of the step");
  every.steps = static_cast<int64_t>(*condition.every);
  if (every.steps < 1 || static_cast<double>(every.steps) != *condition.every)
    wrong(condition.mod.operation(), "takes the remainder by a number that is no number of steps");
  if (*condition.rest != 0)
    wrong(branch,
          "is not taken in every k-th step: the remainder is compared with another number "
          "than 0");
  if (condition.increment.getFloat("step") != 1)
    wrong(condition.increment.operation(), "does not count every step once");
  const std::string counter = every.counter = condition.counter.getVar().str();
  int sets = 0;
  main.walk([&](pd::SetOp set) {
    if (set.getVar() != counter) return;
    ++sets;
    if (set.getValue() != condition.increment.output("Out") || sets > 1 ||
        set->getBlock() != main.getBodyBlock())
      wrong(set, "sets `" + counter + "`, which counts steps, to something else than one more");
  });
  main.walk([&](pd::GetOp get) {
    if (get.getVar() == counter && get != condition.counter)
      wrong(get, "reads `" + counter + "`, which counts steps between two exchanges");
  });
  if (sets == 0)
    wrong(condition.increment.operation(), "`" + counter + "` is not set to what is counted");
  int begun = 0;
  startup.walk([&](pd::SetOp set) {
    if (set.getVar() != counter) return;
    ++begun;
    const std::optional<double> first = constantOf(set.getValue());
    if (!first || *first != 0)
      wrong(set, "`" + counter + "`, which counts steps, does not begin at 0");
  });
  if (begun == 0) wrong(startup, "does not set `" + counter + "`, which counts steps, to 0");
  return every;
}

// Takes the branch out, with the counter and with all ops that nothing else needs: what is left is
// the program of the other steps. Ops that stand for the reference's stay, used or not.
void eraseEvery(mlir::Operation* branch, dist::RoleOp role) {
  Condition condition = conditionOf(branch);
  const std::string counter = condition.counter ? condition.counter.getVar().str() : "";
  mlir::Block* block = branch->getBlock();
  llvm::SetVector<mlir::Operation*> from;
  const auto collect = [&](mlir::Operation* op) {
    for (mlir::Value operand : op->getOperands())
      if (operand.getDefiningOp()) from.insert(operand.getDefiningOp());
  };
  collect(branch);
  branch->erase();
  if (!counter.empty())
    for (auto set : llvm::make_early_inc_range(block->getOps<pd::SetOp>()))
      if (set.getVar() == counter) {
        collect(set);
        set.erase();
      }
  for (size_t i = 0; i < from.size(); ++i) collect(from[i]);
  // Users stand behind what they use.
  std::vector<mlir::Operation*> ops(from.begin(), from.end());
  llvm::sort(ops, [](mlir::Operation* a, mlir::Operation* b) { return b->isBeforeInBlock(a); });
  for (mlir::Operation* op : ops)
    if (op->use_empty() && !op->hasAttr(dist::kSrcAttr)) op->erase();
  for (auto var : llvm::make_early_inc_range(role.getBody().front().getOps<pd::VarOp>()))
    if (!counter.empty() && var.getSymName() == counter) var.erase();
}

}  // namespace dtranspile::verify

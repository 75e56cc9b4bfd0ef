#include "passes/recompute/steps.h"

#include "compiler/analysis/relations/rule.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"
#include "passes/recompute/work.h"

namespace dtranspile::passes {
namespace {

constexpr int kNotForward = pd::kBackward | pd::kOptimize | pd::kRpc | pd::kDist | pd::kLrSched;

// What lowering makes no memory for (compiler/lower/rules/shape.cc).
const llvm::StringSet<>& views() {
  static const llvm::StringSet<> types = {
      "assign",    "reshape",    "reshape2", "squeeze",  "squeeze2",
      "unsqueeze", "unsqueeze2", "flatten",  "flatten2", "flatten_contiguous_range"};
  return types;
}

bool isTensor(mlir::Type type) { return llvm::isa<mlir::RankedTensorType, pd::LodType>(type); }

// Ops with effects, blocks, or cells that they write a part of only are what they are: their
// results are kept.
// Repeating must have no effect but the values: pure ops and dropouts, which are told their seeds.
bool mayRepeat(pd::OpView op) {
  const pd::OpSpec* spec = op.spec();
  if (!spec || op.operation()->getNumRegions() > 0) return false;
  if ((spec->effects & ~pd::kGradient) != pd::kPure && !isDropout(op)) return false;
  for (const std::string& slot : op.inputSlots())
    if (llvm::StringRef(slot).starts_with("$")) return false;
  for (const std::string& slot : op.outputSlots()) {
    const pd::Slot* row = spec->output(slot);
    if (!row || row->updates) return false;
  }
  return llvm::all_of(op.operation()->getResultTypes(), isTensor);
}

// Whether every clause of the op's relation rule says that only the extents of a slot count.
bool onlyExtents(const verify::ParsedRule* rule, llvm::StringRef slot) {
  if (!rule || rule->need(slot)) return false;
  bool named = false;
  for (const verify::Clause& clause : rule->clauses)
    for (const verify::SlotUse& use : clause.inputs)
      if (use.slot == slot) {
        if (use.use != verify::Use::Shape) return false;
        named = true;
      }
  return named;
}

}  // namespace

bool isDropout(pd::OpView op) { return op.type() == "dropout" && op.spec(); }

// Numbers the ops at the top of the program. The forward part ends at the first op of the backward
// part.
Steps::Steps(pd::ProgramOp main) {
  for (mlir::Operation& op : *main.getBodyBlock())
    if (pd::OpView::isFrameworkOp(&op)) addStep(&op);
  while (forwards_ < static_cast<int>(steps_.size()) &&
         !(pd::OpView(steps_[forwards_].op).role() & pd::kBackward))
    ++forwards_;
  for (int i = 0; i < forwards_; ++i) {
    Step& step = steps_[i];
    step.forward = !(pd::OpView(step.op).role() & kNotForward);
    step.again = step.forward && mayRepeat(pd::OpView(step.op));
  }
  addReads();
}

// Each result is a value with its size in bytes; a view has no memory of its own, and counts for
// the value whose memory it has (`storage`).
void Steps::addStep(mlir::Operation* op) {
  const pd::OpView view(op);
  Step step;
  step.op = op;
  step.gradient = (view.role() & pd::kBackward) && view.spec() && view.spec()->gradient;
  step.work = estimatedWork(view);
  const int number = static_cast<int>(steps_.size());
  for (mlir::OpResult result : op->getResults()) {
    const int value = static_cast<int>(values_.size());
    int storage = value;
    if (views().contains(view.type()) && view.slotOf(result).first == "Out")
      if (int of = numberOf(view.input("X")); of >= 0) storage = values_[of].storage;
    numbers_[result] = value;
    StepValue made;
    made.value = result;
    made.step = made.lastForward = number;
    made.storage = storage;
    made.bytes = storage == value ? estimatedBytes(result.getType()) : 0;
    values_.push_back(made);
    step.makes.push_back(value);
  }
  stepOf_[op] = number;
  steps_.push_back(std::move(step));
}

// A use within a block counts as one by the op at the top that has the block, and as one by others:
// blocks are not looked into. What is read for its extents only is no read; the gradient of a
// reshape, say, keeps no activation alive.
void Steps::addReads() {
  for (auto [number, value] : llvm::enumerate(values_))
    for (mlir::OpOperand& use : value.value.getUses()) {
      mlir::Operation* top = use.getOwner();
      mlir::Block* block = steps_[value.step].op->getBlock();
      const bool inside = top->getBlock() != block;
      if (inside) top = block->findAncestorOpInBlock(*top);
      const auto found = stepOf_.find(top);
      if (found == stepOf_.end()) {
        value.byOthers = true;
        continue;
      }
      Step& step = steps_[found->second];
      const pd::OpView view(top);
      if (!inside) {
        // The slot of an operand: slots stand in the order of operands, empty arguments have none.
        unsigned position = use.getOperandNumber();
        std::string slot;
        for (const std::string& name : view.inputSlots()) {
          const auto inputs = view.inputs(name);
          const auto count = static_cast<unsigned>(
              llvm::count_if(inputs, [](mlir::Value input) { return static_cast<bool>(input); }));
          if (position < count) {
            slot = name;
            break;
          }
          position -= count;
        }
        if (onlyExtents(verify::findRule(view.type()), slot)) continue;
      }
      step.reads.push_back(static_cast<int>(number));
      if (step.forward) value.lastForward = std::max(value.lastForward, found->second);
      else if (step.gradient && !inside) value.byGradients = true;
      else value.byOthers = true;
    }
  for (Step& step : steps_) {
    llvm::sort(step.reads);
    step.reads.erase(std::unique(step.reads.begin(), step.reads.end()), step.reads.end());
  }
}

int Steps::numberOf(mlir::Value value) const {
  const auto found = value ? numbers_.find(value) : numbers_.end();
  return found == numbers_.end() ? -1 : found->second;
}

int Steps::lastNamed(llvm::StringRef name) const {
  int last = -1;
  for (auto [number, value] : llvm::enumerate(values_))
    if (value.step < forwards_ && steps_[value.step].forward && pd::nameOf(value.value) == name)
      last = static_cast<int>(number);
  return last;
}

double Steps::work() const {
  double work = 0;
  for (const Step& step : steps_)
    if (step.forward || (pd::OpView(step.op).role() & pd::kBackward)) work += step.work;
  return work;
}

}  // namespace dtranspile::passes

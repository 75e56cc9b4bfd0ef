#include "passes/recompute/offload.h"

#include "dialects/pd/declarations.h"
#include "llvm/ADT/MapVector.h"

namespace dtranspile::passes {
namespace {

// Of the framework's op `memcpy`: where a copy goes.
constexpr int kToDevice = 1, kToPinned = 2;

// Less than the smallest piece of memory: nothing is saved.
constexpr int64_t kLeastBytes = 64;

class Offload {
 public:
  Offload(pd::ProgramOp main, const Steps& steps, const std::vector<Repetition>& repeated)
      : main_(main), steps_(steps), builder_(main.getContext()) {
    for (const Repetition& one : repeated) {
      segments_[one.op] = one.segment;
      if (begins_.empty() || segments_[begins_.back()] != one.segment) begins_.push_back(one.op);
    }
    for (const Step& step : steps.all()) stepOf_[step.op] = &step;
  }

  int run() {
    choose();
    int moved = 0;
    for (auto& [value, uses] : uses_) {
      if (uses.segment < 1) continue;
      move(value, uses);
      ++moved;
    }
    return moved;
  }

 private:
  struct Uses {
    int segment = -1;  // that reads it first, by its place in `begins_`
    std::vector<mlir::OpOperand*> operands;
  };

  // Kept by the forward part, in memory of its own that nobody else needs.
  bool mayGo(mlir::Value value) const {
    const int number = steps_.numberOf(value);
    if (number < 0 || !llvm::isa<mlir::RankedTensorType>(value.getType())) return false;
    const StepValue& kept = steps_.values()[number];
    return steps_.all()[kept.step].forward && !kept.byOthers && kept.bytes >= kLeastBytes;
  }

  // Who reads values that repeated ops read, from the first repeated op on: these themselves, and
  // gradients, but for those that ask for extents only.
  void choose() {
    for (const auto& [op, segment] : segments_)
      for (mlir::Value operand : op->getOperands())
        if (mayGo(operand)) uses_[operand];
    int segment = -1;
    bool backward = false;
    for (mlir::Operation& op : *main_.getBodyBlock()) {
      if (segment + 1 < static_cast<int>(begins_.size()) && &op == begins_[segment + 1]) ++segment;
      const Step* step = stepOf_.lookup(&op);
      backward |= segment >= 0 || (step && step->gradient);
      if (!backward) continue;
      for (mlir::OpOperand& operand : op.getOpOperands()) {
        const auto found = uses_.find(operand.get());
        if (found == uses_.end() ||
            (step && !llvm::is_contained(step->reads, steps_.numberOf(operand.get()))))
          continue;
        if (found->second.operands.empty()) found->second.segment = segment;
        found->second.operands.push_back(&operand);
      }
    }
  }

  // There right behind the op that makes it; back where the segment before the one that reads it
  // begins, so that the copy has that segment's time.
  void move(mlir::Value value, const Uses& uses) {
    mlir::Operation* maker = value.getDefiningOp();
    builder_.setInsertionPointAfter(maker);
    mlir::Value there =
        copy(value, "@Pinned", kToPinned, pd::OpView(maker).role() & ~pd::kLoss, pd::nameOf(value));
    builder_.setInsertionPoint(begins_[uses.segment - 1]);
    mlir::Value back = copy(there, "@Fetch", kToDevice, pd::kBackward, pd::nameOf(value));
    for (mlir::OpOperand* operand : uses.operands) operand->set(back);
  }

  mlir::Value copy(mlir::Value from, llvm::StringRef suffix, int place, int64_t role,
                   llvm::StringRef name) {
    mlir::NamedAttrList attributes;
    attributes.set("dst_place_type", builder_.getI32IntegerAttr(place));
    if (mlir::Attribute device = pd::OpView(from.getDefiningOp()).attr("op_device"))
      attributes.set("op_device", device);
    const std::string fresh = declarations_.freshName(main_.getBodyBlock(), (name + suffix).str());
    return declarations_
        .create(builder_, from.getLoc(), "memcpy", {{"X", {from}}},
                {{"Out", {{fresh, from.getType()}}}}, llvm::to_vector(attributes), role)
        .output("Out");
  }

  pd::ProgramOp main_;
  const Steps& steps_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  llvm::MapVector<mlir::Operation*, int> segments_;  // of repeated ops
  std::vector<mlir::Operation*> begins_;             // the first op of each, in program order
  llvm::DenseMap<mlir::Operation*, const Step*> stepOf_;
  llvm::MapVector<mlir::Value, Uses> uses_;
};

}  // namespace

int offload(pd::ProgramOp main, const Steps& steps, const std::vector<Repetition>& repeated) {
  return repeated.empty() ? 0 : Offload(main, steps, repeated).run();
}

}  // namespace dtranspile::passes

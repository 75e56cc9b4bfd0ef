// Forward ops are computed again before the gradients that read their results. A semantic pass:
// before those that change updates. Which ops: segments.h; where: plan.h; this file rewrites.
#include "dialects/pd/types.h"
#include "mlir/IR/IRMapping.h"
#include "passes/recompute/offload.h"
#include "passes/recompute/pass.h"
#include "passes/recompute/segments.h"
#include "passes/support/changes.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/recompute/pass.h.inc"

namespace {

constexpr llvm::StringLiteral kSuffix = ".subprog_";

// The framework's programs may have been through this already: their numbers are taken.
int firstFreeNumber(pd::ProgramOp main) {
  int next = 0;
  main.walk([&](pd::DeclOp decl) {
    const size_t at = decl.getName().rfind(kSuffix);
    int number = 0;
    if (at != llvm::StringRef::npos &&
        !decl.getName().substr(at + kSuffix.size()).getAsInteger(10, number))
      next = std::max(next, number + 1);
  });
  return next;
}

// A dropout that is to run twice draws by a seed that both runs read; where it had none, another
// one in every step.
class Seeds {
 public:
  explicit Seeds(pd::ProgramOp main) : main_(main), builder_(main.getContext()) {}

  // Returns the op in the place of the old one, and the one that makes its seed.
  std::pair<mlir::Operation*, mlir::Operation*> give(pd::OpView old) {
    builder_.setInsertionPoint(old.operation());
    const mlir::Location loc = old.operation()->getLoc();
    auto type = mlir::RankedTensorType::get({1}, builder_.getI32Type());
    const int64_t given = old.getBool("fix_seed") ? old.getInt("seed") : 0;
    mlir::NamedAttrList attributes;
    attributes.set("seed", builder_.getI32IntegerAttr(static_cast<int32_t>(given)));
    // The op of 1.x has no such attribute.
    if (isOfVersion2(main_)) attributes.set("force_cpu", builder_.getBoolAttr(true));
    if (mlir::Attribute device = old.attr("op_device")) attributes.set("op_device", device);
    const std::string name = declarations_.freshName(main_.getBodyBlock(), "seed.tmp_0");
    pd::OpView seed = declarations_.create(builder_, loc, "seed", {}, {{"Out", {{name, type}}}},
                                           llvm::to_vector(attributes), old.role() & ~pd::kLoss);
    mlir::Operation* dropout = withSeed(old, seed.output("Out"));
    return {dropout, seed.operation()};
  }

 private:
  // The same dropout with its seed as an operand: a second run with that seed draws the same mask.
  mlir::Operation* withSeed(pd::OpView old, mlir::Value seed) {
    std::vector<std::string> slots = old.outputSlots();
    std::vector<pd::OutputSlot> outputs;
    for (const std::string& slot : slots) {
      outputs.push_back({slot, {}});
      for (unsigned i = 0; i < old.outputCount(slot); ++i) {
        mlir::Value result = old.output(slot, i);
        outputs.back().results.push_back(
            {old.outputName(slot, i).str(), result ? result.getType() : mlir::Type()});
      }
    }
    mlir::NamedAttrList attributes(
        old.operation()->getAttrOfType<mlir::DictionaryAttr>("attrs").getValue());
    for (llvm::StringRef name : {"fix_seed", "seed"}) attributes.erase(name);
    pd::OpView made = declarations_.create(builder_, old.operation()->getLoc(), "dropout",
                                           {{"Seed", {seed}}, {"X", old.inputs("X")}}, outputs,
                                           llvm::to_vector(attributes), old.role());
    old.operation()->replaceAllUsesWith(made.operation()->getResults());
    old.operation()->erase();
    return made.operation();
  }

  pd::ProgramOp main_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
};

// Gives seeds to the dropouts that a plan repeats: the program, and with it the steps, are others
// then. Returns the segments of these.
Segments giveSeeds(pd::ProgramOp main, const Segments& segments) {
  llvm::DenseMap<mlir::Operation*, int> segmentOf;
  {
    const Steps steps(main);
    const Plan plan(steps, segments);
    for (int i = 0; i < steps.forwards(); ++i) segmentOf[steps.all()[i].op] = segments[i];
    Seeds seeds(main);
    for (const Plan::Insertion& insertion : plan.insertions())
      for (int step : insertion.repeat) {
        const pd::OpView op(steps.all()[step].op);
        if (!isDropout(op) || op.getBool("is_test") || op.inputCount("Seed") > 0) continue;
        segmentOf.erase(op.operation());
        const auto [dropout, seed] = seeds.give(op);
        segmentOf[dropout] = segmentOf[seed] = segments[step];
      }
  }
  const Steps steps(main);
  Segments result;
  for (int i = 0; i < steps.forwards(); ++i) result.push_back(segmentOf.at(steps.all()[i].op));
  return result;
}

// Clones the steps of a plan in front of the gradients that need them, and lets the gradients read
// the clones. Clones are called as the framework calls them (NAME.subprog_N, N counted from the
// last segment, whose gradients come first), so that an exported program looks like one that the
// framework has made.
class Repeater {
 public:
  Repeater(pd::ProgramOp main, const Steps& steps, const Segments& segments)
      : main_(main), steps_(steps), segments_(segments), builder_(main.getContext()) {
    last_ = *llvm::max_element(segments);
    first_ = firstFreeNumber(main);
  }

  void run(const Plan& plan) {
    for (const Plan::Insertion& insertion : plan.insertions()) {
      builder_.setInsertionPoint(steps_.all()[insertion.before].op);
      for (int step : insertion.repeat)
        repeated_.push_back({repeat(step, plan), last_ - segments_[step]});
    }
    for (const Step& step : steps_.all())
      if (step.gradient) useRepeated(step);
  }

  const std::vector<Repetition>& repeated() const { return repeated_; }

 private:
  std::string nameOfCopy(llvm::StringRef name, int step) {
    return (name + kSuffix + std::to_string(first_ + last_ - segments_[step])).str();
  }

  void declareCopy(llvm::StringRef name, const std::string& copy, mlir::Type type) {
    mlir::Block* block = main_.getBodyBlock();
    if (declarations_.find(block, copy)) return;
    if (pd::DeclOp original = declarations_.find(block, name)) declarations_.copy(original, copy);
    else declarations_.declare(block, copy, type);
  }

  // A copy of a forward op in the backward part, on copies of its operands where there are any. Its
  // results have names of their own, since the first ones may still be fetched; the copy completes
  // no gradient.
  mlir::Operation* repeat(int step, const Plan& plan) {
    mlir::Operation* op = steps_.all()[step].op;
    mlir::IRMapping map;
    for (mlir::Value operand : op->getOperands())
      if (mlir::Value again = again_.lookupOrNull(operand)) map.map(operand, again);
    keepInPlace(op, step, map);
    mlir::Operation* copy = builder_.clone(*op, map);
    llvm::SmallVector<mlir::Attribute> slots;
    for (auto slot : copy->getAttrOfType<mlir::ArrayAttr>("outs").getAsRange<pd::SlotAttr>()) {
      llvm::SmallVector<mlir::StringAttr> names;
      for (mlir::StringAttr name : slot.getArgs())
        names.push_back(name.getValue() == pd::kEmptyArgument
                            ? name
                            : builder_.getStringAttr(nameOfCopy(name.getValue(), step)));
      slots.push_back(pd::SlotAttr::get(builder_.getContext(), slot.getName(), names));
    }
    copy->setAttr("outs", builder_.getArrayAttr(slots));
    pd::OpView(copy).setAttr("op_role", builder_.getI32IntegerAttr(pd::kBackward));
    pd::OpView(copy).setAttr("op_role_var", {});
    copy->removeAttr("order");  // of the attributes in the file
    for (auto [result, copied, number] :
         llvm::zip_equal(op->getResults(), copy->getResults(), steps_.all()[step].makes)) {
      const llvm::StringRef name = pd::nameOf(result);
      declareCopy(name, nameOfCopy(name, step), result.getType());
      if (plan.isRepeated(number)) again_.map(result, copied);
    }
    return copy;
  }

  // Running statistics are outputs in the place of inputs, and the framework asks for one name. The
  // copy moves statistics of its own, which nobody reads: those from before the first run, copied
  // there, so that nobody reads old ones when they have moved.
  void keepInPlace(mlir::Operation* op, int step, mlir::IRMapping& map) {
    const mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(op);
    for (mlir::Value operand : op->getOperands()) {
      auto get = operand.getDefiningOp<pd::GetOp>();
      if (!get || map.contains(operand)) continue;
      const bool written = llvm::any_of(
          op->getResults(), [&](mlir::Value result) { return pd::nameOf(result) == get.getVar(); });
      if (!written) continue;
      const std::string name = nameOfCopy(get.getVar(), step);
      declareCopy(get.getVar(), name, operand.getType());
      map.map(operand, declarations_
                           .create(builder_, op->getLoc(), "assign", {{"X", {operand}}},
                                   {{"Out", {{name, operand.getType()}}}}, {},
                                   pd::OpView(op).role() & ~pd::kLoss)
                           .output("Out"));
    }
  }

  // Extents are those of the first run: only what is read is taken from the second.
  void useRepeated(const Step& step) {
    for (mlir::OpOperand& use : step.op->getOpOperands())
      if (mlir::Value again = again_.lookupOrNull(use.get()))
        if (llvm::is_contained(step.reads, steps_.numberOf(use.get()))) use.set(again);
  }

  pd::ProgramOp main_;
  const Steps& steps_;
  const Segments& segments_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  int first_ = 0, last_ = 0;  // numbers of names, and of segments
  mlir::IRMapping again_;     // a value as it is computed again
  std::vector<Repetition> repeated_;
};

class Recompute : public impl::RecomputeBase<Recompute> {
 public:
  using RecomputeBase::RecomputeBase;

  void runOnOperation() override {
    mlir::FailureOr<pd::ProgramOp> main = mainOfProgram(getOperation());
    if (mlir::failed(main) || mlir::failed(run(*main))) signalPassFailure();
  }

 private:
  // Segments first, then seeds for draws that will be repeated (which changes ops, so that steps
  // are numbered again), then the plan and the rewrite.
  mlir::LogicalResult run(pd::ProgramOp main) {
    mlir::FailureOr<Segments> chosen = choose(main);
    if (mlir::failed(chosen)) return mlir::failure();
    const Segments segments = giveSeeds(main, *chosen);
    const Steps steps(main);
    const Plan plan(steps, segments);
    if (plan.insertions().empty())
      main.emitWarning("recompute: nothing is computed again: ")
          << (isWord("auto") || isWord("sqrt")
                  ? "no segment of the forward part saves memory"
                  : "gradients read nothing that lies before the last checkpoint and is not kept");
    else repeat(main, steps, segments, plan);
    Change change(&getContext(), "recompute");
    change.set("recompute_checkpoints", checkpoints())
        .set("recompute_extra_work", recompute_extra_work.getValue());
    if (recompute_offload) change.set("recompute_offload", true);
    declareChange(getOperation(), change);
    return mlir::success();
  }

  void repeat(pd::ProgramOp main, const Steps& steps, const Segments& segments, const Plan& plan) {
    Repeater repeater(main, steps, segments);
    repeater.run(plan);
    if (recompute_offload && offload(main, steps, repeater.repeated()) == 0)
      main.emitWarning("recompute: recompute_offload moves nothing: ")
          << "what is computed again reads nothing that is kept for more than one segment";
  }

  std::vector<std::string> checkpoints() const {
    return {recompute_checkpoints.begin(), recompute_checkpoints.end()};
  }
  // One of the words in the place of names.
  bool isWord(llvm::StringRef word) const {
    return recompute_checkpoints.size() == 1 && *recompute_checkpoints.begin() == word;
  }

  // Checkpoints are names or patterns; `sqrt` cuts the forward part into √n segments (Chen et al.
  // 2016), `auto` searches for the segments that save most memory for at most recompute_extra_work
  // per cent of work.
  mlir::FailureOr<Segments> choose(pd::ProgramOp main) {
    const Steps steps(main);
    if (llvm::none_of(steps.all(), [](const Step& step) { return step.gradient; }))
      return main.emitError(
          "recompute: no op has the role Backward and computes gradients; is this a training "
          "program?");
    if (recompute_checkpoints.empty())
      return main.emitError(
          "recompute: recompute_checkpoints says nothing; give names or patterns of values, sqrt "
          "or auto");
    if (isWord("sqrt")) return squareRootSegments(steps);
    if (isWord("auto"))
      return bestSegments(steps, static_cast<double>(recompute_extra_work.getValue()));
    return segmentsAt(steps, checkpoints(), main);
  }
};

}  // namespace
}  // namespace dtranspile::passes

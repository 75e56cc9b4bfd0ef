#include "passes/pipeline/weights.h"

#include "passes/support/step.h"

namespace dtranspile::passes::pipeline {
namespace {

// Gradients of products: the gradient of a weight is as much work as that of an activation, and
// neither is computed on the way to the other. Of all other ops (a bias, the scale of a norm) the
// gradient of the parameter falls off while that of the activation is made, and stays there.
constexpr llvm::StringLiteral kProducts[] = {
    "bilinear_tensor_product_grad",
    "bmm_grad",
    "conv2d_grad",
    "conv2d_transpose_grad",
    "conv3d_grad",
    "conv3d_transpose_grad",
    "depthwise_conv2d_grad",
    "depthwise_conv2d_transpose_grad",
    "lookup_table_grad",
    "lookup_table_v2_grad",
    "matmul_grad",
    "matmul_v2_grad",
    "mul_grad",
};

bool isProduct(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && op->getNumRegions() == 0 &&
         llvm::is_contained(kProducts, pd::OpView(op).type());
}

// What another stage waits for is awaited: a result is, if a task of another stage reads it, or an
// op of its own task that gives something awaited. Gradients of products that give nothing awaited
// begin W, and whatever is computed of W is in W. One that gives both becomes two, each without the
// results of the other. Linear in ops and their uses.
class Weights {
 public:
  explicit Weights(Plan& plan, pd::Declarations& declarations)
      : plan_(plan), declarations_(declarations) {}

  void run() {
    findAwaited();
    const llvm::MapVector<mlir::Operation*, TaskId> before = std::move(plan_.loop);
    plan_.loop.clear();
    for (const auto& [op, task] : before)
      if (plan_.isBackward(task)) place(op, task);
      else plan_.loop[op] = task;
    plan_.sumOf.clear();
    for (auto [index, sum] : llvm::enumerate(plan_.sums)) {
      if (mlir::Value now = moved_.lookup(sum.term)) sum.term = now;
      sum.task = plan_.taskOf(plan_.maker(sum.term));
      plan_.sumOf[sum.term] = static_cast<unsigned>(index);
    }
  }

 private:
  // From the last op to the first: users have been looked at before what they use.
  void findAwaited() {
    for (const auto& [op, task] : llvm::reverse(plan_.loop))
      for (mlir::OpResult result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&, task = task, op = op](mlir::Operation* user) {
              user = inBlock(op->getBlock(), user);
              return plan_.loop.count(user) && (plan_.taskOf(user) != task || givesAwaited(user));
            }))
          awaited_.insert(result);
  }
  bool givesAwaited(mlir::Operation* op) const {
    return llvm::any_of(op->getResults(), [&](mlir::Value result) { return isAwaited(result); });
  }
  bool isAwaited(mlir::Value result) const { return awaited_.contains(result); }

  void place(mlir::Operation* op, TaskId task) {
    const TaskId weights = plan_.weights(plan_.partOf(task));
    const bool product = isProduct(op), waits = givesAwaited(op);
    const auto isForWeights = [&](mlir::Value result) {
      return !isAwaited(result) && !result.use_empty();
    };
    if (waits && product && llvm::any_of(op->getResults(), isForWeights)) {
      plan_.loop[half(op, [&](mlir::Value result) { return isAwaited(result); })] = task;
      plan_.loop[half(op, isForWeights)] = weights;
      op->erase();
      return;
    }
    plan_.loop[op] = !waits && (product || takesOfWeights(op)) ? weights : task;
  }

  bool takesOfWeights(mlir::Operation* op) const {
    return llvm::any_of(operandsOf(op), [&](mlir::Value operand) {
      mlir::Operation* maker = plan_.maker(operand);
      return maker && plan_.isWeights(plan_.taskOf(maker));
    });
  }

  // The op with some of its results, in their place.
  mlir::Operation* half(mlir::Operation* op, llvm::function_ref<bool(mlir::Value)> has) {
    pd::OpView old(op);
    const std::vector<std::string> inputSlots = old.inputSlots(), outputSlots = old.outputSlots();
    std::vector<pd::InputSlot> inputs;
    std::vector<pd::OutputSlot> outputs;
    std::vector<mlir::Value> results;
    for (const std::string& slot : inputSlots) inputs.push_back({slot, old.inputs(slot)});
    for (const std::string& slot : outputSlots) {
      outputs.push_back({slot, {}});
      mlir::Value result = old.output(slot);
      if (!result || !has(result)) continue;
      outputs.back().results.push_back({old.outputName(slot).str(), result.getType()});
      results.push_back(result);
    }
    mlir::OpBuilder builder(op);
    mlir::Operation* made =
        declarations_
            .create(builder, op->getLoc(), old.type(), inputs, outputs,
                    op->getAttrOfType<mlir::DictionaryAttr>("attrs").getValue(), old.role())
            .operation();
    for (mlir::NamedAttribute attribute : op->getAttrs())
      if (!made->hasAttr(attribute.getName()))
        made->setAttr(attribute.getName(), attribute.getValue());
    for (auto [result, now] : llvm::zip(results, made->getResults())) {
      result.replaceAllUsesWith(now);
      moved_[result] = now;
    }
    return made;
  }

  Plan& plan_;
  pd::Declarations& declarations_;
  llvm::DenseSet<mlir::Value> awaited_;
  llvm::DenseMap<mlir::Value, mlir::Value> moved_;  // of ops that were taken apart -> of halves
};

}  // namespace

bool hasWeights(llvm::StringRef schedule) { return schedule == "ZB-H1"; }

void moveWeights(Plan& plan, pd::Declarations& declarations) { Weights(plan, declarations).run(); }

}  // namespace dtranspile::passes::pipeline

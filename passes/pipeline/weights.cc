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
// begin W, and whatever is computed of W is in W. One that gives both stands in both, and is read
// in each for some of its results; the others are not computed there (compiler/specialize). Linear
// in ops and their uses.
class Weights {
 public:
  explicit Weights(Plan& plan) : plan_(plan) {}

  // Splits the backward part of each stage into gradients of activations, which the stage before
  // waits for, and gradients of weights, which nobody waits for and which fill bubbles (zero-bubble
  // schedules: Qi et al. 2024). Terms of sums that moved are looked up again.
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

  // A product whose gradient op gives both kinds is cloned, and each copy keeps the results of its
  // own kind. What only leads to gradients of weights moves with them.
  void place(mlir::Operation* op, TaskId task) {
    const TaskId weights = plan_.weights(plan_.partOf(task));
    const bool product = isProduct(op), waits = givesAwaited(op);
    const auto isForWeights = [&](mlir::Value result) {
      return !isAwaited(result) && !result.use_empty();
    };
    if (waits && product && llvm::any_of(op->getResults(), isForWeights)) {
      mlir::Operation* other = mlir::OpBuilder(op->getNextNode()).clone(*op);
      for (auto [result, now] : llvm::zip(op->getResults(), other->getResults())) {
        if (!isForWeights(result)) continue;
        result.replaceAllUsesWith(now);
        moved_[result] = now;
      }
      plan_.loop[op] = task;
      plan_.loop[other] = weights;
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

  Plan& plan_;
  llvm::DenseSet<mlir::Value> awaited_;
  llvm::DenseMap<mlir::Value, mlir::Value>
      moved_;  // of ops that were taken apart -> of the other half
};

}  // namespace

bool hasWeights(llvm::StringRef schedule) { return schedule == "ZB-H1"; }

void moveWeights(Plan& plan) { Weights(plan).run(); }

}  // namespace dtranspile::passes::pipeline

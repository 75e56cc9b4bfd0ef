// Puts 1/N behind the seed of the backward part. Second pass of data-parallel pipelines that reduce gradients.
#include "dialects/pd/types.h"
#include "passes/dp-scale-loss/pass.h"
#include "passes/support/job.h"
#include "passes/support/varying.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_DPSCALELOSS
#include "passes/dp-scale-loss/pass.h.inc"

namespace {

// How the loss of a part of the batch relates to the loss of the whole: the mean over parts is the whole's loss, or their sum is, or (Equal) it
// does not depend on the batch. Mixed: it adds terms of different kinds. Parts: none of these, it is *defined* as the mean over parts.
enum class Kind { Equal, Mean, Sum, Parts, Mixed };

Kind join(Kind a, Kind b) {
  if (a == b) return a;
  if (a == Kind::Mixed || b == Kind::Mixed) return Kind::Mixed;
  if (a == Kind::Parts || b == Kind::Parts) return Kind::Parts;
  if (a == Kind::Sum || b == Kind::Sum) return Kind::Mixed;
  return Kind::Mean;  // a mean, and what is equal everywhere
}

class Classifier {
 public:
  explicit Classifier(const Varying& varying) : varying_(varying) {}

  Kind classify(mlir::Value value, int depth = 0) const {
    if (!varying_.contains(value)) return Kind::Equal;
    mlir::Operation* op = value.getDefiningOp();
    if (!op || depth > 64 || !pd::OpView::isFrameworkOp(op)) return Kind::Parts;
    pd::OpView view(op);
    llvm::StringRef type = view.type();
    if (type == "mean" || type == "reduce_mean" || type == "reduce_sum") {
      mlir::Value input = view.input("X");
      auto tensor = input ? pd::tensorOf(input.getType()) : mlir::RankedTensorType();
      if (tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1) return classify(input, depth + 1);
      if (type != "mean" && !reducesBatch(view)) return Kind::Parts;
      return type == "reduce_sum" ? Kind::Sum : Kind::Mean;
    }
    if (type == "elementwise_add") return join(classify(view.input("X"), depth + 1), classify(view.input("Y"), depth + 1));
    if (type == "sum") {
      Kind kind = Kind::Equal;
      for (mlir::Value term : view.inputs("X")) kind = join(kind, classify(term, depth + 1));
      return kind;
    }
    if (type == "scale") {
      Kind kind = classify(view.input("X"), depth + 1);
      return view.getFloat("bias") == 0 ? kind : join(kind, Kind::Equal);
    }
    if (type == "elementwise_mul") {
      mlir::Value x = view.input("X"), y = view.input("Y");
      if (!varying_.contains(y)) return classify(x, depth + 1);
      return varying_.contains(x) ? Kind::Parts : classify(y, depth + 1);
    }
    for (llvm::StringRef same : {"assign", "reshape", "reshape2", "squeeze", "squeeze2", "unsqueeze", "unsqueeze2", "cast"})
      if (type == same) return classify(view.input("X"), depth + 1);
    return Kind::Parts;
  }

 private:
  static bool reducesBatch(const pd::OpView& op) {
    if (op.getBool("reduce_all")) return true;
    std::vector<int64_t> dims = op.getInts("dim");
    auto tensor = pd::tensorOf(op.input("X").getType());
    return llvm::is_contained(dims, 0) || (tensor && llvm::is_contained(dims, -tensor.getRank()));
  }

  const Varying& varying_;
};

class DpScaleLoss : public impl::DpScaleLossBase<DpScaleLoss> {
 public:
  using DpScaleLossBase::DpScaleLossBase;

  void runOnOperation() override {
    mlir::FailureOr<DataParallelJob> job = dataParallelJob(getOperation());
    if (mlir::failed(job)) return signalPassFailure();
    std::vector<pd::OpView> seeds;
    pd::OpView loss(nullptr);
    for (mlir::Operation& op : *job->main.getBodyBlock()) {
      if (!pd::OpView::isFrameworkOp(&op) || !(pd::OpView(&op).role() & pd::kLoss) || op.getNumResults() == 0) continue;
      if (pd::OpView(&op).role() & pd::kBackward) seeds.push_back(pd::OpView(&op));
      else if (!loss.operation()) loss = pd::OpView(&op);
    }
    if (seeds.empty()) {
      job->main.emitError("no op has the roles Backward and Loss: nothing seeds the gradients; is this a training program?");
      return signalPassFailure();
    }
    double factor = 1.0 / static_cast<double>(job->replicas());
    if (!reference && loss.operation()) {
      Kind kind = Classifier(Varying(job->main)).classify(loss.operation()->getResult(0));
      if (kind == Kind::Mixed) {
        loss.operation()->emitError(
            "the loss adds a sum over the batch and a term of another kind (a mean, or one that does not depend on the batch): no "
            "one factor makes summed gradients those of one device; make all terms means, or choose grad-scale reference");
        return signalPassFailure();
      }
      if (kind == Kind::Sum) return;
    }
    for (pd::OpView seed : seeds) scaleBehind(seed, factor);
  }

 private:
  static void scaleBehind(pd::OpView seed, double factor) {
    mlir::Value value = seed.operation()->getResult(0);
    mlir::OpBuilder builder(seed.operation()->getContext());
    builder.setInsertionPointAfter(seed.operation());
    mlir::Value scaled = scale(builder, seed.operation()->getLoc(), value, factor, pd::nameOf(value), pd::kBackward);
    value.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
  }
};

}  // namespace
}  // namespace dtranspile::passes

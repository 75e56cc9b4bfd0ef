#include "passes/support/batch_kind.h"

#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::passes {
namespace {

BatchKind join(BatchKind a, BatchKind b) {
  if (a == b) return a;
  if (a == BatchKind::Mixed || b == BatchKind::Mixed) return BatchKind::Mixed;
  if (a == BatchKind::Parts || b == BatchKind::Parts) return BatchKind::Parts;
  if (a == BatchKind::Sum || b == BatchKind::Sum) return BatchKind::Mixed;
  return BatchKind::Mean;  // a mean, and what is equal everywhere
}

class Classifier {
 public:
  explicit Classifier(const Varying& varying) : varying_(varying) {}

  // Once per value: what is added to itself again and again has more ways to it than ops.
  BatchKind classify(mlir::Value value, int depth = 0) {
    if (!varying_.contains(value)) return BatchKind::Equal;
    if (auto known = known_.find(value); known != known_.end()) return known->second;
    const BatchKind kind = derive(value, depth);
    known_[value] = kind;
    return kind;
  }

 private:
  BatchKind derive(mlir::Value value, int depth) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op || depth > 64 || !pd::OpView::isFrameworkOp(op)) return BatchKind::Parts;
    pd::OpView view(op);
    llvm::StringRef type = view.type();
    if (type == "mean" || type == "reduce_mean" || type == "reduce_sum") {
      mlir::Value input = view.input("X");
      auto tensor = input ? pd::tensorOf(input.getType()) : mlir::RankedTensorType();
      if (tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1)
        return classify(input, depth + 1);
      if (type != "mean" && !reducesBatch(view)) return BatchKind::Parts;
      return type == "reduce_sum" ? BatchKind::Sum : BatchKind::Mean;
    }
    if (type == "elementwise_add")
      return join(classify(view.input("X"), depth + 1), classify(view.input("Y"), depth + 1));
    if (type == "sum") {
      BatchKind kind = BatchKind::Equal;
      for (mlir::Value term : view.inputs("X")) kind = join(kind, classify(term, depth + 1));
      return kind;
    }
    if (type == "scale") {
      BatchKind kind = classify(view.input("X"), depth + 1);
      return view.getFloat("bias") == 0 ? kind : join(kind, BatchKind::Equal);
    }
    if (type == "elementwise_mul") {
      mlir::Value x = view.input("X"), y = view.input("Y");
      if (!varying_.contains(y)) return classify(x, depth + 1);
      return varying_.contains(x) ? BatchKind::Parts : classify(y, depth + 1);
    }
    for (llvm::StringRef same : {"assign", "reshape", "reshape2", "squeeze", "squeeze2",
                                 "unsqueeze", "unsqueeze2", "cast"})
      if (type == same) return classify(view.input("X"), depth + 1);
    return BatchKind::Parts;
  }

  static bool reducesBatch(const pd::OpView& op) {
    if (op.getBool("reduce_all")) return true;
    std::vector<int64_t> dims = op.getInts("dim");
    auto tensor = pd::tensorOf(op.input("X").getType());
    return llvm::is_contained(dims, 0) || (tensor && llvm::is_contained(dims, -tensor.getRank()));
  }

  const Varying& varying_;
  llvm::DenseMap<mlir::Value, BatchKind> known_;
};

}  // namespace

BatchKind batchKindOf(mlir::Value value, const Varying& varying) {
  return Classifier(varying).classify(value);
}

}  // namespace dtranspile::passes

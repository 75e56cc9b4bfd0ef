#include "passes/amp/classify.h"

namespace dtranspile::passes {
namespace {

// A component of the name scopes of ops that stand under fp16_guard.
constexpr llvm::StringLiteral kGuard = "__use_fp16__";

bool isGuarded(const pd::OpView& op) {
  auto scope = llvm::dyn_cast_or_null<mlir::StringAttr>(op.attr("op_namescope"));
  return scope && scope.getValue().contains(kGuard);
}

bool isOfUpdate(const pd::OpView& op) { return (op.role() & (pd::kOptimize | pd::kLrSched)) != 0; }

// The type of the op that a gradient op belongs to.
llvm::StringRef forwardType(llvm::StringRef type) {
  if (type == "cross_entropy_grad2") return "cross_entropy2";
  return type.consume_back("_grad") ? type : llvm::StringRef();
}

// Whether `forward` has in its slots what the gradient op takes of forward values.
bool belongsTo(const pd::OpView& gradient, const pd::OpView& forward) {
  for (const std::string& slot : gradient.inputSlots()) {
    if (!forwardSlot(slot).empty() || llvm::StringRef(slot).starts_with("$")) continue;
    const std::vector<mlir::Value> taken = gradient.inputs(slot);
    const bool input = forward.hasInput(slot);
    if (!input && !forward.hasOutput(slot)) continue;
    if (taken != (input ? forward.inputs(slot) : forward.outputs(slot))) return false;
  }
  return true;
}

// A gradient op carries no reference to its forward op. It takes that op's inputs or outputs under
// the same slots, so the forward op is among the makers and readers of these; the one that has all
// of them in those very slots is it. Null where the program has been rewritten beyond that.
mlir::Operation* forwardOf(const pd::OpView& gradient, const Classified& classified) {
  const llvm::StringRef type = forwardType(gradient.type());
  if (type.empty()) return nullptr;
  auto fits = [&](mlir::Operation* op) {
    return op && classified.forward.contains(op) && pd::OpView(op).type() == type &&
           belongsTo(gradient, pd::OpView(op));
  };
  for (const std::string& slot : gradient.inputSlots()) {
    if (!forwardSlot(slot).empty()) continue;
    for (mlir::Value value : gradient.inputs(slot)) {
      if (!value || classified.gradients.contains(value)) continue;
      if (fits(value.getDefiningOp())) return value.getDefiningOp();
      for (mlir::Operation* user : value.getUsers())
        if (fits(user)) return user;
    }
  }
  return nullptr;
}

// One walk in program order, since a gray op goes by what made its operands. What depends on the
// seed of the backward part is backward whatever its role says; gradient ops follow their forward
// op and get no precision of their own.
class Classifier {
 public:
  Classifier(const OpLists& lists, const llvm::StringSet<>& blackNames, AmpLevel level)
      : lists_(lists), blackNames_(blackNames), level_(level) {}

  Classified run(pd::ProgramOp main) && {
    for (mlir::Operation& op : *main.getBodyBlock())
      if (pd::OpView::isFrameworkOp(&op) && !isOfUpdate(pd::OpView(&op))) visit(&op);
    for (auto& [op, forward] : result_.backward)
      if (pd::OpView(op).spec() && pd::OpView(op).spec()->gradient)
        forward = forwardOf(pd::OpView(op), result_);
    return std::move(result_);
  }

 private:
  // In program order. The op that has both roles, Backward and Loss, seeds the gradients; what
  // takes a gradient is of the backward part and is paired with its forward op later. All others
  // are forward ops.
  void visit(mlir::Operation* op) {
    const int role = pd::OpView(op).role();
    const bool backward = role & pd::kBackward, seed = backward && (role & pd::kLoss);
    if (seed) result_.seeds.push_back(op);
    const bool takes = backward && llvm::any_of(op->getOperands(), [&](mlir::Value operand) {
                         return result_.gradients.contains(operand);
                       });
    if (seed || takes)
      for (mlir::Value made : op->getResults()) result_.gradients.insert(made);
    if (takes) result_.backward[op] = nullptr;
    if (seed || takes) return;
    result_.forward[op] = precisionOf(op);
    result_.operands[op].assign(op->operand_begin(), op->operand_end());
  }

  bool touchesBlackName(mlir::Operation* op) const {
    auto black = [&](mlir::Value value) { return blackNames_.contains(pd::nameOf(value)); };
    return llvm::any_of(op->getOperands(), black) || llvm::any_of(op->getResults(), black);
  }

  // By the lists of the framework: white ops run in half precision, black ones in float32, and a
  // gray one follows its operands, float32 as soon as one of them is.
  Precision precisionOf(mlir::Operation* op) const {
    if (op->getNumRegions() > 0 || touchesBlackName(op)) return Precision::Single;
    if (level_ != AmpLevel::Lists) return precisionWherePure(op);
    switch (lists_.of(pd::OpView(op).type())) {
      case AmpList::White: return Precision::Half;
      case AmpList::Black: return Precision::Single;
      case AmpList::Gray: break;
    }
    Precision precision = Precision::None;
    for (mlir::Value operand : op->getOperands()) {
      auto maker = result_.forward.find(operand.getDefiningOp());
      if (!operand.getDefiningOp() || maker == result_.forward.end()) continue;
      if (maker->second == Precision::Single) return Precision::Single;
      if (maker->second == Precision::Half) precision = Precision::Half;
    }
    return precision;
  }

  // The loss is one number, which is scaled and reported: it stays float32.
  Precision precisionWherePure(mlir::Operation* op) const {
    const pd::OpView view(op);
    const auto isRate = [](mlir::Value value) {
      return pd::nameOf(value).contains("learning_rate");
    };
    const bool single = !lists_.canBeHalf(view.type()) || (view.role() & pd::kLoss) ||
                        (level_ == AmpLevel::Guarded && !isGuarded(view)) ||
                        llvm::any_of(op->getOperands(), isRate) ||
                        llvm::any_of(op->getResults(), isRate);
    return single ? Precision::Single : Precision::Half;
  }

  const OpLists& lists_;
  const llvm::StringSet<>& blackNames_;
  AmpLevel level_;
  Classified result_;
};

}  // namespace

llvm::StringRef forwardSlot(llvm::StringRef slot) {
  return slot.consume_back("@GRAD") ? slot : llvm::StringRef();
}

Classified classify(pd::ProgramOp main, const OpLists& lists, const llvm::StringSet<>& blackNames,
                    AmpLevel level) {
  return Classifier(lists, blackNames, level).run(main);
}

}  // namespace dtranspile::passes

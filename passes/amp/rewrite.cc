// A forward op of half precision takes casts of what is float32, and gives half precision; a
// float32 one the other way round. A gradient op mirrors its forward op: it takes the very values
// that the forward op took, gradients in the type of what they are gradients of, and gives
// gradients in the type of what the forward op took, which are cast back where the program has that
// in the other type.
#include "passes/amp/rewrite.h"

#include "dialects/pd/types.h"

namespace dtranspile::passes {
namespace {

// Ops of the backward part that are no gradient ops, and give gradients where they take them:
// linear in them. They work in the type that they get.
constexpr llvm::StringLiteral kLinear[] = {"sum",
                                           "scale",
                                           "assign",
                                           "concat",
                                           "split",
                                           "stack",
                                           "unstack",
                                           "slice",
                                           "reshape2",
                                           "transpose2",
                                           "squeeze2",
                                           "unsqueeze2",
                                           "flatten2",
                                           "cast",
                                           "grad_add",
                                           "expand_v2",
                                           "reduce_sum",
                                           "elementwise_add",
                                           "fill_zeros_like",
                                           "fill_any_like",
                                           "elementwise_sub",
                                           "memcpy",
                                           "c_identity"};

constexpr llvm::StringLiteral kTypeAttributes[] = {"dtype", "in_dtype", "out_dtype"};

// Forward ops first, then the backward part in program order, so that a gradient op finds what its
// forward op has become. `wanted_` holds gradients whose cast waits for the sum that adds them up:
// k casts and a float32 sum become one half sum and one cast, as in the framework.
class Rewriter {
 public:
  Rewriter(pd::ProgramOp main, const Classified& classified, const RewriteOptions& options,
           pd::Declarations& declarations)
      : main_(main),
        classified_(classified),
        half_(options.half),
        single_(mlir::Float32Type::get(main.getContext())),
        scaled_(options.scaled),
        declarations_(declarations),
        values_(main, declarations),
        gradients_(classified.gradients) {}

  mlir::LogicalResult run() {
    for (auto [op, precision] : classified_.forward)
      if (precision == Precision::Half) toHalf(pd::OpView(op));
      else takeAs(op, half_, single_);
    bool good = true;
    for (auto [op, forward] : classified_.backward)
      if (mlir::failed(backward(pd::OpView(op), forward))) good = false;
    keepElsewhere();
    return mlir::success(good);
  }

 private:
  void takeAs(mlir::Operation* op, mlir::Type from, mlir::Type to) {
    for (mlir::OpOperand& operand : op->getOpOperands())
      if (elementOf(operand.get()) == from) operand.set(values_.as(operand.get(), to, op));
  }

  void toHalf(pd::OpView op) {
    for (const std::string& slot : op.inputSlots())
      for (unsigned i = 0; i < op.inputCount(slot); ++i)
        if (mlir::Value value = op.input(slot, i);
            value && elementOf(value) == single_ && !staysFloat32(op.type(), slot))
          op.setInput(slot, i, values_.as(value, half_, op.operation()));
    for (const std::string& slot : op.outputSlots())
      for (mlir::Value value : op.outputs(slot))
        if (value && elementOf(value) == single_ && !staysFloat32(op.type(), slot))
          values_.retype(llvm::cast<mlir::OpResult>(value), half_);
    typeAttributes(op);
  }

  // What an op of half precision says of its element types in numbers.
  void typeAttributes(pd::OpView op) {
    mlir::Builder builder(main_.getContext());
    const auto code = [](mlir::Type type) { return static_cast<int32_t>(*pd::dtypeOf(type)); };
    for (llvm::StringRef name : kTypeAttributes)
      if (op.hasAttr(name) && op.getInt(name) == code(single_))
        op.setAttr(name, builder.getI32IntegerAttr(code(half_)));
    if (op.type() == "cast")
      op.setAttr("in_dtype", builder.getI32IntegerAttr(code(elementOf(op.input("X")))));
  }

  mlir::LogicalResult backward(pd::OpView op, mlir::Operation* forward) {
    if (forward) return mirror(op, pd::OpView(forward));
    if (op.type() == "sum") return addUp(op), mlir::success();
    const bool linear = llvm::is_contained(kLinear, op.type()) &&
                        (op.type() != "scale" || op.getFloat("bias") == 0);
    const bool gradient = op.spec() && op.spec()->gradient;
    if (scaled_ && !linear && !gradient)
      return op.operation()->emitError("amp: the backward part has ")
             << op.type()
             << ", which is not known to give k times as much for k times the gradient; leave it "
                "out of the program, or use_dynamic_loss_scaling=false with init_loss_scaling=1";
    if (linear) return follow(op), mlir::success();
    takeAs(op.operation(), half_, single_);
    return mlir::success();
  }

  // Of a gradient op whose forward op is known.
  mlir::LogicalResult mirror(pd::OpView op, pd::OpView forward) {
    const std::vector<mlir::Value>& before = classified_.operands.at(forward.operation());
    for (const std::string& slot : op.inputSlots())
      for (unsigned i = 0; i < op.inputCount(slot); ++i) {
        mlir::Value taken = op.input(slot, i);
        if (!taken) continue;
        const llvm::StringRef of = forwardSlot(slot);
        if (mlir::Value result = of.empty() ? mlir::Value() : forward.output(of, i))
          op.setInput(slot, i, values_.as(taken, elementOf(result), op.operation()));
        else if (mlir::Value same = forward.input(slot, i); of.empty() && same)
          op.setInput(slot, i, same);
      }
    bool half = false;
    for (const std::string& slot : op.outputSlots())
      for (unsigned i = 0; i < op.outputCount(slot); ++i) {
        auto result = llvm::dyn_cast_or_null<mlir::OpResult>(op.output(slot, i));
        mlir::Value now = forward.input(forwardSlot(slot), i);
        if (!result || !now || !elementOf(result)) continue;
        mlir::Value original = before[indexOf(forward, now, forwardSlot(slot), i)];
        if (elementOf(result) != elementOf(now) && isFloat(result)) {
          if (llvm::isa<pd::RowsType>(result.getType()))
            return op.operation()->emitError("amp: the gradient '")
                   << pd::nameOf(result)
                   << "' is SelectedRows, of an op of half precision; take its type out of "
                      "custom_white_list";
          values_.retype(result, elementOf(now));
        }
        half |= isHalf(elementOf(result));
        if (elementOf(now) != elementOf(original)) castBack(result, elementOf(original));
      }
    if (half) typeAttributes(op);
    return mlir::success();
  }

  bool isFloat(mlir::Value value) const {
    return elementOf(value) == single_ || elementOf(value) == half_;
  }

  // The place among the op's operands of one argument of a slot.
  static unsigned indexOf(pd::OpView op, mlir::Value value, llvm::StringRef slot, unsigned i) {
    unsigned at = 0;
    for (const std::string& each : op.inputSlots())
      for (unsigned k = 0; k < op.inputCount(each); ++k) {
        if (each == slot && k == i) return at;
        if (op.input(each, k)) ++at;
      }
    return at;
  }

  // A gradient of a cast becomes one of what was cast. One of several terms is cast where the terms
  // are added up.
  void castBack(mlir::OpResult gradient, mlir::Type original) {
    if (gradient.hasOneUse() && isSum(*gradient.user_begin())) {
      wanted_[gradient] = original;
      return;
    }
    giveToUpdate(gradient, castBehind(gradient, original));
  }

  mlir::Operation* castBehind(mlir::OpResult gradient, mlir::Type type) {
    mlir::Operation* cast = values_.castBehind(gradient, type, pd::kBackward);
    gradients_.insert(cast->getResult(0));
    return cast;
  }

  bool isSum(mlir::Operation* op) const {
    return pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "sum" &&
           classified_.backward.contains(op);
  }

  // A parameter's gradient is complete, and travels, before it is cast; the cast belongs to the
  // update.
  void giveToUpdate(mlir::OpResult gradient, mlir::Operation* cast) {
    pd::OpView maker(gradient.getOwner());
    if (!maker.hasAttr("op_role_var")) return;
    const std::vector<std::string> names = maker.getStrings("op_role_var");
    for (size_t i = 1; i < names.size(); i += 2)
      if (names[i] == pd::nameOf(gradient))
        pd::OpView(cast).setAttr(
            "op_role", mlir::Builder(main_.getContext()).getI32IntegerAttr(pd::kOptimize));
  }

  // The gradients of a value that several ops take. Those of a cast of it are added up first, and
  // cast once.
  void addUp(pd::OpView op) {
    std::vector<mlir::Value> terms = op.inputs("X");
    mlir::Type type;
    for (mlir::Value term : terms)
      if (auto found = wanted_.find(term); !type && found != wanted_.end()) type = found->second;
    if (!type)
      type =
          llvm::all_equal(llvm::map_range(terms, [](mlir::Value term) { return elementOf(term); }))
              ? elementOf(terms[0])
              : single_;
    std::vector<mlir::Value> others;
    for (mlir::Value term : terms)
      if (elementOf(term) != type) others.push_back(term);
    auto result = llvm::cast<mlir::OpResult>(op.output("Out"));
    if (others.size() == terms.size()) {
      result.setType(withElement(result.getType(), elementOf(terms[0])));
      giveToUpdate(result, castBehind(result, type));
      return;
    }
    if (elementOf(result) != type) values_.retype(result, type);
    if (others.empty()) return;
    mlir::Value cast = castOfAll(op, others, type);
    llvm::SmallVector<mlir::Value> left;
    for (mlir::Value term : terms)
      if (elementOf(term) == type) left.push_back(term);
      else if (term == others.back()) left.push_back(cast);
    replaceTerms(op, left);
  }

  mlir::Value castOfAll(pd::OpView op, llvm::ArrayRef<mlir::Value> terms, mlir::Type type) {
    mlir::Value all = terms[0];
    mlir::OpBuilder builder(op.operation());
    if (terms.size() > 1) {
      const std::string name = declarations_.freshName(main_.getBodyBlock(), pd::nameOf(terms[0]));
      all = declarations_
                .create(builder, op.operation()->getLoc(), "sum", {{"X", terms}},
                        {{"Out", {{name, terms[0].getType()}}}}, {}, pd::kBackward)
                .output("Out");
    }
    // On the device that the terms are made on: stages of a pipeline add up what they have.
    mlir::Value cast = values_.as(all, type, op.operation());
    if (mlir::Attribute device = pd::OpView(terms[0].getDefiningOp()).attr("op_device"))
      pd::OpView(cast.getDefiningOp()).setAttr("op_device", device);
    return cast;
  }

  // The same sum of other terms.
  static void replaceTerms(pd::OpView op, llvm::ArrayRef<mlir::Value> terms) {
    mlir::MLIRContext* context = op.operation()->getContext();
    const llvm::SmallVector<mlir::StringAttr> arguments(terms.size(),
                                                        mlir::StringAttr::get(context, ""));
    const mlir::Attribute slot =
        pd::SlotAttr::get(context, mlir::StringAttr::get(context, "X"), arguments);
    op.operation()->setOperands(terms);
    op.operation()->setAttr("ins", mlir::ArrayAttr::get(context, slot));
  }

  // Takes and gives one type.
  void follow(pd::OpView op) {
    mlir::Operation* raw = op.operation();
    mlir::Type type;
    bool mixed = false;
    for (mlir::Value operand : raw->getOperands())
      if (gradients_.contains(operand) && isFloat(operand)) {
        mixed |= type && type != elementOf(operand);
        type = elementOf(operand);
      }
    if (op.type() == "cast") return typeAttributesOfCast(op);
    if (mixed) type = single_;
    if (!type) return;
    for (mlir::OpOperand& operand : raw->getOpOperands())
      if (isFloat(operand.get()) && elementOf(operand.get()) != type)
        operand.set(values_.as(operand.get(), type, raw));
    for (mlir::OpResult result : raw->getResults())
      if (isFloat(result) && elementOf(result) != type) values_.retype(result, type);
    if (isHalf(type)) typeAttributes(op);
  }

  void typeAttributesOfCast(pd::OpView op) {
    mlir::Builder builder(main_.getContext());
    op.setAttr("in_dtype", builder.getI32IntegerAttr(
                               static_cast<int32_t>(*pd::dtypeOf(elementOf(op.input("X"))))));
  }

  // Variables, the update and the schedule have what they had.
  void keepElsewhere() {
    for (mlir::Operation& op : llvm::make_early_inc_range(*main_.getBodyBlock())) {
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        auto var = llvm::cast<pd::VarOp>(
            mlir::SymbolTable::lookupNearestSymbolFrom(main_, set.getVarAttr()));
        if (isHalf(elementOf(set.getValue())) && elementOf(var.getType()) == single_)
          set.getValueMutable().assign(castInFront(set.getValue(), set));
        continue;
      }
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      if ((pd::OpView(&op).role() & (pd::kOptimize | pd::kLrSched)) &&
          pd::OpView(&op).type() != "cast")
        takeAs(&op, half_, single_);
    }
  }

  mlir::Value castInFront(mlir::Value value, pd::SetOp set) {
    mlir::Operation* maker = value.getDefiningOp();
    return values_.as(value, single_, maker->getNextNode());
  }

  pd::ProgramOp main_;
  const Classified& classified_;
  mlir::Type half_, single_;
  bool scaled_;
  pd::Declarations& declarations_;
  Values values_;
  llvm::DenseSet<mlir::Value> gradients_;
  llvm::DenseMap<mlir::Value, mlir::Type> wanted_;  // the type of what a term is the gradient of
};

}  // namespace

mlir::LogicalResult rewriteInto(pd::ProgramOp main, const Classified& classified,
                                const RewriteOptions& options, pd::Declarations& declarations) {
  return Rewriter(main, classified, options, declarations).run();
}

}  // namespace dtranspile::passes

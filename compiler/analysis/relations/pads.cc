#include "compiler/analysis/relations/pads.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/StringSwitch.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {
namespace {

// An op as the pad sees it: operands of the result's shape are cut like it, all others are whole.
struct Operands {
  pd::OpView op;
  std::vector<Pad> flat;       // in order
  bool wholeOnes = false;      // there are others
  bool oneIsPositive = false;  // one of these is a constant above zero
};

bool allZero(const Operands& given) {
  return !given.flat.empty() && llvm::all_of(given.flat, [](Pad pad) { return pad == Pad::Zero; });
}
bool allFinite(const Operands& given) {
  return llvm::all_of(given.flat, [](Pad pad) { return pad != Pad::Any; });
}
bool noneNegative(const Operands& given) {
  return llvm::all_of(given.flat, [](Pad pad) { return pad == Pad::Zero || pad == Pad::Positive; });
}

// f(0, …, 0) = 0, whatever the whole operands are.
Pad keeps(const Operands& given) { return allZero(given) ? Pad::Zero : Pad::Any; }

Pad sum(const Operands& given) {
  if (!given.wholeOnes) {
    if (allZero(given)) return Pad::Zero;
    return noneNegative(given) ? Pad::Positive : allFinite(given) ? Pad::Finite : Pad::Any;
  }
  return noneNegative(given) && given.oneIsPositive ? Pad::Positive : Pad::Any;
}

Pad difference(const Operands& given) {
  if (given.wholeOnes || !allFinite(given)) return Pad::Any;
  return allZero(given) ? Pad::Zero : Pad::Finite;
}

Pad product(const Operands& given) {
  if (given.flat.empty() || !allFinite(given)) return Pad::Any;
  return llvm::is_contained(given.flat, Pad::Zero) ? Pad::Zero : Pad::Any;
}

// 0/0 is no number; 0 divided by a whole value is what the other elements of a zero are, too.
Pad quotient(const Operands& given) {
  const bool oneFlat = given.flat.size() == 1 && given.op.input("X") &&
                       given.op.input("X").getType() == given.op.output("Out").getType();
  if (given.flat.empty() || given.flat[0] != Pad::Zero) return Pad::Any;
  if (given.flat.size() == 2) return given.flat[1] == Pad::Positive ? Pad::Zero : Pad::Any;
  return oneFlat ? Pad::Zero : Pad::Any;
}

Pad affine(const Operands& given) {
  double bias = given.op.getFloat("bias");
  if (bias == 0) return keeps(given);
  if (given.op.input("ScaleTensor") || !allZero(given)) return Pad::Any;
  if (given.op.hasAttr("bias_after_scale") && !given.op.getBool("bias_after_scale"))
    bias *= given.op.getFloat("scale");
  return bias > 0 ? Pad::Positive : Pad::Finite;
}

Pad exponential(const Operands& given) { return allZero(given) ? Pad::Positive : Pad::Any; }

Pad root(const Operands& given) {
  return noneNegative(given) ? (allZero(given) ? Pad::Zero : Pad::Positive) : Pad::Any;
}

Pad power(const Operands& given) {
  return !given.op.input("FactorTensor") && given.op.getFloat("factor") > 0 ? keeps(given)
                                                                            : Pad::Any;
}

Pad clipped(const Operands& given) {
  const bool read = given.op.input("Min") || given.op.input("Max");
  return !read && given.op.getFloat("min") <= 0 && given.op.getFloat("max") >= 0 ? keeps(given)
                                                                                 : Pad::Any;
}

Pad choice(const Operands& given) { return given.wholeOnes ? Pad::Any : keeps(given); }

// Where the divisor is a sum with epsilon.
Pad update(const Operands& given) {
  return given.op.hasAttr("epsilon") && given.op.getFloat("epsilon") <= 0 ? Pad::Any : keeps(given);
}

using PadRule = Pad (*)(const Operands&);
PadRule ruleOf(const pd::OpView& op) {
  if (op.spec() && op.spec()->family == "optimizer" && op.type() != "dpsgd") return update;
  return llvm::StringSwitch<PadRule>(op.type())
      .Cases({"elementwise_add", "sum", "grad_add"}, sum)
      .Cases({"elementwise_sub", "minus"}, difference)
      .Case("elementwise_mul", product)
      .Case("elementwise_div", quotient)
      .Case("scale", affine)
      .Case("exp", exponential)
      .Case("sqrt", root)
      .Case("pow", power)
      .Case("clip", clipped)
      .Cases({"elementwise_max", "elementwise_min"}, choice)
      .Cases({"assign", "share_data", "memcpy", "cast", "square", "abs", "sign", "relu", "tanh"},
             keeps)
      .Cases({"floor", "ceil", "round", "trunc", "sin", "tan", "sinh", "atan", "erf", "expm1"},
             keeps)
      .Cases({"log1p", "leaky_relu", "elu", "softsign", "check_finite_and_unscale"}, keeps)
      .Cases({"update_loss_scaling", "coalesce_tensor", "clip_by_norm"}, keeps)
      .Default(nullptr);
}

// The number of a constant; nothing where a step decides it.
std::optional<double> constantOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op)) return std::nullopt;
  const pd::OpView view(op);
  if (view.type() == "fill_zeros_like") return 0;
  if (view.type() != "fill_constant" || op->getNumOperands() != 0) return std::nullopt;
  const std::string text = view.getString("str_value");
  double number = view.getFloat("value");
  if (!text.empty() && llvm::StringRef(text).getAsDouble(number)) return std::nullopt;
  return number;
}

Pad padOf(double number) {
  if (!std::isfinite(number)) return Pad::Any;
  return number == 0 ? Pad::Zero : number > 0 ? Pad::Positive : Pad::Finite;
}

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(dist::unlocated(value.getType()));
  return type ? type.getShape() : llvm::ArrayRef<int64_t>();
}

// The value outside of a region that an argument of its block is; null where it is another one in
// every turn.
mlir::Value captured(mlir::BlockArgument argument) {
  mlir::Operation* op = argument.getOwner()->getParentOp();
  const unsigned number = argument.getArgNumber();
  if (llvm::isa<dist::OnOp, dist::CompositeOp>(op))
    return number < op->getNumOperands() ? op->getOperand(number) : mlir::Value();
  if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "conditional_block") return {};
  const std::vector<mlir::Value> captures = pd::OpView(op).inputs("$capture");
  return number < captures.size() ? captures[number] : mlir::Value();
}

// Whether start-up has cut it already; before that a value has no pad.
bool isCut(mlir::Value value, int depth = 0) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || depth > 64) return true;  // not known to be whole
  if (llvm::isa<dist::SliceOp, dist::ReduceScatterOp>(op)) return true;
  return llvm::any_of(op->getOperands(),
                      [&](mlir::Value operand) { return isCut(operand, depth + 1); });
}

}  // namespace

Pad Pads::of(mlir::Value value) {
  if (!value) return Pad::Any;
  if (auto found = known_.find(value); found != known_.end()) return found->second;
  const Pad pad = compute(value);
  known_[value] = pad;
  return pad;
}

Pad Pads::compute(mlir::Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return of(captured(argument));
  mlir::Operation* op = value.getDefiningOp();
  const unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return ofVariable(op, get.getVar());
  // No feed is cut flat: where a test gives one, it is cut like a variable.
  if (llvm::isa<dist::SliceOp, dist::ReduceScatterOp, pd::InputOp>(op)) return Pad::Zero;
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) {
    mlir::Operation* start = wait.getPending().getDefiningOp();
    if (llvm::isa_and_nonnull<dist::ReduceScatterOp>(start)) return Pad::Zero;
    op = start;
  }
  if (auto reduce = llvm::dyn_cast_or_null<dist::AllReduceOp>(op)) {
    // One over the axis itself is where a pass is going to cut.
    dist::CommOp comm = dist::lookupComm(reduce, reduce.getCommAttr());
    if (comm && comm.overAxis(axis_)) return Pad::Zero;
    return of(reduce.getInputs()[number]);
  }
  if (llvm::isa_and_nonnull<dist::OnOp, dist::CompositeOp>(op)) {
    Pad worst = Pad::Zero;
    for (mlir::Region& region : op->getRegions())
      if (!region.empty())
        worst = std::max(worst, of(region.front().getTerminator()->getOperand(number)));
    return worst;
  }
  if (!op || !pd::OpView::isFrameworkOp(op)) return Pad::Any;
  if (std::optional<double> number = constantOf(value)) return padOf(*number);
  const PadRule rule = ruleOf(pd::OpView(op));
  if (!rule) return Pad::Any;
  Operands given{pd::OpView(op), {}};
  for (mlir::Value operand : op->getOperands()) {
    if (shapeOf(operand) == shapeOf(value)) {
      given.flat.push_back(of(operand));
    } else {
      given.wholeOnes = true;
      given.oneIsPositive |= constantOf(operand).value_or(0) > 0;
    }
  }
  return rule(given);
}

// Start-up cuts what it sets, with a pad of zeros; from then on by induction over steps.
Pad Pads::ofVariable(mlir::Operation* get, llvm::StringRef name) {
  if (!assumed_.insert(name).second) return Pad::Zero;
  auto program = get->getParentOfType<pd::ProgramOp>();
  bool zero = static_cast<bool>(program);
  if (!program) return Pad::Any;
  program->getParentOp()->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    // The programs of the job inside are others.
    if (llvm::isa<mlir::ModuleOp>(op) && op != program->getParentOp())
      return mlir::WalkResult::skip();
    auto set = llvm::dyn_cast<pd::SetOp>(op);
    if (!zero || !set || set.getVar() != name) return mlir::WalkResult::advance();
    const bool startup = set->getParentOfType<pd::ProgramOp>().getSymName() == "startup";
    zero = (startup && !isCut(set.getValue())) || of(set.getValue()) == Pad::Zero;
    return mlir::WalkResult::advance();
  });
  return zero ? Pad::Zero : Pad::Any;
}

}  // namespace dtranspile::verify

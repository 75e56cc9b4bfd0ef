#include "compiler/analysis/relations/pads.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {
namespace {

// An op as the pad sees it: operands in parts, which are cut like the result, and whole ones.
struct Operands {
  struct Part {
    std::string slot;
    Pad pad;
  };
  pd::OpView op;
  std::string result;  // its slot
  std::vector<Part> parts;
  bool wholeOnes = false;      // there are others
  bool oneIsPositive = false;  // one of these is a constant above zero

  Pad in(llvm::StringRef slot) const {
    for (const Part& part : parts)
      if (part.slot == slot) return part.pad;
    return Pad::Any;
  }
};

bool all(const Operands& given, llvm::function_ref<bool(Pad)> holds) {
  return !given.parts.empty() &&
         llvm::all_of(given.parts, [&](const Operands::Part& part) { return holds(part.pad); });
}
bool allZero(const Operands& given) {
  return all(given, [](Pad pad) { return pad <= Pad::Zero; });
}
bool allFinite(const Operands& given) {
  return all(given, [](Pad pad) { return pad != Pad::Any; });
}
bool noneNegative(const Operands& given) {
  return all(given, [](Pad pad) { return pad <= Pad::Positive; });
}

// f(0, …, 0) = 0, whatever the whole operands are. (Of zero times infinity all that is summed is
// lost anyway.)
Pad keeps(const Operands& given) { return allZero(given) ? Pad::Zero : Pad::Any; }

// f(0) > 0
Pad raises(const Operands& given) { return allZero(given) ? Pad::Positive : Pad::Any; }

Pad same(const Operands& given) {
  return given.parts.size() == 1 && !given.wholeOnes ? given.parts[0].pad : Pad::Any;
}

Pad sum(const Operands& given) {
  if (given.wholeOnes) return noneNegative(given) && given.oneIsPositive ? Pad::Positive : Pad::Any;
  if (allZero(given)) return Pad::Zero;
  return noneNegative(given) ? Pad::Positive : allFinite(given) ? Pad::Finite : Pad::Any;
}

Pad difference(const Operands& given) {
  if (given.wholeOnes || !allFinite(given)) return Pad::Any;
  return allZero(given) ? Pad::Zero : Pad::Finite;
}

Pad product(const Operands& given) {
  const bool zero =
      llvm::any_of(given.parts, [](const Operands::Part& part) { return part.pad <= Pad::Zero; });
  return zero && allFinite(given) ? Pad::Zero : Pad::Any;
}

// 0/0 is no number; 0 divided by a whole one is what the other elements of a zero are, too.
Pad quotient(const Operands& given) {
  if (given.in("X") > Pad::Zero) return Pad::Any;
  if (given.parts.size() == 1) return Pad::Zero;
  return given.in("Y") == Pad::Positive ? Pad::Zero : Pad::Any;
}

Pad affine(const Operands& given) {
  double bias = given.op.getFloat("bias");
  if (bias == 0) return keeps(given);
  if (given.op.input("ScaleTensor")) return Pad::Any;
  if (!given.op.getBool("bias_after_scale")) bias *= given.op.getFloat("scale");
  if (bias > 0 && given.op.getFloat("scale") >= 0 && noneNegative(given)) return Pad::Positive;
  return allZero(given) && std::isfinite(bias) ? Pad::Finite : Pad::Any;
}

Pad root(const Operands& given) {
  return !noneNegative(given) ? Pad::Any : allZero(given) ? Pad::Zero : Pad::Positive;
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

// Of two parts; a whole one is another number.
Pad extremum(const Operands& given) { return given.wholeOnes ? Pad::Any : keeps(given); }

Pad choice(const Operands& given) {
  return std::max(given.in("X"), given.in("Y")) <= Pad::Zero ? Pad::Zero : Pad::Any;
}

// True or false, whatever is compared.
Pad flag(const Operands&) { return Pad::Finite; }

Pad converted(const Operands& given) {
  mlir::RankedTensorType from = given.op.input("X")
                                    ? pd::tensorOf(dist::unlocated(given.op.input("X").getType()))
                                    : mlir::RankedTensorType();
  const bool wasFlag = from && from.getElementType().isInteger(1);
  return allFinite(given) && wasFlag && !allZero(given) ? Pad::Finite : keeps(given);
}

// Divides by a sum with epsilon: 0/(√0 + ε).
Pad adaptive(const Operands& given) {
  return !given.op.hasInput("EpsilonTensor") && given.op.getFloat("epsilon") > 0 ? keeps(given)
                                                                                 : Pad::Any;
}

// Its norm becomes max(|g|, β·norm + ε), and is never below zero.
Pad adamax(const Operands& given) {
  if (given.op.getFloat("epsilon") <= 0) return Pad::Any;
  if (given.result == "InfNormOut") return given.in("Grad") <= Pad::Zero ? Pad::Positive : Pad::Any;
  return llvm::all_of(given.parts,
                      [](const Operands::Part& part) {
                        return part.slot == "InfNorm" || part.pad <= Pad::Zero;
                      })
             ? Pad::Zero
             : Pad::Any;
}

// Powers of zero, and a threshold that zero does not pass.
Pad ftrl(const Operands& given) {
  return given.op.getFloat("lr_power") <= 0 && given.op.getFloat("l1") >= 0 ? keeps(given)
                                                                            : Pad::Any;
}

// What an op makes of pads. An op without a row makes anything of them.
using PadRule = Pad (*)(const Operands&);
struct PadRow {
  llvm::StringLiteral type;
  PadRule rule;
  bool memberwise = false;  // result i of a list is made of member i of each list
};
// The abstract transfer functions of framework ops over the lattice of Pad: from what is known of
// the pads of the operands follows what is known of the pad of the result. A row stands here only
// where the op's definition computes every element from the elements at the same position (and from
// whole operands), so that the elements of the pad never mix with others. Optimizers have rows
// because their state is cut like the parameter: state that starts with a zero pad must keep it, or
// it would leak into norms and sums over the flat part.
constexpr PadRow kRows[] = {
    {"elementwise_add", sum},
    {"sum", sum},
    {"grad_add", sum},
    {"elementwise_sub", difference},
    {"minus", difference},
    {"elementwise_mul", product},
    {"elementwise_div", quotient},
    {"elementwise_max", extremum},
    {"elementwise_min", extremum},
    {"where", choice},
    {"scale", affine},
    {"assign", same},
    {"share_data", same},
    {"memcpy", same},
    {"cast", converted},
    {"sqrt", root},
    {"pow", power},
    {"clip", clipped},
    {"clip_by_norm", keeps},
    {"square", keeps},
    {"abs", keeps},
    {"sign", keeps},
    {"relu", keeps},
    {"leaky_relu", keeps},
    {"elu", keeps},
    {"softsign", keeps},
    {"tanh", keeps},
    {"floor", keeps},
    {"ceil", keeps},
    {"round", keeps},
    {"trunc", keeps},
    {"sin", keeps},
    {"tan", keeps},
    {"sinh", keeps},
    {"asin", keeps},
    {"atan", keeps},
    {"erf", keeps},
    {"expm1", keeps},
    {"log1p", keeps},
    {"exp", raises},
    {"cos", raises},
    {"cosh", raises},
    {"sigmoid", raises},
    {"less_than", flag},
    {"less_equal", flag},
    {"greater_than", flag},
    {"greater_equal", flag},
    {"equal", flag},
    {"not_equal", flag},
    {"logical_and", flag},
    {"logical_or", flag},
    {"logical_not", flag},
    {"logical_xor", flag},
    {"isfinite_v2", flag},
    {"isnan_v2", flag},
    {"isinf_v2", flag},
    {"check_finite_and_unscale", keeps, true},
    {"update_loss_scaling", keeps, true},
    {"average_accumulates", keeps},
    {"sgd", keeps},
    {"momentum", keeps},
    {"merged_momentum", keeps, true},
    {"lars_momentum", keeps, true},
    {"proximal_gd", keeps},
    {"adam", adaptive},
    {"adamw", adaptive},
    {"merged_adam", adaptive, true},
    {"adagrad", adaptive},
    {"decayed_adagrad", adaptive},
    {"adadelta", adaptive},
    {"rmsprop", adaptive},
    {"lamb", adaptive},
    {"adamax", adamax},
    {"ftrl", ftrl},
};

const PadRow* rowOf(const pd::OpView& op) {
  const PadRow* row =
      llvm::find_if(kRows, [&](const PadRow& one) { return one.type == op.type(); });
  return row == std::end(kRows) ? nullptr : row;
}

// The number of a constant; nothing where a step decides it.
std::optional<double> constantOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op)) return std::nullopt;
  const pd::OpView view(op);
  if (view.type() == "fill_zeros_like") return 0;
  if (view.type() == "fill_any_like") return view.getFloat("value");
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
  mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(value.getType()));
  return type ? type.getShape() : llvm::ArrayRef<int64_t>();
}

// Ranks of an axis, or of several together; 0 where they are not known.
int64_t ranksAlong(mlir::Operation* op, mlir::ArrayAttr axes) {
  dist::MeshOp mesh = dist::meshOf(op);
  int64_t ranks = 1;
  for (llvm::StringRef axis : axes.getAsValueRange<mlir::StringAttr>())
    ranks *= mesh ? mesh.sizeOf(axis).value_or(0) : 0;
  return ranks;
}

// Whether a variable is declared to be cut flat so that the elements divide.
bool dividesFlat(pd::VarOp var) {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  dist::MeshOp mesh = dist::meshOf(var);
  bool flat = false;
  for (dist::AxisRelAttr one :
       relation ? relation.getAxes() : llvm::ArrayRef<dist::AxisRelAttr>()) {
    if (one.getState() != dist::StateKind::Split || one.getDim() != dist::kFlat) continue;
    const int64_t ranks = mesh ? mesh.sizeOf(one.getAxis()).value_or(0) : 0;
    if (!one.getLayout() || ranks == 0 || one.getLayout().getExtent() % ranks != 0) return false;
    flat = true;
  }
  return flat;
}

// The op that was started, in a guard too; null where that is not known.
mlir::Operation* starterOf(mlir::Value pending) {
  while (auto on = pending.getDefiningOp<dist::OnOp>())
    pending = on.getBody().front().getTerminator()->getOperand(
        llvm::cast<mlir::OpResult>(pending).getResultNumber());
  return pending.getDefiningOp();
}

unsigned flatCuts(mlir::Value value, llvm::DenseSet<mlir::Value>& seen);
bool isFlat(uint64_t dim) { return static_cast<int64_t>(dim) == dist::kFlat; }

// What goes in where a region takes an argument; null where that is not known.
mlir::Value outside(mlir::BlockArgument argument) {
  mlir::Operation* op = argument.getOwner()->getParentOp();
  const unsigned number = argument.getArgNumber();
  if (llvm::isa<dist::OnOp, dist::CompositeOp, dist::MicroOp>(op))
    return number < op->getNumOperands() ? op->getOperand(number) : mlir::Value();
  if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "conditional_block") return {};
  const std::vector<mlir::Value> captures = pd::OpView(op).inputs("$capture");
  return number < captures.size() ? captures[number] : mlir::Value();
}

// How many axes the variable is declared to be cut flat along: each of them is one cut within
// another.
unsigned flatCutsOf(pd::GetOp get) {
  mlir::Operation* role = get->getParentOfType<pd::ProgramOp>()->getParentOp();
  auto var = llvm::dyn_cast_or_null<pd::VarOp>(
      mlir::SymbolTable::lookupSymbolIn(role, get.getVarAttr().getAttr()));
  auto relation = var ? var->getAttrOfType<dist::RelAttr>(dist::kRelAttr) : dist::RelAttr();
  return relation ? llvm::count_if(relation.getAxes(),
                                   [](dist::AxisRelAttr one) {
                                     return one.getState() == dist::StateKind::Split &&
                                            one.getDim() == dist::kFlat;
                                   })
                  : 0;
}

// A slice or a reduce_scatter of the flat dim adds a cut, an all_gather takes one away, and any
// other op is as deep as the deepest of the operands of its shape (and of what its regions yield),
// since elementwise ops keep the cut of what they read. The count is an upper bound: where nothing
// is known it is one.
unsigned flatCutsOf(mlir::OpResult result, llvm::DenseSet<mlir::Value>& seen) {
  mlir::Operation* op = result.getOwner();
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return flatCutsOf(get);
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) op = starterOf(wait.getPending());
  if (!op) return 1;
  const auto input = [&] { return flatCuts(op->getOperand(result.getResultNumber()), seen); };
  if (auto slice = llvm::dyn_cast<dist::SliceOp>(op); slice && isFlat(slice.getDim()))
    return 1 + input();
  if (auto scatter = llvm::dyn_cast<dist::ReduceScatterOp>(op); scatter && isFlat(scatter.getDim()))
    return 1 + input();
  if (auto gather = llvm::dyn_cast<dist::AllGatherOp>(op); gather && isFlat(gather.getDim())) {
    const unsigned cuts = input();
    return cuts == 0 ? 0 : cuts - 1;
  }
  unsigned most = 0;
  for (mlir::Region& region : op->getRegions())
    if (!region.empty())
      for (mlir::Value value : region.front().getTerminator()->getOperands())
        most = std::max(most, flatCuts(value, seen));
  for (mlir::Value operand : op->getOperands())
    if (shapeOf(operand) == shapeOf(result)) most = std::max(most, flatCuts(operand, seen));
  return most;
}

// How often a value may have been cut flat, one cut within another.
unsigned flatCuts(mlir::Value value, llvm::DenseSet<mlir::Value>& seen) {
  if (shapeOf(value).size() != 1 || !seen.insert(value).second) return 0;
  if (auto result = llvm::dyn_cast<mlir::OpResult>(value)) return flatCutsOf(result, seen);
  mlir::Value given = outside(llvm::cast<mlir::BlockArgument>(value));
  return given ? flatCuts(given, seen) : 1;
}

// One family of values that are cut alike: where one has no pad, none has.
Pad joined(Pad one, Pad other) {
  return one == Pad::None || other == Pad::None ? Pad::None : std::max(one, other);
}

}  // namespace

Pad Pads::of(mlir::Value value) {
  if (!value) return Pad::Any;
  if (auto found = known_.find(value); found != known_.end()) return found->second;
  const Pad pad = compute(value);
  known_[value] = pad;
  return pad;
}

// Taken to be zero while it is found out whether it is. What has been found meanwhile does not hold
// where it is not.
Pad Pads::byInduction(const void* key, llvm::function_ref<Pad()> compute) {
  if (auto found = carried_.find(key); found != carried_.end()) return found->second;
  if (!open_.insert(key).second) return Pad::Zero;
  Pad pad = compute();
  open_.erase(key);
  if (pad > Pad::Zero) {
    pad = Pad::Any;
    known_.clear();
    for (const void* other : llvm::to_vector(llvm::make_first_range(carried_)))
      if (carried_.lookup(other) != Pad::Any) carried_.erase(other);
  }
  carried_[key] = pad;
  return pad;
}

Pad Pads::compute(mlir::Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return ofArgument(argument);
  return ofResult(llvm::cast<mlir::OpResult>(value));
}

// What a region takes in. A pass cuts none but what a branch captures, and that where it is read.
Pad Pads::ofArgument(mlir::BlockArgument argument) {
  mlir::Operation* op = argument.getOwner()->getParentOp();
  mlir::Value given = outside(argument);
  if (!given) return inParts_ ? Pad::Any : Pad::Zero;
  if (!llvm::isa<dist::MicroOp>(op)) return of(given);
  if (!inParts_) return Pad::Zero;
  return byInduction(argument.getAsOpaquePointer(),
                     [&] { return joined(of(given), ofYields(op, argument.getArgNumber())); });
}

Pad Pads::ofYields(mlir::Operation* op, unsigned number) {
  Pad pad = Pad::Zero;
  for (mlir::Region& region : op->getRegions())
    if (!region.empty()) pad = joined(pad, of(region.front().getTerminator()->getOperand(number)));
  return pad;
}

// What a branch gives is what its block has, or what was there before.
Pad Pads::ofBranch(mlir::OpResult result) {
  Pad pad = Pad::Zero;
  mlir::Operation* op = result.getOwner();
  for (mlir::ValueRange values :
       {mlir::ValueRange(op->getRegion(0).front().getTerminator()->getOperands()),
        mlir::ValueRange(op->getOperands())})
    for (mlir::Value value : values)
      if (shapeOf(value) == shapeOf(result)) pad = joined(pad, of(value));
  return pad;
}

// A cut of what is in parts already keeps their pad beside its own.
Pad Pads::ofCut(mlir::Value whole, int64_t parts) {
  mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(whole.getType()));
  const bool divides =
      parts > 0 && type && type.hasStaticShape() && type.getNumElements() % parts == 0;
  llvm::DenseSet<mlir::Value> seen;
  return std::max(divides ? Pad::None : Pad::Zero,
                  flatCuts(whole, seen) > 0 ? of(whole) : Pad::None);
}

// Goes from a value to the op that made it. Communication that was started asynchronously is judged
// at its start. An op that neither computes elementwise nor moves whole parts has no known pad,
// which is always a safe answer: the walk then loses the relation instead of proving a wrong one.
Pad Pads::ofResult(mlir::OpResult result) {
  mlir::Operation* op = result.getOwner();
  const unsigned number = result.getResultNumber();
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return ofVariable(get);
  if (pd::OpView::isFrameworkOp(op) && op->getNumRegions() == 0) return ofFramework(result);
  if (!inParts_) return Pad::Zero;  // cut after it
  if (pd::OpView::isFrameworkOp(op))
    return pd::OpView(op).type() == "conditional_block" ? ofBranch(result) : Pad::Any;
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) op = starterOf(wait.getPending());
  if (!op) return Pad::Any;
  const auto operand = [&] {
    return number < op->getNumOperands() ? of(op->getOperand(number)) : Pad::Any;
  };
  return llvm::TypeSwitch<mlir::Operation*, Pad>(op)
      .Case([&](dist::SliceOp slice) {
        return ofCut(slice.getInput(), ranksAlong(slice, slice.getAxes()));
      })
      .Case([&](dist::ReduceScatterOp scatter) {
        dist::CommOp comm = dist::lookupComm(scatter, scatter.getCommAttr());
        return ofCut(scatter.getInputs()[number],
                     comm && !comm.getSubset() ? ranksAlong(scatter, comm.getAxes()) : 0);
      })
      .Case<dist::OnOp, dist::CompositeOp>(
          [&](mlir::Operation* region) { return ofYields(region, number); })
      .Case([&](dist::MicroOp) { return joined(operand(), ofYields(op, number)); })
      // Reductions of zeros, or of what is above zero, are that; what is put together along another
      // axis has the pads of its parts.
      .Case<dist::AllReduceOp, dist::ReduceOp, dist::BroadcastOp, dist::TransferOp, dist::CopyOp,
            dist::AssumeOp, dist::AllGatherOp>([&](mlir::Operation*) { return operand(); })
      .Default([](mlir::Operation*) { return Pad::Any; });
}

// Sorts the operands into parts and whole ones by their shapes: an operand that has the shape of
// the result is cut as the result is, one of another shape is broadcast and has no pad. A part
// without a pad means that the elements divide, and then no operand of this cut has one.
Pad Pads::ofFramework(mlir::OpResult result) {
  const pd::OpView op(result.getOwner());
  if (!inParts_ && op.operation()->getNumOperands() == 0) return Pad::Zero;  // cut after it
  if (std::optional<double> number = constantOf(result)) return padOf(*number);
  const PadRow* row = rowOf(op);
  const auto [slot, index] = op.slotOf(result);
  Operands given{op, slot, {}};
  for (const std::string& name : op.inputSlots())
    for (unsigned i = 0, n = op.inputCount(name); i < n; ++i) {
      mlir::Value operand = op.input(name, i);
      if (!operand || (row && row->memberwise && n > 1 && i != index)) continue;
      if (shapeOf(operand) == shapeOf(result)) {
        given.parts.push_back({name, of(operand)});
        if (given.parts.back().pad == Pad::None) return Pad::None;
      } else {
        given.wholeOnes = true;
        given.oneIsPositive |= constantOf(operand).value_or(0) > 0;
      }
    }
  return row ? row->rule(given) : Pad::Any;
}

// Start-up cuts what it sets, with a pad of zeros, and so does whoever reads what is whole.
Pad Pads::ofVariable(mlir::Operation* get) {
  auto name = get->getAttrOfType<mlir::FlatSymbolRefAttr>("var");
  auto program = get->getParentOfType<pd::ProgramOp>();
  mlir::Operation* role = program ? program->getParentOp() : nullptr;
  auto var = role ? llvm::dyn_cast_or_null<pd::VarOp>(
                        mlir::SymbolTable::lookupSymbolIn(role, name.getAttr()))
                  : pd::VarOp();
  if (!var) return Pad::Any;
  if (inParts_ && dividesFlat(var)) return Pad::None;
  if (sets_.empty())
    for (auto one : role->getRegion(0).front().getOps<pd::ProgramOp>())
      if (inParts_ || one == program)
        one.walk([&](pd::SetOp set) { sets_[set.getVarAttr()].push_back(set.getValue()); });
  const std::vector<mlir::Value> values = sets_.lookup(name);
  return byInduction(name.getAsOpaquePointer(), [&] {
    Pad pad = Pad::Zero;
    for (mlir::Value value : values) pad = joined(pad, of(value));
    return pad;
  });
}

}  // namespace dtranspile::verify

#include "passes/support/update_part.h"

#include "compiler/analysis/relations/kinds.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::passes {
namespace {

// Reductions of a whole tensor to one number that is the sum of what its blocks give, or to a flag
// that is set where that of a block is.
bool sumsUp(mlir::Operation* op) {
  const pd::OpView view(op);
  if (view.type() == "squared_l2_norm") return true;
  if (view.type() == "check_finite_and_unscale")
    return view.inputCount("X") == 1 && op->getNumResults() == 1 && view.output("FoundInfinite");
  mlir::RankedTensorType from = view.type() == "reduce_sum"
                                    ? pd::tensorOf(op->getOperand(0).getType())
                                    : mlir::RankedTensorType();
  mlir::RankedTensorType to = from ? pd::tensorOf(op->getResult(0).getType()) : from;
  return to && to.hasStaticShape() && to.getNumElements() == 1;
}

// Linear in all that it takes: sums of partial sums are one.
// What adds up the terms of several parameters, as global clipping does before it takes the root.
bool isLinear(mlir::Operation* op) {
  static constexpr llvm::StringLiteral kTypes[] = {"sum", "elementwise_add", "reduce_sum",
                                                   "assign"};
  return llvm::is_contained(kTypes, pd::OpView(op).type());
}

bool isUpdateRole(int role) {
  return (role & (pd::kOptimize | pd::kLrSched)) != 0 && (role & pd::kBackward) == 0;
}

// Flags are put together by or, at once.
bool isFlag(mlir::Value value) {
  mlir::RankedTensorType type = pd::tensorOf(value.getType());
  return type && type.getElementType().isInteger(1);
}

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  mlir::RankedTensorType type = pd::tensorOf(value.getType());
  return type ? type.getShape() : llvm::ArrayRef<int64_t>();
}

llvm::ArrayRef<int64_t> shapeOf(const Served& served) {
  return pd::tensorOf(pd::VarOp(served.var).getType()).getShape();
}

bool takesRows(mlir::Operation* op) {
  return llvm::any_of(op->getOperandTypes(),
                      [](mlir::Type type) { return llvm::isa<pd::RowsType>(type); });
}

bool isConstant(mlir::Operation* op) {
  if (llvm::isa<pd::UndefOp>(op)) return true;
  if (!pd::OpView::isFrameworkOp(op) || op->getNumOperands() || op->getNumRegions()) return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return spec && spec->effects == pd::kPure;
}

}  // namespace

// Operands of the op, and those of ops in its regions that are made outside of them.
llvm::SetVector<mlir::Value> takenBy(mlir::Operation* op) {
  llvm::SetVector<mlir::Value> taken(op->operand_begin(), op->operand_end());
  for (mlir::Region& region : op->getRegions())
    region.walk([&](mlir::Operation* inner) {
      for (mlir::Value operand : inner->getOperands())
        if (!op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
            operand.getParentBlock()->getParentOp() != op)
          taken.insert(operand);
    });
  return taken;
}

Touched touchedBy(mlir::Operation* op) {
  Touched touched;
  op->walk([&](mlir::Operation* inner) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(inner))
      touched.read.push_back(get.getVarAttr().getAttr());
    if (auto set = llvm::dyn_cast<pd::SetOp>(inner))
      touched.set.push_back(set.getVarAttr().getAttr());
  });
  return touched;
}

mlir::FlatSymbolRefAttr variableBehind(mlir::Value value) {
  if (auto get = value.getDefiningOp<pd::GetOp>()) return get.getVarAttr();
  auto result = llvm::dyn_cast<mlir::OpResult>(value);
  mlir::Value same = result ? verify::passedThrough(result) : mlir::Value();
  return same ? variableBehind(same) : mlir::FlatSymbolRefAttr();
}

int UpdatePart::ownerOf(mlir::Value value) const {
  auto found = valueOwner_.find(value);
  return found == valueOwner_.end() ? -1 : found->second;
}
int UpdatePart::ownerOf(llvm::StringRef variable) const {
  auto found = variableOwner_.find(variable);
  return found == variableOwner_.end() ? -1 : found->second;
}
int UpdatePart::ownerOf(mlir::Operation* op) const {
  auto found = opOwner_.find(op);
  return found == opOwner_.end() ? -1 : found->second;
}
bool UpdatePart::sets(llvm::StringRef variable) const {
  auto found = variables_.find(variable);
  return found != variables_.end() && found->second;
}

// Ops by role first, then parameters, then what belongs to which of them. Everything that is asked
// later (which server, which handler) follows from the owners.
mlir::FailureOr<UpdatePart> UpdatePart::of(const JobOnAxes& job) {
  UpdatePart part;
  if (mlir::failed(part.collectOps(job)) || mlir::failed(part.collectParameters(job)) ||
      mlir::failed(part.collectGradients(job)) || mlir::failed(part.findOwners(job)) ||
      mlir::failed(part.collectVariables(job)))
    return mlir::failure();
  return part;
}

mlir::LogicalResult UpdatePart::collectOps(const JobOnAxes& job) {
  for (mlir::Operation& op : *pd::ProgramOp(job.main).getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op) || !isUpdateRole(pd::OpView(&op).role())) continue;
    ops_.push_back(&op);
    members_.insert(&op);
  }
  absorbParameterOps(job);
  return mlir::success();
}

// What other roles compute of variables alone, for updates alone (a decoupled decay), goes along.
// The largest set of pure ops that take variables, constants and each other only, and that updates
// and each other alone read: begins with all candidates and takes away what does not fit, until
// nothing changes. Each sweep goes the way that the condition spreads, forwards for operands and
// backwards for users, so that two sweeps nearly always do.
void UpdatePart::absorbParameterOps(const JobOnAxes& job) {
  mlir::Block& body = *pd::ProgramOp(job.main).getBodyBlock();
  llvm::DenseSet<mlir::Operation*> chosen;
  for (mlir::Operation& op : body) {
    const pd::OpSpec* spec = pd::OpView::isFrameworkOp(&op) ? pd::OpView(&op).spec() : nullptr;
    if (spec && spec->effects == pd::kPure && op.getNumRegions() == 0 && op.getNumOperands() != 0 &&
        !contains(&op) && !op.use_empty())
      chosen.insert(&op);
  }
  auto goesAlong = [&](mlir::Operation* op) { return contains(op) || chosen.contains(op); };
  auto isReady = [&](mlir::Value operand) {
    mlir::Operation* maker = operand.getDefiningOp();
    return maker && (llvm::isa<pd::GetOp>(maker) || goesAlong(maker) || isConstant(maker));
  };
  auto isForUpdates = [&](mlir::Operation* user) { return goesAlong(inBlock(&body, user)); };
  for (bool changed = true; changed;) {
    changed = false;
    for (mlir::Operation& op : body)
      if (chosen.contains(&op) && !llvm::all_of(op.getOperands(), isReady))
        changed |= chosen.erase(&op);
    for (mlir::Operation& op : llvm::reverse(body))
      if (chosen.contains(&op) && !llvm::all_of(op.getUsers(), isForUpdates))
        changed |= chosen.erase(&op);
  }
  if (chosen.empty()) return;
  members_.insert_range(chosen);
  ops_.clear();
  for (mlir::Operation& op : body)
    if (contains(&op)) ops_.push_back(&op);
}

// Parameters that servers will have: each is updated once per step, at the top of the program, and
// has at least one dim and one element to cut.
mlir::LogicalResult UpdatePart::collectParameters(const JobOnAxes& job) {
  mlir::LogicalResult result = mlir::success();
  const mlir::SymbolTable symbols(job.role);
  forEachUpdate(job.main, [&](pd::OpView update, llvm::StringRef name) {
    mlir::Operation* op = update.operation();
    auto refuse = [&](const llvm::Twine& why) { result = op->emitError(why); };
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(symbols.lookup(name));
    if (mlir::failed(result)) return;
    if (!contains(op))
      return refuse("updates parameter '" + name +
                    "' and has no role Optimize at the top of the program: servers take over such "
                    "ops only; save the program with the update outside of control flow");
    mlir::RankedTensorType type = var ? pd::tensorOf(var.getType()) : mlir::RankedTensorType();
    if (!type || !type.hasStaticShape())
      return refuse("updates '" + name + "', which is no parameter of known extents");
    if (type.getRank() == 0)
      return refuse("parameter '" + name +
                    "' has no dim: servers hold blocks of dim 0; give it the shape [1]");
    if (type.getNumElements() == 0)
      return refuse("parameter '" + name + "' has no elements, and so no block to serve");
    if (!variableOwner_.try_emplace(name, parameters_.size()).second)
      return refuse("updates parameter '" + name + "' a second time in one step");
    parameters_.push_back({var, {}, nullptr, {var.getSymNameAttr()}});
  });
  if (mlir::succeeded(result) && parameters_.empty())
    return pd::ProgramOp(job.main).emitError(
        "updates no parameter: servers would have nothing to do; is this a training program?");
  return result;
}

// The last op with role Backward that lists (parameter, gradient) completes the gradient.
mlir::LogicalResult UpdatePart::collectGradients(const JobOnAxes& job) {
  for (mlir::Operation& op : *pd::ProgramOp(job.main).getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op)) continue;
    const pd::OpView view(&op);
    if (!(view.role() & pd::kBackward) || !view.hasAttr("op_role_var")) continue;
    const std::vector<std::string> names = view.getStrings("op_role_var");
    for (size_t i = 0; i + 1 < names.size(); i += 2) {
      const int owner = ownerOf(llvm::StringRef(names[i]));
      if (owner < 0) continue;
      for (mlir::Value result : op.getResults())
        if (pd::nameOf(result) == names[i + 1]) {
          parameters_[owner].gradient = result;
          break;
        }
    }
  }
  for (auto [number, served] : llvm::enumerate(parameters_)) {
    if (!served.gradient) continue;
    valueOwner_[served.gradient] = static_cast<int>(number);
    served.byRows = llvm::isa<pd::RowsType>(served.gradient.getType()) &&
                    llvm::all_of(served.gradient.getUsers(), [&](mlir::Operation* user) {
                      return !contains(user) || verify::updatesByRows(pd::OpView(user));
                    });
  }
  return mlir::success();
}

// What an update of a parameter sets, and has its shape, is state of the parameter; what is made of
// the two belongs to it too.
mlir::LogicalResult UpdatePart::findOwners(const JobOnAxes& job) {
  for (bool more = true; more;) {
    powers_.clear();
    for (Served& served : parameters_) served.whole = nullptr;  // known of all state at last
    for (mlir::Operation& op : *pd::ProgramOp(job.main).getBodyBlock()) {
      for (mlir::Value result : op.getResults())
        if (mlir::FlatSymbolRefAttr var = variableBehind(result))
          if (const int owner = ownerOf(var.getValue()); owner >= 0) valueOwner_[result] = owner;
      if (contains(&op) && mlir::failed(giveOwner(&op))) return mlir::failure();
    }
    mlir::FailureOr<bool> owned = ownVariables(job);
    if (mlir::failed(owned)) return mlir::failure();
    more = *owned;
  }
  for (mlir::Operation* op : ops_)
    if (mlir::failed(checkOperands(op))) return mlir::failure();
  return mlir::success();
}

bool UpdatePart::isPower(mlir::OpResult result) {
  for (const verify::Power& power : verify::powersOf(pd::OpView(result.getOwner())))
    if (power.out == result && ownerOf(power.in) < 0) {
      powers_.push_back(power);
      return true;
    }
  return false;
}

// Element by element over what belongs to the parameter; all else that it takes is one number.
bool UpdatePart::worksByBlock(mlir::Operation* op, int owner) const {
  for (mlir::Value operand : op->getOperands()) {
    mlir::RankedTensorType type = pd::tensorOf(operand.getType());
    const bool number = type && type.hasStaticShape() && type.getNumElements() == 1;
    if (ownerOf(operand) != owner && !number) return false;
  }
  // Element by element too, with rules of their own for factors and counts.
  static constexpr llvm::StringLiteral kOthers[] = {"scale", "cast", "elementwise_div"};
  const llvm::StringRef type = pd::OpView(op).type();
  if (sumsUp(op) || llvm::is_contained(kOthers, type)) return true;
  const verify::ParsedRule* rule = verify::findRule(type);
  return rule && rule->rule == verify::pointwise;
}

// A value belongs to the parameter that it is made of, element by element or not; a value of two
// parameters can be computed on no server, but for sums of terms, which are numbers. Where an op
// does not work element by element, its parameter stays in one piece (`whole`), and is the reason
// that is given.
mlir::LogicalResult UpdatePart::giveOwner(mlir::Operation* op) {
  int owner = -1;
  bool terms = false, others = false;
  for (mlir::Value value : takenBy(op)) {
    const int other = ownerOf(value);
    (isTerm(value) || isPartial(value) ? terms : others) = true;
    if (other < 0) continue;
    if (owner >= 0 && other != owner)
      return op->emitError("takes values of '")
             << parameters_[owner].var.getSymName() << "' and of '"
             << parameters_[other].var.getSymName()
             << "', which may lie on different servers; only numbers that sum up a whole parameter "
                "can be put together";
    owner = other;
  }
  if (owner < 0) {
    const bool flags = llvm::any_of(op->getOperands(), isFlag);
    if (terms && !others && !flags && isLinear(op)) partial_.insert_range(op->getResults());
    return mlir::success();
  }
  Served& served = parameters_[owner];
  if (takesRows(op) && !verify::takesRowsAsDense(pd::OpView(op)) &&
      !verify::updatesByRows(pd::OpView(op)))
    return op->emitError("takes the SelectedRows gradient of '")
           << served.var.getSymName()
           << "', which servers add up to a dense one: " << pd::OpView(op).type()
           << " does something else with that (rows that no sample has named would be updated "
              "too); "
              "save the program without lazy_mode, or with is_sparse=False";
  if (op->getNumRegions())
    return op->emitError("updates '")
           << served.var.getSymName() << "' under control flow, which servers do not take over";
  opOwner_[op] = owner;
  if (!served.whole && !worksByBlock(op, owner)) served.whole = op;
  for (mlir::OpResult result : op->getResults()) {
    if (sumsUp(op)) terms_.insert(result);
    else if (!isPower(result)) valueOwner_[result] = owner;
  }
  return mlir::success();
}

// Whether there was one more: then what is made of it belongs to its parameter too.
mlir::FailureOr<bool> UpdatePart::ownVariables(const JobOnAxes& job) {
  bool more = false;
  const mlir::SymbolTable symbols(job.role);
  for (auto set : pd::ProgramOp(job.main).getBodyBlock()->getOps<pd::SetOp>()) {
    mlir::Operation* writer = set.getValue().getDefiningOp();
    const int owner = writer && contains(writer) ? ownerOf(set.getValue()) : -1;
    if (owner < 0) continue;
    Served& served = parameters_[owner];
    if (shapeOf(set.getValue()) != shapeOf(served)) {
      writer->emitError("sets '")
          << set.getVar() << "', which belongs to '" << served.var.getSymName()
          << "' and has another shape: servers hold state that is cut like its parameter, and "
             "powers of decay rates";
      return mlir::failure();
    }
    auto [at, fresh] = variableOwner_.try_emplace(set.getVar(), owner);
    if (!fresh && at->second != owner) {
      writer->emitError("sets '") << set.getVar() << "', state of '"
                                  << parameters_[at->second].var.getSymName()
                                  << "', to a value of '" << served.var.getSymName() << "'";
      return mlir::failure();
    }
    if (fresh) served.state.push_back(set.getVarAttr().getAttr());
    more |= fresh;
  }
  return more;
}

// Trainers hand servers gradients, and nothing else.
mlir::LogicalResult UpdatePart::checkOperands(mlir::Operation* op) {
  for (mlir::Value value : takenBy(op)) {
    mlir::Operation* maker = value.getDefiningOp();
    if (!maker || contains(maker) || variableBehind(value)) continue;
    const int owner = ownerOf(value);
    if (owner >= 0 && parameters_[owner].gradient == value) continue;
    if (isConstant(maker)) {
      constants_.insert(maker);
      continue;
    }
    return op->emitError("takes '")
           << pd::nameOf(value) << "', which " << pd::OpView(maker).type()
           << " of the trainers computes and is no gradient of a parameter (none that an op with "
              "role Backward lists in op_role_var): servers are sent gradients only";
  }
  return mlir::success();
}

// Variables that servers must have: read or set by an op of the update, in its blocks too, handed
// to one, or state of a parameter. The flag says whether the update sets it.
mlir::LogicalResult UpdatePart::collectVariables(const JobOnAxes& job) {
  for (mlir::Operation* op : ops_) {
    const Touched touched = touchedBy(op);
    for (mlir::StringAttr name : touched.read) variables_.try_emplace(name, false);
    for (mlir::StringAttr name : touched.set) variables_[name] = true;
    for (mlir::Value value : takenBy(op))
      if (mlir::FlatSymbolRefAttr var = variableBehind(value))
        variables_.try_emplace(var.getValue(), false);
  }
  for (auto set : pd::ProgramOp(job.main).getBodyBlock()->getOps<pd::SetOp>()) {
    mlir::Operation* writer = set.getValue().getDefiningOp();
    if (writer && contains(writer)) variables_[set.getVar()] = true;
  }
  for (const Served& served : parameters_)
    for (mlir::StringAttr name : served.state)
      if (!variables_.contains(name)) variables_[name] = false;
  return mlir::success();
}

}  // namespace dtranspile::passes

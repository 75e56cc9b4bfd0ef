#include "passes/sharding-owner/plan.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/APInt.h"
#include "passes/support/branch.h"
#include "passes/support/sums.h"

namespace dtranspile::passes {
namespace {

bool isNumber(mlir::Value value) {
  mlir::RankedTensorType tensor = fixedTensor(value.getType());
  return tensor && tensor.getNumElements() == 1;
}

bool isUpdate(pd::OpView op) {
  return op.hasInput("Param") && op.hasInput("Grad") && op.hasOutput("ParamOut");
}

// The variable that an update sets to the new parameter; null where it updates several.
mlir::StringAttr updatedBy(pd::OpView op) {
  if (op.inputCount("Param") != 1 || !op.output("ParamOut")) return {};
  for (mlir::Operation* user : op.output("ParamOut").getUsers())
    if (auto set = llvm::dyn_cast<pd::SetOp>(user)) return set.getVarAttr().getAttr();
  return {};
}

bool isRole(mlir::Operation* op, int role) {
  return pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & role);
}

// One number out of numbers of its type.
bool addsNumbers(mlir::Operation* op) {
  const llvm::StringRef type = pd::OpView(op).type();
  if (type != "sum" && type != "elementwise_add") return false;
  return isNumber(op->getResult(0)) && llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
           return operand.getType() == op->getResult(0).getType();
         });
}

bool sameShape(mlir::Type a, mlir::Type b) {
  mlir::RankedTensorType one = fixedTensor(a), other = fixedTensor(b);
  return a == b || (one && other && one.getShape() == other.getShape());
}

// The operand of a branch that an argument of its block stands for; null for others.
mlir::Value givenTo(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  if (!argument) return {};
  mlir::Operation* branch = argument.getOwner()->getParentOp();
  return isBranchOfUpdate(branch) ? branch->getOperand(argument.getArgNumber()) : mlir::Value();
}

// The argument of its block that stands for an operand of a branch; null for others.
mlir::BlockArgument argumentFor(mlir::OpOperand& operand) {
  mlir::Operation* branch = operand.getOwner();
  mlir::Block& block = branch->getRegion(0).front();
  // Captures are the first operands (pd, $capture).
  return operand.getOperandNumber() < block.getNumArguments()
             ? block.getArgument(operand.getOperandNumber())
             : mlir::BlockArgument();
}

}  // namespace

// The framework's rule (its sharding optimizer): in the order of the program, a parameter goes to
// the next owner as soon as what was dealt out before exceeds that owner's share of all bytes. In
// 128 bits, since bytes times ranks may not fit 64.
std::vector<int64_t> ownersOf(llvm::ArrayRef<int64_t> bytes, int64_t ranks) {
  const auto wide = [](int64_t value) { return llvm::APInt(128, static_cast<uint64_t>(value)); };
  llvm::APInt total(128, 0), sum(128, 0);
  for (int64_t one : bytes) total += wide(one);
  std::vector<int64_t> owners;
  int64_t owner = 0;
  for (int64_t one : bytes) {
    if ((sum * wide(ranks)).ugt(total * wide(owner + 1))) ++owner;
    owners.push_back(owner);
    sum += wide(one);
  }
  return owners;
}

// Which parameters can have an owner is a greatest fixed point: all of them have one at first, the
// program is walked under that assumption, and every parameter with which an op does what no single
// rank can do is taken out, until one walk finds nothing. Each attempt takes one out, or says of
// one more number that all ranks have it.
OwnerPlan::OwnerPlan(const JobOnAxes& job, int64_t ranks, int64_t least)
    : job_(job),
      ranks_(ranks),
      least_(least),
      symbols_(job_.role),
      canStore_(job),
      touches_(touchesOf(job_.main)) {
  collectGradients();
  for (const Gradient& gradient : gradients_)
    if (gradient.parameter)
      if (const std::string why = unfit(gradient); !why.empty()) refused_[gradient.parameter] = why;
  while (!attempt()) {
  }
  addReadOnly();
  for (const Gradient& gradient : gradients_) {
    const std::string why = gradient.parameter ? refused_.lookup(gradient.parameter)
                                               : "reaches no update of one parameter";
    if (!why.empty()) {
      kept_[why].push_back(dist::nameOf(gradient.sum->getOperand(gradient.member)).str());
      continue;
    }
    if (sums_.empty() || sums_.back().op != gradient.sum) sums_.push_back({gradient.sum, {}});
    sums_.back().members[ownerOf(gradient.parameter)].push_back(gradient.member);
  }
  for (auto var : job_.role.getBody().front().getOps<pd::VarOp>())
    if (const int64_t owner = ownerOf(var.getSymNameAttr()); owner != kEverywhere)
      stored_.push_back({var, owner});
}

pd::VarOp OwnerPlan::variable(mlir::StringAttr name) const {
  return symbols_.lookup<pd::VarOp>(name);
}

// Sums over the replicas, member by member, and for every update the sums that its gradient depends
// on.
void OwnerPlan::collectGradients() {
  job_.main.walk<mlir::WalkOrder::PreOrder>([&](dist::AllReduceOp sum) {
    dist::CommOp comm = dist::lookupComm(sum, sum.getCommAttr());
    if (sum.getReduce() != dist::Reduce::Sum || !comm || comm.getCarries() != kGradients ||
        comm.getAxes() != job_.axes)
      return;
    mlir::Operation* results = resultsOf(sum);
    for (unsigned member = 0; member < sum.getInputs().size(); ++member) {
      mlir::Value result = results->getResult(member);
      gradientOf_[result] = gradients_.size();
      gradients_.push_back({.sum = sum, .member = member, .result = result});
    }
  });
  job_.main.walk([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op) && isUpdate(pd::OpView(op)) && pd::OpView(op).input("Grad"))
      findSums(pd::OpView(op));
  });
}

// From the gradient that an update takes back to the sum that it is made of, along operands of its
// shape. A number beside a tensor of one element (the factor of a clip) stands in slot Y.
void OwnerPlan::findSums(pd::OpView update) {
  const mlir::StringAttr parameter = updatedBy(update);
  llvm::SetVector<mlir::Value> values;
  const mlir::Type type = update.input("Grad").getType();
  values.insert(update.input("Grad"));
  for (size_t i = 0; i < values.size(); ++i) {
    mlir::Value value = values[i];
    if (auto found = gradientOf_.find(value); found != gradientOf_.end()) {
      Gradient& gradient = gradients_[found->second];
      if (gradient.updates++ == 0) gradient.parameter = parameter;
      else if (gradient.parameter != parameter) gradient.parameter = {};
      continue;
    }
    if (mlir::Value given = givenTo(value)) {
      values.insert(given);
      continue;
    }
    auto result = llvm::dyn_cast<mlir::OpResult>(value);
    if (!result || !pd::OpView::isFrameworkOp(result.getOwner()) ||
        result.getOwner()->getNumRegions())
      continue;
    const pd::OpView view(result.getOwner());
    const auto [slot, index] = view.slotOf(result);
    const bool memberwise = view.outputCount(slot) > 1;
    for (const char* from : {"X", "Y"})
      for (unsigned j = 0; j < view.inputCount(from); ++j)
        if (mlir::Value one = view.input(from, j); one && (!memberwise || j == index) &&
                                                   sameShape(one.getType(), type) &&
                                                   (*from == 'X' || !isNumber(one)))
          values.insert(one);
  }
}

std::string OwnerPlan::unfit(const Gradient& gradient) const {
  const mlir::Type type = gradient.sum->getOperand(gradient.member).getType();
  if (llvm::isa<pd::RowsType>(type)) return "is SelectedRows";
  pd::VarOp var = variable(gradient.parameter);
  mlir::RankedTensorType tensor = var ? fixedTensor(var.getType()) : mlir::RankedTensorType();
  if (!tensor || bytesOf(tensor) < 0) return "has extents that are not known while compiling";
  if (tensor.getNumElements() < least_)
    return "has less than min_shard = " + std::to_string(least_) + " elements";
  if (!canStore_(var)) return "is not set at the top of start-up alone, or lies in parts already";
  return "";
}

// In the order of first use, which is that in which the framework makes parameters.
void OwnerPlan::giveOwners() {
  llvm::DenseSet<mlir::StringAttr> all;
  for (const Gradient& gradient : gradients_)
    if (gradient.parameter && !refused_.contains(gradient.parameter))
      all.insert(gradient.parameter);
  llvm::SetVector<mlir::StringAttr> order;
  job_.main.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    for (mlir::Value operand : op->getOperands())
      if (auto get = operand.getDefiningOp<pd::GetOp>();
          get && all.contains(get.getVarAttr().getAttr()))
        order.insert(get.getVarAttr().getAttr());
  });
  std::vector<int64_t> bytes;
  for (mlir::StringAttr name : order) bytes.push_back(bytesOf(variable(name).getType()));
  for (auto [name, owner] : llvm::zip(order, ownersOf(bytes, ranks_))) {
    variableOwner_[name] = owner;
    parameterOfVariable_[name] = name;
  }
  for (const Gradient& gradient : gradients_)
    if (gradient.parameter && variableOwner_.contains(gradient.parameter)) {
      valueOwner_[gradient.result] = variableOwner_[gradient.parameter];
      parameterOfValue_[gradient.result] = gradient.parameter;
    }
}

// False where it had to refuse a parameter, or to leave a number to all ranks.
bool OwnerPlan::attempt() {
  failed_ = false;
  variableOwner_.clear();
  parameterOfVariable_.clear();
  do {
    grew_ = false;
    valueOwner_.clear();
    parameterOfValue_.clear();
    opOwner_.clear();
    joins_.clear();
    shared_.clear();
    gathered_.clear();
    giveOwners();
    visitBlock(*job_.main.getBodyBlock());
  } while (grew_ && !failed_);
  if (!failed_) checkOrder();
  return !failed_;
}

void OwnerPlan::refuse(mlir::StringAttr parameter, const llvm::Twine& why) {
  failed_ = true;
  if (parameter) refused_.try_emplace(parameter, why.str());
}

// A number that several owners have to do with is no owner's.
void OwnerPlan::fix(mlir::StringAttr name) {
  failed_ = true;
  fixed_.insert(name);
}

// That of a tensor among them, else that of any.
mlir::StringAttr OwnerPlan::parameterBehind(mlir::ValueRange values) const {
  mlir::StringAttr found;
  for (mlir::Value value : values)
    if (mlir::StringAttr parameter = parameterOfValue_.lookup(value))
      if (!found || !isNumber(value)) found = parameter;
  return found;
}

// The owner's op gives it to all. What has no op of its own to do so (a variable, a gradient) is a
// variable of all ranks from now on, or its parameter has no owner.
void OwnerPlan::share(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  auto get = llvm::dyn_cast_or_null<pd::GetOp>(op);
  if (get && !variable(get.getVarAttr().getAttr()).getParameter())
    return fix(get.getVarAttr().getAttr());
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value); argument && givenTo(value))
    return shareUse(argument.getOwner()->getParentOp()->getOpOperand(argument.getArgNumber()));
  if (op && pd::OpView::isFrameworkOp(op) && op->getNumRegions() == 0 &&
      ownerOf(op) != kEverywhere) {
    shared_.insert(value);
    return;
  }
  refuse(parameterOfValue_.lookup(value), "is taken by what belongs to other parameters");
}

void OwnerPlan::give(mlir::Operation* op, int64_t owner, mlir::StringAttr parameter) {
  opOwner_[op] = owner;
  for (mlir::Value result : op->getResults()) {
    valueOwner_[result] = owner;
    parameterOfValue_[result] = parameter;
  }
}

void OwnerPlan::visitBlock(mlir::Block& block) {
  for (mlir::Operation& op : block) visit(&op);
}

// In program order: who has each value. A value on one owner may enter ops of that owner only;
// where it enters another op whole, its parameter is refused, and stays on all ranks.
void OwnerPlan::visit(mlir::Operation* op) {
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
    const mlir::StringAttr name = get.getVarAttr().getAttr();
    if (ownerOf(name) == kEverywhere) return;
    valueOwner_[get.getValue()] = ownerOf(name);
    parameterOfValue_[get.getValue()] = parameterOfVariable_.lookup(name);
    return;
  }
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return visitSet(set);
  if (op->getNumResults() && gradientOf_.contains(op->getResult(0))) return;
  if (isBranchOfUpdate(op)) return visitBranch(op);
  if (op->getNumRegions()) return visitBlocks(op);
  if (pd::OpView::isFrameworkOp(op)) return visitFramework(op);
  for (mlir::Value operand : op->getOperands())
    if (isOwned(operand))
      refuse(parameterOfValue_.lookup(operand),
             "enters " + op->getName().getStringRef() + " whole");
}

// A variable that is set to what an owner has computed is the owner's too.
void OwnerPlan::visitSet(pd::SetOp set) {
  const mlir::StringAttr name = set.getVarAttr().getAttr();
  mlir::Value value = set.getValue();
  const int64_t own = ownerOf(name), given = valueOwner_.lookup_or(value, kEverywhere);
  if (own == kEverywhere && given == kEverywhere) return;
  pd::VarOp var = variable(name);
  const mlir::StringAttr parameter = parameterOfValue_.lookup(value);
  if (own != kEverywhere && given != kEverywhere && own != given) {
    if (isNumber(value) && !var.getParameter()) return fix(name);
    refuse(parameter, "sets '" + name.getValue() + "', which belongs to another parameter");
    return;
  }
  if (own == kEverywhere && fixed_.contains(name)) return share(value);
  if (own == kEverywhere) {
    if (!var || var.getType() != value.getType() || !canStore_(var)) {
      if (isNumber(value)) return fix(name);
      return refuse(parameter, "sets '" + name.getValue() + "', which is no tensor of its own");
    }
    variableOwner_[name] = given;
    parameterOfVariable_[name] = parameter;
    grew_ = true;
  }
  opOwner_[set] = ownerOf(name);
}

// What the forward and backward part takes of parameters is broadcast. Any other op with an owned
// operand belongs to its owner.
void OwnerPlan::visitFramework(mlir::Operation* op) {
  llvm::SetVector<int64_t> owners;
  bool updates = isRole(op, pd::kOptimize);
  for (mlir::Value operand : op->getOperands()) {
    if (!isOwned(operand)) continue;
    owners.insert(valueOwner_.lookup(operand));
    updates |= !operand.getDefiningOp<pd::GetOp>();
  }
  if (owners.empty()) return;
  if (!updates) {
    for (mlir::OpOperand& operand : op->getOpOperands())
      if (isOwned(operand.get())) gathered_.insert(&operand);
    return;
  }
  if (isOfAllRanks(op)) {
    for (mlir::Value operand : op->getOperands())
      if (isOwned(operand)) share(operand);
    return;
  }
  if (owners.size() > 1) return visitMixed(op);
  const pd::OpSpec* spec = pd::OpView(op).spec();
  const mlir::StringAttr parameter = parameterBehind(op->getOperands());
  if (!spec || spec->effects != pd::kPure)
    return refuse(parameter, "is taken by " + pd::OpView(op).type() + ", which has effects");
  give(op, owners.front(), parameter);
}

// The update of what stays whole, and what is made of tensors of all ranks and an owner's number.
bool OwnerPlan::isOfAllRanks(mlir::Operation* op) const {
  const pd::OpView view(op);
  if (isUpdate(view)) return ownerOf(updatedBy(view)) == kEverywhere;
  const auto isTensor = [](mlir::Value value) { return !isNumber(value); };
  return llvm::none_of(op->getOperands(),
                       [&](mlir::Value one) { return isOwned(one) && isTensor(one); }) &&
         llvm::any_of(op->getResults(), isTensor);
}

// Numbers of several owners are added up, or made known; tensors meet nowhere.
void OwnerPlan::visitMixed(mlir::Operation* op) {
  if (addsNumbers(op)) {
    joins_.insert(op);
    for (mlir::Value operand : op->getOperands())
      if (isOwned(operand) && operand.getDefiningOp<pd::GetOp>()) share(operand);
    return;
  }
  llvm::SetVector<int64_t> owners;  // of tensors
  for (mlir::Value operand : op->getOperands())
    if (isOwned(operand) && !isNumber(operand)) owners.insert(valueOwner_.lookup(operand));
  if (owners.size() > 1) {
    for (mlir::Value operand : op->getOperands())
      if (isOwned(operand) && !isNumber(operand))
        refuse(parameterOfValue_.lookup(operand),
               "is taken by " + pd::OpView(op).type() + " together with others");
    return;
  }
  const int64_t owner = owners.empty() ? kEverywhere : owners.front();
  for (mlir::Value operand : op->getOperands())
    if (isOwned(operand) && valueOwner_.lookup(operand) != owner) share(operand);
  const pd::OpSpec* spec = pd::OpView(op).spec();
  if (owner == kEverywhere) return;
  if (!spec || spec->effects != pd::kPure)
    return refuse(parameterBehind(op->getOperands()),
                  "is taken by " + pd::OpView(op).type() + ", which has effects");
  give(op, owner, parameterBehind(op->getOperands()));
}

// Blocks that are no branch of the update take parameters as values only.
void OwnerPlan::visitBlocks(mlir::Operation* op) {
  op->walk([&](mlir::Operation* inner) {
    mlir::FlatSymbolRefAttr name;
    if (auto get = llvm::dyn_cast<pd::GetOp>(inner)) name = get.getVarAttr();
    if (auto set = llvm::dyn_cast<pd::SetOp>(inner)) name = set.getVarAttr();
    if (name && ownerOf(name.getAttr()) != kEverywhere)
      refuse(parameterOfVariable_.lookup(name.getAttr()),
             "is read or set in a block of control flow");
    for (mlir::OpOperand& operand : inner->getOpOperands()) {
      if (!isOwned(operand.get())) continue;
      if (inner == op && operand.get().getDefiningOp<pd::GetOp>() && !isRole(op, pd::kOptimize))
        gathered_.insert(&operand);
      else refuse(parameterOfValue_.lookup(operand.get()), "enters a block of control flow");
    }
  });
}

// A branch that touches what is one owner's only runs there whole. Any other is taken by all ranks,
// and takes plain values: its block is walked as what is around it.
void OwnerPlan::visitBranch(mlir::Operation* op) {
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!isOwned(operand.get())) continue;
    if (sharedUses_.contains(&operand)) share(operand.get());
    else if (mlir::BlockArgument argument = argumentFor(operand)) {
      valueOwner_[argument] = valueOwner_.lookup(operand.get());
      parameterOfValue_[argument] = parameterOfValue_.lookup(operand.get());
    }
  }
  visitBlock(op->getRegion(0).front());
  const int64_t owner = ownerOfBranch(op);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!isOwned(operand.get()) || sharedUses_.contains(&operand) ||
        (owner != kEverywhere && valueOwner_.lookup(operand.get()) == owner))
      continue;
    if (isNumber(operand.get())) shareUse(operand);
    else refuse(parameterOfValue_.lookup(operand.get()), "enters a branch beside other parameters");
  }
  if (owner != kEverywhere) give(op, owner, parameterBehind(op->getOperands()));
}

// From the next attempt on.
void OwnerPlan::shareUse(mlir::OpOperand& use) {
  sharedUses_.insert(&use);
  failed_ = true;
}

// The one that has all tensors that it takes, all that its ops work on, and all that it sets.
int64_t OwnerPlan::ownerOfBranch(mlir::Operation* op) {
  llvm::SetVector<int64_t> owners;
  for (mlir::Value operand : op->getOperands())
    if (isOwned(operand) && !isNumber(operand)) owners.insert(valueOwner_.lookup(operand));
  bool apart = true;
  op->walk([&](mlir::Operation* inner) {
    if (inner == op) return;
    if (llvm::isa<pd::SetOp>(inner) || opOwner_.contains(inner)) owners.insert(ownerOf(inner));
    apart &= !dist::commOf(inner) && !isJoin(inner) &&
             llvm::none_of(inner->getResults(), [&](mlir::Value one) { return isShared(one); });
  });
  return apart && owners.size() == 1 ? owners.front() : kEverywhere;
}

// What is broadcast is broadcast in front of the update; what the owner reads it reads where it is
// used, and so has to find there what it found where it was read before.
void OwnerPlan::checkOrder() {
  mlir::Block* body = job_.main.getBodyBlock();
  for (auto var : job_.role.getBody().front().getOps<pd::VarOp>()) {
    const mlir::StringAttr name = var.getSymNameAttr();
    const auto found = touches_.find(name);
    if (ownerOf(name) == kEverywhere || found == touches_.end()) continue;
    for (pd::GetOp get : found->second.gets)
      for (mlir::OpOperand& use : get.getValue().getUses()) {
        mlir::Operation* user = inBlock(body, use.getOwner());
        const bool gathered = isGathered(use);
        const bool fits = llvm::all_of(found->second.sets, [&](pd::SetOp set) {
          if (gathered)
            return use.getOwner()->getBlock() == body && user->isBeforeInBlock(inBlock(body, set));
          if (set->getBlock() == get->getBlock() && use.getOwner()->getBlock() == get->getBlock())
            return set->isBeforeInBlock(get) || use.getOwner()->isBeforeInBlock(set);
          mlir::Operation* place = inBlock(body, set);
          return place == user || place->isBeforeInBlock(inBlock(body, get)) ||
                 user->isBeforeInBlock(place);
        });
        if (!fits)
          refuse(parameterOfVariable_.lookup(name),
                 gathered ? "is read where its update may have been"
                          : "is read before its update and used behind it");
      }
  }
}

// No op on all ranks, and none of another owner, reads it.
bool OwnerPlan::isFree(mlir::StringAttr name) const {
  const auto found = touches_.find(name);
  return found != touches_.end() && found->second.sets.empty() && !found->second.gets.empty();
}

// What only one owner reads (a mask) is the owner's.
void OwnerPlan::addReadOnly() {
  for (auto var : job_.role.getBody().front().getOps<pd::VarOp>()) {
    const mlir::StringAttr name = var.getSymNameAttr();
    if (var.getParameter() || ownerOf(name) != kEverywhere || !isFree(name) || !canStore_(var) ||
        fixedTensor(var.getType()).getNumElements() < std::max<int64_t>(least_, 2))
      continue;
    llvm::SetVector<int64_t> owners;
    for (pd::GetOp get : touches_.find(name)->second.gets)
      for (mlir::OpOperand& use : get.getValue().getUses())
        owners.insert(use.getOwner()->getNumRegions() ? kEverywhere : ownerOf(use.getOwner()));
    if (owners.size() == 1 && owners.front() != kEverywhere) variableOwner_[name] = owners.front();
  }
}

}  // namespace dtranspile::passes

#include "passes/sharding-owner/rewrite.h"

#include "dialects/dist/lookup.h"
#include "llvm/ADT/SetVector.h"
#include "passes/support/branch.h"
#include "passes/support/sums.h"

namespace dtranspile::passes {
namespace {

mlir::Operation* endOf(mlir::Block& block) {
  return !block.empty() && block.back().hasTrait<mlir::OpTrait::IsTerminator>() ? &block.back()
                                                                                : nullptr;
}

bool isLocated(mlir::Value value) { return llvm::isa<dist::AtType>(value.getType()); }

// The coordinate that a located value is at.
int64_t ownerOfType(mlir::Type type, llvm::StringRef axis) {
  return llvm::cast<dist::AtType>(type).getWhere().lookup(axis).getBounds()[0];
}

mlir::Type elementOf(mlir::Type type) {
  return llvm::cast<mlir::RankedTensorType>(dist::unlocated(type)).getElementType();
}

}  // namespace

OwnerRewriter::OwnerRewriter(JobOnAxes& job, const OwnerPlan& plan, ShardComms comms,
                             OwnerForm form)
    : job_(job), plan_(plan), comms_(std::move(comms)), form_(std::move(form)) {}

void OwnerRewriter::run() {
  broadcastParameters();
  for (const SumToOwners& sum : plan_.sums()) reduceToOwners(sum);
  rewriteBlock(*job_.main.getBodyBlock());
  job_.main.walk([&](pd::GetOp get) {
    if (plan_.ownerOf(get.getVarAttr().getAttr()) != kEverywhere && get.getValue().use_empty())
      get.erase();
  });
  keepInStartup();
  for (const auto& [var, owner] : plan_.stored()) declare(var, owner);
}

dist::SelAttr OwnerRewriter::at(int64_t owner) const {
  return dist::SelAttr::point(pd::ProgramOp(job_.main).getContext(), form_.axis, owner);
}

mlir::Type OwnerRewriter::located(mlir::Type type, int64_t owner) const {
  return dist::AtType::get(type.getContext(), type, at(owner));
}

// With a body that holds nothing yet.
dist::OnOp OwnerRewriter::guard(mlir::OpBuilder& builder, mlir::Location loc, int64_t owner,
                                mlir::ValueRange inputs, llvm::ArrayRef<mlir::Type> plainResults) {
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Type type : plainResults) types.push_back(located(type, owner));
  auto on = dist::OnOp::create(builder, loc, types, at(owner), inputs, dist::TaskAttr(),
                               mlir::IntegerAttr());
  mlir::Block& block = on.getBody().emplaceBlock();
  for (mlir::Value input : inputs) block.addArgument(dist::unlocated(input.getType()), loc);
  return on;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

void OwnerRewriter::broadcastParameters() {
  std::vector<pd::VarOp> variables;
  for (const auto& [var, owner] : plan_.stored()) variables.push_back(var);
  std::vector<std::vector<Need>> segments = segmentsOf(
      job_.main, variables, [&](mlir::OpOperand& use) { return plan_.isGathered(use); },
      form_.bytes, form_.again);
  overlapSegments(segments, [&](llvm::MutableArrayRef<Need> segment, mlir::Operation* before) {
    return startBroadcast(segment, before);
  });
}

// One operation per owner and element type. The owner reads its variables where it starts: nobody
// sets them before the last of these operations, or the plan would not have given them away.
Started OwnerRewriter::startBroadcast(llvm::MutableArrayRef<Need> segment,
                                      mlir::Operation* before) {
  mlir::OpBuilder builder(before);
  const mlir::Location loc = before->getLoc();
  llvm::MapVector<std::pair<int64_t, mlir::Type>, std::vector<Need*>> groups;
  for (Need& need : segment)
    groups[{plan_.ownerOf(need.var.getSymNameAttr()), elementOf(need.var.getType())}].push_back(
        &need);
  Started started;
  for (auto& [key, members] : groups) {
    llvm::SmallVector<mlir::Type> types;
    for (Need* need : members) types.push_back(need->var.getType());
    dist::OnOp on = guard(builder, loc, key.first, {}, types);
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
    llvm::SmallVector<mlir::Value> held;
    for (Need* need : members)
      held.push_back(pd::GetOp::create(inside, loc, need->var.getType(),
                                       mlir::FlatSymbolRefAttr::get(need->var.getSymNameAttr())));
    dist::YieldOp::create(inside, loc, held);
    const mlir::Type pending = dist::PendingType::get(builder.getContext(), types);
    started.pending.push_back(dist::BroadcastOp::create(builder, loc, mlir::TypeRange(pending),
                                                        on.getResults(), nextComm(), at(key.first))
                                  .getResult(0));
    started.needs.push_back(members);
  }
  return started;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

// all_reduce over all replicas -> a reduce to every owner, started where it was started, and the
// sum over the other axes where it is waited for.
void OwnerRewriter::reduceToOwners(const SumToOwners& sum) {
  dist::AllReduceOp op = sum.op;
  mlir::Operation* results = resultsOf(op);
  const bool started = results != op.getOperation();
  llvm::SmallVector<unsigned> rest;
  for (unsigned member = 0; member < op.getInputs().size(); ++member)
    if (llvm::none_of(sum.members,
                      [&](const auto& each) { return llvm::is_contained(each.second, member); }))
      rest.push_back(member);
  if (!rest.empty()) takeApart(op, rest);
  const size_t turn =
      llvm::find_if(comms_.all,
                    [&](dist::CommOp comm) { return symbolOf(comm) == op.getCommAttr(); }) -
      comms_.all.begin();
  for (const auto& [owner, members] : sum.members) {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
    for (unsigned member : members) {
      values.push_back(op.getInputs()[member]);
      types.push_back(located(values.back().getType(), owner));
    }
    mlir::OpBuilder builder(op);
    const mlir::TypeRange own = types;
    const mlir::Type pending = dist::PendingType::get(op.getContext(), types);
    mlir::Operation* done = dist::ReduceOp::create(
        builder, op.getLoc(), started ? mlir::TypeRange(pending) : own, op.getReduceAttr(), values,
        symbolOf(comms_.within[turn % comms_.within.size()]), at(owner));
    if (started) {
      builder.setInsertionPoint(results);
      done = dist::WaitOp::create(builder, results->getLoc(), own, done->getResult(0));
    }
    const llvm::SmallVector<mlir::Value> sums =
        sumReplicas(builder, results->getLoc(), owner, done->getResults(), turn);
    for (auto [i, member] : llvm::enumerate(members))
      results->getResult(member).replaceAllUsesWith(sums[i]);
  }
  if (started) results->erase();
  op.erase();
}

// The owner of each group of replicas has the sum of its group.
llvm::SmallVector<mlir::Value> OwnerRewriter::sumReplicas(mlir::OpBuilder& builder,
                                                          mlir::Location loc, int64_t owner,
                                                          mlir::ValueRange parts, size_t turn) {
  if (comms_.between.empty()) return llvm::to_vector_of<mlir::Value>(parts);
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value part : parts) types.push_back(dist::unlocated(part.getType()));
  dist::OnOp on = guard(builder, loc, owner, parts, types);
  mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
  auto all = dist::AllReduceOp::create(
      inside, loc, mlir::TypeRange(types),
      dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum),
      on.getBody().front().getArguments(), symbolOf(comms_.between[turn % comms_.between.size()]));
  dist::YieldOp::create(inside, loc, all->getResults());
  return llvm::to_vector_of<mlir::Value>(on.getResults());
}

//===----------------------------------------------------------------------===//
// The update
//===----------------------------------------------------------------------===//

// Ops of one owner wait until somebody else needs one of their results, or the block ends, and are
// then put into one guard: few guards, and few borders between them.
void OwnerRewriter::rewriteBlock(mlir::Block& block) {
  std::vector<mlir::Operation*> ops;
  for (mlir::Operation& op : block) ops.push_back(&op);
  for (mlir::Operation* op : ops) {
    if (const int64_t owner = plan_.ownerOf(op); owner != kEverywhere) {
      needNumbers(op, owner);
      waiting_[owner].push_back(op);
      continue;
    }
    needAt(op);
    if (plan_.isJoin(op)) join(op);
    if (isBranchOfUpdate(op)) rewriteBlock(op->getRegion(0).front());
  }
  flushAll(block, endOf(block));
}

// What stays on all ranks finds there what owners give it. Branches touch variables, and what sets
// one must not overtake a branch of an owner that reads it.
void OwnerRewriter::needAt(mlir::Operation* op) {
  const bool touches = llvm::isa<pd::SetOp>(op) || op->getNumRegions();
  llvm::SmallVector<int64_t> owners;
  for (const auto& [owner, ops] : waiting_)
    if ((touches && op->getNumRegions()) || llvm::any_of(ops, [&](mlir::Operation* one) {
          return (touches && one->getNumRegions()) ||
                 llvm::any_of(op->getOperands(),
                              [&](mlir::Value operand) { return operand.getDefiningOp() == one; });
        }))
      owners.push_back(owner);
  for (int64_t owner : owners) flush(owner, *op->getBlock(), op);
}

// What an owner takes of others they have given before it is put off.
void OwnerRewriter::needNumbers(mlir::Operation* op, int64_t owner) {
  llvm::SetVector<int64_t> others;
  for (mlir::Value operand : op->getOperands())
    if (plan_.isShared(operand) && plan_.ownerOf(operand.getDefiningOp()) != owner)
      others.insert(plan_.ownerOf(operand.getDefiningOp()));
  for (int64_t other : others) flush(other, *op->getBlock(), op);
}

void OwnerRewriter::flushAll(mlir::Block& block, mlir::Operation* before) {
  llvm::SmallVector<int64_t> owners;
  for (const auto& [owner, ops] : waiting_) owners.push_back(owner);
  llvm::sort(owners);
  for (int64_t owner : owners) flush(owner, block, before);
}

// The variables of the owner are read in the guard, each once between two of its sets.
void OwnerRewriter::readInside(mlir::Operation* op, mlir::Block& body) {
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    auto get = operand.get().getDefiningOp<pd::GetOp>();
    if (!get || plan_.ownerOf(get.getVarAttr().getAttr()) == kEverywhere ||
        get->getBlock() == &body)
      continue;
    pd::GetOp own;
    for (mlir::Operation& before : body) {
      if (&before == op) break;
      if (auto one = llvm::dyn_cast<pd::GetOp>(before); one && one.getVarAttr() == get.getVarAttr())
        own = one;
      if (auto set = llvm::dyn_cast<pd::SetOp>(before); set && set.getVarAttr() == get.getVarAttr())
        own = {};
    }
    if (!own) {
      mlir::OpBuilder builder(op);
      own = pd::GetOp::create(builder, get.getLoc(), get.getValue().getType(), get.getVarAttr());
    }
    operand.set(own.getValue());
  }
}

// What waits, in one guard.
void OwnerRewriter::flush(int64_t owner, mlir::Block& block, mlir::Operation* before) {
  const std::vector<mlir::Operation*> ops = std::move(waiting_[owner]);
  waiting_[owner].clear();
  if (ops.empty()) return;
  const llvm::SmallPtrSet<mlir::Operation*, 16> group(ops.begin(), ops.end());
  const auto isElsewhere = [&](mlir::OpOperand& use) { return !group.contains(use.getOwner()); };
  llvm::SetVector<mlir::Value> inputs, outputs;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  for (mlir::Operation* op : ops) {
    locations.push_back(op->getLoc());
    for (mlir::Value operand : op->getOperands())
      if (isLocated(operand)) inputs.insert(operand);
    for (mlir::Value result : op->getResults())
      if (llvm::any_of(result.getUses(), isElsewhere) && outputs.insert(result))
        types.push_back(result.getType());
  }
  mlir::OpBuilder builder(ops.front());
  if (before) builder.setInsertionPoint(before);
  else builder.setInsertionPointToEnd(&block);
  const mlir::Location loc = builder.getFusedLoc(locations);
  dist::OnOp on = guard(builder, loc, owner, inputs.getArrayRef(), types);
  mlir::Block& body = on.getBody().front();
  for (mlir::Operation* op : ops) {
    op->moveBefore(&body, body.end());
    for (mlir::OpOperand& operand : op->getOpOperands())
      if (auto found = llvm::find(inputs, operand.get()); found != inputs.end())
        operand.set(body.getArgument(static_cast<unsigned>(found - inputs.begin())));
    readInside(op, body);
  }
  for (auto [output, result] : llvm::zip(outputs, on.getResults()))
    mlir::Value(output).replaceUsesWithIf(result, isElsewhere);
  mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&body);
  dist::YieldOp::create(inside, loc, outputs.getArrayRef());
  llvm::SmallVector<mlir::Value> shared;
  for (auto [output, result] : llvm::zip(outputs, on.getResults()))
    if (plan_.isShared(output)) shared.push_back(result);
  shareResults(shared, builder);
}

// Numbers that the owner tells all ranks, an operation per element type.
void OwnerRewriter::shareResults(llvm::ArrayRef<mlir::Value> located, mlir::OpBuilder& builder) {
  llvm::MapVector<mlir::Type, llvm::SmallVector<mlir::Value>> groups;
  for (mlir::Value value : located) groups[elementOf(value.getType())].push_back(value);
  for (const auto& [element, values] : groups) {
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Value value : values) types.push_back(dist::unlocated(value.getType()));
    const auto where = llvm::cast<dist::AtType>(values.front().getType()).getWhere();
    auto op = dist::BroadcastOp::create(builder, values.front().getLoc(), mlir::TypeRange(types),
                                        values, nextComm(), where);
    for (auto [value, plain] : llvm::zip(values, op.getResults()))
      mlir::Value(value).replaceUsesWithIf(
          plain, [&](mlir::OpOperand& use) { return use.getOwner() != op; });
  }
}

// Every term once: from its owner, with zeros on the others, so that the sum over the ranks is the
// sum. A term that all ranks hold counts on the first.
void OwnerRewriter::join(mlir::Operation* op) {
  mlir::OpBuilder builder(op);
  const mlir::Location loc = op->getLoc();
  llvm::MapVector<int64_t, llvm::SmallVector<mlir::OpOperand*>> terms;
  for (mlir::OpOperand& operand : op->getOpOperands())
    terms[isLocated(operand.get()) ? ownerOfType(operand.get().getType(), form_.axis) : 0]
        .push_back(&operand);
  const auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
  const std::string stem = pd::nameOf(op->getResult(0)).str() + ".others";
  for (auto& [owner, operands] : terms) {
    llvm::SetVector<mlir::Value> inputs;
    for (mlir::OpOperand* operand : operands)
      if (isLocated(operand->get())) inputs.insert(operand->get());
    const llvm::SmallVector<mlir::Type> types(operands.size(), type);
    auto on = dist::OnOp::create(builder, loc, mlir::TypeRange(types), at(owner),
                                 inputs.getArrayRef(), dist::TaskAttr(), mlir::IntegerAttr());
    mlir::Block& body = on.getBody().emplaceBlock();
    for (mlir::Value input : inputs) body.addArgument(dist::unlocated(input.getType()), loc);
    llvm::SmallVector<mlir::Value> yielded;
    for (mlir::OpOperand* operand : operands) {
      const auto found = llvm::find(inputs, operand->get());
      yielded.push_back(found == inputs.end()
                            ? operand->get()
                            : body.getArgument(static_cast<unsigned>(found - inputs.begin())));
    }
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&body);
    dist::YieldOp::create(inside, loc, yielded);
    inside = mlir::OpBuilder::atBlockEnd(&on.getOtherwise().emplaceBlock());
    mlir::Value zero = constant(inside, loc, type, 0, declarations_.freshName(op->getBlock(), stem),
                                pd::kOptimize, declarations_);
    dist::YieldOp::create(inside, loc, llvm::SmallVector<mlir::Value>(operands.size(), zero));
    for (auto [operand, term] : llvm::zip(operands, on.getResults())) operand->set(term);
  }
  builder.setInsertionPointAfter(op);
  mlir::Value total = sumOver(builder, loc, op->getResult(0), symbolOf(comms_.within.front()));
  op->getResult(0).replaceAllUsesExcept(total, total.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

// Memory is that of the owner, in a run and in checkpoints.
void OwnerRewriter::declare(pd::VarOp var, int64_t owner) {
  const dist::SelAttr where = at(owner);
  llvm::SmallVector<dist::AxisRelAttr> states;
  if (const auto held = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr))
    llvm::append_range(states, held.getAxes());
  states.push_back(
      dist::AxisRelAttr::replicated(mlir::StringAttr::get(var.getContext(), form_.axis))
          .heldBy(where.lookup(form_.axis)));
  llvm::sort(states, [&](dist::AxisRelAttr a, dist::AxisRelAttr b) {
    return job_.mesh.indexOf(a.getAxis().getValue()) < job_.mesh.indexOf(b.getAxis().getValue());
  });
  var->setAttr(dist::kAtAttr, where);
  var->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr(), states));
}

// Start-up makes the whole, and the owner keeps it; what nobody else needs only the owner makes.
void OwnerRewriter::keepInStartup() {
  if (!job_.startup) return;
  std::vector<pd::VarOp> variables;
  for (const auto& [var, owner] : plan_.stored()) variables.push_back(var);
  keepPartsInStartup(
      job_.startup, variables,
      [](mlir::OpBuilder&, mlir::Location, pd::VarOp, mlir::Value whole) { return whole; });
  std::vector<pd::SetOp> sets;
  for (auto set : job_.startup.getBodyBlock()->getOps<pd::SetOp>())
    if (plan_.ownerOf(set.getVarAttr().getAttr()) != kEverywhere) sets.push_back(set);
  for (pd::SetOp set : sets) {
    mlir::OpBuilder builder(set);
    dist::OnOp on = guard(builder, set.getLoc(), plan_.ownerOf(set.getVarAttr().getAttr()), {}, {});
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
    dist::YieldOp::create(inside, set.getLoc(), mlir::ValueRange());
    set->moveBefore(on.getBody().front().getTerminator());
    sinkConstant(set, on);
  }
}

// A constant, or a draw with a seed of its own, which is the same whoever draws it.
void OwnerRewriter::sinkConstant(pd::SetOp set, dist::OnOp guard) {
  mlir::Operation* op = set.getValue().getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op) || op->getNumRegions() || op->getNumResults() != 1 ||
      op->getNumOperands() || !op->getResult(0).hasOneUse())
    return;
  const pd::OpView view(op);
  const pd::OpSpec* spec = view.spec();
  if (!spec ||
      (spec->effects != pd::kPure && (spec->effects != pd::kRandom || !spec->attribute("seed") ||
                                      !view.hasAttr("seed") || view.getInt("seed") == 0)))
    return;
  op->moveBefore(&guard.getBody().front().front());
}

}  // namespace dtranspile::passes

#include "passes/sharding/rewrite.h"

#include "passes/sharding/norms.h"
#include "passes/support/sums.h"

namespace dtranspile::passes {
namespace {

// Consecutive members that one operation takes: of one element type, up to `most` bytes.
template <typename T, typename TypeOf>
size_t runLength(llvm::ArrayRef<T> members, int64_t most, TypeOf typeOf) {
  const auto element = [&](const T& one) {
    return llvm::cast<mlir::RankedTensorType>(typeOf(one)).getElementType();
  };
  int64_t bytes = 0;
  size_t count = 0;
  for (; count < members.size(); ++count) {
    bytes += bytesOf(typeOf(members[count]));
    if (count > 0 && (bytes > most || element(members[count]) != element(members[0]))) break;
  }
  return count;
}

mlir::Operation* endOf(mlir::Block& block) {
  return !block.empty() && block.back().hasTrait<mlir::OpTrait::IsTerminator>() ? &block.back()
                                                                                : nullptr;
}

void setBefore(mlir::OpBuilder& builder, mlir::Block& block, mlir::Operation* place) {
  if (place) builder.setInsertionPoint(place);
  else builder.setInsertionPointToEnd(&block);
}

}  // namespace

ShardRewriter::ShardRewriter(JobOnAxes& job, const ShardPlan& plan, ShardComms comms,
                             ShardForm form)
    : job_(job),
      plan_(plan),
      comms_(std::move(comms)),
      axis_(mlir::Builder(job.main.getContext()).getStrArrayAttr({form.axis})),
      form_(std::move(form)),
      symbols_(job.role) {}

void ShardRewriter::run() {
  std::vector<mlir::Operation*> ops;
  std::vector<mlir::Block*> blocks = {job_.main.getBodyBlock()};
  job_.main.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    ops.push_back(op);
    if (llvm::isa<pd::SetOp>(op) && !llvm::is_contained(blocks, op->getBlock()))
      blocks.push_back(op->getBlock());
  });
  for (mlir::Operation* op : ops)
    for (mlir::Value result : op->getResults())
      if (plan_.pieceOf(result) == Piece::Part &&
          (pd::OpView::isFrameworkOp(op) || llvm::isa<pd::GetOp>(op)))
        result.setType(plan_.partType(result.getType()));
  for (mlir::Operation* op : ops)
    for (mlir::Region& region : op->getRegions())
      for (mlir::BlockArgument argument : region.getArguments())
        if (plan_.pieceOf(argument) == Piece::Part)
          argument.setType(plan_.partType(argument.getType()));
  std::vector<pd::OpView> normed;
  for (mlir::Operation* op : ops)
    if (pd::OpView::isFrameworkOp(op) && op->getNumResults() && takesNorms(pd::OpView(op)) &&
        plan_.pieceOf(op->getResult(0)) == Piece::Part)
      normed.push_back(pd::OpView(op));
  for (mlir::Operation* op : ops) rewriteOperands(op);
  gatherParameters();
  for (const SumToCut& sum : plan_.sums()) cutSum(sum);
  for (pd::VarOp var : plan_.stored()) declare(var);
  for (mlir::Block* block : blocks) publish(*block);
  cutInStartup();
  pd::Declarations declarations;
  for (pd::OpView op : normed) replaceByNormed(op, symbolOf(comms_.within.front()), declarations);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

// all_reduce over all replicas -> reduce_scatter over the axis, and the sum of the part over the
// others. What is started is started at the same place; the second level where it is waited for.
// Micro-batches are added up in front of the reduce_scatter, or right behind it.
void ShardRewriter::cutSum(const SumToCut& sum) {
  dist::AllReduceOp op = sum.op;
  mlir::Operation* results = resultsOf(op);
  const bool started = results != op.getOperation();
  llvm::SmallVector<unsigned> rest;
  for (unsigned member = 0; member < op.getInputs().size(); ++member)
    if (!llvm::is_contained(sum.members, member)) rest.push_back(member);
  if (!rest.empty()) takeApart(op, rest);

  const size_t turn =
      llvm::find_if(comms_.all,
                    [&](dist::CommOp comm) { return symbolOf(comm) == op.getCommAttr(); }) -
      comms_.all.begin();
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Type> parts;
  for (unsigned member : sum.members) {
    values.push_back(op.getInputs()[member]);
    parts.push_back(plan_.partType(values.back().getType()));
  }
  mlir::OpBuilder builder(op);
  const auto addUp = [&](mlir::ValueRange terms) {
    return dist::AllReduceOp::create(builder, op.getLoc(), terms.getTypes(), op.getReduceAttr(),
                                     terms, symbolOf(comms_.micro));
  };
  if (comms_.micro && !form_.addsUpParts) {
    auto sums = addUp(values);
    values.assign(sums->result_begin(), sums->result_end());
  }
  const mlir::TypeRange own = parts;
  const mlir::Type pending = dist::PendingType::get(op.getContext(), parts);
  auto scatter = dist::ReduceScatterOp::create(
      builder, op.getLoc(), started ? mlir::TypeRange(pending) : own, op.getReduceAttr(), values,
      symbolOf(comms_.within[turn % comms_.within.size()]), builder.getI64IntegerAttr(dist::kFlat));
  mlir::Operation* done = scatter;
  if (started) {
    builder.setInsertionPoint(results);
    done = dist::WaitOp::create(builder, results->getLoc(), own, scatter.getResult(0));
  }
  if (comms_.micro && form_.addsUpParts) done = addUp(done->getResults());
  if (!comms_.between.empty())
    done = dist::AllReduceOp::create(builder, results->getLoc(), own, op.getReduceAttr(),
                                     done->getResults(),
                                     symbolOf(comms_.between[turn % comms_.between.size()]));
  for (auto [at, member] : llvm::enumerate(sum.members))
    results->getResult(member).replaceAllUsesWith(done->getResult(at));
  if (started) results->erase();
  op.erase();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// A rank's even part of the flattened value, the last one padded; the same layout for the
// parameter, its gradient and its state, so that the update needs no further communication.
mlir::Value ShardRewriter::cut(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value whole) {
  return dist::SliceOp::create(builder, loc, plan_.partType(whole.getType()), whole,
                               builder.getI64IntegerAttr(dist::kFlat),
                               ShardPlan::layoutOf(whole.getType()), axis_);
}

// One slice per value and block: what several updates read (a rate that was computed per element)
// is cut once.
void ShardRewriter::rewriteOperands(mlir::Operation* op) {
  mlir::OpBuilder builder(op);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!plan_.isCut(operand)) continue;
    mlir::Value& part = cuts_[{op->getBlock(), operand.get()}];
    if (!part) part = cut(builder, op->getLoc(), operand.get());
    operand.set(part);
  }
  sumOperands(op);
}

// Terms that the op takes as one sum each, together; flags, the only ones of a boolean type, as
// whether any is set.
void ShardRewriter::sumOperands(mlir::Operation* op) {
  llvm::MapVector<mlir::Type, llvm::SmallVector<mlir::Value>> terms;  // by element type
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!plan_.isSummed(operand) || summed_.contains({op->getBlock(), operand.get()})) continue;
    auto& list =
        terms[llvm::cast<mlir::RankedTensorType>(operand.get().getType()).getElementType()];
    if (!llvm::is_contained(list, operand.get())) list.push_back(operand.get());
  }
  mlir::OpBuilder builder(op);
  for (auto& [element, values] : terms) {
    const auto reduce = element.isInteger(1) ? dist::Reduce::Or : dist::Reduce::Sum;
    auto sum = dist::AllReduceOp::create(builder, op->getLoc(), mlir::ValueRange(values).getTypes(),
                                         dist::ReduceAttr::get(builder.getContext(), reduce),
                                         values, symbolOf(comms_.within.front()));
    for (auto [value, result] : llvm::zip(values, sum.getResults()))
      summed_[{op->getBlock(), value}] = result;
  }
  for (mlir::OpOperand& operand : op->getOpOperands())
    if (plan_.isSummed(operand)) operand.set(summed_.lookup({op->getBlock(), operand.get()}));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

pd::VarOp ShardRewriter::variableOf(pd::SetOp set) {
  return symbols_.lookup<pd::VarOp>(set.getVar());
}

// What a block sets to parts is put together at its end, by buckets that start as soon as their
// last member is there; at once where the block reads the variable again, or may set it within
// control flow. What it sets again before it reads it (a decay before the update) nobody needs.
void ShardRewriter::publish(mlir::Block& block) {
  struct Set {
    pd::SetOp op;
    bool used = false, needless = false;
  };
  std::vector<Set> sets;
  llvm::DenseMap<mlir::StringAttr, size_t> last;  // the last set of a variable so far
  for (mlir::Operation& op : block) {
    op.walk([&](mlir::Operation* inner) {
      auto get = llvm::dyn_cast<pd::GetOp>(inner);
      auto set = inner == &op ? pd::SetOp() : llvm::dyn_cast<pd::SetOp>(inner);
      if (!get && !set) return;
      const auto found = last.find((get ? get.getVarAttr() : set.getVarAttr()).getAttr());
      if (found != last.end()) sets[found->second].used = true;
    });
    auto set = llvm::dyn_cast<pd::SetOp>(op);
    if (!set || variableOf(set).getType() == set.getValue().getType()) continue;
    auto [at, fresh] = last.try_emplace(set.getVarAttr().getAttr(), sets.size());
    if (!fresh) sets[at->second].needless = !sets[at->second].used;
    at->second = sets.size();
    sets.push_back({set});
  }
  std::vector<pd::SetOp> later;
  for (Set& set : sets) {
    if (set.needless) set.op.erase();
    else if (set.used) publish(set.op, block, true);
    else later.push_back(set.op);
  }
  const auto typeOf = [&](pd::SetOp set) { return variableOf(set).getType(); };
  for (llvm::ArrayRef<pd::SetOp> rest = later; !rest.empty();) {
    const size_t count = comms_.micro ? 1 : runLength(rest, form_.bytes, typeOf);
    publish(rest.take_front(count), block, false);
    rest = rest.drop_front(count);
  }
}

// Puts the parts of several updated variables together by one all_gather, and sets the variables
// behind it. Unless `atOnce`, the sets move to the end of the block, so that the gather overlaps
// with the updates that follow.
void ShardRewriter::publish(llvm::ArrayRef<pd::SetOp> sets, mlir::Block& block, bool atOnce) {
  llvm::SmallVector<mlir::Value> parts;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  for (pd::SetOp set : sets) {
    parts.push_back(set.getValue());
    locations.push_back(set.getLoc());
    types.push_back(variableOf(set).getType());
  }
  mlir::OpBuilder builder(sets.back());
  const mlir::Location loc = builder.getFusedLoc(locations);
  // What goes to a stage of a pipeline is not started there and waited for elsewhere.
  const bool starts = !comms_.micro;
  const mlir::TypeRange own = types;
  const mlir::Type pending = dist::PendingType::get(builder.getContext(), types);
  mlir::Operation* done = dist::AllGatherOp::create(
      builder, loc, starts ? mlir::TypeRange(pending) : own, parts, symbolOf(nextComm()),
      builder.getI64IntegerAttr(dist::kFlat), mlir::UnitAttr());
  if (!atOnce) setBefore(builder, block, endOf(block));
  if (starts) done = dist::WaitOp::create(builder, loc, types, done->getResult(0));
  for (auto [set, whole] : llvm::zip(sets, done->getResults())) {
    pd::SetOp one = set;
    one->getOpOperand(0).set(whole);
    if (!atOnce) one->moveBefore(&block, builder.getInsertionPoint());
  }
}

//===----------------------------------------------------------------------===//
// Stage 3
//===----------------------------------------------------------------------===//

// Segments of parameters, for the forward part and again for the backward part.
void ShardRewriter::gatherParameters() {
  std::vector<std::vector<Need>> segments = segmentsOf(
      job_.main, plan_.stored(), [&](mlir::OpOperand& use) { return plan_.isGathered(use); },
      form_.bytes, /*again=*/true);
  overlapSegments(segments, [&](llvm::MutableArrayRef<Need> segment, mlir::Operation* before) {
    return startGather(segment, before);
  });
  for (auto get : llvm::make_early_inc_range(job_.main.getBodyBlock()->getOps<pd::GetOp>()))
    if (get.getValue().use_empty() && plan_.pieceOf(get.getValue()) == Piece::Part) get.erase();
}

// One operation per element type, since a collective carries elements of one type. The variables
// are read where it starts: between two segments nobody sets them, or the plan would not have
// chosen them to lie in parts.
Started ShardRewriter::startGather(llvm::MutableArrayRef<Need> segment, mlir::Operation* before) {
  mlir::OpBuilder builder(before);
  llvm::MapVector<mlir::Type, std::vector<Need*>> byElement;
  for (Need& need : segment)
    byElement[llvm::cast<mlir::RankedTensorType>(need.var.getType()).getElementType()].push_back(
        &need);
  Started started;
  for (auto& [element, members] : byElement) {
    llvm::SmallVector<mlir::Value> parts;
    llvm::SmallVector<mlir::Type> types;
    for (Need* need : members) {
      types.push_back(need->var.getType());
      parts.push_back(pd::GetOp::create(builder, before->getLoc(), plan_.partType(types.back()),
                                        mlir::FlatSymbolRefAttr::get(need->var.getSymNameAttr())));
    }
    const mlir::Type pending = dist::PendingType::get(builder.getContext(), types);
    started.pending.push_back(
        dist::AllGatherOp::create(builder, before->getLoc(), mlir::TypeRange(pending), parts,
                                  symbolOf(nextComm()), builder.getI64IntegerAttr(dist::kFlat),
                                  mlir::UnitAttr())
            .getResult(0));
    started.needs.push_back(members);
  }
  return started;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

// After this the variable is of the type of a part, in memory and in checkpoints; its relation says
// of what.
void ShardRewriter::declare(pd::VarOp var) {
  llvm::SmallVector<dist::AxisRelAttr> states;
  if (const auto held = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr))
    llvm::append_range(states, held.getAxes());
  states.push_back(dist::AxisRelAttr::split(llvm::cast<mlir::StringAttr>(axis_[0]), dist::kFlat,
                                            ShardPlan::layoutOf(var.getType())));
  llvm::sort(states, [&](dist::AxisRelAttr a, dist::AxisRelAttr b) {
    return job_.mesh.indexOf(a.getAxis().getValue()) < job_.mesh.indexOf(b.getAxis().getValue());
  });
  var->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr(), states));
  var.setTypeAttr(mlir::TypeAttr::get(plan_.partType(var.getType())));
}

// Start-up makes the whole and keeps a part.
void ShardRewriter::cutInStartup() {
  keepPartsInStartup(job_.startup, plan_.stored(),
                     [&](mlir::OpBuilder& builder, mlir::Location loc, pd::VarOp,
                         mlir::Value whole) { return cut(builder, loc, whole); });
}

}  // namespace dtranspile::passes

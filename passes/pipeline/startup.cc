#include "passes/pipeline/startup.h"

#include <map>

#include "dialects/dist/lookup.h"
#include "passes/support/step.h"

namespace dtranspile::passes::pipeline {
namespace {

// Start-up in place: each op runs on the stages that need what it gives, and a variable begins on
// the stages that have it. What is drawn for several stages is drawn once and handed on, since
// generators of several ranks need not agree.
class Startup {
 public:
  Startup(Target& target, const llvm::MapVector<mlir::StringAttr, Stages>& variables)
      : target_(target), variables_(variables), body_(*target.job.startup.getBodyBlock()) {}

  // Start-up is cut as the main program is: every op goes to the stages that have the variables it
  // leads to, and neighbours of the same place share a guard. The old ops are erased from the last
  // to the first, uses before definitions.
  mlir::LogicalResult run() {
    for (mlir::Operation& op : body_)
      if (!llvm::isa<pd::DeclOp>(op)) ops_.push_back(&op);
    leaveOutMicro();
    takeApart();
    placeAll();
    for (mlir::Operation* op : ops_)
      if (mlir::failed(check(op))) return mlir::failure();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&body_);
    for (const std::vector<mlir::Operation*>& group : groups()) build(group, builder);
    shareDraws(builder);
    for (mlir::Operation* op : llvm::reverse(ops_)) {
      op->dropAllUses();
      op->erase();
    }
    return mlir::success();
  }

 private:
  Stages placeOfVariable(mlir::StringAttr variable) const {
    auto at = variables_.find(variable);
    return at == variables_.end() ? target_.all() : at->second;
  }

  // Where what it gives is used.
  Stages placeOf(mlir::Operation* op) {
    if (auto set = llvm::dyn_cast<pd::SetOp>(op))
      return placeOfVariable(set.getVarAttr().getAttr());
    Stages place = target_.none();
    for (mlir::Operation* user : op->getUsers()) place |= place_[inBlock(&body_, user)];
    return place.any() && op->getNumRegions() == 0 ? place : target_.all();
  }

  // Draws without a seed of their own are, from 2.0 on, one sequence of the process: a stage makes
  // those in front of its own too, and so begins with the numbers of one device.
  static bool goesOnWithSequence(mlir::Operation* op) {
    const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
    return spec && (spec->effects & pd::kRandom) && pd::OpView(op).getInt("seed") == 0;
  }

  void placeAll() {
    Stages drawing = target_.none();
    for (mlir::Operation* op : llvm::reverse(ops_)) {
      place_[op] = placeOf(op);
      if (goesOnWithSequence(op)) drawing = place_[op] |= drawing;
    }
  }

  // What is broadcast over the axis of layers, or to all replicas, goes to the stages that have it:
  // an operation per set of stages.
  void takeApart() {
    std::vector<mlir::Operation*> all;
    for (mlir::Operation* op : llvm::reverse(ops_)) {
      auto spread = llvm::dyn_cast<dist::BroadcastOp>(op);
      place_[op] = placeOf(op);
      if (!spread || spread->getNumResults() < 2) {
        all.push_back(op);
        continue;
      }
      std::map<Stages, llvm::SmallVector<unsigned>, LargerFirst> groups;
      for (mlir::OpResult result : spread->getResults()) {
        Stages place = target_.none();
        for (mlir::Operation* user : result.getUsers()) place |= place_[inBlock(&body_, user)];
        groups[place].push_back(result.getResultNumber());
      }
      mlir::OpBuilder builder(spread);
      for (const auto& [place, numbers] : groups) {
        llvm::SmallVector<mlir::Value> inputs;
        llvm::SmallVector<mlir::Type> types;
        for (unsigned number : numbers) {
          inputs.push_back(spread->getOperand(number));
          types.push_back(spread->getResult(number).getType());
        }
        auto one = dist::BroadcastOp::create(builder, spread.getLoc(), types, inputs,
                                             spread.getCommAttr(), spread.getRoot());
        for (auto [number, result] : llvm::zip(numbers, one->getResults()))
          spread->getResult(number).replaceAllUsesWith(result);
        place_[one] = place;
        all.push_back(one);
      }
      spread.erase();
    }
    ops_.assign(all.rbegin(), all.rend());
    llvm::sort(ops_, [](mlir::Operation* a, mlir::Operation* b) { return a->isBeforeInBlock(b); });
  }

  // Put in in front of tensor-parallel and sharding: the same along the axis of layers, or on all
  // replicas, then parts of it.
  static bool isOfParts(mlir::Operation* op) {
    if (llvm::isa<dist::SliceOp>(op)) return true;
    auto spread = llvm::dyn_cast<dist::BroadcastOp>(op);
    dist::CommOp comm = spread ? dist::lookupComm(op, spread.getCommAttr()) : dist::CommOp();
    return comm && llvm::is_contained({llvm::StringRef(kLayers), llvm::StringRef(kGradients)},
                                      comm.getCarries().value_or(""));
  }

  // Micro-batches are no ranks to broadcast to.
  void leaveOutMicro() {
    for (mlir::Operation* op : ops_) {
      auto spread = llvm::dyn_cast<dist::BroadcastOp>(op);
      if (!spread) continue;
      llvm::SmallVector<dist::AxisSetAttr> root;
      for (dist::AxisSetAttr set : spread.getRoot().getSets())
        if (set.getAxis() != target_.micro) root.push_back(set);
      spread.setRootAttr(dist::SelAttr::of(op->getContext(), root));
    }
  }

  // Start-up runs before stages communicate: an op that needs a variable of another stage, or sets
  // several variables of different stages in one block, cannot be placed.
  mlir::LogicalResult check(mlir::Operation* op) {
    mlir::LogicalResult good = mlir::success();
    op->walk([&](pd::GetOp get) {
      if (place_[op].test(placeOfVariable(get.getVarAttr().getAttr())))
        good = get.emitError("start-up reads '")
               << get.getVar() << "' for a variable of another stage";
    });
    op->walk([&](pd::SetOp set) {
      if (set != op && placeOfVariable(set.getVarAttr().getAttr()) != target_.all())
        good = set.emitError("start-up sets '")
               << set.getVar() << "' in a block, and the variable belongs to one stage";
    });
    if (llvm::isa<dist::DistDialect>(op->getDialect()) && !isOfParts(op))
      good = op->emitError("start-up communicates already; run pipeline in front of it");
    return good;
  }

  // By place, in program order where variables are read.
  std::vector<std::vector<mlir::Operation*>> groups() {
    bool reads = false;
    for (mlir::Operation* op : ops_) op->walk([&](pd::GetOp) { reads = true; });
    std::vector<std::vector<mlir::Operation*>> groups;
    const auto add = [&](mlir::Operation* op) {
      if (groups.empty() || place_[groups.back().front()] != place_[op]) groups.emplace_back();
      groups.back().push_back(op);
    };
    std::vector<mlir::Operation*> order = ops_;
    // What several stages need is made before what one of them makes of it.
    if (!reads)
      llvm::sort(order, [&](mlir::Operation* a, mlir::Operation* b) {
        const Stages &one = place_[a], &other = place_[b];
        return one == other ? a->isBeforeInBlock(b) : LargerFirst()(one, other);
      });
    for (mlir::Operation* op : order) add(op);
    return groups;
  }

  // Consecutive ops of one place in one guard; values from other places are arguments of it.
  void build(llvm::ArrayRef<mlir::Operation*> group, mlir::OpBuilder& builder) {
    const Stages& place = place_[group.front()];
    const llvm::SmallPtrSet<mlir::Operation*, 16> own(group.begin(), group.end());
    if (target_.isAll(place)) {
      for (mlir::Operation* op : group) builder.clone(*op, values_);
      return;
    }
    const mlir::Location loc = target_.job.startup.getLoc();
    llvm::SetVector<mlir::Value> inputs, outputs;
    llvm::SmallVector<mlir::Value> arguments;
    llvm::SmallVector<mlir::Type> types;
    for (mlir::Operation* op : group) {
      for (mlir::Value operand : operandsOf(op))
        if (!own.contains(operand.getDefiningOp()) &&
            llvm::isa<dist::AtType>(values_.lookup(operand).getType()) && inputs.insert(operand))
          arguments.push_back(values_.lookup(operand));
      for (mlir::Value result : op->getResults())
        if (llvm::any_of(
                result.getUsers(),
                [&](mlir::Operation* user) { return !own.contains(inBlock(&body_, user)); }) &&
            outputs.insert(result))
          types.push_back(result.getType());
    }
    dist::OnOp on = target_.guard(builder, loc, place, arguments, types);
    mlir::OpBuilder inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
    mlir::IRMapping local(values_);
    for (auto [input, argument] : llvm::zip(inputs, on.getBody().getArguments()))
      local.map(input, argument);
    llvm::SmallVector<mlir::Value> yielded;
    for (mlir::Operation* op : group) inside.clone(*op, local);
    for (mlir::Value output : outputs) yielded.push_back(local.lookup(output));
    dist::YieldOp::create(inside, loc, yielded);
    for (auto [output, result] : llvm::zip(outputs, on.getResults())) values_.map(output, result);
  }

  // Whether anything that it is computed from is drawn, or otherwise more than a constant.
  bool isDrawn(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (auto part = llvm::dyn_cast_or_null<dist::SliceOp>(op)) return isDrawn(part.getInput());
    if (!op || !pd::OpView::isFrameworkOp(op)) return true;
    const pd::OpSpec* spec = pd::OpView(op).spec();
    if (!spec || spec->effects != pd::kPure || op->getNumRegions()) return true;
    return llvm::any_of(op->getOperands(), [&](mlir::Value operand) { return isDrawn(operand); });
  }

  // A flat variable is held by its parts, which are set again themselves.
  bool isFlat(pd::SetOp set) {
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(
        mlir::SymbolTable::lookupSymbolIn(target_.job.role, set.getVarAttr().getAttr()));
    return var && var->hasAttr(pd::kPartsAttr);
  }

  // At the end of start-up, so that everything that is computed of the drawn value is the same too:
  // variables are set again, to what the first stage has.
  void shareDraws(mlir::OpBuilder& builder) {
    const mlir::Location loc = target_.job.startup.getLoc();
    for (mlir::Operation* op : ops_) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      if (!set || place_[op].count() < 2 || !isDrawn(set.getValue()) ||
          !llvm::isa<mlir::RankedTensorType>(set.getValue().getType()) || isFlat(set))
        continue;
      const Stages& place = place_[op];
      mlir::OpBuilder inside = builder;
      if (!target_.isAll(place)) {
        dist::OnOp on = target_.guard(builder, loc, place, {}, {});
        inside = mlir::OpBuilder::atBlockEnd(&on.getBody().front());
      }
      mlir::Value own = pd::GetOp::create(inside, loc, set.getValue().getType(), set.getVarAttr());
      auto one = dist::BroadcastOp::create(inside, loc, own.getType(), own, target_.among(place),
                                           target_.selector(target_.only(place.find_first())));
      pd::SetOp::create(inside, loc, set.getVarAttr(), one.getResult(0));
      if (!target_.isAll(place)) dist::YieldOp::create(inside, loc, mlir::ValueRange());
    }
  }

  Target& target_;
  const llvm::MapVector<mlir::StringAttr, Stages>& variables_;
  mlir::Block& body_;
  std::vector<mlir::Operation*> ops_;  // the program as it was
  llvm::DenseMap<mlir::Operation*, Stages> place_;
  mlir::IRMapping values_;
};

}  // namespace

mlir::LogicalResult placeStartup(Target& target,
                                 const llvm::MapVector<mlir::StringAttr, Stages>& variables) {
  if (!target.job.startup) return mlir::success();
  return Startup(target, variables).run();
}

}  // namespace dtranspile::passes::pipeline

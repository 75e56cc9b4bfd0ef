#include "passes/ps-split/round.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "passes/ps-split/by_block.h"

namespace dtranspile::passes {
namespace {

// Stage s of a round: what is the same on all servers, then loops over blocks. What a loop sums up
// is known in stage s + 1. An op stands in the first stage where all that it takes is known.
class Stages {
 public:
  Stages(const JobOnAxes& job, const UpdatePart& part) : part_(part) {
    for (mlir::Operation& op : *pd::ProgramOp(job.main).getBodyBlock()) enter(&op);
  }

  int of(mlir::Operation* op) const { return ofOp_.lookup(op); }
  int last() const { return last_; }

 private:
  // Assigns ops of a round to stages. Within a stage loops over blocks are independent; a sum over
  // all blocks (a term, e.g. of a norm) is known only when the loop is over, so that what takes it
  // belongs to the next stage. The same holds for variables that are read after such a stage has
  // written them.
  void enter(mlir::Operation* op) {
    auto set = llvm::dyn_cast<pd::SetOp>(op);
    auto get = llvm::dyn_cast<pd::GetOp>(op);
    mlir::Operation* writer = set ? set.getValue().getDefiningOp() : nullptr;
    if (!get && !part_.contains(op) && !(writer && part_.contains(writer))) return;
    int stage = 0;
    for (mlir::Value value : takenBy(op)) stage = std::max(stage, known_.lookup(value));
    const Touched touched = touchedBy(op);
    for (mlir::StringAttr name : touched.read) stage = std::max(stage, written_.lookup(name));
    for (mlir::StringAttr name : touched.set) stage = std::max(stage, written_.lookup(name));
    for (mlir::StringAttr name : touched.set) written_[name] = stage;
    for (mlir::Value result : op->getResults()) known_[result] = stage + part_.isTerm(result);
    ofOp_[op] = stage;
    last_ = std::max(last_, stage);
  }

  const UpdatePart& part_;
  llvm::DenseMap<mlir::Operation*, int> ofOp_;
  llvm::DenseMap<mlir::Value, int> known_;  // the stage in which a value can be taken
  llvm::DenseMap<mlir::StringAttr, int> written_;
  int last_ = 0;
};

// Builds dist.handle round of the servers. An op that belongs to a parameter stands in a loop over
// the blocks of that parameter, once per stage in which something of it is wanted; what belongs to
// none is computed by every server alike. A sum over all elements of a parameter (a norm) is a term
// in its loop: each server has that of its own blocks, and one all_reduce per stage and element
// type makes the terms of all parameters whole. So the number of communications is that of the
// stages (1 without norms, 2 with a global clip), whatever the number of parameters.
class Round {
 public:
  Round(mlir::ModuleOp module, const JobOnAxes& job, const UpdatePart& part, dist::RoleOp role,
        dist::HandleOp round)
      : module_(module),
        job_(job),
        part_(part),
        stages_(job, part),
        mesh_(dist::meshOf(role)),
        builder_(mlir::OpBuilder::atBlockEnd(&round.getBody().front())) {}

  // Stage by stage: the sums that the stage needs, the ops that all parameters share, then one loop
  // over blocks per parameter.
  mlir::LogicalResult build(pd::ProgramOp main) {
    copyUsedDeclarations(part_, job_.main, main);
    collect();
    for (int stage = 0; stage <= stages_.last(); ++stage) {
      sumUpFor(stage);
      for (mlir::Operation* op : shared_)
        if (stages_.of(op) == stage) copyShared(op);
      for (auto [number, loop] : llvm::enumerate(loops_))
        if (mlir::failed(buildLoop(static_cast<int>(number), loop, stage))) return mlir::failure();
    }
    advancePowers();
    dist::YieldOp::create(builder_, job_.main.getLoc(), mlir::ValueRange());
    return mlir::success();
  }

 private:
  // What a loop over the blocks of a parameter is there for: variables that are set, and terms.
  struct Loop {
    std::vector<pd::SetOp> sets;
    std::vector<mlir::Value> terms;
  };

  // In the order of the program.
  void collect() {
    loops_.resize(part_.parameters().size());
    for (mlir::Operation& op : *job_.main.getBodyBlock()) {
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      mlir::Operation* writer = set ? set.getValue().getDefiningOp() : nullptr;
      if (writer && !part_.contains(writer)) continue;
      if (set) {
        const int owner = part_.ownerOf(set.getVar());
        if (owner >= 0) loops_[owner].sets.push_back(set);
        else if (!isPower(set.getValue())) shared_.push_back(&op);
        else powerSets_.push_back(set);
        continue;
      }
      const int owner = part_.ownerOf(&op);
      const bool mine = part_.contains(&op) || part_.isShared(&op) || isSharedGet(&op);
      if (owner < 0 && mine) shared_.push_back(&op);
      for (mlir::Value result : op.getResults())
        if (owner >= 0 && part_.isTerm(result)) loops_[owner].terms.push_back(result);
    }
  }

  bool isPower(mlir::Value value) const {
    return llvm::any_of(part_.powers(), [&](const verify::Power& one) { return one.out == value; });
  }

  // A read of a variable that no parameter owns (a rate, a step count) for somebody on the servers;
  // trainers read such variables for themselves.
  bool isSharedGet(mlir::Operation* op) const {
    auto get = llvm::dyn_cast<pd::GetOp>(op);
    return get && part_.touches(get.getVar()) && part_.ownerOf(get.getVar()) < 0 &&
           llvm::any_of(
               get->getUsers(),
               [&](mlir::Operation* user) {
                 mlir::Operation* top = inBlock(op->getBlock(), user);
                 return part_.contains(top) || llvm::isa<pd::SetOp>(top);
               });
  }

  bool isPartial(mlir::Value value) const { return part_.isTerm(value) || part_.isPartial(value); }
  // A sum of partial sums is one too; anything else takes whole ones.
  bool givesPartial(mlir::Operation* op) const {
    return op->getNumResults() != 0 && part_.isPartial(op->getResult(0));
  }

  // One sum over all servers, for all of `values` of which each has the part of its own blocks.
  void sumUp(llvm::ArrayRef<mlir::Value> values) {
    llvm::MapVector<mlir::Type, llvm::SetVector<mlir::Value>> byElement;
    for (mlir::Value value : values)
      if (isPartial(value) && !sums_.count(value) && copies_.contains(value))
        byElement[pd::tensorOf(value.getType()).getElementType()].insert(value);
    for (auto& [element, group] : byElement) {
      llvm::SmallVector<mlir::Value> parts;
      for (mlir::Value value : group) parts.push_back(copies_.lookup(value));
      mlir::ValueRange wholes(parts);
      const auto how = element.isInteger(1) ? dist::Reduce::Or : dist::Reduce::Sum;
      if (mesh_.ranks() > 1)
        wholes = dist::AllReduceOp::create(builder_, group.front().getLoc(),
                                           mlir::ValueRange(parts).getTypes(),
                                           dist::ReduceAttr::get(module_.getContext(), how), parts,
                                           serverComm(module_, mesh_))
                     .getResults();
      for (auto [value, whole] : llvm::zip(group, wholes)) sums_[value] = whole;
    }
  }

  // What ops of a stage take of the loops before it, summed up at once.
  void sumUpFor(int stage) {
    llvm::SmallVector<mlir::Value> values;
    for (mlir::Operation* op : part_.ops())
      if (stages_.of(op) == stage && !givesPartial(op)) llvm::append_range(values, takenBy(op));
    sumUp(values);
  }

  mlir::Value whole(mlir::Value value) {
    for (const verify::Power& power : part_.powers())
      if (power.out == value) return advanced(power);
    if (!isPartial(value)) return copies_.lookupOrDefault(value);
    sumUp(value);
    return sums_.lookup(value);
  }

  void copyShared(mlir::Operation* op) {
    mlir::IRMapping map;
    for (mlir::Value value : takenBy(op))
      map.map(value, givesPartial(op) ? copies_.lookupOrDefault(value) : whole(value));
    mlir::Operation* copy = builder_.clone(*op, map);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) copies_.map(from, to);
  }

  mlir::LogicalResult buildLoop(int owner, const Loop& loop, int stage);
  mlir::LogicalResult copyOps(int owner, const std::vector<mlir::Operation*>& needed, int stage,
                              mlir::OpBuilder& inside, mlir::IRMapping& map);
  void advancePowers();
  mlir::Value advanced(const verify::Power& power);

  mlir::Value zeros(mlir::Value like) {
    auto type = llvm::cast<mlir::RankedTensorType>(like.getType());
    std::optional<DType> dtype = pd::dtypeOf(type.getElementType());
    return declarations_
        .create(builder_, like.getLoc(), "fill_constant", {},
                {{"Out", {{pd::nameOf(like).str(), type}}}},
                {builder_.getNamedAttr("shape", builder_.getDenseI64ArrayAttr(type.getShape())),
                 builder_.getNamedAttr(
                     "dtype", builder_.getI32IntegerAttr(static_cast<int32_t>(dtype.value()))),
                 builder_.getNamedAttr("value", builder_.getF32FloatAttr(0))},
                pd::kOptimize)
        .output("Out");
  }

  // What the blocks so far give, and this one.
  mlir::Value joined(mlir::OpBuilder& inside, mlir::Value soFar, mlir::Value own,
                     mlir::Value term) {
    if (!pd::tensorOf(term.getType()).getElementType().isInteger(1))
      return elementwise(inside, term.getLoc(), "elementwise_add", soFar, own, pd::nameOf(term),
                         pd::kOptimize, declarations_);
    return declarations_
        .create(inside, term.getLoc(), "logical_or", {{"X", {soFar}}, {"Y", {own}}},
                {{"Out", {{pd::nameOf(term).str(), term.getType()}}}}, {}, pd::kOptimize)
        .output("Out");
  }

  mlir::ModuleOp module_;
  JobOnAxes job_;
  const UpdatePart& part_;
  Stages stages_;
  dist::MeshOp mesh_;
  mlir::OpBuilder builder_;  // in the round, outside of loops
  pd::Declarations declarations_;
  std::vector<mlir::Operation*> shared_;  // the same on all servers: ops, gets, sets
  std::vector<pd::SetOp> powerSets_;
  std::vector<Loop> loops_;                // by parameter
  llvm::DenseSet<mlir::Operation*> done_;  // ops of parameters that stand in a loop
  mlir::IRMapping copies_;                 // of shared values, and of terms as a server has them
  llvm::DenseMap<mlir::Value, mlir::Value> sums_, advanced_;
};

// Clones what a loop needs into it. A value of a block lives for one turn of one loop: an op that
// two stages need cannot stand in both (rung 1 counts it twice), and is refused.
mlir::LogicalResult Round::copyOps(int owner, const std::vector<mlir::Operation*>& needed,
                                   int stage, mlir::OpBuilder& inside, mlir::IRMapping& map) {
  for (mlir::Operation* op : needed) {
    if (!done_.insert(op).second)
      return op->emitError("gives '")
             << pd::nameOf(op->getResult(0))
             << "', of which a norm over servers is made and which is used after that norm too: a "
                "block of it is not kept from one loop to the next; take the norm of the gradient "
                "itself, as clips in front of regularisation do";
    for (mlir::Value operand : op->getOperands()) {
      if (map.contains(operand)) continue;
      if (part_.ownerOf(operand) != owner) {
        map.map(operand, whole(operand));
        continue;
      }
      if (auto get = operand.getDefiningOp<pd::GetOp>(); get && stages_.of(get) > stage)
        return op->emitError("reads '") << get.getVar() << "' after a norm over servers";
      map.map(operand, valueInside(part_, owner, operand, inside));
    }
    cloneForBlock(part_, owner, op, inside, map);
  }
  return mlir::success();
}

// The loop of one parameter in one stage, if the stage has any set or term of it. Terms are its
// carried values and begin at zero; sets are at the end of the body, after everything that reads
// the old value.
mlir::LogicalResult Round::buildLoop(int owner, const Loop& loop, int stage) {
  llvm::SmallVector<mlir::Value> roots, terms;
  std::vector<pd::SetOp> sets;
  for (pd::SetOp set : loop.sets)
    if (stages_.of(set) == stage) {
      sets.push_back(set);
      roots.push_back(set.getValue());
    }
  for (mlir::Value term : loop.terms)
    if (stages_.of(term.getDefiningOp()) == stage) terms.push_back(term);
  if (roots.empty() && terms.empty()) return mlir::success();
  roots.append(terms);
  const std::vector<mlir::Operation*> needed = neededFor(part_, owner, roots);
  // What loops share is made before them.
  for (mlir::Operation* op : needed)
    for (mlir::Value operand : op->getOperands())
      if (part_.ownerOf(operand) != owner) whole(operand);
  llvm::SmallVector<mlir::Value> inits;
  for (mlir::Value term : terms) inits.push_back(zeros(term));
  pd::VarOp var = part_.parameters()[owner].var;
  const mlir::Location loc = var.getLoc();
  auto each =
      dist::ForeachBlockOp::create(builder_, loc, mlir::ValueRange(inits).getTypes(),
                                   mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()), inits);
  mlir::OpBuilder inside(each.getContext());
  mlir::Block* body = inside.createBlock(&each.getBody());
  body->addArgument(mlir::RankedTensorType::get({1}, inside.getI64Type()), loc);
  for (mlir::Value init : inits) body->addArgument(init.getType(), loc);
  mlir::IRMapping map;
  if (mlir::failed(copyOps(owner, needed, stage, inside, map))) return mlir::failure();
  for (pd::SetOp set : sets) {
    mlir::Value value = map.lookupOrNull(set.getValue());
    if (!value) value = valueInside(part_, owner, set.getValue(), inside);
    pd::SetOp::create(inside, set.getLoc(), set.getVarAttr(), value);
  }
  llvm::SmallVector<mlir::Value> added;
  for (auto [number, term] : llvm::enumerate(terms))
    added.push_back(joined(inside, body->getArgument(number + 1), map.lookup(term), term));
  dist::YieldOp::create(inside, loc, added);
  for (auto [term, result] : llvm::zip(terms, each.getResults())) copies_.map(term, result);
  return mlir::success();
}

// Once per round, on servers without a block too, so that all of them have the same power.
void Round::advancePowers() {
  for (pd::SetOp set : powerSets_)
    pd::SetOp::create(builder_, set.getLoc(), set.getVarAttr(), whole(set.getValue()));
}

// What an update hands on of a power, outside of the loop over its blocks.
mlir::Value Round::advanced(const verify::Power& power) {
  mlir::Value& next = advanced_[power.out];
  if (!next)
    next = scale(builder_, power.out.getLoc(), copies_.lookupOrDefault(power.in), power.factor,
                 pd::nameOf(power.out), pd::kOptimize, declarations_);
  return next;
}

}  // namespace

mlir::LogicalResult buildRound(mlir::ModuleOp module, const JobOnAxes& job, const UpdatePart& part,
                               dist::RoleOp role, pd::ProgramOp main, dist::HandleOp round) {
  return Round(module, job, part, role, round).build(main);
}

}  // namespace dtranspile::passes

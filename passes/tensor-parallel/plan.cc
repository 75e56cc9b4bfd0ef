#include "passes/tensor-parallel/plan.h"

#include "compiler/analysis/norms.h"
#include "compiler/analysis/relations/analysis.h"
#include "compiler/analysis/relations/part_forms.h"
#include "compiler/analysis/relations/reshapes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "passes/support/branch.h"

namespace dtranspile::passes {
namespace {

using verify::State;

// Ops that multiply what flows through the layers by a parameter.
struct Product {
  llvm::StringLiteral type, out;
  llvm::StringLiteral sides[2];
};
constexpr Product kProducts[] = {
    {"mul", "Out", {"Y", "X"}},
    {"matmul", "Out", {"Y", "X"}},
    {"matmul_v2", "Out", {"Y", "X"}},
};

const Product* productOf(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return nullptr;
  const auto* at = llvm::find_if(
      kProducts, [&](const Product& one) { return one.type == pd::OpView(op).type(); });
  return at == std::end(kProducts) ? nullptr : at;
}

// Micro-batches are the axis behind all others, until `pipeline` makes time of it.
bool isPipelined(const JobOnAxes& job, llvm::StringRef layers) {
  dist::MeshOp mesh = job.mesh;
  return llvm::cast<mlir::StringAttr>(mesh.getAxes().getValue().back()).getValue() != layers;
}

}  // namespace

bool isProduct(mlir::Operation* op) { return productOf(op) != nullptr; }

bool isForward(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) &&
         !(pd::OpView(op).role() & (pd::kBackward | pd::kOptimize));
}

// Tasks of a pipeline take no composites.
TensorPlan::TensorPlan(const JobOnAxes& job, std::string axis, int64_t minVocabulary,
                       bool sequences)
    : job_(job),
      axis_(std::move(axis)),
      staged_(isPipelined(job, axis_)),
      sequences_(sequences && !staged_),
      solver_(verify::axesOf(job.role), verify::axesOf(job.role).indexOf(axis_),
              staged_ ? std::nullopt : std::optional<int64_t>(minVocabulary)),
      storable_(job),
      minVocabulary_(minVocabulary),
      touches_(touchesOf(job.main)) {}

void TensorPlan::openShapes() {
  for (mlir::Operation* op : ops_) {
    if (!pd::OpView::isFrameworkOp(op) || !pd::OpView(op).input("X")) continue;
    const llvm::SmallVector<int64_t> from = verify::dimsOf(pd::OpView(op).input("X"));
    if (mlir::Attribute before = openShape(pd::OpView(op), from)) opened_[op] = before;
  }
}

void TensorPlan::index() {
  for (mlir::Operation& op : *job_.main.getBodyBlock()) {
    numbers_[&op] = ops_.size();
    ops_.push_back(&op);
  }
  job_.main.walk([&](mlir::Operation* op) {
    if (isBranchOfUpdate(op)) branches_.insert(op);
  });
}

// The variable whose value it is as the program begins to read it, be it in another precision
// (amp): what lies in parts before a cast does so behind it.
pd::VarOp TensorPlan::variableOf(mlir::Value value) const {
  while (mlir::Operation* op = value.getDefiningOp()) {
    if (!isForward(op) || pd::OpView(op).type() != "cast" || !pd::OpView(op).input("X")) break;
    value = pd::OpView(op).input("X");
  }
  auto get = value.getDefiningOp<pd::GetOp>();
  return get ? llvm::dyn_cast_or_null<pd::VarOp>(
                   mlir::SymbolTable::lookupSymbolIn(job_.role, get.getVarAttr().getAttr()))
             : pd::VarOp();
}

// All that touches it is looked at, and sets tensors of its own type.
bool TensorPlan::mayStore(mlir::StringAttr name) const {
  auto var = llvm::dyn_cast_or_null<pd::VarOp>(mlir::SymbolTable::lookupSymbolIn(job_.role, name));
  const auto found = touches_.find(name);
  if (!var || found == touches_.end() || !storable_(var)) return false;
  const auto isSeen = [&](mlir::Operation* op) {
    mlir::Operation* around = op->getParentOp();
    while (branches_.contains(around)) around = around->getParentOp();
    return around == pd::ProgramOp(job_.main).getOperation();
  };
  return llvm::all_of(found->second.gets, isSeen) &&
         llvm::all_of(found->second.sets, [&](pd::SetOp set) {
           return isSeen(set) && set.getValue().getType() == var.getType();
         });
}

//===----------------------------------------------------------------------===//
// Which parameters
//===----------------------------------------------------------------------===//

State TensorPlan::stateIn(const Trial& trial, mlir::Value value) const {
  const auto found = trial.states.find(value);
  return found == trial.states.end() ? states_.lookup(value) : found->second;
}

// From here on all ops of the forward part that read the variable read a part.
void TensorPlan::assign(Trial& trial, mlir::StringAttr variable, int dim,
                        std::set<unsigned>& waiting) {
  trial.variables.push_back({variable, dim});
  for (pd::GetOp get : touches_.lookup(variable).gets) {
    trial.states[get.getValue()] = State::split(dim);
    for (mlir::Operation* user : get.getValue().getUsers())
      if (isForward(user)) waiting.insert(numbers_.lookup(inBlock(job_.main.getBodyBlock(), user)));
  }
}

// Follows parts through the forward part until they have become sums, and cuts the parameters that
// they meet. False where parts would have to be put together.
bool TensorPlan::follow(Trial& trial, std::set<unsigned>& waiting) {
  while (!waiting.empty()) {
    mlir::Operation* op = ops_[*waiting.begin()];
    waiting.erase(waiting.begin());
    llvm::SmallVector<State, 8> given;
    for (mlir::Value operand : op->getOperands()) {
      given.push_back(stateIn(trial, operand));
      if (given.back().isPartial()) given.back() = {};
    }
    std::optional<Way> way = solver_.solveInParts(op, given);
    if (!way || op->getNumRegions()) {
      trial.stuck = op;
      return false;
    }
    for (auto [operand, before, now] : llvm::zip(op->getOperands(), given, way->operands)) {
      pd::VarOp var = variableOf(operand);
      if (before == now || !var || !mayStore(var.getSymNameAttr())) continue;
      if (!stateIn(trial, operand).isSplit()) assign(trial, var.getSymNameAttr(), now.dim, waiting);
    }
    // Of logits in parts one number per row is exchanged, of a table its rows: both are sums.
    trial.ends += verify::inParts(op, way->operands).has_value();
    for (auto [result, state] : llvm::zip(op->getResults(), way->results)) {
      // It has become a term, or has met parts that flow on already: K meets Q.
      const bool met = state.isSplit() && state == states_.lookup(result);
      trial.ends += met || (state.isPartial() && productOf(op));
      if (state == stateIn(trial, result)) continue;
      trial.states[result] = state;
      for (mlir::Operation* user : result.getUsers())
        if (isForward(user))
          waiting.insert(numbers_.lookup(inBlock(job_.main.getBodyBlock(), user)));
    }
    // The op is seen again where it stood before what has changed.
    waiting.erase(numbers_.lookup(op));
  }
  return true;
}

// A product whose columns are cut gives parts of its result. That pays where they flow, part by
// part, into a product whose rows are cut alike, so that one sum of its results is all that is
// sent.
TensorPlan::Answer TensorPlan::tryParameter(mlir::Operation* op, unsigned parameter, int dim) {
  Trial trial;
  std::set<unsigned> waiting;
  solver_.forgetIndivisible();
  assign(trial, variableOf(op->getOperand(parameter)).getSymNameAttr(), dim, waiting);
  if (!follow(trial, waiting) || trial.ends == 0)
    return solver_.indivisible() ? Answer::Indivisible : Answer::No;
  for (auto [name, cut] : trial.variables) stored_[name] = cut;
  for (auto [value, state] : trial.states) states_[value] = state;
  return Answer::Yes;
}

// Greedy, in program order. For each parameter of a product every dim is tried: the parameter is
// split there for a trial, and the split is kept if the values that it splits flow part by part
// into a later product that sums them up (column-parallel and then row-parallel layers: Shoeybi et
// al. 2019). Why a parameter stays whole is collected for the report.
mlir::LogicalResult TensorPlan::chooseProducts() {
  for (mlir::Operation* op : ops_) {
    const Product* product = isForward(op) ? productOf(op) : nullptr;
    if (!product || op->getBlock() != job_.main.getBodyBlock()) continue;
    const pd::OpView view(op);
    for (llvm::StringRef side : product->sides) {
      mlir::Value parameter = view.input(side);
      pd::VarOp var = parameter ? variableOf(parameter) : pd::VarOp();
      if (!var || !var.getParameter() || stored_.contains(var.getSymNameAttr())) continue;
      const std::string name = var.getSymName().str();
      if (!mayStore(var.getSymNameAttr())) {
        kept_["is set or read in a way that a part has not"].push_back(name);
        continue;
      }
      if (llvm::any_of(op->getOperands(),
                       [&](mlir::Value operand) { return states_.lookup(operand).isSplit(); }))
        continue;
      const unsigned at = llvm::find(op->getOperands(), parameter) - op->operand_begin();
      std::string why = "does not flow part by part into a product";
      bool split = false, column = false;
      for (int dim = 0, rank = verify::rankOf(parameter); dim < rank && !split; ++dim) {
        if (!solver_.divides(parameter, dim)) continue;
        llvm::SmallVector<State, 4> operands(op->getNumOperands());
        operands[at] = State::split(dim);
        const auto given = solver_.solveInParts(op, operands);
        if (!given || llvm::none_of(given->results, [](const State& s) { return s.isSplit(); }) ||
            llvm::any_of(llvm::zip(given->operands, operands),
                         [](auto pair) { return !(std::get<0>(pair) == std::get<1>(pair)); }))
          continue;
        column = true;
        const Answer answer = tryParameter(op, at, dim);
        split = answer == Answer::Yes;
        if (answer != Answer::Indivisible) continue;
        const Indivisible what = *solver_.indivisible();
        mlir::Operation* maker = what.value.getDefiningOp();
        // One dim becomes heads and their size. (Of three matrices in one parameter columns lie
        // otherwise: it stays whole.)
        if (opened_.contains(maker) &&
            verify::rankOf(what.value) == verify::rankOf(pd::OpView(maker).input("X")) + 1)
          return maker->emitError("tensor_parallel_degree is ")
                 << size() << ", and this reshape makes " << what.extent
                 << " heads of what a product gives, which lie on ranks as they are; take a degree "
                    "that divides "
                 << what.extent;
        why = "has an extent that " + std::to_string(size()) + " ranks do not divide on the way";
      }
      if (!split && !column)
        why = "has no columns that " + std::to_string(size()) + " ranks divide";
      if (!split) kept_[why].push_back(name);
    }
  }
  return mlir::success();
}

// A table lies in parts along its rows: a rank looks up what it has of the ids, and the sum over
// the ranks is what all ids have. Those that a product has cut so already are left.
void TensorPlan::chooseTables() {
  for (mlir::Operation* op : ops_) {
    const pd::OpView view(op);
    const bool looks = isForward(op) && llvm::StringRef(view.type()).starts_with("lookup_table");
    mlir::Value table = looks ? view.input("W") : mlir::Value();
    pd::VarOp var = table ? variableOf(table) : pd::VarOp();
    mlir::RankedTensorType type =
        var ? llvm::dyn_cast<mlir::RankedTensorType>(table.getType()) : mlir::RankedTensorType();
    if (!type || type.getRank() != 2 || stored_.contains(var.getSymNameAttr()) ||
        type.getDimSize(0) < minVocabulary_)
      continue;
    std::string why = "is looked up by an op of an older form";
    const verify::PartForm* form = verify::partForm(view, &why);
    if (staged_) why = "is on a stage of a pipeline, whose tasks take no vocabulary in parts";
    else if (form && !solver_.divides(table, 0))
      why = "has " + std::to_string(type.getDimSize(0)) + " rows, which " + std::to_string(size()) +
            " ranks do not divide: pad the vocabulary to " +
            std::to_string((type.getDimSize(0) + size() - 1) / size() * size()) + " rows";
    else if (form && !mayStore(var.getSymNameAttr()))
      why = "is set or read in a way that a part has not";
    else if (form) {
      const unsigned at = llvm::find(op->getOperands(), table) - op->operand_begin();
      if (tryParameter(op, at, 0) == Answer::Yes) continue;
      why = "is read by an op that takes no part of its rows";
    }
    llvm::erase(kept_[why], var.getSymName().str());
    kept_[why].push_back(var.getSymName().str());
  }
}

bool TensorPlan::hasForm(mlir::Operation* op) const {
  if (!pd::OpView::isFrameworkOp(op)) return false;
  llvm::SmallVector<State, 8> operands;
  for (mlir::OpOperand& use : op->getOpOperands()) operands.push_back(takes(use));
  return verify::inParts(op, operands).has_value();
}

bool TensorPlan::sumsNorms(mlir::Operation* op) const {
  return solver_.canSumNorms(op) && llvm::any_of(op->getOpOperands(), [&](mlir::OpOperand& use) {
           return takes(use).isSplit();
         });
}

// Updates that take a norm of a whole parameter in a place where norms of parts cannot be summed
// up: their parameters are put together for the update.
TensorPlan::Kept TensorPlan::updatedWhole() const {
  Kept whole;
  pd::ProgramOp(job_.main).walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || !takesNorm(pd::OpView(op)) ||
        llvm::none_of(op->getOpOperands(), [&](mlir::OpOperand& use) {
          return stateOf(use.get()).isSplit() && !takes(use).isSplit();
        }))
      return;
    const bool inBlock = op->getBlock() != pd::ProgramOp(job_.main).getBodyBlock();
    const std::string why = staged_   ? "tasks of a pipeline do not sum up norms"
                            : inBlock ? "it stands in a block, which does not sum up norms"
                                      : "its norms are not those that are summed up";
    whole[why].push_back(normedResult(pd::OpView(op)).str());
  });
  return whole;
}

//===----------------------------------------------------------------------===//
// How everything lies
//===----------------------------------------------------------------------===//

// What stands inside of other control flow, and what no rule is asked about, works on the whole.
void TensorPlan::takeWhole(mlir::Operation* op) {
  op->walk([&](mlir::Operation* inner) {
    for (mlir::OpOperand& operand : inner->getOpOperands())
      if (!states_.lookup(operand.get()).isReplicated()) takes_[&operand] = {};
  });
}

// All ranks of a group take the branch, or none of them: its block works on parts like the program
// around it. What it captures lies as it does outside; a sum is taken in front, where all steps
// come by, and so is the predicate's.
void TensorPlan::propagateInto(mlir::Operation* branch) {
  const pd::OpView view(branch);
  for (mlir::OpOperand& operand : branch->getOpOperands()) {
    const State& state = states_.lookup(operand.get());
    if (state.isPartial() || (state.isSplit() && operand.get() == view.input("Cond")) ||
        ofSequences_.contains(operand.get()))
      takes_[&operand] = {};
  }
  mlir::Block& block = branch->getRegion(0).front();
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    mlir::Value captured = view.input("$capture", i);
    const State state = states_.lookup(captured);
    if (state.isSplit() && !ofSequences_.contains(captured)) states_[argument] = state;
  }
  for (mlir::Operation& op : block) propagateThrough(&op);
}

// One step of the propagation: the states of the operands give, by the solver, the states of the
// results, and the operands that have to be converted first (`takes_`). State of an optimizer
// follows its parameter: a variable that ends the step in parts is stored in parts, and another
// round follows.
void TensorPlan::propagateThrough(mlir::Operation* op) {
  if (looksInto(op)) return propagateInto(op);
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
    const auto found = stored_.find(get.getVarAttr().getAttr());
    if (found != stored_.end()) states_[get.getValue()] = State::split(found->second);
    return;
  }
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
    const mlir::StringAttr name = set.getVarAttr().getAttr();
    const State has = states_.lookup(set.getValue());
    auto found = stored_.find(name);
    // What ends a step in parts begins the next one so: state of optimizers beside its parameter.
    const bool ofLayer = has.isSplit() && !ofSequences_.contains(set.getValue());
    if (found == stored_.end() && ofLayer && mayStore(name)) {
      found = stored_.try_emplace(name, has.dim).first;
      storedMore_ = true;
    }
    const State wants = found == stored_.end() ? State() : State::split(found->second);
    if (!(has == wants)) takes_[&op->getOpOperand(0)] = wants;
    return;
  }
  if (!pd::OpView::isFrameworkOp(op) || op->getNumRegions()) return takeWhole(op);
  llvm::SmallVector<State, 8> given;
  for (mlir::Value operand : op->getOperands()) given.push_back(states_.lookup(operand));
  if (llvm::all_of(given, [](const State& one) { return one.isReplicated(); })) return;
  const Way way = sequences_ ? solveOnSequences(op, given) : solver_.solve(op, given);
  for (auto [operand, has, wants] : llvm::zip(op->getOpOperands(), given, way.operands)) {
    if (has == wants) continue;
    takes_[&operand] = wants;
    if (sequences_ && wants.isReplicated()) noteSummedWhole(operand);
  }
  for (auto [result, state] : llvm::zip(op->getResults(), way.results))
    if (!state.isReplicated()) states_[result] = state;
}

// One walk in program order with the variables that hold parts so far; false where it has found
// more of them.
bool TensorPlan::propagate() {
  states_.clear();
  takes_.clear();
  ofSequences_.clear();
  summedWhole_.clear();
  storedMore_ = false;
  for (mlir::Operation* op : ops_) propagateThrough(op);
  return !storedMore_;
}

mlir::LogicalResult TensorPlan::run() {
  index();
  openShapes();
  if (mlir::failed(takeDeclared())) return mlir::failure();
  if (stored_.empty()) {
    if (mlir::failed(chooseProducts())) return mlir::failure();
    chooseTables();
  }
  while (!propagate()) {
  }
  return mlir::success();
}

State TensorPlan::takes(mlir::OpOperand& use) const {
  const auto found = takes_.find(&use);
  return found == takes_.end() ? stateOf(use.get()) : found->second;
}

std::vector<std::pair<pd::VarOp, int>> TensorPlan::stored() const {
  std::vector<std::pair<pd::VarOp, int>> all;
  for (auto var : dist::RoleOp(job_.role).getBody().front().getOps<pd::VarOp>())
    if (const auto found = stored_.find(var.getSymNameAttr()); found != stored_.end())
      all.push_back({var, found->second});
  return all;
}

}  // namespace dtranspile::passes

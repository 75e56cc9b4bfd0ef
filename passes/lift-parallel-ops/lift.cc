#include "passes/lift-parallel-ops/lift.h"

#include "compiler/analysis/relations/reshapes.h"
#include "dialects/pd/types.h"
#include "passes/tensor-parallel/plan.h"

namespace dtranspile::passes {
namespace {

using verify::State;

constexpr size_t kTogether = 6;  // variables of one op that may be found out together
constexpr llvm::StringLiteral kCommon[] = {"op_device", "op_namescope", "op_callstack",
                                           "op_role_var"};

verify::Axes axesOf(int64_t degree) {
  verify::Axes axes;
  axes.names = {"mp"};
  axes.sizes = axes.meshSizes = {degree};
  axes.isData = {false};
  return axes;
}

bool isUpdate(const pd::OpView& op) { return op.hasInput("Param") && op.hasInput("Grad"); }

// "'h', a part of it along dim 1"
std::string described(mlir::Value value, const State& state) {
  const std::string name = "'" + pd::nameOf(value).str() + "', ";
  if (state.isSplit()) return name + "a part along dim " + std::to_string(state.dim);
  return name + (state.isPartial() ? "a term of a sum" : "equal on all ranks");
}

}  // namespace

Lift::Lift(mlir::ModuleOp module, pd::ProgramOp main, pd::ProgramOp startup, int64_t degree)
    : module_(module),
      main_(main),
      startup_(startup),
      group_(degree),
      solver_(axesOf(degree), /*axis=*/0, /*minVocabulary=*/1) {}

//===----------------------------------------------------------------------===//
// What the ops say of the group
//===----------------------------------------------------------------------===//

// The program may communicate by the ops of parallel layers alone (parallel_ops.h), at the top, all
// in one group and of one rank.
mlir::LogicalResult Lift::check() {
  mlir::WalkResult walked = main_.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return mlir::WalkResult::advance();
    const pd::OpView view(op);
    const pd::OpSpec* spec = view.spec();
    const ParallelOp* row = parallelOp(op);
    if (row && op->getBlock() != main_.getBodyBlock())
      return op->emitError() << view.type() << ": stands in a block of control flow; layers in "
                             << "parts are read at the top of a program only",
             mlir::WalkResult::interrupt();
    if (row)
      return mlir::failed(group_.see(view)) ? mlir::WalkResult::interrupt()
                                            : mlir::WalkResult::advance();
    if (!spec || !(spec->effects & pd::kCommunicates)) return mlir::WalkResult::advance();
    op->emitError() << view.type() << ": is none of the ops that parallel layers make; give the "
                    << "program as its layers make it, before a strategy adds what communicates";
    return mlir::WalkResult::interrupt();
  });
  if (walked.wasInterrupted()) return mlir::failure();
  if (group_.found()) return mlir::success();
  return main_.emitError(
      "input_parallel is mp, and the program holds none of the framework's parallel ops; leave "
      "input_parallel out, and tensor_parallel splits its layers");
}

//===----------------------------------------------------------------------===//
// How values lie
//===----------------------------------------------------------------------===//

void Lift::lie(mlir::Value value, const State& state) {
  states_[value] = state;
  const mlir::Type part = parts_.try_emplace(value, value.getType()).first->second;
  value.setType(state.isSplit() ? wholeType(part, state.dim, group_.degree()) : part);
}

void Lift::decide(mlir::StringAttr variable, const State& state) {
  variables_[variable] = state;
  for (mlir::Value value : holders_.lookup(variable)) {
    unknown_.erase(value);
    lie(value, state);
  }
}

std::optional<Lift::States> Lift::results(mlir::Operation* op) {
  States given;
  for (mlir::Value operand : op->getOperands()) given.push_back(states_.lookup(operand));
  return solver_.resultsOfParts(op, given);
}

// Whole ones first, then parts along the first dim that goes.
bool Lift::tryVariables(mlir::Operation* op, llvm::ArrayRef<mlir::StringAttr> names, bool columns,
                        States& found) {
  if (names.empty()) {
    std::optional<States> given = results(op);
    if (!given) return false;
    const bool split = llvm::any_of(*given, [](const State& one) { return one.isSplit(); });
    found = std::move(*given);
    return split || !columns;
  }
  const llvm::SmallVector<mlir::Value> values = holders_.lookup(names[0]);
  const int rank = verify::rankOf(values.front());
  for (int dim = -1; dim < rank; ++dim) {
    for (mlir::Value value : values) lie(value, dim < 0 ? State() : State::split(dim));
    if (!tryVariables(op, names.drop_front(), columns, found)) continue;
    decide(names[0], dim < 0 ? State() : State::split(dim));
    return true;
  }
  for (mlir::Value value : values) lie(value, {});
  return false;
}

mlir::LogicalResult Lift::stuck(mlir::Operation* op) {
  mlir::InFlightDiagnostic error = op->emitError() << pd::OpView(op).type() << ": takes ";
  for (auto [i, value] : llvm::enumerate(op->getOperands()))
    error << (i ? "; " : "") << described(value, states_.lookup(value));
  return error << ": no rule says what the ranks give together; a term has to be summed "
                  "(mp_allreduce_sum) and a part put together (c_concat) before an op that needs "
                  "the whole";
}

mlir::LogicalResult Lift::visitGet(pd::GetOp get) {
  const mlir::StringAttr name = get.getVarAttr().getAttr();
  const auto found = variables_.find(name);
  if (found != variables_.end()) return lie(get.getValue(), found->second), mlir::success();
  unknown_[get.getValue()] = name;
  holders_[name].push_back(get.getValue());
  return mlir::success();
}

mlir::LogicalResult Lift::visitSet(pd::SetOp set) {
  const mlir::StringAttr name = set.getVarAttr().getAttr();
  if (const mlir::StringAttr other = unknownOf(set.getValue())) decide(other, {});
  const State has = states_.lookup(set.getValue());
  const auto found = variables_.try_emplace(name, has).first;
  if (found->second == has && !has.isPartial()) return decide(name, has), mlir::success();
  return set.emitError() << "is given " << described(set.getValue(), has) << ", and '"
                         << name.getValue() << "' begins a step as "
                         << (found->second.isSplit() ? "a part" : "a whole")
                         << "; a variable lies as it did before";
}

// Of an unknown variable it becomes true; a state where the value cannot lie so.
mlir::FailureOr<State> Lift::demanded(pd::OpView op, const SlotLies& lies, mlir::Value value) {
  State wants;
  const int rank = verify::rankOf(value);
  if (lies.lies == Lies::Term) wants = State::partial(dist::Reduce::Sum);
  if (lies.lies == Lies::Rows) wants = State::split(0);
  if (lies.lies == Lies::Columns) wants = State::split(rank - 1);
  if (lies.lies == Lies::Gathered) {
    // The dim that is longer in what it gives; rows where nothing is known of any.
    const auto part = llvm::dyn_cast<mlir::RankedTensorType>(parts_.at(value));
    const auto all = llvm::dyn_cast<mlir::RankedTensorType>(op.output("Out").getType());
    int dim = 0;
    for (int i = 0; part && all && all.getRank() == rank && i < rank; ++i)
      if (part.getDimSize(i) != all.getDimSize(i)) dim = i;
    wants = State::split(dim);
  }
  if (const mlir::StringAttr variable = unknownOf(value))
    decide(variable, wants.isPartial() ? State() : wants);
  const State has = states_.lookup(value);
  if (has == wants) return wants;
  return op.operation()->emitError()
         << op.type() << ": takes " << described(value, has) << ", and is right for "
         << described(value, wants).substr(pd::nameOf(value).size() + 4) << " only";
}

// A parallel op says how its operands must lie and how its results do. What enters a
// column-parallel layer (c_identity in the forward part) is remembered, since its weight is cut
// into columns.
mlir::LogicalResult Lift::visitParallel(mlir::Operation* op, const ParallelOp& row) {
  const pd::OpView view(op);
  for (mlir::Value operand : op->getOperands()) parts_.try_emplace(operand, operand.getType());
  for (const SlotLies& lies : row.in) {
    mlir::Value value = lies.slot.empty() ? mlir::Value() : view.input(lies.slot);
    if (value && mlir::failed(demanded(view, lies, value))) return mlir::failure();
  }
  for (const SlotLies& lies : row.out) {
    mlir::Value value = lies.slot.empty() ? mlir::Value() : view.output(lies.slot);
    if (!value) continue;
    const int last = verify::rankOf(value) - 1;
    lie(value, lies.lies == Lies::Term      ? State::partial(dist::Reduce::Sum)
               : lies.lies == Lies::Rows    ? State::split(0)
               : lies.lies == Lies::Columns ? State::split(last)
                                            : State());
  }
  if (row.type == "c_identity" && isForward(op)) entered_.insert(view.output("Out"));
  return mlir::success();
}

// What stands in blocks works on wholes.
mlir::LogicalResult Lift::visitBlock(mlir::Operation* op) {
  mlir::Operation* wrong = nullptr;
  mlir::Value what;
  op->walk([&](mlir::Operation* inner) {
    for (mlir::Value operand : inner->getOperands()) {
      if (const mlir::StringAttr variable = unknownOf(operand)) decide(variable, {});
      if (!wrong && !states_.lookup(operand).isReplicated()) wrong = inner, what = operand;
    }
    if (auto get = llvm::dyn_cast<pd::GetOp>(inner)) {
      const mlir::StringAttr name = get.getVarAttr().getAttr();
      if (!variables_.contains(name)) decide(name, {});
      if (!wrong && !variables_.lookup(name).isReplicated()) wrong = inner, what = get.getValue();
    }
    if (auto set = llvm::dyn_cast<pd::SetOp>(inner))
      variables_.try_emplace(set.getVarAttr().getAttr(), State());
  });
  if (!wrong) return mlir::success();
  return wrong->emitError() << "a block of control flow takes '" << pd::nameOf(what)
                            << "', which a rank has a part or a term of; layers in parts are read "
                               "at the top of a program only";
}

// An op that says nothing about parts. How its operands lie follows from the ops before it, except
// for parameters, which do not say (`unknown`): those are tried in every way that the op's relation
// rule allows, and decided by the first op that leaves one way. An op whose rule gives nothing for
// parts stops the lifting, with one exception: norms and flags of the update, which the framework's
// programs take of a rank's own part (a defect that is mended here, with a warning).
mlir::LogicalResult Lift::visitOp(mlir::Operation* op) {
  const pd::OpView view(op);
  const bool forward = isForward(op);
  llvm::SetVector<mlir::StringAttr> names;
  bool product = forward && isProduct(op), columns = false, parts = false;
  for (mlir::Value operand : op->getOperands()) {
    if (const mlir::StringAttr name = unknownOf(operand)) names.insert(name);
    columns |= product && entered_.contains(operand);
    parts |= !states_.lookup(operand).isReplicated();
  }
  columns &= !names.empty();
  if (forward && view.type() == "cast" && op->getNumOperands() == 1) {
    if (entered_.contains(op->getOperand(0))) entered_.insert(op->getResult(0));
    if (!names.empty()) {
      unknown_[op->getResult(0)] = names[0];
      holders_[names[0]].push_back(op->getResult(0));
      return mlir::success();
    }
  }
  const mlir::Value x = parts ? view.input("X") : mlir::Value();
  if (x && parts_.contains(x))
    if (mlir::RankedTensorType part = pd::tensorOf(parts_.lookup(x)))
      openShape(view, pd::dimsOf(part));
  // What is only looked at from outside (a metric) is looked at as the ranks give it together.
  if (parts && forward && op->use_empty()) return stuck(op);
  if (!parts && !columns) {  // all that it takes is whole
    for (mlir::StringAttr name : names) decide(name, {});
    return mlir::success();
  }
  States found;
  if (names.size() > kTogether || !tryVariables(op, names.getArrayRef(), columns, found)) {
    for (mlir::StringAttr name : names) decide(name, {});
    // Norms and flags of the update: the framework sums no terms of them over the ring of layers.
    if (!(view.role() & pd::kOptimize) || isUpdate(view)) return stuck(op);
    States given;
    for (mlir::Value operand : op->getOperands()) given.push_back(states_.lookup(operand));
    const Way way = solver_.solve(op, given);
    found = way.results;
    mended_ = mended_ ? mended_ : op;
  }
  for (auto [result, state] : llvm::zip(op->getResults(), found)) lie(result, state);
  // With whole results the rule has to say the same.
  std::optional<States> again = mended_ == op ? found : results(op);
  if (!again || *again != found) return stuck(op);
  return mlir::success();
}

mlir::LogicalResult Lift::visit(mlir::Operation* op) {
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return visitGet(get);
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return visitSet(set);
  if (op->getNumRegions()) return visitBlock(op);
  if (!pd::OpView::isFrameworkOp(op)) return mlir::success();
  if (const ParallelOp* row = parallelOp(op)) return visitParallel(op, *row);
  return visitOp(op);
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

void Lift::declareWholes(pd::ProgramOp program) {
  program.walk([&](pd::DeclOp decl) {
    const auto found = cut_.find(decl.getNameAttr());
    if (found == cut_.end() || !decl.getDims()) return;
    llvm::SmallVector<int64_t> dims(*decl.getDims());
    if (found->second >= static_cast<int>(dims.size()) || dims[found->second] < 0) return;
    dims[found->second] *= group_.degree();
    decl.setDimsAttr(mlir::DenseI64ArrayAttr::get(decl.getContext(), dims));
  });
}

// What others know by its name stays a value of that name.
void Lift::becomeWhole(mlir::Operation* op, const ParallelOp& row) {
  const pd::OpView view(op);
  mlir::OpBuilder builder(op);
  llvm::SmallVector<mlir::NamedAttribute> attributes;
  for (llvm::StringRef name : kCommon)
    if (view.hasAttr(name)) attributes.emplace_back(name, view.attr(name));
  const bool drop = row.becomes.empty() &&
                    (!view.hasAttr("op_role_var") || view.getStrings("op_role_var").empty()) &&
                    llvm::none_of(op->getUsers(), llvm::IsaPred<pd::SetOp>);
  if (drop) {
    view.output("Out").replaceAllUsesWith(view.input("X"));
    op->erase();
    return;
  }
  if (view.type().starts_with("c_softmax"))
    attributes.emplace_back("ignore_index", builder.getI32IntegerAttr(view.getInt("ignore_index")));
  std::vector<pd::InputSlot> in;
  std::vector<pd::OutputSlot> out;
  for (const SlotLies& lies : row.in)
    if (!lies.slot.empty()) in.push_back({lies.slot, view.inputs(lies.slot)});
  for (const SlotLies& lies : row.out) {
    if (lies.slot.empty() || !view.output(lies.slot)) continue;
    out.push_back(
        {lies.slot, {{view.outputName(lies.slot).str(), view.output(lies.slot).getType()}}});
  }
  llvm::StringRef type = row.becomes;
  if (type.empty()) type = "assign";
  const pd::OpView whole =
      declarations_.create(builder, op->getLoc(), type, in, out, attributes, view.role());
  for (const pd::OutputSlot& slot : out)
    view.output(slot.name).replaceAllUsesWith(whole.output(slot.name));
  op->erase();
}

// Start-up makes the whole of what is held in parts: constants, and draws of one distribution.
mlir::LogicalResult Lift::liftStartup() {
  for (mlir::Operation& op : llvm::make_early_inc_range(*startup_.getBodyBlock())) {
    if (!setsUpGroups(&op)) continue;
    const pd::OpView view(&op);
    if (view.input("X") && view.output("Out"))
      view.output("Out").replaceAllUsesWith(view.input("X"));
    if (op.use_empty()) op.erase();
  }
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(*startup_.getBodyBlock())))
    if (setsUpGroups(&op) && op.use_empty()) op.erase();
  for (auto set : startup_.getBodyBlock()->getOps<pd::SetOp>()) {
    const State state = variables_.lookup(set.getVarAttr().getAttr());
    if (!state.isSplit()) continue;
    mlir::Operation* maker = set.getValue().getDefiningOp();
    const bool made = maker && pd::OpView::isFrameworkOp(maker) && maker->getNumOperands() == 0 &&
                      maker->getNumResults() == 1 && pd::OpView(maker).hasAttr("shape") &&
                      pd::OpView(maker).type() != "assign_value";
    std::vector<int64_t> shape;
    if (made) shape = pd::OpView(maker).getInts("shape");
    if (!made || !llvm::equal(shape, verify::dimsOf(set.getValue())))
      return set.emitError() << "start-up gives '" << set.getVarAttr().getValue()
                             << "' values of one rank's part, of which the whole is not known: "
                                "let it be a constant or drawn, and give what it begins with as "
                                "initial values of the whole (run --init)";
    lie(set.getValue(), state);
    shape[state.dim] *= group_.degree();
    mlir::Builder builder(maker);
    const bool narrow = llvm::isa<mlir::DenseI32ArrayAttr>(pd::OpView(maker).attr("shape"));
    pd::OpView(maker).setAttr("shape",
                              narrow ? mlir::Attribute(builder.getDenseI32ArrayAttr(
                                           llvm::SmallVector<int32_t>(shape.begin(), shape.end())))
                                     : mlir::Attribute(builder.getDenseI64ArrayAttr(shape)));
    cut_[pd::nameAttrOf(set.getValue())] = state.dim;
  }
  return mlir::success();
}

// First how every value lies, without changing anything. Then types and declarations become those
// of the whole, start-up makes whole values, and the parallel ops become the ops of one device.
mlir::LogicalResult Lift::run() {
  if (mlir::failed(check())) return mlir::failure();
  for (mlir::Operation& op : *main_.getBodyBlock()) {
    if (mlir::failed(visit(&op))) return mlir::failure();
    if (!isForward(&op) || !(pd::OpView(&op).role() & pd::kLoss)) continue;
    for (mlir::Value loss : op.getResults())
      if (const State state = states_.lookup(loss); !state.isReplicated())
        return op.emitError() << "the loss is " << described(loss, state)
                              << "; every rank of a group has the same loss";
  }
  if (mended_)
    mended_->emitWarning() << "the program takes a rank's own part of a norm or a flag for the "
                              "whole here; the job takes that of all ranks of the group";
  for (auto& [value, state] : states_)
    if (state.isSplit())
      if (mlir::StringAttr name = pd::nameAttrOf(value)) cut_[name] = state.dim;
  for (auto var : module_.getOps<pd::VarOp>()) {
    const State state = variables_.lookup(var.getSymNameAttr());
    if (!state.isSplit()) continue;
    cut_[var.getSymNameAttr()] = state.dim;
    var.setTypeAttr(mlir::TypeAttr::get(wholeType(var.getType(), state.dim, group_.degree())));
    var->setAttr(kHeldInParts, mlir::Builder(var).getI64IntegerAttr(state.dim));
  }
  if (startup_ && mlir::failed(liftStartup())) return mlir::failure();
  declareWholes(main_);
  if (startup_) declareWholes(startup_);
  for (mlir::Operation& op : llvm::make_early_inc_range(*main_.getBodyBlock()))
    if (const ParallelOp* row = parallelOp(&op)) becomeWhole(&op, *row);
  return mlir::success();
}

}  // namespace dtranspile::passes

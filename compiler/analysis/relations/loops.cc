// Loops of the job: over micro-batches, whose number is the size of a time axis, and over the
// blocks of a server's variable. Both are axes to what stands inside: a loop's results are the sum
// over its axis, by the rule of all_reduce sum; over blocks also the largest or the smallest, over
// micro-batches also state that each of them moves.
#include <limits>

#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/dist/iteration.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// How a loop over blocks puts together what it hands on.
struct Folding {
  dist::Reduce reduce = dist::Reduce::Sum;
  bool known = false;
};

// A sum; else the maximum or minimum of `argument`, which nothing else reads, and a term; of
// booleans the maximum is whether any is true.
Folding foldingOf(mlir::Value value, mlir::Value argument) {
  if (dist::accumulates(value, argument)) return {dist::Reduce::Sum, true};
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op) || op->hasAttr(dist::kSrcAttr) ||
      !argument.hasOneUse() || *argument.user_begin() != op)
    return {};
  const llvm::StringRef type = pd::OpView(op).type();
  if (type == "elementwise_max") return {dist::Reduce::Max, true};
  if (type == "elementwise_min") return {dist::Reduce::Min, true};
  if (type == "logical_or") return {dist::Reduce::Or, true};
  return {};
}

// What is below, or above, every number, and false: with it a server without blocks changes
// nothing.
bool isLimit(mlir::Value init, dist::Reduce reduce) {
  mlir::Operation* op = init.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op) || op->getNumOperands() != 0) return false;
  pd::OpView view(op);
  if (view.type() != "fill_constant" || view.getString("str_value") != "") return false;
  if (reduce == dist::Reduce::Or) return view.getFloat("value") == 0;
  const double limit = std::numeric_limits<double>::infinity();
  return view.getFloat("value") == (reduce == dist::Reduce::Max ? -limit : limit);
}

// The contract of running statistics that go through the micro-batches of a step.
constexpr llvm::StringLiteral kMicroStatisticsTag = "micro_statistics";

// What an accumulator begins with.
Relation zeros(const Axes& axes) {
  Relation relation;
  relation.isZero = true;
  relation.whole = relation.parts = Reading::replicated(axes);
  return relation;
}

// A loop that begins with something else than zero gives that much more.
Awaited fromStart(const Scene& scene, mlir::Value init, Awaited total) {
  const Relation& start = scene.of(init);
  if (start.isZero && start.known()) return total;
  if (total.relation.isZero && total.relation.known()) return {start, {}};
  Reason reason{"begins to accumulate with " + nameText(init) + ", which is not zero", -1, init};
  if (start.known()) reason.wrong = "accumulation";
  Relation nothing;
  nothing.follow(total.relation);
  return {std::move(nothing), std::move(reason)};
}

// A loss that is one value per share is by definition the mean of these.
bool isLoss(const Scene& scene, const Relation& relation) {
  mlir::Operation* op =
      relation.reference >= 0 ? scene.reference().definingOp(relation.reference) : nullptr;
  if (!op || !pd::OpView::isFrameworkOp(op)) return false;
  const int role = pd::OpView(op).role();
  return (role & pd::kLoss) && !(role & pd::kBackward);
}

// Sum over the time axes of the loop.
// The time axis is an axis like that of a mesh, on which ranks come one after the other: what the
// loop adds up is reduced over it, and its size becomes part of the scale where values are equal.
Awaited overMicroBatches(const Scene& scene, const Axes& inside, const llvm::BitVector& loop,
                         Awaited term) {
  for (bool whole : {true, false}) {
    Reading& reading = whole ? term.relation.whole : term.relation.parts;
    for (unsigned axis : loop.set_bits()) {
      if (!reading.known || inside.sizes[axis] == 1) continue;
      State& state = reading.states[axis];
      std::optional<Rational> factor =
          reducedScale(state, dist::Reduce::Sum, inside.sizes[axis], term.relation, whole);
      if (!factor && state.isParts() && isLoss(scene, term.relation))
        factor = Rational(inside.sizes[axis]);
      if (!factor) {
        if (whole)
          term.reason = {"sums over " + inside.names[axis] + " a value that is " + state.text(),
                         static_cast<int>(axis),
                         {}};
        if (whole && (state.isSplit() || state.isParts())) term.reason.wrong = "reduction";
        reading = {};
        break;
      }
      reading.scale = reading.scale * *factor;
      state = State::replicated();
    }
  }
  if (!term.relation.whole.known) term.relation.parts = {};
  return term;
}

// State that one op of the reference moves (dist::movesState). Each micro-batch takes it as the one
// before has left it, so what the last one gives is what its op gives on all shares in turn: the
// reference with its sites evaluated per share, and this one once per micro-batch, which is the
// contract. Between two micro-batches nobody else reads it.
Awaited throughMicroBatches(const Axes& inside, const llvm::BitVector& loop, Awaited last,
                            mlir::MLIRContext* context) {
  bool several = false;
  for (bool whole : {true, false}) {
    Reading& reading = whole ? last.relation.whole : last.relation.parts;
    for (unsigned axis : loop.set_bits()) {
      if (!reading.known || inside.sizes[axis] == 1) continue;
      several = true;
      State& state = reading.states[axis];
      if (!state.isParts() && !state.isReplicated()) {
        if (whole)
          last.reason = {
              "hands on along " + inside.names[axis] + " a value that is " + state.text(),
              static_cast<int>(axis),
              {}};
        reading = {};
        break;
      }
      state = State::replicated();
    }
  }
  if (!last.relation.whole.known) last.relation.parts = {};
  if (several) last.relation.addTags(mlir::StringAttr::get(context, kMicroStatisticsTag));
  return last;
}

bool isState(dist::MicroOp micro, unsigned i) {
  return dist::movesState(micro.getBody().front().getTerminator()->getOpOperand(i),
                          micro.getBody().getArgument(i));
}

// The axis along which a variable lies in blocks, and how; -1 where it does not.
struct Blocks {
  int axis = -1;
  int64_t dim = 0, count = 1;
  dist::LayoutAttr layout;
};
// How a server's variable is cut into blocks: the axis of servers, the dim, and the number of
// blocks over all servers. Even parts are no blocks. Of a cyclic layout a block is one row; else it
// has `per` rows, and the last one what is left.
Blocks blocksOf(const Variable& variable, const Axes& axes) {
  auto relation = pd::VarOp(variable.op)->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  if (!relation) return {};
  for (dist::AxisRelAttr one : relation.getAxes()) {
    dist::LayoutAttr layout =
        one.getState() == dist::StateKind::Split ? one.getLayout() : dist::LayoutAttr();
    if (!layout || layout.getKind() == dist::LayoutKind::Even) continue;
    const int64_t per =
        std::max<int64_t>(1, layout.getKind() == dist::LayoutKind::Cyclic ? 1 : layout.getPer());
    return {axes.indexOf(one.getAxis().getValue()), one.getDim(),
            layout.getExtent() / per + (layout.getExtent() % per != 0), layout};
  }
  return {};
}

// Over the blocks of all servers. Each server folds its own ones: partial, in which what is equal
// for all blocks counts once per block in a sum, and is itself in a maximum.
Awaited overBlocks(const Axes& inside, int axis, int64_t servers, dist::Reduce reduce,
                   Awaited term) {
  Reading& reading = term.relation.whole;
  if (reading.known) {
    State& state = reading.states[axis];
    const bool partial = state == State::partial(reduce), sums = reduce == dist::Reduce::Sum;
    if (partial || state.isReplicated()) {
      if (!partial && sums) reading.scale = reading.scale * Rational(inside.sizes[axis]);
      state = servers > 1 ? State::partial(reduce) : State::replicated();
    } else {
      term.reason = {(sums ? "sums over blocks a value that is "
                           : "takes the " + dist::stringifyReduce(reduce).str() +
                                 " over blocks of a value that is ") +
                         state.text(),
                     axis,
                     {}};
      if (state.isSplit()) term.reason.wrong = "reduction";
      reading = {};
    }
  }
  term.relation.parts = reading;
  return term;
}

// An extremum begins with the limit of all numbers; with another one it may be that.
Awaited fromLimit(mlir::Value init, dist::Reduce reduce, Awaited total) {
  if (isLimit(init, reduce)) return total;
  Relation nothing;
  nothing.follow(total.relation);
  return {
      std::move(nothing),
      {"begins the " + dist::stringifyReduce(reduce).str() + " over blocks with " + nameText(init) +
           (reduce == dist::Reduce::Or ? ", which is not false"
                                       : ", which is not the infinity that leaves it as it is"),
       -1, init}};
}

}  // namespace

bool isAccumulator(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  mlir::Operation* loop = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (auto on = llvm::dyn_cast_or_null<dist::OnOp>(loop))
    return isAccumulator(on.getInputs()[argument.getArgNumber()]);
  return llvm::isa_and_nonnull<dist::MicroOp, dist::ForeachBlockOp>(loop);
}

// Inside of the loop the time axis has the number of micro-batches as its size; outside it has 1.
bool enterMicro(const Scene& scene, dist::MicroOp micro) {
  Scope scope = scene.store.scope();
  dist::MeshOp mesh = dist::meshOf(micro);
  for (llvm::StringRef name : micro.getAxes().getAsValueRange<mlir::StringAttr>()) {
    const int axis = scope.axes.indexOf(name);
    std::optional<int64_t> size = mesh ? mesh.sizeOf(name) : std::nullopt;
    if (axis < 0 || !size || scope.axes.sizes[axis] != 1) {
      scene.giveUnknown(micro, "loops over " + name.str() + ", which is no time axis here");
      return false;
    }
    scope.axes.sizes[axis] = scope.axes.meshSizes[axis] = *size;
  }
  std::vector<Awaited> starts;
  for (mlir::Value init : micro.getInits())
    starts.push_back({scene.of(init), {"begins with " + nameText(init), -1, init}});
  scene.store.enter(std::move(scope));
  for (mlir::BlockArgument argument : micro.getBody().getArguments())
    if (const unsigned i = argument.getArgNumber(); isState(micro, i))
      giveAwaited(scene, argument, std::move(starts[i]));
    else scene.store.set(argument, zeros(scene.axes()));
  return true;
}

// A result of the loop is its initial value plus the sum over micro-batches of what the body
// yields, which is the rule of an all_reduce along the time axes; results that are state take what
// the last micro-batch leaves.
void leaveMicro(const Scene& scene, dist::MicroOp micro) {
  const Axes inside = scene.axes();
  llvm::BitVector loop(inside.count());
  for (llvm::StringRef name : micro.getAxes().getAsValueRange<mlir::StringAttr>())
    loop.set(static_cast<unsigned>(inside.indexOf(name)));
  std::vector<Awaited> terms = yieldedBy(scene, micro.getBody());
  scene.store.leave();
  for (auto [result, init, term] : llvm::zip(micro.getOutputs(), micro.getInits(), terms))
    giveAwaited(
        scene, result,
        isState(micro, llvm::cast<mlir::OpResult>(result).getResultNumber())
            ? throughMicroBatches(inside, loop, std::move(term), micro.getContext())
            : fromStart(scene, init, overMicroBatches(scene, inside, loop, std::move(term))));
}

// A loop over blocks is understood where each turn works on one block and only adds to what it
// hands on.
bool enterBlocks(const Scene& scene, dist::ForeachBlockOp loop) {
  const Variable* variable = scene.store.variable(loop.getVar());
  const Blocks blocks = variable ? blocksOf(*variable, scene.axes()) : Blocks();
  Scope scope = scene.store.scope();
  std::string why;
  if (blocks.axis < 0) why = "loops over blocks of a variable that has none";
  else if (scope.blockAxis >= 0) why = "loops over blocks inside of a loop over blocks";
  else if (scope.place.where && scope.place.where.lookup(scope.axes.names[blocks.axis]))
    why = "loops over blocks on some of the servers only";
  auto yield = llvm::cast<dist::YieldOp>(loop.getBody().front().getTerminator());
  for (auto [value, argument] :
       llvm::zip(yield.getValues(), loop.getBody().getArguments().drop_front()))
    if (!foldingOf(value, argument).known)
      why = "hands on from block to block what is no sum, maximum or minimum over them";
  if (!why.empty()) {
    scene.report(loop, Message::Level::Unknown, "model", why,
                 "let it accumulate over the blocks of a variable, on every server");
    scene.giveUnknown(loop, why);
    return false;
  }
  scope.axes.sizes[blocks.axis] = scope.axes.meshSizes[blocks.axis] = blocks.count;
  scope.blockAxis = blocks.axis;
  scope.blocksOf = loop.getVar().str();
  scene.store.enter(std::move(scope));
  for (mlir::BlockArgument argument : loop.getBody().getArguments().drop_front())
    scene.store.set(argument, zeros(scene.axes()));
  return true;
}

// A result is the reduction over all blocks of what the body yields for one; sums start from the
// initial operand, and a maximum or minimum from a limit that no element passes.
void leaveBlocks(const Scene& scene, dist::ForeachBlockOp loop) {
  const Axes inside = scene.axes();
  const int axis = scene.store.scope().blockAxis;
  std::vector<Awaited> terms = yieldedBy(scene, loop.getBody());
  scene.store.leave();
  auto yield = llvm::cast<dist::YieldOp>(loop.getBody().front().getTerminator());
  for (auto [result, init, term] : llvm::zip(loop.getOutputs(), loop.getInits(), terms)) {
    const unsigned i = llvm::cast<mlir::OpResult>(result).getResultNumber();
    const dist::Reduce reduce =
        foldingOf(yield.getValues()[i], loop.getBody().getArgument(i + 1)).reduce;
    Awaited total = overBlocks(inside, axis, scene.axes().sizes[axis], reduce, std::move(term));
    giveAwaited(scene, result,
                reduce == dist::Reduce::Sum ? fromStart(scene, init, std::move(total))
                                            : fromLimit(init, reduce, std::move(total)));
  }
}

namespace {

// Along the axis of the servers, where that has so many coordinates.
State blockState(const Scene& scene, const Variable& variable, int64_t parts) {
  const Blocks blocks = blocksOf(variable, scene.axes());
  return parts > 1 ? State::split(blocks.dim, blocks.layout) : State::replicated();
}

}  // namespace

// Inside of a loop over blocks a variable that is cut into them is read one block at a time, others
// whole.
Awaited readBlock(const Scene& scene, const Variable& variable) {
  Awaited value = scene.store.held(variable);
  const int axis = scene.store.scope().blockAxis;
  if (axis < 0) return value;
  const bool blocks = blocksOf(variable, scene.axes()).axis == axis;
  const State own = blocks ? blockState(scene, variable, scene.store.meshAxes().sizes[axis])
                           : State::replicated();
  for (Reading* reading : {&value.relation.whole, &value.relation.parts}) {
    if (!reading->known) continue;
    if (!(reading->states[axis] == own)) *reading = {};
    else if (blocks) reading->states[axis] = blockState(scene, variable, scene.axes().sizes[axis]);
  }
  if (!value.relation.known() && value.reason.why.empty())
    value.reason = {"holds no block of `" + scene.store.scope().blocksOf + "`", -1, {}};
  return value;
}

// What a server has of a pushed value is what it has of the variable.
void cutLikeVariable(const Scene& scene, const Variable& variable, Reading& whole) {
  const Blocks blocks = blocksOf(variable, scene.axes());
  if (blocks.axis >= 0) {
    whole.states[blocks.axis] = blockState(scene, variable, scene.axes().sizes[blocks.axis]);
    return;
  }
  for (unsigned a = 0; a < scene.axes().count(); ++a)
    if (variable.declared.known && variable.declared.states[a].isSplit())
      whole.states[a] = variable.declared.states[a];
}

// The other way round: all turns together have set all blocks. A variable that is not cut would be
// set once per block, which depends on how many there are.
void setBlock(const Scene& scene, Variable& variable, pd::SetOp set) {
  Relation relation = scene.of(set.getValue());
  const int axis = scene.store.scope().blockAxis;
  if (axis < 0) return scene.store.hold(variable, std::move(relation), set);
  const int64_t blocks = scene.axes().sizes[axis], servers = scene.store.meshAxes().sizes[axis];
  if (blocksOf(variable, scene.axes()).axis != axis) {
    if (blocks > 1 || servers > 1)
      scene.report(set, Message::Level::Refuted, "invariant",
                   "sets `" + set.getVar().str() + "` once per block of `" +
                       scene.store.scope().blocksOf +
                       "` that a server owns: with another number of blocks, or none, a server "
                       "ends with another value",
                   "set it once per round, outside of the loop over blocks");
    return scene.store.hold(variable, std::move(relation), set);
  }
  for (Reading* reading : {&relation.whole, &relation.parts}) {
    if (!reading->known) continue;
    if (relation.isZero || reading->states[axis] == blockState(scene, variable, blocks))
      reading->states[axis] = blockState(scene, variable, servers);
    else *reading = {};
  }
  scene.store.hold(variable, std::move(relation), set);
}

}  // namespace dtranspile::verify

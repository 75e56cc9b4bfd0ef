#include "compiler/analysis/relations/differences.h"

#include <array>

#include "compiler/analysis/relations/compression.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace dtranspile::verify {
namespace {

// Operands of an op that only some of its results are made from: running statistics that a training
// step moves and does not read, gradients beside the count of steps.
struct Apart {
  llvm::StringLiteral type;
  std::array<llvm::StringLiteral, 2> operands;
  std::array<llvm::StringLiteral, 4> results;  // that are not made from them
};
constexpr Apart kApart[] = {
    {"batch_norm", {"Mean", "Variance"}, {"Y", "SavedMean", "SavedVariance", "ReserveSpace"}},
    {"update_loss_scaling", {"X", ""}, {"LossScaling", "OutGoodSteps", "OutBadSteps", ""}},
};

const Apart* apartOf(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return nullptr;
  const pd::OpView view(op);
  const Apart* row =
      llvm::find_if(kApart, [&](const Apart& one) { return one.type == view.type(); });
  // With given statistics it normalises by them.
  const bool given = view.getBool("is_test") || view.getBool("use_global_stats");
  return row == std::end(kApart) || given ? nullptr : row;
}

// A value, a version of a variable, or what joins many operands to many results.
struct Node {
  struct Edge {
    unsigned to;
    unsigned stops;         // number of a set of axes along which the result is equal
    bool nextStep = false;  // from the end of a step to the beginning of the next one
  };
  AxisSet within;   // the axes along which it differs by what happens within a step
  AxisSet carried;  // and by what an earlier step left
  // Nothing is known of it but what it is made from. Of others the analysis has said all but what
  // steps carry on.
  bool open = true;
  llvm::SmallVector<Edge, 2> edges;
};

// Builds the graph of a program, and lets differences run along its edges.
class Flow {
 public:
  // `startup`: variables hold nothing at the beginning, and whatever is not computed from constants
  // differs.
  Flow(const Store& store, mlir::Block& program, bool startup)
      : store_(store), axes_(store.axes()), startup_(startup) {
    stops_.push_back(none());
    visit(program);
    if (!startup)
      for (const auto& [name, version] : versions_)
        nodes_[version].edges.push_back({first_.lookup(name), declaredAlong(name), true});
  }

  void run();

  const llvm::DenseMap<mlir::Value, unsigned>& values() const { return values_; }
  // The last set of every variable, in program order, and how it ends a step.
  std::vector<Differences::Ending> endings() const;
  AxisSet along(unsigned node) const {
    return AxisSet(nodes_[node].within) |= nodes_[node].carried;
  }

 private:
  AxisSet none() const { return AxisSet(axes_.count()); }
  AxisSet all() const { return AxisSet(axes_.count(), true); }
  unsigned declaredAlong(mlir::StringAttr variable);
  AxisSet axesOf(dist::CommOp comm) const;
  AxisSet axesOf(dist::SelAttr where) const;
  AxisSet axesOf(mlir::ArrayAttr names) const;

  unsigned add() {
    nodes_.emplace_back();
    nodes_.back().within = nodes_.back().carried = none();
    return nodes_.size() - 1;
  }
  unsigned nodeOf(mlir::Value value);
  unsigned versionOf(mlir::StringAttr variable);
  void join(unsigned from, unsigned to, unsigned stops = 0) {
    nodes_[from].edges.push_back({to, stops});
  }
  void join(mlir::ValueRange from, mlir::ValueRange to, unsigned stops = 0) {
    for (auto [one, other] : llvm::zip(from, to)) join(nodeOf(one), nodeOf(other), stops);
  }
  // It differs along these axes whatever it is made from, unless the analysis knows better.
  void differ(mlir::Value value, const AxisSet& axes) {
    Node& node = nodes_[nodeOf(value)];
    if (node.open) node.within |= axes;
  }

  void visit(mlir::Block& block) {
    for (mlir::Operation& op : block) visit(op);
  }
  void visit(mlir::Operation& op);
  void visitSet(pd::SetOp set);
  void visitCommunication(mlir::Operation* op, mlir::ValueRange results);
  void visitOn(dist::OnOp on);
  void visitComposite(dist::CompositeOp composite);
  void visitRegions(mlir::Operation& op);
  void visitLocal(mlir::Operation& op);

  const Store& store_;
  const Axes& axes_;
  const bool startup_;
  std::vector<Node> nodes_;
  std::vector<AxisSet> stops_;  // 0: none
  llvm::DenseMap<mlir::Value, unsigned> values_;
  llvm::DenseMap<mlir::StringAttr, unsigned> first_, versions_;  // of variables: as a step begins;
                                                                 // at the place that is visited
  std::vector<pd::SetOp> sets_;
};

// A variable that is declared to hold a part, or a term, begins every step as that, whatever the
// step before it left: the analysis has gone on from there.
unsigned Flow::declaredAlong(mlir::StringAttr variable) {
  const Variable* found = store_.variable(variable.getValue());
  if (!found || !found->declared.known) return 0;
  AxisSet set = none();
  for (auto [axis, state] : llvm::enumerate(found->declared.states))
    if (state.isSplit() || state.isPartial()) set.set(axis);
  if (set.none()) return 0;
  stops_.push_back(set);
  return stops_.size() - 1;
}

// Axes of one rank do not count here or below: nothing can differ along them.
AxisSet Flow::axesOf(dist::CommOp comm) const {
  AxisSet set = none();
  for (unsigned axis : axesOfComm(axes_, comm)) set.set(axis);
  return set;
}

AxisSet Flow::axesOf(dist::SelAttr where) const {
  AxisSet set = none();
  for (dist::AxisSetAttr one : where.getSets())
    if (int axis = axes_.indexOf(one.getAxis().getValue()); axis >= 0 && axes_.sizes[axis] > 1)
      set.set(axis);
  return set;
}

AxisSet Flow::axesOf(mlir::ArrayAttr names) const {
  AxisSet set = none();
  for (auto name : names.getAsRange<mlir::StringAttr>())
    if (int axis = axes_.indexOf(name.getValue()); axis >= 0 && axes_.sizes[axis] > 1)
      set.set(axis);
  return set;
}

// With what the analysis knows of the value: an axis that is not R there.
unsigned Flow::nodeOf(mlir::Value value) {
  auto [at, fresh] = values_.try_emplace(value, 0);
  if (!fresh) return at->second;
  const unsigned node = at->second = add();
  const Reading& reading = store_.of(value).reading();
  nodes_[node].open = !reading.known;
  for (unsigned axis = 0; reading.known && axis < axes_.count(); ++axis)
    if (!reading.states[axis].isReplicated() && axes_.sizes[axis] > 1)
      nodes_[node].within.set(axis);
  return node;
}

// The node of what a variable holds now. At first that is what it begins the step with; in start-up
// nothing is known of that.
unsigned Flow::versionOf(mlir::StringAttr variable) {
  auto [at, fresh] = versions_.try_emplace(variable, 0);
  if (fresh) {
    at->second = first_[variable] = add();
    if (startup_) nodes_[at->second].within = all();
  }
  return at->second;
}

// A set inside a region may not be run, or be run before a get that stands in front of it: it adds
// to what the variable holds. Others replace that.
void Flow::visitSet(pd::SetOp set) {
  const mlir::StringAttr name = set.getVarAttr().getAttr();
  unsigned version = versionOf(name);
  if (llvm::isa<pd::ProgramOp>(set->getParentOp())) versions_[name] = version = add();
  else if (startup_) nodes_[version].within = all();
  join(nodeOf(set.getValue()), version);
  for (auto on = set->getParentOfType<dist::OnOp>(); on; on = on->getParentOfType<dist::OnOp>())
    nodes_[version].within |= axesOf(on.getWhere());
  sets_.push_back(set);
}

// Result by operand. What all members hold in the end is equal along the axes of the communicator,
// and along no other; what they pull between two rounds is one value, and rows are those of the
// ids.
void Flow::visitCommunication(mlir::Operation* op, mlir::ValueRange results) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  const bool whole = comm && !comm.getSubset();
  unsigned stops = 0;
  if (whole && llvm::isa<dist::AllReduceOp, dist::AllGatherOp, dist::BroadcastOp>(op)) {
    stops = stops_.size();
    stops_.push_back(axesOf(comm));
  }
  join(op->getOperands(), results, stops);
  for (mlir::Value result : results)
    if (comm && stops == 0 && !llvm::isa<dist::PullOp, dist::LookupOp>(op))
      differ(result, axesOf(comm));
}

// Results differ along the axes of the guard, whatever the bodies give.
void Flow::visitOn(dist::OnOp on) {
  for (mlir::Region& region : on->getRegions()) {
    if (region.empty()) continue;
    join(on.getInputs(), region.front().getArguments());
    visit(region.front());
    join(region.front().getTerminator()->getOperands(), on->getResults());
  }
  for (mlir::Value result : on->getResults()) differ(result, axesOf(on.getWhere()));
}

// What compression keeps back its own contract lists; what it gives is known.
void Flow::visitComposite(dist::CompositeOp composite) {
  if (isCompression(composite)) {
    for (mlir::Value result : composite->getResults()) nodeOf(result);
    return;
  }
  mlir::Block& body = composite.getBody().front();
  join(composite.getInputs(), body.getArguments());
  visit(body);
  join(body.getTerminator()->getOperands(), composite->getResults());
}

// Control flow runs its blocks any number of times, with any operand in any argument, and what it
// takes decides what it gives.
void Flow::visitRegions(mlir::Operation& op) {
  const unsigned hub = add();
  for (mlir::Value operand : op.getOperands()) join(nodeOf(operand), hub);
  // The block of a branch takes what is captured, each in its argument.
  const std::vector<mlir::Value> captures =
      pd::OpView::isFrameworkOp(&op) && pd::OpView(&op).type() == "conditional_block"
          ? pd::OpView(&op).inputs("$capture")
          : std::vector<mlir::Value>();
  for (mlir::Region& region : op.getRegions())
    for (mlir::Block& block : region) {
      if (captures.size() == block.getNumArguments()) join(captures, block.getArguments());
      else
        for (mlir::BlockArgument argument : block.getArguments()) join(hub, nodeOf(argument));
      visit(block);
      if (block.empty()) continue;
      for (mlir::Value operand : block.back().getOperands()) join(nodeOf(operand), hub);
    }
  for (mlir::Value result : op.getResults()) {
    join(hub, nodeOf(result));
    if (startup_) differ(result, all());
  }
}

// Every result may depend on every operand. One node in between (the hub) makes that operands +
// results edges, not operands × results.
void Flow::visitLocal(mlir::Operation& op) {
  const bool framework = pd::OpView::isFrameworkOp(&op);
  const pd::OpSpec* spec = framework ? pd::OpView(&op).spec() : nullptr;
  for (mlir::Value result : op.getResults()) {
    const unsigned node = nodeOf(result);
    // A draw differs where what it draws for does: dist.streams will say so.
    if (spec && (spec->effects & pd::kRandom)) nodes_[node].open = true;
    if (startup_ && framework && (!spec || spec->effects != pd::kPure)) differ(result, all());
  }
  if (op.getNumOperands() == 0) return;
  const unsigned common = add(), hub = add();  // what all results are made from; the rest
  join(common, hub);
  llvm::SmallPtrSet<mlir::Value, 4> without;
  llvm::SmallDenseMap<mlir::Value, unsigned, 4> times;
  for (mlir::Value operand : op.getOperands()) ++times[operand];
  if (const Apart* apart = apartOf(&op)) {
    const pd::OpView view(&op);
    for (llvm::StringRef slot : apart->results)
      for (unsigned i = 0; i < view.outputCount(slot); ++i) without.insert(view.output(slot, i));
    for (llvm::StringRef slot : apart->operands)
      for (unsigned i = 0; i < view.inputCount(slot); ++i)
        if (mlir::Value value = view.input(slot, i); value && --times[value] == 0)
          join(nodeOf(value), hub);
  }
  for (mlir::Value operand : op.getOperands())
    if (times[operand]) join(nodeOf(operand), common);
  for (mlir::Value result : op.getResults())
    join(without.contains(result) ? common : hub, nodeOf(result));
}

// Adds the edges of one op to the graph of what depends on what. A get joins the value with the
// version of its variable, communication is an edge where its result is awaited (not where it was
// started), and ops that ask for the rank (`dist.slice`, `dist.coord`) are sources of a difference
// along their axes.
void Flow::visit(mlir::Operation& op) {
  if (auto get = llvm::dyn_cast<pd::GetOp>(op))
    return join(versionOf(get.getVarAttr().getAttr()), nodeOf(get.getValue()));
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return visitSet(set);
  if (auto on = llvm::dyn_cast<dist::OnOp>(op)) return visitOn(on);
  if (auto composite = llvm::dyn_cast<dist::CompositeOp>(op)) return visitComposite(composite);
  if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) {
    mlir::Operation* start = wait.getPending().getDefiningOp();
    return start ? visitCommunication(start, wait.getOutputs()) : visitLocal(op);
  }
  if (op.getNumResults() == 1 && llvm::isa<dist::PendingType>(op.getResult(0).getType()))
    return;  // where it is waited for
  if (dist::commOf(&op) && op.getNumRegions() == 0) return visitCommunication(&op, op.getResults());
  if (op.getNumRegions()) return visitRegions(op);
  visitLocal(op);
  if (auto slice = llvm::dyn_cast<dist::SliceOp>(op))
    differ(slice.getOutput(), axesOf(slice.getAxes()));
  if (auto coordinate = llvm::dyn_cast<dist::CoordOp>(op))
    differ(coordinate.getOutput(),
           axesOf(mlir::ArrayAttr::get(op.getContext(), coordinate.getAxisAttr())));
}

// A work list: a node whose sets have grown is looked at again. Sets only grow, each at most by the
// number of axes, so that it ends after O(edges · axes) steps.
void Flow::run() {
  std::vector<unsigned> work;
  for (unsigned node = 0; node < nodes_.size(); ++node)
    if (nodes_[node].within.any()) work.push_back(node);
  auto grow = [](AxisSet& set, AxisSet more, const AxisSet& stops) {
    more.reset(stops);
    const bool grown = more.test(set);
    set |= more;
    return grown;
  };
  while (!work.empty()) {
    const unsigned at = work.back();
    work.pop_back();
    for (const Node::Edge& edge : nodes_[at].edges) {
      Node& to = nodes_[edge.to];
      const AxisSet& stops = stops_[edge.stops];
      bool grown = grow(to.carried, nodes_[at].carried, stops);
      if (edge.nextStep) grown |= grow(to.carried, nodes_[at].within, stops);
      else if (to.open) grown |= grow(to.within, nodes_[at].within, stops);
      if (grown) work.push_back(edge.to);
    }
  }
}

// Sets of one variable that are not the last do not show at the end of a step.
std::vector<Differences::Ending> Flow::endings() const {
  llvm::DenseMap<mlir::StringAttr, pd::SetOp> last;
  for (pd::SetOp set : sets_) last[set.getVarAttr().getAttr()] = set;
  std::vector<Differences::Ending> endings;
  for (pd::SetOp set : sets_)
    if (mlir::StringAttr name = set.getVarAttr().getAttr(); last.lookup(name) == set)
      endings.push_back({set, along(versions_.lookup(name))});
  return endings;
}

}  // namespace

Differences::Differences(const Question& question)
    : Differences(analyse(question), question.program, false) {}

Differences Differences::ofStartup(dist::RoleOp role, pd::ProgramOp startup) {
  return Differences(Store(verify::axesOf(role)), startup, true);
}

// The relation analysis has said where values are equal within a step; what it does not say is how
// a difference comes from one step to the next, which is what the graph is for.
Differences::Differences(const Store& store, pd::ProgramOp program, bool startup)
    : axes_(store.axes()) {
  Flow flow(store, *program.getBodyBlock(), startup);
  flow.run();
  for (const auto& [value, node] : flow.values()) along_[value] = flow.along(node);
  endings_ = flow.endings();
}

AxisSet Differences::of(mlir::Value value) const {
  auto found = along_.find(value);
  return found == along_.end() ? AxisSet(axes_.count()) : found->second;
}

}  // namespace dtranspile::verify

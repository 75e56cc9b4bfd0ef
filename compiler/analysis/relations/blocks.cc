// Ops with blocks (while, conditional_block, recurrent and their gradients). A block that neither
// communicates nor draws is one deterministic local op over all that it reads: replicated from
// replicated operands, else the parts reading goes on.
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_diff.h"
#include "compiler/analysis/relations/branches.h"
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {

// Control flow whose blocks only compute: no communication, no random numbers.
bool isLocal(mlir::Operation* op) {
  return !op->walk([](mlir::Operation* inner) {
              if (llvm::isa_and_nonnull<dist::DistDialect>(inner->getDialect()))
                return mlir::WalkResult::interrupt();
              if (!pd::OpView::isFrameworkOp(inner)) return mlir::WalkResult::advance();
              const pd::OpSpec* spec = pd::OpView(inner).spec();
              bool pure = spec && !(spec->effects & (pd::kRandom | pd::kCommunicates));
              return pure ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
            }).wasInterrupted();
}

namespace {

bool isGradient(mlir::Value value) { return pd::nameOf(value).contains("@GRAD"); }

// Which of the names that a gradient block writes depend on gradients. Counters that it turns back,
// and copies of forward values, do not: they have the relation of what they are made from, not the
// scale of the gradients beside them.
class GradientFlow {
 public:
  // To a fixed point: each round walks the blocks once, and variables only ever enter the set.
  explicit GradientFlow(mlir::Operation* op) : op_(op) {
    do {
      grown_ = false;
      op->walk([&](mlir::Operation* inner) {
        if (inner != op_) follow(inner);
      });
    } while (grown_);
  }

  // Names that the blocks do not write depend on everything.
  bool reachesResult(llvm::StringRef name) const {
    bool found = false, reached = false;
    forWritten([&](llvm::StringRef written, mlir::Value value, mlir::Block&) {
      if (written != name) return;
      found = true;
      reached |= holds(value);
    });
    return reached || !found;
  }
  bool reachesVariable(llvm::StringRef name) const { return variables_.count(name.str()) != 0; }

 private:
  using Written = llvm::function_ref<void(llvm::StringRef, mlir::Value, mlir::Block&)>;

  // Attribute `blocks` lists, per region, the names of outer variables that the block writes; the
  // operands of its terminator are their last values, in the same order.
  void forWritten(Written visit) const {
    auto blocks = op_->getAttrOfType<mlir::ArrayAttr>("blocks");
    for (mlir::Region& region : op_->getRegions()) {
      if (!blocks || region.getRegionNumber() >= blocks.size() || region.empty()) continue;
      auto names = llvm::cast<mlir::DictionaryAttr>(blocks[region.getRegionNumber()])
                       .getAs<mlir::ArrayAttr>("written");
      if (!names) continue;
      mlir::Operation* yield = region.front().getTerminator();
      for (auto [name, value] :
           llvm::zip(names.getAsValueRange<mlir::StringAttr>(), yield->getOperands()))
        visit(name, value, region.front());
    }
  }
  bool holds(mlir::Value value) const { return isGradient(value) || values_.contains(value); }
  void add(mlir::Value value) { grown_ |= values_.insert(value).second; }

  // One step of a forward data-flow to a fixed point: what reads a reached value, in its own
  // regions too, is reached with all its results and block arguments. Variables carry the property
  // across ops (`grown_` asks for another round when one is new), and what a turn of the loop
  // yields carries it into the block arguments of the next turn.
  void follow(mlir::Operation* inner) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(inner); get && variables_.count(get.getVar().str()))
      add(get.getValue());
    bool reached =
        llvm::any_of(inner->getOperands(), [&](mlir::Value value) { return holds(value); });
    for (mlir::Region& region : inner->getRegions())
      region.walk([&](mlir::Operation* nested) {
        reached |=
            llvm::any_of(nested->getOperands(), [&](mlir::Value value) { return holds(value); });
      });
    if (!reached) return;
    if (auto set = llvm::dyn_cast<pd::SetOp>(inner))
      grown_ |= variables_.insert(set.getVar().str()).second;
    for (mlir::Value result : inner->getResults()) add(result);
    for (mlir::Region& region : inner->getRegions())
      for (mlir::BlockArgument argument : region.getArguments()) add(argument);
    if (inner->getParentOp() != op_ || !inner->hasTrait<mlir::OpTrait::IsTerminator>()) return;
    // What a turn hands on enters the next one.
    forWritten([&](llvm::StringRef name, mlir::Value value, mlir::Block& block) {
      for (mlir::BlockArgument argument : block.getArguments())
        if (holds(value) && pd::nameOf(argument) == name) add(argument);
    });
  }

  mlir::Operation* op_;
  llvm::DenseSet<mlir::Value> values_;
  std::set<std::string> variables_;
  bool grown_ = false;
};

// One op of all that is read: a function of the values, linear together in the gradients that a
// gradient block takes.
class Together {
 public:
  // One op of everything that is read, as a form whose terms are all whole: gradients enter
  // linearly in a gradient op, and everything else by its value.
  Together(const Scene& scene, llvm::ArrayRef<mlir::Value> reads, bool backward) : scene_(scene) {
    Form form;
    form.combine = Combine::Sum;
    for (mlir::Value value : reads)
      form.terms.push_back(
          {value, wholeLabels(value), backward && isGradient(value) ? Use::Linear : Use::Value});
    auto relationOf = [&](mlir::Value value) -> const Relation& { return scene.of(value); };
    evaluated_ = evaluateBoth(form, scene.axes(), relationOf);
    evaluated_.relation.gradient = backward && readsGradient(scene, reads);
    shares_ = Shares(form, scene.axes(), relationOf);
  }

  const Reason& reason() const { return evaluated_.reason; }
  bool isSite() const { return evaluated_.site; }
  // Of a result of the op; null: of a variable that its blocks set.
  Relation relation(mlir::Value result) const {
    Relation relation = evaluated_.relation;
    if (result) shares_.putTogether(relation.whole, result, scene_.axes());
    return relation;
  }

 private:
  const Scene& scene_;
  Evaluated evaluated_;
  Shares shares_;
};

// What blocks read of variables before they set them stands for what the reference's blocks read.
void checkReads(const Scene& scene, mlir::Operation* op, mlir::Operation* reference) {
  llvm::SmallVector<mlir::Operation*> mine, theirs;
  op->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* inner) { mine.push_back(inner); });
  reference->walk<mlir::WalkOrder::PreOrder>(
      [&](mlir::Operation* inner) { theirs.push_back(inner); });
  llvm::StringSet<> set;
  for (auto [own, other] : llvm::zip(mine, theirs)) {
    if (auto assign = llvm::dyn_cast<pd::SetOp>(own)) set.insert(assign.getVar());
    auto get = llvm::dyn_cast<pd::GetOp>(own);
    const Variable* variable = get ? scene.store.variable(get.getVar()) : nullptr;
    if (!variable || set.contains(get.getVar())) continue;
    int wanted = scene.reference().numberOf(llvm::cast<pd::GetOp>(other).getValue());
    const Relation now = scene.store.held(*variable).relation;
    if (now.standsFor(wanted)) continue;
    const bool known = now.reference >= 0;
    scene.report(own, known ? Message::Level::Refuted : Message::Level::Unknown, "lineage",
                 "reads " + (known ? scene.describe(now) : "an unknown value") +
                     " where the reference reads " + scene.reference().describe(wanted),
                 "set the variable to the value that stands for " +
                     scene.reference().describe(wanted) + " before");
  }
}

}  // namespace

// The blocks are those of the reference, op by op, around values that stand for the reference's. An
// op that a pass put into a block has no rule.
bool blocksAgree(const Scene& scene, mlir::Operation* op, mlir::Operation* reference) {
  CompareRules rules;
  rules.skipJobAttributes = true;
  auto sameOutside = [&](mlir::Value mine, mlir::Value theirs) {
    if (mine.getDefiningOp<pd::UndefOp>() && theirs.getDefiningOp<pd::UndefOp>()) return true;
    int wanted = scene.reference().numberOf(theirs);
    return wanted >= 0 && scene.of(mine).standsFor(wanted);
  };
  rules.sameOutside = sameOutside;
  std::optional<Difference> found = firstDifference(op, reference, rules);
  if (!found) return checkReads(scene, op, reference), true;
  const bool inserted =
      pd::OpView::isFrameworkOp(found->mine) && !found->mine->hasAttr(dist::kSrcAttr);
  scene.report(found->mine, inserted ? Message::Level::Unknown : Message::Level::Refuted, "body",
               typeOf(found->mine) + " in a block of " + pd::describe(reference) +
                   " is not what the reference has: " + found->text,
               "keep the blocks of control flow as the reference has them");
  return false;
}

// Control flow of the framework as one op. A block that is the same as the reference's, does not
// communicate and draws nothing computes a function of what it reads, so that its results have the
// relation that any opaque function of these operands has: replicated where all of them are, else
// the parts reading alone. A gradient op may do better, since what it makes of gradients is linear
// in them; that holds only for results named `@GRAD`, and a result that mixes gradients into
// something else is lost by name.
void visitControlFlow(const Scene& scene, mlir::Operation* op, mlir::Operation* reference) {
  if (!blocksAgree(scene, op, reference))
    return scene.giveUnknown(op, "has other blocks than the op of the reference", reference);
  if (!isLocal(op))
    return scene.giveUnknown(
        op, "communicates or draws random numbers inside, for which there is no rule", reference);
  std::vector<std::string> written;
  llvm::SmallVector<mlir::Value> reads(op->getOperands()), forward;
  op->walk([&](mlir::Operation* inner) {
    if (auto assign = llvm::dyn_cast<pd::SetOp>(inner)) written.push_back(assign.getVar().str());
    auto get = llvm::dyn_cast<pd::GetOp>(inner);
    const Variable* found = get ? scene.store.variable(get.getVar()) : nullptr;
    if (!found) return;
    scene.store.correct(get.getValue(), scene.store.held(*found).relation);
    reads.push_back(get.getValue());
  });
  llvm::copy_if(reads, std::back_inserter(forward),
                [](mlir::Value value) { return !isGradient(value); });
  const bool backward = pd::OpView(op).spec() && pd::OpView(op).spec()->gradient;
  const GradientFlow flow(op);
  const Together all(scene, reads, backward), values(scene, forward, false);
  const Reason mixed = {"computes more than gradients from gradients", -1, {}};
  // What `name` is made from; null where that has no rule.
  auto choose = [&](llvm::StringRef name, bool fromGradients) -> const Together* {
    const bool linear = !backward || name.contains("@GRAD");
    if (!linear && fromGradients) return nullptr;
    const Together& from = linear ? all : values;
    if (from.isSite()) scene.store.addSite({op, from.reason()});
    return &from;
  };
  for (mlir::OpResult result : op->getResults()) {
    llvm::StringRef name = pd::nameOf(result);
    const Together* from = choose(name, flow.reachesResult(name));
    Relation relation = from ? from->relation(result) : Relation();
    relation.reference = scene.reference().numberOf(reference->getResult(result.getResultNumber()));
    relation.draw = drawBehind(scene, reads, result);
    if (!relation.known()) scene.store.noteReason(result, from ? from->reason() : mixed);
    scene.store.set(result, std::move(relation));
  }
  for (const std::string& name : written) {
    Variable* found = scene.store.variable(name);
    if (!found) continue;
    const Together* from = choose(name, flow.reachesVariable(name));
    Relation now = from ? from->relation({}) : Relation();
    now.reference = scene.reference().numberAfter(
        op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr).getInt(), found->reference);
    scene.store.hold(*found, std::move(now), op);
  }
}

}  // namespace dtranspile::verify

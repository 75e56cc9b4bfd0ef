// Ops with blocks (while, conditional_block, recurrent and their gradients). A block that neither
// communicates nor draws is one deterministic local op over all that it reads: replicated from
// replicated operands, else the parts reading goes on.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

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

bool isGradient(mlir::Value value) { return pd::nameOf(value).contains("@GRAD"); }

// Which of the names that a gradient block writes depend on gradients. Counters that it turns back,
// and copies of forward values, do not: they have the relation of what they are made from, not the
// scale of the gradients beside them.
class GradientFlow {
 public:
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

// A relation, or why there is none.
struct Given {
  Relation relation;
  Loss loss;
};

// One op of all that is read: a function of the values, linear together in the gradients that a
// gradient block takes.
Given readTogether(const Scene& scene, mlir::Operation* op, llvm::ArrayRef<mlir::Value> reads,
                   bool backward) {
  Form form;
  form.combine = Combine::Sum;
  for (mlir::Value value : reads)
    form.terms.push_back(
        {value, wholeLabels(value), backward && isGradient(value) ? Use::Linear : Use::Value});
  auto isZero = [&](mlir::Value value) { return scene.of(value).isZero; };
  Outcome whole = evaluate(
      form, scene.axes(),
      [&](mlir::Value value) -> const Reading& { return scene.of(value).whole; }, isZero);
  Outcome parts = evaluate(
      form, scene.axes(),
      [&](mlir::Value value) -> const Reading& { return scene.of(value).parts; }, isZero);
  bool operandsWhole =
      llvm::all_of(reads, [&](mlir::Value value) { return scene.of(value).whole.known; });
  if (!whole.reading.known && parts.reading.known && operandsWhole &&
      (scene.store.sites().empty() || scene.store.sites().back().op != op))
    scene.store.addSite({op, whole.loss});
  Given given;
  given.loss = lossOf(scene, whole.loss, parts.loss);
  given.relation.whole = std::move(whole.reading);
  given.relation.parts = std::move(parts.reading);
  for (mlir::Value value : reads) given.relation.addTags(scene.of(value).tags);
  return given;
}

}  // namespace

void visitControlFlow(const Scene& scene, mlir::Operation* op, mlir::Operation* reference) {
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
    scene.store.correct(get.getValue(), found->now);
    reads.push_back(get.getValue());
  });
  llvm::copy_if(reads, std::back_inserter(forward),
                [](mlir::Value value) { return !isGradient(value); });
  const bool backward = pd::OpView(op).spec() && pd::OpView(op).spec()->gradient;
  const Given gradients = readTogether(scene, op, reads, backward),
              values = backward ? readTogether(scene, op, forward, false) : Given();
  const Given mixed = {{}, {"computes more than gradients from gradients", -1, {}}};
  const GradientFlow flow(op);
  auto choose = [&](llvm::StringRef name, bool fromGradients) -> const Given& {
    return !backward || name.contains("@GRAD") ? gradients : fromGradients ? mixed : values;
  };
  for (mlir::OpResult result : op->getResults()) {
    const Given& given = choose(pd::nameOf(result), flow.reachesResult(pd::nameOf(result)));
    Relation relation = given.relation;
    relation.reference = scene.reference().numberOf(reference->getResult(result.getResultNumber()));
    if (!relation.known()) scene.store.noteLoss(result, given.loss);
    scene.store.set(result, std::move(relation));
  }
  for (const std::string& name : written) {
    Variable* found = scene.store.variable(name);
    if (!found) continue;
    found->now = choose(name, flow.reachesVariable(name)).relation;
    found->now.reference = scene.reference().numberAfter(
        op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr).getInt(), found->reference);
    found->setter = op;
  }
}

}  // namespace dtranspile::verify

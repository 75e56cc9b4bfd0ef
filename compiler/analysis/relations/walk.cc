// The walk over one program of a role. Dispatches every op to its transfer function (transfer.h).
#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile::verify {
namespace {

int64_t sourceNumber(mlir::Operation* op) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  return number ? number.getInt() : -1;
}

class Walk {
 public:
  Walk(Scene scene, UpdateWatch* watch) : scene_(scene), watch_(watch) {}

  void visit(mlir::Block& block) {
    for (mlir::Operation& op : block) {
      visit(op);
      checkClaims(&op);
    }
  }

 private:
  // The same walk over the body of a composite.
  Walk inComposite() const {
    Walk walk = *this;
    walk.inComposite_ = true;
    return walk;
  }

  void visit(mlir::Operation& op);
  void visitInput(pd::InputOp input);
  void visitGet(pd::GetOp get);
  void visitFramework(mlir::Operation* op);
  void visitDist(mlir::Operation* op);
  void visitOn(dist::OnOp on);
  void visitComposite(dist::CompositeOp composite);
  void visitAssume(dist::AssumeOp assume);
  void checkClaims(mlir::Operation* op);

  Scene scene_;
  UpdateWatch* watch_;
  bool inComposite_ = false;
};

void Walk::visit(mlir::Operation& op) {
  if (auto input = llvm::dyn_cast<pd::InputOp>(op)) return visitInput(input);
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return visitGet(get);
  if (auto assign = llvm::dyn_cast<pd::SetOp>(op)) {
    Variable* variable = scene_.store.variable(assign.getVar());
    if (!variable) return;
    variable->now = scene_.of(assign.getValue());
    variable->setter = &op;
    return;
  }
  if (auto undef = llvm::dyn_cast<pd::UndefOp>(op)) {
    Relation relation;
    relation.whole = relation.parts = Reading::replicated(scene_.axes());
    relation.isZero = true;  // nothing is in it yet: it fits whatever it is joined with
    return scene_.store.set(undef.getValue(), relation);
  }
  if (llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect())) return visitDist(&op);
  if (pd::OpView::isFrameworkOp(&op)) return visitFramework(&op);
}

void Walk::visitGet(pd::GetOp get) {
  const Variable* variable = scene_.store.variable(get.getVar());
  if (!variable) return;
  if (!variable->now.known())
    scene_.store.noteLoss(get.getValue(),
                          {"`" + get.getVar().str() + "` holds nothing yet", -1, {}});
  scene_.store.set(get.getValue(), variable->now);
}

// A cut feed is split as a whole, and in the parts reading each rank's share is its share.
void Walk::visitInput(pd::InputOp input) {
  const Axes& axes = scene_.axes();
  Relation relation;
  relation.reference = scene_.reference().inputNumber(input.getName());
  relation.whole = relation.parts = Reading::replicated(axes);
  if (auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr))
    for (mlir::StringAttr name : batch.getAxes()) {
      int axis = axes.indexOf(name.getValue());
      if (axis < 0 || axes.sizes[axis] == 1) continue;
      relation.whole.states[axis] = State::split(batch.getDim());
      relation.parts.states[axis] = State::parts();
    }
  scene_.store.set(input.getValue(), std::move(relation));
}

void Walk::visitFramework(mlir::Operation* op) {
  if (inComposite_) return visitLocal(scene_, op);
  int64_t number = sourceNumber(op);
  mlir::Operation* reference = scene_.reference().op(number);
  if (number >= 0 && !reference)
    return scene_.giveUnknown(
        op, "stands for op " + std::to_string(number) + ", which the reference does not have");
  if (!reference) return visitInserted(scene_, op);
  if (op->getName() != reference->getName() ||
      op->getNumOperands() != reference->getNumOperands() ||
      op->getNumResults() != reference->getNumResults())
    return scene_.giveUnknown(
        op, "does not have the form of the op of the reference that it stands for", reference);
  if (!operandsStandFor(scene_, op, reference)) return;
  checkForward(scene_, op, reference);
  if (watch_ && isUpdate(scene_.question, op, reference)) watch_->beforeUpdate(op, scene_.store);
  if (op->getNumRegions()) return visitControlFlow(scene_, op, reference);
  const ParsedRule* rule = findRule(pd::OpView(op).type());
  if (!rule) return scene_.giveUnknown(op, "has no relation rule", reference);
  visitReferenceOp(scene_, op, reference, *rule);
}

// Either body begins with the variables as they are before the op.
void Walk::visitOn(dist::OnOp on) {
  const Variables before = scene_.store.variables();
  Variables held;
  for (mlir::Region* region : {&on.getBody(), &on.getOtherwise()}) {
    if (region == &on.getOtherwise()) held = std::exchange(scene_.store.variables(), before);
    if (region->empty()) continue;
    for (auto [argument, input] : llvm::zip(region->front().getArguments(), on.getInputs()))
      scene_.store.set(argument, scene_.of(input));
    visit(region->front());
  }
  joinBodies(scene_, on, before, std::move(held));
}

void Walk::visitComposite(dist::CompositeOp composite) {
  mlir::Operation* reference = enterComposite(scene_, composite);
  if (!reference) return;
  inComposite().visit(composite.getBody().front());
  leaveComposite(scene_, composite, reference);
}

void Walk::visitAssume(dist::AssumeOp assume) {
  Relation relation = scene_.of(assume.getInput());
  relation.whole = relation.parts = readingOf(assume.getRelation(), scene_.axes());
  relation.addTags(assume.getRelation().getTags());
  scene_.store.set(assume.getOutput(), std::move(relation));
  scene_.report(assume, Message::Level::Unknown, "assume",
                "assumes a relation that no rule derives: " + assume.getBecause().str(),
                "let the pass declare a contract for it, or remove the assumption");
}

void Walk::visitDist(mlir::Operation* op) {
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](dist::WaitOp wait) { visitWait(scene_, wait); })
      .Case([&](dist::OnOp on) { visitOn(on); })
      .Case([&](dist::SliceOp slice) { visitSlice(scene_, slice); })
      .Case([&](dist::CompositeOp composite) { visitComposite(composite); })
      .Case([&](dist::CopyOp copy) {
        if (llvm::isa<dist::PendingType>(copy.getOutput().getType()))
          scene_.store.start(copy.getOutput(), {{scene_.of(copy.getInput()), {}}});
        else scene_.store.set(copy.getOutput(), scene_.of(copy.getInput()));
      })
      .Case([&](dist::AssumeOp assume) { visitAssume(assume); })
      .Case<dist::BarrierOp, dist::YieldOp>([](mlir::Operation*) {})
      .Default([&](mlir::Operation* other) {
        if (dist::commOf(other) &&
            !llvm::isa<dist::PushOp, dist::PullOp, dist::LookupOp, dist::PhaseOp>(other))
          visitCollective(scene_, other);
        else scene_.giveUnknown(other, "has no relation rule");
      });
}

// What a pass wrote down is a claim: a missing one is no error, a wrong one is.
void Walk::checkClaims(mlir::Operation* op) {
  mlir::Attribute attribute = op->getAttr(dist::kRelAttr);
  if (!attribute || llvm::isa<pd::VarOp>(op)) return;
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
  for (mlir::OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    mlir::Attribute one = list ? (i < list.size() ? list[i] : mlir::Attribute()) : attribute;
    auto claim = llvm::dyn_cast_or_null<dist::RelAttr>(one);
    if (!claim) continue;
    Reading claimed = readingOf(claim, scene_.axes());
    const Relation& found = scene_.of(result);
    if (!claimed.known || !found.known() || claimed == found.whole || claimed == found.parts)
      continue;
    scene_.report(op, Message::Level::Refuted, "claim",
                  "claims that " + nameText(result) + " is " + textOf(claimed, scene_.axes()) +
                      "; it is " + textOf(found.reading(), scene_.axes()),
                  "correct the op's dist.rel, or the pass that wrote it");
  }
}

void declareVariables(const Question& question, Store& store) {
  for (auto var : dist::RoleOp(question.role).getBody().front().getOps<pd::VarOp>()) {
    Variable variable;
    variable.op = var;
    variable.reference = var.getSymName().str();
    variable.declared = Reading::replicated(store.axes());
    if (auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr)) {
      variable.reference = relation.getVariable().getValue().str();
      variable.declared = readingOf(relation, store.axes());
      variable.tags.assign(relation.getTags().begin(), relation.getTags().end());
    }
    if (!question.startup) {
      variable.now.reference = question.reference.initialNumber(variable.reference);
      variable.now.whole = variable.now.parts = variable.declared;
      variable.now.addTags(variable.tags);
    }
    store.variables().emplace(var.getSymName().str(), std::move(variable));
  }
}

}  // namespace

void analyse(const Question& question, Store& store, Rung& findings, UpdateWatch* watch) {
  declareVariables(question, store);
  Walk({question, store, findings}, watch).visit(*pd::ProgramOp(question.program).getBodyBlock());
}

Store analyse(const Question& question) {
  Store store(axesOf(question.role));
  Rung ignored;
  analyse(question, store, ignored);
  return store;
}

}  // namespace dtranspile::verify

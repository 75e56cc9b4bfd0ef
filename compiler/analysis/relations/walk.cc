// The walk over one program of a role. Dispatches every op to its transfer function (transfer.h).
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/analysis/relations/branches.h"
#include "compiler/analysis/relations/composite_body.h"
#include "compiler/analysis/relations/compression.h"
#include "compiler/analysis/relations/part_forms.h"
#include "compiler/analysis/relations/rpc.h"
#include "compiler/analysis/relations/term_sum.h"
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

// "dp: P(sum)"
std::string textOfAxis(dist::AxisRelAttr state) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  state.printInline(stream);
  return text;
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
  void visitSet(pd::SetOp set);
  bool isBranchOfUpdate(mlir::Operation* op) const;
  void visitBranch(mlir::Operation* op, mlir::Operation* reference);
  void visitAverage(mlir::Operation* op);
  void visitRpc(mlir::Operation* op);
  void visitRemote(dist::RemoteOp remote);
  bool standsInPlace(mlir::Operation* op, mlir::Operation* reference);
  void visitComposite(dist::CompositeOp composite);
  void visitAssume(dist::AssumeOp assume);
  void checkClaims(mlir::Operation* op);
  void checkClaim(mlir::Operation* op, mlir::Value result, dist::RelAttr claim);

  Scene scene_;
  UpdateWatch* watch_;
  bool inComposite_ = false;
};

// In the order of the program: every operand has its relation before the op that reads it is looked
// at. O(ops), each transfer function being linear in its operands.
void Walk::visit(mlir::Operation& op) {
  if (op.getName().stripDialect() == "orphan_block") return;  // no op refers to it: it is never run
  if (auto input = llvm::dyn_cast<pd::InputOp>(op)) return visitInput(input);
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) return visitGet(get);
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return visitSet(set);
  if (auto undef = llvm::dyn_cast<pd::UndefOp>(op)) {
    Relation relation;
    relation.whole = relation.parts = Reading::replicated(scene_.axes());
    relation.isZero = true;  // nothing is in it yet: it fits whatever it is joined with
    return scene_.store.set(undef.getValue(), relation);
  }
  if (llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect())) return visitDist(&op);
  if (pd::OpView::isFrameworkOp(&op)) return visitFramework(&op);
}

// A variable holds what was set last, or what it began the step with. Where that is not known the
// value carries the reason, which messages about its readers then give.
void Walk::visitGet(pd::GetOp get) {
  const Variable* variable = scene_.store.variable(get.getVar());
  if (!variable) return;
  Awaited held = readBlock(scene_, *variable);
  if (!held.relation.known()) {
    auto set = llvm::dyn_cast_or_null<pd::SetOp>(variable->held.back().setter);
    const std::string name = "`" + get.getVar().str() + "`";
    if (held.reason.why.empty())
      held.reason = set ? Reason{"reads what " + name + " was set to", -1, set.getValue()}
                        : Reason{name + " holds nothing yet", -1, {}};
    scene_.store.noteReason(get.getValue(), held.reason);
  }
  beginWithOwn(scene_, *variable, held.relation);
  scene_.store.set(get.getValue(), std::move(held.relation));
}

// A set inside of the loop over micro-batches would happen once per micro-batch, and the reference
// has one: unknown until it is moved after the loop.
void Walk::visitSet(pd::SetOp set) {
  Variable* variable = scene_.store.variable(set.getVar());
  if (!variable) return;
  if (!set->getParentOfType<dist::MicroOp>()) return setBlock(scene_, *variable, set);
  scene_.report(
      set, Message::Level::Unknown, "model",
      "sets `" + set.getVar().str() + "` once per micro-batch; the reference sets it once",
      "set it after the loop over micro-batches");
  scene_.store.hold(*variable, {}, set);
}

// A cut feed is split as a whole, and in the parts reading each rank's share is its share.
void Walk::visitInput(pd::InputOp input) {
  const Axes& axes = scene_.axes();
  Relation relation;
  relation.reference = scene_.reference().inputNumber(input.getName());
  relation.whole = relation.parts = Reading::replicated(axes);
  relation.uneven = llvm::isa<pd::LodType>(dist::unlocated(input.getValue().getType()));
  if (auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr))
    for (mlir::StringAttr name : batch.getAxes()) {
      int axis = axes.indexOf(name.getValue());
      if (axis < 0) continue;
      // The coordinates of a time axis are met inside its loop, those of others by all ranks.
      const bool outside = dist::meshOf(input).sizeOf(name.getValue()) != axes.sizes[axis];
      if (outside)
        return scene_.store.lose(
            input.getValue(),
            {"is cut along axis " + name.str() + ", of which not all parts are here", -1, {}});
      if (axes.sizes[axis] == 1) continue;
      relation.whole.states[axis] = State::split(batch.getDim());
      relation.parts.states[axis] = State::parts();
    }
  scene_.store.set(input.getValue(), std::move(relation));
}

// An op inside the block of one of the reference's stands there in the job, or else it would run
// when the reference's does not.
bool Walk::standsInPlace(mlir::Operation* op, mlir::Operation* reference) {
  auto around = [](mlir::Operation* inner) {
    mlir::Operation* parent = inner->getParentOp();
    while (parent && !llvm::isa<pd::ProgramOp>(parent) && !pd::OpView::isFrameworkOp(parent))
      parent = parent->getParentOp();
    return parent;
  };
  mlir::Operation *mine = around(op), *theirs = around(reference);
  if (!pd::OpView::isFrameworkOp(theirs)) theirs = nullptr;
  mlir::Operation* wanted =
      pd::OpView::isFrameworkOp(mine) ? scene_.reference().op(sourceNumber(mine)) : nullptr;
  return wanted == theirs;
}

// A part of the update that all ranks run, or none: what it sets is known one by one.
bool Walk::isBranchOfUpdate(mlir::Operation* op) const {
  const pd::OpView view(op);
  if (view.type() != "conditional_block" || !(view.role() & pd::kOptimize)) return false;
  mlir::Value predicate = view.input("Cond");
  return predicate && scene_.of(predicate).whole.isReplicated() &&
         scene_.of(predicate).whole.scale.isOne();
}

// The heart of rung 2: an op either stands for an op of the reference, by its lineage number, and
// must be like it and stand where it stands, or was inserted, and is judged by what it does to the
// relations of its operands.
void Walk::visitFramework(mlir::Operation* op) {
  if (inComposite_) return visitLocal(scene_, op);
  int64_t number = sourceNumber(op);
  mlir::Operation* reference = scene_.reference().op(number);
  if (number >= 0 && !reference)
    return scene_.giveUnknown(
        op, "stands for op " + std::to_string(number) + ", which the reference does not have");
  if (!reference) return isAverage(scene_, op) ? visitAverage(op) : visitInserted(scene_, op);
  if (op->getName() != reference->getName() ||
      op->getNumOperands() != reference->getNumOperands() ||
      op->getNumResults() != reference->getNumResults())
    return scene_.giveUnknown(
        op, "does not have the form of the op of the reference that it stands for", reference);
  if (!standsInPlace(op, reference)) {
    scene_.report(op, Message::Level::Unknown, "body",
                  "does not stand in the block that the op of the reference stands in: it is run "
                  "when that one is not, or the other way round",
                  "keep it in the block of the control flow that it belongs to");
    return scene_.giveUnknown(op, "stands in another block than in the reference", reference);
  }
  if (!operandsStandFor(scene_, op, reference)) return;
  if (op->getNumRegions() && (hasJobOps(op) || isBranchOfUpdate(op)))
    return visitBranch(op, reference);
  checkForward(scene_, op, reference);
  if (watch_ && isUpdate(scene_.question, op, reference)) watch_->beforeUpdate(op, scene_.store);
  if (op->getNumRegions() && isUniformBranch(scene_, op)) {
    if (blocksAgree(scene_, op, reference)) return visitBranch(op, reference);
    return scene_.giveUnknown(op, "has other blocks than the op of the reference", reference);
  }
  if (op->getNumRegions()) return visitControlFlow(scene_, op, reference);
  const ParsedRule* rule = findRule(pd::OpView(op).type());
  if (!rule) return scene_.giveUnknown(op, noRuleText(pd::OpView(op).type()), reference);
  visitReferenceOp(scene_, op, reference, *rule);
}

// A body with ops of the job in it is walked like the program around it.
void Walk::visitBranch(mlir::Operation* op, mlir::Operation* reference) {
  Branch branch(scene_, op, reference);
  if (!branch.enter()) return;
  visit(op->getRegion(0).front());
  branch.leave();
}

// The averaging step of local SGD: what variables held before it is remembered, and joined with
// what they are set to.
void Walk::visitAverage(mlir::Operation* op) {
  std::map<std::string, Relation> before;
  op->walk([&](pd::SetOp set) {
    if (const Variable* variable = scene_.store.variable(set.getVar()))
      before[set.getVar().str()] = scene_.store.held(*variable).relation;
  });
  visit(op->getRegion(0).front());
  leaveAverage(scene_, op, before);
}

// The bodies run on different ranks: neither sees what the other does.
void Walk::visitOn(dist::OnOp on) {
  const Place outside = scene_.store.scope().place;
  std::vector<Awaited> given[2];
  for (mlir::Region* region : {&on.getBody(), &on.getOtherwise()}) {
    if (region->empty()) continue;
    Scope scope = scene_.store.scope();
    scope.place = Place::of(*region);
    scope.axes = axesAt(scope.axes, scope.place);
    std::vector<Awaited> arguments;
    for (mlir::Value input : region->getNumArguments() ? on.getInputs() : mlir::ValueRange()) {
      const dist::SelAttr at = llvm::cast<dist::AtType>(input.getType()).getWhere();
      Reason reason;
      Relation relation =
          scene_.store.restricted(scene_.of(input), outside.within(at), scope.place, reason);
      if (reason.why.empty()) reason = {"takes a value of unknown relation", -1, input};
      arguments.push_back({std::move(relation), std::move(reason)});
    }
    scene_.store.enter(std::move(scope));
    for (auto [argument, value] : llvm::zip(region->getArguments(), arguments))
      giveAwaited(scene_, argument, std::move(value));
    visit(region->front());
    given[region == &on.getOtherwise()] = yieldedBy(scene_, *region);
    scene_.store.leave();
  }
  joinBodies(scene_, on, std::move(given[0]), std::move(given[1]));
}

// Several ops that together stand for one of the reference: their bodies are followed without
// reference, and their results compared with the rule of that op.
void Walk::visitComposite(dist::CompositeOp composite) {
  mlir::Operation* reference = enterComposite(scene_, composite);
  if (!reference) return;
  if (isLookup(composite)) {
    checkForward(scene_, composite, reference);
    return visitLookup(scene_, composite, reference);
  }
  if (partForm(composite.getOp())) {
    checkForward(scene_, composite, reference);
    return visitParts(scene_, composite, reference);
  }
  if (composite.getOp() == kTermSum) return visitTermSum(scene_, composite, reference);
  if (isCompression(composite)) return visitCompression(scene_, composite, reference);
  inComposite().visit(composite.getBody().front());
  leaveComposite(scene_, composite, reference);
}

// Believed, so that the rest of the program can be judged, and reported, so that nobody takes the
// verdict for a proof.
void Walk::visitAssume(dist::AssumeOp assume) {
  Relation relation = scene_.of(assume.getInput());
  relation.whole = relation.parts = readingOf(assume.getRelation(), scene_.axes());
  relation.addTags(assume.getRelation().getTags());
  scene_.store.set(assume.getOutput(), std::move(relation));
  scene_.report(assume, Message::Level::Unknown, "assume",
                "assumes a relation that no rule derives: " + assume.getBecause().str(),
                "let the pass declare a contract for it, or remove the assumption");
}

// Of a role by itself: trainers are taken to begin every step with what servers declare to hold, as
// they are for variables of their own.
void Walk::visitRemote(dist::RemoteOp remote) {
  if (scene_.rpc) return scene_.rpc->remote(scene_, remote);
  auto var = llvm::dyn_cast_or_null<pd::VarOp>(
      mlir::SymbolTable::lookupSymbolIn(dist::jobOf(remote), remote.getVar()));
  auto held = var ? var->getAttrOfType<dist::RelAttr>(dist::kRelAttr) : dist::RelAttr();
  Relation relation;
  if (held) relation.reference = scene_.reference().initialNumber(held.getVariable().getValue());
  relation.whole = relation.parts = Reading::replicated(scene_.axes());
  scene_.store.set(remote.getOutput(), std::move(relation));
}

void Walk::visitRpc(mlir::Operation* op) {
  if (!scene_.rpc) return scene_.giveUnknown(op, "asks a server, whose role is not looked at");
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](dist::PushOp push) { scene_.rpc->push(scene_, push); })
      .Case([&](dist::PullOp pull) { scene_.rpc->pull(scene_, pull); })
      .Case([&](dist::PhaseOp phase) { scene_.rpc->phase(scene_, phase); })
      .Case([&](dist::MergedOp merged) { scene_.rpc->merged(scene_, merged); });
}

// Ops of the job: those with regions are entered and left around a walk over their body, those that
// communicate go to their transfer function, and what is not listed has no relation rule and loses
// its results by name.
void Walk::visitDist(mlir::Operation* op) {
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](dist::WaitOp wait) { visitWait(scene_, wait); })
      .Case([&](dist::OnOp on) { visitOn(on); })
      .Case([&](dist::MicroOp micro) {
        if (!enterMicro(scene_, micro)) return;
        visit(micro.getBody().front());
        leaveMicro(scene_, micro);
      })
      .Case([&](dist::ForeachBlockOp loop) {
        if (!enterBlocks(scene_, loop)) return;
        visit(loop.getBody().front());
        leaveBlocks(scene_, loop);
      })
      .Case<dist::PushOp, dist::PullOp, dist::PhaseOp, dist::MergedOp>(
          [&](mlir::Operation* request) { visitRpc(request); })
      .Case([&](dist::RemoteOp remote) { visitRemote(remote); })
      .Case([&](dist::LookupOp lookup) {
        scene_.giveUnknown(lookup,
                           "looks rows up outside of a composite: it is not known which op "
                           "of the reference it stands for");
      })
      .Case([&](dist::SliceOp slice) { visitSlice(scene_, slice); })
      .Case([&](dist::CompositeOp composite) { visitComposite(composite); })
      .Case([&](dist::CopyOp copy) {
        if (llvm::isa<dist::PendingType>(copy.getOutput().getType()))
          scene_.store.start(copy.getOutput(), {{scene_.of(copy.getInput()), {}}});
        else scene_.store.set(copy.getOutput(), scene_.of(copy.getInput()));
      })
      .Case([&](dist::AssumeOp assume) { visitAssume(assume); })
      .Case<dist::BarrierOp, dist::YieldOp, dist::ServeOp>([](mlir::Operation*) {})
      .Default([&](mlir::Operation* other) {
        if (dist::commOf(other)) visitCollective(scene_, other);
        else scene_.giveUnknown(other, "has no relation rule");
      });
}

// What a pass wrote down is a claim: a missing one is no error, a wrong one is.
void Walk::checkClaims(mlir::Operation* op) {
  mlir::Attribute attribute = op->getAttr(dist::kRelAttr);
  if (!attribute || llvm::isa<pd::VarOp>(op)) return;
  scene_.store.noteClaims(op);
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
  for (mlir::OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    mlir::Attribute one = list ? (i < list.size() ? list[i] : mlir::Attribute()) : attribute;
    if (auto claim = llvm::dyn_cast_or_null<dist::RelAttr>(one)) checkClaim(op, result, claim);
  }
}

// A pass may write on an op which relation its result has (`dist.rel`). Nothing is derived from
// such a claim: it is compared with what the walk has found, state by state, tag by tag and down to
// the value of the reference, so that a pass that believes something wrong is refuted at the op
// that it wrote and not where the error shows. A claim about a value of which nothing is known
// stays unknown.
void Walk::checkClaim(mlir::Operation* op, mlir::Value result, dist::RelAttr claim) {
  const Relation& found = scene_.of(result);
  const auto say = [&](Message::Level level, const std::string& claimed, const std::string& is) {
    scene_.report(op, level, "claim",
                  "claims that " + nameText(result) + " is " + claimed + "; " + is,
                  "correct the op's dist.rel, or the pass that wrote it");
  };
  const Reading claimed = readingOf(claim, scene_.axes());
  if (!claimed.known) return;  // `?` says nothing
  if (!found.known())
    return say(Message::Level::Unknown, textOf(claimed, scene_.axes()), "that is not known");
  if (!(claimed == found.whole) && !(claimed == found.parts))
    return say(Message::Level::Refuted, textOf(claimed, scene_.axes()),
               "it is " + textOf(found.reading(), scene_.axes()));
  // Of one coordinate there is nothing to put together, to combine or to tell apart.
  for (dist::AxisRelAttr state : claim.getAxes()) {
    const int axis = scene_.axes().indexOf(state.getAxis().getValue());
    const Place& here = scene_.store.scope().place;
    if (axis >= 0 && scene_.axes().sizes[axis] == 1 &&
        state.getState() != dist::StateKind::Replicated)
      return say(Message::Level::Refuted, textOfAxis(state),
                 "there is one coordinate of the axis here, and so it is R");
    if (state.getHolders() &&
        (!here.where || here.where.lookup(state.getAxis().getValue()) != state.getHolders()))
      return say(Message::Level::Refuted, textOfAxis(state), "it is held on other ranks");
  }
  for (mlir::StringAttr tag : claim.getTags())
    if (!found.hasTag(tag.getValue()))
      return say(Message::Level::Refuted, "of contract " + tag.getValue().str(),
                 "it does not depend on that");
  const std::string variable = claim.getVariable().getValue().str();
  const int64_t number = claim.getNumber();
  if (scene_.reference().isDefinition(found.reference, variable, number)) return;
  say(found.reference >= 0 ? Message::Level::Refuted : Message::Level::Unknown,
      "`" + variable + "`" + (number ? " number " + std::to_string(number) : ""),
      "it stands for " +
          (found.reference >= 0 ? scene_.reference().describe(found.reference) : "no value known"));
}

// What variables hold when the program begins: in a step what their declaration says, at start-up
// nothing.
void declareVariables(const Question& question, Store& store) {
  for (auto var : dist::RoleOp(question.role).getBody().front().getOps<pd::VarOp>()) {
    Variable variable;
    variable.op = var;
    variable.reference = var.getSymName().str();
    if (auto at = var->getAttrOfType<dist::SelAttr>(dist::kAtAttr); at && !at.getSets().empty())
      variable.at.where = at;
    const Axes axes = axesAt(store.meshAxes(), variable.at);
    variable.declared = Reading::replicated(axes);
    if (auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr)) {
      variable.reference = relation.getVariable().getValue().str();
      variable.declared = readingOf(relation, axes);
      variable.tags.assign(relation.getTags().begin(), relation.getTags().end());
    }
    Relation before;
    if (!question.startup) {
      before.reference = question.reference.initialNumber(variable.reference);
      before.whole = before.parts = variable.declared;
      before.addTags(variable.tags);
    }
    variable.held.push_back({{}, std::move(before), nullptr});
    store.variables().emplace(var.getSymName().str(), std::move(variable));
  }
}

}  // namespace

void walkBlock(const Scene& scene, UpdateWatch* watch, mlir::Block& block) {
  Walk(scene, watch).visit(block);
}

// Start-up: servers first, since trainers begin with what these have. A step: the round of a server
// is walked when the trainers have pushed.
void analyse(llvm::MutableArrayRef<RoleWalk> roles, Rung& findings) {
  Rpc rpc(roles);
  for (bool servers : {true, false})
    for (RoleWalk& role : roles) {
      const bool serves = static_cast<bool>(serveOf(findProgram(role.question.role, "main")));
      if (serves != servers) continue;
      declareVariables(role.question, *role.store);
      walkBlock({role.question, *role.store, findings, &rpc}, role.watch,
                *pd::ProgramOp(role.question.program).getBodyBlock());
    }
  rpc.finish(findings);
  for (RoleWalk& role : roles) role.store->settle();
}

// The relations of one program by themselves, for passes that ask; findings are not theirs to
// report.
Store analyse(const Question& question) {
  Store store(axesOf(question.role));
  Rung ignored;
  declareVariables(question, store);
  walkBlock({question, store, ignored, nullptr}, nullptr,
            *pd::ProgramOp(question.program).getBodyBlock());
  store.settle();
  return store;
}

}  // namespace dtranspile::verify

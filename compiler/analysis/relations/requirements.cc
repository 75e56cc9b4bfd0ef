// Rung 2, demands: gradients enter the update once reduced and with scale 1, variables end as
// declared. Messages name the cause where it can be found: the reduction that is one too many, the
// scale that was put in twice, the op where a relation was lost.
#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/analysis.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

constexpr llvm::StringLiteral kLocalSgd = "local_sgd";

// Names that a message lists before it counts.
constexpr size_t kListed = 3;
// Terms of a sum that a message describes.
constexpr size_t kListedTerms = 8;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListed; ++i) text += (i ? ", " : "") + names[i];
  return names.size() > kListed ? text + " and " + std::to_string(names.size() - kListed) + " more"
                                : text;
}

// The op that an op's operand comes from, through waits.
mlir::Operation* producerOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (auto wait = llvm::dyn_cast_or_null<dist::WaitOp>(op))
    return wait.getPending().getDefiningOp();
  return op;
}

// The operand that a result of a communication or inserted op was made from; null at the end of
// such a chain.
mlir::Value madeFrom(mlir::Value value) {
  mlir::Operation* op = producerOf(value);
  if (!op || op->getNumRegions() || op->hasAttr(dist::kSrcAttr) || op->getNumOperands() == 0)
    return {};
  bool dist = llvm::isa_and_nonnull<dist::DistDialect>(op->getDialect());
  if (!dist && (!pd::OpView::isFrameworkOp(op) || op->getNumOperands() != 1)) return {};
  unsigned index = llvm::cast<mlir::OpResult>(value).getResultNumber();
  return index < op->getNumOperands() ? op->getOperand(index) : mlir::Value();
}

bool reduces(mlir::Operation* op) {
  return llvm::isa<dist::AllReduceOp, dist::ReduceOp, dist::ReduceScatterOp>(op);
}

// All ops of the roles' update part are backward or optimize ops; the seed is the one with both
// bits.
bool isSeed(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return false;
  int role = pd::OpView(op).role();
  return (role & pd::kBackward) && (role & pd::kLoss);
}

}  // namespace

void Analysis::report(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
                      std::string remedy, std::vector<std::string> notes) {
  Message message = messageAt(op, level, std::move(rule), std::move(text), std::move(remedy));
  message.notes = std::move(notes);
  report_.add(std::move(message));
}

bool Analysis::isUpdate(mlir::Operation* op, mlir::Operation* reference) const {
  if (startup_) return false;
  pd::OpView view(reference);
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return (view.role() & pd::kOptimize) != 0 || (spec && spec->family == "optimizer");
}

// A communicator over exactly this axis, for remedies.
std::string Analysis::commFor(unsigned axis) {
  mlir::Operation* job = dist::jobOf(role_);
  for (auto comm : job->getRegion(0).getOps<dist::CommOp>())
    if (comm.getAxes().size() == 1 && comm.overAxis(axes_.names[axis]))
      return "@" + comm.getSymName().str();
  return "a comm over [" + axes_.names[axis] + "]";
}

// Descriptions of the reductions that a value has been through.
std::vector<std::string> Analysis::reductionsOf(mlir::Value value) {
  std::vector<std::string> notes;
  for (mlir::Value at = value; at; at = madeFrom(at)) {
    mlir::Operation* op = producerOf(at);
    if (op && reduces(op))
      notes.push_back("it was reduced on @" + dist::commOf(op).getValue().str() + " by " +
                      positionOf(op));
  }
  return notes;
}

void Analysis::demandReduced(mlir::Operation* op) {
  for (mlir::Value operand : op->getOperands()) {
    const Relation& relation = of(operand);
    if (relation.isZero) continue;
    if (!relation.known()) {
      explainUnknown(op, operand, nameText(operand) + " reaches " + typeOf(op));
      continue;
    }
    if (!relation.whole.known) partsOnly_.push_back(operand);
    const Reading& reading = relation.reading();
    Relation corrected = relation;
    bool wrong = false;
    for (unsigned axis = 0; axis < axes_.count(); ++axis) {
      const State& state = reading.states[axis];
      if (!axes_.isData[axis] || !(state.isPartial() || state.isParts())) continue;
      wrong = true;
      if (contracts_.declares(kLocalSgd) && relation.parts.known && relation.parts.scale.isOne()) {
        auto tag = mlir::StringAttr::get(op->getContext(), kLocalSgd);
        for (Reading* one : {&corrected.whole, &corrected.parts}) {
          *one = relation.parts;
          one->states[axis] = State::different(tag);
        }
        continue;
      }
      std::string name = nameText(operand), axisName = axes_.names[axis];
      bool merged = !reductionsOf(operand).empty();
      report(op, Message::Level::Refuted, "reduced-once",
             name + " enters " + typeOf(op) + " as " + state.text() + " along axis " + axisName +
                 (merged ? "" : ", never reduced") + ": each of the " +
                 std::to_string(axes_.sizes[axis]) +
                 " ranks would apply the gradient of its own samples",
             "all_reduce " + name + " with sum on " + commFor(axis) +
                 " after its last producer and before " + typeOf(op),
             reductionsOf(operand));
    }
    if (!reading.scale.isOne() && !wrong) {
      scaleFaults_.push_back({op, operand, reading.scale, causesOfScale(operand)});
      wrong = true;
    }
    if (!wrong) continue;
    for (Reading* one : {&corrected.whole, &corrected.parts}) {
      if (!one->known) continue;
      one->scale = Rational();
      for (State& state : one->states)
        if (state.isPartial() || state.isParts()) state = State::replicated();
    }
    relations_[operand] = std::move(corrected);  // reported once
  }
}

// The reductions of equal values on the way of this value; else all scales that passes inserted;
// else the seed of the backward part.
std::vector<mlir::Operation*> Analysis::causesOfScale(mlir::Value value) {
  std::vector<mlir::Operation*> causes;
  for (mlir::Value at = value; at; at = madeFrom(at)) {
    mlir::Operation* op = producerOf(at);
    if (!op || !reduces(op)) continue;
    mlir::Value before = madeFrom(at);
    dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
    const Reading& reading = of(before).reading();
    if (!comm || !reading.known) continue;
    for (unsigned axis : axesOfComm(comm))
      if (reading.states[axis].isReplicated() && (causes.empty() || causes.back() != op))
        causes.push_back(op);
  }
  return causes;
}

void Analysis::reportScales() {
  if (scaleFaults_.empty()) return;
  std::vector<mlir::Operation*> scales;
  mlir::Operation* seed = nullptr;
  program_->walk([&](mlir::Operation* op) {
    bool inserted = pd::OpView::isFrameworkOp(op) && !op->hasAttr(dist::kSrcAttr);
    if (inserted && pd::OpView(op).type() == "scale") scales.push_back(op);
    if (!inserted && isSeed(op) && !seed) seed = op;
  });
  struct Group {
    const ScaleFault* first;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
  for (const ScaleFault& fault : scaleFaults_) {
    auto same = llvm::find_if(groups, [&](const Group& group) {
      return group.first->scale == fault.scale && group.first->causes == fault.causes;
    });
    if (same == groups.end()) same = groups.insert(groups.end(), Group{&fault, {}});
    same->names.push_back(nameText(fault.value));
  }
  for (const Group& group : groups) {
    const ScaleFault& fault = *group.first;
    bool verb = group.names.size() == 1;
    std::string text = listed(group.names) + (verb ? " enters" : " enter") + " the update as " +
                       fault.scale.text() + " times the gradient of the reference";
    if (!fault.causes.empty()) {
      report(fault.causes.front(), Message::Level::Refuted, "scale",
             "reduces a value that is already equal on all ranks, which multiplies it by their "
             "number: " +
                 text,
             "remove this reduction, or the one before it", reductionsOf(fault.value));
      continue;
    }
    std::vector<std::string> notes;
    for (mlir::Operation* op : scales)
      notes.push_back("scale " + Rational::ofFloat(pd::OpView(op).getFloat("scale")).text() +
                      " was inserted: " + positionOf(op));
    if (notes.size() > 8) notes.resize(8);
    bool tooSmall = fault.scale.denominator() > fault.scale.numerator();
    mlir::Operation* at = tooSmall && !scales.empty() ? scales.back() : seed ? seed : fault.op;
    report(at, Message::Level::Refuted, "scale", text + "; it must be 1",
           tooSmall ? "remove the factor that is one too many: 1/n belongs once, behind the "
                      "gradient of the loss"
                    : "multiply the gradient of the loss by 1/n once (n: ranks that share the "
                      "batch), or remove the extra factor",
           notes);
  }
}

void Analysis::explainUnknown(mlir::Operation* op, mlir::Value value, const std::string& what) {
  llvm::SmallPtrSet<mlir::Operation*, 16> seen;
  mlir::Value at = value;
  mlir::Operation* cause = producerOf(at);
  Loss loss;
  while (cause) {
    auto found = losses_.find(at);
    loss =
        found == losses_.end() ? Loss{"takes a value of unknown relation", -1, {}} : found->second;
    mlir::Value next = loss.operand && !of(loss.operand).known() ? loss.operand : mlir::Value();
    for (mlir::Value operand : cause->getOperands())
      if (!next && !of(operand).known() && found == losses_.end()) next = operand;
    if (!next || !producerOf(next) || !seen.insert(cause).second) break;
    at = next;
    cause = producerOf(at);
  }
  if (!cause) {
    cause = op;
    loss.why = "takes a value without a definition in this program";
  }
  std::string text =
      typeOf(cause) + " " + (loss.why.empty() ? "gives a value of unknown relation" : loss.why);
  if (loss.operand) text += " (" + nameText(loss.operand) + ")";
  if (loss.axis >= 0) text += " along axis " + axes_.names[loss.axis];
  if (!saidUnknown_.insert(positionOf(cause) + text).second) return;
  if (loss.wrong) {
    std::vector<std::string> notes;
    for (mlir::Value operand : cause->getOperands())
      if (of(operand).known())
        notes.push_back(nameText(operand) + " is " + textOf(of(operand).reading(), axes_) +
                        (reductionsOf(operand).empty() ? "" : ": reduced"));
    if (notes.size() > kListedTerms) notes.resize(kListedTerms);
    notes.push_back(what + ": " + positionOf(op));
    report(cause, Message::Level::Refuted, "scale",
           text + ": " + nameText(at) +
               " is no multiple of the reference's value, whatever is done with it later",
           "reduce and scale all terms of this sum alike, or none of them and the sum once", notes);
    return;
  }
  report(cause, Message::Level::Unknown, "unknown-relation",
         text + "; nothing is known of " + nameText(at) + " behind it",
         "what depends on it is not verified: add a relation rule for the op, or rewrite this part "
         "of the job",
         {what + ": " + positionOf(op)});
}

void Analysis::checkVariables() {
  for (auto& [name, variable] : variables_) checkVariable(name, variable);
}

bool Analysis::statesAllowed(const Variable& variable, const Reading& found, int& axis) const {
  for (axis = 0; axis < static_cast<int>(axes_.count()); ++axis) {
    const State &declared = variable.declared.states[axis], &state = found.states[axis];
    if (axes_.sizes[axis] == 1) continue;
    // Each rank's own value, whatever it has of the batch; not what was made of all of them. The
    // first one may be equal everywhere.
    bool combined =
        state.isReplicated() && !startup_ &&
        variable.now.hasTag(declared.isDifferent() ? declared.tagAttr().getValue() : "");
    if (declared.isDifferent() ? combined : !(declared == state)) return false;
  }
  axis = -1;
  return true;
}

// A parameter that an update sets and that then differs between ranks: no contract makes up for
// that.
bool Analysis::driftsApart(const Variable& variable, const Reading& found, int& axis) const {
  int ends = reference_.finalNumber(variable.reference);
  mlir::Operation* update = ends >= 0 ? reference_.definingOp(ends) : nullptr;
  pd::VarOp var = variable.op;
  if (!var.getParameter() || !update || !pd::OpView::isFrameworkOp(update) ||
      !isUpdate(update, update))
    return false;
  auto different =
      llvm::find_if(found.states, [](const State& state) { return state.isDifferent(); });
  axis = static_cast<int>(different - found.states.begin());
  return different != found.states.end();
}

void Analysis::checkVariable(llvm::StringRef name, Variable& variable) {
  const Relation& now = variable.now;
  mlir::Operation* at = variable.setter ? variable.setter : variable.op.getOperation();
  mlir::Value value =
      llvm::isa<pd::SetOp>(at) ? llvm::cast<pd::SetOp>(at).getValue() : mlir::Value();
  bool inReference = reference_.initialNumber(variable.reference) >= 0;
  std::string quoted = "`" + name.str() + "`";
  // A flat variable is held by its parts, and each of them is checked.
  if (variable.op->hasAttr(pd::kPartsAttr)) return;
  // Feeds, checkpoints and exports know variables by their names: one that the reference has too
  // holds no other's value.
  if (variable.reference != name && reference_.initialNumber(name) >= 0) {
    if (!startup_)  // said once
      report(
          variable.op, Message::Level::Refuted, "lineage",
          quoted + " is declared to stand for `" + variable.reference +
              "`, and the reference has a variable of its own name: what is saved or loaded as " +
              quoted + " would be another variable's value",
          "declare it with dist.rel = #dist.rel<\"" + name.str() +
              "\">, or give it a name that the reference does not have");
    return;
  }
  if (!variable.setter) {
    if (inReference && reference_.sets(variable.reference))
      report(at, Message::Level::Refuted, "update",
             quoted + " is never set; the reference sets it to " +
                 reference_.describe(reference_.finalNumber(variable.reference)),
             "keep the op that updates it, or move it to the role that owns the variable");
    return;
  }
  if (!now.known()) {
    if (value) explainUnknown(at, value, quoted + " is set to it");
    else
      report(at, Message::Level::Unknown, "unknown-relation",
             "nothing is known of what " + quoted + " holds behind this op",
             "add a relation rule for the op");
    return;
  }
  int wanted = reference_.finalNumber(variable.reference);
  if (inReference && !now.standsFor(wanted)) {
    std::string found =
        now.reference >= 0 ? describe(now) : "a value that stands for none of the reference";
    report(at, now.reference >= 0 ? Message::Level::Refuted : Message::Level::Unknown, "lineage",
           quoted + " ends as " + found + "; in the reference it ends as " +
               reference_.describe(wanted),
           "set it to the value that stands for " + reference_.describe(wanted));
    return;
  }
  if (!now.whole.known && value) partsOnly_.push_back(value);
  // What differs between ranks is each rank's own: what the reference's ops give on its share.
  bool different = llvm::any_of(variable.declared.states,
                                [](const State& state) { return state.isDifferent(); });
  const Reading& reading = different && now.parts.known ? now.parts : now.reading();
  int axis;
  if (!statesAllowed(variable, reading, axis)) {
    const State& declared = variable.declared.states[axis];
    report(at, Message::Level::Refuted, "invariant",
           quoted + " ends as " + reading.states[axis].text() + " along axis " + axes_.names[axis] +
               ", and is declared " + declared.text() +
               (declared.isReplicated() ? ": the ranks' copies drift apart"
                : declared.isDifferent()
                    ? ": the ranks' own values were combined, which the contract does not say"
                    : ""),
           startup_ ? "broadcast it from one rank at the end of the start-up program, or draw it "
                      "with a fixed seed"
           : declared.isDifferent()
               ? "keep each rank's own value, or declare the variable as what it is"
               : "reduce or broadcast what is written on " + commFor(axis) +
                     ", or declare the difference in its dist.rel (X) with a contract");
    return;
  }
  if (driftsApart(variable, reading, axis)) {
    report(at, Message::Level::Refuted, "invariant",
           quoted + " is a parameter that an optimizer updates, and ends as " +
               reading.states[axis].text() + " along axis " + axes_.names[axis] + ": each of the " +
               std::to_string(axes_.sizes[axis]) + " ranks would train a model of its own",
           "average it over " + commFor(axis) +
               " at the end of the step, or reduce its gradient; a contract covers optimizer state "
               "and statistics only");
    return;
  }
  if (!(reading.scale == variable.declared.scale)) {
    report(at, Message::Level::Refuted, "scale",
           quoted + " ends as " + reading.scale.text() +
               " times the value of the reference; declared is " + variable.declared.scale.text(),
           "remove or add the factor on the way to this value");
    return;
  }
  // A tag is a contract's name: the variable's own word does not declare it.
  Relation deviations = now;
  deviations.addTags(variable.tags);
  for (llvm::ArrayRef<State> states :
       {llvm::ArrayRef<State>(reading.states),
        startup_ ? llvm::ArrayRef<State>() : llvm::ArrayRef<State>(variable.declared.states)})
    for (const State& state : states)
      if (state.isDifferent()) deviations.addTags(state.tagAttr());
  for (mlir::StringAttr tag : deviations.tags) {
    if (tag.getValue() == "parts" || contracts_.declares(tag.getValue())) continue;
    report(at, Message::Level::Refuted, "contract",
           quoted + " depends on " + tag.getValue().str() + ", which the job does not declare",
           "declare the contract \"" + tag.getValue().str() +
               "\" in the pass that introduces it, or remove what causes it");
  }
}

// Walks back from the values that only the parts reading knows to the ops where the whole reading
// was lost; once for all of them.
void Analysis::reachSites() {
  llvm::SmallPtrSet<mlir::Operation*, 32> seen;
  std::vector<mlir::Value> work = partsOnly_;
  while (!work.empty()) {
    mlir::Value at = work.back();
    work.pop_back();
    if (of(at).whole.known) continue;
    mlir::Operation* op = at.getDefiningOp();
    if (op && seen.insert(op).second)
      work.insert(work.end(), op->operand_begin(), op->operand_end());
  }
  for (const Site& site : sites_)
    if (seen.contains(site.op)) reachedSites_.push_back(site);
}

}  // namespace dtranspile::verify

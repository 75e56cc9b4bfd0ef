#include "compiler/verify/relations/invariants.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/verify/relations/contracts.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

Invariants::Invariants(const Question& question, const Store& store, Explainer& explainer,
                       Rung& findings)
    : question_(question), store_(store), explainer_(explainer), findings_(findings) {
  if (pd::ProgramOp startup = findProgram(question.role, "startup"))
    startup.walk([&](pd::SetOp set) { established_.insert(set.getVar()); });
}

// Whether a variable may end the step as it was found. Sets `axis` to the first one along which it
// may not, and to -1 otherwise.
bool Invariants::statesAllowed(const Variable& variable, const Reading& found, int& axis) const {
  for (axis = 0; axis < static_cast<int>(store_.axes().count()); ++axis) {
    const State &declared = variable.declared.states[axis], &state = found.states[axis];
    if (sizeAlong(variable, axis) == 1) continue;
    // Each rank's own value, whatever it has of the batch; not what was made of all of them. The
    // first one may be equal everywhere.
    bool combined =
        state.isReplicated() && !question_.startup &&
        variable.now.hasTag(declared.isDifferent() ? declared.tagAttr().getValue() : "");
    // A gradient that each share has by itself is its contribution: their sum is the reference's.
    const bool contributes = declared.isPartial() && declared.reduce == dist::Reduce::Sum &&
                             state.isParts() && variable.now.gradient;
    if (declared.isDifferent() ? combined : !contributes && !(declared == state)) return false;
  }
  axis = -1;
  return true;
}

// A trained parameter that differs between ranks, whatever sets it and whatever the role calls it:
// no contract makes up for that, but where an average makes it one value again.
bool Invariants::driftsApart(const Variable& variable, const Reading& found, int& axis) const {
  if (!question_.reference.trains(variable.reference)) return false;
  auto different =
      llvm::find_if(found.states, [](const State& state) { return state.isDifferent(); });
  axis = static_cast<int>(different - found.states.begin());
  if (different == found.states.end()) return false;
  // Under local SGD the ranks' copies may drift apart for as many steps as the contract says, where
  // the branch that makes them one is the last to set them.
  const bool average = variable.setter && pd::OpView::isFrameworkOp(variable.setter) &&
                       !variable.setter->hasAttr(dist::kSrcAttr);
  return !(average && different->tagAttr().getValue() == kLocalSgdTag);
}

namespace {

// A value, or what assign makes of it.
bool isGiven(mlir::Value value) {
  mlir::Operation* maker = value.getDefiningOp();
  if (maker && pd::OpView::isFrameworkOp(maker) && pd::OpView(maker).type() == "assign")
    value = pd::OpView(maker).input("X");
  return value && llvm::isa<mlir::BlockArgument>(value);
}

// Whether a block of the op sets the variable to what the block was given.
bool setsBack(mlir::Operation* op, llvm::StringRef variable) {
  if (!op) return false;
  bool back = false;
  for (mlir::Region& region : op->getRegions())
    for (auto set : region.getOps<pd::SetOp>())
      back |= set.getVar() == variable && isGiven(set.getValue());
  return back;
}

}  // namespace

// A variable may be declared to differ only where the contract is about it.
void Invariants::checkCovered(const std::string& quoted, const Variable& variable,
                              mlir::Operation* at) {
  const bool differs = llvm::any_of(variable.declared.states,
                                    [](const State& state) { return state.isDifferent(); });
  if (!differs || question_.startup || !question_.reference.sets(variable.reference)) return;
  mlir::Operation* update =
      question_.reference.definingOp(question_.reference.finalNumber(variable.reference));
  // What a branch sets back is what the op before it has set.
  if (setsBack(update, variable.reference) && at && at->hasAttr(dist::kSrcAttr)) {
    const auto index = at->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr).getInt();
    const int before = question_.reference.numberBefore(index, variable.reference);
    if (before >= 0) update = question_.reference.definingOp(before);
  }
  for (const State& state : variable.declared.states) {
    const ContractRow* row =
        state.isDifferent() ? findContract(state.tagAttr().getValue()) : nullptr;
    if (!row || (row->covers && row->covers(question_, update))) continue;
    report(findings_, at, Message::Level::Refuted, "contract",
           quoted + " is declared " + state.text() +
               ", and the contract is not about it: " + row->statement.str(),
           "declare the variable as what it is, and make it so");
    return;
  }
}

// Start-up makes a variable what it is declared to be. One that it does not set is loaded, equal on
// all ranks and as the reference's.
void Invariants::checkEstablished(const std::string& quoted, const Variable& variable) {
  if (question_.startup || established_.contains(pd::VarOp(variable.op).getSymName())) return;
  const bool loaded = variable.declared.scale.isOne() &&
                      llvm::all_of(variable.declared.states, [](const State& state) {
                        return state.isReplicated() || state.isDifferent();
                      });
  if (loaded) return;
  report(findings_, variable.op, Message::Level::Unknown, "invariant",
         quoted + " is declared " + textOf(variable.declared, store_.axes()) +
             ", and the start-up program does not set it",
         "set it in the start-up program, or declare it equal to the reference's");
}

// A variable that some ranks of an axis have, and of these one, is R along it: there is nothing to
// put together, to combine or to tell apart. One that is said to differ there is one that nobody
// compares. Of an axis of one coordinate passes may say what they would of more, but for contracts
// that there are none of.
bool Invariants::checkAlone(const std::string& quoted, const Variable& variable) {
  auto relation = pd::VarOp(variable.op)->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  if (!relation) return true;
  for (dist::AxisRelAttr one : relation.getAxes()) {
    const int axis = store_.axes().indexOf(one.getAxis().getValue());
    if (axis < 0 || sizeAlong(variable, axis) != 1 || one.getState() == dist::StateKind::Replicated)
      continue;
    const bool different = one.getState() == dist::StateKind::Different;
    if (store_.axes().meshSizes[axis] == 1 &&
        (!different || question_.contracts.declares(one.getTag().getValue())))
      continue;
    if (question_.startup) return false;  // said once
    std::string declared;
    llvm::raw_string_ostream stream(declared);
    one.printInline(stream);
    report(findings_, variable.op, Message::Level::Refuted, "location",
           quoted + " is declared " + declared + ", and exists on one coordinate of axis " +
               one.getAxis().getValue().str() + ": there it is R",
           "correct its dist.rel, or the pass that wrote it");
    return false;
  }
  return true;
}

// What `dist.rel` says of holders is what `dist.at` says; and all of them end with one value.
bool Invariants::checkPlace(const std::string& quoted, const Variable& variable) {
  if (auto relation = pd::VarOp(variable.op)->getAttrOfType<dist::RelAttr>(dist::kRelAttr))
    for (dist::AxisRelAttr one : relation.getAxes()) {
      dist::AxisSetAttr have = variable.at.where
                                   ? variable.at.where.lookup(one.getAxis().getValue())
                                   : dist::AxisSetAttr();
      if (!one.getHolders() || one.getHolders() == have) continue;
      std::string holders;
      llvm::raw_string_ostream stream(holders);
      one.getHolders().printInline(stream);
      report(findings_, variable.op, Message::Level::Refuted, "location",
             quoted + " is declared to be held at " + holders + ", and exists on " +
                 (variable.at.where ? "the ranks " + variable.at.text() : "all ranks"),
             "let dist.rel and dist.at name the same ranks");
      return false;
    }
  if (!variable.torn) return true;
  if (variable.otherDraw) {
    report(findings_, variable.torn, Message::Level::Unknown, "invariant",
           "sets " + quoted +
               " on the ranks of this region only, to another of the ranks' draws than it is "
               "elsewhere, as far as is known",
           "broadcast the draw once, and set the variable to that on all ranks");
    return false;
  }
  mlir::Operation* around = variable.torn;
  while (around && !llvm::isa<dist::OnOp>(around)) around = around->getParentOp();
  report(findings_, variable.torn, Message::Level::Refuted, "invariant",
         "sets " + quoted + " on the ranks of this region only" +
             (around ? ", " + Place::of(llvm::cast<dist::OnOp>(around).getBody()).text() : "") +
             "; elsewhere it ends as another value, so that the ranks' copies drift apart",
         "set it after the dist.on, or alike on all ranks that have it; or give the variable a "
         "dist.at, if it exists on these ranks only");
  return false;
}

// Zeros have any relation, but not any extents: types tell of equal parts, and of unequal ones what
// start-up cuts.
bool Invariants::beginsAsPart(const Variable& variable) const {
  return question_.startup && llvm::any_of(variable.declared.states, [](const State& state) {
           return state.isSplit() && state.layoutAttr() &&
                  state.layoutAttr().getKind() != dist::LayoutKind::Even;
         });
}

// A flat variable is held by its parts, and each of them is checked: only what it stands for is
// looked at. (Rung 1 compares the attribute with the reference's.)
bool Invariants::isHeldByParts(const Variable& variable) const {
  auto original =
      llvm::dyn_cast_or_null<pd::VarOp>(question_.reference.variable(variable.reference));
  return original && original->hasAttr(pd::kPartsAttr) && variable.op->hasAttr(pd::kPartsAttr);
}

// Variables that stand for one of the reference begin as one draw.
void Invariants::checkDraws() {
  llvm::StringMap<std::pair<std::string, const Variable*>> first;
  for (const auto& [name, variable] : store_.variables()) {
    if (!variable.setter || !variable.now.draw) continue;
    const auto& [other, same] =
        first.try_emplace(variable.reference, name, &variable).first->second;
    if (same->now.draw == variable.now.draw) continue;
    report(findings_, variable.setter, Message::Level::Unknown, "invariant",
           "`" + name + "` and `" + other + "` both stand for `" + variable.reference +
               "`, and end as different ones of the ranks' draws, as far as is known",
           "set both to what one broadcast gives");
  }
}

void Invariants::noteDifference(llvm::StringRef name, const Variable& variable) {
  if (question_.startup) return;  // said once
  for (const State& state : variable.declared.states)
    if (state.isDifferent()) {
      findings_.conditions.push_back({"variable", name.str(), state.tagAttr().getValue().str()});
      return;
    }
}

// The induction over steps: every variable that begins a step as it is declared must end it so.
// Questions are asked in the order in which an answer is of use: whose value it is (name, lineage),
// whether it is known at all, whether its states are those declared, whether a parameter drifts
// apart between ranks, then its scale, and last whether what it deviates by is in a contract. The
// first that fails is reported, and the others are not asked, since they would speak of another
// value.
void Invariants::check(llvm::StringRef name, const Variable& variable) {
  const Relation& now = variable.now;
  mlir::Operation* at = variable.setter ? variable.setter : pd::VarOp(variable.op).getOperation();
  mlir::Value value =
      llvm::isa<pd::SetOp>(at) ? llvm::cast<pd::SetOp>(at).getValue() : mlir::Value();
  bool inReference = question_.reference.initialNumber(variable.reference) >= 0;
  std::string quoted = "`" + name.str() + "`";
  noteDifference(name, variable);
  // Feeds, checkpoints and exports know variables by their names: one that the reference has too
  // holds no other's value.
  if (variable.reference != name && question_.reference.initialNumber(name) >= 0) {
    if (!question_.startup)  // said once
      report(
          findings_, variable.op, Message::Level::Refuted, "lineage",
          quoted + " is declared to stand for `" + variable.reference +
              "`, and the reference has a variable of its own name: what is saved or loaded as " +
              quoted + " would be another variable's value",
          "declare it with dist.rel = #dist.rel<\"" + name.str() +
              "\">, or give it a name that the reference does not have");
    return;
  }
  if (!checkAlone(quoted, variable) || !checkPlace(quoted, variable)) return;
  checkEstablished(quoted, variable);
  checkCovered(quoted, variable, at);
  if (!variable.setter) {
    if (inReference && question_.reference.sets(variable.reference))
      report(findings_, at, Message::Level::Refuted, "update",
             quoted + " is never set; the reference sets it to " +
                 question_.reference.describe(question_.reference.finalNumber(variable.reference)),
             "keep the op that updates it, or move it to the role that owns the variable");
    return;
  }
  if (isHeldByParts(variable) &&
      (now.reference < 0 || now.standsFor(question_.reference.finalNumber(variable.reference))))
    return;
  if (!now.known()) {
    if (value) explainer_.explain(at, value, quoted + " is set to it");
    else
      report(findings_, at, Message::Level::Unknown, "unknown-relation",
             "nothing is known of what " + quoted + " holds after this op",
             "add a relation rule for the op");
    return;
  }
  int wanted = question_.reference.finalNumber(variable.reference);
  if (inReference && !now.standsFor(wanted)) {
    std::string found = now.reference >= 0 ? describe(question_.reference, now)
                                           : "a value that stands for none of the reference";
    report(findings_, at, now.reference >= 0 ? Message::Level::Refuted : Message::Level::Unknown,
           "lineage",
           quoted + " ends as " + found + "; in the reference it ends as " +
               question_.reference.describe(wanted),
           "set it to the value that stands for " + question_.reference.describe(wanted));
    return;
  }
  // What differs between ranks is each rank's own: what the reference's ops give on its share.
  bool different = llvm::any_of(variable.declared.states,
                                [](const State& state) { return state.isDifferent(); });
  const Reading& reading = different && now.parts.known ? now.parts : now.reading();
  int axis;
  if ((!now.isZero || beginsAsPart(variable)) && !statesAllowed(variable, reading, axis)) {
    const State& declared = variable.declared.states[axis];
    report(findings_, at, Message::Level::Refuted, "invariant",
           quoted + " ends as " + reading.states[axis].text() + " along axis " +
               store_.axes().names[axis] + ", and is declared " + declared.text() +
               (declared.isReplicated() ? ": the ranks' copies drift apart"
                : declared.isDifferent()
                    ? ": the ranks' own values were combined, which the contract does not say"
                    : ""),
           question_.startup
               ? "broadcast it from one rank at the end of the start-up program, or draw it "
                 "with a fixed seed"
           : declared.isDifferent()
               ? "keep each rank's own value, or declare the variable as what it is"
               : "reduce or broadcast what is written on " +
                     commFor(question_, store_.axes(), axis) +
                     ", or declare the difference in its dist.rel (X) with a contract");
    return;
  }
  if (driftsApart(variable, reading, axis)) {
    report(findings_, at, Message::Level::Refuted, "invariant",
           quoted + " is a parameter that an optimizer updates, and ends as " +
               reading.states[axis].text() + " along axis " + store_.axes().names[axis] +
               ": each of the " + std::to_string(store_.axes().meshSizes[axis]) +
               " ranks would train a model of its own",
           "average it over " + commFor(question_, store_.axes(), axis) +
               " at the end of the step, or reduce its gradient; a contract covers optimizer state "
               "and statistics only");
    return;
  }
  // What the job keeps for itself has no value in the reference to be a multiple of.
  if (!now.isZero && (inReference || now.reference >= 0) &&
      !(reading.scale == variable.declared.scale)) {
    report(findings_, at, Message::Level::Refuted, "scale",
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
        question_.startup ? llvm::ArrayRef<State>()
                          : llvm::ArrayRef<State>(variable.declared.states)})
    for (const State& state : states)
      if (state.isDifferent()) deviations.addTags(state.tagAttr());
  for (mlir::StringAttr tag : deviations.tags) {
    if (tag.getValue() == "parts" || question_.contracts.declares(tag.getValue())) continue;
    report(findings_, at, Message::Level::Refuted, "contract",
           quoted + " depends on " + tag.getValue().str() + ", which the job does not declare",
           "declare the contract \"" + tag.getValue().str() +
               "\" in the pass that introduces it, or remove what causes it");
  }
}

}  // namespace dtranspile::verify

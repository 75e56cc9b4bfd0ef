#include "compiler/verify/relations/demands.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/analysis/relations/rule.h"
#include "compiler/analysis/relations/table_sum.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// Names that a message lists before it counts.
constexpr size_t kListed = 3;
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kListed; ++i) text += (i ? ", " : "") + names[i];
  return names.size() > kListed ? text + " and " + std::to_string(names.size() - kListed) + " more"
                                : text;
}

// All ops of the roles' update part are backward or optimize ops; the seed is the one with both
// bits.
bool isSeed(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return false;
  int role = pd::OpView(op).role();
  return (role & pd::kBackward) && (role & pd::kLoss);
}

}  // namespace

// Under local SGD, and between exchanges of geo-SGD, an update takes what the reference would on
// the rank's own share, and differs between the ranks from there on.
bool Demands::isOwnStep(const Relation& relation) const {
  return !ownStepTag().empty() && relation.parts.known && relation.parts.scale.isOne() &&
         llvm::any_of(relation.parts.states, [](const State& state) { return state.isParts(); });
}

// The contract by which ranks take steps of their own; empty where the job declares none.
llvm::StringRef Demands::ownStepTag() const {
  for (llvm::StringRef tag : {llvm::StringRef(kLocalSgdTag), llvm::StringRef(kGeoTag)})
    if (question_.contracts.declares(tag)) return tag;
  return {};
}

void Demands::takeOwnStep(mlir::Value operand, Store& store) const {
  Relation relation = store.of(operand);
  auto tag = mlir::StringAttr::get(operand.getContext(), ownStepTag());
  for (State& state : relation.parts.states)
    if (state.isParts()) state = State::different(tag);
  relation.whole = relation.parts;
  store.correct(operand, std::move(relation));
}

// An update must see the gradient itself. There are two exceptions, each a contract whose statement
// must name the very factor that was found: tables whose gradients servers add up without dividing
// (table_sum), and gradients that are not divided by the number of ranks (gradient_sum).
bool Demands::hasWantedScale(mlir::Value operand, const Relation& relation) {
  const auto tables = question_.contracts.sites.find(kTableSumTag.str());
  auto merged = operand.getDefiningOp<dist::MergedOp>();
  if (tables != question_.contracts.sites.end() && merged && !relation.whole.scale.isOne() &&
      tables->second.count(merged.getVar().str())) {
    const auto text = question_.contracts.statements.find(kTableSumTag.str());
    const bool agrees = text != question_.contracts.statements.end() &&
                        !relation.whole.scale.isLost() &&
                        text->second == tableSumText(relation.whole.scale);
    if (agrees) summed_.insert(merged.getVar().str());
    return agrees;
  }
  const auto statement = question_.contracts.statements.find(kGradientSumTag.str());
  if (statement == question_.contracts.statements.end() || !relation.gradient)
    return relation.whole.scale.isOne();
  return !relation.whole.scale.isLost() &&
         statement->second == gradientSumText(relation.whole.scale);
}

// Does the op only add and multiply what it takes there? Where its row has no clauses its rule says
// so: a form that partial operands fit is one that their sum goes through.
bool Demands::linearIn(mlir::Operation* op, mlir::Value operand, const Store& store) {
  const ParsedRule* rule = findRule(pd::OpView(op).type());
  if (!rule) return false;
  if (rule->clauses.empty()) {
    RuleContext context(op, *rule, store.axes(),
                        [&](mlir::Value value) -> const Relation& { return store.of(value); });
    context.apply();
    return context.violations().empty() &&
           llvm::all_of(context.takeResults(),
                        [](const Relation& result) { return result.whole.known; });
  }
  bool reads = false;
  for (const Clause& clause : rule->clauses)
    for (const SlotUse& input : clause.inputs)
      if (llvm::is_contained(pd::OpView(op).inputs(input.slot), operand)) {
        if (input.use != Use::Linear) return false;
        reads = true;
      }
  return reads;
}

// The most common mistake of a hand-written job, so its message says all: which value, what it is
// along which axis, what would happen, and the reduction that is missing. Reductions that the value
// did go through are the notes.
void Demands::refuteUnreduced(mlir::Operation* op, mlir::Value operand, unsigned axis,
                              const Store& store) {
  const std::string name = referenceName(question_, store.of(operand), operand);
  const std::vector<std::string> reductions = reductionsOf(operand);
  report(findings_, op, Message::Level::Refuted, "reduced-once",
         name + " enters " + typeOf(op) + " as " + store.of(operand).whole.states[axis].text() +
             " along axis " + store.axes().names[axis] +
             (reductions.empty() ? ", never reduced" : "") + ": each of the " +
             std::to_string(store.axes().sizes[axis]) +
             " ranks would apply the gradient of its own samples",
         "all_reduce " + name + " with " +
             dist::stringifyReduce(store.of(operand).whole.states[axis].reduce).str() + " on " +
             commFor(question_, store.axes(), axis) + " after its last producer and before " +
             typeOf(op),
         reductions);
}

// Looks at every operand of an op of the update. What is wrong is reported here and then corrected
// in the store to what it should be, so that one mistake gives one message and not one for each
// variable that depends on it. A scale that is wrong is only collected, since all gradients tend to
// have the same one (reportScales).
void Demands::beforeUpdate(mlir::Operation* op, Store& store) {
  for (mlir::Value operand : op->getOperands()) {
    const Relation& relation = store.of(operand);
    if (relation.isZero) continue;
    if (isOwnStep(relation)) {
      takeOwnStep(operand, store);
      continue;
    }
    if (!relation.known()) {
      explainer_.explain(op, operand,
                         referenceName(question_, relation, operand) + " reaches " + typeOf(op));
      continue;
    }
    Relation corrected = relation;
    bool wrong = false;
    for (unsigned axis = 0; axis < store.axes().count(); ++axis) {
      State& state = corrected.whole.states[axis];
      if (store.axes().sizes[axis] == 1 || !(state.isPartial() || state.isParts())) continue;
      // A sum of sums is one: what is not linear comes later.
      if (state.isPartial() && linearIn(op, operand, store)) continue;
      refuteUnreduced(op, operand, axis, store);
      state = State::replicated();
      wrong = true;
    }
    if (!hasWantedScale(operand, relation)) {
      if (!wrong)
        faults_.push_back({op, operand, referenceName(question_, relation, operand),
                           relation.whole.scale, causesOfScale(store, operand)});
      wrong = true;
    }
    if (!wrong && relation.whole.scale.isOne()) continue;
    // What is made of a gradient that may be a multiple is asked for no other one.
    if (!wrong) corrected.gradient = false;
    corrected.whole.scale = Rational();
    corrected.parts = corrected.whole;
    store.correct(operand, std::move(corrected));  // reported once
  }
}

// Groups gradients by the factor they have and by what caused it, and gives one message per group.
// A reduction of a value that was equal on all ranks already is a cause by itself; else the message
// stands at the factor that is one too many (the last scale that was inserted), or, where one is
// missing, at the gradient of the loss, where it belongs.
void Demands::reportScales() {
  if (faults_.empty()) return;
  std::vector<mlir::Operation*> scales;
  mlir::Operation* seed = nullptr;
  pd::ProgramOp(question_.program)->walk([&](mlir::Operation* op) {
    bool inserted = pd::OpView::isFrameworkOp(op) && !op->hasAttr(dist::kSrcAttr);
    if (inserted && pd::OpView(op).type() == "scale") scales.push_back(op);
    if (!inserted && isSeed(op) && !seed) seed = op;
  });
  struct Group {
    const ScaleFault* first;
    std::vector<std::string> names;
  };
  std::vector<Group> groups;
  for (const ScaleFault& fault : faults_) {
    auto same = llvm::find_if(groups, [&](const Group& group) {
      return group.first->scale == fault.scale && group.first->causes == fault.causes;
    });
    if (same == groups.end()) same = groups.insert(groups.end(), Group{&fault, {}});
    same->names.push_back(fault.name);
  }
  for (const Group& group : groups) {
    const ScaleFault& fault = *group.first;
    bool verb = group.names.size() == 1;
    std::string text = listed(group.names) + (verb ? " enters" : " enter") + " the update as " +
                       fault.scale.text() + " times the gradient of the reference";
    if (!fault.causes.empty()) {
      report(findings_, fault.causes.front(), Message::Level::Refuted, "scale",
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
    if (notes.size() > kListedTerms) notes.resize(kListedTerms);
    bool tooSmall = fault.scale.denominator() > fault.scale.numerator();
    mlir::Operation* at = tooSmall && !scales.empty() ? scales.back() : seed ? seed : fault.op;
    report(findings_, at, Message::Level::Refuted, "scale", text + "; it must be 1",
           tooSmall ? "remove the factor that is one too many: 1/n belongs once, after the "
                      "gradient of the loss"
                    : "multiply the gradient of the loss by 1/n once (n: ranks that share the "
                      "batch), or remove the extra factor",
           notes);
  }
}

}  // namespace dtranspile::verify

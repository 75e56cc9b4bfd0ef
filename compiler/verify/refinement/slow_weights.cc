// Slow weights (lookahead): what the first step, every k-th one and the others leave, beside what
// the source does. Which step it is is told by a counter that begins at zero and grows by one: two
// conditions, n = 1 and k divides n, are read by what they are, and decided in every way that some
// step has them.
#include "compiler/verify/refinement/counting.h"
#include "compiler/verify/refinement/proof.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

constexpr char kAgain[] = "make the job again from the program that it shall preserve";

std::string slowOf(const std::string& parameter) { return parameter + "@SLOW"; }

// The counter that a value is, one step on; empty for others.
std::string countedUp(const Terms& terms, TermId term) {
  const Atom* atom = terms.single(term);
  if (!isCountedUp(atom) || pd::OpView(atom->op).getFloat("step") != 1) return "";
  const Atom* before = terms.single(atom->operands[0]);
  if (!before || before->type != "variable") return "";
  return before->key.substr(sizeof("variable ") - 1);
}

}  // namespace

// Takes the condition where it is one of the two; false where it is neither. That of the first step
// comes first and says which counter it is: merged steps have one of their own, which may have the
// same period.
bool Proof::takeSlowCondition(AtomId decider, SlowConditions& found) const {
  const Atom& equal = terms_.atomOf(decider);
  if (equal.type != "equal" || equal.operands.size() != 2) return false;
  TermId number = equal.operands[0];
  const Atom* rest = terms_.single(number);
  const bool divides = rest && rest->type == "elementwise_mod";
  if (divides) {
    if (valueOf(terms_, rest->operands[1], {}) != changes_.slow->steps) return false;
    number = rest->operands[0];
  }
  const std::string counter = countedUp(terms_, number);
  if (counter.empty() || ofSource(counter) ||
      valueOf(terms_, equal.operands[1], {}) != (divides ? 0 : 1) ||
      (found.counter.empty() ? divides : found.counter != counter))
    return false;
  found.counter = counter;
  found.number = number;
  (divides ? found.every : found.first) = decider;
  return true;
}

// Both conditions are there, and the counter begins at zero.
bool Proof::countsSteps(const SlowConditions& slow, pd::ProgramOp at) {
  auto start = initial_.find(slow.counter);
  const bool begins = start != initial_.end() && valueOf(terms_, start->second, {}) == 0;
  if (slow.first && (slow.every || changes_.slow->steps == 1) && begins) return true;
  unknown(at,
          "it is not shown that slow weights begin in the first step and move in every " +
              std::to_string(changes_.slow->steps) + "th one",
          kAgain);
  return false;
}

// k divides no 1 but itself.
std::vector<Proof::SlowCase> Proof::slowCases(const Conditions& conditions) const {
  if (!changes_.slow) return {{{}, SlowCase::None}};
  const SlowConditions& slow = conditions.slow;
  if (!slow.every)
    return {{{{*slow.first, true}}, SlowCase::First}, {{{*slow.first, false}}, SlowCase::Moves}};
  return {{{{*slow.first, false}, {*slow.every, false}}, SlowCase::Stays},
          {{{*slow.first, true}, {*slow.every, false}}, SlowCase::First},
          {{{*slow.first, false}, {*slow.every, true}}, SlowCase::Moves}};
}

// What a step of the source leaves, with slow weights as in this case.
Effects Proof::withSlow(Effects source, const Conditions& conditions, SlowCase::Kind kind) {
  if (kind == SlowCase::None) return source;
  const auto alpha = static_cast<float>(changes_.slow->alpha);
  for (const std::string& parameter : updated_) {
    TermId& fast = source.variables[parameter];
    const TermId old = variableTerm(terms_, slowOf(parameter));
    TermId& slow = source.variables[slowOf(parameter)];
    slow = kind == SlowCase::First ? fast : old;
    if (kind == SlowCase::Moves)
      slow = fast = terms_.add(terms_.scale(fast, Rational::ofFloat(alpha)),
                               terms_.scale(old, Rational::ofFloat(1.0F - alpha)));
  }
  source.variables[conditions.slow.counter] = conditions.slow.number;
  return source;
}

// Beside those of the source: what a step that is left out must not change either.
void Proof::rememberSlow(const SlowConditions& slow) {
  for (const std::string& parameter : updated_) own_.push_back(slowOf(parameter));
  own_.push_back(slow.counter);
}

}  // namespace dtranspile::verify

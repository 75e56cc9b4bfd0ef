// k steps that update once. Between updates nothing of the source changes, and variables add the
// gradients up that the source would have updated with; the step that updates does with their mean
// (or sum) what the source does with its gradients, and empties them. So k steps are one step of
// the source whose gradients are that mean, whatever k is.
//
// The induction needs no k copies of the program: with G what a step adds and M the merged
// gradient, the variable holds k·M − G before the step that updates, by definition of M.
#include "compiler/analysis/position.h"
#include "compiler/verify/refinement/counting.h"
#include "compiler/verify/refinement/proof.h"

namespace dtranspile::verify {
namespace {

constexpr char kAgain[] = "make the job again";
// Longer periods are not counted out.
constexpr int64_t kLongestPeriod = 1 << 16;

}  // namespace

// Two cases of the one condition that is due every k steps. (1) Not due: variables of the source,
// its loss scale and its names stay as they were, and each new variable that grows by a gradient of
// the source is the sum for that parameter. (2) Due: with sum + gradient replaced by k times a
// fresh symbol for the merged gradient (the k − 1 earlier ones are inside), the variables end as in
// the source's step with that gradient, and the sums end empty. Start-up makes them empty, which
// begins the induction.
void Proof::mergedSteps(Programs programs, const Conditions& conditions,
                        const std::map<AtomId, bool>& assumed) {
  pd::ProgramOp at = programs.reference;
  const MergedSteps merged = *changes_.merged;
  if (!conditions.due)
    return unknown(at, "no branch is taken every " + std::to_string(merged.steps) + " steps",
                   kAgain);
  auto with = [&](bool due) {
    std::map<AtomId, bool> all = assumed;
    all[*conditions.due] = due;
    return assumptions(all);
  };
  Gradients gradients;
  const Effects plain = source(programs.source, nullptr);
  const Effects update = source(programs.source, &gradients);

  const Effects between = follow(terms_, programs.reference, with(false));
  unchanged(between, at, "in a step that does not update");
  for (const std::string& scale : positive_) {
    auto found = between.variables.find(scale);
    if (found != between.variables.end() && found->second != variableTerm(terms_, scale))
      return unknown(at, "the loss scale `" + scale + "` may change in a step that does not update",
                     "change it with the update: gradients of several steps are added up");
  }
  // What names hold does not depend on the update.
  for (const auto& [name, theirs] : plain.names) {
    auto mine = between.names.find(name);
    if (mine != between.names.end() && mine->second == theirs) continue;
    return unknown(at, "it is not shown that `" + name + "` is what the source computes", kAgain);
  }

  // The sums, by what they add. A variable that two gradients equally fit takes the first.
  Assumptions last = with(true);
  std::map<std::string, std::string> sums;  // by parameter
  for (const auto& [name, term] : between.variables) {
    if (ofSource(name)) continue;
    const TermId before = variableTerm(terms_, name);
    const TermId added = terms_.add(term, terms_.scale(before, Rational(-1)));
    // With the loss scale in it, which is the same for all k steps.
    const Scalars scale = terms_.common(added);
    const TermId plainly = terms_.times(added, scale, -1);
    for (const auto& [parameter, gradient] : gradients.complete) {
      if (plainly != gradient || sums.count(parameter)) continue;
      sums[parameter] = name;
      const TermId whole =
          terms_.scale(gradients.merged[parameter], Rational(merged.average ? merged.steps : 1));
      last.before[name] =
          terms_.times(terms_.add(whole, terms_.scale(gradient, Rational(-1))), scale, 1);
      break;
    }
  }
  Effects updating;
  for (const SlowCase& slow : slowCases(conditions)) {
    Assumptions all = last;
    all.assumed.insert(slow.assumed.begin(), slow.assumed.end());
    updating = follow(terms_, programs.reference, all);
    same(updating, withSlow(update, conditions, slow.kind), at, /*names=*/false);
  }
  for (const auto& [parameter, name] : sums) {
    auto found = updating.variables.find(name);
    const bool emptied = found != updating.variables.end() && found->second == Terms::kZero;
    auto start = initial_.find(name);
    if (!emptied || start == initial_.end() || start->second != Terms::kZero)
      return unknown(at,
                     "it is not shown that `" + name + "`, which adds up the gradients of `" +
                         parameter + "`, begins at zero, and again after the update",
                     "empty it in start-up and where it is taken out");
  }
  for (const auto& [parameter, name] : sums) {
    sums_.push_back(name);
    accounted_.insert(name);
  }
  // What else is new moves with the update: the counters of the loss scale.
  if (!countsTo(*conditions.due, between, updating, at)) return;
  for (const std::string& name : added_) {
    auto found = between.variables.find(name);
    if (accounted_.count(name) || found == between.variables.end() ||
        found->second == variableTerm(terms_, name))
      continue;
    return unknown(at, "variable `" + name + "` changes in a step that does not update",
                   "change it with the update");
  }
}

// A step whose gradients overflow leaves the update out, but it is a step: sums are emptied and
// counters move as in any other.
void Proof::mergesAlike(const Effects& overflow, pd::ProgramOp at) {
  const auto ends = [&](const std::string& name, TermId wanted) {
    auto found = overflow.variables.find(name);
    if (found != overflow.variables.end() && found->second == wanted) return true;
    unknown(at,
            "it is not shown that `" + name +
                "` goes on as in other steps where a gradient is not finite",
            "empty sums and count steps outside of the branch that such a step leaves out");
    return false;
  };
  for (const std::string& name : sums_)
    if (!ends(name, Terms::kZero)) return;
  for (const auto& [name, term] : counted_)
    if (!ends(name, term)) return;
}

// A condition that has held good for two periods does so for ever: it looks at the remainder by a
// constant of counters that grow by constants.
bool Proof::isPeriodic(AtomId due, const std::map<std::string, int64_t>& counters,
                       const Effects& between, const Effects& update) {
  const Atom& equal = terms_.atomOf(due);
  if (equal.type != "equal" || equal.operands.size() != 2) return false;
  const Atom* rest = terms_.single(equal.operands[0]);
  if (!rest || rest->type != "elementwise_mod" ||
      valueOf(terms_, rest->operands[1], {}) != changes_.merged->steps ||
      !valueOf(terms_, equal.operands[1], {}))
    return false;
  auto counts = [&](const Atom* atom, const std::string& name) {
    return atom && atom->type == "increment" && atom->operands[0] == variableTerm(terms_, name);
  };
  return llvm::all_of(counters, [&](const auto& counter) {
    const std::string& name = counter.first;
    if (!counts(terms_.single(rest->operands[0]), name)) return false;
    return llvm::all_of(
        std::initializer_list<const Effects*>{&between, &update}, [&](const Effects* effects) {
          auto found = effects->variables.find(name);
          return found != effects->variables.end() && counts(terms_.single(found->second), name);
        });
  });
}

// The branch is taken in steps k, 2k, 3k …
bool Proof::countsTo(AtomId due, const Effects& between, const Effects& update, pd::ProgramOp at) {
  const int64_t steps = changes_.merged->steps;
  const TermId condition = terms_.of(due);
  auto fail = [&](const std::string& why) {
    mlir::Operation* op = terms_.atomOf(due).op;
    unknown(op ? op : at.getOperation(),
            "it is not shown that the update runs in every " + std::to_string(steps) +
                "th step: " + why,
            kAgain);
    return false;
  };
  if (steps > kLongestPeriod) return fail("the period is too long to be counted out");
  std::map<std::string, int64_t> counters;
  for (const std::string& name : variablesOf(terms_, condition)) {
    auto start = initial_.find(name);
    const std::optional<int64_t> value =
        start == initial_.end() ? std::nullopt : valueOf(terms_, start->second, {});
    if (!value) return fail("`" + name + "` does not begin with a number");
    counters[name] = *value;
    accounted_.insert(name);
    auto after = update.variables.find(name);
    counted_[name] = after == update.variables.end() ? variableTerm(terms_, name) : after->second;
  }
  for (int64_t step = 1; step <= 2 * steps; ++step) {
    const std::optional<int64_t> taken = valueOf(terms_, condition, counters);
    if (!taken) return fail("the condition is not computed from a counter");
    if ((*taken != 0) != (step % steps == 0))
      return fail("in step " + std::to_string(step) + " it does " +
                  (*taken != 0 ? "run" : "not run"));
    std::map<std::string, int64_t> next;
    for (const auto& [name, value] : counters) {
      const Effects& effects = *taken != 0 ? update : between;
      auto found = effects.variables.find(name);
      const std::optional<int64_t> after =
          found == effects.variables.end() ? value : valueOf(terms_, found->second, counters);
      if (!after) return fail("`" + name + "` is not counted up");
      next[name] = *after;
    }
    counters = std::move(next);
  }
  return isPeriodic(due, counters, between, update) ||
         fail("it does for two periods, and is no remainder of a counter");
}

}  // namespace dtranspile::verify

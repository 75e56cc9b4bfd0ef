// The loss scale and its counters are variables that the source does not have, so that nothing of
// the source says what they are to be: the declared change does. They begin as it says, and one
// update_loss_scaling moves each of them, from its own value, by the declared numbers, in every
// step that updates. So a counter in another's slot, a state that is set otherwise, or left alone,
// is another term than the declared one.
#include "compiler/verify/refinement/algebra.h"
#include "compiler/verify/refinement/counting.h"
#include "compiler/verify/refinement/proof.h"
#include "compiler/verify/refinement/truth.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

constexpr char kAgain[] = "make the job again";

// As describeOp writes them: floats are those of 32 bits.
std::map<std::string, std::string> attributesOf(const LossScaling& scaling) {
  const auto whole = [](int64_t value) {
    return attributeText({static_cast<double>(value)}, /*single=*/false);
  };
  const auto real = [](double value) { return attributeText({value}, /*single=*/true); };
  return {{"incr_every_n_steps", whole(scaling.increaseEvery)},
          {"decr_every_n_nan_or_inf", whole(scaling.decreaseEvery)},
          {"incr_ratio", real(scaling.increase)},
          {"decr_ratio", real(scaling.decrease)},
          {"stop_update", whole(0)}};
}

// The number that a constant of start-up is.
std::optional<double> constantOf(const Terms& terms, TermId term) {
  if (term == Terms::kZero) return 0;
  const Atom* atom = terms.single(term);
  if (!atom || !atom->op || atom->type != "fill_constant" || !atom->operands.empty() ||
      !pd::OpView(atom->op).getString("str_value").empty())
    return std::nullopt;
  return pd::OpView(atom->op).getFloat("value");
}

}  // namespace

// Of one case: nothing but the scale's own update has moved it and its counters.
bool Proof::movesAsDeclared(const std::string& scale, const Case& one, pd::ProgramOp at) {
  const auto fail = [&](const std::string& why) {
    unknown(at, "it is not shown that the loss scale `" + scale + "` moves as declared: " + why,
            kAgain);
    return false;
  };
  const auto after = [&](const std::string& name) {
    auto found = one.effects.variables.find(name);
    return found == one.effects.variables.end() ? variableTerm(terms_, name) : found->second;
  };
  const LossScaling& scaling = *changes_.scaling;
  if (!scaling.dynamic)
    return after(scale) == variableTerm(terms_, scale) || fail("it is declared to stay");
  const Atom* moved = terms_.single(after(scale));
  if (!moved || moved->type != "update_loss_scaling" ||
      moved->operands.size() != std::size(kScaleState))
    return fail("update_loss_scaling does not set it");
  const std::vector<TermId> state = moved->operands;
  const std::optional<bool> found = truthOf(terms_, state[0], one.assumed);
  const bool overflow = llvm::any_of(one.assumed, [&](const auto& entry) {
    return entry.second && terms_.atomOf(entry.first).type == kFoundInfinite;
  });
  if (found != overflow) return fail("it does not look at what the check of all gradients found");
  // Its counters, by name: each is its own, and not the other one.
  std::string counters[2];
  for (const std::string& name : added_)
    for (int i : {0, 1})
      if (name != scale && state[2 + i] == variableTerm(terms_, name)) counters[i] = name;
  if (counters[0].empty() || counters[1].empty() || counters[0] == counters[1])
    return fail("it does not count steps in two variables of its own");
  const std::pair<std::string, const char*> all[] = {
      {scale, "LossScaling#0"}, {counters[0], "OutGoodSteps#0"}, {counters[1], "OutBadSteps#0"}};
  const auto attributes = attributesOf(scaling);
  for (const auto& [name, output] : all) {
    const std::vector<TermId> own = {state[0], variableTerm(terms_, scale), state[2], state[3]};
    if (after(name) != movedScale(terms_, attributes, output, own, moved->op))
      return fail("`" + name + "` is not what the declared numbers make of it");
    accounted_.insert(name);
    if (name == scale) continue;
    auto start = initial_.find(name);
    if (start == initial_.end() || constantOf(terms_, start->second) != 0.0)
      return fail("`" + name + "` does not begin at 0");
  }
  return true;
}

// One variable may scale the loss: it is positive, starts as declared, and moves in every case as
// update_loss_scaling is defined to. Then gradients that carry it and lose it again are those of
// the source.
void Proof::lossScale(llvm::ArrayRef<Case> cases, pd::ProgramOp at) {
  if (!changes_.scaling) {
    if (!positive_.empty())
      unknown(at, "scales the loss by `" + positive_.front() + "`, which is not declared", kAgain);
    return;
  }
  if (positive_.size() != 1)
    return unknown(at, "the loss is declared to be scaled, and no one scale is taken back", kAgain);
  const std::string& scale = positive_.front();
  auto start = initial_.find(scale);
  const std::optional<double> begins =
      start == initial_.end() ? std::nullopt : constantOf(terms_, start->second);
  if (begins != static_cast<double>(static_cast<float>(changes_.scaling->initial)))
    return unknown(at, "the loss scale `" + scale + "` does not begin as declared", kAgain);
  accounted_.insert(scale);
  for (const Case& one : cases)
    if (!movesAsDeclared(scale, one, at)) return;
}

// A variable that no declared change explains might do anything.
void Proof::allAreAccountedFor(pd::ProgramOp at) {
  accounted_.insert(own_.begin(), own_.end());
  for (const std::string& name : added_)
    if (!accounted_.count(name))
      return unknown(at,
                     "variable `" + name +
                         "` is none of the source, and no declared change says what it is for",
                     "remove it, or declare the change that needs it");
}

}  // namespace dtranspile::verify

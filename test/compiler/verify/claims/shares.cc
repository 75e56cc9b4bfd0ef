// Claims about values per share (state Q): what an op gives of one is a function of what the share
// has. Every coordinate has a value of its own, times the scale that the claim says; what it gives
// is held against the claimed scale times what the op gives of the unscaled one. Where a result is
// split, its parts must be even unless the rule says otherwise; where it is whole, equal.
#include <algorithm>

#include "test/compiler/verify/claims/elements.h"
#include "test/compiler/verify/claims/trial.h"

namespace dtranspile::claims {
namespace {

using verify::Reading;
using verify::Relation;
using verify::State;

// As many as the states of the whole get; shares are cheap, but every way to cut is compiled.
size_t mostRun(int64_t n) { return n == 2 ? 24 : n == 3 ? 8 : 4; }

}  // namespace

void Trial::runShares() {
  std::vector<Claim> all;
  for (Assignment& assignment : shareAssignmentsOf(instance_.operands)) {
    if (!hasParts(assignment)) continue;
    Claim claim{std::move(assignment), {}};
    claim.answers = asked_.answers(claim.assignment, true);
    if (!claim.answers.empty()) all.push_back(std::move(claim));
  }
  std::shuffle(all.begin(), all.end(), random_);
  all.resize(std::min(all.size(), mostRun(n_)));
  for (const Claim& claim : all) count(holdShares(claim));
}

Trial::Outcome Trial::holdShares(const Claim& claim) {
  Assignment unscaled = claim.assignment;
  for (Held& held : unscaled) held.scale = verify::Rational();
  std::optional<Operands> operands = operandsOf(unscaled);
  if (!operands) return {0, {}, {"have parts that cannot be made"}};
  std::vector<Tensors> given, shares;
  for (const Tensors& own : operands->own) {
    Tensors scaled = own;
    for (size_t i = 0; i < scaled.size(); ++i)
      if (!claim.assignment[i].scale.isOne())
        scaled[i] = timesScale(own[i], claim.assignment[i].scale);
    const size_t c = given.size();
    absl::StatusOr<Tensors> part = runAt(c, scaled), share = runAt(c, own);
    if (!part.ok() || !share.ok()) return {0, {}, {"do not run on a share with its own value"}};
    given.push_back(std::move(*part));
    shares.push_back(std::move(*share));
  }
  Outcome outcome;
  for (const Answer& answer : claim.answers)
    for (auto [i, relation] : llvm::enumerate(answer.relations)) {
      auto isThere = [&, i = i](const Tensors& one) { return one[i] != nullptr; };
      if (!Answer::ofShare(relation) || !llvm::all_of(shares, isThere) ||
          !llvm::all_of(given, isThere) || !hasNumbers(shares[0][i]->dtype))
        continue;
      ++outcome.claims;
      const Reading multiple{true, {State::replicated()}, relation.whole.scale};
      const Reading equal{true, {State::replicated()}, verify::Rational()};
      const State& state = relation.whole.states[0];
      Tensors results;
      for (const Tensors& one : given) results.push_back(one[i]);
      std::string what;
      for (size_t c = 0; what.empty() && c < results.size(); ++c)
        what = compare({results[c]}, multiple, *shares[c][i]);
      if (what.empty() && state.isReplicated()) what = compare(results, equal, *results[0]);
      if (what.empty() && state.isSplit() && state.dim != dist::kFlat && !relation.uneven)
        what = compareExtents(results, state.dim);
      if (!what.empty())
        outcome.wrong.push_back(text(claim, answer, static_cast<int>(i), "of a share: " + what));
    }
  return outcome;
}

}  // namespace dtranspile::claims

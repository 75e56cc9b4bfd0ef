#include "test/compiler/verify/claims/trial.h"

#include <algorithm>
#include <set>

#include "test/compiler/verify/claims/draws.h"
#include "test/compiler/verify/claims/elements.h"
#include "test/compiler/verify/claims/fed.h"

namespace dtranspile::claims {
namespace {

using verify::Rational;
using verify::Reading;
using verify::Relation;
using verify::State;

// Assignments that are run. What holds for 2 parts and not for 4 is rare, and every way to cut
// extents is another compilation.
size_t mostRun(int64_t n) { return n == 2 ? 40 : n == 3 ? 20 : 12; }

uint64_t hashOf(const std::string& text) {
  uint64_t hash = 1469598103934665603u;  // FNV-1a
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

bool hasZero(const Assignment& assignment) {
  return llvm::any_of(assignment, [](const Held& held) { return held.zero; });
}

// A zero has the extents of what it is added to, so that a claim about one is right where it is for
// some extents: other ways to cut the zeros of an assignment.
std::vector<Assignment> otherZeros(const Assignment& assignment, const Tensors& operands,
                                   int64_t n) {
  std::vector<Assignment> all = {assignment};
  for (size_t i = 0; i < assignment.size(); ++i) {
    if (!assignment[i].zero) continue;
    std::vector<Assignment> more;
    for (const Assignment& one : all)
      for (int64_t dim = -1; dim < static_cast<int64_t>(operands[i]->dims.size()); ++dim) {
        if (dim >= 0 && operands[i]->dims[static_cast<size_t>(dim)] < n) continue;
        Assignment other = one;
        other[i].state = dim < 0 ? State::replicated() : State::split(dim);
        more.push_back(std::move(other));
      }
    // As another operand is cut: into blocks of a size, or along the flattened tensor.
    for (const Assignment& one : all)
      for (size_t j = 0; j < assignment.size(); ++j) {
        const State& state = assignment[j].state;
        if (assignment[j].zero || !state.isSplit() || !state.layoutAttr()) continue;
        auto cut = [&](State as) {
          Assignment other = one;
          other[i].state = as;
          more.push_back(std::move(other));
        };
        if (state.dim == dist::kFlat) {
          cut(state);
          continue;
        }
        for (size_t dim = 0; dim < operands[i]->dims.size(); ++dim)
          if (operands[i]->dims[dim] == operands[j]->dims[static_cast<size_t>(state.dim)])
            cut(State::split(static_cast<int64_t>(dim), state.layoutAttr()));
      }
    all = std::move(more);
  }
  return all;
}

}  // namespace

Trial::Trial(const Instance& instance, const verify::ParsedRule& rule, int64_t n, Native& native,
             Tally& tally)
    : instance_(instance),
      asked_(instance, rule, n),
      n_(n),
      native_(native),
      tally_(tally),
      random_(hashOf(instance.op.key()) + static_cast<uint64_t>(n)) {}

void Trial::run() {
  findDraws();
  for (const Claim& claim : claimed()) count(hold(claim));
  runShares();
}

void Trial::count(const Outcome& outcome) {
  tally_.claims += outcome.claims;
  for (const std::string& why : outcome.left) ++tally_.untested[why];
  for (const std::string& wrong : outcome.wrong) tally_.fail(wrong + " (" + instance_.where + ")");
}

bool Trial::hasParts(const Assignment& assignment) const {
  std::optional<Cuts> cuts = cutsOf(instance_.operands, assignment, n_);
  if (!cuts) return false;
  for (size_t i = 0; i < assignment.size(); ++i) {
    const State& state = assignment[i].state;
    if (state.isSplit() && !boundsOf(*instance_.operands[i], state, n_, *cuts)) return false;
    // Small constants of formulas are 0 in half floats, too: 0 / 0.
    if (assignment[i].zero && isHalf(instance_.operands[i]->dtype)) return false;
    if (kindOf(instance_.op.values[i]) == pd::Kind::Tensor) continue;
    // Rows and items are added up where they are looked at.
    if (assignment[i].zero || (state.isPartial() && state.reduce != dist::Reduce::Sum) ||
        (state.isSplit() && (state.dim == dist::kFlat || state.layoutAttr())))
      return false;
  }
  return true;
}

// What follows from a seed is drawn; what follows from where a rank stands too, but not from the
// seed of the run, comes from a seed of the op's own.
void Trial::findDraws() {
  const pd::OpView op = instance_.op.view();
  if (!op.spec() || !(op.spec()->effects & pd::kRandom)) return;
  absl::StatusOr<Tensors> one = native_.run(instance_.op, instance_.operands, {0, n_, 1}),
                          other = native_.run(instance_.op, instance_.operands, {0, n_, 2}),
                          behind = native_.run(instance_.op, instance_.operands, {1, n_, 1});
  drawn_.assign(instance_.results.size(), false);
  if (!one.ok() || !other.ok() || !behind.ok()) return;
  auto same = [](const TensorPtr& a, const TensorPtr& b) {
    if (!a || !b || a->dims != b->dims) return !a && !b;
    for (int64_t i = 0, count = countOf(*a); i < count; ++i)
      if (const double x = number(*a, i), y = number(*b, i); x != y && !(x != x && y != y))
        return false;
    return true;
  };
  for (size_t i = 0; i < drawn_.size(); ++i) {
    drawn_[i] = !same((*one)[i], (*other)[i]);
    drawsBySeed_ |= !drawn_[i] && !same((*one)[i], (*behind)[i]);
  }
}

// Those that are run: one of every pattern of states first, then others of other scales.
std::vector<Trial::Claim> Trial::claimed() {
  std::vector<Claim> first, rest;
  std::set<std::string> patterns;
  mlir::MLIRContext* context = instance_.op.op->getContext();
  // That whole operands give what the reference has need not be asked, but of what is drawn, and of
  // what has no operands.
  const bool plain = !drawn_.empty() || instance_.operands.empty();
  for (Assignment& assignment : assignmentsOf(context, instance_.operands, n_, random_, plain)) {
    if (!hasParts(assignment)) continue;
    Claim claim{std::move(assignment), {}};
    claim.answers = asked_.answers(claim.assignment);
    if (claim.answers.empty()) continue;
    const bool fresh = patterns.insert(patternOf(claim.assignment)).second;
    (fresh ? first : rest).push_back(std::move(claim));
  }
  std::shuffle(rest.begin(), rest.end(), random_);
  const size_t most = mostRun(n_);
  if (first.size() > most) {
    std::shuffle(first.begin(), first.end(), random_);
    first.resize(most);
  }
  for (Claim& claim : rest)
    if (first.size() < most) first.push_back(std::move(claim));
  return first;
}

std::string Trial::text(const Claim& claim, const Answer& answer, int result,
                        const std::string& what) const {
  return asked_.text(claim.assignment, answer, result) + ": " + what;
}

Trial::Outcome Trial::hold(const Claim& claim) {
  Outcome outcome = hold(claim, claim.assignment);
  if (outcome.clean() || !hasZero(claim.assignment)) return outcome;
  for (const Assignment& made : otherZeros(claim.assignment, instance_.operands, n_)) {
    if (!hasParts(made)) continue;
    Outcome other = hold(claim, made);
    if (other.wrong.empty() && other.claims > 0) return other;
  }
  return outcome;
}

std::optional<Trial::Operands> Trial::operandsOf(const Assignment& assignment) {
  std::optional<Cuts> cuts = cutsOf(instance_.operands, assignment, n_);
  Operands operands{instance_.operands, std::vector<Tensors>(static_cast<size_t>(n_))};
  for (size_t i = 0; i < assignment.size(); ++i) {
    std::optional<Tensors> parts =
        cuts ? partsOf(*operands.whole[i], assignment[i], n_, *cuts, random_) : std::nullopt;
    if (!parts) return std::nullopt;
    for (size_t c = 0; c < operands.own.size(); ++c) operands.own[c].push_back((*parts)[c]);
    if (assignment[i].zero) operands.whole[i] = zerosLike(*operands.whole[i]);
  }
  return operands;
}

// Ops that cannot be asked before they run whether a part fits, and refuse one that does not: no
// part may cut a video.
constexpr llvm::StringRef kRefusing[] = {"temporal_shift", "temporal_shift_grad"};

// Wrong where all results are claimed: else the rule has not said that the op fits such operands.
Trial::Outcome Trial::refused(const Claim& claim, size_t coordinate,
                              const absl::Status& status) const {
  if (llvm::is_contained(kRefusing, instance_.op.view().type()))
    return {0, {}, {"refuse a part when they run"}};
  for (const Answer& answer : claim.answers)
    if (llvm::all_of(answer.relations, [](const Relation& one) {
          return one.known() && !one.isZero && Answer::untestable(one).empty();
        }))
      return {
          1,
          {text(claim, answer, -1,
                "coordinate " + std::to_string(coordinate) + " " + std::string(status.message()))},
          {}};
  return {0, {}, {"do not run where some results are unknown"}};
}

Trial::Outcome Trial::hold(const Claim& claim, const Assignment& made) {
  std::optional<Operands> operands = operandsOf(made);
  if (!operands) return {0, {}, {"have parts that cannot be made"}};
  Tensors whole = instance_.results;
  if (hasZero(made)) {
    absl::StatusOr<Tensors> given = native_.run(instance_.op, operands->whole);
    if (!given.ok()) return {0, {}, {"do not run with zeros"}};
    whole = *given;
  }
  std::vector<Tensors> given;
  for (const Tensors& own : operands->own) {
    absl::StatusOr<Tensors> part = runAt(given.size(), own);
    if (!part.ok()) return refused(claim, given.size(), part.status());
    given.push_back(std::move(*part));
  }
  Outcome outcome;
  holdWhole(claim, given, whole, outcome);
  holdDraws(claim, *operands, outcome);
  holdParts(claim, given, outcome);
  return outcome;
}

// Why a claim about a result is not looked at; empty where it is.
std::string Trial::leftOut(const Answer& answer, size_t result, const Tensors& whole) const {
  const Relation& relation = answer.relations[result];
  if (std::string why = Answer::untestable(relation); !why.empty()) return why;
  if (!whole[result] || !hasNumbers(whole[result]->dtype)) return "are about no tensor";
  if (drawsBySeed_ && relation.whole.states[0].isSplit()) return "are about a seed of the op's own";
  const State& state = relation.whole.states[0];
  const bool tensor =
      kindOf(instance_.op.op->getResult(static_cast<unsigned>(result))) == pd::Kind::Tensor;
  if (!tensor && ((state.isPartial() && state.reduce != dist::Reduce::Sum) ||
                  (state.isSplit() && state.dim == dist::kFlat)))
    return "are about the largest of rows or lists";
  return "";
}

// Parts of what is drawn along a dim.
bool Trial::isDrawnInParts(size_t result, const Relation& relation) const {
  if (drawn_.empty() || !drawn_[result] || relation.isZero) return false;
  return relation.whole.states[0].isSplit() && Answer::untestable(relation).empty();
}

void Trial::holdDraws(const Claim& claim, const Operands& operands, Outcome& outcome) {
  std::vector<std::pair<const Answer*, size_t>> about;
  for (const Answer& answer : claim.answers)
    for (auto [i, relation] : llvm::enumerate(answer.relations))
      if (relation.known() && isDrawnInParts(i, relation)) about.push_back({&answer, i});
  if (about.empty()) return;
  std::vector<Tensors> whole;               // of every run: results
  std::vector<std::vector<Tensors>> parts;  // of every run and coordinate: results
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    absl::StatusOr<Tensors> run = native_.run(instance_.op, operands.whole, {0, 1, seed});
    if (!run.ok()) return outcome.left.push_back("do not run again");
    whole.push_back(std::move(*run));
    parts.emplace_back();
    for (size_t c = 0; c < operands.own.size(); ++c) {
      absl::StatusOr<Tensors> part =
          native_.run(instance_.op, operands.own[c], {static_cast<int64_t>(c), n_, seed});
      if (!part.ok()) return outcome.left.push_back("do not run again");
      parts.back().push_back(std::move(*part));
    }
  }
  for (auto [answer, i] : about) {
    if (!whole[0][i] || !whole[0][i]->lod.empty()) {
      outcome.left.push_back("are about ragged draws");
      continue;
    }
    Tensors right;
    std::vector<Tensors> drawn;
    for (size_t k = 0; k < whole.size(); ++k) {
      right.push_back(whole[k][i]);
      drawn.emplace_back();
      for (const Tensors& part : parts[k]) drawn.back().push_back(part[i]);
    }
    ++outcome.claims;
    const Reading& reading = answer->relations[i].whole;
    const double scale = static_cast<double>(reading.scale.numerator()) /
                         static_cast<double>(reading.scale.denominator());
    std::string what = compareDraws(right, drawn, reading.states[0].dim, scale);
    if (!what.empty()) outcome.wrong.push_back(text(claim, *answer, static_cast<int>(i), what));
  }
}

void Trial::holdWhole(const Claim& claim, const std::vector<Tensors>& given, const Tensors& whole,
                      Outcome& outcome) const {
  for (const Answer& answer : claim.answers)
    for (auto [i, relation] : llvm::enumerate(answer.relations)) {
      if (!relation.known() || isDrawnInParts(i, relation)) continue;
      if (std::string why = leftOut(answer, i, whole); !why.empty()) {
        outcome.left.push_back(why);
        continue;
      }
      ++outcome.claims;
      Tensors parts;
      for (const Tensors& one : given) parts.push_back(one[i]);
      if (!llvm::all_of(parts, [](const TensorPtr& part) { return part != nullptr; })) {
        outcome.wrong.push_back(
            text(claim, answer, static_cast<int>(i), "items differ in extents"));
        continue;
      }
      std::string what =
          relation.isZero ? compareZero(parts) : compare(parts, relation.whole, *whole[i]);
      const State& state = relation.whole.states[0];
      if (what.empty() && state.isSplit() && state.dim != dist::kFlat && !state.layoutAttr() &&
          !relation.uneven && !relation.isZero)
        what = compareExtents(parts, state.dim);
      if (!what.empty()) outcome.wrong.push_back(text(claim, answer, static_cast<int>(i), what));
    }
}

// In the parts reading each coordinate has a multiple of what the op gives on its share. Only
// scales say more than that the op is run twice.
void Trial::holdParts(const Claim& claim, const std::vector<Tensors>& given, Outcome& outcome) {
  Assignment shares = claim.assignment;
  bool scaled = false;
  for (Held& held : shares) {
    if (held.zero || held.state.isPartial()) return;
    scaled |= !held.scale.isOne();
    held.scale = Rational();
  }
  const Answer& answer = claim.answers[0];
  if (!scaled ||
      llvm::none_of(answer.relations, [](const Relation& one) { return one.parts.known; }))
    return;
  std::optional<Operands> operands = operandsOf(shares);
  if (!operands) return;
  for (size_t c = 0; c < given.size(); ++c) {
    absl::StatusOr<Tensors> share = runAt(c, operands->own[c]);
    if (!share.ok()) return;
    for (auto [i, relation] : llvm::enumerate(answer.relations)) {
      const Tensor* tensor = (*share)[i].get();
      if (!relation.parts.known || relation.isZero || !tensor || !given[c][i] ||
          !hasNumbers(tensor->dtype))
        continue;
      if (c == 0) ++outcome.claims;
      const Reading equal{true, {State::replicated()}, relation.parts.scale};
      std::string what = compare({given[c][i]}, equal, *tensor);
      if (!what.empty())
        outcome.wrong.push_back(
            text(claim, answer, static_cast<int>(i),
                 "in parts, " + relation.parts.scale.text() + " times the share's: " + what));
    }
  }
}

}  // namespace dtranspile::claims

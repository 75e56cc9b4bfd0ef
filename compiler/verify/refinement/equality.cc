#include "compiler/verify/refinement/equality.h"

#include <algorithm>
#include <deque>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace dtranspile::verify {
namespace {

// For everything that is asked of one proof. What comes later is unknown.
constexpr int64_t kWork = 10'000'000;      // of the solver, for one case
constexpr std::chrono::seconds kTime{10};  // on a machine that is very slow
constexpr int64_t kMostQuestions = 400;
// Atoms of both programs are left as they are where they stand this far below a pair, or further.
constexpr int kNowhere = 1 << 20;
constexpr int kLevels[] = {0, 1, 2, 4, 8, kNowhere};

Answer unknown(std::string why) {
  Answer answer;
  answer.why = std::move(why);
  return answer;
}

}  // namespace

Equality::Equality(Terms& terms)
    : terms_(terms),
      formulas_(terms, sorts_),
      look_(formulas_, prints_, found_, Positions()),
      end_(std::chrono::steady_clock::now() + kTime) {}

bool Equality::late() const {
  return solver_.work() > kWork || std::chrono::steady_clock::now() > end_;
}

// Atoms below the terms, operands first.
std::vector<AtomId> Equality::reach(llvm::ArrayRef<TermId> roots) const {
  std::vector<bool> seen(terms_.atomCount(), false);
  std::vector<TermId> work(roots.begin(), roots.end());
  std::vector<AtomId> found;
  while (!work.empty()) {
    const TermId term = work.back();
    work.pop_back();
    for (const Summand& summand : terms_.summands(term)) {
      if (seen[summand.atom]) continue;
      seen[summand.atom] = true;
      found.push_back(summand.atom);
      const std::vector<TermId>& operands = terms_.atomOf(summand.atom).operands;
      work.insert(work.end(), operands.begin(), operands.end());
    }
  }
  llvm::sort(found);
  return found;
}

// How far below the pair an atom stands.
Equality::Depths Equality::depths(const OpenPair& pair) const {
  Depths depths;
  std::deque<std::pair<TermId, int>> work = {{pair.mine, 0}, {pair.theirs, 0}};
  while (!work.empty()) {
    const auto [term, depth] = work.front();
    work.pop_front();
    for (const Summand& summand : terms_.summands(term)) {
      const AtomId atom = found_.of(summand.atom);
      if (!depths.try_emplace(atom, depth).second) continue;
      for (TermId operand : terms_.atomOf(atom).operands) work.emplace_back(operand, depth + 1);
    }
  }
  return depths;
}

// Formulas are made from the operands up, so that what is known of extents and pieces is complete
// before an element is looked at.
void Equality::prepare(llvm::ArrayRef<OpenPair> pairs) {
  std::vector<TermId> mine, theirs;
  for (const OpenPair& pair : pairs) mine.push_back(pair.mine), theirs.push_back(pair.theirs);
  const std::vector<AtomId> a = reach(mine), b = reach(theirs);
  std::vector<AtomId> all, both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  shared_.insert(both.begin(), both.end());
  for (AtomId atom : all) formulas_.of(atom);
  for (AtomId atom : all) {
    if (late() || look_.failed()) return;
    meet(atom);
  }
}

// An atom is the same as one before it, or a class of its own.
void Equality::meet(AtomId atom) {
  const std::string print = printOf(atom);
  if (print.empty()) return;
  std::vector<AtomId>& candidates = met_[print];
  // What the programs share is told apart by its number already.
  if (!shared_.count(atom))
    for (AtomId known : candidates)
      if (congruent(atom, known)) return merge(atom, known);
  candidates.push_back(atom);
}

// Equal values are as long as each other.
void Equality::merge(AtomId atom, AtomId known) {
  const mlir::RankedTensorType a = realTensorOf(terms_.typeOf(terms_.of(atom))),
                               b = realTensorOf(terms_.typeOf(terms_.of(known)));
  if (a && a == b)
    for (auto [x, y] : llvm::zip_equal(formulas_.dims({terms_.of(atom), a}),
                                       formulas_.dims({terms_.of(known), b})))
      if (x.extent < 0) sorts_.unite(x.sort, y.sort);
  found_.same[atom] = known;
  shared_.insert(known);
}

// What equal atoms have in common, empty where nothing is found out: the value of an element at a
// random point, or type, attributes and operands' values.
std::string Equality::printOf(AtomId id) {
  const Atom& atom = terms_.atomOf(id);
  if (atom.operands.empty()) return "";
  std::string text;
  if (formulas_.of(id)) {
    const FormulaContext context(atom, formulas_);
    llvm::raw_string_ostream out(text);
    out << "of " << context.type().getShape().size() << "[";
    for (int64_t extent : context.type().getShape()) out << extent << ",";
    // The atom alone, as the result that it is.
    const Operand alone{terms_.of(id), context.type()};
    out << "] " << prints_.at(look_.at(alone, look_.sample(alone))).value;
    return look_.failed() ? "" : text;
  }
  text = atom.key;
  for (TermId operand : atom.operands) {
    const std::string one = printOf(operand, terms_.typeOf(operand));
    text += "|" + one;
  }
  return look_.failed() ? "" : text;
}

// A fingerprint: terms with different prints are different, equal ones are candidates for a proof.
// Of tensors it is the value of one element in the finite field.
std::string Equality::printOf(TermId term, mlir::Type type) {
  if (mlir::RankedTensorType tensor = realTensorOf(type)) {
    const Operand operand{term, tensor};
    return std::to_string(prints_.at(look_.at(operand, look_.sample(operand))).value);
  }
  // Of other values it is known which one they are.
  std::string text = "=";
  for (const Summand& summand : terms_.summands(term))
    text += std::to_string(found_.of(summand.atom)) + "*" + summand.factor.text() + ",";
  return text;
}

// Term by term, with equal atoms being one.
bool Equality::sameTerm(TermId a, TermId b) const {
  if (a == b) return true;
  const auto normal = [&](TermId term) {
    std::vector<std::tuple<AtomId, std::vector<std::pair<AtomId, int>>, int64_t, int64_t>> all;
    for (const Summand& one : terms_.summands(term))
      all.emplace_back(found_.of(one.atom),
                       std::vector<std::pair<AtomId, int>>(one.scalars.begin(), one.scalars.end()),
                       one.factor.numerator(), one.factor.denominator());
    llvm::sort(all);
    return all;
  };
  return normal(a) == normal(b);
}

// By formulas where both atoms have one; else two applications of the same operation are equal if
// their operands are (congruence closure).
bool Equality::congruent(AtomId a, AtomId b) {
  const Atom &x = terms_.atomOf(a), &y = terms_.atomOf(b);
  if (formulas_.of(a) && formulas_.of(b)) {
    const FormulaContext context(x, formulas_);
    return equal(terms_.of(a), terms_.of(b), context.type());
  }
  if (x.key != y.key || x.operands.size() != y.operands.size()) return false;
  for (size_t i = 0; i < x.operands.size(); ++i)
    if (!equal(x.operands[i], y.operands[i], terms_.typeOf(x.operands[i]))) return false;
  return true;
}

bool Equality::equal(TermId a, TermId b, mlir::Type type) {
  if (sameTerm(a, b)) return true;
  if (!realTensorOf(type) || terms_.typeOf(a) != terms_.typeOf(b)) return false;
  auto [at, first] = decided_.try_emplace({a, b}, false);
  if (first) at->second = decide({a, b, type}).kind == Answer::Equal;
  return at->second;
}

// Whether extents that are known by the step only are the same of both.
bool Equality::asLong(const OpenPair& pair) {
  const mlir::RankedTensorType type = realTensorOf(pair.type);
  return llvm::all_of(
      llvm::zip_equal(formulas_.dims({pair.mine, type}), formulas_.dims({pair.theirs, type})),
      [&](const auto& both) {
        const Dim &x = std::get<0>(both), &y = std::get<1>(both);
        return x.extent >= 0 || sorts_.find(x.sort) == sorts_.find(y.sort);
      });
}

// First with all that both programs have left as it is, then with formulas further and further
// down.
Answer Equality::decide(const OpenPair& pair) {
  if (sameTerm(pair.mine, pair.theirs)) {
    Answer answer;
    answer.kind = Answer::Equal;
    return answer;
  }
  if (!realTensorOf(pair.type)) return unknown("it is no dense tensor of floats");
  if (look_.failed()) return unknown("the programs are too large for the solver");
  if (!asLong(pair)) return unknown("it is not known that both have one extent");
  const Depths depths = this->depths(pair);
  Answer answer = unknown("not asked");
  std::set<AtomId> before;
  bool first = true;
  for (int level : kLevels) {
    if (late() || asked() > kMostQuestions) return unknown("the time for the solver is over");
    Given given{found_.same, {}};
    for (auto [atom, depth] : depths)
      if (depth >= level && shared_.count(atom)) given.opaque.insert(atom);
    if (!first && given.opaque == before && level != kNowhere) continue;
    first = false;
    before = given.opaque;
    answer = attempt(pair, given, level == kNowhere);
    if (answer.kind != Answer::Unknown) return answer;
  }
  return answer;
}

// `last`: nothing is left as it is, so that a difference is one of the programs.
Answer Equality::attempt(const OpenPair& pair, const Given& given, bool last) {
  const mlir::RankedTensorType type = realTensorOf(pair.type);
  Needs needs(formulas_, given);
  needs.add({pair.mine, type});
  needs.add({pair.theirs, type});
  if (needs.failed()) return unknown("an instance would need too many positions along an axis");
  const Answer answer = compare(pair, given, needs.positions(), /*refute=*/false);
  if (answer.kind == Answer::Equal || !last) return answer;
  Positions exact = needs.positions();
  exact.exact = true;
  // Whoever feeds a step gives all feeds one number of samples.
  int64_t samples = 1;
  for (auto [length, count] : exact.counts)
    if (length < 0) samples = std::max(samples, count);
  for (auto& [length, count] : exact.counts)
    if (length < 0) count = samples;
  const Answer refuted = compare(pair, given, exact, /*refute=*/true);
  return refuted.kind == Answer::Differ ? refuted : answer;
}

// Compares two terms at generic positions of an instance of small extents (refute: of concrete
// ones). First by the values that expressions have in a finite field under random leaves: different
// values mean that they are not the same rational function, and equal expressions share a number
// anyway. What is left goes to the solver. To show equality every position must be equal; to
// refute, one that differs with concrete numbers is enough.
Answer Equality::compare(const OpenPair& pair, const Given& given, const Positions& positions,
                         bool refute) {
  Expressions expressions;
  Instance instance(formulas_, expressions, given, positions);
  const mlir::RankedTensorType type = realTensorOf(pair.type);
  const Operand mine{pair.mine, type}, theirs{pair.theirs, type};
  const std::vector<std::vector<int64_t>> all = instance.generic(mine);
  Answer equal;
  equal.kind = Answer::Equal;
  for (const std::vector<int64_t>& position : all) {
    const ExpressionId a = instance.at(mine, position), b = instance.at(theirs, position);
    if (instance.failed()) break;
    if (a == b) continue;
    const bool differ = expressions.at(a).value != expressions.at(b).value;
    if (refute ? !instance.isConcrete() : differ) {
      if (!refute) return unknown("the values differ, as far as formulas of ops are known");
      continue;
    }
    Answer answer = solver_.decide(expressions, a, b);
    if (refute && answer.kind == Answer::Differ && !answer.values.empty()) return answer;
    if (!refute && answer.kind != Answer::Equal)
      return unknown(answer.why.empty() ? "the values may differ" : answer.why);
  }
  if (instance.failed() || all.empty()) return unknown("the instance is too large");
  return refute ? unknown("no difference was found") : equal;
}

}  // namespace dtranspile::verify

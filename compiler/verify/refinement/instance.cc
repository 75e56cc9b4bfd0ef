#include "compiler/verify/refinement/instance.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

constexpr size_t kMostExpressions = 400'000;
constexpr int kDeepest = 2000;
// Of positions along one axis.
constexpr int64_t kMostPositions = 8;

}  // namespace

std::vector<Length> lengthsOf(const Sorts& sorts, const Dim& dim) {
  if (dim.extent < 0) return {-1 - static_cast<Length>(sorts.find(dim.sort))};
  const std::vector<int64_t> cuts = sorts.cuts(dim.extent);
  std::vector<Length> lengths;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) lengths.push_back(cuts[i + 1] - cuts[i]);
  return lengths;
}

int64_t Positions::of(Length length) const {
  auto found = counts.find(length);
  const int64_t count = std::max<int64_t>(1, found == counts.end() ? otherwise : found->second);
  return length < 0 ? count : std::min(count, length);
}

AtomId Given::of(AtomId atom) const {
  auto found = same.find(atom);
  return found == same.end() ? atom : found->second;
}

Instance::Instance(Formulas& formulas, Expressions& expressions, const Given& given,
                   Positions positions)
    : formulas_(formulas),
      expressions_(expressions),
      given_(given),
      positions_(std::move(positions)) {}

ExpressionId Instance::fail() {
  failed_ = true;
  return Expressions::kZero;
}

// An axis as its pieces, each of as many positions as the instance has for pieces of this length.
std::vector<Instance::Segment> Instance::segments(const Dim& dim) const {
  std::vector<Segment> all;
  int64_t begin = 0;
  for (Length length : lengthsOf(formulas_.sorts(), dim)) {
    all.push_back({length, begin, positions_.of(length)});
    begin += all.back().count;
  }
  return all;
}

// The first position at or behind a border at which axes of that extent are cut.
int64_t Instance::positionAt(int64_t extent, int64_t border) const {
  int64_t at = 0, position = 0;
  for (const Segment& segment : segments({extent, formulas_.sorts().ofExtent(extent)})) {
    if (at >= border) break;
    at += segment.length;
    position += segment.count;
  }
  return position;
}

ExpressionId Instance::extent(SortId sort) {
  const Length length = -1 - static_cast<Length>(formulas_.sorts().find(sort));
  if (positions_.exact) return expressions_.constant(Rational(positions_.of(length)));
  return expressions_.leaf("extent " + std::to_string(-1 - length));
}

ExpressionId Instance::overExtent(SortId sort) {
  const Length length = -1 - static_cast<Length>(formulas_.sorts().find(sort));
  if (positions_.exact) return expressions_.constant(Rational(1, positions_.of(length)));
  return expressions_.leaf("1 over extent " + std::to_string(-1 - length));
}

// How many positions of the axis hold what this one holds: the last of a piece stands for the rest.
ExpressionId Instance::weight(const Dim& dim, int64_t position) {
  for (const Segment& segment : segments(dim)) {
    if (position >= segment.begin + segment.count) continue;
    if (position + 1 < segment.begin + segment.count) return Expressions::kOne;
    if (segment.length >= 0)
      return expressions_.constant(Rational(segment.length - segment.count + 1));
    return expressions_.add({extent(dim.sort), expressions_.constant(Rational(1 - segment.count))});
  }
  return fail();
}

// An element of a term as an expression of elements of feeds and variables, by expanding formulas
// recursively. Depth and number of expressions are bounded: past a bound the instance has failed,
// and the answer is unknown.
ExpressionId Instance::at(const Operand& operand, const std::vector<int64_t>& position) {
  const Terms& terms = formulas_.terms();
  if (operand.term == Terms::kNone || !operand.type) return fail();
  if (++depth_ > kDeepest || expressions_.size() > kMostExpressions) failed_ = true;
  std::vector<ExpressionId> sum;
  for (const Summand& summand : terms.summands(operand.term)) {
    if (failed_) break;
    std::vector<ExpressionId> product = {expressions_.constant(summand.factor),
                                         element(summand.atom, operand, position)};
    // These are not any numbers, but above zero.
    if (!summand.scalars.empty()) concrete_ = false;
    for (auto [scalar, power] : summand.scalars) {
      const ExpressionId number = leaf(scalar, {});
      for (int i = 0; i < std::abs(power); ++i)
        product.push_back(power > 0 ? number : expressions_.inverse(number));
    }
    sum.push_back(expressions_.multiply(std::move(product)));
  }
  --depth_;
  return failed_ ? Expressions::kZero : expressions_.add(std::move(sum));
}

// An axis of one position tells nothing: a number is the same in whatever shape.
ExpressionId Instance::element(AtomId any, const Operand& operand,
                               const std::vector<int64_t>& position) {
  const AtomId atom = given_.of(any);
  std::vector<int64_t> telling;
  for (unsigned i = 0; i < position.size(); ++i)
    if (operand.type.getDimSize(i) != 1) telling.push_back(position[i]);
  auto [at, first] = elements_.try_emplace({atom, telling}, Expressions::kZero);
  if (!first) return at->second;
  const Formula* formula = given_.isOpaque(atom) ? nullptr : formulas_.of(atom);
  ExpressionId result;
  if (!formula) {
    result = leaf(atom, telling);
  } else if (formula->result.size() == position.size()) {
    result = evaluate(*formula, position);
  } else if (telling.empty()) {
    result = evaluate(*formula, std::vector<int64_t>(formula->result.size(), 0));
  } else {
    result = fail();
  }
  return elements_[{atom, telling}] = result;
}

// An element of a feed or a variable is a free number. Of any other value it is one too, but a
// counterexample with it would be none (`concrete_`).
ExpressionId Instance::leaf(AtomId atom, const std::vector<int64_t>& position) {
  const AtomId known = given_.of(atom);
  const Atom& of = formulas_.terms().atomOf(known);
  const bool given = of.type == "variable" || of.type == "feed";
  concrete_ &= given;
  std::string name = given ? of.key : "value " + std::to_string(known);
  name += "[";
  for (size_t i = 0; i < position.size(); ++i)
    name += (i > 0 ? "," : "") + std::to_string(position[i]);
  return expressions_.leaf(name + "]");
}

// Free variables are given by the position, bound ones are summed over all their values. A segment
// that stands for many positions enters once with its weight.
ExpressionId Instance::evaluate(const Formula& formula, const std::vector<int64_t>& position) {
  std::vector<int64_t> values(formula.variables.size(), 0);
  for (size_t i = 0; i < position.size(); ++i)
    if (formula.result[i] >= 0) values[formula.result[i]] = position[i];
  const std::vector<unsigned> bound = formula.bound();
  std::vector<std::vector<Segment>> all;
  for (unsigned variable : bound) all.push_back(segments(formula.variables[variable]));
  std::vector<ExpressionId> sum;
  // An odometer over the values of the bound variables.
  while (!failed_) {
    std::vector<ExpressionId> weights;
    for (unsigned variable : bound)
      weights.push_back(weight(formula.variables[variable], values[variable]));
    for (const Monomial& monomial : formula.monomials) {
      std::vector<ExpressionId> product = weights;
      product.push_back(term(formula, monomial, values));
      sum.push_back(expressions_.multiply(std::move(product)));
    }
    size_t next = 0;
    for (; next < bound.size(); ++next) {
      const Segment& last = all[next].back();
      if (++values[bound[next]] < last.begin + last.count) break;
      values[bound[next]] = 0;
    }
    if (next == bound.size()) break;
  }
  return expressions_.add(std::move(sum));
}

// A monomial is zero outside of its guard (a piece of a concatenation); else its number, divided by
// the extents that a mean divides by, times its factors.
ExpressionId Instance::term(const Formula& formula, const Monomial& monomial,
                            const std::vector<int64_t>& values) {
  if (monomial.guarded >= 0) {
    const int64_t extent = formula.variables[monomial.guarded].extent;
    const int64_t value = values[monomial.guarded];
    if (value < positionAt(extent, monomial.from) || value >= positionAt(extent, monomial.to))
      return Expressions::kZero;
  }
  std::vector<ExpressionId> product = {expressions_.constant(monomial.number)};
  for (SortId sort : monomial.over) product.push_back(overExtent(sort));
  for (const Factor& one : monomial.factors) product.push_back(factor(formula, one, values));
  return expressions_.multiply(std::move(product));
}

// Elements of the operands at the positions that the index says, then the function of them. A
// positive shift moves into a longer axis of the operand, a negative one out of the longer axis of
// the result.
ExpressionId Instance::factor(const Formula& formula, const Factor& factor,
                              const std::vector<int64_t>& values) {
  std::vector<ExpressionId> elements;
  for (const Operand& operand : factor.operands) {
    std::vector<int64_t> position;
    for (unsigned i = 0; i < factor.index.size(); ++i) {
      const Index& index = factor.index[i];
      int64_t value = index.variable < 0 ? 0 : values[index.variable];
      // Of the longer axis: that of the operand, or of the variable.
      if (index.shift > 0) value += positionAt(operand.type.getDimSize(i), index.shift);
      if (index.shift < 0)
        value -= positionAt(formula.variables[index.variable].extent, -index.shift);
      position.push_back(value);
    }
    elements.push_back(at(operand, position));
  }
  if (factor.function.empty()) return elements[0];
  if (factor.function == "1/") return expressions_.inverse(elements[0]);
  return expressions_.apply(factor.function, std::move(elements));
}

// Positions that stand for all others. Within a segment all positions are alike, so that one is
// enough; but where two axes have the same length, equal and different positions on them are two
// cases (the diagonal may be special), which is why each further axis of a length takes the next
// position. A segment that lists every position gives all of them.
std::vector<std::vector<int64_t>> Instance::generic(const Operand& operand) {
  std::vector<std::vector<int64_t>> positions = {{}};
  std::vector<std::map<Length, int64_t>> used = {{}};
  for (const Dim& dim : formulas_.dims(operand)) {
    std::vector<std::vector<int64_t>> longer;
    std::vector<std::map<Length, int64_t>> taken;
    for (size_t i = 0; i < positions.size(); ++i)
      for (const Segment& segment : segments(dim)) {
        const bool every = segment.length >= 0 && segment.count == segment.length;
        const int64_t own = used[i][segment.length];
        for (int64_t at = every ? 0 : own; at < (every ? segment.count : own + 1); ++at) {
          longer.push_back(positions[i]);
          longer.back().push_back(segment.begin + at);
          taken.push_back(used[i]);
          ++taken.back()[segment.length];
          // More axes of one length than positions: Needs has counted wrong.
          if (at >= segment.count) failed_ = true;
        }
      }
    positions = std::move(longer), used = std::move(taken);
    if (positions.size() > 4096) failed_ = true;
    if (failed_) return {};
  }
  return positions;
}

std::vector<int64_t> Instance::sample(const Operand& operand) const {
  std::map<Length, int64_t> used;
  std::vector<int64_t> position;
  for (const Dim& dim : formulas_.dims(operand)) {
    const Segment last = segments(dim).back();
    position.push_back(last.begin + used[last.length]++ % last.count);
  }
  return position;
}

void Needs::countAxes(const Dim& dim, Counts& counts) const {
  // An index variable lies in one piece; it may be any.
  std::vector<Length> lengths = lengthsOf(formulas_.sorts(), dim);
  llvm::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  for (Length length : lengths)
    if (length != 1) ++counts[length];
}

void Needs::note(const Counts& counts) {
  for (auto [length, count] : counts) {
    int64_t& most = most_[length];
    most = std::max(most, count);
    if (most > kMostPositions && (length < 0 || length > kMostPositions)) failed_ = true;
  }
}

Needs::Counts Needs::boundOf(TermId term) {
  Counts most;
  for (const Summand& summand : formulas_.terms().summands(term))
    for (auto [length, count] : boundOfAtom(summand.atom))
      most[length] = std::max(most[length], count);
  return most;
}

// Index variables that are summed over in a monomial of the atom, at most; notes those that stand
// in it, free or not.
const Needs::Counts& Needs::boundOfAtom(AtomId any) {
  const AtomId atom = given_.of(any);
  auto [found, first] = bound_.try_emplace(atom);
  const Formula* formula = first && !given_.isOpaque(atom) ? formulas_.of(atom) : nullptr;
  if (!formula) return found->second;
  if (++depth_ > kDeepest) failed_ = true;
  Counts most;
  for (const Monomial& monomial : formula->monomials) {
    if (failed_) break;
    Counts own;
    for (unsigned variable : formula->bound()) countAxes(formula->variables[variable], own);
    for (const Factor& factor : monomial.factors)
      for (const Operand& operand : factor.operands) {
        const Counts inner = boundOf(operand.term);
        // What a function is taken of has its own monomials.
        if (!factor.function.empty()) {
          Counts all = inner;
          for (const Dim& dim : formulas_.dims(operand)) countAxes(dim, all);
          note(all);
          continue;
        }
        for (auto [length, count] : inner) own[length] += count;
      }
    for (auto [length, count] : own) most[length] = std::max(most[length], count);
  }
  Counts all = most;
  for (int variable : formula->result)
    if (variable >= 0) countAxes(formula->variables[variable], all);
  note(all);
  --depth_;
  return bound_[atom] = most;
}

void Needs::add(const Operand& operand) {
  Counts all = boundOf(operand.term);
  for (const Dim& dim : formulas_.dims(operand)) countAxes(dim, all);
  note(all);
}

Positions Needs::positions() const {
  Positions positions;
  positions.counts = most_;
  positions.otherwise = 1;
  return positions;
}

}  // namespace dtranspile::verify

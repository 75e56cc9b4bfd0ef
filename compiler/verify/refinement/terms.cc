#include "compiler/verify/refinement/terms.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "llvm/ADT/Hashing.h"

namespace dtranspile::verify {
namespace {

// Order of summands: any total one that depends on nothing but the numbers.
bool before(const Summand& a, const Summand& b) {
  return std::tie(a.atom, a.scalars) < std::tie(b.atom, b.scalars);
}

Scalars product(const Scalars& a, const Scalars& b, int power) {
  std::map<AtomId, int> powers(a.begin(), a.end());
  for (auto [scalar, exponent] : b) powers[scalar] += power * exponent;
  Scalars result;
  for (auto [scalar, exponent] : powers)
    if (exponent != 0) result.emplace_back(scalar, exponent);
  return result;
}

}  // namespace

size_t Terms::Hash::operator()(const std::vector<Summand>& summands) const {
  llvm::hash_code all = llvm::hash_value(summands.size());
  for (const Summand& summand : summands) {
    all = llvm::hash_combine(all, summand.atom, summand.factor.numerator(),
                             summand.factor.denominator());
    for (auto [scalar, power] : summand.scalars) all = llvm::hash_combine(all, scalar, power);
  }
  return all;
}

size_t Terms::Hash::operator()(const Call& call) const {
  return llvm::hash_combine(call.first,
                            llvm::hash_combine_range(call.second.begin(), call.second.end()));
}

Terms::Terms() {
  intern({});
  of(atom("none", "none", {}, nullptr));
}

AtomId Terms::atom(llvm::StringRef type, std::string key, std::vector<TermId> operands,
                   mlir::Operation* op) {
  auto [at, made] =
      found_.try_emplace({std::move(key), std::move(operands)}, static_cast<AtomId>(atoms_.size()));
  if (made) {
    storage_.push_back(
        std::make_unique<Atom>(Atom{type.str(), at->first.first, at->first.second, op}));
    atoms_.push_back(storage_.back().get());
  }
  return at->second;
}

TermId Terms::of(AtomId atom) { return intern({Summand{atom, {}, Rational()}}); }

TermId Terms::intern(std::vector<Summand> summands) {
  auto [at, made] = numbers_.try_emplace(std::move(summands), static_cast<TermId>(terms_.size()));
  if (made) terms_.push_back(&at->first);
  return at->second;
}

TermId Terms::lost(TermId a) {
  return of(atom("lost", "lost#" + std::to_string(atoms_.size()), {a}, nullptr));
}

// Both are sorted: a merge, in which equal atoms with equal scalars add their factors.
TermId Terms::add(TermId a, TermId b) {
  const std::vector<Summand>&x = summands(a), &y = summands(b);
  std::vector<Summand> sum;
  for (size_t i = 0, j = 0; i < x.size() || j < y.size();) {
    if (j == y.size() || (i < x.size() && before(x[i], y[j]))) {
      sum.push_back(x[i++]);
    } else if (i == x.size() || before(y[j], x[i])) {
      sum.push_back(y[j++]);
    } else {
      const Rational factor = x[i].factor + y[j].factor;
      if (factor.isLost()) return lost(a);
      if (factor.numerator() != 0) sum.push_back({x[i].atom, x[i].scalars, factor});
      ++i, ++j;
    }
  }
  return intern(std::move(sum));
}

// By a lost factor the term becomes another one, which equals nothing.
TermId Terms::scale(TermId a, Rational factor) {
  if (factor.isLost()) return lost(a);
  if (factor.numerator() == 0) return kZero;
  std::vector<Summand> result = summands(a);
  for (Summand& summand : result) {
    summand.factor = summand.factor * factor;
    if (summand.factor.isLost()) return lost(a);
  }
  return intern(std::move(result));
}

TermId Terms::times(TermId a, const Scalars& scalars, int power) {
  std::vector<Summand> result = summands(a);
  for (Summand& summand : result) summand.scalars = product(summand.scalars, scalars, power);
  std::sort(result.begin(), result.end(), before);
  return intern(std::move(result));
}

int64_t Terms::singleId(TermId term) const {
  const std::vector<Summand>& all = summands(term);
  if (all.size() != 1 || !all[0].scalars.empty() || !all[0].factor.isOne()) return -1;
  return all[0].atom;
}

const Atom* Terms::single(TermId term) const {
  const int64_t id = singleId(term);
  return id < 0 ? nullptr : atoms_[id];
}

std::vector<AtomId> Terms::atomsOfType(llvm::StringRef type) const {
  std::vector<AtomId> found;
  for (AtomId id = 0; id < atoms_.size(); ++id)
    if (atoms_[id]->type == type) found.push_back(id);
  return found;
}

Scalars Terms::common(TermId term) const {
  const std::vector<Summand>& all = summands(term);
  if (all.empty()) return {};
  // One power of one scalar is what there is in practice: either all have it, or there is nothing.
  for (const Summand& summand : all)
    if (summand.scalars != all[0].scalars) return {};
  return all[0].scalars;
}

}  // namespace dtranspile::verify

#include "compiler/verify/refinement/explain.h"

#include <set>

#include "compiler/analysis/program_diff.h"
#include "compiler/analysis/relations/needs.h"
#include "dialects/pd/op_view.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace dtranspile::verify {
namespace {

std::string describe(const Terms& terms, TermId term) {
  if (term == Terms::kZero) return "zero";
  if (term == Terms::kNone) return "nothing";
  const std::vector<Summand>& summands = terms.summands(term);
  if (summands.size() > 1) return "a sum of " + std::to_string(summands.size()) + " terms";
  const Summand& one = summands[0];
  const Atom& atom = terms.atomOf(one.atom);
  std::string text = atom.op && atom.type != "feed" ? "what " + atom.type + " gives" : atom.key;
  if (!one.factor.isOne()) text = one.factor.text() + " times " + text;
  for (auto [scalar, power] : one.scalars)
    text += " times " + terms.atomOf(scalar).key + "^" + std::to_string(power);
  return text;
}

// Attributes that change values.
mlir::DictionaryAttr valuesOf(mlir::Operation* op) {
  mlir::NamedAttrList kept;
  if (auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs"))
    for (mlir::NamedAttribute attribute : attributes)
      if (!isValueFree(attribute.getName())) kept.push_back(attribute);
  return kept.getDictionary(op->getContext());
}

// Of two ops of one type.
std::string otherwise(const Atom& mine, const Atom& theirs) {
  if (theirs.op && mine.op->getName() == theirs.op->getName() &&
      valuesOf(mine.op) != valuesOf(theirs.op))
    return attributeDifference("attrs", valuesOf(mine.op), valuesOf(theirs.op));
  // The first part of the keys that differs: an attribute as it is read, slots or types.
  llvm::StringRef a = mine.key, b = theirs.key;
  while (!a.empty() && a.split('|').first == b.split('|').first)
    a = a.split('|').second, b = b.split('|').second;
  return "is " + mine.type + " with `" + a.split('|').first.str() + "`, and `" +
         b.split('|').first.str() + "` in the source";
}

// Where two unequal terms begin to differ: goes down both as long as exactly one operand differs,
// and stops at the first op whose own attributes or number of terms do.
class Explanation {
 public:
  explicit Explanation(const Terms& terms) : terms_(terms) {}

  TermDifference at(TermId mine, TermId theirs, mlir::Operation* around) {
    const std::vector<Summand>&a = terms_.summands(mine), &b = terms_.summands(theirs);
    // Sums are compared term by term where only one of them differs.
    if (a.size() == 1 && b.size() == 1 && a[0].factor == b[0].factor &&
        a[0].scalars == b[0].scalars)
      return atoms(terms_.atomOf(a[0].atom), terms_.atomOf(b[0].atom), mine, theirs, around);
    if (a.size() == b.size()) {
      std::vector<size_t> open;
      for (size_t i = 0; i < a.size(); ++i)
        if (a[i].atom != b[i].atom) open.push_back(i);
      // Which stands for which: the first two of one kind.
      for (size_t i : open)
        for (size_t j : open) {
          const Atom &x = terms_.atomOf(a[i].atom), &y = terms_.atomOf(b[j].atom);
          if (x.key == y.key && a[i].factor == b[j].factor)
            return atoms(x, y, mine, theirs, around);
        }
    }
    return differ(mine, theirs, opOf(mine, around));
  }

 private:
  mlir::Operation* opOf(TermId term, mlir::Operation* otherwise) const {
    for (const Summand& summand : terms_.summands(term))
      if (mlir::Operation* op = terms_.atomOf(summand.atom).op) return op;
    return otherwise;
  }

  TermDifference differ(TermId mine, TermId theirs, mlir::Operation* at) const {
    return {at, "is " + describe(terms_, mine) + ", and " + describe(terms_, theirs) +
                    " in the source"};
  }

  // Of the same kind with the same number of operands: the difference is in an operand. Else these
  // two ops are it.
  TermDifference atoms(const Atom& mine, const Atom& theirs, TermId a, TermId b,
                       mlir::Operation* around) {
    mlir::Operation* op = mine.op ? mine.op : around;
    if (mine.key == theirs.key && mine.operands.size() == theirs.operands.size()) {
      // Every pair of terms is looked at once: values are shared a lot.
      for (size_t i = 0; i < mine.operands.size(); ++i)
        if (mine.operands[i] != theirs.operands[i] &&
            seen_.emplace(mine.operands[i], theirs.operands[i]).second)
          return at(mine.operands[i], theirs.operands[i], op);
    }
    if (mine.type == theirs.type && mine.op) return {op, otherwise(mine, theirs)};
    return differ(a, b, op);
  }

  const Terms& terms_;
  std::set<std::pair<TermId, TermId>> seen_;
};

}  // namespace

TermDifference explain(const Terms& terms, TermId mine, TermId theirs) {
  return Explanation(terms).at(mine, theirs, nullptr);
}

}  // namespace dtranspile::verify

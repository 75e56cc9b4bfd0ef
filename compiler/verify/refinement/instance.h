// A program on tensors that repeat themselves: along every axis there are a few positions, each of
// which stands for one or more that hold the same. Elements of terms become expressions over
// elements of variables, feeds and results of ops without a formula. Two terms that are equal on an
// instance with as many positions as a monomial has index variables are equal for all tensors:
// docs/verification.md, Rung 4, The solver.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/verify/refinement/expressions.h"
#include "compiler/verify/refinement/formulas.h"

namespace dtranspile::verify {

// Lengths of pieces of axes, or sorts of unknown extents as -1 - sort.
using Length = int64_t;

// How many positions axes have, by length; others have `otherwise`.
struct Positions {
  std::map<Length, int64_t> counts;
  int64_t otherwise = 2;
  // Unknown extents are what they are here, none that is repeated: for a counterexample.
  bool exact = false;

  int64_t of(Length length) const;
};

// What an instance takes for granted.
struct Given {
  // Of classes of equal atoms: what is said of one is said of all.
  std::map<AtomId, AtomId> same;
  // Atoms that are left as they are, with formula or without; by representative.
  std::set<AtomId> opaque;

  AtomId of(AtomId atom) const;
  bool isOpaque(AtomId atom) const { return opaque.count(of(atom)) > 0; }
};

class Instance {
 public:
  Instance(Formulas& formulas, Expressions& expressions, const Given& given, Positions positions);

  // The element of a term of that type.
  ExpressionId at(const Operand& operand, const std::vector<int64_t>& position);
  // Positions that stand for all: one of each piece of an axis, different ones on axes of one
  // length, and all where an axis has no more of them than it is long.
  std::vector<std::vector<int64_t>> generic(const Operand& operand);
  // One position, for a look.
  std::vector<int64_t> sample(const Operand& operand) const;

  // Whether it became too large, or something was asked that has no answer: nothing may be
  // believed.
  bool failed() const { return failed_; }
  // Whether all leaves are elements of variables and feeds.
  bool isConcrete() const { return concrete_; }

 private:
  struct Segment {
    Length length;
    int64_t begin, count;  // positions
  };
  std::vector<Segment> segments(const Dim& dim) const;
  int64_t positionAt(int64_t extent, int64_t border) const;
  ExpressionId weight(const Dim& dim, int64_t position);
  ExpressionId extent(SortId sort);
  ExpressionId overExtent(SortId sort);

  ExpressionId element(AtomId atom, const Operand& operand, const std::vector<int64_t>& position);
  ExpressionId evaluate(const Formula& formula, const std::vector<int64_t>& position);
  ExpressionId term(const Formula& formula, const Monomial& monomial,
                    const std::vector<int64_t>& values);
  ExpressionId factor(const Formula& formula, const Factor& factor,
                      const std::vector<int64_t>& values);
  ExpressionId leaf(AtomId atom, const std::vector<int64_t>& position);
  ExpressionId fail();

  Formulas& formulas_;
  Expressions& expressions_;
  const Given& given_;
  Positions positions_;
  std::map<std::pair<AtomId, std::vector<int64_t>>, ExpressionId> elements_;
  bool failed_ = false, concrete_ = true;
  int depth_ = 0;
};

// The positions that an instance needs to decide about terms.
class Needs {
 public:
  Needs(Formulas& formulas, const Given& given) : formulas_(formulas), given_(given) {}
  void add(const Operand& operand);
  bool failed() const { return failed_; }
  Positions positions() const;

 private:
  using Counts = std::map<Length, int64_t>;
  const Counts& boundOfAtom(AtomId atom);
  Counts boundOf(TermId term);
  void countAxes(const Dim& dim, Counts& counts) const;
  void note(const Counts& counts);

  Formulas& formulas_;
  const Given& given_;
  std::map<AtomId, Counts> bound_;
  Counts most_;
  bool failed_ = false;
  int depth_ = 0;
};

// Lengths of the pieces of an axis.
std::vector<Length> lengthsOf(const Sorts& sorts, const Dim& dim);

}  // namespace dtranspile::verify

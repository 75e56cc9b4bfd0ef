// What a program computes, as terms: one number per value, such that equal numbers mean equal
// values over the reals. Built by walk.h for @source and @reference in one table, so that comparing
// two programs is comparing numbers. docs/verification.md, Rung 4.
//
// A value is a sum of atoms, each with a factor: an exact fraction times powers of positive scalars
// (the loss scale). An atom is a variable as it was before the step, a feed, or one result of an op
// on terms, of which nothing is known but that equal operands give equal results. Sums, scales and
// positive scalars are computed with; everything else stays as it is written.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/analysis/relations/rational.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Operation.h"

namespace dtranspile::verify {

using TermId = uint32_t;
using AtomId = uint32_t;

// Powers of positive scalars, sorted by scalar; none of them 0.
using Scalars = llvm::SmallVector<std::pair<AtomId, int>, 1>;

struct Summand {
  AtomId atom = 0;
  Scalars scalars;
  Rational factor;

  bool operator==(const Summand& other) const {
    return atom == other.atom && scalars == other.scalars && factor == other.factor;
  }
};

struct Atom {
  std::string type;  // of the op; "variable", "feed" … of others
  std::string key;   // everything that tells it apart but its operands
  std::vector<TermId> operands;
  mlir::Operation* op = nullptr;  // the first that gave it, for messages
};

class Terms {
 public:
  // The sum of no summands.
  static constexpr TermId kZero = 0;
  // What stands in a slot that is empty.
  static constexpr TermId kNone = 1;

  Terms();

  // An atom, made or found.
  AtomId atom(llvm::StringRef type, std::string key, std::vector<TermId> operands,
              mlir::Operation* op);
  // It alone, with factor 1.
  TermId of(AtomId atom);

  TermId add(TermId a, TermId b);
  // A fraction that does not fit gives an atom of its own, which equals nothing else.
  TermId scale(TermId a, Rational factor);
  // times scalar^power
  TermId times(TermId a, const Scalars& scalars, int power);

  const std::vector<Summand>& summands(TermId term) const { return *terms_[term]; }
  const Atom& atomOf(AtomId atom) const { return *atoms_[atom]; }
  // The atom that a term is, without any factor; null where it is something else.
  const Atom* single(TermId term) const;
  // The same with its number; -1.
  int64_t singleId(TermId term) const;

  // What a value is that has this term: the first that was seen.
  void note(TermId term, mlir::Type type) {
    if (term > kNone) types_.try_emplace(term, type);
  }
  mlir::Type typeOf(TermId term) const { return types_.lookup(term); }

  // The scalars that all summands have in common.
  Scalars common(TermId term) const;

  // A number for an op that is told apart by itself, not by what it takes.
  size_t numberOf(mlir::Operation* op) { return ops_.try_emplace(op, ops_.size()).first->second; }

  std::vector<AtomId> atomsOfType(llvm::StringRef type) const;
  size_t atomCount() const { return atoms_.size(); }

 private:
  // What the tables below are looked up by. Only lookups: their order says nothing.
  using Call = std::pair<std::string, std::vector<TermId>>;
  struct Hash {
    size_t operator()(const std::vector<Summand>& summands) const;
    size_t operator()(const Call& call) const;
  };

  TermId intern(std::vector<Summand> summands);
  TermId lost(TermId a);

  std::unordered_map<std::vector<Summand>, TermId, Hash> numbers_;
  std::vector<const std::vector<Summand>*> terms_;
  std::unordered_map<Call, AtomId, Hash> found_;
  std::vector<const Atom*> atoms_;
  llvm::DenseMap<mlir::Operation*, size_t> ops_;
  llvm::DenseMap<TermId, mlir::Type> types_;
  std::vector<std::unique_ptr<Atom>> storage_;
};

}  // namespace dtranspile::verify

// What ops do to elements: each element of a result as a sum of products of elements of operands,
// over index variables. Only ops whose formula is the same for every extent have one
// (formula_rows); all others are functions without laws. docs/verification.md, Rung 4, The solver.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/verify/refinement/terms.h"
#include "dialects/pd/op_view.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dtranspile::verify {

// Which axes are as long as each other. A known extent is a sort; one that is known when a step
// runs is one of its own until an op says that two are equal, or fails.
using SortId = uint32_t;

class Sorts {
 public:
  SortId ofExtent(int64_t extent);
  SortId ofUnknown(const std::string& axis);
  SortId find(SortId sort) const;
  void unite(SortId a, SortId b);

  // An op takes [from, to) of axes of an extent as an axis of its own.
  // Not where there are too many of them.
  bool piece(int64_t extent, int64_t from, int64_t to);
  // Positions at which axes of an extent are cut, beginning with 0 and ending with it, such that a
  // piece is cut wherever the whole is, and the other way round.
  std::vector<int64_t> cuts(int64_t extent) const;

 private:
  struct Piece {
    int64_t extent, from, to;
  };
  std::map<int64_t, SortId> known_;
  std::map<std::string, SortId> unknown_;
  std::vector<SortId> parents_;
  std::vector<Piece> pieces_;
  std::map<int64_t, std::set<int64_t>> cuts_;
};

struct Dim {
  int64_t extent = 1;  // < 0: known when a step runs
  SortId sort = 0;
};

// The type where it is a dense tensor of floats with elements, else null.
mlir::RankedTensorType realTensorOf(mlir::Type type);

struct Operand {
  TermId term = Terms::kNone;
  mlir::RankedTensorType type;
};

// Where a factor is looked at along one axis.
struct Index {
  int variable = -1;  // -1: the only position of an extent of 1
  int64_t shift = 0;  // positions that this is further on than the variable
};

struct Factor {
  std::vector<Operand> operands;  // one, or those of the function
  std::vector<Index> index;       // of each of them
  std::string function;           // without laws, of the elements; empty: the element itself
};

struct Monomial {
  Rational number;
  std::vector<SortId> over;  // divided by these extents
  std::vector<Factor> factors;
  // Only where this variable lies in [from, to); -1: everywhere.
  int guarded = -1;
  int64_t from = 0, to = 0;
};

// result[…] = the sum of the monomials, each over all values of the variables that do not stand in
// the index of the result.
struct Formula {
  std::vector<Dim> variables;
  std::vector<int> result;  // a variable per axis, or -1
  std::vector<Monomial> monomials;

  std::vector<unsigned> bound() const;
};

class Formulas {
 public:
  Formulas(const Terms& terms, Sorts& sorts) : terms_(terms), sorts_(sorts) {}

  // Null where nothing is known of the op.
  const Formula* of(AtomId atom);
  // Nothing where it is not known how long an axis is.
  std::vector<Dim> dims(const Operand& operand);
  Sorts& sorts() { return sorts_; }
  const Terms& terms() const { return terms_; }

 private:
  std::vector<Dim> dimsOfAtom(AtomId atom, mlir::RankedTensorType type);

  const Terms& terms_;
  Sorts& sorts_;
  std::map<AtomId, std::optional<Formula>> made_;
};

// The op of an atom, with its operands' terms and the result that the atom is.
class FormulaContext {
 public:
  FormulaContext(const Atom& atom, Formulas& formulas);

  // Whether the atom is a result of an op of its own type with dense operands.
  bool isPlain() const { return plain_; }
  pd::OpView op() const { return op_; }
  const std::string& slot() const { return slot_; }
  unsigned index() const { return index_; }
  mlir::RankedTensorType type() const { return type_; }
  // Nothing where there is none, or it is not dense and of floats.
  std::optional<Operand> operand(llvm::StringRef slot, unsigned index = 0) const;
  std::vector<Operand> operands(llvm::StringRef slot) const;  // empty where one of them is not
  std::vector<Dim> dims(const Operand& operand) const { return formulas_.dims(operand); }
  Sorts& sorts() const { return formulas_.sorts(); }

  // Whether two axes are as long as each other.
  bool same(const Dim& a, const Dim& b) const;
  // Likewise where the op fails if they are not.
  bool demand(const Dim& a, const Dim& b) const;

 private:
  Formulas& formulas_;
  pd::OpView op_;
  std::map<std::string, std::vector<Operand>> operands_;
  bool plain_ = false;
  std::string slot_;
  unsigned index_ = 0;
  mlir::RankedTensorType type_;
};

// formula_rows.cc: the table.
std::optional<Formula> formulaOf(const FormulaContext& context);

}  // namespace dtranspile::verify

// How one op can work on parts: which states of its operands give which states of its results, by
// the relation rules alone (compiler/analysis/relations), and which way is the cheapest. Used by
// the plan of tensor-parallel. Ops are looked at as the reference has them, with whole types.
#pragma once

#include <map>
#include <optional>

#include "compiler/analysis/relations/rule.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::passes {

// How an op takes its operands and what it gives, along the axis: replicated, split along a dim, or
// a term of a sum (of flags: true where one rank's is).
struct Way {
  llvm::SmallVector<verify::State, 8> operands, results;
  bool gathers = false;  // puts together what lies in parts
};

// On a pd.var of a program whose layers its author has split: the dim along which the ranks of a
// group hold it in parts. From lift-parallel-ops to tensor-parallel, which takes it away.
inline constexpr llvm::StringLiteral kHeldInParts = "held_in_parts";

// An extent that would have to be cut and does not divide.
struct Indivisible {
  mlir::Value value;
  int dim = 0;
  int64_t extent = 0;
};

class Solver {
 public:
  // `axis`: its number among `axes`.
  // `minVocabulary`: from so many rows or classes on a vocabulary lies in parts; nothing: no op is
  // made a composite.
  Solver(verify::Axes axes, int axis, std::optional<int64_t> minVocabulary);

  int64_t size() const { return axes_.sizes[axis_]; }
  // The vocabulary of a lookup or a loss, as it stands in the reference, is large enough.
  bool isVocabulary(mlir::Value value, int dim) const;
  // A dim of known extent that the ranks divide.
  bool divides(mlir::Value value, int dim) const;

  // An update with norms of the whole that works on parts as a composite, which sums up the squares
  // of the parts (passes/sharding/norms.h). Not in blocks, nor where no op is made a composite.
  bool canSumNorms(mlir::Operation* op) const;

  // What the op gives for operands that lie like this; nothing where its rule gives nothing, or
  // parts that do not divide (which `indivisible` then says).
  std::optional<llvm::SmallVector<verify::State, 8>> results(
      mlir::Operation* op, llvm::ArrayRef<verify::State> operands);

  // The same where results are of the types of parts already: their extents are asked nothing.
  std::optional<llvm::SmallVector<verify::State, 8>> resultsOfParts(
      mlir::Operation* op, llvm::ArrayRef<verify::State> operands);

  // Given how operands lie: the first of these that works. As they are; with terms summed; with
  // whole operands cut like the parts beside them, which costs nothing; with parts put together.
  Way solve(mlir::Operation* op, llvm::ArrayRef<verify::State> given);
  // The same without putting parts together; nothing where that is necessary.
  std::optional<Way> solveInParts(mlir::Operation* op, llvm::ArrayRef<verify::State> given);
  // The same without summing terms up or cutting wholes.
  std::optional<Way> solveLinear(mlir::Operation* op, llvm::ArrayRef<verify::State> given);
  // The same with operands as they are.
  std::optional<Way> solveAsGiven(mlir::Operation* op, llvm::ArrayRef<verify::State> given);

  const std::optional<Indivisible>& indivisible() const { return indivisible_; }
  void forgetIndivisible() { indivisible_.reset(); }

 private:
  const verify::Relation& relation(const verify::State& state);
  // What a composite gives that works on parts (compiler/analysis/relations/part_forms.h).
  std::optional<llvm::SmallVector<verify::State, 8>> inForm(mlir::Operation* op,
                                                            llvm::ArrayRef<verify::State> operands);
  std::optional<Way> cutBeside(mlir::Operation* op, llvm::SmallVector<verify::State, 8> operands,
                               unsigned depth);
  std::optional<Way> withNorms(mlir::Operation* op, llvm::ArrayRef<verify::State> given) const;
  std::optional<Way> withTerms(mlir::Operation* op, llvm::ArrayRef<verify::State> given);

  verify::Axes axes_;
  int axis_;
  std::optional<int64_t> minVocabulary_;
  std::map<std::pair<int, int>, verify::Relation> relations_;
  std::optional<Indivisible> indivisible_;
  mlir::Value blamed_;  // the operand that a rule failed at last
  bool cuts_ = true;    // results are of the types of wholes
  int left_ = 0;        // evaluations that are left for an op
};

}  // namespace dtranspile::passes

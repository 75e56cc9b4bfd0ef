// What of a job can be computed on flat parts along one axis: which values, which variables, and
// where a whole value is cut, a part put together, a term summed. Decides nothing that the relation
// rules (compiler/analysis/relations) do not say: an op works on parts where its rule gives parts.
// Used by sharding, which then rewrites.
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/relations/pads.h"
#include "llvm/ADT/MapVector.h"
#include "passes/support/relations.h"
#include "passes/support/shards.h"
#include "passes/support/variables.h"

namespace dtranspile::passes {

// How a value lies along the axis once the job is rewritten.
enum class Piece {
  Whole,
  Part,  // of the flattened value: even parts, with a pad
  Term,  // of a sum over the ranks of the axis
  Flag,  // true on some ranks of the axis where it is true of the whole
};

// What all ranks of the axis have together, by sum or by `or`.
inline bool isTerm(Piece piece) { return piece == Piece::Term || piece == Piece::Flag; }

// A sum of gradients over the replicas, and those of its operands that are cut.
struct SumToCut {
  dist::AllReduceOp op;
  llvm::SmallVector<unsigned> members;
};

struct ShardOptions {
  std::string axis;
  int64_t size = 1;         // ranks along it
  int64_t least = 0;        // elements of the smallest gradient that is cut
  bool keepsParts = false;  // stage 3: parameters lie in parts between their uses
  bool norms = true;        // those of whole parameters may be summed up from parts (norms.h)
};

class ShardPlan {
 public:
  // Of @main. The job is not changed.
  ShardPlan(const JobOnAxes& job, ShardOptions options);

  const std::vector<SumToCut>& sums() const { return sums_; }
  Piece pieceOf(mlir::Value value) const { return pieces_.lookup_or(value, Piece::Whole); }
  // The op takes the part of this whole operand.
  bool isCut(mlir::OpOperand& use) const { return cut_.contains(&use); }
  // The op takes the sum of this term, or whether any rank's flag is set.
  bool isSummed(mlir::OpOperand& use) const { return summed_.contains(&use); }
  // Variables that hold a part, in the order of the role.
  const std::vector<pd::VarOp>& stored() const { return stored_; }
  // The op takes, in one piece, what such a variable holds.
  bool isGathered(mlir::OpOperand& use) const { return gathered_.contains(&use); }
  // Why gradients stay whole, and which.
  const KeptWhole& kept() const { return kept_; }

  // The type of a rank's part of a value.
  mlir::RankedTensorType partType(mlir::Type whole) const;
  static dist::LayoutAttr layoutOf(mlir::Type whole);

 private:
  struct Gradient {
    dist::AllReduceOp sum;
    unsigned member = 0;
    mlir::Value result;
    std::string refused;  // empty: it is cut
  };

  void collectGradients();
  std::string tooSmall(mlir::Type type) const;
  bool attempt();
  void visit(mlir::Operation* op);
  void visitFramework(mlir::Operation* op);
  void visitBranch(mlir::Operation* op);
  void refuse(mlir::Operation* op, const std::string& why);
  void checkSets();
  void pushCutsUp();
  bool pushCutUp(mlir::Operation* op);
  void chooseStored();
  bool canGather(mlir::OpOperand& use, const Touches& touches) const;
  bool isReplicated(mlir::Value value) const;
  bool addsPad(mlir::Value part, Piece sum) const;
  std::optional<std::vector<Piece>> ofNormed(
      mlir::Operation* op, llvm::function_ref<Piece(mlir::OpOperand&)> pieces) const;
  std::optional<std::vector<Piece>> evaluate(mlir::Operation* op,
                                             llvm::function_ref<Piece(mlir::OpOperand&)> pieces,
                                             std::string* why = nullptr) const;

  JobOnAxes job_;
  ShardOptions options_;
  MainQuestion question_;
  verify::Store store_;
  verify::Axes axes_;  // as rules see them: none of them a data axis
  int axis_;
  verify::Relation relations_[4];  // by Piece
  mutable verify::Pads pads_{verify::Pads::Lies::Whole};
  std::vector<Gradient> gradients_;
  std::vector<SumToCut> sums_;
  llvm::DenseMap<mlir::Value, Piece> pieces_;
  llvm::DenseMap<mlir::Value, unsigned> gradientOf_;  // of parts
  llvm::DenseSet<mlir::OpOperand*> cut_, summed_, gathered_;
  bool refusedOne_ = false;
  std::vector<pd::VarOp> stored_;
  KeptWhole kept_;
};

}  // namespace dtranspile::passes

// Which parameters of a job lie in parts along one axis, how every value lies, and how every op
// takes it. Decides nothing that the relation rules do not say: an op works on parts where its rule
// gives parts. Used by tensor-parallel, which then rewrites.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "passes/support/variables.h"
#include "passes/tensor-parallel/solver.h"

namespace dtranspile::passes {

// Whether it multiplies what flows through the layers by a parameter (mul, matmul, matmul_v2).
bool isProduct(mlir::Operation* op);
// Neither of the backward part nor of the update.
bool isForward(mlir::Operation* op);
// Writes the shape of a reshape of a tensor of these extents so that it fits parts as well: leading
// dims that stay as 0, the first one that does not as -1, as far as that says the same. Returns
// what stood there; null where nothing is changed.
mlir::Attribute openShape(pd::OpView op, llvm::ArrayRef<int64_t> from);

class TensorPlan {
 public:
  // Of @main. The job is not changed, but for shapes of reshapes, which are written so that they
  // fit parts as well (openShapes); the rewriter writes those back that work on the whole.
  // `sequences`: what is summed behind a product lies in parts along its sequence.
  TensorPlan(const JobOnAxes& job, std::string axis, int64_t minVocabulary, bool sequences);

  // Reports and fails where the ranks do not divide the heads that a product is reshaped to.
  mlir::LogicalResult run();

  // How a value lies as its op gives it, and how an op takes it.
  verify::State stateOf(mlir::Value value) const { return states_.lookup(value); }
  verify::State takes(mlir::OpOperand& use) const;
  // Dims of the variables that hold parts, in the order of the role.
  std::vector<std::pair<pd::VarOp, int>> stored() const;

  const std::string& axis() const { return axis_; }
  int64_t size() const { return solver_.size(); }
  bool cutsSequences() const { return sequences_; }
  // Ops on parts that a composite stands for (compiler/analysis/relations/part_forms.h).
  bool hasForm(mlir::Operation* op) const;
  // Updates on parts, whose norms a composite sums up (passes/sharding/norms.h).
  bool sumsNorms(mlir::Operation* op) const;
  // Sums of terms and of parts of sequences, which a composite adds up in this order
  // (compiler/analysis/relations/term_sum.h).
  bool sumsTerms(mlir::Operation* op) const;
  // Ops whose block is looked into: it works on parts like the ops around it.
  bool looksInto(mlir::Operation* op) const { return branches_.contains(op); }
  // Reshapes whose shape was written otherwise, and what it was.
  const llvm::MapVector<mlir::Operation*, mlir::Attribute>& opened() const { return opened_; }
  // Products with a parameter, and lookups in one, that stays whole, by reason.
  using Kept =
      llvm::MapVector<std::string, std::vector<std::string>, std::map<std::string, unsigned>>;
  const Kept& kept() const { return kept_; }
  // What lies in parts and is put together for its update, by reason: every rank computes that.
  Kept updatedWhole() const;
  // Terms that are summed whole although sequences are to lie in parts, by reason.
  const Kept& summedWhole() const { return summedWhole_; }

 private:
  struct Trial {
    llvm::DenseMap<mlir::Value, verify::State> states;
    llvm::SmallVector<std::pair<mlir::StringAttr, int>, 4> variables;
    unsigned ends = 0;                 // where parts ended well
    mlir::Operation* stuck = nullptr;  // would have to put parts together
  };
  enum class Answer { Yes, No, Indivisible };

  mlir::LogicalResult takeDeclared();
  void openShapes();
  void index();
  pd::VarOp variableOf(mlir::Value value) const;
  bool mayStore(mlir::StringAttr name) const;
  mlir::LogicalResult chooseProducts();
  void chooseTables();
  Answer tryParameter(mlir::Operation* op, unsigned parameter, int dim);
  bool follow(Trial& trial, std::set<unsigned>& waiting);
  void assign(Trial& trial, mlir::StringAttr variable, int dim, std::set<unsigned>& waiting);
  verify::State stateIn(const Trial& trial, mlir::Value value) const;
  bool propagate();
  void propagateThrough(mlir::Operation* op);
  void propagateInto(mlir::Operation* branch);
  void takeWhole(mlir::Operation* op);
  // sequences.cc
  bool isTermOfSequence(mlir::Value value) const;
  Way solveOnSequences(mlir::Operation* op, llvm::ArrayRef<verify::State> given);
  std::optional<Way> keepOnSequences(mlir::Operation* op, llvm::ArrayRef<verify::State> given);
  std::optional<Way> addTermsFirst(mlir::Operation* op, llvm::ArrayRef<verify::State> given);
  void noteSummedWhole(mlir::OpOperand& use);

  JobOnAxes job_;
  std::string axis_;
  bool staged_;     // of a pipeline
  bool sequences_;  // lie in parts between layers
  Solver solver_;
  Storable storable_;
  int64_t minVocabulary_;
  llvm::DenseMap<mlir::StringAttr, Touches> touches_;
  std::vector<mlir::Operation*> ops_;  // at the top of the program
  llvm::DenseMap<mlir::Operation*, unsigned> numbers_;
  llvm::DenseSet<mlir::Operation*> branches_;
  llvm::MapVector<mlir::Operation*, mlir::Attribute> opened_;
  llvm::DenseMap<mlir::StringAttr, int> stored_;  // dims of variables that hold parts
  llvm::DenseMap<mlir::Value, verify::State> states_;
  llvm::DenseMap<mlir::OpOperand*, verify::State> takes_;  // where it differs from the value's
  llvm::DenseSet<mlir::Value> ofSequences_;  // in parts along the sequence, not as a layer's are
  bool storedMore_ = false;
  Kept kept_, summedWhole_;
};

}  // namespace dtranspile::passes

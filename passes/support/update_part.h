// What servers take over of a training program: the schedule of the learning rate, what becomes of
// merged gradients, the updates. Says of every value whether it belongs to one parameter, block by
// block, or is the same on all servers, and in which order the two alternate. Used by ps-place,
// ps-split and ps-startup.
#pragma once

#include <vector>

#include "compiler/analysis/relations/updates.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "passes/support/job.h"

namespace dtranspile::passes {

// A parameter, with the state that is updated beside it.
struct Served {
  pd::VarOp var;
  mlir::Value gradient;                 // as the trainers complete it; null where none is taken
  mlir::Operation* whole = nullptr;     // an op that takes it in one piece; null: blocks will do
  std::vector<mlir::StringAttr> state;  // variables of its shape that the part sets, itself first
  bool byRows = false;  // its gradient is SelectedRows, and every op that takes it updates rows
};

class UpdatePart {
 public:
  // Of @main of the trainers. What servers cannot take over is reported.
  static mlir::FailureOr<UpdatePart> of(const JobOnAxes& job);

  // Framework ops at the top of @main, in its order.
  llvm::ArrayRef<mlir::Operation*> ops() const { return ops_; }
  bool contains(mlir::Operation* op) const { return members_.contains(op); }
  // Constants that it takes from the forward and backward part: both roles have them.
  bool isShared(mlir::Operation* op) const { return constants_.contains(op); }

  llvm::ArrayRef<Served> parameters() const { return parameters_; }
  // What updates hand on whatever the block: kept once for all blocks.
  llvm::ArrayRef<verify::Power> powers() const { return powers_; }

  // The parameter that a value, a variable or an op belongs to; -1 for what is the same everywhere.
  int ownerOf(mlir::Value value) const;
  int ownerOf(llvm::StringRef variable) const;
  int ownerOf(mlir::Operation* op) const;
  // One number per tensor, to which every block adds; or a flag, which any of them sets.
  bool isTerm(mlir::Value value) const { return terms_.contains(value); }
  // A sum of such numbers: each server has the part of its own blocks.
  bool isPartial(mlir::Value value) const { return partial_.contains(value); }

  // Variables that it reads or sets.
  bool touches(llvm::StringRef variable) const { return variables_.contains(variable); }
  bool sets(llvm::StringRef variable) const;

 private:
  mlir::LogicalResult collectOps(const JobOnAxes& job);
  void absorbParameterOps(const JobOnAxes& job);
  mlir::LogicalResult collectParameters(const JobOnAxes& job);
  mlir::LogicalResult collectGradients(const JobOnAxes& job);
  mlir::LogicalResult findOwners(const JobOnAxes& job);
  mlir::LogicalResult giveOwner(mlir::Operation* op);
  mlir::FailureOr<bool> ownVariables(const JobOnAxes& job);
  mlir::LogicalResult collectVariables(const JobOnAxes& job);
  mlir::LogicalResult checkOperands(mlir::Operation* op);
  bool isPower(mlir::OpResult result);
  bool worksByBlock(mlir::Operation* op, int owner) const;

  std::vector<mlir::Operation*> ops_;
  llvm::DenseSet<mlir::Operation*> members_, constants_;
  std::vector<Served> parameters_;
  std::vector<verify::Power> powers_;
  llvm::StringMap<int> variableOwner_;
  llvm::DenseMap<mlir::Value, int> valueOwner_;
  llvm::DenseMap<mlir::Operation*, int> opOwner_;
  llvm::DenseSet<mlir::Value> terms_, partial_;
  llvm::StringMap<bool> variables_;  // whether it is set
};

// The variable of a value that is read from it, be it through an op that hands it on; null for
// others.
mlir::FlatSymbolRefAttr variableBehind(mlir::Value value);

// On a pd.var of a job: how its blocks lie on the servers (a #dist.layout). From ps-place to
// ps-startup, which takes it away.
inline constexpr llvm::StringLiteral kServerLayout = "server_layout";

// The values that an op takes: its operands, and what its regions read from outside.
llvm::SetVector<mlir::Value> takenBy(mlir::Operation* op);

// Names of the variables that an op, or one inside of it, reads or sets.
struct Touched {
  llvm::SmallVector<mlir::StringAttr> read, set;
};
Touched touchedBy(mlir::Operation* op);

}  // namespace dtranspile::passes

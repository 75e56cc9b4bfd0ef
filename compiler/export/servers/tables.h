// What both sides of a parameter-server job have to agree about in programs of the framework, where
// variables are found by name: which variables are cut into which blocks, on which server, and what
// a block and its gradient are called. Read off the job once; used by trainer.cc and server.cc.
//
//   one block     w         w@GRAD           w@GRAD.trainer_0
//   several       w.block1  w@GRAD.block1    w@GRAD.block1.trainer_0
//
// With a single trainer, and where servers apply every push by itself (mode async), the ending
// `.trainer_<i>` is left out, and so are sum and scale.
#pragma once

#include <string>
#include <vector>

#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

// Rows [begin, begin + rows) of a variable.
struct Block {
  int64_t number = 0, begin = 0, rows = 0, server = 0;
};

// A variable of the server role that is cut into blocks; one that lies whole on one server has one.
struct Table {
  std::string name;
  mlir::RankedTensorType whole;
  std::vector<Block> blocks;
  bool travels = false;     // trainers push or pull it
  std::string gradient;     // empty where none is pushed
  mlir::Type gradientType;  // of the whole
  dist::Merge merge = dist::Merge::Mean;

  bool isCut() const { return blocks.size() > 1; }
  std::vector<const Block*> on(int64_t server) const;
  // The name of a block. State that stays on a server keeps its own where the server has one block.
  std::string blockName(const Block& block) const;
  // Of the gradient of a block, and of what one trainer sends (`trainer` < 0: the only one).
  std::string gradientName(const Block& block) const;
  std::string sentName(const Block& block, int64_t trainer) const;
  mlir::RankedTensorType typeOf(const Block& block) const;
  // SelectedRows where trainers push these.
  mlir::Type gradientTypeOf(const Block& block) const;
};

class Tables {
 public:
  // `endpoints`: HOST:PORT of every server. What no program of the framework can say is an error:
  // roles beside one of trainers and one of servers, handlers of pulls and lookups, variables that
  // several servers have whole.
  static mlir::FailureOr<Tables> of(mlir::ModuleOp job, std::vector<std::string> endpoints);

  dist::RoleOp trainerRole() const { return trainerRole_; }
  dist::RoleOp serverRole() const { return serverRole_; }
  int64_t trainers() const { return trainers_; }
  // Whether servers wait for all trainers; else a push of one is an update.
  bool rounds() const { return rounds_; }
  // Whether each trainer's gradient has a variable of its own, which the round adds up.
  bool sums() const { return rounds_ && trainers_ > 1; }
  int64_t servers() const { return static_cast<int64_t>(endpoints_.size()); }
  llvm::ArrayRef<std::string> endpoints() const { return endpoints_; }
  // Of the servers that have the blocks of a table, block by block.
  llvm::SmallVector<llvm::StringRef> endpointsOf(const Table& table) const;

  // Those of which gradients are pushed first, in the order of the pushes.
  llvm::ArrayRef<Table> tables() const { return tables_; }
  const Table* find(llvm::StringRef name) const;
  // The number that sent gradients carry; -1 where they carry none.
  int64_t numberOf(int64_t trainer) const { return sums() ? trainer : -1; }

 private:
  mlir::LogicalResult findRoles(mlir::ModuleOp job);
  mlir::LogicalResult addVariable(pd::VarOp var, dist::MeshOp mesh);
  mlir::LogicalResult readTrainers();
  mlir::LogicalResult addPush(dist::PushOp push);

  dist::RoleOp trainerRole_, serverRole_;
  int64_t trainers_ = 1;
  bool rounds_ = true;
  std::vector<std::string> endpoints_;
  std::vector<Table> tables_;
  llvm::StringMap<size_t> numbers_;  // of tables, by name
};

// The roles of a job with parameter servers; null where it has none.
dist::RoleOp servingRole(mlir::ModuleOp job);

}  // namespace dtranspile

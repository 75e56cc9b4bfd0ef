// Which operations of a round concern one server, and in which block of listen_and_serv they stand:
// internal to this folder.
//
// The framework runs its blocks in order; neighbours with the same parent run side by side. Loops
// over blocks are such neighbours, a block each; what is the same on all servers stands in blocks
// between them. Each op stands as early as what it waits for allows, but for what no loop waits
// for: that ends the block of the one loop that it belongs to (the power of a decay rate), or the
// round.
#pragma once

#include <vector>

#include "compiler/export/servers/tables.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile {

struct RoundPlan {
  struct Part {
    std::vector<mlir::Operation*> ops;  // foreach_block: its body, for each block of the server
    int group = 0;                      // neighbours of one group run side by side
  };
  mlir::Block* round = nullptr;  // where the ops stand
  std::vector<Part> parts;
  llvm::StringSet<> variables;  // that the round reads or sets here, by their names in the job
};

// Of the body of `dist.handle round`, from which it takes what this server does not do.
mlir::FailureOr<RoundPlan> planRound(mlir::Block& round, const Tables& tables, int64_t server);

// The values that an op takes: its operands, and what its regions take from outside.
llvm::SmallVector<mlir::Value> takenBy(mlir::Operation* op);

// Calls `see(name, sets)` for every variable that an op, or one inside of it, reads or sets.
void forVariables(mlir::Operation* op, llvm::function_ref<void(llvm::StringRef, bool)> see);

}  // namespace dtranspile

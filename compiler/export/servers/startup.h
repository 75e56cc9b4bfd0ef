// The start-up program of a server: internal to this folder.
#pragma once

#include "compiler/export/servers/tables.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile {

// Takes out what only sets variables that are not in `kept`, which then has those that start-up
// reads as well.
void dropForeignValues(pd::ProgramOp startup, llvm::StringSet<>& kept);

// Initial values of the blocks: rows of the variable's own, which every server computes whole.
mlir::LogicalResult writeStartup(pd::ProgramOp startup, const Tables& tables, int64_t server);

}  // namespace dtranspile

// Tables that stay on the servers, in the text of a trainer: rows are asked for by
// `distributed_lookup_table`, and a variable that start-up fakes (`fake_init`) stands for the table
// where its extents are looked at. Used by trainer.cc before anything else is translated.
#pragma once

#include "compiler/export/servers/tables.h"

namespace dtranspile {

// In one program of the specialised module of a trainer. `startup`: fakes the tables that `main`
// reads.
mlir::LogicalResult translateLookups(const Tables& tables, int64_t rank, pd::ProgramOp main,
                                     pd::ProgramOp startup);

}  // namespace dtranspile

// Tables: parameters of which trainers look rows up and need nothing else. They stay on the
// servers; trainers ask for the rows of the step's ids. Used by ps-split when the updates have been
// taken out of the trainers' program.
#pragma once

#include "passes/support/update_part.h"

namespace dtranspile::passes {

// Whether all that trainers do with the parameter is looking rows up, at the top of the program,
// and making gradients of these rows, with is_sparse.
bool isTable(const JobOnAxes& job, const Served& served);

// Of one whose gradient is SelectedRows and that is none: an op because of which it is pulled
// whole.
mlir::Operation* takerOfWhole(const JobOnAxes& job, const Served& served);

// Turns its lookups into requests for rows. `table`: the variable of the servers.
void lookUpOnServers(const JobOnAxes& job, const Served& served, mlir::SymbolRefAttr table,
                     mlir::FlatSymbolRefAttr rounds);

// Moves requests for rows up behind the ids that they take, so that they stand one after the other
// and are asked for together.
void gatherLookups(const JobOnAxes& job);

}  // namespace dtranspile::passes

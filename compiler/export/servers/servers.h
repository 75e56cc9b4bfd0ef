// Programs of parameter-server jobs in the framework's own operators: `send`, `recv` and their
// barriers on trainers, `listen_and_serv` with its blocks on servers. Synchronous rounds. What
// becomes of what: docs/parameter-server.md, Export. Called by the command `export`.
//
//   tables.cc    names, blocks and places that both sides have to agree about
//   trainer.cc   pushes, pulls and phases
//   server.cc    the program of one server, of the parts round_plan.cc (what of a round stands in
//                which block), round.cc and round_ops.cc (the blocks), startup.cc (initial values)
//   reductions.cc  communication in groups, which the framework's servers and trainers do not have
#pragma once

#include "compiler/export/servers/tables.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile {

// The programs @main and @startup of one rank, to be written by compiler/export/program.h. What the
// framework has no operator for is an error that names it.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> exportTrainer(const Tables& tables,
                                                                 int64_t rank);
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> exportServer(const Tables& tables, int64_t rank);

}  // namespace dtranspile

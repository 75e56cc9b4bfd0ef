// A pipeline stage in the form that the framework's section worker runs. Used by collective.cc
// before everything else is translated.
#pragma once

#include "compiler/export/collective/rings.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"

namespace dtranspile {

// The worker runs the ops of one program by their role: those of LRSched once before the first
// micro-batch, forward and backward ones once per micro-batch in the order of its schedule, those
// of Optimize once at the end. Each micro-batch has a scope of its own for temporaries;
// persistables are in the scope around them. So a dist.micro, whose body specialisation has
// gathered into tasks, is laid out in one block: what stands before it becomes LRSched, its tasks
// forward and backward, what follows Optimize; what goes over from one of these to another is
// persistable, and so are sums over micro-batches, `<name>@MERGED`, as in fleet's own programs.
//
// Under "1F1B" a send must not hold up the computation that the other side waits for: it goes on
// the stream of communication, and its buffer is kept until it has surely gone, by `nop` where the
// gradient comes back, by `c_sync_comm_stream` before the update.
//
// Schedules that the worker does not have (several chunks, tasks W) are refused by name.
mlir::LogicalResult layOutStage(pd::ProgramOp program, dist::MeshOp mesh, int64_t rank,
                                llvm::ArrayRef<Ring> rings);

}  // namespace dtranspile

// The extents of what a stage of a pipeline receives. The text of its class does not say how large
// the batch is where it has no feed: types have `?` there. The program of the role in the job has
// all stages, and one walk over it with the extents of the feeds tells.
#pragma once

#include "compiler/lower/lowering.h"
#include "dialects/dist/dist.h"

namespace dtranspile::lower {

// What the other end of a receive sends. A diagnostic where the job is not there (LoweringRequest),
// or does not say.
llvm::FailureOr<pd::TensorInfo> sentInfo(Lowering& lowering, dist::RecvOp recv);

// The same as far as the job says it, with extents of -1 where it does not; null where the job is
// not there, or the receive is none of a transfer.
const pd::TensorInfo* knownSent(Lowering& lowering, dist::RecvOp recv);

}  // namespace dtranspile::lower

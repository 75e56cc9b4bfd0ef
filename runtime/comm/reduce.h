// Combines the contributions of several ranks element by element. The one definition of what a
// reduction means on the host; every host back end uses it, so their results have the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "runtime/comm/communicator.h"

namespace dtranspile::comm {

// An error for pairs without a meaning: or of floats, max and min of complex numbers.
absl::Status CheckReduce(DType dtype, ReduceOp reduce);

// out[i] = sources[0][i] ⊕ sources[1][i] ⊕ … in this order, for i in [0, count). float16 and
// bfloat16 are combined in float32 and rounded once (to nearest even); integers wrap around; max
// and min give NaN if an operand is NaN. `out` may be one of the sources. No alignment is needed.
// The pair must have passed CheckReduce, `num_sources` is at least 1. The result also goes to
// `copy` where that is not null; writing both at once saves reading the result again.
void Reduce(DType dtype, ReduceOp reduce, const std::byte* const* sources, int num_sources,
            std::byte* out, int64_t count, std::byte* copy = nullptr);

}  // namespace dtranspile::comm

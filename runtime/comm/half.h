// Blocks of 16-bit floats to float32 and back (round to nearest even, NaN stays NaN). Used by
// reduce.cc and runtime/ps/merge.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtranspile::comm {

void LoadFloat16(const std::byte* from, float* to, int64_t n);
void StoreFloat16(const float* from, std::byte* to, int64_t n);

void LoadBFloat16(const std::byte* from, float* to, int64_t n);
void StoreBFloat16(const float* from, std::byte* to, int64_t n);

}  // namespace dtranspile::comm

// float16 goes through the F16C instructions where the processor has them, else through the
// compiler's conversions; both round to nearest even, so results do not depend on the machine.
#include "runtime/comm/half.h"

#include <immintrin.h>

#include <bit>
#include <cstring>

namespace dtranspile::comm {
namespace {

const bool kHasF16c = __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx");

void LoadPortable(const std::byte* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    _Float16 value;
    std::memcpy(&value, from + 2 * i, 2);
    to[i] = static_cast<float>(value);
  }
}

void StorePortable(const float* from, std::byte* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const _Float16 value = static_cast<_Float16>(from[i]);
    std::memcpy(to + 2 * i, &value, 2);
  }
}

__attribute__((target("avx,f16c"))) int64_t LoadF16c(const std::byte* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
  return i;
}

__attribute__((target("avx,f16c"))) int64_t StoreF16c(const float* from, std::byte* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i), bits);
  }
  return i;
}

}  // namespace

void LoadFloat16(const std::byte* from, float* to, int64_t n) {
  const int64_t done = kHasF16c ? LoadF16c(from, to, n) : 0;
  LoadPortable(from + 2 * done, to + done, n - done);
}

void StoreFloat16(const float* from, std::byte* to, int64_t n) {
  const int64_t done = kHasF16c ? StoreF16c(from, to, n) : 0;
  StorePortable(from + done, to + 2 * done, n - done);
}

void LoadBFloat16(const std::byte* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint16_t bits;
    std::memcpy(&bits, from + 2 * i, 2);
    to[i] = std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
}

void StoreBFloat16(const float* from, std::byte* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(from[i]);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const uint32_t quiet_nan = (bits >> 16) | 0x40;
    const uint16_t value =
        static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet_nan : rounded);
    std::memcpy(to + 2 * i, &value, 2);
  }
}

}  // namespace dtranspile::comm

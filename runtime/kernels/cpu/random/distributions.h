// Fills tensors as the framework's initialiser ops do: uniform_random, gaussian_random,
// truncated_gaussian_random. Called by the library calls of calls.h and by tests.
//
// Elements are made one after the other in memory order, with the rounding of libstdc++'s
// distributions (which the framework is built with), so that values agree bit for bit; which were
// compared is written in docs/tensor-files.md. Built without contraction to fused multiply-add,
// which would change bits. T is float or double.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/kernels/cpu/random/generator.h"

namespace dtranspile::random {

// uniform_random's diagonal: element n is `value` when n mod (step + 1) = 0 and n / (step + 1) <
// num. Off with num = 0; step is not negative, both below 2^31.
struct Diagonal {
  int64_t num = 0;
  int64_t step = 0;
  float value = 1.0f;
};

// min + (max - min) · u. Bounds pass through float, whatever T is.
template <typename T>
void FillUniform(Engine& engine, T* out, int64_t count, float min, float max,
                 Diagonal diagonal = {});

// Marsaglia's polar method (Marsaglia and Bray, SIAM Review 6 (1964) 260), two numbers a turn, the
// second one first.
template <typename T>
void FillGaussian(Engine& engine, T* out, int64_t count, double mean, double std);

// The bounds that the op has as attributes `a` and `b` since 3.x: absolute, and results are clamped
// to them.
struct Bounds {
  double low = -2.0;
  double high = 2.0;
};

// The inverse of the normal distribution function at a uniform number between its values at the
// bounds: those given, or two standard deviations to either side of the mean. The inverse is that
// of Wichura, algorithm AS 241, Applied Statistics 37 (1988) 477; 1.x uses its formula of the
// middle in the tails too (an `abs` that the compiler takes for the integer one).
template <typename T>
void FillTruncatedGaussian(Engine& engine, T* out, int64_t count, double mean, double std,
                           std::optional<Bounds> bounds = std::nullopt);

}  // namespace dtranspile::random

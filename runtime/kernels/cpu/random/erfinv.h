// The inverse of erf by Wichura's algorithm AS 241 (routine PPND16), Applied Statistics 37 (1988)
// 477-484. Used by the truncated normal distribution and by the op of that name.
#pragma once

namespace dtranspile::random {

// How the three regions of the algorithm are told apart.
enum class Tails { kOwnFormulas, kFormulaOfTheMiddle };

// x in (-1, 1); infinite at the ends. All coefficients and sums are rounded to T, as the
// framework's code does.
template <typename T>
T Erfinv(T x, Tails tails);

}  // namespace dtranspile::random

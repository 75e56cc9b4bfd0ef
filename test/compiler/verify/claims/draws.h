// What relations say of numbers that are drawn. Where ranks draw the same numbers (dist.streams is
// empty), results are compared as those of other ops are: the reference's draw is theirs. Parts of
// a batch are drawn each for itself, and no run of the reference draws the same: put together they
// must be distributed as what the reference draws, and be as independent of each other.
#pragma once

#include <string>
#include <vector>

#include "test/compiler/verify/claims/parts.h"

namespace dtranspile::claims {

inline constexpr int kDraws = 48;

// One result, `whole[k]` by the reference's op and `parts[k]` by the coordinates, in runs of seeds
// of their own. Empty, or what is wrong with the claim that the parts along `dim` are `scale` times
// the reference's value.
std::string compareDraws(const Tensors& whole, const std::vector<Tensors>& parts, int64_t dim,
                         double scale);

}  // namespace dtranspile::claims

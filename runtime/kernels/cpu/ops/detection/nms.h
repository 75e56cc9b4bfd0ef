// Greedy non-maximum suppression, shared by the kernels that end in one.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {

// The positions [0, count) that `accept` takes, by falling score, equal ones in order; at most
// `most` of them where that is not negative.
template <typename T, typename Accept>
std::vector<int64_t> ByScore(const T* scores, int64_t count, int64_t most, Accept&& accept) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i)
    if (accept(i)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return Larger(scores[a], scores[b]); });
  if (most >= 0 && most < static_cast<int64_t>(order.size()))
    order.resize(static_cast<size_t>(most));
  return order;
}

// Those of `order` that overlap no earlier one that stays by more than the threshold. With eta < 1
// a threshold above 0.5 shrinks with each that stays.
template <typename T, typename Overlap>
std::vector<int64_t> Suppress(const std::vector<int64_t>& order, T threshold, T eta,
                              Overlap&& overlap) {
  std::vector<int64_t> kept;
  for (int64_t candidate : order) {
    if (!std::all_of(kept.begin(), kept.end(),
                     [&](int64_t other) { return overlap(candidate, other) <= threshold; }))
      continue;
    kept.push_back(candidate);
    if (eta < 1 && threshold > static_cast<T>(0.5)) threshold *= eta;
  }
  return kept;
}

}  // namespace dtranspile::kernels

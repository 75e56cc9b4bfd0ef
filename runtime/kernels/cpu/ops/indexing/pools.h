// Ways to pool rows: what segment_pool, graph_send_recv and graph_send_ue_recv share.
#pragma once

#include <string_view>
#include <utility>

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

enum class Pool { kSum, kMean, kMax, kMin };

inline bool PoolOf(OpCall& call, std::string_view text, Pool& pool) {
  constexpr std::pair<std::string_view, Pool> kNames[] = {
      {"SUM", Pool::kSum}, {"MEAN", Pool::kMean}, {"MAX", Pool::kMax}, {"MIN", Pool::kMin}};
  for (const auto& [name, value] : kNames)
    if (name == text) return pool = value, true;
  return call.Fail("'%.*s' is no way to pool", static_cast<int>(text.size()), text.data()), false;
}

}  // namespace dtranspile::kernels

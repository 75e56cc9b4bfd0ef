#include "runtime/ps/rows.h"

#include <cstring>

namespace dtranspile::ps {
namespace {

// Spreads neighbouring ids over the slots: 2^64 / the golden ratio.
constexpr uint64_t kSpread = 0x9E3779B97F4A7C15U;

}  // namespace

// Open addressing in a table of at least twice as many slots as there are ids; a slot has the
// number of a wanted id, counted from 1.
DistinctIds::DistinctIds(const int64_t* ids, int64_t count, std::optional<int64_t> padding) {
  int bits = 1;
  while ((int64_t{1} << bits) < 2 * count) ++bits;
  std::vector<int64_t> slots(size_t{1} << bits);
  wanted_.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    if (padding && ids[i] == *padding) {
      zeros_.push_back(i);
      continue;
    }
    size_t slot = static_cast<size_t>((static_cast<uint64_t>(ids[i]) * kSpread) >> (64 - bits));
    const Wanted* known = nullptr;
    for (; slots[slot] != 0; slot = (slot + 1) & (slots.size() - 1)) {
      known = &wanted_[static_cast<size_t>(slots[slot] - 1)];
      if (known->id == ids[i]) break;
      known = nullptr;
    }
    if (known != nullptr) {
      copies_.emplace_back(known->row, i);
      continue;
    }
    wanted_.push_back({ids[i], i});
    slots[slot] = static_cast<int64_t>(wanted_.size());
  }
}

void DistinctIds::Fill(std::byte* rows, int64_t row_bytes) const {
  const auto bytes = static_cast<size_t>(row_bytes);
  for (const int64_t row : zeros_) std::memset(rows + row * row_bytes, 0, bytes);
  for (const auto& [from, to] : copies_)
    std::memcpy(rows + to * row_bytes, rows + from * row_bytes, bytes);
}

}  // namespace dtranspile::ps

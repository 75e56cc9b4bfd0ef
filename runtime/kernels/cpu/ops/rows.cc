#include "runtime/kernels/cpu/ops/rows.h"

#include <array>
#include <utility>

namespace dtranspile::kernels {

// Sorted digit by digit, the lowest one first (a stable sort whose time is linear: rows of a step
// are many, and their order decides in which order memory is walked), then cut where the row
// changes.
RowGroups GroupRows(const std::vector<int64_t>& rows, int64_t height) {
  constexpr int kBits = 11;
  constexpr size_t kDigits = size_t{1} << kBits;
  const auto count = static_cast<int64_t>(rows.size());
  RowGroups groups;
  groups.places.resize(rows.size());
  for (int64_t i = 0; i < count; ++i) groups.places[static_cast<size_t>(i)] = i;
  std::vector<int64_t> sorted(rows.size());
  for (int shift = 0; shift < 63 && (height - 1) >> shift > 0; shift += kBits) {
    const auto digit = [&](int64_t place) {
      return static_cast<size_t>(rows[static_cast<size_t>(place)] >> shift) & (kDigits - 1);
    };
    std::array<int64_t, kDigits> next = {};
    for (int64_t place : groups.places) ++next[digit(place)];
    int64_t before = 0;
    for (int64_t& at : next) before += std::exchange(at, before);
    for (int64_t place : groups.places) sorted[static_cast<size_t>(next[digit(place)]++)] = place;
    groups.places.swap(sorted);
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = rows[static_cast<size_t>(groups.places[static_cast<size_t>(i)])];
    if (!groups.rows.empty() && groups.rows.back() == row) continue;
    groups.rows.push_back(row);
    groups.begin.push_back(i);
  }
  groups.begin.push_back(count);
  return groups;
}

// Every kernel of SelectedRows begins here: row numbers come from a program or another rank, and
// index memory later.
const exec::Value* RowsOf(OpCall& call, const DtBuffer& buffer) {
  const exec::Value* value = OpCall::ValueOf(buffer);
  if (value == nullptr || value->kind != exec::Value::Kind::kRows)
    return call.Fail("'%s' is no SelectedRows", buffer.name), nullptr;
  if (buffer.rank < 1 || buffer.dims[0] != static_cast<int64_t>(value->rows.size()))
    return call.Fail("'%s' has %zu row numbers and values for %lld", buffer.name,
                     value->rows.size(),
                     static_cast<long long>(buffer.rank < 1 ? 0 : buffer.dims[0])),
           nullptr;
  for (int64_t row : value->rows) {
    if (row >= 0 && row < value->height) continue;
    return call.Fail("'%s' has the row %lld, out of range for a height of %lld", buffer.name,
                     static_cast<long long>(row), static_cast<long long>(value->height)),
           nullptr;
  }
  return value;
}

}  // namespace dtranspile::kernels

// SelectedRows in kernels: some rows of a table of `height` rows, in any order, repeated ones
// counting several times (runtime/exec/value.h). Used by the families embedding, optimizer,
// elementwise.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/kernels/cpu/long_sum.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// The rows of an argument, checked: every number within the height, one row of values for each.
// Null, with a message, where they are not.
const exec::Value* RowsOf(OpCall& call, const DtBuffer& buffer);

// Elements of one row.
inline int64_t RowWidth(const DtBuffer& buffer) { return Elements(buffer, 1, buffer.rank); }

// Each row once, in ascending order, with the sum of its values in the order they had.
template <typename T>
struct MergedRows {
  std::vector<int64_t> rows;
  std::vector<T> values;

  const T* row(size_t i, int64_t width) const {
    return values.data() + static_cast<int64_t>(i) * width;
  }
};

// False, with a message, without memory.
template <typename T>
bool MergeRows(OpCall& call, const DtBuffer& buffer, const std::vector<int64_t>& rows,
               MergedRows<T>& merged) {
  const int64_t width = RowWidth(buffer);
  merged.rows = rows;
  std::sort(merged.rows.begin(), merged.rows.end());
  merged.rows.erase(std::unique(merged.rows.begin(), merged.rows.end()), merged.rows.end());
  merged.values.assign(merged.rows.size() * static_cast<size_t>(width), T{0});
  std::vector<int64_t> at(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    at[i] = std::lower_bound(merged.rows.begin(), merged.rows.end(), rows[i]) - merged.rows.begin();
  const auto height = static_cast<int64_t>(merged.rows.size());
  return RowAdder<T>(call, at, width, height).Add(Data<const T>(buffer), merged.values.data());
}

}  // namespace dtranspile::kernels

// SelectedRows in kernels: some rows of a table of `height` rows, in any order, repeated ones
// counting several times (runtime/exec/value.h). Used by the families embedding, optimizer,
// elementwise.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

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

template <typename T>
MergedRows<T> MergeRows(const DtBuffer& buffer, const std::vector<int64_t>& rows) {
  const int64_t width = RowWidth(buffer);
  MergedRows<T> merged;
  merged.rows = rows;
  std::sort(merged.rows.begin(), merged.rows.end());
  merged.rows.erase(std::unique(merged.rows.begin(), merged.rows.end()), merged.rows.end());
  merged.values.assign(merged.rows.size() * static_cast<size_t>(width), T{0});
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at =
        std::lower_bound(merged.rows.begin(), merged.rows.end(), rows[i]) - merged.rows.begin();
    const T* from = Data<const T>(buffer) + static_cast<int64_t>(i) * width;
    for (int64_t j = 0; j < width; ++j)
      merged.values[static_cast<size_t>(at * width + j)] += from[j];
  }
  return merged;
}

}  // namespace dtranspile::kernels

// SelectedRows in kernels: some rows of a table of `height` rows, in any order, repeated ones
// counting several times (runtime/exec/value.h). Used by the families embedding, optimizer,
// elementwise.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/kernels/cpu/long_sum.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// The rows of an argument, checked: every number within the height, one row of values for each.
// Null, with a message, where they are not.
const exec::Value* RowsOf(OpCall& call, const DtBuffer& buffer);

// Elements of one row.
inline int64_t RowWidth(const DtBuffer& buffer) { return Elements(buffer, 1, buffer.rank); }

// The rows of a SelectedRows, each once: what an update by rows walks.
struct RowGroups {
  std::vector<int64_t> rows;    // ascending
  std::vector<int64_t> begin;   // of row i's group in `places`; one more: the end
  std::vector<int64_t> places;  // of the values, in the order they had within a group

  int64_t size() const { return static_cast<int64_t>(rows.size()); }
};

// `rows` within [0, height).
RowGroups GroupRows(const std::vector<int64_t>& rows, int64_t height);

// The values of group i: where they lie if there is one row, else their sum in the order they had,
// which is made in `sum` (of `width`). Sums of many are formed in a type that keeps their digits
// (long_sum.h).
template <typename T>
const T* GroupValue(const RowGroups& groups, int64_t i, const T* values, int64_t width, T* sum) {
  const int64_t* place = groups.places.data() + groups.begin[static_cast<size_t>(i)];
  const int64_t* end = groups.places.data() + groups.begin[static_cast<size_t>(i) + 1];
  if (end - place == 1) return values + *place * width;
  if (end - place > kShortSum) {
    for (int64_t j = 0; j < width; ++j) {
      Total<T> total = 0;
      for (const int64_t* at = place; at != end; ++at)
        total = Plus<Total<T>>(total, values[*at * width + j]);
      sum[j] = static_cast<T>(total);
    }
    return sum;
  }
  std::fill_n(sum, width, T{0});
  for (; place != end; ++place)
    for (int64_t j = 0; j < width; ++j) sum[j] = Plus<T>(sum[j], values[*place * width + j]);
  return sum;
}

}  // namespace dtranspile::kernels

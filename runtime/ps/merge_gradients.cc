#include "runtime/ps/merge_gradients.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/merge.h"

namespace dtranspile::ps {
namespace {

bool FitTogether(const exec::Value& one, const exec::Value& other) {
  if (one.kind != other.kind || one.dtype != other.dtype || one.height != other.height)
    return false;
  if (one.kind != exec::Value::Kind::kRows) return one.dims == other.dims;
  return one.dims.size() == other.dims.size() && !one.dims.empty() &&
         std::equal(one.dims.begin() + 1, one.dims.end(), other.dims.begin() + 1);
}

}  // namespace

// The sum or mean of gradients of one table. Dense ones are added; of those by rows the rows are
// put one after the other, which is a sum too, each scaled by the factor.
absl::StatusOr<exec::Value> MergeGradients(const std::string& table,
                                           const std::vector<const exec::Value*>& gradients,
                                           bool average) {
  const exec::Value& first = *gradients.front();
  const bool rows = first.kind == exec::Value::Kind::kRows;
  const double factor = average ? 1.0 / static_cast<double>(gradients.size()) : 1.0;
  const auto wrong = [&](const char* what) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradients of table '", table, "' that are to be merged ", what));
  };
  exec::Value sum(first.kind, first.dtype);
  std::vector<const std::byte*> from;
  for (const exec::Value* one : gradients) {
    if (!FitTogether(first, *one)) return wrong("have different extents");
    from.push_back(one->data());
    sum.rows.insert(sum.rows.end(), one->rows.begin(), one->rows.end());
  }
  std::vector<int64_t> dims = first.dims;
  if (rows) dims[0] = static_cast<int64_t>(sum.rows.size());
  DT_RETURN_IF_ERROR(sum.Resize(dims));
  sum.height = first.height;
  bool done = true;
  if (rows) {
    std::byte* to = sum.data();
    for (const exec::Value* one : gradients) {
      done &= AddUp(first.dtype, {one->data()}, one->count(), factor, to);
      to += one->bytes();
    }
  } else {
    done = AddUp(first.dtype, from, sum.count(), factor, sum.data());
  }
  if (!done) return wrong(average ? "have no mean" : "have no sum");
  return sum;
}

}  // namespace dtranspile::ps

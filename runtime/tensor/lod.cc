#include "runtime/tensor/lod.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile {

absl::Status CheckLod(const Lod& lod, int64_t rows) {
  for (size_t level = 0; level < lod.size(); ++level) {
    const std::vector<uint64_t>& offsets = lod[level];
    const auto fail = [&](const std::string& why) {
      return absl::InvalidArgumentError(absl::StrCat("LoD level ", level, " ", why));
    };
    if (offsets.empty() || offsets[0] != 0) return fail("does not begin with offset 0");
    for (size_t i = 1; i < offsets.size(); ++i) {
      if (offsets[i] < offsets[i - 1]) return fail(absl::StrCat("decreases at offset ", i));
    }
    const bool last = level + 1 == lod.size();
    const uint64_t items = last ? static_cast<uint64_t>(rows)
                                : (lod[level + 1].empty() ? 0 : lod[level + 1].size() - 1);
    if (offsets.back() != items) {
      return fail(absl::StrCat("ends with ", offsets.back(), ", but there are ", items,
                               last ? " rows" : " sequences in the next level"));
    }
  }
  return absl::OkStatus();
}

int64_t SequenceCount(const Tensor& tensor) {
  if (tensor.lod.empty()) return tensor.dims.empty() ? 0 : tensor.dims[0];
  return static_cast<int64_t>(tensor.lod[0].size()) - 1;
}

absl::StatusOr<Tensor> SliceSequences(const Tensor& tensor, int64_t begin, int64_t count) {
  if (tensor.dims.empty()) return absl::OutOfRangeError("a tensor of rank 0 has no sequences");
  DT_RETURN_IF_ERROR(CheckLod(tensor.lod, tensor.dims[0]));
  const int64_t sequences = SequenceCount(tensor);
  if (begin < 0 || count < 0 || begin > sequences || count > sequences - begin) {
    return absl::OutOfRangeError(
        absl::StrCat("sequences [", begin, ", ", begin, " + ", count, ") of ", sequences));
  }
  // Each level's cut names the items of the next one; after the last level they are rows.
  Lod lod;
  uint64_t first = static_cast<uint64_t>(begin);
  uint64_t last = first + static_cast<uint64_t>(count);
  for (const std::vector<uint64_t>& offsets : tensor.lod) {
    std::vector<uint64_t> part(offsets.begin() + static_cast<ptrdiff_t>(first),
                               offsets.begin() + static_cast<ptrdiff_t>(last) + 1);
    first = part.front();
    last = part.back();
    for (uint64_t& offset : part) offset -= first;
    lod.push_back(std::move(part));
  }
  DT_ASSIGN_OR_RETURN(
      const TensorView rows,
      tensor.view().Rows(static_cast<int64_t>(first), static_cast<int64_t>(last - first)));
  DT_ASSIGN_OR_RETURN(Tensor cut, Tensor::Copy(rows));
  cut.lod = std::move(lod);
  return cut;
}

}  // namespace dtranspile

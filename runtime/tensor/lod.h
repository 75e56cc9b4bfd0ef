// Checks and cuts of ragged (LoD) tensors, host side. Callers: runtime/io (files, feeds), the
// executor's feed part.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile {

// OK when `lod` is a legal partition of `rows` rows: every level has at least one offset, begins
// with 0, does not decrease, and ends with the number of items of the next level (the last one with
// `rows`). kInvalidArgument names the level otherwise.
absl::Status CheckLod(const Lod& lod, int64_t rows);

// The sequences [begin, begin + count) of the outermost level, as a tensor of its own with offsets
// from 0. A tensor without levels is cut by rows. kOutOfRange where there are none such,
// kInvalidArgument for an illegal LoD.
absl::StatusOr<Tensor> SliceSequences(const Tensor& tensor, int64_t begin, int64_t count);

// Sequences of the outermost level (rows of a tensor without levels).
int64_t SequenceCount(const Tensor& tensor);

}  // namespace dtranspile

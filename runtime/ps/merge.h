// Combines what the trainers have pushed for a table: in the order of their ranks, whoever came
// first, so that a round has the same bits in every run. 16-bit floats are summed in float32 and
// rounded once. Used by the protocol of a server (protocol.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/value.h"
#include "runtime/ps/contribution.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {

// Of all trainers of the round, by rank; complete, of one merge and one kind (dense or sparse).
using Contributions = std::vector<const Contribution*>;

// kInvalidArgument for a merge that the element type does not have.
absl::Status CheckMerge(const exec::Table& table, exec::Merge merge);

// Elements [begin, end) of the part, of dense contributions: the sum over the trainers, times 1/N
// for a mean.
void MergeDense(const exec::Table& table, const Contributions& from, int64_t begin, int64_t end,
                std::byte* to);

// `count` elements of all of `from`, added up in their order and multiplied by `factor` (1: as they
// are). False for an element type that has no such sum, or no such multiple.
bool AddUp(DType dtype, const std::vector<const std::byte*>& from, int64_t count, double factor,
           std::byte* to);

// Rows [first, first + count) of the part, of sparse contributions, as a dense tensor: rows that
// nobody has pushed are 0, those of one number are added in the order in which they were pushed.
void MergeScattered(const exec::Table& table, const Contributions& from, int64_t first,
                    int64_t count, std::byte* to);

// The same as SelectedRows: rows as they were pushed, one trainer's after the other's, numbered
// from `first` on. Errors of Value::Resize.
absl::Status MergeRows(const exec::Table& table, const Contributions& from, int64_t first,
                       int64_t count, exec::Value& to);

}  // namespace dtranspile::ps

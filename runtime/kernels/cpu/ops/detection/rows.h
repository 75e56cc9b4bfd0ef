// Which rows of a batch belong to which image: by LoD, by a tensor of counts, or all to one. For
// the family `detection`.
#pragma once

#include <vector>

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

struct Rows {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

// The sequences of the last LoD level of `buffer`; all rows as one where it has no LoD. False (with
// a message) for a LoD that does not fit.
bool SequencesOf(OpCall& call, const DtBuffer& buffer, std::vector<Rows>& rows);

// The same with counts per sequence, where the call has an argument in `counts_slot`.
bool SequencesOf(OpCall& call, const DtBuffer& buffer, int counts_slot, std::vector<Rows>& rows);

// One level with these sequences.
Lod LodOfCounts(const std::vector<int64_t>& counts);

// int32 counts to a 1-D output.
bool WriteCounts(OpCall& call, DtBuffer& out, const std::vector<int64_t>& counts);

// An output sized to `dims`, or memory of the kernel in its place where nobody reads it. Not ok
// (with a message) where it has another type or cannot be sized.
class Output {
 public:
  Output(OpCall& call, int slot, DType dtype, absl::Span<const int64_t> dims, const Lod& lod = {});
  Output(const Output&) = delete;
  bool ok() const { return ok_; }
  DtBuffer& operator*() const { return *buffer_; }
  template <typename T>
  T* data() const {
    return Data<T>(*buffer_);
  }

 private:
  std::vector<int64_t> dims_;
  std::vector<double> own_;
  DtBuffer local_ = {};
  DtBuffer* buffer_ = &local_;
  bool ok_ = true;
};

// A tensor as a matrix of `columns` columns (its last dim, or any split that divides); false with a
// message.
bool CheckMatrix(OpCall& call, const DtBuffer& buffer, int64_t columns);

}  // namespace dtranspile::kernels

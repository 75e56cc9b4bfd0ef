// all_reduce and all_gather of a value (value.h), whose extents a rank knows of its own only. Two
// exchanges: how much every rank has, then what it has. Used by the executor for start and wait
// nodes on values.
//
//   all_reduce of a tensor   ranks must agree on the extents; the elements are reduced
//   all_reduce of rows       the sum of the tensors that SelectedRows stand for is all rows with
//   all
//                            values: those of rank 0 first. Rows that several ranks have stay
//                            apart, as those that one rank has twice do; kernels of their users add
//                            them up. Nothing dense is made.
//   all_gather               all rows, those of rank 0 first; ranks must agree on the extents of
//   one
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/value.h"

namespace dtranspile::exec {

class ValueCollective {
 public:
  // `kind`: kAllReduce or kAllGather.
  ValueCollective(comm::Communicator& comm, comm::Kind kind, comm::ReduceOp reduce,
                  std::string name, std::string label, Value& input, Value& output);

  // Starts the first exchange; never blocks on a peer.
  absl::StatusOr<comm::Ticket> Start();

  // Waits for it and does the second. On one communicator all ranks finish in the same order.
  // kInvalidArgument, on all ranks, names the variable where extents, widths or heights differ.
  absl::Status Finish(comm::Ticket ticket);

 private:
  // What a rank says of its part: extents of rank <= 8 for a tensor, rows, width and height of
  // SelectedRows.
  static constexpr int64_t kHeader = 10;
  const int64_t* header(int rank) const { return headers_.data() + rank * kHeader; }
  bool Agrees(const int64_t* other) const;
  absl::Status Disagree(int rank) const;
  absl::Status ReduceTensor();
  absl::Status GatherTensor();
  absl::Status GatherRows();
  // All ranks' parts, one after the other, of `unit` elements a row; ranks give different numbers
  // of rows.
  absl::Status GatherParts(DType dtype, const std::byte* part, int64_t unit, std::byte* all);

  comm::Communicator& comm_;
  const comm::Kind kind_;
  const comm::ReduceOp reduce_;
  const std::string name_, label_;
  Value &input_, &output_;
  std::vector<int64_t> own_, headers_;
  std::vector<std::byte> padded_, gathered_;  // kept for the next step
};

}  // namespace dtranspile::exec

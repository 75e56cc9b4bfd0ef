// What one trainer has pushed for one table in the current round, put together of chunks that come
// in any order. Kept until the round has combined it with those of the others (merge.h). Owned by
// the protocol of a server (protocol.h), which has the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/plan.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {

// One message of a push.
struct PushChunk {
  exec::Merge merge = exec::Merge::kMean;
  DType dtype = DType::kFloat32;
  int64_t number = 0;
  bool sparse = false;
  int64_t rows = 0;      // sparse: of all chunks together
  int64_t bytes = 0;     // that stand after the message
  bool tracked = false;  // sparse: others will ask which rows have changed
};

class Contribution {
 public:
  ~Contribution() { Clear(); }

  // Memory for the bytes of a chunk, which stays where it is until Clear. kInvalidArgument for a
  // chunk that does not fit the table or the chunks before it, kAlreadyExists for one that has come
  // before, kResourceExhausted.
  absl::StatusOr<std::byte*> Begin(const exec::Table& table, const PushChunk& chunk);
  // The bytes of a chunk are there. kInvalidArgument for numbers of rows that the table lacks.
  absl::Status Finish(const exec::Table& table, const PushChunk& chunk);

  bool begun() const { return chunks_ > 0; }
  bool complete() const { return begun() && finished_ == chunks_; }
  exec::Merge merge() const { return merge_; }
  bool sparse() const { return sparse_; }

  // Of a dense one: the part of the table, row-major.
  const std::byte* dense() const { return dense_.data(); }
  // Of a sparse one: rows in the order in which the trainer has them, by chunk.
  struct Rows {
    std::vector<std::byte> bytes;  // numbers, then values
    int64_t count = 0;
    const int64_t* numbers() const { return reinterpret_cast<const int64_t*>(bytes.data()); }
    const std::byte* values() const {
      return bytes.data() + static_cast<size_t>(count) * sizeof(int64_t);
    }
  };
  const std::map<int64_t, Rows>& rows() const { return rows_; }
  int64_t row_total() const { return row_total_; }

  // Forgets the round; memory of dense ones stays.
  void Clear();

 private:
  absl::StatusOr<std::byte*> BeginDense(const exec::Table& table, const PushChunk& chunk);
  absl::StatusOr<std::byte*> BeginSparse(const exec::Table& table, const PushChunk& chunk);

  exec::Merge merge_ = exec::Merge::kMean;
  bool sparse_ = false;
  int64_t chunks_ = 0, finished_ = 0;
  int64_t row_total_ = 0;
  std::vector<bool> seen_;  // of a dense one
  std::vector<std::byte> dense_;
  std::map<int64_t, Rows> rows_;
  int64_t counted_ = 0;  // bytes of rows that are counted as growing values
};

}  // namespace dtranspile::ps

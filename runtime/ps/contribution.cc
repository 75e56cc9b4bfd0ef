#include "runtime/ps/contribution.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/left_memory.h"

namespace dtranspile::ps {
namespace {

constexpr int64_t kNumberBytes = sizeof(int64_t);
// Of SelectedRows in one push, whatever their size; numbers may repeat, so the table is no limit.
constexpr int64_t kMostRows = int64_t{1} << 32;

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

}  // namespace

absl::StatusOr<std::byte*> Contribution::Begin(const exec::Table& table, const PushChunk& chunk) {
  if (chunk.dtype != table.dtype)
    return Wrong(absl::StrCat("is ", NameOf(chunk.dtype), ", and the table ", NameOf(table.dtype)));
  if (begun() && (chunk.merge != merge_ || chunk.sparse != sparse_ || chunk.rows != row_total_))
    return Wrong("differs from one message to the next");
  return chunk.sparse ? BeginSparse(table, chunk) : BeginDense(table, chunk);
}

// Says where the bytes of one message of a dense push go. The first message fixes its kind; number
// and length of each must be those that the table's extents give, and each comes once, in any
// order.
absl::StatusOr<std::byte*> Contribution::BeginDense(const exec::Table& table,
                                                    const PushChunk& chunk) {
  const int64_t bytes = BytesOf(table), chunks = ChunksOf(bytes), at = chunk.number * kChunkBytes;
  if (chunk.number < 0 || chunk.number >= chunks || chunk.rows != 0)
    return Wrong(absl::StrCat("has a message ", chunk.number, " of ", chunks));
  if (chunk.bytes != std::min(kChunkBytes, bytes - at))
    return Wrong(absl::StrCat("has ", chunk.bytes, " bytes in message ", chunk.number, ", not ",
                              std::min(kChunkBytes, bytes - at)));
  if (!begun()) {
    dense_.resize(static_cast<size_t>(bytes));
    seen_.assign(static_cast<size_t>(chunks), false);
    merge_ = chunk.merge, sparse_ = false, chunks_ = chunks;
  }
  if (seen_[static_cast<size_t>(chunk.number)]) return absl::AlreadyExistsError("has come twice");
  seen_[static_cast<size_t>(chunk.number)] = true;
  return dense_.data() + at;
}

// The same for rows: each message has row numbers and rows. Memory is charged before it is taken,
// since the number of rows is the sender's word.
absl::StatusOr<std::byte*> Contribution::BeginSparse(const exec::Table& table,
                                                     const PushChunk& chunk) {
  const int64_t row_bytes = RowBytesOf(table), per = RowsPerChunk(row_bytes);
  if (chunk.rows < 0 || chunk.rows > kMostRows)
    return Wrong(absl::StrCat("has ", chunk.rows, " rows, and at most ", kMostRows, " are taken"));
  const int64_t chunks = std::max<int64_t>((chunk.rows + per - 1) / per, 1);
  if (chunk.number < 0 || chunk.number >= chunks)
    return Wrong(absl::StrCat("has a message ", chunk.number, " of ", chunks));
  const int64_t count = std::min(per, chunk.rows - chunk.number * per);
  const int64_t bytes = count * (kNumberBytes + row_bytes);
  if (chunk.bytes != bytes)
    return Wrong(
        absl::StrCat("has ", chunk.bytes, " bytes in message ", chunk.number, ", not ", bytes));
  if (rows_.count(chunk.number) != 0) return absl::AlreadyExistsError("has come twice");
  DT_RETURN_IF_ERROR(exec::CountValueBytes(bytes));
  counted_ += bytes;
  if (!begun()) merge_ = chunk.merge, sparse_ = true, chunks_ = chunks, row_total_ = chunk.rows;
  Rows& rows = rows_[chunk.number];
  rows.count = count;
  rows.bytes.resize(static_cast<size_t>(bytes));
  return rows.bytes.data();
}

absl::Status Contribution::Finish(const exec::Table& table, const PushChunk& chunk) {
  ++finished_;
  if (!sparse_) return absl::OkStatus();
  const Rows& rows = rows_[chunk.number];
  for (int64_t i = 0; i < rows.count; ++i)
    if (const int64_t row = rows.numbers()[i]; row < 0 || row >= RowsOf(table))
      return Wrong(absl::StrCat("has row ", row, ", and the table here has ", RowsOf(table)));
  return absl::OkStatus();
}

void Contribution::Clear() {
  exec::CountValueBytes(-std::exchange(counted_, 0)).IgnoreError();
  rows_.clear();
  chunks_ = finished_ = row_total_ = 0;
}

}  // namespace dtranspile::ps

// What a client cuts into requests and puts together of replies.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/client.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/table.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::ps {
namespace {

constexpr int64_t kNumberBytes = sizeof(int64_t);

Merge WordOf(exec::Merge merge) {
  switch (merge) {
    case exec::Merge::kMean: return MERGE_MEAN;
    case exec::Merge::kSum: return MERGE_SUM;
    case exec::Merge::kEach: return MERGE_EACH;
  }
  return MERGE_MEAN;
}

// The first piece of a part that ends after a byte.
std::vector<Cut::Piece>::const_iterator PieceAt(const std::vector<Cut::Piece>& pieces, int64_t at) {
  return std::upper_bound(pieces.begin(), pieces.end(), at, [](int64_t byte, const Cut::Piece& p) {
    return byte < p.part + p.bytes;
  });
}

// Bytes [begin, end) of a part, out of the whole; what lies between pieces is pad, and zero.
void TakeRange(const std::vector<Cut::Piece>& pieces, int64_t begin, int64_t end,
               const std::byte* whole, std::byte* to) {
  auto piece = PieceAt(pieces, begin);
  for (int64_t at = begin; at < end; ++piece) {
    const int64_t from = piece == pieces.end() ? end : std::clamp(piece->part, at, end);
    to = std::fill_n(to, from - at, std::byte{0});
    if (from == end) return;
    at = std::min(piece->part + piece->bytes, end);
    to = std::copy_n(whole + piece->whole + (from - piece->part), at - from, to);
  }
}

}  // namespace

// How a table is cut among the servers follows from its layout, and is computed once per table.
absl::StatusOr<const Cut*> Client::CutOf(const exec::TableRequest& request) {
  const auto known = cuts_.find(request.table);
  if (known != cuts_.end()) return &known->second;
  auto cut = Cut::Make(request.layout, options_.servers);
  if (!cut.ok())
    return absl::InvalidArgumentError(absl::StrCat("table '", request.table, "' on the servers '",
                                                   options_.server_role,
                                                   "': ", cut.status().message()));
  return &cuts_.emplace(request.table, *std::move(cut)).first->second;
}

absl::StatusOr<const exec::Table*> Client::TableOf(int64_t server, const std::string& table) const {
  const Peer& peer = *peers_[static_cast<size_t>(server)];
  for (const exec::Table& one : peer.tables())
    if (one.name == table) return &one;
  return absl::NotFoundError(absl::StrCat(peer.name(), " has no table '", table, "'"));
}

// That the server has the part of the table that the layout gives it.
absl::Status Client::CheckTable(int64_t server, const std::string& table, DType dtype,
                                const std::vector<int64_t>& dims) const {
  DT_ASSIGN_OR_RETURN(const exec::Table* const theirs, TableOf(server, table));
  if (theirs->dtype == dtype && theirs->dims == dims) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("table '", table, "' is ", ShapeText(theirs->dtype, theirs->dims), " on ",
                   peers_[static_cast<size_t>(server)]->name(), ", and this trainer would have it ",
                   ShapeText(dtype, dims)));
}

Request Client::NewPush(int64_t server, const exec::TableRequest& request, exec::Merge merge,
                        DType dtype) {
  Request message = NewRequest(server);
  ++pushed_[static_cast<size_t>(server)];
  ps::Push& push = *message.mutable_push();
  push.set_table(request.table);
  push.set_merge(WordOf(merge));
  push.set_dtype(static_cast<int32_t>(dtype));
  return message;
}

// Each server gets its part in messages of kChunkBytes, which are copied out of the value one by
// one: what has been pushed may change after the call, and a large table is never copied as a
// whole.
absl::Status Client::Push(const exec::TableRequest& request, exec::Merge merge,
                          const TensorView& value) {
  DT_RETURN_IF_ERROR(BeginPushes());
  DT_ASSIGN_OR_RETURN(const Cut* const cut, CutOf(request));
  const std::string what = absl::StrCat("the push of table '", request.table, "'");
  for (int64_t server = 0; server < cut->servers(); ++server) {
    const int64_t part = cut->part(server);
    const std::vector<int64_t> dims = cut->Dims(part, value.dims);
    DT_RETURN_IF_ERROR(CheckTable(server, request.table, value.dtype, dims));
    DT_ASSIGN_OR_RETURN(const int64_t bytes, ByteCount(value.dtype, dims));
    if (bytes == 0) continue;
    const std::vector<Cut::Piece> pieces =
        cut->Pieces(part, static_cast<int64_t>(SizeOf(value.dtype)), value.dims);
    DT_RETURN_IF_ERROR(BeginPush(server));
    Request message = NewPush(server, request, merge, value.dtype);
    ps::Push& push = *message.mutable_push();
    for (int64_t chunk = 0; chunk < ChunksOf(bytes); ++chunk) {
      push.set_chunk(chunk);
      const int64_t at = chunk * kChunkBytes, end = std::min(at + kChunkBytes, bytes);
      // The first message is on its way while the next one is copied.
      std::byte* const copy = chunks_->Take();
      TakeRange(pieces, at, end, value.data, copy);
      Call(pushes_, server, message, {chunks_->Lend(copy, static_cast<size_t>(end - at))}, what);
    }
  }
  return absl::OkStatus();
}

absl::Status Client::PushRows(const exec::TableRequest& request, exec::Merge merge,
                              const exec::Value& value) {
  return SendRows(request, merge, value, /*tracked=*/false);
}

// Rows are sorted by the part that owns them, in their order, and numbered within it. A server that
// owns no row of this push is told so by a message without rows: it counts that all trainers have
// pushed.
absl::Status Client::SendRows(const exec::TableRequest& request, exec::Merge merge,
                              const exec::Value& value, bool tracked) {
  DT_RETURN_IF_ERROR(BeginPushes());
  DT_ASSIGN_OR_RETURN(const Cut* const cut, CutOf(request));
  const std::string what = absl::StrCat("the push of rows of table '", request.table, "'");
  if (!cut->by_rows())
    return absl::InvalidArgumentError(absl::StrCat(
        what, ": the table is not cut along its rows, so SelectedRows cannot be pushed"));
  std::vector<int64_t> whole = value.dims;
  if (whole.empty() || whole[0] != static_cast<int64_t>(value.rows.size()))
    return absl::InvalidArgumentError(absl::StrCat(what, ": rows and their numbers disagree"));
  whole[0] = value.height;
  const int64_t row_bytes =
      value.rows.empty() ? 0 : value.bytes() / static_cast<int64_t>(value.rows.size());
  // Which rows go to which part, in their order.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> by_part(
      static_cast<size_t>(cut->parts()));  // number in the part, place in the value
  for (size_t i = 0; i < value.rows.size(); ++i) {
    const int64_t row = value.rows[i];
    if (row < 0 || row >= value.height)
      return absl::OutOfRangeError(
          absl::StrCat(what, ": row ", row, " of a table of ", value.height, " rows"));
    const exec::Parts::Found found = cut->Find(row);
    by_part[static_cast<size_t>(found.part)].emplace_back(found.local, i);
  }
  for (int64_t server = 0; server < cut->servers(); ++server) {
    const int64_t part = cut->part(server);
    const auto& rows = by_part[static_cast<size_t>(part)];
    DT_RETURN_IF_ERROR(CheckTable(server, request.table, value.dtype, cut->Dims(part, whole)));
    DT_ASSIGN_OR_RETURN(const exec::Table* const table, TableOf(server, request.table));
    if (RowsOf(*table) == 0) continue;
    const auto count = static_cast<int64_t>(rows.size()), per = RowsPerChunk(RowBytesOf(*table));
    DT_RETURN_IF_ERROR(BeginPush(server));
    Request message = NewPush(server, request, merge, value.dtype);
    ps::Push& push = *message.mutable_push();
    push.set_sparse(true);
    push.set_tracked(tracked);
    push.set_rows(count);
    for (int64_t begin = 0, chunk = 0; begin < count || chunk == 0; begin += per, ++chunk) {
      push.set_chunk(chunk);
      const int64_t n = std::min(per, count - begin);
      SliceBuilder builder(static_cast<size_t>(n * (kNumberBytes + row_bytes)));
      std::byte* const values = builder.data() + n * kNumberBytes;
      for (int64_t i = 0; i < n; ++i) {
        const auto& [number, place] = rows[static_cast<size_t>(begin + i)];
        std::memcpy(builder.data() + i * kNumberBytes, &number, sizeof(number));
        std::memcpy(values + i * row_bytes, value.data() + place * row_bytes,
                    static_cast<size_t>(row_bytes));
      }
      Call(pushes_, server, message, {builder.Finish()}, what);
    }
  }
  return absl::OkStatus();
}

// All chunks of all servers are asked for at once; each reply is copied to the pieces of the whole
// that it holds, straight into the caller's memory. Of several servers with the same part one is
// asked.
absl::Status Client::Pull(const exec::TableRequest& request, const exec::TensorRoom& to) {
  DT_RETURN_IF_ERROR(failure());
  DT_ASSIGN_OR_RETURN(const Cut* const cut, CutOf(request));
  const std::string what = absl::StrCat("the pull of table '", request.table, "'");
  const auto size = static_cast<int64_t>(SizeOf(to.dtype));
  std::vector<std::vector<Cut::Piece>> pieces(peers_.size());
  Batch batch;
  for (const int64_t server : cut->OneForEach()) {
    const int64_t part = cut->part(server);
    const std::vector<int64_t> dims = cut->Dims(part, to.dims);
    absl::Status status = CheckTable(server, request.table, to.dtype, dims);
    const auto bytes = ByteCount(to.dtype, dims);
    if (status.ok()) status = bytes.status();
    if (!status.ok()) {
      Wait(batch).IgnoreError();
      return status;
    }
    if (*bytes == 0) continue;
    auto& mine = pieces[static_cast<size_t>(server)];
    mine = cut->Pieces(part, size, to.dims);
    Request message = NewRequest(server);
    message.mutable_pull()->set_table(request.table);
    for (int64_t chunk = 0; chunk < ChunksOf(*bytes); ++chunk) {
      message.mutable_pull()->set_chunk(chunk);
      const int64_t begin = chunk * kChunkBytes, end = std::min(begin + kChunkBytes, *bytes);
      Call(batch, server, message, {}, what, [&mine, &to, what, begin, end](Payload& reply) {
        if (reply.left() != end - begin)
          return absl::InternalError(
              absl::StrCat(what, ": ", reply.left(), " bytes came, not ", end - begin));
        auto piece =
            std::upper_bound(mine.begin(), mine.end(), begin,
                             [](int64_t at, const Cut::Piece& p) { return at < p.part + p.bytes; });
        // What lies between pieces is pad.
        for (int64_t at = begin; at < end; ++piece) {
          const int64_t from = piece == mine.end() ? end : std::clamp(piece->part, at, end);
          reply.Skip(from - at);
          if (from == end) break;
          at = std::min(piece->part + piece->bytes, end);
          reply.Read(to.data + piece->whole + (from - piece->part), at - from);
        }
        return absl::OkStatus();
      });
    }
  }
  DT_RETURN_IF_ERROR(Wait(batch));
  for (size_t server = 0; server < peers_.size(); ++server)
    if (!pieces[server].empty()) settled_[server] = pushed_[server];
  return absl::OkStatus();
}

}  // namespace dtranspile::ps

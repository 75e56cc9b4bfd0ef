// What a client looks up: the rows of each id once, of the servers that have them, all at once.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/client.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/rows.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {
namespace {

// A row of a server's part, and the row of the answer that it becomes.
struct Asked {
  int64_t number = 0, row = 0;
};

}  // namespace

absl::Status Client::Lookup(const exec::TableRequest& request, const int64_t* ids, int64_t count,
                            const exec::TensorRoom& to) {
  DT_RETURN_IF_ERROR(failure());
  DT_ASSIGN_OR_RETURN(const Cut* const cut, CutOf(request));
  const std::string what = absl::StrCat("the lookup in table '", request.table, "'");
  if (!cut->by_rows())
    return absl::InvalidArgumentError(absl::StrCat(what, ": it is not cut along its rows"));
  std::vector<int64_t> server_of(static_cast<size_t>(cut->parts()), -1);
  int64_t rows = 0, row_bytes = 0;
  for (const int64_t server : cut->OneForEach()) {
    DT_ASSIGN_OR_RETURN(const exec::Table* const table, TableOf(server, request.table));
    if (table->dtype != to.dtype) return CheckTable(server, request.table, to.dtype, table->dims);
    server_of[static_cast<size_t>(cut->part(server))] = server;
    rows += RowsOf(*table);
    row_bytes = std::max(row_bytes, RowBytesOf(*table));
  }
  DT_ASSIGN_OR_RETURN(const int64_t bytes, ByteCount(to.dtype, to.dims));
  if (bytes != count * row_bytes)
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", count, " rows of ", row_bytes,
                                                   " bytes are not ",
                                                   ShapeText(to.dtype, to.dims)));
  const DistinctIds distinct(ids, count, request.padding);
  std::vector<std::vector<Asked>> by_server(peers_.size());
  for (const DistinctIds::Wanted& one : distinct.wanted()) {
    if (one.id < 0 || one.id >= rows)
      return absl::OutOfRangeError(
          absl::StrCat(what, ": id ", one.id, " at ", one.row, ", and it has ", rows, " rows"));
    const exec::Parts::Found found = cut->Find(one.id);
    const int64_t server = server_of[static_cast<size_t>(found.part)];
    by_server[static_cast<size_t>(server)].push_back({found.local, one.row});
  }
  Batch batch;
  const int64_t per = RowsPerChunk(row_bytes);
  for (size_t server = 0; server < by_server.size(); ++server) {
    const auto& asked = by_server[server];
    const auto total = static_cast<int64_t>(asked.size());
    Request message = NewRequest(static_cast<int64_t>(server));
    message.mutable_lookup()->set_table(request.table);
    for (int64_t begin = 0; begin < total; begin += per) {
      const int64_t n = std::min(per, total - begin);
      SliceBuilder builder(static_cast<size_t>(n) * sizeof(int64_t));
      const Asked* const first = asked.data() + begin;
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(builder.data() + static_cast<size_t>(i) * sizeof(int64_t), &first[i].number,
                    sizeof(int64_t));
      Call(batch, static_cast<int64_t>(server), message, {builder.Finish()}, what,
           [first, n, row_bytes, what, &to](Payload& reply) {
             if (reply.left() != n * row_bytes)
               return absl::InternalError(
                   absl::StrCat(what, ": ", reply.left(), " bytes came, not ", n * row_bytes));
             for (int64_t i = 0; i < n; ++i)
               reply.Read(to.data + first[i].row * row_bytes, row_bytes);
             return absl::OkStatus();
           });
    }
  }
  DT_RETURN_IF_ERROR(Wait(batch));
  distinct.Fill(to.data, row_bytes);
  return absl::OkStatus();
}

}  // namespace dtranspile::ps

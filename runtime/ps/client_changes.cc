// What a client exchanges of tables of which a step changes few rows (geo-SGD): rows that are not
// zero go out, and rows that others have changed come back.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/client.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {

// `value` is dense, with one row for each of the table's; rows that are zero in every byte do not
// travel. The server notes the rows for the other trainers (`tracked`).
absl::Status Client::PushChanged(const exec::TableRequest& request, exec::Merge merge,
                                 const TensorView& value) {
  if (value.dims.empty()) return Push(request, merge, value);
  const int64_t rows = value.dims[0];
  const int64_t row_bytes = rows == 0 ? 0 : value.bytes() / rows;
  exec::Value changed(exec::Value::Kind::kRows, value.dtype);
  for (int64_t row = 0; row < rows; ++row) {
    const std::byte* const from = value.data + row * row_bytes;
    if (std::any_of(from, from + row_bytes, [](std::byte one) { return one != std::byte{0}; }))
      changed.rows.push_back(row);
  }
  std::vector<int64_t> dims = value.dims;
  dims[0] = static_cast<int64_t>(changed.rows.size());
  DT_RETURN_IF_ERROR(changed.Resize(dims));
  changed.height = rows;
  std::byte* to = changed.data();
  for (const int64_t row : changed.rows) {
    std::memcpy(to, value.data + row * row_bytes, static_cast<size_t>(row_bytes));
    to += row_bytes;
  }
  return SendRows(request, merge, changed, /*tracked=*/true);
}

// Of all servers, as rows of the whole.
absl::StatusOr<std::vector<int64_t>> Client::ChangedRows(const exec::TableRequest& request,
                                                         const Cut& cut) {
  std::vector<int64_t> rows;
  const std::string what =
      absl::StrCat("the question which rows of table '", request.table, "' have changed");
  for (const int64_t server : cut.OneForEach()) {
    Request message = NewRequest(server);
    message.mutable_changed()->set_table(request.table);
    for (bool more = true; more;) {
      std::vector<int64_t> some;
      Batch batch;
      Call(batch, server, message, {}, what, [&some, what](Payload& reply) {
        if (reply.left() % static_cast<int64_t>(sizeof(int64_t)) != 0)
          return absl::InternalError(absl::StrCat(what, ": ", reply.left(), " bytes came"));
        some.resize(static_cast<size_t>(reply.left()) / sizeof(int64_t));
        if (!some.empty()) reply.Read(some.data(), reply.left());
        return absl::OkStatus();
      });
      DT_RETURN_IF_ERROR(Wait(batch));
      more = static_cast<int64_t>(some.size()) >= kMostChanged;
      DT_ASSIGN_OR_RETURN(const exec::Table* const table, TableOf(server, request.table));
      for (const int64_t local : some) {
        if (local < 0 || local >= RowsOf(*table))
          return absl::InternalError(
              absl::StrCat(what, ": row ", local, " came, of ", RowsOf(*table)));
        rows.push_back(cut.RowOf(cut.part(server), local));
      }
    }
  }
  return rows;
}

// Asks which rows others have changed, looks these up, and writes them into `to`, whose other rows
// stay.
absl::Status Client::PullChanged(const exec::TableRequest& request, const exec::TensorRoom& to) {
  DT_RETURN_IF_ERROR(failure());
  DT_ASSIGN_OR_RETURN(const Cut* const cut, CutOf(request));
  DT_ASSIGN_OR_RETURN(const std::vector<int64_t> rows, ChangedRows(request, *cut));
  if (rows.empty()) return absl::OkStatus();
  std::vector<int64_t> dims = to.dims;
  dims[0] = static_cast<int64_t>(rows.size());
  exec::Value values(exec::Value::Kind::kTensor, to.dtype);
  DT_RETURN_IF_ERROR(values.Resize(dims));
  DT_RETURN_IF_ERROR(Lookup(request, rows.data(), dims[0], {to.dtype, values.dims, values.data()}));
  const int64_t row_bytes = values.bytes() / dims[0];
  const std::byte* from = values.data();
  for (const int64_t row : rows) {
    std::memcpy(to.data + row * row_bytes, from, static_cast<size_t>(row_bytes));
    from += row_bytes;
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::ps

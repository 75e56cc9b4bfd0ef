#include "runtime/kernels/cpu/ops/rows.h"

namespace dtranspile::kernels {

const exec::Value* RowsOf(OpCall& call, const DtBuffer& buffer) {
  const exec::Value* value = OpCall::ValueOf(buffer);
  if (value == nullptr || value->kind != exec::Value::Kind::kRows)
    return call.Fail("'%s' is no SelectedRows", buffer.name), nullptr;
  if (buffer.rank < 1 || buffer.dims[0] != static_cast<int64_t>(value->rows.size()))
    return call.Fail("'%s' has %zu row numbers and values for %lld", buffer.name,
                     value->rows.size(),
                     static_cast<long long>(buffer.rank < 1 ? 0 : buffer.dims[0])),
           nullptr;
  for (int64_t row : value->rows) {
    if (row >= 0 && row < value->height) continue;
    return call.Fail("'%s' has the row %lld, out of range for a height of %lld", buffer.name,
                     static_cast<long long>(row), static_cast<long long>(value->height)),
           nullptr;
  }
  return value;
}

}  // namespace dtranspile::kernels

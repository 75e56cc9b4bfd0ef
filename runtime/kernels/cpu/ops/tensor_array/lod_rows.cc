#include "runtime/kernels/cpu/ops/tensor_array/lod_rows.h"

#include <cstring>
#include <string>

#include "runtime/tensor/lod.h"

namespace dtranspile::kernels {

bool SourceOf(OpCall& call, const DtBuffer& buffer, RowSource& source) {
  if (buffer.rank < 1) return call.Fail("'%s' is a scalar: it has no rows", buffer.name), false;
  source = {buffer.name, &OpCall::LodOf(buffer), static_cast<const std::byte*>(buffer.data),
            buffer.dims[0], Elements(buffer, 1, buffer.rank) * ElementSize(buffer)};
  const absl::Status legal = CheckLod(*source.lod, source.rows);
  return legal.ok() ||
         (call.Fail("'%s': %s", buffer.name, std::string(legal.message()).c_str()), false);
}

// Items [begin, end) of a level: their offsets are appended level by level, each of which says
// where the items begin and end in the next, and at last which rows they are. Rows are only noted
// here, and copied by Write.
bool RowCollector::Add(OpCall& call, const RowSource& x, int64_t begin, int64_t end, size_t level) {
  if (begin < 0 || begin > end || end > x.Items(level))
    return call.Fail("items [%lld, %lld) of '%s', which has %lld", static_cast<long long>(begin),
                     static_cast<long long>(end), x.name, static_cast<long long>(x.Items(level))),
           false;
  const size_t levels = x.lod->size() - std::min(level, x.lod->size());
  if (lod_.empty()) lod_.assign(levels, {0});
  if (lod_.size() != levels)
    return call.Fail("'%s' has %zu levels of sequences where others have %zu", x.name, levels,
                     lod_.size()),
           false;
  for (size_t k = 0; k < levels; ++k) {
    const std::vector<uint64_t>& offsets = (*x.lod)[level + k];
    for (int64_t i = begin; i < end; ++i)
      lod_[k].push_back(lod_[k].back() + offsets[static_cast<size_t>(i) + 1] -
                        offsets[static_cast<size_t>(i)]);
    begin = static_cast<int64_t>(offsets[static_cast<size_t>(begin)]);
    end = static_cast<int64_t>(offsets[static_cast<size_t>(end)]);
  }
  rows_ += end - begin;
  if (end > begin && x.row_bytes > 0)
    pieces_.push_back({x.data + begin * x.row_bytes, (end - begin) * x.row_bytes});
  return true;
}

bool RowCollector::Write(OpCall& call, const DtBuffer& like, const Lod& upper,
                         DtBuffer& out) const {
  std::vector<int64_t> dims = {rows_};
  if (like.rank > 0) dims.insert(dims.end(), like.dims + 1, like.dims + like.rank);
  if (!SetType(call, out, TypeOf(like)) || !call.Resize(out, dims)) return false;
  auto* to = Data<std::byte>(out);
  for (const Piece& piece : pieces_) {
    std::memcpy(to, piece.data, static_cast<size_t>(piece.bytes));
    to += piece.bytes;
  }
  Lod lod = upper;
  lod.insert(lod.end(), lod_.begin(), lod_.end());
  OpCall::SetLod(out, lod);
  return true;
}

}  // namespace dtranspile::kernels

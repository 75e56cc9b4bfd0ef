#include "runtime/kernels/cpu/ops/detection/rows.h"

#include <algorithm>

namespace dtranspile::kernels {
namespace {

// Offsets to ranges within the rows of `buffer`; they must rise, begin at 0 and end at the last
// row.
template <typename Offsets>
bool Ranges(OpCall& call, const DtBuffer& buffer, const Offsets& offsets, std::vector<Rows>& rows) {
  const int64_t count = buffer.rank > 0 ? buffer.dims[0] : 0;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto begin = static_cast<int64_t>(offsets[i]), end = static_cast<int64_t>(offsets[i + 1]);
    if (begin < 0 || end < begin || end > count)
      return call.Fail("'%s' has %lld rows; its sequence %zu is [%lld, %lld)", buffer.name,
                       static_cast<long long>(count), i, static_cast<long long>(begin),
                       static_cast<long long>(end)),
             false;
    rows.push_back({begin, end});
  }
  if (!rows.empty() && rows.back().end == count && rows.front().begin == 0) return true;
  return rows.empty() && count == 0
             ? true
             : (call.Fail("'%s' has %lld rows, its sequences do not cover them", buffer.name,
                          static_cast<long long>(count)),
                false);
}

}  // namespace

bool SequencesOf(OpCall& call, const DtBuffer& buffer, std::vector<Rows>& rows) {
  const Lod& lod = OpCall::LodOf(buffer);
  rows.clear();
  if (!lod.empty()) return Ranges(call, buffer, lod.back(), rows);
  rows.push_back({0, buffer.rank > 0 ? buffer.dims[0] : 0});
  return true;
}

bool SequencesOf(OpCall& call, const DtBuffer& buffer, int counts_slot, std::vector<Rows>& rows) {
  if (!call.Has(counts_slot)) return SequencesOf(call, buffer, rows);
  std::vector<int64_t> counts;
  if (!IntegersOf(call, call.Arg(counts_slot), counts)) return false;
  const int64_t most = buffer.rank > 0 ? buffer.dims[0] : 0;
  std::vector<int64_t> offsets = {0};
  for (int64_t count : counts) {
    if (count < 0 || count > most - offsets.back())
      return call.Fail("'%s' has the count %lld, '%s' has %lld rows", call.Arg(counts_slot).name,
                       static_cast<long long>(count), buffer.name, static_cast<long long>(most)),
             false;
    offsets.push_back(offsets.back() + count);
  }
  rows.clear();
  return Ranges(call, buffer, offsets, rows);
}

Lod LodOfCounts(const std::vector<int64_t>& counts) {
  Lod lod(1, {0});
  for (int64_t count : counts) lod[0].push_back(lod[0].back() + static_cast<uint64_t>(count));
  return lod;
}

Output::Output(OpCall& call, int slot, DType dtype, absl::Span<const int64_t> dims, const Lod& lod)
    : dims_(dims.begin(), dims.end()) {
  if (!call.Has(slot)) {
    int64_t elements = 1;
    for (int64_t extent : dims_) elements *= extent;
    own_.resize(static_cast<size_t>(elements));
    local_ = {own_.data(),
              dims_.data(),
              static_cast<int32_t>(dims_.size()),
              static_cast<int32_t>(dtype),
              DT_HOST,
              "@EMPTY@",
              nullptr};
    return;
  }
  buffer_ = &call.Arg(slot);
  ok_ = TypeOf(*buffer_) == dtype ||
        (call.Fail("'%s' holds %s, expected %s", buffer_->name, TypeName(*buffer_), NameOf(dtype)),
         false);
  ok_ = ok_ && call.Resize(*buffer_, dims_);
  if (ok_) OpCall::SetLod(*buffer_, lod);
}

bool WriteCounts(OpCall& call, DtBuffer& out, const std::vector<int64_t>& counts) {
  if (!call.Resize(out, std::vector<int64_t>{static_cast<int64_t>(counts.size())})) return false;
  return VisitIndex(call.context(), out, [&](auto tag) {
           std::copy(counts.begin(), counts.end(), Data<typename decltype(tag)::type>(out));
           return 0;
         }) == 0;
}

bool CheckMatrix(OpCall& call, const DtBuffer& buffer, int64_t columns) {
  if (buffer.rank >= 1 && buffer.dims[buffer.rank - 1] == columns) return true;
  return call.Fail("'%s' must have %lld columns", buffer.name, static_cast<long long>(columns)),
         false;
}

}  // namespace dtranspile::kernels

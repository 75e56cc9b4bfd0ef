#include "runtime/kernels/cpu/ops/detection/pooled.h"

namespace dtranspile::kernels {
namespace {

// RoisLod: offsets as a tensor.
bool ByOffsets(OpCall& call, const DtBuffer& rois, const DtBuffer& offsets,
               std::vector<Rows>& rows) {
  std::vector<int64_t> values;
  if (!IntegersOf(call, offsets, values)) return false;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    if (values[i] < 0 || values[i + 1] < values[i] || values[i + 1] > rois.dims[0])
      return call.Fail("'%s' has the offset %lld, '%s' has %lld rows", offsets.name,
                       static_cast<long long>(values[i + 1]), rois.name,
                       static_cast<long long>(rois.dims[0])),
             false;
    rows.push_back({values[i], values[i + 1]});
  }
  return true;
}

}  // namespace

// Which image each region belongs to comes by LoD of the regions, by counts, or by offsets,
// whichever the version of the op has (slots below 0 are not there).
bool ReadPooled(OpCall& call, const DtBuffer& x, const DtBuffer& rois, int64_t columns,
                int offsets_slot, int counts_slot, Pooled& p) {
  if (x.rank != 4 || rois.rank != 2 || rois.dims[1] != columns || rois.dtype != x.dtype)
    return call.Fail("'%s' must have four dims, and '%s' %lld columns of its type", x.name,
                     rois.name, static_cast<long long>(columns)),
           false;
  p.batch = x.dims[0], p.channels = x.dims[1], p.height = x.dims[2], p.width = x.dims[3],
  p.rois = rois.dims[0];
  std::vector<Rows> rows;
  const bool offsets =
      offsets_slot >= 0 && call.Has(offsets_slot) && !(counts_slot >= 0 && call.Has(counts_slot));
  if (offsets ? !ByOffsets(call, rois, call.Arg(offsets_slot), rows)
              : !SequencesOf(call, rois, counts_slot, rows))
    return false;
  if (static_cast<int64_t>(rows.size()) > p.batch)
    return call.Fail("'%s' has regions of %zu images, '%s' has %lld", rois.name, rows.size(),
                     x.name, static_cast<long long>(p.batch)),
           false;
  p.image.assign(static_cast<size_t>(p.rois), 0);
  for (size_t n = 0; n < rows.size(); ++n)
    std::fill(p.image.begin() + rows[n].begin, p.image.begin() + rows[n].end,
              static_cast<int64_t>(n));
  if (p.rois > 0 && (p.batch < 1 || p.Plane() < 1))
    return call.Fail("'%s' has no elements", x.name), false;
  return true;
}

bool ReadCells(OpCall& call, int64_t out_h, int64_t out_w, Pooled& p) {
  constexpr int64_t kMost = 1 << 16;
  p.out_h = out_h, p.out_w = out_w;
  if (out_h >= 1 && out_w >= 1 && out_h <= kMost && out_w <= kMost) return true;
  return call.Fail("%lld × %lld cells, expected 1 to %lld along each axis",
                   static_cast<long long>(out_h), static_cast<long long>(out_w),
                   static_cast<long long>(kMost)),
         false;
}

}  // namespace dtranspile::kernels

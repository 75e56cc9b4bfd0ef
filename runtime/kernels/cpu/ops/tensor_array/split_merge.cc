// split_lod_tensor, merge_lod_tensor (framework: split_lod_tensor_op.cc, merge_lod_tensor_op.cc):
// the batch of IfElse cut in two by a mask, and put together again. Each is the other's gradient.
#include "runtime/kernels/cpu/ops/tensor_array/calls.h"
#include "runtime/kernels/cpu/ops/tensor_array/lod_rows.h"

namespace dtranspile::kernels {
namespace {

bool MaskOf(OpCall& call, const DtBuffer& mask, absl::Span<const bool>& values) {
  if (TypeOf(mask) != DType::kBool)
    return call.Fail("mask '%s' is %s, expected bool", mask.name, TypeName(mask)), false;
  values = absl::MakeConstSpan(Data<bool>(mask), static_cast<size_t>(Elements(mask)));
  return true;
}

// Where a branch had no rows nobody may have written its result.
const DtBuffer& ShapeOf(const DtBuffer& a, const DtBuffer& b) {
  if (IsUnset(a) != IsUnset(b)) return IsUnset(a) ? b : a;
  return a.rank >= b.rank ? a : b;
}

}  // namespace

// X, Mask; level -> OutTrue, OutFalse: the mask has an element per item of the level.
int32_t SplitLodTensor(OpCall& call) {
  using A = args::dt_split_lod_tensor;
  const DtBuffer& x = call.Arg(A::X);
  const int64_t level = call.Int(A::level);
  RowSource source;
  absl::Span<const bool> mask;
  if (!SourceOf(call, x, source) || !MaskOf(call, call.Arg(A::Mask), mask)) return 1;
  if (level < 0 || (level > 0 && level > static_cast<int64_t>(source.lod->size())))
    return call.Fail("level %lld of '%s', which has %zu", static_cast<long long>(level), x.name,
                     source.lod->size());
  if (static_cast<int64_t>(mask.size()) != source.Items(static_cast<size_t>(level)))
    return call.Fail("mask '%s' has %zu elements for %lld items of '%s'", call.Arg(A::Mask).name,
                     mask.size(), static_cast<long long>(source.Items(static_cast<size_t>(level))),
                     x.name);
  RowCollector rows[2];
  for (size_t i = 0; i < mask.size(); ++i)
    if (!rows[mask[i] ? 0 : 1].Add(call, source, static_cast<int64_t>(i),
                                   static_cast<int64_t>(i) + 1, static_cast<size_t>(level)))
      return 1;
  for (int k = 0; k < 2; ++k)
    if (call.Has(A::OutTrue + k, 0) && !rows[k].Write(call, x, {}, call.Arg(A::OutTrue + k)))
      return 1;
  return 0;
}

// X, Mask, InTrue, InFalse; level -> Out
int32_t MergeLodTensor(OpCall& call) {
  using A = args::dt_merge_lod_tensor;
  const Lod& lod = OpCall::LodOf(call.Arg(A::X));
  const int64_t level = call.Int(A::level);
  absl::Span<const bool> mask;
  if (!MaskOf(call, call.Arg(A::Mask), mask)) return 1;
  if (level < 0 || level > static_cast<int64_t>(lod.size()))
    return call.Fail("level %lld of '%s', which has %zu", static_cast<long long>(level),
                     call.Arg(A::X).name, lod.size());
  // Either may be missing where no gradient comes from a branch.
  exec::Value nothing;
  DtBuffer in[2];
  RowSource sources[2];
  for (int k = 0; k < 2; ++k) {
    in[k] = call.Has(A::InTrue + k, 0) ? call.Arg(A::InTrue + k) : BufferOf(nothing, "@EMPTY@");
    if (!SourceOf(call, in[k], sources[k])) return 1;
  }
  const DtBuffer& like = ShapeOf(in[0], in[1]);
  RowCollector rows;
  int64_t next[2] = {0, 0};
  for (const bool yes : mask) {
    const int k = yes ? 0 : 1;
    const DtBuffer& from = in[k];
    if (TypeOf(from) != TypeOf(like) ||
        OpCall::Dims(from).subspan(1) != OpCall::Dims(like).subspan(1))
      return call.Fail("rows of '%s' and '%s' differ in extents or type", from.name, like.name);
    if (!rows.Add(call, sources[k], next[k], next[k] + 1, 0)) return 1;
    ++next[k];
  }
  return rows.Write(call, like, Lod(lod.begin(), lod.begin() + level), call.Arg(A::Out)) ? 0 : 1;
}

}  // namespace dtranspile::kernels

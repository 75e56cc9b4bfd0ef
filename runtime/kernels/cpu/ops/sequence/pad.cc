// sequence_pad, sequence_unpad, their gradients, and sequence_mask: between sequences and tensors
// [sequences, longest, ...]. Slots and attributes: runtime/kernels/signatures/sequence.calls.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/sequence/calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

// Sequence i to place i of `padded`, which has `extent` rows per sequence, or back.
void PadRows(DtBuffer& padded, int64_t extent, const DtBuffer& rows, const Offsets& offsets,
             int64_t bytes) {
  for (int64_t i = 0; i < CountOf(offsets); ++i)
    CopyRows(padded, i * extent, rows, offsets[static_cast<size_t>(i)], LengthAt(offsets, i),
             bytes);
}
void UnpadRows(DtBuffer& rows, const Offsets& offsets, const DtBuffer& padded, int64_t extent,
               int64_t bytes) {
  for (int64_t i = 0; i < CountOf(offsets); ++i)
    CopyRows(rows, offsets[static_cast<size_t>(i)], padded, i * extent, LengthAt(offsets, i),
             bytes);
}

// Fills the rows after each sequence with `row` of `bytes` bytes.
void FillBehind(DtBuffer& padded, int64_t extent, const Offsets& offsets, const char* row,
                int64_t bytes) {
  if (bytes == 0) return;
  for (int64_t i = 0; i < CountOf(offsets); ++i)
    for (int64_t t = LengthAt(offsets, i); t < extent; ++t)
      std::memcpy(Data<char>(padded) + (i * extent + t) * bytes, row, static_cast<size_t>(bytes));
}

// Masks may also be of the narrow integers, which ops on numbers do not take.
template <typename Visit>
int32_t VisitMaskType(OpCall& call, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kBool:
    case DType::kUInt8: return visit(TypeTag<uint8_t>());
    case DType::kInt8: return visit(TypeTag<int8_t>());
    case DType::kInt16: return visit(TypeTag<int16_t>());
    default: return VisitNumber(call.context(), buffer, visit);
  }
}

}  // namespace

// PadValue is one element or a whole row; padded_length -1 means the longest sequence. Length is
// written even where nobody reads Out.
int32_t SequencePad(OpCall& call) {
  using A = args::dt_sequence_pad;
  const DtBuffer &x = call.Arg(A::X), &value = call.Arg(A::PadValue);
  Offsets offsets;
  if (!SequencesOf(call, x, offsets) || !CheckTypes(call, x, {A::PadValue, A::Out}) ||
      !CheckTypes(call, DType::kInt64, {A::Length}))
    return 1;
  const int64_t count = CountOf(offsets), longest = LongestOf(offsets),
                wanted = call.Int(A::padded_length), bytes = RowBytes(x);
  if (wanted != -1 && wanted < longest)
    return call.Fail("padded_length %lld is less than the longest sequence of '%s', %lld",
                     static_cast<long long>(wanted), x.name, static_cast<long long>(longest));
  const int64_t extent = wanted == -1 ? longest : wanted, size = ElementSize(x);
  if (Elements(value) != 1 && Elements(value) != RowSize(x))
    return call.Fail("'%s' has %lld elements, expected 1 or those of a row, %lld", value.name,
                     static_cast<long long>(Elements(value)), static_cast<long long>(RowSize(x)));
  if (call.Has(A::Length)) {
    if (!call.Resize(call.Arg(A::Length), {count})) return 1;
    for (int64_t i = 0; i < count; ++i)
      Data<int64_t>(call.Arg(A::Length))[i] = LengthAt(offsets, i);
  }
  if (!call.Has(A::Out)) return 0;
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims = {count, extent};
  dims.insert(dims.end(), x.dims + 1, x.dims + x.rank);
  if (!call.Resize(out, dims)) return 1;
  auto* row = static_cast<char*>(dt_scratch(call.context(), std::max<int64_t>(bytes, 1)));
  const int64_t step = Elements(value) == 1 ? 0 : size;
  for (int64_t k = 0; k < RowSize(x); ++k)
    std::memcpy(row + k * size, Data<char>(value) + k * step, static_cast<size_t>(size));
  PadRows(out, extent, x, offsets, bytes);
  FillBehind(out, extent, offsets, row, bytes);
  return 0;
}

// Padding has no source: its gradient is dropped.
int32_t SequencePadGrad(OpCall& call) {
  using A = args::dt_sequence_pad_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Offsets offsets;
  if (!SequencesOf(call, x, offsets) || !CheckTypes(call, x, {A::Out_GRAD, A::X_GRAD}) ||
      !CheckRows(call, gradient, CountOf(offsets)) || !call.Resize(dx, x))
    return 1;
  if (gradient.rank != x.rank + 1 || gradient.dims[1] < LongestOf(offsets) ||
      Elements(gradient, 2, gradient.rank) != RowSize(x))
    return call.Fail("'%s' has not the extents of the padded '%s'", gradient.name, x.name);
  OpCall::SetLod(dx, OpCall::LodOf(x));
  UnpadRows(dx, offsets, gradient, gradient.dims[1], RowBytes(x));
  return 0;
}

// Takes the first Length[i] rows of place i; the result gets a LoD of one level.
int32_t SequenceUnpad(OpCall& call) {
  using A = args::dt_sequence_unpad;
  const DtBuffer &x = call.Arg(A::X), &length = call.Arg(A::Length);
  DtBuffer& out = call.Arg(A::Out);
  if (x.rank < 2) return call.Fail("'%s' has %d dims, expected at least 2", x.name, x.rank);
  std::vector<int64_t> lengths;
  if (!LengthsOf(call, length, x.dims[0], x.dims[1], lengths) || !CheckTypes(call, x, {A::Out}))
    return 1;
  Offsets offsets = {0};
  for (int64_t n : lengths) offsets.push_back(offsets.back() + n);
  // Rows keep one dim at least.
  std::vector<int64_t> dims = {offsets.back()};
  if (x.rank == 2) dims.push_back(1);
  dims.insert(dims.end(), x.dims + 2, x.dims + x.rank);
  if (!call.Resize(out, dims)) return 1;
  UnpadRows(out, offsets, x, x.dims[1], RowBytes(out));
  OpCall::SetLod(out, LodFrom(offsets));
  return 0;
}

// Rows that were left out get 0.
int32_t SequenceUnpadGrad(OpCall& call) {
  using A = args::dt_sequence_unpad_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Offsets offsets;
  if (x.rank < 2) return call.Fail("'%s' has %d dims, expected at least 2", x.name, x.rank);
  if (!SequencesOf(call, gradient, offsets) || !CheckTypes(call, x, {A::Out_GRAD, A::X_GRAD}) ||
      !CheckRows(call, x, CountOf(offsets)) || !call.Resize(dx, x))
    return 1;
  if (LongestOf(offsets) > x.dims[1] || RowSize(gradient) != Elements(x, 2, x.rank))
    return call.Fail("'%s' has not the extents of the sequences of '%s'", gradient.name, x.name);
  const int64_t bytes = RowBytes(gradient);
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  PadRows(dx, x.dims[1], gradient, offsets, bytes);
  return 0;
}

// Y[…, j] = j < X[…]. A negative maxlen means the largest length in X, known at run time only; that
// a tensor gives must be positive.
int32_t SequenceMask(OpCall& call) {
  using A = args::dt_sequence_mask;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& y = call.Arg(A::Y);
  std::vector<int64_t> longest = {call.Int(A::maxlen)};
  if (call.Has(A::MaxLenTensor) && !IntegersOf(call, call.Arg(A::MaxLenTensor), longest)) return 1;
  if (longest.size() != 1)
    return call.Fail("'%s' has %zu elements, expected one", call.Arg(A::MaxLenTensor).name,
                     longest.size());
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(x);
    const int64_t count = Elements(x);
    if (call.Has(A::MaxLenTensor) && longest[0] <= 0)
      return call.Fail("'%s' is %lld, expected a positive length", call.Arg(A::MaxLenTensor).name,
                       static_cast<long long>(longest[0]));
    if (longest[0] < 0) {
      longest[0] = 0;
      for (int64_t i = 0; i < count; ++i) {
        if (from[i] >= static_cast<T>(INT32_MAX))
          return call.Fail("'%s' has a length above %d", x.name, INT32_MAX);
        longest[0] = std::max(longest[0], static_cast<int64_t>(from[i]));
      }
    }
    std::vector<int64_t> dims(x.dims, x.dims + x.rank);
    dims.push_back(longest[0]);
    if (!call.Resize(y, dims)) return 1;
    return VisitMaskType(call, y, [&](auto out_tag) {
      using Out = typename decltype(out_tag)::type;
      Out* to = Data<Out>(y);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < longest[0]; ++j)
          *to++ = static_cast<T>(j) < from[i] ? Out{1} : Out{0};
      return 0;
    });
  });
}

}  // namespace dtranspile::kernels

// Ops that move rows between sequences or give them another LoD: sequence_reverse, sequence_concat,
// sequence_slice, sequence_reshape, sequence_scatter, lod_reset, and their gradients. Slots and
// attributes: runtime/kernels/signatures/sequence.calls.
#include <cstring>

#include "runtime/kernels/cpu/ops/sequence/calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

void CopyAll(DtBuffer& to, const DtBuffer& from) {
  if (const int64_t bytes = Elements(from) * ElementSize(from); bytes > 0)
    std::memcpy(to.data, from.data, static_cast<size_t>(bytes));
}

// The sequences of every argument of slot 0; all have the same number of them and rows of the same
// size.
bool PartsOf(OpCall& call, std::vector<Offsets>& parts) {
  using A = args::dt_sequence_concat;
  static_assert(A::X == args::dt_sequence_concat_grad::X);
  parts.resize(static_cast<size_t>(call.Count(A::X)));
  if (parts.empty()) return call.Fail("there is nothing to concatenate"), false;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    if (!SequencesOf(call, x, parts[static_cast<size_t>(i)])) return false;
    if (parts[static_cast<size_t>(i)].size() == parts[0].size() &&
        RowBytes(x) == RowBytes(call.Arg(A::X)))
      continue;
    return call.Fail("'%s' has not as many sequences, or rows of the same size, as '%s'", x.name,
                     call.Arg(A::X).name),
           false;
  }
  return true;
}

// visit(part, first row in it, rows, row in the whole) in the order of the whole: sequence by
// sequence, part by part.
template <typename Visit>
void ForEachPart(const std::vector<Offsets>& parts, Visit&& visit) {
  int64_t at = 0;
  for (int64_t i = 0; i < CountOf(parts[0]); ++i)
    for (size_t k = 0; k < parts.size(); ++k) {
      visit(static_cast<int>(k), parts[k][static_cast<size_t>(i)], LengthAt(parts[k], i), at);
      at += LengthAt(parts[k], i);
    }
}

// The rows of X that sequence_slice takes. Slots 0, 1, 2: X, Offset, Length.
struct Slices {
  Offsets x, out;              // sequences before and after
  std::vector<int64_t> first;  // row of X
};

// Sequence i gives the rows [Offset[i], Offset[i] + Length[i]) of its own; both are checked against
// it.
bool SlicesOf(OpCall& call, Slices& s) {
  using A = args::dt_sequence_slice;
  static_assert(A::Length == args::dt_sequence_slice_grad::Length &&
                A::Offset == args::dt_sequence_slice_grad::Offset &&
                A::X == args::dt_sequence_slice_grad::X);
  const DtBuffer& x = call.Arg(A::X);
  std::vector<int64_t> offset, length;
  if (!SequencesOf(call, x, s.x)) return false;
  const int64_t count = CountOf(s.x);
  if (!LengthsOf(call, call.Arg(A::Offset), count, LongestOf(s.x), offset) ||
      !LengthsOf(call, call.Arg(A::Length), count, LongestOf(s.x), length))
    return false;
  s.out = {0};
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (offset[at] + length[at] > LengthAt(s.x, i)) {
      call.Fail("slice [%lld, %lld) of sequence %lld of '%s', which has %lld rows",
                static_cast<long long>(offset[at]), static_cast<long long>(offset[at] + length[at]),
                static_cast<long long>(i), x.name, static_cast<long long>(LengthAt(s.x, i)));
      return false;
    }
    s.first.push_back(s.x[at] + offset[at]);
    s.out.push_back(s.out.back() + length[at]);
  }
  return true;
}

// Of sequence_scatter: sequence i of `ids` names columns of row i.
bool ColumnsOf(OpCall& call, const DtBuffer& ids, int64_t rows, int64_t columns, Offsets& offsets,
               std::vector<int64_t>& values) {
  if (!SequencesOf(call, ids, offsets) || !IntegersOf(call, ids, values)) return false;
  if (CountOf(offsets) > rows || static_cast<int64_t>(values.size()) != offsets.back()) {
    call.Fail("'%s' has %lld sequences for %lld rows, or more than one number in a row", ids.name,
              static_cast<long long>(CountOf(offsets)), static_cast<long long>(rows));
    return false;
  }
  for (int64_t id : values) {
    if (id < 0 || id >= columns)
      return call.Fail("'%s' has the index %lld, out of range for %lld columns", ids.name,
                       static_cast<long long>(id), static_cast<long long>(columns)),
             false;
  }
  return true;
}

// The level that lod_reset sets when Y has no LoD: the numbers in Y, or target_lod.
bool TargetOf(OpCall& call, const DtBuffer& x, Offsets& level) {
  using A = args::dt_lod_reset;
  if (call.Has(A::Y)) {
    if (!IntegersOf(call, call.Arg(A::Y), level)) return false;
  } else {
    level.assign(call.Ints(A::target_lod).begin(), call.Ints(A::target_lod).end());
  }
  bool rises =
      level.size() > 1 && level.front() == 0 && level.back() == (x.rank > 0 ? x.dims[0] : 0);
  for (size_t i = 1; rises && i < level.size(); ++i) rises = level[i] >= level[i - 1];
  if (rises) return true;
  return call.Fail("the target LoD for '%s' must rise from 0 to its %lld rows", x.name,
                   static_cast<long long>(x.rank > 0 ? x.dims[0] : 0)),
         false;
}

}  // namespace

// The rows of each sequence in the opposite order. It is its own gradient, which is why there is no
// second call.
int32_t SequenceReverse(OpCall& call) {
  using A = args::dt_sequence_reverse;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& y = call.Arg(A::Y);
  Offsets offsets;
  if (!SequencesOf(call, x, offsets) || !CheckTypes(call, x, {A::Y}) || !call.Resize(y, x))
    return 1;
  OpCall::SetLod(y, OpCall::LodOf(x));
  const int64_t bytes = RowBytes(x);
  for (int64_t i = 0; i < CountOf(offsets); ++i) {
    const int64_t first = offsets[static_cast<size_t>(i)], last = first + LengthAt(offsets, i) - 1;
    for (int64_t row = first; row <= last; ++row) CopyRows(y, row, x, first + last - row, 1, bytes);
  }
  return 0;
}

// Sequence i of the result is sequence i of the first argument, then of the second, and so on:
// offsets of the whole are the sums of the parts' offsets.
int32_t SequenceConcat(OpCall& call) {
  using A = args::dt_sequence_concat;
  DtBuffer& out = call.Arg(A::Out);
  std::vector<Offsets> parts;
  if (!PartsOf(call, parts) || !CheckTypes(call, call.Arg(A::X), {A::X, A::Out})) return 1;
  Offsets whole(parts[0].size(), 0);
  for (const Offsets& part : parts)
    for (size_t i = 0; i < part.size(); ++i) whole[i] += part[i];
  if (!call.Resize(out, WithRows(call.Arg(A::X), whole.back()))) return 1;
  OpCall::SetLod(out, LodFrom(whole));
  const int64_t bytes = RowBytes(out);
  ForEachPart(parts, [&](int part, int64_t first, int64_t rows, int64_t at) {
    CopyRows(out, at, call.Arg(A::X, part), first, rows, bytes);
  });
  return 0;
}

// The same walk the other way: every argument gets its rows back.
int32_t SequenceConcatGrad(OpCall& call) {
  using A = args::dt_sequence_concat_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  std::vector<Offsets> parts;
  if (!PartsOf(call, parts) || !CheckTypes(call, call.Arg(A::X), {A::X, A::Out_GRAD, A::X_GRAD}))
    return 1;
  int64_t rows = 0;
  for (const Offsets& part : parts) rows += part.back();
  const int64_t bytes = RowBytes(call.Arg(A::X));
  if (!CheckRows(call, gradient, rows)) return 1;
  if (RowBytes(gradient) != bytes)
    return call.Fail("'%s' has not the extents of the concatenated sequences", gradient.name);
  for (int i = 0; i < call.Count(A::X); ++i) {
    if (!call.Has(A::X_GRAD, i)) continue;
    if (!call.Resize(call.Arg(A::X_GRAD, i), call.Arg(A::X, i))) return 1;
    OpCall::SetLod(call.Arg(A::X_GRAD, i), OpCall::LodOf(call.Arg(A::X, i)));
  }
  ForEachPart(parts, [&](int part, int64_t first, int64_t count, int64_t at) {
    if (call.Has(A::X_GRAD, part))
      CopyRows(call.Arg(A::X_GRAD, part), first, gradient, at, count, bytes);
  });
  return 0;
}

int32_t SequenceSlice(OpCall& call) {
  using A = args::dt_sequence_slice;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Slices s;
  if (!SlicesOf(call, s) || !CheckTypes(call, x, {A::Out}) ||
      !call.Resize(out, WithRows(x, s.out.back())))
    return 1;
  OpCall::SetLod(out, WithLastLevel(OpCall::LodOf(x), s.out));
  for (size_t i = 0; i < s.first.size(); ++i)
    CopyRows(out, s.out[i], x, s.first[i], s.out[i + 1] - s.out[i], RowBytes(x));
  return 0;
}

// Rows that no slice took have the gradient 0.
int32_t SequenceSliceGrad(OpCall& call) {
  using A = args::dt_sequence_slice_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Slices s;
  if (!SlicesOf(call, s) || !CheckTypes(call, x, {A::Out_GRAD, A::X_GRAD}) ||
      !CheckRows(call, gradient, s.out.back()) || !call.Resize(dx, x))
    return 1;
  if (RowBytes(gradient) != RowBytes(x))
    return call.Fail("'%s' has not the extents of the slices of '%s'", gradient.name, x.name);
  OpCall::SetLod(dx, OpCall::LodOf(x));
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  for (size_t i = 0; i < s.first.size(); ++i)
    CopyRows(dx, s.first[i], gradient, s.out[i], s.out[i + 1] - s.out[i], RowBytes(x));
  return 0;
}

// Only the width of the rows changes: elements of a sequence stay together, so that its length
// times the old width must be a multiple of the new one.
int32_t SequenceReshape(OpCall& call) {
  using A = args::dt_sequence_reshape;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t width = call.Int(A::new_dim), before = RowSize(x);
  Offsets offsets, after = {0};
  if (!SequencesOf(call, x, offsets) || !CheckTypes(call, x, {A::Out})) return 1;
  if (width <= 0 || x.rank != 2)
    return call.Fail("new_dim %lld for '%s', which has %d dims", static_cast<long long>(width),
                     x.name, x.rank);
  for (int64_t i = 0; i < CountOf(offsets); ++i) {
    const int64_t elements = LengthAt(offsets, i) * before;
    if (elements % width != 0)
      return call.Fail("sequence %lld of '%s' has %lld elements, which is no multiple of %lld",
                       static_cast<long long>(i), x.name, static_cast<long long>(elements),
                       static_cast<long long>(width));
    after.push_back(after.back() + elements / width);
  }
  if (!call.Resize(out, {after.back(), width})) return 1;
  OpCall::SetLod(out, WithLastLevel(OpCall::LodOf(x), after));
  CopyAll(out, x);
  return 0;
}

// Elements do not move; extents and LoD are those of X again.
int32_t SequenceReshapeGrad(OpCall& call) {
  using A = args::dt_sequence_reshape_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (Elements(gradient) != Elements(x))
    return call.Fail("'%s' has not as many elements as '%s'", gradient.name, x.name);
  if (!CheckTypes(call, x, {A::Out_GRAD, A::X_GRAD}) || !call.Resize(dx, x)) return 1;
  OpCall::SetLod(dx, OpCall::LodOf(x));
  CopyAll(dx, gradient);
  return 0;
}

// Out[i, Ids of sequence i] = X[i, …] + Updates. An id that occurs twice adds twice; the order is
// that of the ids, on one thread.
int32_t SequenceScatter(OpCall& call) {
  using A = args::dt_sequence_scatter;
  const DtBuffer &x = call.Arg(A::X), &ids = call.Arg(A::Ids), &updates = call.Arg(A::Updates);
  DtBuffer& out = call.Arg(A::Out);
  Offsets offsets;
  std::vector<int64_t> columns;
  if (x.rank == 0 || !ColumnsOf(call, ids, x.dims[0], RowSize(x), offsets, columns) ||
      !CheckTypes(call, x, {A::Updates, A::Out}) || !call.Resize(out, x))
    return 1;
  if (Elements(updates) != offsets.back())
    return call.Fail("'%s' must have %lld elements", updates.name,
                     static_cast<long long>(offsets.back()));
  OpCall::SetLod(out, OpCall::LodOf(x));
  CopyAll(out, x);
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < CountOf(offsets); ++i)
      for (int64_t k = offsets[static_cast<size_t>(i)]; k < offsets[static_cast<size_t>(i) + 1];
           ++k)
        Data<T>(out)[i * RowSize(x) + columns[static_cast<size_t>(k)]] += Data<T>(updates)[k];
    return 0;
  });
}

// Slots: Ids, Updates, Out@GRAD, X@GRAD, Updates@GRAD.
int32_t SequenceScatterGrad(OpCall& call) {
  using A = args::dt_sequence_scatter_grad;
  const DtBuffer &ids = call.Arg(A::Ids), &updates = call.Arg(A::Updates),
                 &gradient = call.Arg(A::Out_GRAD);
  Offsets offsets;
  std::vector<int64_t> columns;
  if (gradient.rank == 0 ||
      !ColumnsOf(call, ids, gradient.dims[0], RowSize(gradient), offsets, columns) ||
      !CheckTypes(call, gradient, {A::X_GRAD, A::Updates_GRAD}))
    return 1;
  if (call.Has(A::X_GRAD)) {
    if (!call.Resize(call.Arg(A::X_GRAD), gradient)) return 1;
    CopyAll(call.Arg(A::X_GRAD), gradient);
  }
  if (!call.Has(A::Updates_GRAD)) return 0;
  DtBuffer& dupdates = call.Arg(A::Updates_GRAD);
  if (Elements(updates) != offsets.back())
    return call.Fail("'%s' must have %lld elements", updates.name,
                     static_cast<long long>(offsets.back()));
  if (!call.Resize(dupdates, updates)) return 1;
  return VisitNumber(call.context(), gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < CountOf(offsets); ++i)
      for (int64_t k = offsets[static_cast<size_t>(i)]; k < offsets[static_cast<size_t>(i) + 1];
           ++k)
        Data<T>(dupdates)[k] =
            Data<T>(gradient)[i * RowSize(gradient) + columns[static_cast<size_t>(k)]];
    return 0;
  });
}

// Gives a result without LoD, of which the values are there, that of the first argument of slot 0
// with as many rows (OpLowering::shareLod).
int32_t ShareLod(OpCall& call) {
  using A = args::dt_share_lod;
  DtBuffer& out = call.Arg(A::Out);
  if (out.rank == 0 || !OpCall::LodOf(out).empty()) return 0;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    if (x.rank == 0 || x.dims[0] != out.dims[0] || OpCall::LodOf(x).empty()) continue;
    OpCall::SetLod(out, OpCall::LodOf(x));
    return 0;
  }
  return 0;
}

// The LoD of Y where it has one; else a level read from Y's numbers or from target_lod, which
// replaces the LoD of X or is appended to it. Elements stay.
int32_t LodReset(OpCall& call) {
  using A = args::dt_lod_reset;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Lod lod;
  if (!CheckTypes(call, x, {A::Out})) return 1;
  if (call.Has(A::Y) && !OpCall::LodOf(call.Arg(A::Y)).empty()) {
    lod = OpCall::LodOf(call.Arg(A::Y));
    if (x.rank == 0 || lod.back().empty() || lod.back().back() != static_cast<uint64_t>(x.dims[0]))
      return call.Fail("the LoD of '%s' does not end with the %lld rows of '%s'",
                       call.Arg(A::Y).name, static_cast<long long>(x.rank > 0 ? x.dims[0] : 0),
                       x.name);
  } else {
    Offsets level;
    if (!TargetOf(call, x, level)) return 1;
    if (call.Bool(A::append)) lod = OpCall::LodOf(x);
    lod.emplace_back(level.begin(), level.end());
  }
  if (!call.Resize(out, x)) return 1;
  CopyAll(out, x);
  OpCall::SetLod(out, lod);
  return 0;
}

int32_t LodResetGrad(OpCall& call) {
  using A = args::dt_lod_reset_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!SameShape(gradient, x))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, x.name);
  if (!CheckTypes(call, x, {A::Out_GRAD, A::X_GRAD}) || !call.Resize(dx, x)) return 1;
  OpCall::SetLod(dx, OpCall::LodOf(x));
  CopyAll(dx, gradient);
  return 0;
}

}  // namespace dtranspile::kernels

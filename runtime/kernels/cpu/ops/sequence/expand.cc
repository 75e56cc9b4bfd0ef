// sequence_expand, sequence_expand_as and their gradients: rows or sequences of X as often as the
// LoD of Y says. Slots and attributes: runtime/kernels/signatures/sequence.calls.
#include <cstring>

#include "runtime/kernels/cpu/ops/sequence/calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

// Item i of X, rows [items[i], items[i + 1]), comes times[i + 1] - times[i] times.
struct Repeats {
  Offsets items, times;
  bool ragged = false;  // items are sequences, so the result has LoD
};

// Every row once.
Offsets Rows(int64_t count) {
  Offsets offsets(static_cast<size_t>(count) + 1);
  for (int64_t i = 0; i <= count; ++i) offsets[static_cast<size_t>(i)] = i;
  return offsets;
}

// Items of X are its sequences, or its rows where it has no LoD; item i comes as often as sequence
// i of Y's level `level` has members.
bool RepeatsOf(OpCall& call, int64_t level, Repeats& r) {
  using A = args::dt_sequence_expand;
  static_assert(A::X == args::dt_sequence_expand_grad::X &&
                A::Y == args::dt_sequence_expand_grad::Y);
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  if (x.rank == 0) return call.Fail("'%s' has no rows", x.name), false;
  if (!LevelOf(call, y, level, r.times)) return false;
  r.ragged = !OpCall::LodOf(x).empty();
  if (r.ragged && OpCall::LodOf(x).size() > 1)
    return call.Fail("'%s' has %zu levels of LoD, at most one is expanded", x.name,
                     OpCall::LodOf(x).size()),
           false;
  if (!r.ragged) r.items = Rows(x.dims[0]);
  else if (!SequencesOf(call, x, r.items)) return false;
  // A level of Y without sequences leaves X as it is.
  if (CountOf(r.times) == 0) r.times = Rows(CountOf(r.items));
  if (CountOf(r.items) == CountOf(r.times)) return true;
  call.Fail("'%s' has %lld items, the LoD of '%s' repeats %lld", x.name,
            static_cast<long long>(CountOf(r.items)), y.name,
            static_cast<long long>(CountOf(r.times)));
  return false;
}

// For sequence_expand_as: row i becomes a sequence as long as sequence i of Y.
bool RowRepeatsOf(OpCall& call, Repeats& r) {
  using A = args::dt_sequence_expand_as;
  static_assert(A::X == args::dt_sequence_expand_as_grad::X &&
                A::Y == args::dt_sequence_expand_as_grad::Y);
  if (!SequencesOf(call, call.Arg(A::Y), r.times) ||
      !CheckRows(call, call.Arg(A::X), CountOf(r.times)))
    return false;
  r.items = Rows(CountOf(r.times));
  return true;
}

// Rows of the result; false when they overflow.
bool RowsOf(OpCall& call, const Repeats& r, int64_t& rows) {
  using A = args::dt_sequence_expand;
  static_assert(A::X == args::dt_sequence_expand_as::X);
  static_assert(A::X == args::dt_sequence_expand_as_grad::X);
  static_assert(A::X == args::dt_sequence_expand_grad::X);
  rows = 0;
  for (int64_t i = 0; i < CountOf(r.items); ++i) {
    int64_t more = 0;
    if (__builtin_mul_overflow(LengthAt(r.items, i), LengthAt(r.times, i), &more) ||
        __builtin_add_overflow(rows, more, &rows))
      return call.Fail("'%s' expands to too many rows", call.Arg(A::X).name), false;
  }
  return true;
}

int32_t Expand(OpCall& call, const Repeats& r, DtBuffer& out) {
  using A = args::dt_sequence_expand;
  static_assert(A::Out == args::dt_sequence_expand_as::Out &&
                A::X == args::dt_sequence_expand_as::X);
  const DtBuffer& x = call.Arg(A::X);
  int64_t rows = 0;
  if (!CheckTypes(call, x, {A::Out}) || !RowsOf(call, r, rows) ||
      !call.Resize(out, WithRows(x, rows)))
    return 1;
  const int64_t bytes = RowBytes(x);
  int64_t at = 0;
  for (int64_t i = 0; i < CountOf(r.items); ++i)
    for (int64_t n = LengthAt(r.times, i); n > 0; --n, at += LengthAt(r.items, i))
      CopyRows(out, at, x, r.items[static_cast<size_t>(i)], LengthAt(r.items, i), bytes);
  return 0;
}

// Sums what came from the same item. Slots: X, Y, Out@GRAD, X@GRAD.
int32_t Collect(OpCall& call, const Repeats& r) {
  using A = args::dt_sequence_expand_as_grad;
  static_assert(A::Out_GRAD == args::dt_sequence_expand_grad::Out_GRAD &&
                A::X == args::dt_sequence_expand_grad::X &&
                A::X_GRAD == args::dt_sequence_expand_grad::X_GRAD);
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  int64_t rows = 0;
  if (!CheckTypes(call, x, {A::Out_GRAD, A::X_GRAD}) || !RowsOf(call, r, rows) ||
      !CheckRows(call, gradient, rows) || !call.Resize(dx, x))
    return 1;
  if (RowSize(gradient) != RowSize(x))
    return call.Fail("'%s' has not the extents of the expanded '%s'", gradient.name, x.name);
  OpCall::SetLod(dx, OpCall::LodOf(x));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::memset(dx.data, 0, static_cast<size_t>(Elements(dx)) * sizeof(T));
    const int64_t width = RowSize(x);
    const T* from = Data<T>(gradient);
    for (int64_t i = 0; i < CountOf(r.items); ++i) {
      T* to = Data<T>(dx) + r.items[static_cast<size_t>(i)] * width;
      const int64_t elements = LengthAt(r.items, i) * width;
      for (int64_t n = LengthAt(r.times, i); n > 0; --n, from += elements)
        for (int64_t k = 0; k < elements; ++k) to[k] += from[k];
    }
    return 0;
  });
}

}  // namespace

int32_t SequenceExpand(OpCall& call) {
  using A = args::dt_sequence_expand;
  Repeats r;
  DtBuffer& out = call.Arg(A::Out);
  if (!RepeatsOf(call, call.Int(A::ref_level), r) || Expand(call, r, out) != 0) return 1;
  if (!r.ragged) return 0;
  Offsets offsets = {0};
  for (int64_t i = 0; i < CountOf(r.items); ++i)
    for (int64_t n = LengthAt(r.times, i); n > 0; --n)
      offsets.push_back(offsets.back() + LengthAt(r.items, i));
  OpCall::SetLod(out, LodFrom(offsets));
  return 0;
}

int32_t SequenceExpandGrad(OpCall& call) {
  using A = args::dt_sequence_expand_grad;
  Repeats r;
  return RepeatsOf(call, call.Int(A::ref_level), r) ? Collect(call, r) : 1;
}

int32_t SequenceExpandAs(OpCall& call) {
  using A = args::dt_sequence_expand_as;
  Repeats r;
  DtBuffer& out = call.Arg(A::Out);
  if (!RowRepeatsOf(call, r) || Expand(call, r, out) != 0) return 1;
  OpCall::SetLod(out, LodFrom(r.times));
  return 0;
}

int32_t SequenceExpandAsGrad(OpCall& call) {
  Repeats r;
  return RowRepeatsOf(call, r) ? Collect(call, r) : 1;
}

}  // namespace dtranspile::kernels

// sequence_topk_avg_pooling and its gradient: of every row of a ragged batch of matrices [channels,
// rows, columns] the averages of the largest k elements, for each k of `topks`. Slots and
// attributes: runtime/kernels/signatures/sequence.calls.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/sequence/calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

// X, ROW and COLUMN say per sequence: where its matrices begin, how many rows and columns they
// have.
struct Matrices {
  Offsets x, rows, columns;
  int64_t channels = 0, largest = 0;
  absl::Span<const int64_t> topks;

  int64_t topk_count() const { return static_cast<int64_t>(topks.size()); }
};

// Also checks that each sequence of X has just the elements of its matrices; the product is made in
// 128 bits, lest it wrap around to the right number.
bool MatricesOf(OpCall& call, Matrices& m) {
  using A = args::dt_sequence_topk_avg_pooling;
  static_assert(A::COLUMN == args::dt_sequence_topk_avg_pooling_grad::COLUMN &&
                A::ROW == args::dt_sequence_topk_avg_pooling_grad::ROW &&
                A::X == args::dt_sequence_topk_avg_pooling_grad::X &&
                A::channel_num == args::dt_sequence_topk_avg_pooling_grad::channel_num &&
                A::topks == args::dt_sequence_topk_avg_pooling_grad::topks);
  m.topks = call.Ints(A::topks);
  m.channels = call.Int(A::channel_num);
  if (m.channels <= 0 || m.topks.empty())
    return call.Fail("topks must not be empty and channel_num must be positive"), false;
  for (int64_t k : m.topks) {
    if (k <= 0 || k > INT32_MAX)
      return call.Fail("topks has %lld, expected positive numbers", static_cast<long long>(k)),
             false;
    m.largest = std::max(m.largest, k);
  }
  if (!SequencesOf(call, call.Arg(A::X), m.x) || !SequencesOf(call, call.Arg(A::ROW), m.rows) ||
      !SequencesOf(call, call.Arg(A::COLUMN), m.columns))
    return false;
  if (m.x.size() != m.rows.size() || m.x.size() != m.columns.size())
    return call.Fail("'%s', '%s' and '%s' have not the same number of sequences",
                     call.Arg(A::X).name, call.Arg(A::ROW).name, call.Arg(A::COLUMN).name),
           false;
  if (RowSize(call.Arg(A::X)) != 1)
    return call.Fail("'%s' must have one element in a row", call.Arg(A::X).name), false;
  for (int64_t i = 0; i < CountOf(m.x); ++i) {
    if (static_cast<__int128>(m.channels) * LengthAt(m.rows, i) * LengthAt(m.columns, i) ==
        LengthAt(m.x, i))
      continue;
    call.Fail("sequence %lld of '%s' has %lld elements, not %lld channels of %lldx%lld",
              static_cast<long long>(i), call.Arg(A::X).name,
              static_cast<long long>(LengthAt(m.x, i)), static_cast<long long>(m.channels),
              static_cast<long long>(LengthAt(m.rows, i)),
              static_cast<long long>(LengthAt(m.columns, i)));
    return false;
  }
  return true;
}

// visit(elements before the row in X, columns, number of the row among all rows, channel) for every
// row of every matrix.
template <typename Visit>
void ForEachRow(const Matrices& m, Visit&& visit) {
  for (int64_t i = 0; i < CountOf(m.x); ++i) {
    const int64_t rows = LengthAt(m.rows, i), columns = LengthAt(m.columns, i);
    for (int64_t c = 0; c < m.channels; ++c)
      for (int64_t r = 0; r < rows; ++r)
        visit(m.x[static_cast<size_t>(i)] + (c * rows + r) * columns, columns,
              m.rows[static_cast<size_t>(i)] + r, c);
  }
}

// Positions of the largest elements in descending order, the first of equal ones first; -1 after
// the last.
template <typename T>
void LargestOf(const T* row, int64_t columns, int64_t wanted, int32_t* positions,
               int32_t* scratch) {
  for (int64_t j = 0; j < columns; ++j) scratch[j] = static_cast<int32_t>(j);
  const int64_t found = std::min(columns, wanted);
  std::partial_sort(scratch, scratch + found, scratch + columns, [&](int32_t a, int32_t b) {
    return Larger(row[a], row[b]) || (!Larger(row[b], row[a]) && a < b);
  });
  std::copy_n(scratch, found, positions);
  std::fill(positions + found, positions + wanted, -1);
}

}  // namespace

// A sum over k places is divided by k even where the row has fewer elements, as in the framework.
int32_t SequenceTopkAvgPooling(OpCall& call) {
  using A = args::dt_sequence_topk_avg_pooling;
  Matrices m;
  if (!MatricesOf(call, m) || !CheckTypes(call, call.Arg(A::X), {A::Out}) ||
      !CheckTypes(call, DType::kInt32, {A::pos}))
    return 1;
  const DtBuffer& x = call.Arg(A::X);
  const bool read = call.Has(A::Out);
  const int64_t rows = m.rows.back(), count = m.topk_count();
  if (static_cast<__int128>(rows) * m.channels * std::max(m.largest, count) > INT32_MAX)
    return call.Fail("%lld rows of %lld channels and topks up to %lld are too many",
                     static_cast<long long>(rows), static_cast<long long>(m.channels),
                     static_cast<long long>(m.largest));
  if (read && !call.Resize(call.Arg(A::Out), {rows, m.channels * count})) return 1;
  if (call.Has(A::pos) && !call.Resize(call.Arg(A::pos), {rows * m.channels * m.largest})) return 1;
  if (read) OpCall::SetLod(call.Arg(A::Out), LodFrom(m.rows));
  const auto integers = [&](int64_t n) {
    return static_cast<int32_t*>(dt_scratch(
        call.context(), std::max<int64_t>(n, 1) * static_cast<int64_t>(sizeof(int32_t))));
  };
  int32_t *order = integers(LongestOf(m.columns)), *unread = integers(m.largest);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const out = read ? Data<T>(call.Arg(A::Out)) : ScratchOf<T>(call, rows * m.channels * count);
    if (out == nullptr) return 1;
    ForEachRow(m, [&](int64_t at, int64_t columns, int64_t row, int64_t channel) {
      int32_t* positions = call.Has(A::pos) ? Data<int32_t>(call.Arg(A::pos)) +
                                                  (row * m.channels + channel) * m.largest
                                            : unread;
      LargestOf(Data<T>(x) + at, columns, m.largest, positions, order);
      T* to = out + (row * m.channels + channel) * count;
      for (int64_t k = 0; k < count; ++k) {
        T sum = 0;
        for (int64_t n = 0; n < m.topks[static_cast<size_t>(k)] && positions[n] >= 0; ++n)
          sum += Data<T>(x)[at + positions[n]];
        to[k] = sum / static_cast<T>(m.topks[static_cast<size_t>(k)]);
      }
    });
    return 0;
  });
}

// Each k gives its share to the places that it averaged, so that the largest elements, which all k
// have in common, get several. The places come from a tensor and are checked.
int32_t SequenceTopkAvgPoolingGrad(OpCall& call) {
  using A = args::dt_sequence_topk_avg_pooling_grad;
  Matrices m;
  if (!MatricesOf(call, m) || !CheckTypes(call, call.Arg(A::X), {A::Out_GRAD, A::X_GRAD})) return 1;
  const DtBuffer &x = call.Arg(A::X), &pos = call.Arg(A::pos), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const int64_t rows = m.rows.back(), count = m.topk_count();
  if (TypeOf(pos) != DType::kInt32 ||
      static_cast<__int128>(rows) * m.channels * m.largest != Elements(pos) ||
      static_cast<__int128>(rows) * m.channels * count != Elements(gradient))
    return call.Fail("'%s' or '%s' has not the extents of the pooled '%s'", pos.name, gradient.name,
                     x.name);
  if (!call.Resize(dx, x)) return 1;
  OpCall::SetLod(dx, OpCall::LodOf(x));
  return VisitFloat(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::memset(dx.data, 0, static_cast<size_t>(Elements(dx)) * sizeof(T));
    int32_t result = 0;
    ForEachRow(m, [&](int64_t at, int64_t columns, int64_t row, int64_t channel) {
      const int32_t* positions = Data<int32_t>(pos) + (row * m.channels + channel) * m.largest;
      const T* from = Data<T>(gradient) + (row * m.channels + channel) * count;
      for (int64_t k = 0; k < count; ++k)
        for (int64_t n = 0; n < m.topks[static_cast<size_t>(k)] && positions[n] >= 0; ++n) {
          if (positions[n] >= columns) {
            result = call.Fail("'%s' has the column %d of %lld", pos.name, positions[n],
                               static_cast<long long>(columns));
            return;
          }
          Data<T>(dx)[at + positions[n]] +=
              from[k] / static_cast<T>(m.topks[static_cast<size_t>(k)]);
        }
    });
    return result;
  });
}

}  // namespace dtranspile::kernels

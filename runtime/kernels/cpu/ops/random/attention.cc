// Attention of the heads of a batch (Dao et al. 2022; the framework's flash_attn): softmax of the
// products of queries and keys over √width, and a mask, times the values. Probabilities that are
// kept after dropout are scaled up. Rows are made again for the gradient; what was dropped is told
// by two numbers that the op draws. Rows: runtime/kernels/signatures/random.calls.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/random/calls.h"
#include "runtime/kernels/cpu/random/philox.h"

namespace dtranspile::kernels {
namespace {

// [batch, places, heads, width]; some heads of q share one of k and v.
struct Shape {
  int64_t batch = 0, rows = 0, columns = 0, heads = 0, groups = 0, width = 0, out = 0;
  bool causal = false;
  double dropout = 0;
};

// Queries [batch, rows, heads, width], keys and values [batch, columns, groups, width]: several
// heads may share one group of keys.
bool ShapeOf(OpCall& call, const DtBuffer& q, const DtBuffer& k, const DtBuffer& v, bool causal,
             double dropout, Shape& s) {
  s = {q.dims[0], q.dims[1], k.dims[1], q.dims[2], k.dims[2],
       q.dims[3], v.dims[3], causal,    dropout};
  if (k.dims[0] != s.batch || v.dims[0] != s.batch || k.dims[3] != s.width ||
      v.dims[1] != s.columns || v.dims[2] != s.groups || s.groups < 1 || s.width < 1 ||
      s.heads % s.groups != 0)
    return call.Fail("'%s', '%s' and '%s' do not fit each other", q.name, k.name, v.name), false;
  if (causal && s.rows != s.columns)
    return call.Fail("causal attention of %lld places to %lld", static_cast<long long>(s.rows),
                     static_cast<long long>(s.columns)),
           false;
  if (dropout >= 0 && dropout < 1) return true;
  return call.Fail("dropout %g, expected 0 to 1", dropout), false;
}

// Places of a mask that broadcasts over samples and heads.
struct Mask {
  const DtBuffer* buffer = nullptr;
  bool samples = false, heads = false;
};
bool MaskOf(OpCall& call, int slot, const Shape& s, Mask& mask) {
  if (!call.Has(slot)) return true;
  const DtBuffer& m = call.Arg(slot);
  if ((m.dims[0] != 1 && m.dims[0] != s.batch) || (m.dims[1] != 1 && m.dims[1] != s.heads) ||
      m.dims[2] != s.rows || m.dims[3] != s.columns)
    return call.Fail("'%s' has not the extents of the scores", m.name), false;
  mask = {&m, m.dims[0] != 1, m.dims[1] != 1};
  return true;
}

// The probabilities of a row, and what each of them counts for: 0 where it was dropped.
struct Row {
  std::vector<double> probability, kept;
  double normaliser = 0;  // the logarithm of the sum
};

struct Draw {
  int64_t key = 0, stream = 0;
};

// One row of probabilities: scores, softmax with the maximum taken off, and what dropout keeps.
// Each row has its own place in the sequence of the counter-based generator, so that rows can be
// made in any order, and again for the gradient.
template <typename T>
void MakeRow(const Shape& s, const Mask& mask, const Draw& seed, const T* q, const T* k, int64_t b,
             int64_t h, int64_t i, Row& row) {
  const int64_t seen = s.causal ? i + 1 : s.columns, group = h / (s.heads / s.groups);
  row.probability.assign(static_cast<size_t>(s.columns), 0);
  row.kept.assign(static_cast<size_t>(s.columns), 1);
  const double scale = 1 / std::sqrt(static_cast<double>(s.width));
  const T* query = q + ((b * s.rows + i) * s.heads + h) * s.width;
  const T* masked =
      mask.buffer == nullptr
          ? nullptr
          : Data<T>(*mask.buffer) +
                (((mask.samples ? b : 0) * (mask.heads ? s.heads : 1) + (mask.heads ? h : 0)) *
                     s.rows +
                 i) *
                    s.columns;
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t j = 0; j < seen; ++j) {
    const T* key = k + ((b * s.columns + j) * s.groups + group) * s.width;
    double score = 0;
    for (int64_t w = 0; w < s.width; ++w)
      score += static_cast<double>(query[w]) * static_cast<double>(key[w]);
    score = score * scale + (masked == nullptr ? 0 : static_cast<double>(masked[j]));
    row.probability[static_cast<size_t>(j)] = score;
    most = std::max(most, score);
  }
  for (int64_t j = 0; j < seen; ++j)
    sum += row.probability[static_cast<size_t>(j)] =
        std::exp(row.probability[static_cast<size_t>(j)] - most);
  for (int64_t j = 0; j < seen; ++j) row.probability[static_cast<size_t>(j)] /= sum;
  row.normaliser = most + std::log(sum);
  if (s.dropout == 0) return;
  random::Philox bits(static_cast<uint64_t>(seed.key), static_cast<uint64_t>(seed.stream));
  bits.discard(static_cast<uint64_t>(((b * s.heads + h) * s.rows + i) * s.columns));
  for (int64_t j = 0; j < s.columns; ++j)
    row.kept[static_cast<size_t>(j)] =
        static_cast<double>(bits() >> 11) * 0x1p-53 < s.dropout ? 0 : 1 / (1 - s.dropout);
}

bool SeedOf(OpCall& call, const DtBuffer& buffer, Draw& seed) {
  if (Elements(buffer) != 2) return call.Fail("'%s' is no pair of numbers", buffer.name), false;
  seed = {Data<int64_t>(buffer)[0], Data<int64_t>(buffer)[1]};
  return true;
}

int64_t Rounded(int64_t n) { return (n + 127) / 128 * 128; }

}  // namespace

// q, k, v, fixed_seed_offset, attn_mask; dropout, causal, is_test, @version -> out, softmax (which
// nobody may ask for), softmax_lse, seed_offset
int32_t Attention(OpCall& call) {
  using A = args::dt_attention;
  const DtBuffer &q = call.Arg(A::q), &k = call.Arg(A::k), &v = call.Arg(A::v);
  Shape s;
  Mask mask;
  const double dropout = call.Bool(A::is_test) ? 0 : call.Real(A::dropout);
  if (!ShapeOf(call, q, k, v, call.Bool(A::causal), dropout, s) ||
      !MaskOf(call, A::attn_mask, s, mask))
    return 1;
  if (call.Has(A::softmax)) return call.Fail("probabilities are not kept");
  Draw seed;
  if (call.Has(A::fixed_seed_offset)) {
    if (!SeedOf(call, call.Arg(A::fixed_seed_offset), seed)) return 1;
  } else if (dropout > 0) {
    random::Engine& engine = EngineOf(call, A::version, 0);
    seed.key = static_cast<int64_t>(engine.Next());
    seed.stream = static_cast<int64_t>(engine.Next());
  }
  if (call.Has(A::seed_offset)) {
    DtBuffer& kept = call.Arg(A::seed_offset);
    const int64_t two[] = {2};
    if (!call.Resize(kept, two)) return 1;
    Data<int64_t>(kept)[0] = seed.key;
    Data<int64_t>(kept)[1] = seed.stream;
  }
  const int64_t outDims[] = {s.batch, s.rows, s.heads, s.out},
                sumDims[] = {s.batch, s.heads, Rounded(s.rows)};
  DtBuffer *out = call.Has(A::out) ? &call.Arg(A::out) : nullptr,
           *sums = call.Has(A::softmax_lse) ? &call.Arg(A::softmax_lse) : nullptr;
  if ((out != nullptr && !call.Resize(*out, outDims)) ||
      (sums != nullptr && !call.Resize(*sums, sumDims)))
    return 1;
  if (sums != nullptr)
    std::memset(sums->data, 0, static_cast<size_t>(Elements(*sums) * ElementSize(*sums)));
  return VisitFloat(call.context(), q, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), s.batch * s.heads, 1, [&](int64_t lo, int64_t n) {
      Row row;
      std::vector<double> sum(static_cast<size_t>(s.out));
      for (int64_t at = lo; at < lo + n; ++at)
        for (int64_t i = 0, b = at / s.heads, h = at % s.heads; i < s.rows; ++i) {
          MakeRow(s, mask, seed, Data<T>(q), Data<T>(k), b, h, i, row);
          if (sums != nullptr)
            Data<float>(*sums)[at * Rounded(s.rows) + i] = static_cast<float>(row.normaliser);
          if (out == nullptr) continue;
          std::fill(sum.begin(), sum.end(), 0);
          for (int64_t j = 0; j < s.columns; ++j) {
            const double factor =
                row.probability[static_cast<size_t>(j)] * row.kept[static_cast<size_t>(j)];
            const T* value =
                Data<T>(v) + ((b * s.columns + j) * s.groups + h / (s.heads / s.groups)) * s.out;
            for (int64_t w = 0; factor != 0 && w < s.out; ++w)
              sum[static_cast<size_t>(w)] += factor * static_cast<double>(value[w]);
          }
          T* to = Data<T>(*out) + ((b * s.rows + i) * s.heads + h) * s.out;
          for (int64_t w = 0; w < s.out; ++w) to[w] = static_cast<T>(sum[static_cast<size_t>(w)]);
        }
    });
    return 0;
  });
}

// q, k, v, out, softmax_lse, seed_offset, attn_mask, out@GRAD; dropout, causal, is_test -> q@GRAD,
// k@GRAD, v@GRAD: with P the probabilities and D the gradient of those, that of the scores is
// P·(D − Σ P·D)
int32_t AttentionGrad(OpCall& call) {
  using A = args::dt_attention_grad;
  const DtBuffer &q = call.Arg(A::q), &k = call.Arg(A::k), &v = call.Arg(A::v),
                 &gradient = call.Arg(A::out_GRAD);
  Shape s;
  Mask mask;
  Draw seed;
  if (!ShapeOf(call, q, k, v, call.Bool(A::causal),
               call.Bool(A::is_test) ? 0 : call.Real(A::dropout), s) ||
      !MaskOf(call, A::attn_mask, s, mask) || !SeedOf(call, call.Arg(A::seed_offset), seed))
    return 1;
  const int64_t outDims[] = {s.batch, s.rows, s.heads, s.out};
  if (OpCall::Dims(gradient) != absl::MakeConstSpan(outDims))
    return call.Fail("'%s' has not the extents of the result", gradient.name);
  const DtBuffer* forward[] = {&q, &k, &v};
  const int slots[] = {A::q_GRAD, A::k_GRAD, A::v_GRAD};
  for (int i = 0; i < 3; ++i)
    if (call.Has(slots[i]) && !call.Resize(call.Arg(slots[i]), *forward[i])) return 1;
  return VisitFloat(call.context(), q, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<double> sums[3];
    for (int i = 0; i < 3; ++i) sums[i].assign(static_cast<size_t>(Elements(*forward[i])), 0);
    const int64_t shared = s.heads / s.groups;
    const double scale = 1 / std::sqrt(static_cast<double>(s.width));
    // Heads that share one of k add to the same sums.
    Parallel(call.context(), s.batch * s.groups, 1, [&](int64_t lo, int64_t n) {
      Row row;
      std::vector<double> d(static_cast<size_t>(s.columns));
      for (int64_t at = lo; at < lo + n; ++at)
        for (int64_t b = at / s.groups, group = at % s.groups, h = group * shared;
             h < (group + 1) * shared; ++h)
          for (int64_t i = 0; i < s.rows; ++i) {
            MakeRow(s, mask, seed, Data<T>(q), Data<T>(k), b, h, i, row);
            const int64_t query = ((b * s.rows + i) * s.heads + h) * s.width;
            const T* g = Data<T>(gradient) + ((b * s.rows + i) * s.heads + h) * s.out;
            double mean = 0;
            for (int64_t j = 0; j < s.columns; ++j) {
              const auto place = static_cast<size_t>(j);
              const int64_t value = ((b * s.columns + j) * s.groups + group) * s.out;
              const double factor = row.probability[place] * row.kept[place];
              double product = 0;
              for (int64_t w = 0; w < s.out; ++w) {
                product += static_cast<double>(g[w]) * static_cast<double>(Data<T>(v)[value + w]);
                sums[2][static_cast<size_t>(value + w)] += factor * static_cast<double>(g[w]);
              }
              d[place] = product * row.kept[place];
              mean += row.probability[place] * d[place];
            }
            for (int64_t j = 0; j < s.columns; ++j) {
              const auto place = static_cast<size_t>(j);
              const int64_t key = ((b * s.columns + j) * s.groups + group) * s.width;
              const double score = row.probability[place] * (d[place] - mean) * scale;
              for (int64_t w = 0; score != 0 && w < s.width; ++w) {
                sums[0][static_cast<size_t>(query + w)] +=
                    score * static_cast<double>(Data<T>(k)[key + w]);
                sums[1][static_cast<size_t>(key + w)] +=
                    score * static_cast<double>(Data<T>(q)[query + w]);
              }
            }
          }
    });
    for (int i = 0; i < 3; ++i)
      if (call.Has(slots[i]))
        std::transform(sums[i].begin(), sums[i].end(), Data<T>(call.Arg(slots[i])),
                       [](double sum) { return static_cast<T>(sum); });
    return 0;
  });
}

}  // namespace dtranspile::kernels

// shuffle_batch: rows of a batch in another order, in which none stays in its place (Sattolo 1986).
// The framework draws the order from the hardware, and SeedOut from the C++ library's default
// engine; here that engine gives both. Rows: runtime/kernels/signatures/random.calls.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "runtime/kernels/cpu/ops/random/calls.h"

namespace dtranspile::kernels {

// X, Seed; startup_seed -> Out, ShuffleIdx, SeedOut. Rows are all dims but the last.
int32_t ShuffleBatch(OpCall& call) {
  using A = args::dt_shuffle_batch;
  const DtBuffer& x = call.Arg(A::X);
  int64_t seed = call.Int(A::startup_seed);
  if (call.Has(A::Seed)) {
    if (Elements(call.Arg(A::Seed)) != 1)
      return call.Fail("'%s' is not one number", call.Arg(A::Seed).name);
    seed = *Data<int64_t>(call.Arg(A::Seed));
  }
  const int64_t rows = Elements(x, 0, x.rank - 1), bytes = x.dims[x.rank - 1] * ElementSize(x);
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::minstd_rand0 engine;
  engine.seed(static_cast<uint_fast32_t>(seed));
  const auto next = static_cast<int64_t>(engine());
  for (int64_t i = rows - 1; i > 0; --i)
    std::swap(order[static_cast<size_t>(i)],
              order[static_cast<size_t>(std::uniform_int_distribution<int64_t>(0, i - 1)(engine))]);
  const int64_t rowDims[] = {rows}, one[] = {1};
  if (call.Has(A::Out)) {
    DtBuffer& out = call.Arg(A::Out);
    if (!call.Resize(out, x)) return 1;
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(Data<char>(out) + order[static_cast<size_t>(i)] * bytes,
                  Data<char>(x) + i * bytes, static_cast<size_t>(bytes));
  }
  if (call.Has(A::ShuffleIdx)) {
    if (!call.Resize(call.Arg(A::ShuffleIdx), rowDims)) return 1;
    std::copy(order.begin(), order.end(), Data<int64_t>(call.Arg(A::ShuffleIdx)));
  }
  if (!call.Has(A::SeedOut)) return 0;
  if (!call.Resize(call.Arg(A::SeedOut), one)) return 1;
  *Data<int64_t>(call.Arg(A::SeedOut)) = next;
  return 0;
}

// ShuffleIdx, Out@GRAD -> X@GRAD: rows back to where they came from
int32_t ShuffleBatchGrad(OpCall& call) {
  using A = args::dt_shuffle_batch_grad;
  const DtBuffer &order = call.Arg(A::ShuffleIdx), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const int64_t rows = Elements(gradient, 0, gradient.rank - 1),
                bytes = gradient.dims[gradient.rank - 1] * ElementSize(gradient);
  if (Elements(order) != rows)
    return call.Fail("'%s' has not one number for each row of '%s'", order.name, gradient.name);
  for (int64_t i = 0; i < rows; ++i)
    if (Data<int64_t>(order)[i] < 0 || Data<int64_t>(order)[i] >= rows)
      return call.Fail("'%s' has the row %lld of %lld", order.name,
                       static_cast<long long>(Data<int64_t>(order)[i]),
                       static_cast<long long>(rows));
  if (!call.Resize(dx, gradient)) return 1;
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(Data<char>(dx) + i * bytes, Data<char>(gradient) + Data<int64_t>(order)[i] * bytes,
                static_cast<size_t>(bytes));
  return 0;
}

}  // namespace dtranspile::kernels

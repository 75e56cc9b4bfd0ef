// Softmax of the scores of attention where a place sees itself and those before it
// (fused_softmax_mask_upper_triangle). Rows: runtime/kernels/signatures/activation.calls.
#include <algorithm>
#include <cmath>

#include "runtime/kernels/cpu/ops/activation/calls.h"

namespace dtranspile::kernels {

// X [..., rows, columns] -> Out: of row i the columns up to i, 0 behind them
int32_t CausalSoftmax(OpCall& call) {
  using A = args::dt_causal_softmax;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (!call.Resize(out, x)) return 1;
  const int64_t columns = x.dims[x.rank - 1], rows = x.dims[x.rank - 2],
                lines = Elements(x, 0, x.rank - 1);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), lines, GrainFor(columns * ElementSize(x)), [&](int64_t lo, int64_t n) {
      for (int64_t line = lo; line < lo + n; ++line) {
        const T* from = Data<T>(x) + line * columns;
        T* to = Data<T>(out) + line * columns;
        const int64_t seen = std::min(line % rows + 1, columns);
        if (seen < 1) continue;
        const T most = *std::max_element(from, from + seen);
        double sum = 0;
        for (int64_t j = 0; j < seen; ++j)
          sum += static_cast<double>(to[j] = std::exp(from[j] - most));
        for (int64_t j = 0; j < columns; ++j) to[j] = j < seen ? to[j] / static_cast<T>(sum) : T{0};
      }
    });
    return 0;
  });
}

}  // namespace dtranspile::kernels

// partial_concat, partial_sum: some columns of matrices of equal extents, side by side or added
// (the framework's ops of click-through models). Rows: runtime/kernels/signatures/shape.calls.
#include <cstring>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

struct Columns {
  int64_t rows = 0, all = 0, start = 0, count = 0;
  bool sum = false;
};

bool ColumnsOf(OpCall& call, int slot, int start, int length, std::string_view type,
               Columns& columns) {
  const int count = call.Count(slot);
  if (count < 1) return call.Fail("no matrices"), false;
  const DtBuffer& first = call.Arg(slot, 0);
  for (int i = 0; i < count; ++i)
    if (!SameShape(call.Arg(slot, i), first))
      return call.Fail("'%s' has not the extents of '%s'", call.Arg(slot, i).name, first.name),
             false;
  columns = {first.dims[0], first.dims[1], call.Int(start), call.Int(length),
             type.starts_with("partial_sum")};
  if (columns.start < 0) columns.start += columns.all;
  if (columns.count < 0) columns.count = columns.all - columns.start;
  if (columns.start >= 0 && columns.start < columns.all && columns.count > 0 &&
      columns.count <= columns.all - columns.start)
    return true;
  return call.Fail("%lld columns from %lld on of '%s', which has %lld",
                   static_cast<long long>(call.Int(length)),
                   static_cast<long long>(call.Int(start)), first.name,
                   static_cast<long long>(columns.all)),
         false;
}

}  // namespace

// X; start_index (from the end where negative), length (-1: all that follow), @type -> Out
int32_t Partial(OpCall& call) {
  using A = args::dt_partial;
  Columns c;
  if (!ColumnsOf(call, A::X, A::start_index, A::length, call.Text(A::type), c)) return 1;
  const int count = call.Count(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t width = c.sum ? c.count : c.count * count, dims[] = {c.rows, width};
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::memset(out.data, 0, static_cast<size_t>(Elements(out) * ElementSize(out)));
    for (int k = 0; k < count; ++k) {
      const T* x = Data<T>(call.Arg(A::X, k)) + c.start;
      T* to = Data<T>(out) + (c.sum ? 0 : k * c.count);
      for (int64_t i = 0; i < c.rows; ++i)
        for (int64_t j = 0; j < c.count; ++j)
          to[i * width + j] = Plus(to[i * width + j], x[i * c.all + j]);
    }
    return 0;
  });
}

// X, Out@GRAD; start_index, length, @type -> X@GRAD: zero in the other columns
int32_t PartialGrad(OpCall& call) {
  using A = args::dt_partial_grad;
  Columns c;
  if (!ColumnsOf(call, A::X, A::start_index, A::length, call.Text(A::type), c)) return 1;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  const int count = call.Count(A::X);
  const int64_t width = c.sum ? c.count : c.count * count;
  if (gradient.dims[0] != c.rows || gradient.dims[1] != width)
    return call.Fail("'%s' has not the extents of the result", gradient.name);
  if (call.Count(A::X_GRAD) != count)
    return call.Fail("%d gradients of %d matrices", call.Count(A::X_GRAD), count);
  const int64_t size = ElementSize(gradient);
  for (int k = 0; k < count; ++k) {
    if (!call.Has(A::X_GRAD, k)) continue;
    DtBuffer& dx = call.Arg(A::X_GRAD, k);
    if (!call.Resize(dx, call.Arg(A::X, k))) return 1;
    std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * size));
    const char* from = Data<char>(gradient) + (c.sum ? 0 : k * c.count) * size;
    for (int64_t i = 0; i < c.rows; ++i)
      std::memcpy(Data<char>(dx) + (i * c.all + c.start) * size, from + i * width * size,
                  static_cast<size_t>(c.count * size));
  }
  return 0;
}

}  // namespace dtranspile::kernels

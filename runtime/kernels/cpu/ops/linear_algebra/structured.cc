// Products and sums along fixed patterns of indices: cross, kron, trace, diagonal, with their
// gradients.
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

// The axis of three elements of a cross product; 9 stands for the first there is.
bool CrossAxis(OpCall& call, const DtBuffer& x, const DtBuffer& y, int64_t& axis) {
  using A = args::dt_cross;
  static_assert(A::dim == args::dt_cross_grad::dim);
  constexpr int64_t kFirst = 9;
  if (!SameShape(x, y) || TypeOf(x) != TypeOf(y))
    return call.Fail("'%s' and '%s' differ in extents or element type", x.name, y.name), false;
  axis = call.Int(A::dim);
  if (axis == kFirst) {
    for (axis = 0; axis < x.rank && x.dims[axis] != 3;) ++axis;
    if (axis == x.rank) return call.Fail("'%s' has no dim of extent 3", x.name), false;
  }
  if (!NormalAxis(call, x, axis)) return false;
  if (x.dims[axis] != 3)
    return call.Fail("dim %lld of '%s' has extent %lld, not 3", static_cast<long long>(axis),
                     x.name, static_cast<long long>(x.dims[axis])),
           false;
  return true;
}

// a × b for all vectors along `axis`, whose elements stand `inner` apart.
template <typename T>
void CrossProduct(const DtBuffer& like, int64_t axis, const T* a, const T* b, T* out) {
  const auto at = static_cast<int32_t>(axis);
  const int64_t outer = Elements(like, 0, at), inner = Elements(like, at + 1, like.rank);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t p0 = o * 3 * inner + i, p1 = p0 + inner, p2 = p1 + inner;
      out[p0] = a[p1] * b[p2] - a[p2] * b[p1];
      out[p1] = a[p2] * b[p0] - a[p0] * b[p2];
      out[p2] = a[p0] * b[p1] - a[p1] * b[p0];
    }
}

}  // namespace

// X, Y; dim -> Out
int32_t Cross(OpCall& call) {
  using A = args::dt_cross;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  int64_t axis = 0;
  if (!CrossAxis(call, x, y, axis) || !call.Resize(out, x)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    CrossProduct(x, axis, Data<T>(x), Data<T>(y), Data<T>(out));
    return 0;
  });
}

// X, Y, Out@GRAD; dim -> X@GRAD, Y@GRAD: Y × dOut and dOut × X
int32_t CrossGrad(OpCall& call) {
  using A = args::dt_cross_grad;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &gradient = call.Arg(A::Out_GRAD);
  int64_t axis = 0;
  if (!CrossAxis(call, x, y, axis)) return 1;
  if (!SameShape(x, gradient))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, x.name);
  for (int slot = 3; slot < 5; ++slot)
    if (call.Has(slot) && !call.Resize(call.Arg(slot), x)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (call.Has(A::X_GRAD))
      CrossProduct(x, axis, Data<T>(y), Data<T>(gradient), Data<T>(call.Arg(A::X_GRAD)));
    if (call.Has(A::Y_GRAD))
      CrossProduct(x, axis, Data<T>(gradient), Data<T>(x), Data<T>(call.Arg(A::Y_GRAD)));
    return 0;
  });
}

namespace {

// Extents of a Kronecker product and of its factors, ranks made equal by leading ones.
struct KronDims {
  std::vector<int64_t> x, y, out;
};

// Extents multiply dim by dim.
KronDims KronDimsOf(const DtBuffer& x, const DtBuffer& y) {
  const int32_t rank = std::max(x.rank, y.rank);
  KronDims d;
  d.x.assign(static_cast<size_t>(rank - x.rank), 1);
  d.y.assign(static_cast<size_t>(rank - y.rank), 1);
  d.x.insert(d.x.end(), x.dims, x.dims + x.rank);
  d.y.insert(d.y.end(), y.dims, y.dims + y.rank);
  for (int32_t i = 0; i < rank; ++i)
    d.out.push_back(d.x[static_cast<size_t>(i)] * d.y[static_cast<size_t>(i)]);
  return d;
}

// body(place in out, in x, in y) for every element of the product, in order.
// Along every dim element p of the product is x[p / |y|] · y[p % |y|]; the places are rebuilt from
// the element's number, so that any range can be walked by itself.
template <typename Body>
void ForEachKron(const KronDims& d, int64_t lo, int64_t n, Body&& body) {
  for (int64_t i = lo; i < lo + n; ++i) {
    int64_t rest = i, at_x = 0, at_y = 0, step_x = 1, step_y = 1;
    for (size_t k = d.out.size(); k-- > 0;) {
      const int64_t place = rest % d.out[k];
      rest /= d.out[k];
      at_x += place / d.y[k] * step_x, at_y += place % d.y[k] * step_y;
      step_x *= d.x[k], step_y *= d.y[k];
    }
    body(i, at_x, at_y);
  }
}

}  // namespace

// X, Y -> Out
int32_t Kron(OpCall& call) {
  using A = args::dt_kron;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  if (TypeOf(x) != TypeOf(y))
    return call.Fail("'%s' and '%s' differ in element type", x.name, y.name);
  const KronDims dims = KronDimsOf(x, y);
  if (!call.Resize(out, dims.out)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), Elements(out), GrainFor(64), [&](int64_t lo, int64_t n) {
      ForEachKron(dims, lo, n, [&](int64_t i, int64_t at_x, int64_t at_y) {
        Data<T>(out)[i] = Data<T>(x)[at_x] * Data<T>(y)[at_y];
      });
    });
    return 0;
  });
}

// X, Y, Out@GRAD -> X@GRAD, Y@GRAD
// An element of x has as many terms as y has elements, and the other way round: both sums run on
// one thread, in the order of the product.
int32_t KronGrad(OpCall& call) {
  using A = args::dt_kron_grad;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &gradient = call.Arg(A::Out_GRAD);
  const KronDims dims = KronDimsOf(x, y);
  if (OpCall::Dims(gradient) != absl::MakeConstSpan(dims.out) || TypeOf(x) != TypeOf(y))
    return call.Fail("'%s' has not the extents of the product", gradient.name);
  for (int slot = 3; slot < 5; ++slot) {
    if (!call.Has(slot)) continue;
    DtBuffer& to = call.Arg(slot);
    if (!call.Resize(to, call.Arg(slot - 3))) return 1;
    std::memset(to.data, 0, static_cast<size_t>(Elements(to) * ElementSize(to)));
  }
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* dx = call.Has(A::X_GRAD) ? Data<T>(call.Arg(A::X_GRAD)) : nullptr;
    T* dy = call.Has(A::Y_GRAD) ? Data<T>(call.Arg(A::Y_GRAD)) : nullptr;
    ForEachKron(dims, 0, Elements(gradient), [&](int64_t i, int64_t at_x, int64_t at_y) {
      if (dx != nullptr) dx[at_x] += Data<T>(gradient)[i] * Data<T>(y)[at_y];
      if (dy != nullptr) dy[at_y] += Data<T>(gradient)[i] * Data<T>(x)[at_x];
    });
    return 0;
  });
}

namespace {

// The diagonals of two axes: where each starts, how long it is, and its step.
struct Diagonals {
  std::vector<int64_t> dims;     // of the other axes
  std::vector<int64_t> strides;  // of the other axes
  int64_t start = 0, length = 0, step = 0;

  int64_t offset(int64_t index) const {
    int64_t at = start;
    for (size_t k = dims.size(); k-- > 0; index /= dims[k]) at += index % dims[k] * strides[k];
    return at;
  }
};

// Elements (i + down, i + right) of the two axes: consecutive ones stand a row and a column apart,
// hence one stride. A positive offset moves right, a negative one down; outside of the matrix the
// diagonal is empty.
bool DiagonalsOf(OpCall& call, const DtBuffer& x, int64_t offset, int64_t first, int64_t second,
                 Diagonals& d) {
  if (!NormalAxis(call, x, first) || !NormalAxis(call, x, second)) return false;
  if (first == second)
    return call.Fail("the diagonal of axis %lld with itself", static_cast<long long>(first)), false;
  std::vector<int64_t> strides(static_cast<size_t>(x.rank));
  for (int64_t k = x.rank - 1, step = 1; k >= 0; step *= x.dims[k--])
    strides[static_cast<size_t>(k)] = step;
  const int64_t rows = x.dims[first], columns = x.dims[second];
  const int64_t down = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
  d.length = down >= rows || right >= columns ? 0 : std::min(rows - down, columns - right);
  d.start = d.length == 0 ? 0
                          : down * strides[static_cast<size_t>(first)] +
                                right * strides[static_cast<size_t>(second)];
  d.step = strides[static_cast<size_t>(first)] + strides[static_cast<size_t>(second)];
  for (int64_t k = 0; k < x.rank; ++k) {
    if (k == first || k == second) continue;
    d.dims.push_back(x.dims[k]);
    d.strides.push_back(strides[static_cast<size_t>(k)]);
  }
  return true;
}

// Attributes offset, axis1, axis2 (2.x), dim1, dim2 (1.x), @version.
bool TracedOf(OpCall& call, const DtBuffer& x, Diagonals& d) {
  using A = args::dt_trace;
  static_assert(A::offset == args::dt_trace_grad::offset &&
                A::version == args::dt_trace_grad::version);
  const bool legacy = call.Int(A::version) > 0 && call.Int(A::version) < 2000000;
  return DiagonalsOf(call, x, call.Int(A::offset), call.Int(legacy ? A::dim1 : A::axis1),
                     call.Int(legacy ? A::dim2 : A::axis2), d);
}

// Attributes offset, axis1, axis2.
bool TakenOf(OpCall& call, const DtBuffer& x, Diagonals& d) {
  using A = args::dt_diagonal;
  static_assert(A::offset == args::dt_diagonal_grad::offset &&
                A::axis2 == args::dt_diagonal_grad::axis2);
  return DiagonalsOf(call, x, call.Int(A::offset), call.Int(A::axis1), call.Int(A::axis2), d);
}

}  // namespace

// Input; ... -> Out
// The sum of each diagonal; the result has the other axes.
int32_t Trace(OpCall& call) {
  using A = args::dt_trace;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  Diagonals d;
  if (!TracedOf(call, x, d)) return 1;
  std::vector<int64_t> dims = d.dims;
  if (dims.empty() && out.rank > 0) dims.push_back(1);
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(out); ++i) {
      T sum = 0;
      for (int64_t k = 0, at = d.offset(i); k < d.length; ++k) sum += Data<T>(x)[at + k * d.step];
      Data<T>(out)[i] = sum;
    }
    return 0;
  });
}

// Input, Out@GRAD; ... -> Input@GRAD
// Every element of a diagonal gets the diagonal's gradient, the others 0.
int32_t TraceGrad(OpCall& call) {
  using A = args::dt_trace_grad;
  const DtBuffer &x = call.Arg(A::Input), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::Input_GRAD);
  Diagonals d;
  if (!TracedOf(call, x, d) || !call.Resize(dx, x)) return 1;
  int64_t count = 1;
  for (int64_t extent : d.dims) count *= extent;
  if (Elements(gradient) != count)
    return call.Fail("'%s' has not one element per diagonal", gradient.name);
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0, at = d.offset(i); k < d.length; ++k)
        Data<T>(dx)[at + k * d.step] = Data<T>(gradient)[i];
    return 0;
  });
}

// Input; offset, axis1, axis2 -> Out: the other dims, then along the diagonals
int32_t Diagonal(OpCall& call) {
  using A = args::dt_diagonal;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  Diagonals d;
  if (!TakenOf(call, x, d)) return 1;
  std::vector<int64_t> dims = d.dims;
  dims.push_back(d.length);
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0, n = d.length ? Elements(out) / d.length : 0; i < n; ++i)
      for (int64_t k = 0, at = d.offset(i); k < d.length; ++k)
        Data<T>(out)[i * d.length + k] = Data<T>(x)[at + k * d.step];
    return 0;
  });
}

// Input, Out@GRAD; offset, axis1, axis2 -> Input@GRAD
int32_t DiagonalGrad(OpCall& call) {
  using A = args::dt_diagonal_grad;
  const DtBuffer &x = call.Arg(A::Input), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::Input_GRAD);
  Diagonals d;
  if (!TakenOf(call, x, d) || !call.Resize(dx, x)) return 1;
  int64_t count = 1;
  for (int64_t extent : d.dims) count *= extent;
  if (Elements(gradient) != count * d.length)
    return call.Fail("'%s' has not one element per place of a diagonal", gradient.name);
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; d.length && i < count; ++i)
      for (int64_t k = 0, at = d.offset(i); k < d.length; ++k)
        Data<T>(dx)[at + k * d.step] = Data<T>(gradient)[i * d.length + k];
    return 0;
  });
}

}  // namespace dtranspile::kernels

// Linear systems, one per matrix of a batch: solve (by LU with row exchanges; Golub, Van Loan:
// Matrix Computations, 3.4) and triangular_solve (by substitution), with their gradients. With Z
// the solution of op(X) Z = Y: dY is the solution of op(X)ᵀ dY = dZ, and dX = -dY Zᵀ (its transpose
// where op transposes), of which a triangle counts where X is one (phi solve_grad,
// triangular_solve_grad).
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/kernels/cpu/axis_map.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

// X [batch, n, n], Y and Z [batch, n, columns].
struct Systems {
  int64_t batch = 1, n = 0, columns = 1;
  bool triangular = false, upper = true, transpose = false, unit = false;
};

// `upper` is given where X is a triangle.
bool SystemsOf(OpCall& call, const DtBuffer& x, const DtBuffer& y, int upper, int transpose,
               int unit, Systems& s) {
  if (x.rank < 2 || x.dims[x.rank - 1] != x.dims[x.rank - 2])
    return call.Fail("'%s' is no batch of square matrices", x.name), false;
  s.n = x.dims[x.rank - 1];
  s.batch = Elements(x, 0, x.rank - 2);
  const bool vectors = y.rank == x.rank - 1;
  bool fits = (vectors || y.rank == x.rank) && y.dims[x.rank - 2] == s.n;
  for (int32_t i = 0; fits && i < x.rank - 2; ++i) fits = y.dims[i] == x.dims[i];
  if (!fits)
    return call.Fail(
               "'%s' has not the batch and the rows of '%s' (batches that broadcast are not "
               "there)",
               y.name, x.name),
           false;
  s.columns = vectors ? 1 : y.dims[y.rank - 1];
  s.triangular = call.Given(upper);
  if (!s.triangular) return true;
  s.upper = call.Bool(upper);
  s.transpose = call.Bool(transpose);
  s.unit = call.Bool(unit);
  return true;
}

// Solves a triangle for the columns in `z`, in place. Divides by 0 where the triangle is singular,
// as the framework does.
template <typename T>
void Substitute(const Systems& s, const T* x, bool transpose, T* z) {
  const bool down = s.upper == transpose;  // from the first row on
  for (int64_t k = 0; k < s.n; ++k) {
    const int64_t i = down ? k : s.n - 1 - k;
    for (int64_t m = 0; m < k; ++m) {
      const int64_t j = down ? m : s.n - 1 - m;
      const T factor = transpose ? x[j * s.n + i] : x[i * s.n + j];
      for (int64_t c = 0; c < s.columns; ++c) z[i * s.columns + c] -= factor * z[j * s.columns + c];
    }
    if (s.unit) continue;
    for (int64_t c = 0; c < s.columns; ++c) z[i * s.columns + c] /= x[i * s.n + i];
  }
}

// Elimination with row exchanges in a copy of X or its transpose; false where a pivot is 0.
template <typename T>
bool Eliminate(const Systems& s, const T* x, bool transpose, T* z) {
  std::vector<T> a(static_cast<size_t>(s.n * s.n));
  auto at = [&](int64_t i, int64_t j) -> T& { return a[static_cast<size_t>(i * s.n + j)]; };
  for (int64_t i = 0; i < s.n; ++i)
    for (int64_t j = 0; j < s.n; ++j) at(i, j) = transpose ? x[j * s.n + i] : x[i * s.n + j];
  for (int64_t k = 0; k < s.n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < s.n; ++i)
      if (std::fabs(at(i, k)) > std::fabs(at(pivot, k))) pivot = i;
    if (at(pivot, k) == 0) return false;
    for (int64_t j = 0; pivot != k && j < s.n; ++j) std::swap(at(k, j), at(pivot, j));
    for (int64_t c = 0; pivot != k && c < s.columns; ++c)
      std::swap(z[k * s.columns + c], z[pivot * s.columns + c]);
    for (int64_t i = k + 1; i < s.n; ++i) {
      const T factor = at(i, k) / at(k, k);
      for (int64_t j = k; j < s.n; ++j) at(i, j) -= factor * at(k, j);
      for (int64_t c = 0; c < s.columns; ++c) z[i * s.columns + c] -= factor * z[k * s.columns + c];
    }
  }
  const Systems rest{s.batch, s.n, s.columns, true, true, false, false};
  Substitute(rest, a.data(), false, z);
  return true;
}

// op(X) z = y per matrix, or op(X)ᵀ z = y (`turned`), from `y` to `z`; the number of a singular
// matrix, else -1.
template <typename T>
int64_t SolveAll(const Systems& s, const T* x, bool turned, const T* y, T* z) {
  const int64_t size = s.n * s.columns;
  std::copy(y, y + s.batch * size, z);
  for (int64_t m = 0; m < s.batch; ++m) {
    const T* matrix = x + m * s.n * s.n;
    if (s.triangular) Substitute(s, matrix, s.transpose != turned, z + m * size);
    else if (!Eliminate(s, matrix, turned, z + m * size)) return m;
  }
  return -1;
}

int32_t Singular(OpCall& call, int64_t number, const DtBuffer& x) {
  return number < 0
             ? 0
             : call.Fail("matrix %lld of '%s' is singular", static_cast<long long>(number), x.name);
}

}  // namespace

// X, Y[; upper, transpose, unitriangular] -> Out
int32_t Solve(OpCall& call) {
  using A = args::dt_solve;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  Systems s;
  if (!SystemsOf(call, x, y, A::upper, A::transpose, A::unitriangular, s) || !call.Resize(out, y))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Singular(call, SolveAll(s, Data<const T>(x), false, Data<const T>(y), Data<T>(out)), x);
  });
}

// X, Y, Out, Out@GRAD[; upper, transpose, unitriangular] -> X@GRAD, Y@GRAD
int32_t SolveGrad(OpCall& call) {
  using A = args::dt_solve_grad;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &out = call.Arg(A::Out),
                 &gradient = call.Arg(A::Out_GRAD);
  Systems s;
  if (!SystemsOf(call, x, y, A::upper, A::transpose, A::unitriangular, s)) return 1;
  if (!SameShape(out, y) || !SameShape(gradient, y))
    return call.Fail("'%s' and '%s' have not the extents of '%s'", out.name, gradient.name, y.name);
  return VisitFloat(call.context(), x, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    std::vector<T> dy(static_cast<size_t>(Elements(y)));
    const int64_t bad = SolveAll(s, Data<const T>(x), true, Data<const T>(gradient), dy.data());
    if (bad >= 0) return Singular(call, bad, x);
    if (call.Has(A::Y_GRAD)) {
      DtBuffer& to = call.Arg(A::Y_GRAD);
      if (!call.Resize(to, y)) return 1;
      std::copy(dy.begin(), dy.end(), Data<T>(to));
    }
    if (!call.Has(A::X_GRAD)) return 0;
    // Of a lower triangle of ones the framework keeps the diagonal, and the one above it
    // (docs/operators/defects.md).
    const bool exact = !call.Given(A::defects) || !call.Bool(A::defects);
    const int64_t last_above = !s.unit ? 0 : exact ? -1 : 1;
    DtBuffer& to = call.Arg(A::X_GRAD);
    if (!call.Resize(to, x)) return 1;
    for (int64_t m = 0; m < s.batch; ++m) {
      const T *z = Data<const T>(out) + m * s.n * s.columns, *g = dy.data() + m * s.n * s.columns;
      for (int64_t i = 0; i < s.n; ++i)
        for (int64_t j = 0; j < s.n; ++j) {
          const T *left = (s.transpose ? z : g) + i * s.columns,
                  *right = (s.transpose ? g : z) + j * s.columns;
          T sum = 0;
          const bool counts =
              !s.triangular || (s.upper ? j - i >= (s.unit ? 1 : 0) : j - i <= last_above);
          for (int64_t c = 0; counts && c < s.columns; ++c) sum -= left[c] * right[c];
          Data<T>(to)[(m * s.n + i) * s.n + j] = sum;
        }
    }
    return 0;
  });
}

namespace {

// X [..., n, k] and Y [..., n, n] of cholesky_solve, whose batches broadcast.
struct Factored {
  Systems systems;
  AxisMap x, y;
  std::vector<int64_t> out;  // extents of the result
};

// X [batch…, n, m] and the factor Y [batch…, n, n], whose batches broadcast.
bool FactoredOf(OpCall& call, const DtBuffer& x, const DtBuffer& y, bool upper, Factored& f) {
  if (y.rank < 2 || y.dims[y.rank - 1] != y.dims[y.rank - 2])
    return call.Fail("'%s' is no batch of square matrices", y.name), false;
  const int64_t n = y.dims[y.rank - 1];
  if (x.rank < 2 || x.dims[x.rank - 2] != n)
    return call.Fail("'%s' has not the rows of '%s'", x.name, y.name), false;
  f.x = AxisMap(OpCall::Dims(x)), f.y = AxisMap(OpCall::Dims(y));
  std::vector<int64_t> batch(x.dims, x.dims + x.rank - 2);
  const auto rank = static_cast<size_t>(y.rank - 2);
  if (rank > batch.size()) batch.insert(batch.begin(), rank - batch.size(), 1);
  for (size_t d = 0; d < rank; ++d)
    if (int64_t& extent = batch[batch.size() - rank + d]; extent == 1) extent = y.dims[d];
  f.out = batch;
  f.out.insert(f.out.end(), {n, x.dims[x.rank - 1]});
  std::vector<int64_t> squares = batch;
  squares.insert(squares.end(), {n, n});
  if (!BroadcastTo(call, x.name, f.out, f.x) || !BroadcastTo(call, y.name, squares, f.y))
    return false;
  f.systems = {1, n, x.dims[x.rank - 1], true, upper, false, false};
  for (int64_t extent : batch) f.systems.batch *= extent;
  return true;
}

// A tensor broadcast by a map.
template <typename T>
bool Spread(OpCall& call, const AxisMap& map, const DtBuffer& x, std::vector<T>& to) {
  int64_t count = 1;
  for (int64_t extent : map.Extents()) count *= extent;
  to.resize(static_cast<size_t>(count));
  return GatherMapped(call, map, x.data, to.data(), sizeof(T), nullptr) == 0;
}

// L Lᵀ z = z, or Uᵀ U z = z, per matrix and in place.
template <typename T>
void SolveFactored(const Systems& s, const T* y, T* z) {
  for (int64_t m = 0; m < s.batch; ++m) {
    Substitute(s, y + m * s.n * s.n, s.upper, z + m * s.n * s.columns);
    Substitute(s, y + m * s.n * s.n, !s.upper, z + m * s.n * s.columns);
  }
}

// −(C L), or −(U C), of one matrix, with C = dX Outᵀ + Out dXᵀ, of which the triangle that Y has
// counts. Elements of Y outside of it count where `whole`, as in the framework
// (docs/operators/defects.md).
template <typename T>
void FactorGradient(const Systems& s, const T* y, const T* dx, const T* out, bool whole, T* dy) {
  std::vector<T> c(static_cast<size_t>(s.n * s.n));
  for (int64_t i = 0; i < s.n; ++i)
    for (int64_t j = 0; j < s.n; ++j)
      for (int64_t k = 0; k < s.columns; ++k)
        c[static_cast<size_t>(i * s.n + j)] += dx[i * s.columns + k] * out[j * s.columns + k] +
                                               out[i * s.columns + k] * dx[j * s.columns + k];
  auto factor = [&](int64_t i, int64_t j) {
    return whole || (s.upper ? i <= j : i >= j) ? y[i * s.n + j] : T{0};
  };
  for (int64_t i = 0; i < s.n; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < s.n && (s.upper ? i <= j : i >= j); ++k)
        sum -= s.upper ? factor(i, k) * c[static_cast<size_t>(k * s.n + j)]
                       : c[static_cast<size_t>(i * s.n + k)] * factor(k, j);
      dy[i * s.n + j] = sum;
    }
}

// The sum over what a map repeats, to a gradient.
template <typename T>
int32_t SumBack(OpCall& call, const AxisMap& map, const DtBuffer& like, const std::vector<T>& from,
                DtBuffer& to) {
  if (!call.Resize(to, like)) return 1;
  std::fill_n(Data<T>(to), Elements(to), T{0});
  return AddMapped(call, map, to, from.data(), to.data);
}

}  // namespace

// X, Y; upper -> Out
int32_t CholeskySolve(OpCall& call) {
  using A = args::dt_cholesky_solve;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  Factored f;
  if (!FactoredOf(call, x, y, call.Bool(A::upper), f) || !call.Resize(out, f.out)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    std::vector<T> factors, z;
    if (!Spread(call, f.y, y, factors) || !Spread(call, f.x, x, z)) return 1;
    SolveFactored(f.systems, factors.data(), z.data());
    std::copy(z.begin(), z.end(), Data<T>(out));
    return 0;
  });
}

// X, Y, Out, Out@GRAD; upper -> X@GRAD, Y@GRAD
int32_t CholeskySolveGrad(OpCall& call) {
  using A = args::dt_cholesky_solve_grad;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &out = call.Arg(A::Out),
                 &gradient = call.Arg(A::Out_GRAD);
  Factored f;
  if (!FactoredOf(call, x, y, call.Bool(A::upper), f)) return 1;
  for (const DtBuffer* one : {&out, &gradient})
    if (OpCall::Dims(*one) != absl::MakeConstSpan(f.out))
      return call.Fail("'%s' has not the extents of the solution", one->name);
  return VisitFloat(call.context(), x, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const Systems& s = f.systems;
    std::vector<T> factors, dx(Data<T>(gradient), Data<T>(gradient) + Elements(gradient));
    if (!Spread(call, f.y, y, factors)) return 1;
    SolveFactored(s, factors.data(), dx.data());
    if (call.Has(A::X_GRAD) && SumBack(call, f.x, x, dx, call.Arg(A::X_GRAD)) != 0) return 1;
    if (!call.Has(A::Y_GRAD)) return 0;
    std::vector<T> dy(factors.size());
    for (int64_t m = 0; m < s.batch; ++m) {
      const int64_t square = m * s.n * s.n, at = m * s.n * s.columns;
      FactorGradient(s, factors.data() + square, dx.data() + at, Data<const T>(out) + at,
                     call.Bool(A::defects), dy.data() + square);
    }
    return SumBack(call, f.y, y, dy, call.Arg(A::Y_GRAD));
  });
}

}  // namespace dtranspile::kernels

// Linear systems, one per matrix of a batch: solve (by LU with row exchanges; Golub, Van Loan:
// Matrix Computations, 3.4) and triangular_solve (by substitution), with their gradients. With Z
// the solution of op(X) Z = Y: dY is the solution of op(X)ᵀ dY = dZ, and dX = -dY Zᵀ (its transpose
// where op transposes), of which a triangle counts where X is one (phi solve_grad,
// triangular_solve_grad).
#include <cmath>
#include <utility>
#include <vector>

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

}  // namespace dtranspile::kernels

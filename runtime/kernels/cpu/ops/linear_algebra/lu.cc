// X = P·L·U with row exchanges (Golub, Van Loan 3.4): lu keeps both factors in one matrix and says
// which row each column was exchanged with, from 1 on; lu_unpack takes them apart. In float64.
// Gradients: with L1, U1 the square parts and Φ = tril(L1ᵀ·dLU, −1) + triu(dLU·U1ᵀ), as in phi
// lu_grad_kernel. Rows: runtime/kernels/signatures/linear_algebra.calls.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"
#include "runtime/kernels/cpu/ops/linear_algebra/table.h"

namespace dtranspile::kernels {
namespace {

struct Shape {
  int64_t batch = 1, m = 0, n = 0, k = 0;
};
Shape ShapeOf(const DtBuffer& x) {
  const int64_t m = x.dims[x.rank - 2], n = x.dims[x.rank - 1];
  return {Elements(x, 0, x.rank - 2), m, n, std::min(m, n)};
}

// In place. A column without a pivot is left as it is; its number, from 1 on, is the answer, 0
// where there is none.
int32_t Factorise(Table& a, int32_t* exchanges) {
  int32_t bad = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i)
      if (std::fabs(a(i, k)) > std::fabs(a(pivot, k))) pivot = i;
    exchanges[k] = static_cast<int32_t>(pivot + 1);
    if (a(pivot, k) == 0) {
      if (bad == 0) bad = static_cast<int32_t>(k + 1);
      continue;
    }
    for (int64_t j = 0; pivot != k && j < a.columns; ++j) std::swap(a(k, j), a(pivot, j));
    for (int64_t i = k + 1; i < a.rows; ++i) {
      const double factor = a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return bad;
}

// Row i of L·U is this row of X. False, with a message, where an exchange names no row.
bool OrderOf(OpCall& call, const DtBuffer& pivots, const Shape& s, int64_t matrix,
             std::vector<int64_t>& order) {
  order.resize(static_cast<size_t>(s.m));
  for (int64_t i = 0; i < s.m; ++i) order[static_cast<size_t>(i)] = i;
  for (int64_t j = 0; j < s.k; ++j) {
    const int64_t with = Data<int32_t>(pivots)[matrix * s.k + j];
    if (with < 1 || with > s.m)
      return call.Fail("'%s' has %lld, which is none of the rows 1 to %lld", pivots.name,
                       static_cast<long long>(with), static_cast<long long>(s.m)),
             false;
    std::swap(order[static_cast<size_t>(j)], order[static_cast<size_t>(with - 1)]);
  }
  return true;
}

bool FitPivots(OpCall& call, const DtBuffer& pivots, const Shape& s) {
  return Elements(pivots) == s.batch * s.k ||
         (call.Fail("'%s' has not one exchange for each column", pivots.name), false);
}

// The parts of a matrix below and above its diagonal.
void KeepLower(Table& a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i; j < a.columns; ++j) a(i, j) = 0;
}
void KeepUpper(Table& a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < std::min(i, a.columns); ++j) a(i, j) = 0;
}

// Rows [top, bottom) and columns [left, right).
Table Cut(const Table& a, int64_t top, int64_t bottom, int64_t left, int64_t right) {
  Table cut(bottom - top, right - left);
  for (int64_t i = 0; i < cut.rows; ++i)
    for (int64_t j = 0; j < cut.columns; ++j) cut(i, j) = a(top + i, left + j);
  return cut;
}

// b := L⁻ᵀ·b, of the unit triangle below the diagonal of lu.
void SolveLowerTransposed(const Table& lu, Table& b) {
  const int64_t k = std::min(lu.rows, lu.columns);
  for (int64_t i = k; i-- > 0;)
    for (int64_t r = i + 1; r < k; ++r)
      for (int64_t j = 0; j < b.columns; ++j) b(i, j) -= lu(r, i) * b(r, j);
}
// b := b·U⁻ᵀ, of the triangle above it: columns from the last on.
void SolveUpperTransposed(const Table& lu, Table& b) {
  const int64_t k = std::min(lu.rows, lu.columns);
  for (int64_t j = k; j-- > 0;)
    for (int64_t i = 0; i < b.rows; ++i) {
      for (int64_t r = j + 1; r < k; ++r) b(i, j) -= b(i, r) * lu(j, r);
      b(i, j) /= lu(j, j);
    }
}

// dX without the exchanges of rows.
Table Gradient(const Table& lu, const Table& d) {
  const int64_t m = lu.rows, n = lu.columns, k = std::min(m, n);
  Table l = Cut(lu, 0, k, 0, k), u = l;
  KeepLower(l);
  for (int64_t i = 0; i < k; ++i) l(i, i) = 1;
  KeepUpper(u);
  const Table square = Cut(d, 0, k, 0, k);
  Table phi = Product(Transposed(l), square), upper = Product(square, Transposed(u));
  KeepLower(phi);
  KeepUpper(upper);
  Add(phi, upper);
  Table psi = d;
  if (m <= n) {
    if (k < n) {
      Table rest = Product(Cut(d, 0, k, k, n), Transposed(Cut(lu, 0, k, k, n)));
      KeepLower(rest);
      Add(phi, rest, -1);
    }
    SolveUpperTransposed(lu, phi);
  } else {
    Table rest = Product(Transposed(Cut(lu, k, m, 0, k)), Cut(d, k, m, 0, k));
    KeepUpper(rest);
    Add(phi, rest, -1);
    SolveLowerTransposed(lu, phi);
  }
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < k; ++j) psi(i, j) = phi(i, j);
  if (m <= n) SolveLowerTransposed(lu, psi);
  else SolveUpperTransposed(lu, psi);
  return psi;
}

}  // namespace

// X -> Out, Pivots, Infos (0, or the number of the first column without a pivot)
int32_t Lu(OpCall& call) {
  using A = args::dt_lu;
  const DtBuffer& x = call.Arg(A::X);
  const Shape s = ShapeOf(x);
  std::vector<int64_t> dims(x.dims, x.dims + x.rank - 2);
  if (call.Has(A::Infos) &&
      !call.Resize(call.Arg(A::Infos), dims.empty() ? std::vector<int64_t>{1} : dims))
    return 1;
  dims.push_back(s.k);
  if ((call.Has(A::Out) && !call.Resize(call.Arg(A::Out), x)) ||
      (call.Has(A::Pivots) && !call.Resize(call.Arg(A::Pivots), dims)))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<int32_t> exchanges(static_cast<size_t>(s.k));
    for (int64_t b = 0; b < s.batch; ++b) {
      Table lu = Read<T>(x, b, s.m, s.n);
      const int32_t bad = Factorise(lu, exchanges.data());
      if (call.Has(A::Out)) Write<T>(lu, b, call.Arg(A::Out));
      if (call.Has(A::Pivots))
        std::copy(exchanges.begin(), exchanges.end(), Data<int32_t>(call.Arg(A::Pivots)) + b * s.k);
      if (call.Has(A::Infos)) Data<int32_t>(call.Arg(A::Infos))[b] = bad;
    }
    return 0;
  });
}

// X, Out, Pivots, Out@GRAD -> X@GRAD
int32_t LuGrad(OpCall& call) {
  using A = args::dt_lu_grad;
  const DtBuffer &out = call.Arg(A::Out), &pivots = call.Arg(A::Pivots),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const Shape s = ShapeOf(out);
  if (!SameShape(gradient, out))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, out.name);
  if (!FitPivots(call, pivots, s) || !call.Resize(dx, out)) return 1;
  return VisitFloat(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<int64_t> order;
    for (int64_t b = 0; b < s.batch; ++b) {
      if (!OrderOf(call, pivots, s, b, order)) return 1;
      const Table d = Gradient(Read<T>(out, b, s.m, s.n), Read<T>(gradient, b, s.m, s.n));
      for (int64_t i = 0; i < s.m; ++i)
        for (int64_t j = 0; j < s.n; ++j)
          Data<T>(dx)[(b * s.m + order[static_cast<size_t>(i)]) * s.n + j] =
              static_cast<T>(d(i, j));
    }
    return 0;
  });
}

// X, Pivots; unpack_ludata, unpack_pivots -> Pmat, L, U
int32_t LuUnpack(OpCall& call) {
  using A = args::dt_lu_unpack;
  const DtBuffer &x = call.Arg(A::X), &pivots = call.Arg(A::Pivots);
  const Shape s = ShapeOf(x);
  if (!FitPivots(call, pivots, s)) return 1;
  const bool data = call.Bool(A::unpack_ludata), exchanges = call.Bool(A::unpack_pivots);
  auto sized = [&](int slot, bool asked, int64_t rows, int64_t columns) {
    return !call.Has(slot) ||
           call.Resize(call.Arg(slot), asked ? Dims(x, {rows, columns}) : std::vector<int64_t>{0});
  };
  if (!sized(A::Pmat, exchanges, s.m, s.m) || !sized(A::L, data, s.m, s.k) ||
      !sized(A::U, data, s.k, s.n))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<int64_t> order;
    for (int64_t b = 0; b < s.batch; ++b) {
      const Table lu = Read<T>(x, b, s.m, s.n);
      if (data && call.Has(A::L)) {
        Table l = Cut(lu, 0, s.m, 0, s.k);
        KeepLower(l);
        for (int64_t i = 0; i < s.k; ++i) l(i, i) = 1;
        Write<T>(l, b, call.Arg(A::L));
      }
      if (data && call.Has(A::U)) {
        Table u = Cut(lu, 0, s.k, 0, s.n);
        KeepUpper(u);
        Write<T>(u, b, call.Arg(A::U));
      }
      if (!exchanges || !call.Has(A::Pmat)) continue;
      if (!OrderOf(call, pivots, s, b, order)) return 1;
      Table p(s.m, s.m);
      for (int64_t i = 0; i < s.m; ++i) p(order[static_cast<size_t>(i)], i) = 1;
      Write<T>(p, b, call.Arg(A::Pmat));
    }
    return 0;
  });
}

// X, Pivots, L, U, Pmat, L@GRAD, U@GRAD -> X@GRAD: the triangles, side by side
int32_t LuUnpackGrad(OpCall& call) {
  using A = args::dt_lu_unpack_grad;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  const Shape s = ShapeOf(x);
  const bool lower = call.Has(A::L_GRAD), upper = call.Has(A::U_GRAD);
  if ((lower && OpCall::Dims(call.Arg(A::L_GRAD)) != absl::MakeConstSpan(Dims(x, {s.m, s.k}))) ||
      (upper && OpCall::Dims(call.Arg(A::U_GRAD)) != absl::MakeConstSpan(Dims(x, {s.k, s.n}))))
    return call.Fail("gradients of L and U have not the extents of the factors of '%s'", x.name);
  if (!call.Resize(dx, x)) return 1;
  return VisitFloat(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t b = 0; b < s.batch; ++b) {
      Table d(s.m, s.n);
      if (lower) {
        const Table l = Read<T>(call.Arg(A::L_GRAD), b, s.m, s.k);
        for (int64_t i = 0; i < s.m; ++i)
          for (int64_t j = 0; j < std::min(i, s.k); ++j) d(i, j) = l(i, j);
      }
      if (upper) {
        const Table u = Read<T>(call.Arg(A::U_GRAD), b, s.k, s.n);
        for (int64_t i = 0; i < s.k; ++i)
          for (int64_t j = i; j < s.n; ++j) d(i, j) = u(i, j);
      }
      Write<T>(d, b, dx);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels

// qr: X = Q R by reflections (Golub, Van Loan: Matrix Computations, 5.2), in double whatever the
// element type is, and its gradients (Walter, Lehmann: "Algorithmic differentiation of linear
// algebra functions", 2012; phi qr_grad). A column that is zero below the diagonal is left as it
// is, any other gets a diagonal element of the other sign than its own: as the framework's library
// does, which determines Q and R.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"
#include "runtime/kernels/cpu/ops/linear_algebra/square.h"
#include "runtime/kernels/cpu/ops/linear_algebra/table.h"

namespace dtranspile::kernels {
namespace {

// Applies I − 2 v vᵀ / (vᵀ v), v from row `first` on, to columns [from, …) of `a`.
void Reflect(Table& a, const std::vector<double>& v, int64_t first, int64_t from) {
  double square = 0;
  for (double value : v) square += value * value;
  for (int64_t j = from; j < a.columns; ++j) {
    double product = 0;
    for (size_t i = 0; i < v.size(); ++i) product += v[i] * a(first + static_cast<int64_t>(i), j);
    for (size_t i = 0; i < v.size(); ++i)
      a(first + static_cast<int64_t>(i), j) -= 2 * product / square * v[i];
  }
}

// a becomes R, of as many rows as it has; `q` the first columns of Q, as many as it comes with.
void Decompose(Table& a, Table& q) {
  const int64_t steps = std::min(a.rows, a.columns);
  std::vector<std::vector<double>> reflections(static_cast<size_t>(steps));
  for (int64_t k = 0; k < steps; ++k) {
    std::vector<double> v(static_cast<size_t>(a.rows - k));
    double below = 0;
    for (int64_t i = k; i < a.rows; ++i) {
      v[static_cast<size_t>(i - k)] = a(i, k);
      if (i > k) below += a(i, k) * a(i, k);
    }
    if (below == 0) continue;
    const double diagonal = std::copysign(std::sqrt(v[0] * v[0] + below), -v[0]);
    v[0] -= diagonal;
    Reflect(a, v, k, k + 1);
    a(k, k) = diagonal;
    reflections[static_cast<size_t>(k)] = std::move(v);
  }
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < std::min(i, a.columns); ++j) a(i, j) = 0;
  for (int64_t i = 0; i < std::min(q.rows, q.columns); ++i) q(i, i) = 1;
  for (int64_t k = steps; k-- > 0;)
    if (!reflections[static_cast<size_t>(k)].empty())
      Reflect(q, reflections[static_cast<size_t>(k)], k, 0);
}

enum class Mode { kReduced, kComplete, kTriangle };

bool ModeOf(OpCall& call, int attribute, Mode& mode) {
  const std::string_view name = call.Text(attribute);
  if (name == "reduced") mode = Mode::kReduced;
  else if (name == "complete") mode = Mode::kComplete;
  else if (name == "r") mode = Mode::kTriangle;
  else
    return call.Fail("mode '%.*s' is not known", static_cast<int>(name.size()), name.data()), false;
  return true;
}

// Columns [from, from + count).
Table ColumnsOf(const Table& a, int64_t from, int64_t count) {
  Table t(a.rows, count);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < count; ++j) t(i, j) = a(i, from + j);
  return t;
}

// b R⁻ᵀ of an upper triangle R: columns from the last one on.
Table SolvedRight(Table b, const Table& r) {
  for (int64_t j = r.columns; j-- > 0;)
    for (int64_t i = 0; i < b.rows; ++i) {
      for (int64_t k = j + 1; k < r.columns; ++k) b(i, j) -= b(i, k) * r(j, k);
      b(i, j) /= r(j, j);
    }
  return b;
}

// The gradient of a matrix of at least as many rows as columns: with M = R dRᵀ − dQᵀ Q, of which
// the lower triangle is taken for both, (dQ + Q M) R⁻ᵀ.
Table TallGradient(const Table& q, const Table& r, const Table& dq, const Table& dr) {
  Table m = Product(r, Transposed(dr));
  Add(m, Product(Transposed(dq), q), -1);
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = i + 1; j < m.columns; ++j) m(i, j) = m(j, i);
  Table sum = dq;
  Add(sum, Product(q, m));
  return SolvedRight(std::move(sum), r);
}

// Of a wide matrix [U, V], V = Q R_V: what V's gradient Q dR_V leaves for Q, then U as above.
Table WideGradient(const Table& v, const Table& q, const Table& r, Table dq, const Table& dr) {
  const int64_t rows = q.rows, wide = r.columns - rows;
  const Table dr_v = ColumnsOf(dr, rows, wide), dv = Product(q, dr_v);
  Add(dq, Product(v, Transposed(dr_v)));
  const Table du = TallGradient(q, ColumnsOf(r, 0, rows), dq, ColumnsOf(dr, 0, rows));
  Table dx(rows, r.columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < r.columns; ++j) dx(i, j) = j < rows ? du(i, j) : dv(i, j - rows);
  return dx;
}

}  // namespace

// X [..., m, n]; mode -> Q [..., m, k], R [..., k, n], k the less of m and n, or m where
// `complete`; Q is empty in mode `r`
int32_t Qr(OpCall& call) {
  using A = args::dt_qr;
  const DtBuffer& x = call.Arg(A::X);
  Mode mode;
  if (!ModeOf(call, A::mode, mode) || !MatricesOf(call, x)) return 1;
  const int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
  const int64_t k = mode == Mode::kComplete ? rows : std::min(rows, columns);
  if (call.Has(A::Q) &&
      !call.Resize(call.Arg(A::Q),
                   mode == Mode::kTriangle ? std::vector<int64_t>{0} : Dims(x, {rows, k})))
    return 1;
  if (call.Has(A::R) && !call.Resize(call.Arg(A::R), Dims(x, {k, columns}))) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, {Elements(x, 0, x.rank - 2), std::max(rows, columns)}, [&](int64_t m) {
      const bool wanted = call.Has(A::Q) && mode != Mode::kTriangle;
      Table a = Read<T>(x, m, rows, columns), q(rows, wanted ? k : 0);
      Decompose(a, q);
      if (wanted) Write<T>(q, m, call.Arg(A::Q));
      if (!call.Has(A::R)) return true;
      Table r(k, columns);
      std::copy_n(a.values.begin(), r.values.size(), r.values.begin());
      Write<T>(r, m, call.Arg(A::R));
      return true;
    });
    return 0;
  });
}

// X, Q, R, Q@GRAD, R@GRAD; mode -> X@GRAD
int32_t QrGrad(OpCall& call) {
  using A = args::dt_qr_grad;
  const DtBuffer &x = call.Arg(A::X), &q = call.Arg(A::Q), &r = call.Arg(A::R);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Mode mode;
  if (!ModeOf(call, A::mode, mode) || !MatricesOf(call, x)) return 1;
  const int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
  const int64_t k = std::min(rows, columns);
  if (mode == Mode::kTriangle || (mode == Mode::kComplete && rows > columns))
    return call.Fail("there is no gradient of '%s' in this mode", x.name);
  const std::vector<int64_t> q_dims = Dims(x, {rows, k}), r_dims = Dims(x, {k, columns});
  for (const auto& [slot, dims] : {std::pair{int{A::Q}, &q_dims},
                                   {int{A::Q_GRAD}, &q_dims},
                                   {int{A::R}, &r_dims},
                                   {int{A::R_GRAD}, &r_dims}})
    if (call.Has(slot) && OpCall::Dims(call.Arg(slot)) != absl::MakeConstSpan(*dims))
      return call.Fail("'%s' does not fit '%s'", call.Arg(slot).name, x.name);
  if (!call.Resize(dx, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, {Elements(x, 0, x.rank - 2), std::max(rows, columns)}, [&](int64_t m) {
      const Table left = Read<T>(q, m, rows, k), right = Read<T>(r, m, k, columns);
      Table dq(rows, k), dr(k, columns);
      if (call.Has(A::Q_GRAD)) dq = Read<T>(call.Arg(A::Q_GRAD), m, rows, k);
      if (call.Has(A::R_GRAD)) dr = Read<T>(call.Arg(A::R_GRAD), m, k, columns);
      if (rows >= columns) return Write<T>(TallGradient(left, right, dq, dr), m, dx), true;
      const Table v = ColumnsOf(Read<T>(x, m, rows, columns), rows, columns - rows);
      return Write<T>(WideGradient(v, left, right, std::move(dq), dr), m, dx), true;
    });
    return 0;
  });
}

}  // namespace dtranspile::kernels

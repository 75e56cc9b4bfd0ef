// Eigenvalues and singular values with their vectors, by rotations (Golub, Van Loan: Matrix
// Computations, 8.5 and 8.6.3), in double whatever the element type is, and their gradients (Giles,
// "An extended collection of matrix derivative results", 2008, 3.1 and 3.3). A vector is determined
// up to its sign: where the framework's library gives its negative, so do its gradients.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "runtime/kernels/cpu/axis_map.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"
#include "runtime/kernels/cpu/ops/linear_algebra/square.h"
#include "runtime/kernels/cpu/ops/linear_algebra/table.h"

namespace dtranspile::kernels {
namespace {

constexpr int kSweeps = 60;
constexpr double kEpsilon = 1e-16;

// Columns p and q of `a` turned.
void Turn(Table& a, int64_t p, int64_t q, double cosine, double sine) {
  for (int64_t i = 0; i < a.rows; ++i) {
    const double left = a(i, p), right = a(i, q);
    a(i, p) = cosine * left - sine * right;
    a(i, q) = sine * left + cosine * right;
  }
}

// Cosine and sine of the turn after which columns of squares `pp` and `qq` and product `pq` are
// orthogonal.
void Rotation(double pp, double qq, double pq, double& cosine, double& sine) {
  const double zeta = (qq - pp) / (2 * pq);
  const double tangent = (zeta >= 0 ? 1 : -1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
  cosine = 1 / std::sqrt(1 + tangent * tangent);
  sine = cosine * tangent;
}

// Numbers 0 … n-1 in the order in which `values` ascend.
std::vector<int64_t> Ascending(const std::vector<double>& values) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const double one = values[static_cast<size_t>(a)], other = values[static_cast<size_t>(b)];
    return one != other ? one < other : a < b;
  });
  return order;
}

Table Columns(const Table& a, const std::vector<int64_t>& order) {
  Table t(a.rows, static_cast<int64_t>(order.size()));
  for (int64_t i = 0; i < t.rows; ++i)
    for (int64_t j = 0; j < t.columns; ++j) t(i, j) = a(i, order[static_cast<size_t>(j)]);
  return t;
}

// Cyclic Jacobi: a = V diag(values) Vᵀ, ascending.
void Symmetric(Table a, std::vector<double>& values, Table& vectors) {
  const int64_t n = a.rows;
  Table v = Unit(n);
  double size = 0;
  for (double x : a.values) size += x * x;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double off = 0;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        off += a(p, q) * a(p, q);
        if (a(p, q) == 0) continue;
        double cosine = 1, sine = 0;
        Rotation(a(p, p), a(q, q), a(p, q), cosine, sine);
        Turn(a, p, q, cosine, sine);
        a = Transposed(a);
        Turn(a, p, q, cosine, sine);
        a = Transposed(a);
        Turn(v, p, q, cosine, sine);
      }
    if (!(off > kEpsilon * kEpsilon * size)) break;
  }
  values.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = a(i, i);
  const std::vector<int64_t> order = Ascending(values);
  vectors = Columns(v, order);
  std::sort(values.begin(), values.end());
}

// Unit vectors orthogonal to the first `have` columns, in the columns behind them: what is left of
// the first unit vector that is long enough, projected twice.
void Complete(Table& a, int64_t have) {
  for (int64_t c = have; c < a.columns; ++c) {
    for (int64_t e = 0; e < a.rows; ++e) {
      std::vector<double> x(static_cast<size_t>(a.rows), 0.0);
      x[static_cast<size_t>(e)] = 1;
      for (int turn = 0; turn < 2; ++turn)
        for (int64_t j = 0; j < c; ++j) {
          double product = 0;
          for (int64_t i = 0; i < a.rows; ++i) product += a(i, j) * x[static_cast<size_t>(i)];
          for (int64_t i = 0; i < a.rows; ++i) x[static_cast<size_t>(i)] -= product * a(i, j);
        }
      double square = 0;
      for (double value : x) square += value * value;
      if (square * 2 * static_cast<double>(a.rows) < 1) continue;
      for (int64_t i = 0; i < a.rows; ++i) a(i, c) = x[static_cast<size_t>(i)] / std::sqrt(square);
      break;
    }
  }
}

// One-sided Jacobi of a matrix of at least as many rows as columns: a = left diag(values) rightᵀ,
// descending. `left` has as many columns as it comes with.
void Singular(Table a, std::vector<double>& values, Table& left, Table& right) {
  const int64_t n = a.columns;
  Table v = Unit(n);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    bool turned = false;
    for (int64_t p = 0; p < n; ++p)
      for (int64_t q = p + 1; q < n; ++q) {
        double pp = 0, qq = 0, pq = 0;
        for (int64_t i = 0; i < a.rows; ++i) {
          pp += a(i, p) * a(i, p);
          qq += a(i, q) * a(i, q);
          pq += a(i, p) * a(i, q);
        }
        if (!(std::fabs(pq) > kEpsilon * std::sqrt(pp * qq))) continue;
        turned = true;
        double cosine = 1, sine = 0;
        Rotation(pp, qq, pq, cosine, sine);
        Turn(a, p, q, cosine, sine);
        Turn(v, p, q, cosine, sine);
      }
    if (!turned) break;
  }
  values.assign(static_cast<size_t>(n), 0.0);
  for (int64_t j = 0; j < n; ++j) {
    double square = 0;
    for (int64_t i = 0; i < a.rows; ++i) square += a(i, j) * a(i, j);
    values[static_cast<size_t>(j)] = std::sqrt(square);
  }
  std::vector<int64_t> order = Ascending(values);
  std::reverse(order.begin(), order.end());
  a = Columns(a, order);
  right = Columns(v, order);
  std::sort(values.rbegin(), values.rend());
  int64_t have = 0;  // columns that are not 0 but for rounding
  while (have < n && values[static_cast<size_t>(have)] > kEpsilon * values[0]) ++have;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < have; ++j) left(i, j) = a(i, j) / values[static_cast<size_t>(j)];
  Complete(left, have);
}

}  // namespace

// X; UPLO -> Eigenvalues, Eigenvectors: of the symmetric matrix whose one triangle is read
int32_t Eigh(OpCall& call) {
  using A = args::dt_eigh;
  const DtBuffer& x = call.Arg(A::X);
  Square s;
  if (!SquareOf(call, x, s)) return 1;
  const bool upper = call.Text(A::UPLO) == "U";
  if (!upper && call.Text(A::UPLO) != "L") return call.Fail("UPLO is neither L nor U");
  if (call.Has(A::Eigenvalues) && !call.Resize(call.Arg(A::Eigenvalues), Dims(x, {s.n}))) return 1;
  if (call.Has(A::Eigenvectors) && !call.Resize(call.Arg(A::Eigenvectors), x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, s, [&](int64_t m) {
      Table a = Read<T>(x, m, s.n, s.n), vectors;
      for (int64_t i = 0; i < s.n; ++i)
        for (int64_t j = 0; j < i; ++j) (upper ? a(i, j) : a(j, i)) = upper ? a(j, i) : a(i, j);
      std::vector<double> values;
      Symmetric(std::move(a), values, vectors);
      if (call.Has(A::Eigenvalues))
        for (int64_t i = 0; i < s.n; ++i)
          Data<T>(call.Arg(A::Eigenvalues))[m * s.n + i] =
              static_cast<T>(values[static_cast<size_t>(i)]);
      if (call.Has(A::Eigenvectors)) Write<T>(vectors, m, call.Arg(A::Eigenvectors));
      return true;
    });
    return 0;
  });
}

// Eigenvalues, Eigenvectors, Eigenvalues@GRAD, Eigenvectors@GRAD -> X@GRAD:
// V (diag(dW) + half the skew part of VᵀdV, divided by differences of eigenvalues) Vᵀ. In the
// framework dW is that of the first matrix for all of a batch.
int32_t EighGrad(OpCall& call) {
  using A = args::dt_eigh_grad;
  const DtBuffer& vectors = call.Arg(A::Eigenvectors);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Square s;
  if (!SquareOf(call, vectors, s) || !call.Resize(dx, vectors)) return 1;
  const bool of_vectors = call.Has(A::Eigenvectors_GRAD);
  const bool of_first = call.Given(A::defects) && call.Bool(A::defects);
  if (of_vectors && !call.Has(A::Eigenvalues))
    return call.Fail("a gradient of eigenvectors without eigenvalues");
  if (of_vectors && !SameShape(call.Arg(A::Eigenvectors_GRAD), vectors))
    return call.Fail("'%s' has not the extents of '%s'", call.Arg(A::Eigenvectors_GRAD).name,
                     vectors.name);
  for (int argument : {int{A::Eigenvalues}, int{A::Eigenvalues_GRAD}})
    if (call.Has(argument) && Elements(call.Arg(argument)) != s.batch * s.n)
      return call.Fail("'%s' has not one element per eigenvector", call.Arg(argument).name);
  if (call.Has(A::Eigenvalues) && call.Arg(A::Eigenvalues).dtype != vectors.dtype)
    return call.Fail("'%s' has another element type than '%s'", call.Arg(A::Eigenvalues).name,
                     vectors.name);
  return VisitFloat(call.context(), vectors, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, s, [&](int64_t m) {
      const Table v = Read<T>(vectors, m, s.n, s.n), t = Transposed(v);
      Table inner(s.n, s.n);
      if (of_vectors) {
        const Table product = Product(t, Read<T>(call.Arg(A::Eigenvectors_GRAD), m, s.n, s.n));
        const T* w = Data<T>(call.Arg(A::Eigenvalues)) + m * s.n;
        for (int64_t i = 0; i < s.n; ++i)
          for (int64_t j = 0; j < s.n; ++j)
            if (i != j)
              inner(i, j) =
                  0.5 * (product(i, j) - product(j, i)) / static_cast<double>(w[j] - w[i]);
      }
      if (call.Has(A::Eigenvalues_GRAD))
        for (int64_t i = 0; i < s.n; ++i)
          inner(i, i) = static_cast<double>(
              Data<T>(call.Arg(A::Eigenvalues_GRAD))[(of_first ? 0 : m * s.n) + i]);
      Write<T>(Product(v, Product(inner, t)), m, dx);
      return true;
    });
    return 0;
  });
}

// Eigenvectors, Eigenvalues@GRAD -> X@GRAD: (V with its columns times dW) Vᵀ. The framework repeats
// the gradients of all matrices of the batch, one after the other, over the elements of all V.
int32_t EigvalshGrad(OpCall& call) {
  using A = args::dt_eigvalsh_grad;
  const DtBuffer &vectors = call.Arg(A::Eigenvectors), &gradient = call.Arg(A::Eigenvalues_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Square s;
  if (!SquareOf(call, vectors, s) || !call.Resize(dx, vectors)) return 1;
  if (Elements(gradient) != s.batch * s.n)
    return call.Fail("'%s' has not one element per eigenvector", gradient.name);
  const bool defects = call.Bool(A::defects);
  return VisitFloat(call.context(), vectors, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, s, [&](int64_t m) {
      const Table v = Read<T>(vectors, m, s.n, s.n);
      Table scaled = v;
      for (int64_t i = 0; i < s.n; ++i)
        for (int64_t j = 0; j < s.n; ++j) {
          const int64_t at = defects ? ((m * s.n + i) * s.n + j) % (s.batch * s.n) : m * s.n + j;
          scaled(i, j) *= static_cast<double>(Data<T>(gradient)[at]);
        }
      Write<T>(Product(scaled, Transposed(v)), m, dx);
      return true;
    });
    return 0;
  });
}

// X [..., m, n]; full_matrices -> U [..., m, k or m], S [..., k], VH [..., k or n, n], k the less
// of m and n
int32_t Svd(OpCall& call) {
  using A = args::dt_svd;
  const DtBuffer& x = call.Arg(A::X);
  if (!MatricesOf(call, x)) return 1;
  const int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
  const int64_t least = std::min(rows, columns), most = std::max(rows, columns);
  const int64_t wide = call.Bool(A::full_matrices) ? most : least;
  const bool flat = rows < columns;  // decomposed as its transpose
  if (call.Has(A::U) && !call.Resize(call.Arg(A::U), Dims(x, {rows, flat ? least : wide})))
    return 1;
  if (call.Has(A::S) && !call.Resize(call.Arg(A::S), Dims(x, {least}))) return 1;
  if (call.Has(A::VH) && !call.Resize(call.Arg(A::VH), Dims(x, {flat ? wide : least, columns})))
    return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, {Elements(x, 0, x.rank - 2), most}, [&](int64_t m) {
      Table a = Read<T>(x, m, rows, columns), left(most, wide), right;
      std::vector<double> values;
      Singular(flat ? Transposed(a) : std::move(a), values, left, right);
      if (call.Has(A::U)) Write<T>(flat ? right : left, m, call.Arg(A::U));
      if (call.Has(A::VH)) Write<T>(Transposed(flat ? left : right), m, call.Arg(A::VH));
      if (call.Has(A::S))
        for (int64_t i = 0; i < least; ++i)
          Data<T>(call.Arg(A::S))[m * least + i] = static_cast<T>(values[static_cast<size_t>(i)]);
      return true;
    });
    return 0;
  });
}

namespace {

// Half of what the gradient of one side's vectors adds: of columns `q` (U, or V) with gradient
// `dq`, [(qᵀdq − dqᵀq) / (s_j² − s_i²)] between them, and what leaves their space.
struct Side {
  Table inner, outside;
};
// One of the two sides of the gradient of a singular value decomposition: F ∘ (qᵀdq − dqᵀq) with
// F_ij = 1/(s_j² − s_i²), and the part of dq outside of the span of q over s. Equal singular values
// have no gradient.
Side SideOf(const Table& q, const Table& dq, const std::vector<double>& s) {
  const int64_t k = q.columns;
  const Table product = Product(Transposed(q), dq);
  Side side{Table(k, k), dq};
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < k; ++j) {
      const double a = s[static_cast<size_t>(i)], b = s[static_cast<size_t>(j)];
      if (i != j) side.inner(i, j) = (product(i, j) - product(j, i)) / (b * b - a * a);
    }
  Add(side.outside, Product(q, product), -1);
  for (int64_t i = 0; i < q.rows; ++i)
    for (int64_t j = 0; j < k; ++j) side.outside(i, j) /= s[static_cast<size_t>(j)];
  return side;
}

}  // namespace

// U, S, VH and their gradients -> X@GRAD. Of full matrices the first k vectors count.
int32_t SvdGrad(OpCall& call) {
  using A = args::dt_svd_grad;
  const DtBuffer &u = call.Arg(A::U), &vh = call.Arg(A::VH), &s = call.Arg(A::S);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!MatricesOf(call, u) || !MatricesOf(call, vh)) return 1;
  const int64_t rows = u.dims[u.rank - 2], columns = vh.dims[vh.rank - 1];
  const int64_t k = std::min(rows, columns), batch = Elements(u, 0, u.rank - 2);
  if (Elements(s) != batch * k || Elements(vh, 0, vh.rank - 2) != batch || u.dims[u.rank - 1] < k ||
      vh.dims[vh.rank - 2] < k)
    return call.Fail("'%s', '%s' and '%s' are no decomposition", u.name, s.name, vh.name);
  const int forward[] = {int{A::U}, int{A::S}, int{A::VH}};
  const int gradients[] = {int{A::U_GRAD}, int{A::S_GRAD}, int{A::VH_GRAD}};
  for (int i = 0; i < 3; ++i)
    if (call.Has(gradients[i]) && !SameShape(call.Arg(gradients[i]), call.Arg(forward[i])))
      return call.Fail("'%s' has not the extents of '%s'", call.Arg(gradients[i]).name,
                       call.Arg(forward[i]).name);
  if (!call.Resize(dx, Dims(u, {rows, columns}))) return 1;
  return VisitFloat(call.context(), u, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, {batch, std::max(rows, columns)}, [&](int64_t m) {
      const Table left = Read<T>(u, m, rows, k), right = Transposed(Read<T>(vh, m, k, columns));
      const T* given = Data<T>(s) + m * k;
      const std::vector<double> values(given, given + k);
      Table inner(k, k), sum(rows, columns);
      if (call.Has(A::S_GRAD))
        for (int64_t i = 0; i < k; ++i)
          inner(i, i) = static_cast<double>(Data<T>(call.Arg(A::S_GRAD))[m * k + i]);
      if (call.Has(A::U_GRAD)) {
        const Side side = SideOf(left, Read<T>(call.Arg(A::U_GRAD), m, rows, k), values);
        for (int64_t i = 0; i < k; ++i)
          for (int64_t j = 0; j < k; ++j)
            inner(i, j) += side.inner(i, j) * values[static_cast<size_t>(j)];
        if (rows > k) Add(sum, Product(side.outside, Transposed(right)));
      }
      if (call.Has(A::VH_GRAD)) {
        const Side side =
            SideOf(right, Transposed(Read<T>(call.Arg(A::VH_GRAD), m, k, columns)), values);
        for (int64_t i = 0; i < k; ++i)
          for (int64_t j = 0; j < k; ++j)
            inner(i, j) += side.inner(i, j) * values[static_cast<size_t>(i)];
        if (columns > k) Add(sum, Product(left, Transposed(side.outside)));
      }
      Add(sum, Product(left, Product(inner, Transposed(right))));
      Write<T>(sum, m, dx);
      return true;
    });
    return 0;
  });
}

namespace {

// Singular values of matrix m of x, of a symmetric one (of which the lower triangle counts) the
// magnitudes of the eigenvalues.
template <typename T>
std::vector<double> Magnitudes(const DtBuffer& x, int64_t m, bool symmetric) {
  const int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
  Table a = Read<T>(x, m, rows, columns), vectors;
  std::vector<double> values;
  if (!symmetric) {
    if (rows < columns) a = Transposed(a);
    Table left(a.rows, a.columns);
    Singular(std::move(a), values, left, vectors);
    return values;
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i + 1; j < rows; ++j) a(i, j) = a(j, i);
  Symmetric(std::move(a), values, vectors);
  for (double& value : values) value = std::fabs(value);
  return values;
}

}  // namespace

// X, TolTensor; tol, use_default_tol, hermitian -> Out: how many singular values are above a bound,
// which is given, by an attribute or for every matrix, or the rounding of the largest of them; with
// a tensor and `use_default_tol` the larger of both.
int32_t MatrixRank(OpCall& call) {
  using A = args::dt_matrix_rank;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool symmetric = call.Bool(A::hermitian), rounding = call.Bool(A::use_default_tol);
  Square square;
  if (!MatricesOf(call, x) || (symmetric && !SquareOf(call, x, square))) return 1;
  const int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1],
                batch = Elements(x, 0, x.rank - 2);
  if (rows == 0 || columns == 0) return call.Fail("'%s' has matrices without elements", x.name);
  std::vector<int64_t> dims(x.dims, x.dims + x.rank - 2);
  AxisMap matrices(dims), bounds;
  if (call.Has(A::TolTensor)) {
    const DtBuffer& bound = call.Arg(A::TolTensor);
    bounds = AxisMap(OpCall::Dims(bound));
    const auto rank = static_cast<size_t>(bound.rank);
    if (rank > dims.size()) dims.insert(dims.begin(), rank - dims.size(), 1);
    for (size_t d = 0; d < rank; ++d)
      if (int64_t& extent = dims[dims.size() - rank + d]; extent == 1) extent = bound.dims[d];
    if (!BroadcastTo(call, bound.name, dims, bounds)) return 1;
  }
  if (!BroadcastTo(call, x.name, dims, matrices) || !call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<std::vector<double>> values(static_cast<size_t>(batch));
    ForEachMatrix(call, {batch, std::max(rows, columns)}, [&](int64_t m) {
      return values[static_cast<size_t>(m)] = Magnitudes<T>(x, m, symmetric), true;
    });
    // Which matrix, and which bound, each result is made of.
    const auto count = static_cast<size_t>(Elements(out));
    std::vector<int64_t> number(static_cast<size_t>(batch)), matrix(count);
    std::iota(number.begin(), number.end(), int64_t{0});
    std::vector<T> given(count, static_cast<T>(call.Real(A::tol)));
    if (GatherMapped(call, matrices, number.data(), matrix.data(), sizeof(int64_t), nullptr) != 0 ||
        (call.Has(A::TolTensor) && GatherMapped(call, bounds, call.Arg(A::TolTensor).data,
                                                given.data(), sizeof(T), nullptr) != 0))
      return 1;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<double>& all = values[static_cast<size_t>(matrix[i])];
      double bound = call.Has(A::TolTensor) || !rounding ? static_cast<double>(given[i]) : 0;
      if (rounding)
        bound = std::max(bound, static_cast<double>(std::numeric_limits<T>::epsilon()) *
                                    static_cast<double>(std::max(rows, columns)) *
                                    *std::max_element(all.begin(), all.end()));
      Data<int32_t>(out)[i] = static_cast<int32_t>(
          std::count_if(all.begin(), all.end(), [&](double value) { return value > bound; }));
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels

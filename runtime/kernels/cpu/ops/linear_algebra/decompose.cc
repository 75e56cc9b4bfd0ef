// Factorisations of square matrices and what follows from them: cholesky, inverse, determinant,
// slogdeterminant, with their gradients. The loops are plain (Golub, Van Loan: Matrix
// Computations, 3.4 and 4.2): matrices of programs that train are small and come in batches, over
// which threads share the work. Gradients: Giles, "An extended collection of matrix derivative
// results", 2008; of Cholesky: Murray, "Differentiation of the Cholesky decomposition", 2016,
// eq. 8.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"
#include "runtime/kernels/cpu/ops/linear_algebra/square.h"

namespace dtranspile::kernels {

// X; upper -> Out
// Row by row: L[i, j] = (A[i, j] - sum over k < j of L[i, k] L[j, k]) / L[j, j]. `upper` reads and
// writes the transposed places, of which only one triangle is looked at.
int32_t Cholesky(OpCall& call) {
  using A = args::dt_cholesky;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Square s;
  if (!SquareOf(call, x, s) || !call.Resize(out, x)) return 1;
  const bool upper = call.Bool(A::upper);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t bad = ForEachMatrix(call, s, [&](int64_t m) {
      const T* a = Data<T>(x) + m * s.n * s.n;
      T* l = Data<T>(out) + m * s.n * s.n;
      auto at = [&](int64_t i, int64_t j) -> T& { return upper ? l[j * s.n + i] : l[i * s.n + j]; };
      for (int64_t i = 0; i < s.n; ++i)
        for (int64_t j = 0; j < s.n; ++j) {
          if (j > i) {
            at(i, j) = 0;
            continue;
          }
          T sum = upper ? a[j * s.n + i] : a[i * s.n + j];
          for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
          if (i == j && !(sum > 0)) return false;
          at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
        }
      return true;
    });
    return bad < 0 ? 0
                   : call.Fail("matrix %lld of '%s' is not positive definite",
                               static_cast<long long>(bad), x.name);
  });
}

// Out, Out@GRAD; upper -> X@GRAD: with P = tril(LᵀdL) of half diagonal, dX = ½ L⁻ᵀ (P + Pᵀ) L⁻¹
int32_t CholeskyGrad(OpCall& call) {
  using A = args::dt_cholesky_grad;
  const DtBuffer &out = call.Arg(A::Out), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Square s;
  if (!SquareOf(call, out, s) || !call.Resize(dx, out)) return 1;
  if (!SameShape(out, gradient) || TypeOf(out) != TypeOf(gradient))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, out.name);
  const bool upper = call.Bool(A::upper);
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t n = s.n;
    const int64_t bad = ForEachMatrix(call, s, [&](int64_t m) {
      Matrix<T> l = Copy<T>(out, s, m), dl = Copy<T>(gradient, s, m);
      for (int64_t i = 0; upper && i < n; ++i)
        for (int64_t j = 0; j < i; ++j) {
          std::swap(l[static_cast<size_t>(i * n + j)], l[static_cast<size_t>(j * n + i)]);
          std::swap(dl[static_cast<size_t>(i * n + j)], dl[static_cast<size_t>(j * n + i)]);
        }
      Matrix<T> p = Times(l.data(), true, dl.data(), false, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i; j < n; ++j) {
          const T value = p[static_cast<size_t>(j * n + i)] / 2;
          p[static_cast<size_t>(i * n + j)] = p[static_cast<size_t>(j * n + i)] = value;
        }
      Matrix<T> inverse(static_cast<size_t>(n * n));
      if (!Invert(std::move(l), n, inverse.data())) return false;
      const Matrix<T> left = Times(inverse.data(), true, p.data(), false, n),
                      whole = Times(left.data(), false, inverse.data(), false, n);
      std::copy(whole.begin(), whole.end(), Data<T>(dx) + m * n * n);
      return true;
    });
    return bad < 0 ? 0
                   : call.Fail("matrix %lld of '%s' is singular", static_cast<long long>(bad),
                               out.name);
  });
}

// Input -> Output
int32_t Inverse(OpCall& call) {
  using A = args::dt_inverse;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Output);
  Square s;
  if (!SquareOf(call, x, s) || !call.Resize(out, x)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t bad = ForEachMatrix(call, s, [&](int64_t m) {
      return Invert(Copy<T>(x, s, m), s.n, Data<T>(out) + m * s.n * s.n);
    });
    return bad < 0
               ? 0
               : call.Fail("matrix %lld of '%s' is singular", static_cast<long long>(bad), x.name);
  });
}

// Output, Output@GRAD -> Input@GRAD: −YᵀdYYᵀ
int32_t InverseGrad(OpCall& call) {
  using A = args::dt_inverse_grad;
  const DtBuffer &y = call.Arg(A::Output), &gradient = call.Arg(A::Output_GRAD);
  DtBuffer& dx = call.Arg(A::Input_GRAD);
  Square s;
  if (!SquareOf(call, y, s) || !call.Resize(dx, y)) return 1;
  if (!SameShape(y, gradient) || TypeOf(y) != TypeOf(gradient))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, y.name);
  return VisitFloat(call.context(), y, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, s, [&](int64_t m) {
      const T* inverse = Data<T>(y) + m * s.n * s.n;
      const Matrix<T> left = Times(inverse, true, Data<T>(gradient) + m * s.n * s.n, false, s.n),
                      whole = Times(left.data(), false, inverse, true, s.n);
      for (int64_t i = 0; i < s.n * s.n; ++i)
        Data<T>(dx)[m * s.n * s.n + i] = -whole[static_cast<size_t>(i)];
      return true;
    });
    return 0;
  });
}

namespace {

// Sign and logarithm of the absolute value of a determinant; 0 and −∞ for a singular matrix.
template <typename T>
std::pair<T, T> SignAndLog(const DtBuffer& x, const Square& s, int64_t m) {
  const Factors<T> f = Factorise(Copy<T>(x, s, m), s.n);
  T sign = f.sign, log = 0;
  for (int64_t i = 0; i < s.n; ++i) {
    const T pivot = f.lu[static_cast<size_t>(i * s.n + i)];
    if (pivot == 0) return {T{0}, -std::numeric_limits<T>::infinity()};
    if (pivot < 0) sign = -sign;
    log += std::log(std::fabs(pivot));
  }
  return {sign, log};
}

// Extents without those of the matrices.
std::vector<int64_t> BatchDims(const DtBuffer& x) { return {x.dims, x.dims + x.rank - 2}; }

}  // namespace

// Input -> Out
// The product of the pivots and of the sign of the row exchanges. Without batch dims the result is
// [1] or [] as the program declares it, which versions of the framework do differently.
int32_t Determinant(OpCall& call) {
  using A = args::dt_determinant;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  Square s;
  if (!SquareOf(call, x, s)) return 1;
  std::vector<int64_t> dims = BatchDims(x);
  if (dims.empty() && out.rank == 1) dims = {1};
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, s, [&](int64_t m) {
      const Factors<T> f = Factorise(Copy<T>(x, s, m), s.n);
      T product = f.sign;
      for (int64_t i = 0; i < s.n; ++i) product *= f.lu[static_cast<size_t>(i * s.n + i)];
      Data<T>(out)[m] = product;
      return true;
    });
    return 0;
  });
}

// Input, Out, Out@GRAD -> Input@GRAD: dOut · det · X⁻ᵀ, zeros for a singular matrix
int32_t DeterminantGrad(OpCall& call) {
  using A = args::dt_determinant_grad;
  const DtBuffer &x = call.Arg(A::Input), &out = call.Arg(A::Out),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::Input_GRAD);
  Square s;
  if (!SquareOf(call, x, s) || !call.Resize(dx, x)) return 1;
  if (Elements(out) != s.batch || Elements(gradient) != s.batch)
    return call.Fail("'%s' and '%s' have not one element per matrix", out.name, gradient.name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, s, [&](int64_t m) {
      Matrix<T> inverse(static_cast<size_t>(s.n * s.n), T{0});
      Invert(Copy<T>(x, s, m), s.n, inverse.data());
      const T factor = Data<T>(gradient)[m] * Data<T>(out)[m];
      for (int64_t i = 0; i < s.n; ++i)
        for (int64_t j = 0; j < s.n; ++j)
          Data<T>(dx)[(m * s.n + i) * s.n + j] = factor * inverse[static_cast<size_t>(j * s.n + i)];
      return true;
    });
    return 0;
  });
}

// Input -> Out [2, batch...]: signs, then logarithms
int32_t SignLogDeterminant(OpCall& call) {
  using A = args::dt_sign_log_determinant;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  Square s;
  if (!SquareOf(call, x, s)) return 1;
  std::vector<int64_t> dims = BatchDims(x);
  if (dims.empty() && out.rank == 2) dims = {1};
  dims.insert(dims.begin(), 2);
  if (!call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForEachMatrix(call, s, [&](int64_t m) {
      const auto [sign, log] = SignAndLog<T>(x, s, m);
      Data<T>(out)[m] = sign;
      Data<T>(out)[s.batch + m] = log;
      return true;
    });
    return 0;
  });
}

// Input, Out@GRAD [2, batch...] -> Input@GRAD: the gradient of the logarithm times X⁻ᵀ; the sign is
// constant.
int32_t SignLogDeterminantGrad(OpCall& call) {
  using A = args::dt_sign_log_determinant_grad;
  const DtBuffer &x = call.Arg(A::Input), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::Input_GRAD);
  Square s;
  if (!SquareOf(call, x, s) || !call.Resize(dx, x)) return 1;
  if (Elements(gradient) != 2 * s.batch)
    return call.Fail("'%s' has not two elements per matrix of '%s'", gradient.name, x.name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t bad = ForEachMatrix(call, s, [&](int64_t m) {
      Matrix<T> inverse(static_cast<size_t>(s.n * s.n), T{0});
      if (!Invert(Copy<T>(x, s, m), s.n, inverse.data())) return false;
      const T factor = Data<T>(gradient)[s.batch + m];
      for (int64_t i = 0; i < s.n; ++i)
        for (int64_t j = 0; j < s.n; ++j)
          Data<T>(dx)[(m * s.n + i) * s.n + j] = factor * inverse[static_cast<size_t>(j * s.n + i)];
      return true;
    });
    return bad < 0
               ? 0
               : call.Fail("matrix %lld of '%s' is singular", static_cast<long long>(bad), x.name);
  });
}

}  // namespace dtranspile::kernels

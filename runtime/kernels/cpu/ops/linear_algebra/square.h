// Square matrices of a batch, as the factorisations of this folder take them: elimination, inverse,
// products. The loops are plain (Golub, Van Loan: Matrix Computations, 3.4): matrices of programs
// that train are small and come in batches, over which threads share the work.
#pragma once

#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// A batch of n×n matrices.
struct Square {
  int64_t batch = 1, n = 0;
};

inline bool SquareOf(OpCall& call, const DtBuffer& x, Square& s) {
  if (x.rank < 2 || x.dims[x.rank - 1] != x.dims[x.rank - 2])
    return call.Fail("'%s' is no batch of square matrices", x.name), false;
  s = {Elements(x, 0, x.rank - 2), x.dims[x.rank - 1]};
  return true;
}

template <typename T>
using Matrix = std::vector<T>;  // n×n, row-major

// LU with row exchanges.
template <typename T>
struct Factors {
  Matrix<T> lu;
  std::vector<int64_t> order;  // row i of LU is this row of the matrix
  T sign = 1;                  // of the permutation
  bool regular = true;         // no pivot is zero
};

// Gaussian elimination with partial pivoting, in place: L below the diagonal (ones on it are not
// stored), U on and above it. A column without a pivot is skipped and noted, since determinants of
// singular matrices are asked for too. O(n³).
template <typename T>
Factors<T> Factorise(Matrix<T> matrix, int64_t n) {
  Factors<T> f{std::move(matrix), std::vector<int64_t>(static_cast<size_t>(n))};
  std::iota(f.order.begin(), f.order.end(), int64_t{0});
  auto at = [&](int64_t i, int64_t j) -> T& { return f.lu[static_cast<size_t>(i * n + j)]; };
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(at(i, k)) > std::fabs(at(pivot, k))) pivot = i;
    if (pivot != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(at(k, j), at(pivot, j));
      std::swap(f.order[static_cast<size_t>(k)], f.order[static_cast<size_t>(pivot)]);
      f.sign = -f.sign;
    }
    if (at(k, k) == 0) {
      f.regular = false;
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const T factor = at(i, k) /= at(k, k);
      for (int64_t j = k + 1; j < n; ++j) at(i, j) -= factor * at(k, j);
    }
  }
  return f;
}

// The inverse, to `out`. False, and nothing written, where the matrix is singular.
// Forward substitution with the permuted unit matrix as right-hand side, then back substitution,
// whole rows at a time so that the inner loop is contiguous.
template <typename T>
bool Invert(Matrix<T> matrix, int64_t n, T* out) {
  const Factors<T> f = Factorise(std::move(matrix), n);
  if (!f.regular) return false;
  const Matrix<T>& lu = f.lu;
  for (int64_t i = 0; i < n; ++i) {
    T* row = out + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = f.order[static_cast<size_t>(i)] == j ? 1 : 0;
    for (int64_t k = 0; k < i; ++k)
      for (int64_t j = 0; j < n; ++j) row[j] -= lu[static_cast<size_t>(i * n + k)] * out[k * n + j];
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    T* row = out + i * n;
    for (int64_t k = i + 1; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) row[j] -= lu[static_cast<size_t>(i * n + k)] * out[k * n + j];
    for (int64_t j = 0; j < n; ++j) row[j] /= lu[static_cast<size_t>(i * n + i)];
  }
  return true;
}

// op(a) · op(b)
template <typename T>
Matrix<T> Times(const T* a, bool trans_a, const T* b, bool trans_b, int64_t n) {
  Matrix<T> c(static_cast<size_t>(n * n), T{0});
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k) {
      const T factor = trans_a ? a[k * n + i] : a[i * n + k];
      for (int64_t j = 0; j < n; ++j)
        c[static_cast<size_t>(i * n + j)] += factor * (trans_b ? b[j * n + k] : b[k * n + j]);
    }
  return c;
}

// body(matrix number) on all threads; the first number where it says false, else -1.
// The first matrix that fails, not the first that a thread met: messages do not depend on timing.
template <typename Body>
int64_t ForEachMatrix(OpCall& call, const Square& s, Body&& body) {
  std::atomic<int64_t> bad{s.batch};
  Parallel(call.context(), s.batch, GrainFor(s.n * s.n * s.n), [&](int64_t lo, int64_t n) {
    for (int64_t m = lo; m < lo + n; ++m) {
      if (body(m)) continue;
      for (int64_t seen = bad; m < seen && !bad.compare_exchange_weak(seen, m);) {
      }
    }
  });
  return bad == s.batch ? -1 : bad.load();
}

template <typename T>
Matrix<T> Copy(const DtBuffer& x, const Square& s, int64_t m) {
  const T* from = Data<T>(x) + m * s.n * s.n;
  return Matrix<T>(from, from + s.n * s.n);
}

}  // namespace dtranspile::kernels

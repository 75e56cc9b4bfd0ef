// Matrices of any extents in double, as the factorisations that keep more digits than their element
// type take them: read from a batch, multiplied, written back.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

struct Table {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Table() = default;
  Table(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), values(static_cast<size_t>(rows * columns)) {}
  double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return values[static_cast<size_t>(i * columns + j)];
  }
};

inline Table Unit(int64_t n) {
  Table t(n, n);
  for (int64_t i = 0; i < n; ++i) t(i, i) = 1;
  return t;
}

inline Table Transposed(const Table& a) {
  Table t(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}

inline Table Product(const Table& a, const Table& b) {
  Table c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.columns; ++k)
      for (int64_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

// a += factor * b
inline void Add(Table& a, const Table& b, double factor = 1) {
  for (size_t i = 0; i < a.values.size(); ++i) a.values[i] += factor * b.values[i];
}

// Matrix m of a buffer: its first `rows` and `columns`.
template <typename T>
Table Read(const DtBuffer& x, int64_t m, int64_t rows, int64_t columns) {
  const int64_t height = x.dims[x.rank - 2], width = x.dims[x.rank - 1];
  Table t(rows, columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      t(i, j) = static_cast<double>(Data<T>(x)[(m * height + i) * width + j]);
  return t;
}

template <typename T>
void Write(const Table& t, int64_t m, DtBuffer& out) {
  T* to = Data<T>(out) + m * t.rows * t.columns;
  for (size_t i = 0; i < t.values.size(); ++i) to[i] = static_cast<T>(t.values[i]);
}

inline bool MatricesOf(OpCall& call, const DtBuffer& x) {
  return x.rank >= 2 || (call.Fail("'%s' is no batch of matrices", x.name), false);
}

inline std::vector<int64_t> Dims(const DtBuffer& x, std::initializer_list<int64_t> last) {
  std::vector<int64_t> dims(x.dims, x.dims + x.rank - 2);
  dims.insert(dims.end(), last);
  return dims;
}

}  // namespace dtranspile::kernels

// mul and its gradient for factors whose extents are known only now (the compiler makes dt_gemm calls of the others): X and Y flattened to
// matrices at x_num_col_dims and y_num_col_dims.
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

struct Matrix {
  const DtBuffer* buffer;
  int64_t rows, columns;
};

bool MatrixOf(OpCall& call, const DtBuffer& buffer, int64_t columns_from, Matrix& matrix) {
  if (columns_from < 1 || columns_from >= buffer.rank)
    return call.Fail("'%s' has %d dims, which cannot be cut at %lld", buffer.name, buffer.rank, static_cast<long long>(columns_from)), false;
  const auto at = static_cast<int32_t>(columns_from);
  matrix = {&buffer, Elements(buffer, 0, at), Elements(buffer, at, buffer.rank)};
  return true;
}

// out = op(a) · op(b), out of m × n.
int32_t Multiply(OpCall& call, const Matrix& a, bool trans_a, const Matrix& b, bool trans_b, const DtBuffer& out) {
  const int64_t m = trans_a ? a.columns : a.rows, k = trans_a ? a.rows : a.columns, n = trans_b ? b.rows : b.columns;
  DtBuffer args[3] = {*a.buffer, *b.buffer, out};
  const int64_t ints[12] = {trans_a, trans_b, m, n, k, a.columns, b.columns, n, 1, 0, 0, 0};
  const double reals[2] = {1, 0};
  DtCall gemm = {};
  gemm.name = call.raw()->name;
  gemm.op = call.raw()->op;
  gemm.args = args;
  gemm.num_args = 3;
  gemm.ints = ints;
  gemm.num_ints = 12;
  gemm.reals = reals;
  gemm.num_reals = 2;
  return dt_gemm(call.context(), &gemm);
}

bool Factors(OpCall& call, Matrix& x, Matrix& y) {
  if (!MatrixOf(call, call.Arg(0), call.Int(0), x) || !MatrixOf(call, call.Arg(1), call.Int(1), y)) return false;
  if (x.columns == y.rows) return true;
  return call.Fail("'%s' has %lld columns, '%s' %lld rows", x.buffer->name, static_cast<long long>(x.columns), y.buffer->name, static_cast<long long>(y.rows)), false;
}

}  // namespace

int32_t Mul(OpCall& call) {
  Matrix x, y;
  if (!Factors(call, x, y)) return 1;
  std::vector<int64_t> dims(x.buffer->dims, x.buffer->dims + call.Int(0));
  dims.insert(dims.end(), y.buffer->dims + call.Int(1), y.buffer->dims + y.buffer->rank);
  if (!call.Resize(call.Arg(2), dims)) return 1;
  return Multiply(call, x, false, y, false, call.Arg(2));
}

int32_t MulGrad(OpCall& call) {
  Matrix x, y;
  if (!Factors(call, x, y)) return 1;
  const Matrix gradient{&call.Arg(2), x.rows, y.columns};
  if (Elements(*gradient.buffer) != x.rows * y.columns) return call.Fail("'%s' has not the extents of the product", gradient.buffer->name);
  if (call.Has(3) && (!call.Resize(call.Arg(3), *x.buffer) || Multiply(call, gradient, false, y, true, call.Arg(3)) != 0)) return 1;
  if (call.Has(4) && (!call.Resize(call.Arg(4), *y.buffer) || Multiply(call, x, true, gradient, false, call.Arg(4)) != 0)) return 1;
  return 0;
}

}  // namespace dtranspile::kernels

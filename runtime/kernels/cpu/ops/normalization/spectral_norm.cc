// spectral_norm (Miyato 2018; the framework's spectral_norm op): the weight over its largest
// singular value, which a few steps of the power iteration from U and V estimate. U and V are not
// written back. Rows: compiler/lower/rules/normalization.cc.
#include <cmath>
#include <vector>

#include "runtime/kernels/cpu/ops/normalization/calls.h"

namespace dtranspile::kernels {
namespace {

// The weight with axis `dim` in front, as a matrix of `rows` times `columns`.
struct Unfolded {
  int64_t outer, rows, inner;
  int64_t columns() const { return outer * inner; }
  int64_t At(int64_t row, int64_t column) const {
    return (column / inner * rows + row) * inner + column % inner;
  }
};

bool Unfold(OpCall& call, Unfolded& shape) {
  const DtBuffer &weight = call.Arg(0), &u = call.Arg(1), &v = call.Arg(2);
  int64_t dim = call.Int(0);
  if (!NormalAxis(call, weight, dim)) return false;
  const auto at = static_cast<int32_t>(dim);
  shape = {Elements(weight, 0, at), weight.dims[at], Elements(weight, at + 1, weight.rank)};
  if (Elements(u) != shape.rows || Elements(v) != shape.columns()) {
    call.Fail("'%s' and '%s' have %lld and %lld elements, expected %lld and %lld", u.name, v.name,
              static_cast<long long>(Elements(u)), static_cast<long long>(Elements(v)),
              static_cast<long long>(shape.rows), static_cast<long long>(shape.columns()));
    return false;
  }
  return CheckSameType(call.context(), call.raw(), 0, 3);
}

template <typename T>
void Normalize(std::vector<T>& x, T eps) {
  double squares = 0;
  for (const T value : x) squares += static_cast<double>(value) * value;
  const T length = static_cast<T>(std::sqrt(squares)) + eps;
  for (T& value : x) value /= length;
}

template <typename T>
struct Estimate {
  std::vector<T> u, v;
  T sigma = 0;

  Estimate(OpCall& call, const Unfolded& shape) {
    const T* weight = Data<T>(call.Arg(0));
    const auto eps = static_cast<T>(call.Real(2));
    u.assign(Data<T>(call.Arg(1)), Data<T>(call.Arg(1)) + shape.rows);
    v.assign(Data<T>(call.Arg(2)), Data<T>(call.Arg(2)) + shape.columns());
    for (int64_t step = 0; step < call.Int(1); ++step) {
      for (int64_t c = 0; c < shape.columns(); ++c) {
        double sum = 0;
        for (int64_t r = 0; r < shape.rows; ++r)
          sum += static_cast<double>(weight[shape.At(r, c)]) * u[static_cast<size_t>(r)];
        v[static_cast<size_t>(c)] = static_cast<T>(sum);
      }
      Normalize(v, eps);
      for (int64_t r = 0; r < shape.rows; ++r) u[static_cast<size_t>(r)] = Row(weight, shape, r);
      Normalize(u, eps);
    }
    double sum = 0;
    for (int64_t r = 0; r < shape.rows; ++r)
      sum += static_cast<double>(u[static_cast<size_t>(r)]) * Row(weight, shape, r);
    sigma = static_cast<T>(sum);
  }

 private:
  // Row r of the weight times v.
  T Row(const T* weight, const Unfolded& shape, int64_t r) const {
    double sum = 0;
    for (int64_t c = 0; c < shape.columns(); ++c)
      sum += static_cast<double>(weight[shape.At(r, c)]) * v[static_cast<size_t>(c)];
    return static_cast<T>(sum);
  }
};

}  // namespace

int32_t SpectralNorm(OpCall& call) {
  const DtBuffer& weight = call.Arg(0);
  DtBuffer& out = call.Arg(3);
  Unfolded shape = {};
  if (!Unfold(call, shape) || !call.Resize(out, weight)) return 1;
  return VisitFloat(call.context(), weight, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T sigma = Estimate<T>(call, shape).sigma;
    for (int64_t i = 0; i < Elements(weight); ++i) Data<T>(out)[i] = Data<T>(weight)[i] / sigma;
    return 0;
  });
}

// The framework's gradient: dOut (1 - u v' s) / sigma, with s the sum of all elements of Out.
int32_t SpectralNormGrad(OpCall& call) {
  const DtBuffer &weight = call.Arg(0), &gradient = call.Arg(3);
  DtBuffer& out = call.Arg(4);
  Unfolded shape = {};
  if (!SameShape(weight, gradient))
    return call.Fail("'%s' and '%s' differ in extents", weight.name, gradient.name);
  if (!Unfold(call, shape) || !call.Resize(out, weight)) return 1;
  return VisitFloat(call.context(), weight, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Estimate<T> estimate(call, shape);
    double total = 0;
    for (int64_t i = 0; i < Elements(weight); ++i) total += Data<T>(weight)[i] / estimate.sigma;
    const T sum = static_cast<T>(total);
    for (int64_t r = 0; r < shape.rows; ++r)
      for (int64_t c = 0; c < shape.columns(); ++c) {
        const int64_t at = shape.At(r, c);
        const T uv = estimate.u[static_cast<size_t>(r)] * estimate.v[static_cast<size_t>(c)];
        Data<T>(out)[at] = Data<T>(gradient)[at] * (T(1) - uv * sum) / estimate.sigma;
      }
    return 0;
  });
}

}  // namespace dtranspile::kernels

// spectral_norm (Miyato 2018; the framework's spectral_norm op): the weight over its largest
// singular value, which a few steps of the power iteration from U and V estimate. U and V are not
// written back. Rows: runtime/kernels/signatures/normalization.calls.
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
  using A = args::dt_spectral_norm;
  static_assert(A::U == args::dt_spectral_norm_grad::U && A::V == args::dt_spectral_norm_grad::V &&
                A::Weight == args::dt_spectral_norm_grad::Weight &&
                A::dim == args::dt_spectral_norm_grad::dim);
  const DtBuffer &weight = call.Arg(A::Weight), &u = call.Arg(A::U), &v = call.Arg(A::V);
  int64_t dim = call.Int(A::dim);
  if (!NormalAxis(call, weight, dim)) return false;
  const auto at = static_cast<int32_t>(dim);
  shape = {Elements(weight, 0, at), weight.dims[at], Elements(weight, at + 1, weight.rank)};
  if (Elements(u) != shape.rows || Elements(v) != shape.columns()) {
    call.Fail("'%s' and '%s' have %lld and %lld elements, expected %lld and %lld", u.name, v.name,
              static_cast<long long>(Elements(u)), static_cast<long long>(Elements(v)),
              static_cast<long long>(shape.rows), static_cast<long long>(shape.columns()));
    return false;
  }
  return SameType(call, weight, u) && SameType(call, weight, v);
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

  // v := Wᵀu / ‖Wᵀu‖, u := Wv / ‖Wv‖, power_iters times, and sigma = uᵀWv. Sums in double.
  Estimate(OpCall& call, const Unfolded& shape) {
    using A = args::dt_spectral_norm;
    using B = args::dt_spectral_norm_grad;
    static_assert(A::Weight == B::Weight && A::U == B::U && A::V == B::V && A::eps == B::eps &&
                  A::power_iters == B::power_iters);
    const T* weight = Data<T>(call.Arg(A::Weight));
    const auto eps = static_cast<T>(call.Real(A::eps));
    u.assign(Data<T>(call.Arg(A::U)), Data<T>(call.Arg(A::U)) + shape.rows);
    v.assign(Data<T>(call.Arg(A::V)), Data<T>(call.Arg(A::V)) + shape.columns());
    for (int64_t step = 0; step < call.Int(A::power_iters); ++step) {
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
  using A = args::dt_spectral_norm;
  const DtBuffer& weight = call.Arg(A::Weight);
  DtBuffer& out = call.Arg(A::Out);
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
  using A = args::dt_spectral_norm_grad;
  const DtBuffer &weight = call.Arg(A::Weight), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& out = call.Arg(A::Weight_GRAD);
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

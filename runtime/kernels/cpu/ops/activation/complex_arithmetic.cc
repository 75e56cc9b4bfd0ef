// Arithmetic of complex numbers: + - * / with broadcasting, sums, means, scale, abs, angle,
// casts, and gradients.
// A gradient is that of the two parts, dx + i dy, so that factors enter it conjugated. Rows:
// runtime/kernels/signatures/activation.calls.
#include <algorithm>
#include <complex>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/kernels/cpu/ops/activation/calls.h"
#include "runtime/kernels/cpu/ops/activation/complex_parts.h"

namespace dtranspile::kernels {
namespace {

enum class Binary { kAdd, kSubtract, kMultiply, kDivide };

bool BinaryOf(OpCall& call, std::string_view type, Binary& binary) {
  constexpr std::pair<std::string_view, Binary> kNames[] = {
      {"elementwise_add", Binary::kAdd},      {"grad_add", Binary::kAdd},
      {"elementwise_sub", Binary::kSubtract}, {"elementwise_mul", Binary::kMultiply},
      {"elementwise_div", Binary::kDivide},
  };
  for (const auto& [name, value] : kNames)
    if (type == name || (type.starts_with(name) && type.substr(name.size()) == "_grad"))
      return binary = value, true;
  return call.Fail("no arithmetic of the name %.*s", static_cast<int>(type.size()), type.data()),
         false;
}

// Extents of an operand of lower rank than `rank`, whose first dim stands at `axis`.
std::vector<int64_t> Placed(const DtBuffer& operand, int32_t rank, int64_t axis) {
  std::vector<int64_t> dims(operand.dims, operand.dims + operand.rank);
  if (axis >= 0 && operand.rank < rank)
    dims.resize(static_cast<size_t>(std::max<int64_t>(operand.rank, rank - axis)), 1);
  return dims;
}

// The framework's broadcasting, where `axis` places the shorter operand; `dims` are those of the
// result.
bool Join(OpCall& call, const DtBuffer& x, const DtBuffer& y, std::vector<int64_t>& x_dims,
          std::vector<int64_t>& y_dims, std::vector<int64_t>& dims) {
  using A = args::dt_complex_binary;
  const int64_t axis = call.Given(A::axis) ? call.Int(A::axis) : -1;
  x_dims = Placed(x, y.rank, axis), y_dims = Placed(y, x.rank, axis);
  dims.assign(std::max(x_dims.size(), y_dims.size()), 1);
  for (const std::vector<int64_t>* from : {&x_dims, &y_dims})
    for (size_t i = 0; i < from->size(); ++i) {
      const int64_t extent = (*from)[from->size() - 1 - i];
      int64_t& to = dims[dims.size() - 1 - i];
      if (to != 1 && extent != 1 && extent != to)
        return call.Fail("'%s' and '%s' cannot be broadcast to one another", x.name, y.name), false;
      if (extent != 1) to = extent;
    }
  return true;
}

template <typename T>
std::complex<T> Of(Binary binary, std::complex<T> x, std::complex<T> y) {
  switch (binary) {
    case Binary::kAdd: return x + y;
    case Binary::kSubtract: return x - y;
    case Binary::kMultiply: return x * y;
    default: return x / y;
  }
}

}  // namespace

// X, Y; axis, @type -> Out
int32_t ComplexBinary(OpCall& call) {
  using A = args::dt_complex_binary;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  Binary binary = Binary::kAdd;
  std::vector<int64_t> x_dims, y_dims, dims;
  if (!BinaryOf(call, call.Text(A::type), binary) || !Join(call, x, y, x_dims, y_dims, dims) ||
      !call.Resize(out, dims))
    return 1;
  return VisitParts(call, x, [&](auto tag) {
    using C = std::complex<typename decltype(tag)::type>;
    const Broadcast from_x(dims, x_dims), from_y(dims, y_dims);
    for (int64_t i = 0; i < Elements(out); ++i)
      Data<C>(out)[i] = Of(binary, Data<C>(x)[from_x(i)], Data<C>(y)[from_y(i)]);
    return 0;
  });
}

// X, Y, Out, Out@GRAD; axis, @type -> X@GRAD, Y@GRAD: summed over the places that an operand was
// repeated to. Sums and differences may lack what they do not read: an operand then has the extents
// of the gradient.
int32_t ComplexBinaryGrad(OpCall& call) {
  using A = args::dt_complex_binary_grad;
  static_assert(int{A::axis} == int{args::dt_complex_binary::axis});
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  const DtBuffer &x = call.Has(A::X) ? call.Arg(A::X) : gradient,
                 &y = call.Has(A::Y) ? call.Arg(A::Y) : gradient;
  Binary binary = Binary::kAdd;
  std::vector<int64_t> x_dims, y_dims, dims;
  if (!BinaryOf(call, call.Text(A::type), binary) || !Join(call, x, y, x_dims, y_dims, dims))
    return 1;
  if (OpCall::Dims(gradient) != absl::MakeConstSpan(dims))
    return call.Fail("'%s' has not the extents of the forward result", gradient.name);
  const bool reads = binary == Binary::kMultiply || binary == Binary::kDivide;
  const bool of_x = call.Has(A::X_GRAD), of_y = call.Has(A::Y_GRAD);
  if (reads && (!call.Has(A::Y) || (of_y && binary == Binary::kMultiply && !call.Has(A::X)) ||
                (of_y && binary == Binary::kDivide && !call.Has(A::Out))))
    return call.Fail("a factor is absent");
  if (binary == Binary::kDivide && of_y && !SameShape(call.Arg(A::Out), gradient))
    return call.Fail("'%s' has not the extents of '%s'", call.Arg(A::Out).name, gradient.name);
  if ((of_x && !call.Resize(call.Arg(A::X_GRAD), x)) ||
      (of_y && !call.Resize(call.Arg(A::Y_GRAD), y)))
    return 1;
  return VisitParts(call, gradient, [&](auto tag) {
    using C = std::complex<typename decltype(tag)::type>;
    const Broadcast at_x(dims, x_dims), at_y(dims, y_dims);
    if (of_x) std::fill_n(Data<C>(call.Arg(A::X_GRAD)), Elements(x), C(0));
    if (of_y) std::fill_n(Data<C>(call.Arg(A::Y_GRAD)), Elements(y), C(0));
    for (int64_t i = 0; i < Elements(gradient); ++i) {
      const C g = Data<C>(gradient)[i];
      if (of_x) {
        const C factor = reads ? std::conj(Data<C>(y)[at_y(i)]) : C(1);
        Data<C>(call.Arg(A::X_GRAD))[at_x(i)] +=
            binary == Binary::kDivide ? g / factor : g * factor;
      }
      if (!of_y) continue;
      C& to = Data<C>(call.Arg(A::Y_GRAD))[at_y(i)];
      switch (binary) {
        case Binary::kAdd: to += g; break;
        case Binary::kSubtract: to -= g; break;
        case Binary::kMultiply: to += g * std::conj(Data<C>(x)[at_x(i)]); break;
        case Binary::kDivide:
          to -= g * std::conj(Data<C>(call.Arg(A::Out))[i] / Data<C>(y)[at_y(i)]);
          break;
      }
    }
    return 0;
  });
}

// X, a list -> Out
int32_t ComplexSum(OpCall& call) {
  using A = args::dt_complex_sum;
  DtBuffer& out = call.Arg(A::Out);
  if (call.Count(A::X) == 0) return call.Fail("a sum of nothing");
  const DtBuffer& first = call.Arg(A::X, 0);
  for (int i = 1; i < call.Count(A::X); ++i)
    if (!SameShape(call.Arg(A::X, i), first) || TypeOf(call.Arg(A::X, i)) != TypeOf(first))
      return call.Fail("'%s' has not the extents and type of '%s'", call.Arg(A::X, i).name,
                       first.name);
  if (!call.Resize(out, first)) return 1;
  return VisitParts(call, first, [&](auto tag) {
    using C = std::complex<typename decltype(tag)::type>;
    for (int64_t e = 0; e < Elements(first); ++e) {
      C sum = 0;
      for (int i = 0; i < call.Count(A::X); ++i) sum += Data<C>(call.Arg(A::X, i))[e];
      Data<C>(out)[e] = sum;
    }
    return 0;
  });
}

namespace {

// Extents of X with 1 for those that are reduced, and how many elements make one result.
struct Reduced {
  std::vector<int64_t> kept, out;
  int64_t count = 1;
};

// Which dims are summed: `kept` has extent 1 there, `out` has the dims of the result, `count` is
// the number of summands.
bool ReducedOf(OpCall& call, const DtBuffer& x, Reduced& reduced) {
  using A = args::dt_complex_reduce;
  const absl::Span<const int64_t> dims = call.Ints(A::dim);
  std::vector<bool> marked(static_cast<size_t>(x.rank), call.Bool(A::reduce_all) || dims.empty());
  for (int64_t dim : dims) {
    const int64_t at = dim < 0 ? dim + x.rank : dim;
    if (at < 0 || at >= x.rank)
      return call.Fail("dim %lld of '%s' of rank %d", static_cast<long long>(dim), x.name, x.rank),
             false;
    marked[static_cast<size_t>(at)] = true;
  }
  for (int32_t d = 0; d < x.rank; ++d) {
    const bool gone = marked[static_cast<size_t>(d)];
    reduced.kept.push_back(gone ? 1 : x.dims[d]);
    if (!gone || call.Bool(A::keep_dim)) reduced.out.push_back(gone ? 1 : x.dims[d]);
    if (gone) reduced.count *= x.dims[d];
  }
  return true;
}

}  // namespace

// X; dim, keep_dim, reduce_all, @type -> Out: sums, means
int32_t ComplexReduce(OpCall& call) {
  using A = args::dt_complex_reduce;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Reduced reduced;
  if (!ReducedOf(call, x, reduced)) return 1;
  if (reduced.out.empty() && out.rank == 1) reduced.out = {1};
  if (!call.Resize(out, reduced.out)) return 1;
  const bool mean = call.Text(A::type) == "reduce_mean";
  return VisitParts(call, x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::complex<T>;
    const Broadcast place(OpCall::Dims(x), reduced.kept);
    std::fill_n(Data<C>(out), Elements(out), C(0));
    for (int64_t e = 0; e < Elements(x); ++e) Data<C>(out)[place(e)] += Data<C>(x)[e];
    if (mean)
      for (int64_t e = 0; e < Elements(out); ++e) Data<C>(out)[e] /= static_cast<T>(reduced.count);
    return 0;
  });
}

// X, Out@GRAD; dim, keep_dim, reduce_all, @type -> X@GRAD
int32_t ComplexReduceGrad(OpCall& call) {
  using A = args::dt_complex_reduce_grad;
  static_assert(int{A::dim} == int{args::dt_complex_reduce::dim} &&
                int{A::keep_dim} == int{args::dt_complex_reduce::keep_dim} &&
                int{A::reduce_all} == int{args::dt_complex_reduce::reduce_all});
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Reduced reduced;
  if (!ReducedOf(call, x, reduced)) return 1;
  if (Elements(gradient) * std::max<int64_t>(reduced.count, 1) != Elements(x))
    return call.Fail("'%s' has not one element per sum", gradient.name);
  if (!call.Resize(dx, x)) return 1;
  const bool mean = call.Text(A::type) == "reduce_mean_grad";
  return VisitParts(call, x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::complex<T>;
    const Broadcast place(OpCall::Dims(x), reduced.kept);
    const T factor = mean ? T(1) / static_cast<T>(reduced.count) : T(1);
    for (int64_t e = 0; e < Elements(x); ++e) Data<C>(dx)[e] = Data<C>(gradient)[place(e)] * factor;
    return 0;
  });
}

// X; scale, bias, bias_after_scale -> Out
int32_t ComplexScale(OpCall& call) {
  using A = args::dt_complex_scale;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool after = call.Bool(A::bias_after_scale);
  if (!call.Resize(out, x)) return 1;
  return VisitParts(call, x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::complex<T>;
    const T scale = static_cast<T>(call.Real(A::scale)), bias = static_cast<T>(call.Real(A::bias));
    for (int64_t e = 0; e < Elements(x); ++e) {
      const C value = Data<C>(x)[e];
      Data<C>(out)[e] = after ? value * scale + bias : (value + bias) * scale;
    }
    return 0;
  });
}

// X -> Out: reals become complex, of complex numbers the real part is left, precisions change
int32_t ComplexCast(OpCall& call) {
  using A = args::dt_complex_cast;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (!call.Resize(out, x)) return 1;
  auto copy = [&](auto from, auto to, int64_t stride, int64_t step) {
    using T = typename decltype(from)::type;
    using U = typename decltype(to)::type;
    for (int64_t e = 0; e < Elements(x); ++e) {
      Data<U>(out)[e * step] = static_cast<U>(Data<T>(x)[e * stride]);
      if (step == 2)
        Data<U>(out)[2 * e + 1] = stride == 2 ? static_cast<U>(Data<T>(x)[2 * e + 1]) : U(0);
    }
    return 0;
  };
  auto parts = [&](const DtBuffer& buffer, auto&& visit) {
    switch (TypeOf(buffer)) {
      case DType::kFloat32: return visit(TypeTag<float>(), int64_t{1});
      case DType::kFloat64: return visit(TypeTag<double>(), int64_t{1});
      case DType::kComplex64: return visit(TypeTag<float>(), int64_t{2});
      case DType::kComplex128: return visit(TypeTag<double>(), int64_t{2});
      default:
        return call.Fail("'%s' is %s, which is not supported here", buffer.name, TypeName(buffer));
    }
  };
  return parts(x, [&](auto from, int64_t stride) {
    return parts(out, [&](auto to, int64_t step) { return copy(from, to, stride, step); });
  });
}

namespace {

// A real function of complex numbers and its gradient; both parts have one type.
bool PartType(OpCall& call, const DtBuffer& x, const DtBuffer& real) {
  const DType part = TypeOf(x) == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  if (TypeOf(real) == part) return true;
  return call.Fail("'%s' is %s, expected %s", real.name, TypeName(real), NameOf(part)), false;
}

template <typename F>
int32_t RealOf(OpCall& call, const DtBuffer& x, DtBuffer& out, F function) {
  if (!PartType(call, x, out) || !call.Resize(out, x)) return 1;
  return VisitParts(call, x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t e = 0; e < Elements(x); ++e)
      Data<T>(out)[e] = function(Data<std::complex<T>>(x)[e]);
    return 0;
  });
}

// dx = gradient · slope(x), 0 at 0
template <typename F>
int32_t RealGrad(OpCall& call, const DtBuffer& x, const DtBuffer& gradient, DtBuffer& dx, F slope) {
  if (!SameShape(x, gradient))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, x.name);
  if (!PartType(call, x, gradient) || !call.Resize(dx, x)) return 1;
  return VisitParts(call, x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::complex<T>;
    for (int64_t e = 0; e < Elements(x); ++e) {
      const C value = Data<C>(x)[e];
      Data<C>(dx)[e] = value == C(0) ? C(0) : slope(value) * Data<T>(gradient)[e];
    }
    return 0;
  });
}

}  // namespace

// X -> Out
int32_t ComplexAbs(OpCall& call) {
  using A = args::dt_complex_abs;
  return RealOf(call, call.Arg(A::X), call.Arg(A::Out), [](auto x) { return std::abs(x); });
}

// X, Out@GRAD -> X@GRAD: along the number
int32_t ComplexAbsGrad(OpCall& call) {
  using A = args::dt_complex_abs_grad;
  return RealGrad(call, call.Arg(A::X), call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD),
                  [](auto x) { return x / std::abs(x); });
}

// X -> Out
int32_t ComplexAngle(OpCall& call) {
  using A = args::dt_complex_angle;
  return RealOf(call, call.Arg(A::X), call.Arg(A::Out), [](auto x) { return std::arg(x); });
}

// X, Out@GRAD -> X@GRAD: across the number
int32_t ComplexAngleGrad(OpCall& call) {
  using A = args::dt_complex_angle_grad;
  return RealGrad(call, call.Arg(A::X), call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD),
                  [](auto x) { return decltype(x)(-x.imag(), x.real()) / std::norm(x); });
}

// X -> Out: pairs of reals along the last dim as complex numbers (as_complex), or the reverse
// (as_real). Elements lie as they did.
int32_t ComplexView(OpCall& call) {
  using A = args::dt_complex_view;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool pairs = TypeOf(x) == DType::kFloat32 || TypeOf(x) == DType::kFloat64;
  if (!PartType(call, pairs ? out : x, pairs ? x : out)) return 1;
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  if (!pairs) dims.push_back(2);
  else if (dims.empty() || dims.back() != 2)
    return call.Fail("the last dim of '%s' is not of two parts", x.name);
  else dims.pop_back();
  if (!call.Resize(out, dims)) return 1;
  std::memcpy(out.data, x.data, static_cast<size_t>(Elements(x) * ElementSize(x)));
  return 0;
}

}  // namespace dtranspile::kernels

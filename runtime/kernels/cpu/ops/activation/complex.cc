// Complex numbers: made of two reals (complex), taken apart (real, imag, conj), and the gradients,
// which are those of the two parts. Rows: runtime/kernels/signatures/activation.calls.
#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "runtime/kernels/cpu/ops/activation/calls.h"
#include "runtime/kernels/cpu/ops/activation/complex_parts.h"

namespace dtranspile::kernels {
// X, Y -> Out: X + iY, both broadcast.
int32_t Complex(OpCall& call) {
  using A = args::dt_complex;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims;
  if (TypeOf(x) != TypeOf(y))
    return call.Fail("'%s' and '%s' differ in element type", x.name, y.name);
  if (!BroadcastDims(call, x, y, dims) || !call.Resize(out, dims)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Broadcast from_x(dims, x), from_y(dims, y);
    for (int64_t i = 0; i < Elements(out); ++i)
      Data<std::complex<T>>(out)[i] = {Data<T>(x)[from_x(i)], Data<T>(y)[from_y(i)]};
    return 0;
  });
}

// X, Y, Out@GRAD -> X@GRAD, Y@GRAD: the parts of the gradient; where an operand was broadcast, the
// sum over the places that it was repeated to.
int32_t ComplexGrad(OpCall& call) {
  using A = args::dt_complex_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  return VisitParts(call, gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int part = 0; part < 2; ++part) {
      if (!call.Has(A::X_GRAD + part)) continue;
      DtBuffer& out = call.Arg(A::X_GRAD + part);
      if (!call.Resize(out, call.Arg(part))) return 1;
      std::vector<int64_t> dims;
      if (!BroadcastDims(call, gradient, out, dims)) return 1;
      if (OpCall::Dims(gradient) != absl::MakeConstSpan(dims))
        return call.Fail("'%s' has not the extents of the forward result", gradient.name);
      const Broadcast to(dims, out);
      std::fill_n(Data<T>(out), Elements(out), T(0));
      for (int64_t i = 0; i < Elements(gradient); ++i)
        Data<T>(out)[to(i)] += Data<T>(gradient)[2 * i + part];
    }
    return 0;
  });
}

// X; @type -> Out: real and imag have the type of the parts, conj that of X.
int32_t ComplexPart(OpCall& call) {
  using A = args::dt_complex_part;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const std::string op(call.Text(A::type));
  const DType part = TypeOf(x) == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64,
              type = op == "conj" ? TypeOf(x) : part;
  if (TypeOf(out) != type)
    return call.Fail("'%s' is %s, expected %s", out.name, TypeName(out), NameOf(type));
  if (!call.Resize(out, x)) return 1;
  return VisitParts(call, x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(x);
    T* to = Data<T>(out);
    if (op == "conj") {
      for (int64_t i = 0; i < Elements(x); ++i)
        to[2 * i] = from[2 * i], to[2 * i + 1] = -from[2 * i + 1];
    } else {
      for (int64_t i = 0; i < Elements(x); ++i) to[i] = from[2 * i + (op == "imag")];
    }
    return 0;
  });
}

// Out@GRAD; @type -> X@GRAD: a gradient of one part is that of the whole number with the other part
// 0 (the framework's convention: real and imaginary part are independent variables).
int32_t ComplexPartGrad(OpCall& call) {
  using A = args::dt_complex_part_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  DtBuffer& out = call.Arg(A::X_GRAD);
  const bool imaginary = call.Text(A::type) == "imag_grad";
  if (!call.Resize(out, gradient)) return 1;
  return VisitFloat(call.context(), gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(gradient); ++i) {
      Data<T>(out)[2 * i + imaginary] = Data<T>(gradient)[i];
      Data<T>(out)[2 * i + !imaginary] = T(0);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels

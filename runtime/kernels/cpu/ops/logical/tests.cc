// Questions to whole tensors: equal_all, allclose and isclose, isfinite, isinf and isnan of 1.x,
// is_empty, where_index (phi equal_all, allclose, isclose, is_empty, nonzero; 1.x isfinite).
#include <cmath>
#include <cstring>
#include <string>

#include "runtime/kernels/cpu/ops/logical/calls.h"

namespace dtranspile::kernels {
namespace {

// A scalar result: [1] up to 2.4, [] from 2.5 on.
bool ResizeScalar(OpCall& call, DtBuffer& out, int64_t version) {
  const int64_t one[] = {1};
  return call.Resize(out, absl::MakeConstSpan(one, version >= 2005000 ? 0 : 1));
}

int32_t StoreTruth(OpCall& call, DtBuffer& out, bool value) {
  return VisitPlain(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *Data<T>(out) = static_cast<T>(value);
    return 0;
  });
}

// A tolerance from a tensor, else from the text of the attribute.
bool ToleranceOf(OpCall& call, int slot, int attr, double& tolerance) {
  if (!call.Has(slot)) {
    const std::string text(call.Text(attr));
    char* end = nullptr;
    tolerance = std::strtod(text.c_str(), &end);
    if (!text.empty() && *end == '\0') return true;
    return call.Fail("tolerance '%s' is no number", text.c_str()), false;
  }
  const DtBuffer& given = call.Arg(slot);
  if (Elements(given) != 1)
    return call.Fail("'%s' has %lld elements, expected one", given.name,
                     static_cast<long long>(Elements(given))),
           false;
  return VisitNumber(call.context(), given, [&](auto tag) {
           tolerance = static_cast<double>(*Data<typename decltype(tag)::type>(given));
           return 0;
         }) == 0;
}

// |a - b| <= atol + rtol |b|, by which an infinite b is close to every number, as in the framework;
// equal infinities are close without rtol too.
bool IsClose(double a, double b, double rtol, double atol, bool equal_nan) {
  if (std::isnan(a) || std::isnan(b)) return equal_nan && std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= atol + rtol * std::fabs(b);
}

}  // namespace

// X, Y; @version -> Out. Tensors of other extents are not equal.
int32_t EqualAll(OpCall& call) {
  using A = args::dt_equal_all;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  if (!SameType(call, x, y) || !ResizeScalar(call, out, call.Int(A::version))) return 1;
  bool equal = SameShape(x, y);
  const int32_t failed = VisitPlain(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0, n = equal ? Elements(x) : 0; i < n; ++i)
      equal &= Data<T>(x)[i] == Data<T>(y)[i];
    return 0;
  });
  return failed != 0 ? 1 : StoreTruth(call, out, equal);
}

// Input, Other, Rtol, Atol; rtol, atol, equal_nan, @version, @type -> Out: for each element, or
// (allclose) for all of them
int32_t Close(OpCall& call) {
  using A = args::dt_close;
  const DtBuffer &x = call.Arg(A::Input), &y = call.Arg(A::Other);
  DtBuffer& out = call.Arg(A::Out);
  double rtol = 0, atol = 0;
  if (!SameType(call, x, y) || !ToleranceOf(call, A::Rtol, A::rtol, rtol) ||
      !ToleranceOf(call, A::Atol, A::atol, atol))
    return 1;
  if (!SameShape(x, y)) return call.Fail("'%s' has not the extents of '%s'", y.name, x.name);
  if (TypeOf(out) != DType::kBool)
    return call.Fail("'%s' is %s, expected bool", out.name, TypeName(out));
  const bool all = call.Text(A::type) == "allclose", equal_nan = call.Bool(A::equal_nan);
  if (all ? !ResizeScalar(call, out, call.Int(A::version)) : !call.Resize(out, x)) return 1;
  if (all) *Data<bool>(out) = true;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(x); ++i) {
      const bool close = IsClose(static_cast<double>(Data<T>(x)[i]),
                                 static_cast<double>(Data<T>(y)[i]), rtol, atol, equal_nan);
      if (all) *Data<bool>(out) &= close;
      else Data<bool>(out)[i] = close;
    }
    return 0;
  });
}

// X; @version, @type -> Out: whether all elements are finite, any is infinite, any is no number
int32_t WholeTest(OpCall& call) {
  using A = args::dt_whole_test;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const std::string_view type = call.Text(A::type);
  if (!ResizeScalar(call, out, call.Int(A::version))) return 1;
  bool finite = true, infinite = false, nan = false;
  const int32_t failed = VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(x); ++i) {
      const auto value = static_cast<double>(Data<T>(x)[i]);
      finite &= std::isfinite(value);
      infinite |= std::isinf(value);
      nan |= std::isnan(value);
    }
    return 0;
  });
  return failed != 0 ? 1
                     : StoreTruth(call, out,
                                  type == "isfinite" ? finite
                                  : type == "isinf"  ? infinite
                                                     : nan);
}

// X; @version -> Out
int32_t IsEmpty(OpCall& call) {
  using A = args::dt_is_empty;
  DtBuffer& out = call.Arg(A::Out);
  return ResizeScalar(call, out, call.Int(A::version))
             ? StoreTruth(call, out, Elements(call.Arg(A::X)) == 0)
             : 1;
}

// Condition -> Out: the coordinates of the elements that are not 0, one row each
int32_t WhereIndex(OpCall& call) {
  using A = args::dt_where_index;
  const DtBuffer& x = call.Arg(A::Condition);
  DtBuffer& out = call.Arg(A::Out);
  if (TypeOf(out) != DType::kInt64)
    return call.Fail("'%s' is %s, expected int64", out.name, TypeName(out));
  return VisitPlain(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<int64_t> found;
    for (int64_t i = 0; i < Elements(x); ++i)
      if (Data<T>(x)[i] != T{0}) found.push_back(i);
    const int64_t dims[] = {static_cast<int64_t>(found.size()), x.rank};
    if (!call.Resize(out, dims)) return 1;
    int64_t* to = Data<int64_t>(out);
    for (size_t row = 0; row < found.size(); ++row) {
      int64_t rest = found[row];
      for (int32_t d = x.rank; d-- > 0; rest /= x.dims[d])
        to[static_cast<int64_t>(row) * x.rank + d] = rest % x.dims[d];
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels

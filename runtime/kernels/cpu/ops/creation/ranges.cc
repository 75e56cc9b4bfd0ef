// range (arange) and linspace: evenly spaced numbers; logspace: powers with such exponents;
// tril_indices, triu_indices: places of a triangle (phi arange, linspace, logspace, tril_indices,
// triu_indices).
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/kernels/cpu/ops/creation/calls.h"

namespace dtranspile::kernels {
namespace {

template <typename T>
bool ScalarOf(OpCall& call, int slot, T& value) {
  const DtBuffer& buffer = call.Arg(slot);
  if (Elements(buffer) != 1)
    return call.Fail("'%s' has %lld elements, expected one", buffer.name,
                     static_cast<long long>(Elements(buffer))),
           false;
  return VisitNumber(call.context(), buffer, [&](auto tag) {
           using From = typename decltype(tag)::type;
           if constexpr (!std::is_floating_point_v<From>)
             value = static_cast<T>(*Data<From>(buffer));
           else if (!FromNumber(call, buffer, static_cast<double>(*Data<From>(buffer)), value))
             return 1;
           return 0;
         }) == 0;
}

}  // namespace

// Start, End, Step -> Out
int32_t Range(OpCall& call) {
  using A = args::dt_range;
  DtBuffer& out = call.Arg(A::Out);
  if (!SameType(call, call.Arg(A::Start), out) || !SameType(call, call.Arg(A::End), out) ||
      !SameType(call, call.Arg(A::Step), out))
    return 1;
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T start = 0, end = 0, step = 0;
    if (!ScalarOf(call, A::Start, start) || !ScalarOf(call, A::End, end) ||
        !ScalarOf(call, A::Step, step))
      return 1;
    const double count = std::ceil((static_cast<double>(end) - static_cast<double>(start)) /
                                   static_cast<double>(step));
    if (step == 0 || !(count < 1e12)) return call.Fail("'%s' would have no end", out.name);
    const int64_t dims[] = {static_cast<int64_t>(std::max(count, 0.0))};
    if (!call.Resize(out, dims)) return 1;
    // Sums, as the framework makes them: of floats they are not the products.
    T value = start;
    for (int64_t i = 0; i < dims[0]; ++i) {
      Data<T>(out)[i] = value;
      if (i + 1 < dims[0]) value = Plus(value, step);
    }
    return 0;
  });
}

// Start, Stop, Num -> Out: from both ends to the middle
int32_t Linspace(OpCall& call) {
  using A = args::dt_linspace;
  DtBuffer& out = call.Arg(A::Out);
  int64_t num = 0;
  if (!ScalarOf(call, A::Num, num)) return 1;
  if (num <= 0 || num > (int64_t{1} << 40))
    return call.Fail("'%s' asks for %lld numbers", call.Arg(A::Num).name,
                     static_cast<long long>(num));
  const int64_t dims[] = {num};
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    double start = 0, stop = 0;
    if (!ScalarOf(call, A::Start, start) || !ScalarOf(call, A::Stop, stop)) return 1;
    const double step = num > 1 ? (stop - start) / static_cast<double>(num - 1) : 0;
    for (int64_t i = 0; i < num; ++i) {
      const double value = i < (num + 1) / 2 ? start + step * static_cast<double>(i)
                                             : stop - step * static_cast<double>(num - 1 - i);
      if (!FromNumber(call, out, value, Data<T>(out)[i])) return 1;
    }
    return 0;
  });
}

// rows, cols, offset, @type -> Out [2, places]: rows of the places below or above a diagonal, then
// columns, row by row
int32_t Triangle(OpCall& call) {
  using A = args::dt_triangle;
  DtBuffer& out = call.Arg(A::Out);
  const int64_t rows = call.Int(A::rows), columns = call.Int(A::cols), offset = call.Int(A::offset);
  const bool lower = call.Text(A::type) == "tril_indices";
  if (rows < 0 || columns < 0) return call.Fail("a matrix of negative extents");
  std::vector<int64_t> places[2];
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t diagonal = std::clamp<int64_t>(i + offset + (lower ? 1 : 0), 0, columns);
    for (int64_t j = lower ? 0 : diagonal; j < (lower ? diagonal : columns); ++j)
      places[0].push_back(i), places[1].push_back(j);
  }
  const int64_t dims[] = {2, static_cast<int64_t>(places[0].size())};
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t k = 0; k < 2; ++k)
      for (int64_t e = 0; e < dims[1]; ++e)
        Data<T>(out)[k * dims[1] + e] = static_cast<T>(places[k][static_cast<size_t>(e)]);
    return 0;
  });
}

// Start, Stop, Num, Base -> Out: powers of the base, the exponents as in linspace
int32_t Logspace(OpCall& call) {
  using A = args::dt_logspace;
  DtBuffer& out = call.Arg(A::Out);
  int64_t num = 0;
  if (!ScalarOf(call, A::Num, num)) return 1;
  if (num <= 0 || num > (int64_t{1} << 40))
    return call.Fail("'%s' asks for %lld numbers", call.Arg(A::Num).name,
                     static_cast<long long>(num));
  const int64_t dims[] = {num};
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T start = 0, stop = 0, base = 0;
    if (!ScalarOf(call, A::Start, start) || !ScalarOf(call, A::Stop, stop) ||
        !ScalarOf(call, A::Base, base))
      return 1;
    const auto from = static_cast<double>(start), to = static_cast<double>(stop);
    const double step = num > 1 ? (to - from) / static_cast<double>(num - 1) : 0;
    for (int64_t i = 0; i < num; ++i) {
      const double exponent = i < (num + 1) / 2 ? from + step * static_cast<double>(i)
                                                : to - step * static_cast<double>(num - 1 - i);
      if (!FromNumber(call, out, std::pow(static_cast<double>(base), exponent), Data<T>(out)[i]))
        return 1;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels

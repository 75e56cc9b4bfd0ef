// bitwise_and, bitwise_or, bitwise_xor, bitwise_not, of bools their logical counterparts (phi
// bitwise).
#include <algorithm>

#include "runtime/kernels/cpu/ops/logical/calls.h"

namespace dtranspile::kernels {
namespace {

template <typename T, typename Operation>
void Apply(OpCall& call, const T* x, const T* y, T* out, int64_t count, Operation&& operation) {
  Parallel(call.context(), count, GrainFor(3 * static_cast<int64_t>(sizeof(T))),
           [&](int64_t lo, int64_t n) {
             for (int64_t i = lo; i < lo + n; ++i) out[i] = static_cast<T>(operation(x[i], y[i]));
           });
}

// Extents of both, dims aligned at the end; what is 1 takes after the other.
std::vector<int64_t> Joined(const DtBuffer& x, const DtBuffer& y) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max(x.rank, y.rank)), 1);
  for (const DtBuffer* b : {&x, &y})
    for (int32_t d = 1; d <= b->rank; ++d)
      if (int64_t& extent = dims[dims.size() - static_cast<size_t>(d)]; extent == 1)
        extent = b->dims[b->rank - d];
  return dims;
}

// The operand in the extents of the result.
const void* Spread(OpCall& call, const DtBuffer& x, const DtBuffer& out) {
  if (OpCall::Dims(x) == OpCall::Dims(out)) return x.data;
  AxisMap map(OpCall::Dims(x));
  void* dense = dt_scratch(call.context(), std::max<int64_t>(Elements(out) * ElementSize(x), 1));
  if (dense == nullptr) return call.Fail("no memory for '%s'", x.name), nullptr;
  const bool spread = BroadcastTo(call, x.name, OpCall::Dims(out), map) &&
                      GatherMapped(call, map, x.data, dense, ElementSize(x), nullptr) == 0;
  return spread ? dense : nullptr;
}

}  // namespace

// X, Y (none for bitwise_not); @type -> Out
int32_t Bitwise(OpCall& call) {
  using A = args::dt_bitwise;
  const DtBuffer& x = call.Arg(A::X);
  const DtBuffer& y = call.Has(A::Y) ? call.Arg(A::Y) : x;
  DtBuffer& out = call.Arg(A::Out);
  const std::string_view type = call.Text(A::type);
  if (!SameType(call, x, y) || !SameType(call, x, out) || !call.Resize(out, Joined(x, y))) return 1;
  if (Elements(out) == 0) return 0;
  const void *a = Spread(call, x, out), *b = Spread(call, y, out);
  if (a == nullptr || b == nullptr) return 1;
  return VisitPlain(call.context(), x, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      return call.Fail("'%s' is %s, which has no bits to work on", x.name, TypeName(x));
    } else {
      const T *p = static_cast<const T*>(a), *q = static_cast<const T*>(b);
      const int64_t n = Elements(out);
      if (type == "bitwise_and") Apply(call, p, q, Data<T>(out), n, [](T u, T v) { return u & v; });
      else if (type == "bitwise_or")
        Apply(call, p, q, Data<T>(out), n, [](T u, T v) { return u | v; });
      else if (type == "bitwise_xor")
        Apply(call, p, q, Data<T>(out), n, [](T u, T v) { return u ^ v; });
      else if constexpr (std::is_same_v<T, bool>)
        Apply(call, p, q, Data<T>(out), n, [](T u, T) { return !u; });
      else Apply(call, p, q, Data<T>(out), n, [](T u, T) { return ~u; });
      return 0;
    }
  });
}

}  // namespace dtranspile::kernels

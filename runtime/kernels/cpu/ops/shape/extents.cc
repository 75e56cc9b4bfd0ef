// What a tensor's extents are, as data: shape, size (phi shape, numel); and values as they are:
// assign.
#include <cstring>
#include <string>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {

// Input -> Out
int32_t ShapeOf(OpCall& call) {
  using A = args::dt_shape;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t dims[] = {x.rank};
  if (!call.Resize(out, dims)) return 1;
  return VisitIndex(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int32_t d = 0; d < x.rank; ++d) Data<T>(out)[d] = static_cast<T>(x.dims[d]);
    return 0;
  });
}

// Input; @version -> Out: a scalar is [1] up to 2.4, [] from 2.5 on
int32_t SizeOfTensor(OpCall& call) {
  using A = args::dt_size;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t one[] = {1};
  if (!call.Resize(out, absl::MakeConstSpan(one, call.Int(A::version) >= 2005000 ? 0 : 1)))
    return 1;
  return VisitIndex(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *Data<T>(out) = static_cast<T>(Elements(x));
    return 0;
  });
}

// X -> Out: tensors with their LoD, SelectedRows, lists
int32_t Assign(OpCall& call) {
  using A = args::dt_assign;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  if (x.value != nullptr && out.value != nullptr) {
    const absl::Status status = OpCall::ValueOf(out)->Assign(*OpCall::ValueOf(x));
    OpCall::Refresh(out);
    return status.ok()
               ? 0
               : call.Fail("output '%s': %s", out.name, std::string(status.message()).c_str());
  }
  if (!SameType(call, x, out) || !call.Resize(out, x)) return 1;
  std::memcpy(out.data, x.data, static_cast<size_t>(Elements(x) * ElementSize(x)));
  return 0;
}

}  // namespace dtranspile::kernels

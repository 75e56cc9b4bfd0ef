// lod_array_length, read_from_array, write_to_array (framework:
// controlflow/tensor_array_read_write_op.cc).
#include <algorithm>

#include "runtime/kernels/cpu/ops/tensor_array/calls.h"

namespace dtranspile::kernels {
namespace {

// An index that grows a list beyond this is a mistake, not a program: every place takes some 200
// bytes.
constexpr int64_t kMostItems = int64_t{1} << 22;

}  // namespace

bool IndexOf(OpCall& call, const DtBuffer& buffer, int64_t& index) {
  std::vector<int64_t> values;
  if (!IntegersOf(call, buffer, values)) return false;
  if (values.size() != 1)
    return call.Fail("index '%s' has %zu elements, expected one", buffer.name, values.size()),
           false;
  index = values[0];
  return true;
}

int32_t ArrayLength(OpCall& call) {
  using A = args::dt_lod_array_length;
  const exec::Value* list = ListOf(call, call.Arg(A::X));
  DtBuffer& out = call.Arg(A::Out);
  if (list == nullptr || !SetType(call, out, DType::kInt64) || !call.Resize(out, {1})) return 1;
  *Data<int64_t>(out) = static_cast<int64_t>(list->items.size());
  return 0;
}

// X, I, X_W -> Out. As a gradient it reads what no step may have written: zeros like the value X_W
// of the forward pass.
int32_t ReadFromArray(OpCall& call) {
  using A = args::dt_read_from_array;
  exec::Value* list = ListOf(call, call.Arg(A::X));
  DtBuffer& out = call.Arg(A::Out);
  int64_t index = 0;
  if (list == nullptr || !IndexOf(call, call.Arg(A::I), index)) return 1;
  const auto length = static_cast<int64_t>(list->items.size());
  if (index >= 0 && index < length) {
    const DtBuffer item = BufferOf(list->items[static_cast<size_t>(index)], call.Arg(A::X).name);
    if (!IsUnset(item)) return Copy(call, out, item) ? 0 : 1;
  }
  if (call.Has(A::X_W, 0) && index >= 0) {
    const DtBuffer& like = call.Arg(A::X_W);
    if (!SetType(call, out, TypeOf(like)) || !call.Resize(out, like)) return 1;
    std::fill_n(Data<std::byte>(out), Elements(out) * ElementSize(out), std::byte{0});
    OpCall::SetLod(out, OpCall::LodOf(like));
    return 0;
  }
  const char* reason = index >= 0 && index < length ? "which nobody has written" : "out of range";
  return call.Fail("item %lld of array '%s' of %lld items, %s", static_cast<long long>(index),
                   call.Arg(A::X).name, static_cast<long long>(length), reason);
}

// X, I -> Out, in place: the array keeps its other items.
int32_t WriteToArray(OpCall& call) {
  using A = args::dt_write_to_array;
  exec::Value* list = ListOf(call, call.Arg(A::Out));
  int64_t index = 0;
  if (list == nullptr || !IndexOf(call, call.Arg(A::I), index)) return 1;
  if (index < 0 || index >= kMostItems)
    return call.Fail("item %lld of array '%s', out of range [0, %lld)",
                     static_cast<long long>(index), call.Arg(A::Out).name,
                     static_cast<long long>(kMostItems));
  if (static_cast<size_t>(index) >= list->items.size())
    list->items.resize(static_cast<size_t>(index) + 1);
  DtBuffer item = BufferOf(list->items[static_cast<size_t>(index)], call.Arg(A::Out).name);
  return Copy(call, item, call.Arg(A::X)) ? 0 : 1;
}

}  // namespace dtranspile::kernels

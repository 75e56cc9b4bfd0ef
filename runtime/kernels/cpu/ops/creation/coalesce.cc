// coalesce_tensor: several tensors after one another in one (phi coalesce_tensor_kernel). The
// framework lets the outputs share memory; here they are values of their own, equal to their parts
// of the whole.
#include <cstring>

#include "runtime/kernels/cpu/ops/creation/calls.h"

namespace dtranspile::kernels {
namespace {

// Elements that a part takes in the whole.
bool RoomOf(OpCall& call, const DtBuffer& part, int64_t alignment, int64_t& room) {
  const int64_t size = ElementSize(part);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(Elements(part), size, &bytes) ||
      __builtin_add_overflow(bytes, alignment - 1, &bytes))
    return call.Fail("'%s' is too large", part.name), false;
  room = bytes / alignment * alignment / size;
  return true;
}

void Spread(const void* element, int64_t count, int64_t size, char* to) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * size, element, static_cast<size_t>(size));
}

}  // namespace

// Input; copy_data, set_constant, constant, use_align, align_size -> Output, FusedOutput
int32_t Coalesce(OpCall& call) {
  using A = args::dt_coalesce;
  const bool copy = call.Bool(A::copy_data);
  const int64_t given = call.Int(A::align_size), alignment = !call.Bool(A::use_align) ? 1
                                                             : given > 0              ? given
                                                                                      : 256;
  std::vector<int64_t> places = {0};
  for (int i = 0; i < call.Count(A::Input); ++i) {
    int64_t room = 0;
    if (!SameType(call, call.Arg(A::Input, 0), call.Arg(A::Input, i)) ||
        !RoomOf(call, call.Arg(A::Input, i), alignment, room))
      return 1;
    if (__builtin_add_overflow(places.back(), room, &room))
      return call.Fail("the parts are too large together");
    places.push_back(room);
  }
  const int64_t size = ElementSize(call.Arg(A::Input, 0));
  char element[16];
  if (!NumberTo(call, call.Arg(A::Input, 0),
                call.Bool(A::set_constant) ? call.Real(A::constant) : 0, element))
    return 1;
  char* whole = nullptr;
  if (call.Has(A::FusedOutput)) {
    DtBuffer& fused = call.Arg(A::FusedOutput);
    const int64_t dims[] = {places.back()};
    if (!SameType(call, call.Arg(A::Input, 0), fused) || !call.Resize(fused, dims)) return 1;
    whole = Data<char>(fused);
    Spread(element, places.back(), size, whole);
  }
  for (int i = 0; i < call.Count(A::Input); ++i) {
    const DtBuffer& part = call.Arg(A::Input, i);
    const auto bytes = static_cast<size_t>(Elements(part) * size);
    if (whole != nullptr && copy)
      std::memcpy(whole + places[static_cast<size_t>(i)] * size, part.data, bytes);
    if (!call.Has(A::Output, i)) continue;
    DtBuffer& out = call.Arg(A::Output, i);
    if (!SameType(call, part, out) || !call.Resize(out, part)) return 1;
    if (copy) std::memcpy(out.data, part.data, bytes);
    else Spread(element, Elements(part), size, Data<char>(out));
  }
  return 0;
}

}  // namespace dtranspile::kernels

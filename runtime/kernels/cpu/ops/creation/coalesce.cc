// coalesce_tensor: several tensors behind one another in one (phi coalesce_tensor_kernel). The
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
  const bool copy = call.Bool(0);
  const int64_t given = call.Int(4), alignment = !call.Bool(3) ? 1 : given > 0 ? given : 256;
  std::vector<int64_t> places = {0};
  for (int i = 0; i < call.Count(0); ++i) {
    int64_t room = 0;
    if (!SameType(call, call.Arg(0, 0), call.Arg(0, i)) ||
        !RoomOf(call, call.Arg(0, i), alignment, room))
      return 1;
    if (__builtin_add_overflow(places.back(), room, &room))
      return call.Fail("the parts are too large together");
    places.push_back(room);
  }
  const int64_t size = ElementSize(call.Arg(0, 0));
  char element[16];
  if (!NumberTo(call, call.Arg(0, 0), call.Bool(1) ? call.Real(2) : 0, element)) return 1;
  char* whole = nullptr;
  if (call.Has(2)) {
    DtBuffer& fused = call.Arg(2);
    const int64_t dims[] = {places.back()};
    if (!SameType(call, call.Arg(0, 0), fused) || !call.Resize(fused, dims)) return 1;
    whole = Data<char>(fused);
    Spread(element, places.back(), size, whole);
  }
  for (int i = 0; i < call.Count(0); ++i) {
    const DtBuffer& part = call.Arg(0, i);
    const auto bytes = static_cast<size_t>(Elements(part) * size);
    if (whole != nullptr && copy)
      std::memcpy(whole + places[static_cast<size_t>(i)] * size, part.data, bytes);
    if (!call.Has(1, i)) continue;
    DtBuffer& out = call.Arg(1, i);
    if (!SameType(call, part, out) || !call.Resize(out, part)) return 1;
    if (copy) std::memcpy(out.data, part.data, bytes);
    else Spread(element, Elements(part), size, Data<char>(out));
  }
  return 0;
}

}  // namespace dtranspile::kernels

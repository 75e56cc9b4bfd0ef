#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

bool CheckBuffer(DtContext* context, int32_t index, const DtBuffer& buffer) {
  if (buffer.space == DT_DEVICE) {
    dt_fail(context, "argument %d is in device memory", index);
    return false;
  }
  int64_t elements = 1;
  for (int32_t i = 0; i < buffer.rank; ++i) {
    if (buffer.dims[i] < 0 || __builtin_mul_overflow(elements, buffer.dims[i], &elements)) {
      dt_fail(context, "extent %lld of argument %d is negative or too large",
              static_cast<long long>(buffer.dims[i]), index);
      return false;
    }
  }
  return true;
}

}  // namespace

bool CheckCall(DtContext* context, const DtCall* call) {
  for (int32_t i = 0; i < call->num_args; ++i)
    if (!CheckBuffer(context, i, call->args[i])) return false;
  return true;
}

int64_t Elements(const DtBuffer& buffer) { return Elements(buffer, 0, buffer.rank); }

int64_t Elements(const DtBuffer& buffer, int32_t from, int32_t to) {
  int64_t elements = 1;
  for (int32_t i = from; i < to; ++i) elements *= buffer.dims[i];
  return elements;
}

bool SameShape(const DtBuffer& a, const DtBuffer& b) {
  if (a.rank != b.rank) return false;
  for (int32_t i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i]) return false;
  return true;
}

}  // namespace dtranspile::kernels

#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

bool CheckCount(DtContext* context, const char* what, int32_t expected, int32_t actual) {
  if (expected == kAny || expected == actual) return true;
  dt_fail(context, "expected %d %s, got %d", expected, what, actual);
  return false;
}

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

bool CheckCall(DtContext* context, const DtCall* call, Counts counts) {
  if (!CheckCount(context, "arguments", counts.args, call->num_args) ||
      !CheckCount(context, "ints", counts.ints, call->num_ints) ||
      !CheckCount(context, "reals", counts.reals, call->num_reals) ||
      !CheckCount(context, "strings", counts.strings, call->num_strings))
    return false;
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

bool CheckSameType(DtContext* context, const DtCall* call, int32_t from, int32_t to) {
  for (int32_t i = from + 1; i < to; ++i) {
    if (call->args[i].dtype == call->args[from].dtype) continue;
    dt_fail(context, "argument %d is %s, argument %d is %s", from, TypeName(call->args[from]), i,
            TypeName(call->args[i]));
    return false;
  }
  return true;
}

}  // namespace dtranspile::kernels

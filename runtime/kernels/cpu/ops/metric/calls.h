// Kernels of the family `metric`, named in metric_calls.cc.
#pragma once

#include "runtime/kernels/args/metric.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// Writes the one number of an output, where somebody reads it; false with a message where the
// output has another type or extents.
template <typename T>
bool PutNumber(OpCall& call, int slot, DType type, T value) {
  if (!call.Has(slot)) return true;
  DtBuffer& out = call.Arg(slot);
  const int64_t one[] = {1};
  if (out.value != nullptr && !call.Resize(out, one)) return false;
  if (TypeOf(out) != type || Elements(out) != 1)
    return call.Fail("output '%s' is no %s of one element", out.name, NameOf(type)), false;
  *Data<T>(out) = value;
  return true;
}

int32_t Auc(OpCall& call);
int32_t ChunkEval(OpCall& call);
int32_t MeanIou(OpCall& call);
int32_t PositiveNegativePair(OpCall& call);
int32_t PrecisionRecall(OpCall& call);

}  // namespace dtranspile::kernels

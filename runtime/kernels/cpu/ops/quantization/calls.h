// Kernels of the family `quantization`, named in quantization_calls.cc; slots and attributes in the
// order of runtime/kernels/signatures/quantization.calls.
#pragma once

#include "runtime/kernels/args/quantization.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// quantize.cc
int32_t QuantizeAbsMax(OpCall& call);
int32_t QuantizeAverage(OpCall& call);
int32_t QuantizeChannels(OpCall& call);
int32_t QuantizeLinear(OpCall& call);
int32_t QuantizeRange(OpCall& call);
int32_t ObserveRange(OpCall& call);

// dequantize.cc
int32_t DequantizeChannels(OpCall& call);
int32_t DequantizeLinear(OpCall& call);

}  // namespace dtranspile::kernels

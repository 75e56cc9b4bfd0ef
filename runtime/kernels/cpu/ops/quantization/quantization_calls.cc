// Library calls: family `quantization`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/quantization/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_dequantize_channels", DenseEntry<DequantizeChannels>, kFloats},
    {"dt_dequantize_linear", DenseEntry<DequantizeLinear>, kPlain},
    {"dt_observe_range", DenseEntry<ObserveRange>, kFloats},
    {"dt_quantize_abs_max", DenseEntry<QuantizeAbsMax>, kFloats},
    {"dt_quantize_average", DenseEntry<QuantizeAverage>, kFloats},
    {"dt_quantize_channels", DenseEntry<QuantizeChannels>, kFloats},
    {"dt_quantize_linear", DenseEntry<QuantizeLinear>, kFloats},
    {"dt_quantize_range", DenseEntry<QuantizeRange>, kFloats},
};

}  // namespace

FunctionTable QuantizationFunctions() { return kRows; }

}  // namespace dtranspile::kernels

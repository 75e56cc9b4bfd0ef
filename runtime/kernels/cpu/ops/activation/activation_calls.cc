// Library calls: family `activation`.
#include "runtime/kernels/cpu/ops/activation/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_causal_softmax", Entry<CausalSoftmax>, kFloats},
    {"dt_complex", Entry<Complex>, kFloats},
    {"dt_complex_abs", Entry<ComplexAbs>, kComplex},
    {"dt_complex_abs_grad", Entry<ComplexAbsGrad>, kComplex},
    {"dt_complex_angle", Entry<ComplexAngle>, kComplex},
    {"dt_complex_angle_grad", Entry<ComplexAngleGrad>, kComplex},
    {"dt_complex_binary", Entry<ComplexBinary>, kComplex},
    {"dt_complex_binary_grad", Entry<ComplexBinaryGrad>, kComplex},
    {"dt_complex_cast", Entry<ComplexCast>, kFloats | kComplex},
    {"dt_complex_grad", Entry<ComplexGrad>, kFloats},
    {"dt_complex_part", Entry<ComplexPart>, kComplex},
    {"dt_complex_part_grad", Entry<ComplexPartGrad>, kComplex},
    {"dt_complex_reduce", Entry<ComplexReduce>, kComplex},
    {"dt_complex_reduce_grad", Entry<ComplexReduceGrad>, kComplex},
    {"dt_complex_scale", Entry<ComplexScale>, kComplex},
    {"dt_complex_sum", Entry<ComplexSum>, kComplex},
    {"dt_complex_view", Entry<ComplexView>, kFloats | kComplex},
    {"dt_nextafter", Entry<NextAfter>, kFloats},
    {"dt_polygamma", Entry<PolygammaOf>, kFloats},
    {"dt_polygamma_grad", Entry<PolygammaGrad>, kFloats},
    {"dt_special", Entry<Special>, kFloats},
    {"dt_special_grad", Entry<SpecialGrad>, kFloats},
};

}  // namespace

FunctionTable ActivationFunctions() { return kRows; }

}  // namespace dtranspile::kernels

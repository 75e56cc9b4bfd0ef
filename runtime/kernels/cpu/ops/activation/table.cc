// Library calls: family `activation`.
#include "runtime/kernels/cpu/ops/activation/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_complex", Entry<Complex>},
    {"dt_complex_grad", Entry<ComplexGrad>},
    {"dt_complex_part", Entry<ComplexPart>},
    {"dt_complex_part_grad", Entry<ComplexPartGrad>},
    {"dt_special", Entry<Special>},
    {"dt_special_grad", Entry<SpecialGrad>},
};

}  // namespace

FunctionTable ActivationFunctions() { return kRows; }

}  // namespace dtranspile::kernels

// Library calls: family `control_flow`.
#include "runtime/kernels/cpu/ops/control_flow/calls.h"
#include "runtime/kernels/cpu/ops/control_flow/loop.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_all_have_elements", Entry<AllHaveElements>},
    {"dt_loop_begin", Entry<LoopBegin>},
    {"dt_loop_next", Entry<LoopNext>},
    {"dt_select_input", Entry<SelectInput>},
    {"dt_select_output", Entry<SelectOutput>},
    {"dt_assert", Entry<Assert>},
};

}  // namespace

FunctionTable ControlFlowFunctions() { return kRows; }

}  // namespace dtranspile::kernels

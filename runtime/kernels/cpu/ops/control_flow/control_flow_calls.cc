// Library calls: family `control_flow`.
#include "runtime/kernels/cpu/ops/control_flow/calls.h"
#include "runtime/kernels/cpu/ops/control_flow/loop.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_all_have_elements", Entry<AllHaveElements>, kAnyType},
    {"dt_loop_begin", Entry<LoopBegin>, kBools},
    {"dt_loop_next", Entry<LoopNext>, kBools},
    {"dt_select_input", Entry<SelectInput>, kAnyType},
    {"dt_select_output", Entry<SelectOutput>, kAnyType},
    {"dt_assert", Entry<Assert>, kNumbers | kBools},
};

}  // namespace

FunctionTable ControlFlowFunctions() { return kRows; }

}  // namespace dtranspile::kernels

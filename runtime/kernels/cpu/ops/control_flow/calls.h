// Kernels of the family `control_flow`, named in control_flow_calls.cc: what stands beside the
// blocks. Slots and attributes: runtime/kernels/signatures/control_flow.calls.
#pragma once

#include "runtime/kernels/args/control_flow.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t SelectInput(OpCall& call);
int32_t SelectOutput(OpCall& call);
int32_t Assert(OpCall& call);

}  // namespace dtranspile::kernels

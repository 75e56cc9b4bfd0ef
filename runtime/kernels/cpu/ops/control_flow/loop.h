// Kernels around the blocks of recurrent and conditional_block, named in control_flow_calls.cc.
//
// dt_loop_begin         Sequence -> Step, More   attribute reverse: Step (int64 [1]) at the first
// row of Sequence, or the last; More: is there one dt_loop_next          the same; Step goes on by
// one row dt_all_have_elements  X (a list) -> bool [1]
#pragma once

#include "runtime/kernels/args/control_flow.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t LoopBegin(OpCall& call);
int32_t LoopNext(OpCall& call);
int32_t AllHaveElements(OpCall& call);

}  // namespace dtranspile::kernels

// Kernels of the family `optimizer`, named in optimizer_calls.cc: updates by SelectedRows that
// touch the listed rows only. Slots and attributes: runtime/kernels/signatures/optimizer.calls,
// where the formulas of dense updates are.
#pragma once

#include "runtime/kernels/args/optimizer.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// rows.cc
int32_t SgdRows(OpCall& call);
int32_t AdagradRows(OpCall& call);
int32_t AdamRows(OpCall& call);
int32_t FtrlRows(OpCall& call);
int32_t Dpsgd(OpCall& call);

}  // namespace dtranspile::kernels

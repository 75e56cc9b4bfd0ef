// Kernels of the family `host`, named in host_calls.cc; slots and attributes in the order of
// runtime/kernels/signatures/host.calls.
#pragma once

#include "runtime/kernels/args/host.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// print.cc
int32_t Print(OpCall& call);

}  // namespace dtranspile::kernels

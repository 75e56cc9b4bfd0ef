// Kernels of the family `logical`, named in logical_calls.cc; slots and attributes in the order of
// runtime/kernels/signatures/logical.calls.
#pragma once

#include "runtime/kernels/args/logical.h"
#include "runtime/kernels/cpu/axis_map.h"

namespace dtranspile::kernels {

// tests.cc
int32_t EqualAll(OpCall& call);
int32_t Close(OpCall& call);
int32_t WholeTest(OpCall& call);
int32_t IsEmpty(OpCall& call);
int32_t WhereIndex(OpCall& call);

// bitwise.cc
int32_t Bitwise(OpCall& call);

}  // namespace dtranspile::kernels

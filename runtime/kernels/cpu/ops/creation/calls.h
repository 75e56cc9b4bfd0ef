// Kernels of the family `creation`, named in creation_calls.cc; slots and attributes in the order
// of runtime/kernels/signatures/creation.calls.
#pragma once

#include "runtime/kernels/args/creation.h"
#include "runtime/kernels/cpu/axis_map.h"

namespace dtranspile::kernels {

// constants.cc
int32_t FillConstant(OpCall& call);
int32_t FillBatchLike(OpCall& call);
int32_t FillLike(OpCall& call);
int32_t AssignValue(OpCall& call);
int32_t Fill(OpCall& call);
int32_t Empty(OpCall& call);
int32_t Eye(OpCall& call);

// coalesce.cc
int32_t Coalesce(OpCall& call);

// ranges.cc
int32_t Range(OpCall& call);
int32_t Linspace(OpCall& call);
int32_t Logspace(OpCall& call);
int32_t Triangle(OpCall& call);

}  // namespace dtranspile::kernels

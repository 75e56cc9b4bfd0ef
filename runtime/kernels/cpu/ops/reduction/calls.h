// Kernels of the family `reduction`, named in reduction_calls.cc. Slots and attributes:
// runtime/kernels/signatures/reduction.calls.
#pragma once

#include "runtime/kernels/args/reduction.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// order.cc
int32_t ArgExtreme(OpCall& call);
int32_t Sort(OpCall& call);
int32_t TopK(OpCall& call);
int32_t KthValue(OpCall& call);
int32_t Mode(OpCall& call);
int32_t SelectedGrad(OpCall& call);
int32_t NanMedian(OpCall& call);
int32_t NanMedianGrad(OpCall& call);

// scan.cc
int32_t CumulativeSum(OpCall& call);
int32_t CumulativeProduct(OpCall& call);
int32_t CumulativeProductGrad(OpCall& call);
int32_t LogCumulativeSum(OpCall& call);
int32_t LogCumulativeSumGrad(OpCall& call);

// extremes.cc
int32_t CumulativeExtreme(OpCall& call);
int32_t CumulativeExtremeGrad(OpCall& call);

// bins.cc
int32_t Histogram(OpCall& call);
int32_t BinCount(OpCall& call);
int32_t SearchSorted(OpCall& call);

// unique.cc
int32_t Unique(OpCall& call);

}  // namespace dtranspile::kernels

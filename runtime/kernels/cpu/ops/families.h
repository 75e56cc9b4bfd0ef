// The families of library calls that take an op slot by slot (op_call.h): one folder each, ops/<family>/, whose table.cc names its kernels.
// Joined by table.h.
#pragma once

#include "absl/types/span.h"
#include "runtime/exec/abi.h"

namespace dtranspile::kernels {

struct FunctionRow {
  const char* name;
  DtFunction function;
};

using FunctionTable = absl::Span<const FunctionRow>;

FunctionTable ActivationFunctions();
FunctionTable AmpFunctions();
FunctionTable ControlFlowFunctions();
FunctionTable ConvolutionFunctions();
FunctionTable CreationFunctions();
FunctionTable DetectionFunctions();
FunctionTable ElementwiseFunctions();
FunctionTable EmbeddingFunctions();
FunctionTable HostFunctions();
FunctionTable IndexingFunctions();
FunctionTable InterpolationFunctions();
FunctionTable LinearAlgebraFunctions();
FunctionTable LogicalFunctions();
FunctionTable LossFunctions();
FunctionTable MetricFunctions();
FunctionTable NormalizationFunctions();
FunctionTable OptimizerFunctions();
FunctionTable RandomFunctions();
FunctionTable RecurrentFunctions();
FunctionTable ReductionFunctions();
FunctionTable SequenceFunctions();
FunctionTable ShapeFunctions();
FunctionTable TensorArrayFunctions();

}  // namespace dtranspile::kernels

// The families of library calls that take an op slot by slot (op_call.h): one folder each,
// ops/<family>/, whose <family>_calls.cc names its kernels. Joined by call_table.h.
#pragma once

#include "absl/types/span.h"
#include "runtime/exec/abi.h"
#include "runtime/kernels/type_set.h"

namespace dtranspile::kernels {

struct FunctionRow {
  const char* name;
  DtFunction function;
  TypeSet types;  // of the elements that it computes with or moves (gradients: of what they give),
                  // for `dtranspile ops`; indices beside them are kIndices
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
FunctionTable QuantizationFunctions();
FunctionTable RandomFunctions();
FunctionTable RecurrentFunctions();
FunctionTable ReductionFunctions();
FunctionTable SequenceFunctions();
FunctionTable ShapeFunctions();
FunctionTable TensorArrayFunctions();

}  // namespace dtranspile::kernels

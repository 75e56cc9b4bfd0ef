// The families of library calls that take an op slot by slot (op_call.h): one folder each,
// ops/<family>/, whose <family>_calls.cc names its kernels. Joined by call_table.h.
#pragma once

#include <initializer_list>

#include "absl/types/span.h"
#include "runtime/base/dtype.h"
#include "runtime/exec/abi.h"

namespace dtranspile::kernels {

// Element types: bit 1 << code.
using TypeSet = uint64_t;

constexpr TypeSet TypesOf(std::initializer_list<DType> types) {
  TypeSet set = 0;
  for (DType type : types) set |= TypeSet{1} << static_cast<int>(type);
  return set;
}

// The choices of support.h and small_float.h.
constexpr TypeSet kBools = TypesOf({DType::kBool});
constexpr TypeSet kIndices = TypesOf({DType::kInt32, DType::kInt64});
constexpr TypeSet kWholes =
    kBools | kIndices | TypesOf({DType::kInt8, DType::kUInt8, DType::kInt16});
constexpr TypeSet kFloats = TypesOf({DType::kFloat32, DType::kFloat64});
constexpr TypeSet kAnyFloats = kFloats | TypesOf({DType::kFloat16, DType::kBFloat16});
constexpr TypeSet kNumbers = kFloats | kIndices;
constexpr TypeSet kPlain = kFloats | kWholes;
constexpr TypeSet kReals =
    kAnyFloats | kWholes | TypesOf({DType::kUInt32, DType::kUInt64, DType::kSizeT});
constexpr TypeSet kComplex = TypesOf({DType::kComplex64, DType::kComplex128});
constexpr TypeSet kAnyType = kReals | kComplex;  // moves elements or reads extents only

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
FunctionTable RandomFunctions();
FunctionTable RecurrentFunctions();
FunctionTable ReductionFunctions();
FunctionTable SequenceFunctions();
FunctionTable ShapeFunctions();
FunctionTable TensorArrayFunctions();

}  // namespace dtranspile::kernels

#include "runtime/kernels/cpu/call_table.h"

#include <map>

#include "runtime/kernels/cpu/conv.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/indexing.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/pool.h"
#include "runtime/kernels/cpu/random/calls.h"
#include "runtime/kernels/cpu/shape.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_accuracy", dt_accuracy, kFloats},
    {"dt_cast", dt_cast, kReals},
    {"dt_check_range", dt_check_range, kIndices},
    {"dt_conv", dt_conv, kFloats},
    {"dt_conv_bwd_data", dt_conv_bwd_data, kFloats},
    {"dt_conv_bwd_weights", dt_conv_bwd_weights, kFloats},
    {"dt_gaussian_random", dt_gaussian_random, kFloats},
    {"dt_gemm", dt_gemm, kFloats},
    {"dt_pool", dt_pool, kFloats},
    {"dt_pool_bwd", dt_pool_bwd, kFloats},
    {"dt_pool_index", dt_pool_index, kFloats},
    {"dt_random_stream", dt_random_stream, kAnyType},
    {"dt_reshape", dt_reshape, kAnyType},
    {"dt_transpose", dt_transpose, kAnyType},
    {"dt_truncated_gaussian_random", dt_truncated_gaussian_random, kFloats},
    {"dt_uniform_random", dt_uniform_random, kFloats},
};

FunctionTable ownFunctions() { return kRows; }

constexpr FunctionTable (*kFamilies[])() = {
    ownFunctions,           ActivationFunctions, AmpFunctions,       ControlFlowFunctions,
    ConvolutionFunctions,   CreationFunctions,   DetectionFunctions, ElementwiseFunctions,
    EmbeddingFunctions,     HostFunctions,       IndexingFunctions,  InterpolationFunctions,
    LinearAlgebraFunctions, LogicalFunctions,    LossFunctions,      MetricFunctions,
    NormalizationFunctions, OptimizerFunctions,  RandomFunctions,    RecurrentFunctions,
    ReductionFunctions,     SequenceFunctions,   ShapeFunctions,     TensorArrayFunctions,
};

const std::map<std::string, FunctionRow>& Index() {
  static const auto* index = [] {
    auto* map = new std::map<std::string, FunctionRow>();
    for (const auto family : kFamilies)
      for (const FunctionRow& row : family()) map->emplace(row.name, row);
    return map;
  }();
  return *index;
}

}  // namespace

DtFunction FindFunction(const std::string& name) {
  const auto found = Index().find(name);
  return found == Index().end() ? nullptr : found->second.function;
}

uint64_t ElementTypesOf(const std::string& name) {
  const auto found = Index().find(name);
  return found == Index().end() ? 0 : found->second.types;
}

}  // namespace dtranspile::kernels

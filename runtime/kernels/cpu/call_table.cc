#include "runtime/kernels/cpu/call_table.h"

#include <map>

#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionTable (*kFamilies[])() = {
    ActivationFunctions, AmpFunctions,          ControlFlowFunctions,   ConvolutionFunctions,
    CreationFunctions,   DetectionFunctions,    ElementwiseFunctions,   EmbeddingFunctions,
    HostFunctions,       IndexingFunctions,     InterpolationFunctions, LinearAlgebraFunctions,
    LogicalFunctions,    LossFunctions,         MetricFunctions,        NormalizationFunctions,
    OptimizerFunctions,  QuantizationFunctions, RandomFunctions,        RecurrentFunctions,
    ReductionFunctions,  SequenceFunctions,     ShapeFunctions,         TensorArrayFunctions,
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

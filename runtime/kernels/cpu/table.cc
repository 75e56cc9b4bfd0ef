#include "runtime/kernels/cpu/table.h"

#include <algorithm>

#include "runtime/kernels/cpu/conv.h"
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/indexing.h"
#include "runtime/kernels/cpu/pool.h"
#include "runtime/kernels/cpu/random/calls.h"
#include "runtime/kernels/cpu/reduce.h"
#include "runtime/kernels/cpu/shape.h"

namespace dtranspile::kernels {
namespace {

struct Row {
  const char* name;
  DtFunction function;
};

constexpr Row kRows[] = {
    {"dt_accuracy", dt_accuracy},
    {"dt_cast", dt_cast},
    {"dt_check_range", dt_check_range},
    {"dt_concat", dt_concat},
    {"dt_conv2d", dt_conv2d},
    {"dt_conv2d_bwd_data", dt_conv2d_bwd_data},
    {"dt_conv2d_bwd_weights", dt_conv2d_bwd_weights},
    {"dt_cumsum", dt_cumsum},
    {"dt_gaussian_random", dt_gaussian_random},
    {"dt_gaussian_random", dt_gaussian_random},
    {"dt_gemm", dt_gemm},
    {"dt_lookup_table", dt_lookup_table},
    {"dt_lookup_table_grad", dt_lookup_table_grad},
    {"dt_pool2d", dt_pool2d},
    {"dt_pool2d_bwd", dt_pool2d_bwd},
    {"dt_reduce", dt_reduce},
    {"dt_split", dt_split},
    {"dt_top_k", dt_top_k},
    {"dt_transpose", dt_transpose},
    {"dt_truncated_gaussian_random", dt_truncated_gaussian_random},
    {"dt_uniform_random", dt_uniform_random},
    {"dt_truncated_gaussian_random", dt_truncated_gaussian_random},
    {"dt_uniform_random", dt_uniform_random},
};

}  // namespace

DtFunction FindFunction(const std::string& name) {
  for (const Row& row : kRows)
    if (name == row.name) return row.function;
  return nullptr;
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace dtranspile::kernels

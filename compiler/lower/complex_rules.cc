#include "compiler/lower/complex_rules.h"

namespace dtranspile::lower {
namespace {

constexpr const char* kBinary = "dt_complex_binary";
constexpr const char* kBinaryGrad = "dt_complex_binary_grad";

const LoweringRule kRules[] = {
    callRule("elementwise_add", kBinary),
    callRule("elementwise_add_grad", kBinaryGrad),
    callRule("elementwise_sub", kBinary),
    callRule("elementwise_sub_grad", kBinaryGrad),
    callRule("elementwise_mul", kBinary),
    callRule("elementwise_mul_grad", kBinaryGrad),
    callRule("elementwise_div", kBinary),
    callRule("elementwise_div_grad", kBinaryGrad),
    callRule("grad_add", kBinary),
    callRule("sum", "dt_complex_sum"),
    callRule("reduce_sum", "dt_complex_reduce"),
    callRule("reduce_sum_grad", "dt_complex_reduce_grad"),
    callRule("reduce_mean", "dt_complex_reduce"),
    callRule("reduce_mean_grad", "dt_complex_reduce_grad"),
    callRule("scale", "dt_complex_scale"),
    callRule("cast", "dt_complex_cast"),
    callRule("matmul_v2", "dt_complex_matmul"),
    callRule("matmul_v2_grad", "dt_complex_matmul_grad"),
    callRule("abs", "dt_complex_abs"),
    callRule("abs_grad", "dt_complex_abs_grad"),
    callRule("angle", "dt_complex_angle"),
    callRule("angle_grad", "dt_complex_angle_grad"),
};

}  // namespace

const LoweringRule* findComplexRule(llvm::StringRef type) {
  for (const LoweringRule& rule : kRules)
    if (type == rule.type) return &rule;
  return nullptr;
}

bool isComplex(DType type) { return type == DType::kComplex64 || type == DType::kComplex128; }

}  // namespace dtranspile::lower

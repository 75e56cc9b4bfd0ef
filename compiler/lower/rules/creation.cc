// Lowering rules: family `creation`.
#include <cmath>

#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// str_value, where given, holds the exact number; `value` is a float32.
LogicalResult lowerFillConstant(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  for (const char* slot : {"ValueTensor", "ShapeTensor", "ShapeTensorList"}) {
    if (op.has(slot)) return op.unsupported(llvm::Twine("input ") + slot);
  }
  double value = op.op().getFloat("value");
  const std::string text = op.op().getString("str_value");
  if (!text.empty()) {
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    if (*end != '\0') return op.unsupported("str_value '" + text + "'");
  }
  if (std::fabs(value) > 9007199254740992.0 && !isFloat(scalarOf(out->dtype))) return op.unsupported("an integer constant above 2^53");
  return op.formula("Out = constant", {.numbers = {{"constant", value}}});
}

LogicalResult lowerFillLike(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  const double value = op.op().hasAttr("value") ? op.op().getFloat("value") : 0;
  return op.formula("Out = constant", {.numbers = {{"constant", value}}});
}

const LoweringRule kRules[] = {
    {"fill_constant", Inner::None, nullptr, lowerFillConstant},
    {"fill_constant_batch_size_like", Inner::None, nullptr, lowerFillConstant},
    {"fill_any_like", Inner::None, nullptr, lowerFillLike},
    {"fill_zeros_like", Inner::None, nullptr, lowerFillLike},
};

}  // namespace

RuleTable creationRules() { return kRules; }

}  // namespace dtranspile::lower

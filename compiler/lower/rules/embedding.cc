// Lowering rules: family `embedding`, dense gradients.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

LogicalResult lowerLookup(OpLowering& op) {
  auto w = op.in("W"), ids = op.in("Ids"), out = op.out("Out");
  if (!w || !ids || !out) return op.unsupported("an absent input");
  op.call("dt_lookup_table", {*w, *ids}, {*out}, {.ints = {op.op().getInt("padding_idx"), op.op().type() == "lookup_table"}, .anyExtents = true});
  return llvm::success();
}

LogicalResult lowerLookupGrad(OpLowering& op) {
  auto ids = op.in("Ids"), gradient = op.in("Out@GRAD"), dw = op.out("W@GRAD");
  if (!ids || !gradient || !dw) return op.unsupported("an absent input");
  op.call("dt_lookup_table_grad", {*ids, *gradient}, {*dw}, {.ints = {op.op().getInt("padding_idx")}, .anyExtents = true});
  return llvm::success();
}

const LoweringRule kRules[] = {
    {"lookup_table", Inner::None, nullptr, lowerLookup},
    {"lookup_table_grad", Inner::None, nullptr, lowerLookupGrad},
    {"lookup_table_v2", Inner::None, nullptr, lowerLookup},
    {"lookup_table_v2_grad", Inner::None, nullptr, lowerLookupGrad},
};

}  // namespace

RuleTable embeddingRules() { return kRules; }

}  // namespace dtranspile::lower

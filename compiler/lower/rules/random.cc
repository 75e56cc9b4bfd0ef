// Lowering rules: family `random`: the framework's own generators, by program version (runtime/kernels/cpu/random).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

int64_t release(OpLowering& op) { return op.version() > 0 && op.version() < 2000000 ? 0 : 1; }

LogicalResult lowerUniform(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  const pd::OpView& v = op.op();
  op.call("dt_uniform_random", {}, {*out},
          {.ints = {release(op), v.getInt("seed"), v.getInt("diag_num"), v.getInt("diag_step")}, .reals = {v.getFloat("min"), v.getFloat("max"), v.getFloat("diag_val")}});
  return llvm::success();
}

LogicalResult lowerGaussian(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  const pd::OpView& v = op.op();
  const bool truncated = v.type() == "truncated_gaussian_random";
  op.call(truncated ? "dt_truncated_gaussian_random" : "dt_gaussian_random", {}, {*out},
          {.ints = {release(op), v.getInt("seed")}, .reals = {v.getFloat("mean"), v.getFloat("std")}});
  return llvm::success();
}

const LoweringRule kRules[] = {
    {"uniform_random", Inner::None, nullptr, lowerUniform},
    {"gaussian_random", Inner::None, nullptr, lowerGaussian},
    {"truncated_gaussian_random", Inner::None, nullptr, lowerGaussian},
};

}  // namespace

RuleTable randomRules() { return kRules; }

}  // namespace dtranspile::lower

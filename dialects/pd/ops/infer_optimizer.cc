// Inference and constraints of optimizers and loss scaling. Rows: optimizer.cc, amp.cc.
#include "dialects/pd/ops/infer_optimizer.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::pd {
namespace {

struct Pair {
  llvm::StringRef output, input;
};

constexpr Pair kPairs[] = {
    {"SquaredAccumOut", "SquaredAccumulator"},
    {"LinearAccumOut", "LinearAccumulator"},
    {"Grad_out", "Grad"},
    {"LossScaling", "PrevLossScaling"},
    {"OutGoodSteps", "InGoodSteps"},
    {"OutBadSteps", "InBadSteps"},
    {"out_sum_1", "in_sum_1"},
    {"out_sum_2", "in_sum_2"},
    {"out_sum_3", "in_sum_3"},
    {"out_num_accumulates", "in_num_accumulates"},
    {"out_old_num_accumulates", "in_old_num_accumulates"},
    {"out_num_updates", "in_num_updates"},
    {"Out", "X"},
};

llvm::StringRef inputOf(llvm::StringRef output) {
  for (const Pair& pair : kPairs)
    if (pair.output == output) return pair.input;
  return output.consume_back("Out") ? output : llvm::StringRef();
}

}  // namespace

llvm::LogicalResult inferStateUpdate(InferContext& c) {
  for (unsigned i = 0, n = c.inCount("Param"); i < n; ++i) {
    const TensorInfo *param = c.in("Param", i), *grad = c.in("Grad", i);
    if (param && grad && grad->kind == Kind::Tensor && param->rankKnown && grad->rankKnown &&
        !agree(DimsRef(param->dims), DimsRef(grad->dims)))
      return c.fail("has Grad " + textOf(grad->dims) + " for Param " + textOf(param->dims) +
                    "; make them alike");
  }
  for (const std::string& slot : c.op().outputSlots()) {
    llvm::StringRef input = inputOf(slot);
    for (unsigned i = 0, n = c.outCount(slot); i < n; ++i) {
      const TensorInfo* info = input.empty() ? nullptr : c.in(input, i);
      if (!info) return c.fail("has output '" + slot + "' without the state that it replaces");
      c.out(slot, i, *info);
    }
  }
  return llvm::success();
}

llvm::LogicalResult inferCheckFinite(InferContext& c) {
  if (failed(inferSameAs(c, "X", "Out"))) return llvm::failure();
  c.out("FoundInfinite", tensorInfo(DType::kBool, {1}));
  return llvm::success();
}

const Constraint kOptimizerConstraints[2] = {
    {"C1", "Grad must have the extents of Param",
     [](const OpView& op, std::string& found) {
       for (unsigned i = 0, n = op.inputCount("Param"); i < n; ++i) {
         std::optional<Dims> param = declaredDims(op, "Param", i),
                             grad = declaredDims(op, "Grad", i);
         if (!param || !grad || agree(*param, *grad)) continue;
         found = "Param " + textOf(*param) + ", Grad " + textOf(*grad);
         return llvm::failure();
       }
       return llvm::success();
     }},
    {"C2", "LearningRate must have one element",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> rate = declaredDims(op, "LearningRate");
       if (!rate || agree(productOf(*rate).value_or(-1), 1)) return llvm::success();
       found = "LearningRate " + textOf(*rate);
       return llvm::failure();
     }},
};

}  // namespace dtranspile::pd

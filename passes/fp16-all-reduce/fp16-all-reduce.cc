// Half as many bytes per gradient. After reduce-gradients, before bucket.
#include "compiler/analysis/relations/contract_texts.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "passes/fp16-all-reduce/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_FP16ALLREDUCE
#include "passes/fp16-all-reduce/pass.h.inc"

namespace {

constexpr llvm::StringLiteral kWire = "fp16_wire";

class Fp16AllReduce : public impl::Fp16AllReduceBase<Fp16AllReduce> {
 public:
  using Fp16AllReduceBase::Fp16AllReduceBase;

  // Casts every summed gradient to float16 and back around its sum, and lists them in the contract
  // fp16_wire: what is rounded on the wire is no longer exact.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    auto comms = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    if (job->ranks == 1) return;
    std::vector<dist::AllReduceOp> sums;
    job->main.walk([&](dist::AllReduceOp op) {
      if (isGradient(op, *comms)) sums.push_back(op);
    });
    std::vector<std::string> rounded;
    for (dist::AllReduceOp op : sums) rounded.push_back(round(op));
    if (!rounded.empty()) addContract(getOperation(), kWire, verify::contractText(kWire), rounded);
  }

 private:
  static bool isGradient(dist::AllReduceOp op, llvm::ArrayRef<dist::CommOp> comms) {
    if (op.getReduce() != dist::Reduce::Sum || op->getNumOperands() != 1) return false;
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
    return type && type.getElementType().isF32() && llvm::any_of(comms, [&](dist::CommOp comm) {
             return op.getCommAttr() == symbolOf(comm);
           });
  }

  // Returns the name of what is rounded.
  std::string round(dist::AllReduceOp op) {
    mlir::Value gradient = op.getInputs()[0], sum = op->getResult(0);
    const std::string name = dist::nameOf(gradient).str();  // in a guard an argument has none
    mlir::Block* block = op->getBlock();
    const std::string half = declarations_.freshName(block, name + ".cast_fp16");
    mlir::OpBuilder builder(op);
    mlir::Value cast = castTo(builder, gradient, builder.getF16Type(), half, pd::kBackward);
    op->setOperand(0, cast);
    sum.setType(cast.getType());
    // Behind all that is under way until then: buckets end at the first use of a sum.
    mlir::Operation* first = nullptr;
    for (mlir::Operation* user : sum.getUsers()) {
      mlir::Operation* at = inBlock(block, user);
      if (!first || at->isBeforeInBlock(first)) first = at;
    }
    if (!first) return name;
    builder.setInsertionPoint(first);
    mlir::Value back = castTo(builder, sum, builder.getF32Type(),
                              declarations_.freshName(block, half + ".cast_fp32"), pd::kOptimize);
    sum.replaceAllUsesExcept(back, back.getDefiningOp());
    return name;
  }

  mlir::Value castTo(mlir::OpBuilder& builder, mlir::Value value, mlir::Type element,
                     const std::string& name, int role) {
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    const auto code = [&](mlir::Type one) {
      return builder.getI32IntegerAttr(static_cast<int32_t>(*pd::dtypeOf(one)));
    };
    return declarations_
        .create(builder, value.getLoc(), "cast", {{"X", {value}}},
                {{"Out", {{name, type.clone(element)}}}},
                {builder.getNamedAttr("in_dtype", code(type.getElementType())),
                 builder.getNamedAttr("out_dtype", code(element))},
                role)
        .output("Out");
  }

  pd::Declarations declarations_;
};

}  // namespace
}  // namespace dtranspile::passes

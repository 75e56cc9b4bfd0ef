#include "compiler/lower/codegen/pipeline.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace dtranspile::lower {
namespace {

// exp, log, tanh, erf … as polynomials: they vectorise, need no library and treat NaN and
// infinities right. sin and cos are left out (wrong near multiples of pi): they call libm. MLIR
// registers no pass for these patterns outside its tests.
class PolynomialMath
    : public mlir::PassWrapper<PolynomialMath, mlir::OperationPass<mlir::func::FuncOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PolynomialMath)
  llvm::StringRef getArgument() const override { return "kernel-polynomial-math"; }
  llvm::StringRef getDescription() const override {
    return "Polynomial approximations of math functions";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry
        .insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::vector::VectorDialect>();
  }
  void runOnOperation() override {
    static constexpr llvm::StringLiteral kFunctions[] = {
        "math.exp", "math.expm1", "math.log", "math.log1p", "math.log2", "math.tanh", "math.erf"};
    mlir::RewritePatternSet patterns(&getContext());
    mlir::populateMathPolynomialApproximationPatterns(
        patterns, [](llvm::StringRef name) { return llvm::is_contained(kFunctions, name); });
    if (mlir::failed(mlir::applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

// bfloat16 as arithmetic on bits. Few machines convert to it, those that do take denormal numbers
// for zero, and the runtime library that would do it does not come with the system. Before anything
// is simplified: of a bool or integer that becomes float32 and then bfloat16, one conversion is
// made otherwise, which needs that library and rounds once where the framework rounds twice.
class ExpandBFloat16
    : public mlir::PassWrapper<ExpandBFloat16, mlir::OperationPass<mlir::func::FuncOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandBFloat16)
  llvm::StringRef getArgument() const override { return "kernel-expand-bfloat16"; }
  llvm::StringRef getDescription() const override { return "bfloat16 by arithmetic on bits"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<mlir::arith::ArithDialect>();
  }
  void runOnOperation() override {
    mlir::RewritePatternSet patterns(&getContext());
    mlir::arith::populateExpandBFloat16Patterns(patterns);
    if (mlir::failed(mlir::applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

}  // namespace

mlir::DialectRegistry kernelDialects() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  return registry;
}

// Order matters in two places: bfloat16 is expanded to integer arithmetic before anything else sees
// it, and polynomials for exp, tanh, erf and log come before the conversions that would call a
// library for them. Bare pointers as arguments carry `noalias`, which memref descriptors cannot.
std::unique_ptr<mlir::PassManager> kernelPipeline(mlir::MLIRContext& context) {
  auto passes = std::make_unique<mlir::PassManager>(&context);
  mlir::OpPassManager& function = passes->nest<mlir::func::FuncOp>();
  function.addPass(std::make_unique<ExpandBFloat16>());
  function.addPass(mlir::createCanonicalizerPass());
  function.addPass(mlir::createCSEPass());
  function.addPass(mlir::createLoopInvariantCodeMotionPass());
  passes->addPass(mlir::createSCFToControlFlowPass());
  mlir::OpPassManager& scalar = passes->nest<mlir::func::FuncOp>();
  scalar.addPass(std::make_unique<PolynomialMath>());
  scalar.addPass(mlir::createCanonicalizerPass());
  scalar.addPass(mlir::createCSEPass());
  passes->addPass(mlir::arith::createArithExpandOpsPass());
  passes->addPass(mlir::createConvertMathToLLVMPass());
  passes->addPass(mlir::createConvertMathToLibmPass());
  passes->addPass(mlir::memref::createExpandStridedMetadataPass());
  passes->addPass(mlir::createFinalizeMemRefToLLVMConversionPass());
  passes->addPass(mlir::createArithToLLVMConversionPass());
  passes->addPass(mlir::createConvertIndexToLLVMPass());
  mlir::ConvertFuncToLLVMPassOptions options;
  options.useBarePtrCallConv = true;
  passes->addPass(mlir::createConvertFuncToLLVMPass(options));
  passes->addPass(mlir::createConvertControlFlowToLLVMPass());
  passes->addPass(mlir::createReconcileUnrealizedCastsPass());
  return passes;
}

}  // namespace dtranspile::lower

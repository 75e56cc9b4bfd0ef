#include "compiler/pipelines/checks.h"

#include "compiler/verify/relations/relations.h"
#include "dialects/pd/op_table.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

namespace dtranspile {
namespace {

struct Refusal {
  const char* type;
  const char* why;
};

constexpr const char* kFiles =
    "every rank would read or write the same file at every step; do it outside of the program (run "
    "--init, --save)";
constexpr const char* kReader =
    "its batches come from a reader of the framework's process; save the program with feeds";
constexpr Refusal kInMain[] = {
    {"save", kFiles},
    {"save_combine", kFiles},
    {"load", kFiles},
    {"load_combine", kFiles},
    {"read", kReader},
    {"create_py_reader", kReader},
    {"create_double_buffer_reader", kReader},
    {"create_custom_reader", kReader},
};

const char* whyNot(mlir::Operation* op, bool main) {
  const pd::OpView view(op);
  if (!view.spec()) return "has no row: it cannot be rewritten, checked or run";
  if (view.spec()->effects & pd::kCommunicates)
    return "communicates already; give the single-device program";
  if (!main) return nullptr;
  for (const Refusal& row : kInMain)
    if (view.type() == row.type) return row.why;
  return nullptr;
}

mlir::LogicalResult checkSource(mlir::ModuleOp module) {
  bool good = true;
  for (auto program : module.getOps<pd::ProgramOp>()) {
    const bool main = program.getSymName() == "main";
    program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (op->getName().stripDialect() == "orphan_block")
        return mlir::WalkResult::skip();  // no op refers to it: it is never run
      const char* why = pd::OpView::isFrameworkOp(op) ? whyNot(op, main) : nullptr;
      if (!why) return mlir::WalkResult::advance();
      op->emitError() << pd::OpView(op).type() << ": " << why;
      good = false;
      return mlir::WalkResult::advance();
    });
  }
  return mlir::success(good);
}

class CheckSource : public mlir::PassWrapper<CheckSource, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckSource)
  llvm::StringRef getArgument() const override { return "check-source"; }
  llvm::StringRef getDescription() const override {
    return "refuses programs that no job can be made of";
  }
  void runOnOperation() override {
    if (mlir::failed(checkSource(getOperation()))) signalPassFailure();
    markAllAnalysesPreserved();
  }
};

class DeclareSites : public mlir::PassWrapper<DeclareSites, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeclareSites)
  llvm::StringRef getArgument() const override { return "declare-sites"; }
  llvm::StringRef getDescription() const override {
    return "declares the ops that are evaluated on each rank's share of the batch";
  }
  void runOnOperation() override { verify::declareSites(getOperation()); }
};

}  // namespace

void registerChecks() {
  mlir::PassRegistration<CheckSource>();
  mlir::PassRegistration<DeclareSites>();
}

}  // namespace dtranspile

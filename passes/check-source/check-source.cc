// Refuses programs that no job can be made of. First pass of every pipeline.
#include "dialects/pd/op_table.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/check-source/pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_CHECKSOURCE
#include "passes/check-source/pass.h.inc"

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

// All ops are looked at, so that every reason is reported at once. Blocks that no op refers to
// never run, and are left out.
mlir::LogicalResult check(mlir::ModuleOp module) {
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

struct CheckSource : impl::CheckSourceBase<CheckSource> {
  void runOnOperation() override {
    if (mlir::failed(check(getOperation()))) signalPassFailure();
  }
};

}  // namespace
}  // namespace dtranspile::passes

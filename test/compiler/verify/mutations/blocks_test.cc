// Planted bugs inside of loops and branches.
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

const char* const kPrograms[] = {"fluid18/while_loop", "fluid18/dynamic_rnn", "fluid18/cond_branch",
                                 "fluid18/static_rnn"};

// Framework ops inside of blocks.
std::vector<mlir::Operation*> innerOps(pd::ProgramOp main) {
  std::vector<mlir::Operation*> ops;
  main.walk([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op) && op->getBlock() != main.getBodyBlock() &&
        op->getNumRegions() == 0)
      ops.push_back(op);
  });
  return ops;
}

bool swapOperands(mlir::Operation* op) {
  for (unsigned i = 0; i + 1 < op->getNumOperands(); ++i) {
    mlir::Value a = op->getOperand(i), b = op->getOperand(i + 1);
    if (a == b || a.getType() != b.getType()) continue;
    op->setOperand(i, b);
    op->setOperand(i + 1, a);
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("operands inside of a block that change places") {
  for (const char* program : kPrograms) {
    INFO(program);
    bool edited = false;
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          for (mlir::Operation* op : innerOps(main))
            if (!edited) edited = swapOperands(op);
        },
        program);
    if (edited) refuted(report, "body");
  }
}

TEST_CASE("what a block hands on changes places") {
  for (const char* program : kPrograms) {
    INFO(program);
    bool edited = false;
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          main.walk([&](pd::YieldOp yield) {
            if (!edited) edited = swapOperands(yield);
          });
        },
        program);
    if (edited) refuted(report, "body");
  }
}

TEST_CASE("a factor inside of a block") {
  for (const char* program : kPrograms) {
    INFO(program);
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          for (mlir::Operation* op : innerOps(main))
            for (mlir::Value operand : op->getOperands())
              if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(operand.getType());
                  type && type.getElementType().isF32() && operand.getDefiningOp())
                return op->replaceUsesOfWith(operand, scaled(operand, 0.5F));
          FAIL("no value to scale");
        },
        program);
    notVerified(report);
  }
}

TEST_CASE("an op or a set inside of a block that is gone") {
  for (const char* program : kPrograms) {
    INFO(program);
    VerifyReport report = verifyEdited(
        [&](mlir::ModuleOp, pd::ProgramOp main) {
          for (mlir::Operation* op : innerOps(main))
            if (op->getNumOperands() && op->getNumResults() == 1 &&
                op->getOperand(0).getType() == op->getResult(0).getType())
              return bypass(op);
          FAIL("no op to leave out");
        },
        program);
    notVerified(report);
  }
}

TEST_CASE("an attribute inside of a block") {
  VerifyReport report = verifyEdited(
      [&](mlir::ModuleOp, pd::ProgramOp main) {
        for (mlir::Operation* op : innerOps(main))
          if (pd::OpView(op).hasAttr("op_device"))
            return pd::OpView(op).setAttr("op_device",
                                          mlir::Builder(main.getContext()).getStringAttr("gpu:1"));
        FAIL("no attribute");
      },
      "fluid18/dynamic_rnn");
  CHECK_THAT(refuted(report, "D30").text, Contains("`op_device`"));
}

}  // namespace dtranspile::verify::test

#include "compiler/analysis/relations/updates.h"

namespace dtranspile::verify {
namespace {

struct Row {
  llvm::StringLiteral in, out, factor, given;  // given: a slot that replaces the attribute
};
constexpr Row kRows[] = {
    {"Beta1Pow", "Beta1PowOut", "beta1", "Beta1Tensor"},
    {"Beta2Pow", "Beta2PowOut", "beta2", "Beta2Tensor"},
};
constexpr llvm::StringLiteral kTypes[] = {"adam", "adamw", "lamb"};

}  // namespace

// The running powers (β^t) that an update reads and, in versions that have such outputs, advances
// itself.
std::vector<Power> powersOf(pd::OpView op) {
  std::vector<Power> powers;
  if (!llvm::is_contained(kTypes, op.type())) return powers;
  for (const Row& row : kRows) {
    mlir::Value in = op.input(row.in), out = op.output(row.out);
    if (in && out && !op.input(row.given)) powers.push_back({in, out, op.getFloat(row.factor)});
  }
  return powers;
}

mlir::Value passedThrough(mlir::OpResult result) {
  if (!pd::OpView::isFrameworkOp(result.getOwner())) return {};
  const pd::OpView op(result.getOwner());
  if (op.type() != "hierarchical_sigmoid" || op.slotOf(result).first != "W_Out") return {};
  return op.input("W");
}

bool takesRowsAsDense(pd::OpView op) {
  // Kernels that go over all rows, or leave a row with a zero gradient as it is.
  static constexpr llvm::StringLiteral kAlways[] = {"sgd", "adagrad", "momentum", "rmsprop"};
  if (llvm::is_contained(kAlways, op.type())) return true;
  // lazy_mode leaves out rows, whose moments then do not decay.
  return (op.type() == "adam" || op.type() == "adamw") && !op.getBool("lazy_mode");
}

bool updatesByRows(pd::OpView op) {
  static constexpr llvm::StringLiteral kTypes[] = {"sgd",     "adagrad", "momentum",
                                                   "rmsprop", "adam",    "ftrl"};
  return llvm::is_contained(kTypes, op.type());
}

}  // namespace dtranspile::verify

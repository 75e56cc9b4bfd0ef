// Jobs for the tests of verification: corpus programs through the real importer and pipeline, and
// the few edits that plant a bug.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/analysis/report.h"
#include "compiler/strategy/strategy.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::verify::test {

class Jobs {
 public:
  Jobs();

  // A corpus case ("fluid18/mnist_mlp"), transpiled. Throws std::runtime_error when it cannot be.
  // `edit` changes the imported program before.
  mlir::OwningOpRef<mlir::ModuleOp> make(const std::string& name, const Strategy& strategy,
                                         const std::function<void(mlir::ModuleOp)>& edit = nullptr);
  mlir::OwningOpRef<mlir::ModuleOp> make(const std::string& name, int64_t trainers);
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& text);
  mlir::MLIRContext* context() { return &context_; }

 private:
  mlir::MLIRContext context_;
};

// Data parallel with one reduction per gradient, so that an edit hits one of them.
Strategy unfused(int64_t trainers);

// Takes a contract out of those that the job declares.
void dropContract(mlir::ModuleOp job, llvm::StringRef tag);
// Declares the sites that the job has as it is.
void declareSites(mlir::ModuleOp job);

// Programs of the only role.
pd::ProgramOp programOf(mlir::ModuleOp job, llvm::StringRef name = "main");

template <typename Op>
std::vector<Op> opsOf(mlir::Operation* root) {
  std::vector<Op> ops;
  root->walk([&](Op op) { ops.push_back(op); });
  return ops;
}

// Framework ops of a type; `inserted`: only those that a pass put in.
std::vector<pd::OpView> opsOfType(mlir::Operation* root, llvm::StringRef type,
                                  bool inserted = false);

// The first message of a level with that rule; fails the test if there is none.
const Message& messageWith(const VerifyReport& report, Message::Level level,
                           const std::string& rule);

// All messages, for INFO.
std::string messagesOf(const VerifyReport& report);

}  // namespace dtranspile::verify::test

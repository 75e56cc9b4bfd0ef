// Edits that plant bugs in jobs of the real pipeline, and what is expected of the report: refuted,
// at the right op, with a message that says what to do.
#pragma once

#include <catch2/catch.hpp>

#include "compiler/verify/relations/relations.h"
#include "compiler/verify/verify.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {

using Edit = std::function<void(mlir::ModuleOp, pd::ProgramOp)>;

// A program on 4 ranks, one reduction per gradient, edited. It is verified before.
VerifyReport verifyEdited(const Edit& edit, const std::string& program = "fluid18/mnist_mlp");
// The same with a strategy of one's own.
VerifyReport verifyEdited(const Edit& edit, const std::string& program, const Strategy& strategy,
                          const VerifyOptions& options = {});
// The same program with parameters averaged in place of gradients.
VerifyReport verifyAveraged(const Edit& edit, const std::string& program = "fluid18/mnist_mlp");

// Uses of the results become uses of the operands.
void bypass(mlir::Operation* op);
// A second copy of an op, fed by the first.
void repeat(mlir::Operation* op);
pd::SetOp lastSet(pd::ProgramOp program, llvm::StringRef variable);
dist::RoleOp roleOf(mlir::ModuleOp job);
// In the contract's list too, where the job declares it.
void declareDifferent(mlir::ModuleOp job, llvm::StringRef variable, llvm::StringRef tag);
void listSite(mlir::ModuleOp job, llvm::StringRef tag, llvm::StringRef name);
// scale(value) by a factor, right after the value; not used yet.
mlir::Value scaled(mlir::Value value, float factor);
// all_reduce sum of a value, right after it, on the first communicator of gradients.
mlir::Value summed(mlir::Value value);
// All uses but those that make the replacement.
void replaceUses(mlir::Value value, mlir::Value replacement);
// A copy of @source as @reference.
mlir::ModuleOp addReference(mlir::ModuleOp job);

// Checks the verdict and that the message says what to do.
const Message& refuted(const VerifyReport& report, const std::string& rule);
// Neither verified nor, where it is unknown only, without a word.
void notVerified(const VerifyReport& report);

}  // namespace dtranspile::verify::test

// What commands ask about a program: its loss, what it is fed, what it computes. Answers come from
// op roles and structure, never from the spelling of names.
#pragma once

#include <string>
#include <vector>

#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

// The variable that training minimises: the output of the forward op with the Loss bit, else what
// the first gradient (the constant with roles Backward and Loss) belongs to. Empty when the program
// has no backward part.
std::string findLoss(pd::ProgramOp program);

// The variables that the caller feeds, in order of first use.
std::vector<pd::InputOp> inputsOf(pd::ProgramOp program);

// The pd.program called `symbol` in a module or role; null if there is none.
pd::ProgramOp findProgram(mlir::Operation* symbolTable, llvm::StringRef symbol);

// The module called `name` in a job; null if there is none.
mlir::ModuleOp findModule(mlir::ModuleOp job, llvm::StringRef name);

// The single-device programs that the roles of a job must preserve: @reference, or @source where
// they are equal; null where the job holds neither.
mlir::ModuleOp referenceModule(mlir::ModuleOp job);

// Names that block 0 assigns: what can be fetched.
bool definesName(pd::ProgramOp program, llvm::StringRef name);

// The last value of a name at the top level of a program, which a fetch reports; null where it
// computes nothing of that name.
mlir::Value lastNamed(pd::ProgramOp program, llvm::StringRef name);

// Names of the program closest to `name` by edit distance, for "did you mean".
std::vector<std::string> similarNames(pd::ProgramOp program, llvm::StringRef name);

}  // namespace dtranspile

// Saved programs to dialect pd. The first phase of every command.
#pragma once

#include <string>

#include "compiler/import/wire.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile {

struct ImportOptions {
  std::string file = "<memory>";  // for diagnostics
  std::string symbol = "main";    // name of the pd.program
  Budget budget;
};

// Adds a ProgramDesc to a module: a pd.program, and a pd.var for every persistable that the module does not have yet. A program and
// its start-up program imported into one module share their variables. Errors are diagnostics with file, block, op index, op
// type and variable; on failure the module is unchanged but for pd.var.
mlir::FailureOr<pd::ProgramOp> importProgram(mlir::ModuleOp module, llvm::StringRef bytes, const ImportOptions& options);

enum class FileKind { ProgramDesc, ProgramText, PirJson, MlirText, MlirBytecode, Pickle, Tensor, Empty };

// What a file is, by its content.
FileKind sniff(llvm::StringRef bytes);

// Reads a program or module file of any of our kinds. `symbol` names the pd.program of a ProgramDesc.
mlir::OwningOpRef<mlir::ModuleOp> loadFile(mlir::MLIRContext* context, llvm::StringRef path, llvm::StringRef symbol = "main");

// Reads a whole file; a diagnostic on failure.
mlir::FailureOr<std::string> readFile(mlir::MLIRContext* context, llvm::StringRef path);

}  // namespace dtranspile

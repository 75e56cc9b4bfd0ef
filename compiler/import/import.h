// Saved programs to dialect pd. The first phase of every command.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/wire.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile {

struct ImportOptions {
  std::string file = "<memory>";  // for diagnostics
  std::string symbol = "main";    // name of the pd.program
  Budget budget;
  // Per block, per op: its position in the file, where the file has another form than the bytes
  // (PIR); empty: as in the bytes.
  std::vector<std::vector<int>> positions;
};

// Adds a ProgramDesc to a module: a pd.program, and a pd.var for every persistable that the module
// does not have yet. A program and its start-up program imported into one module share their
// variables. Errors are diagnostics with file, block, op index, op type and variable; on failure
// the module is unchanged but for pd.var.
mlir::FailureOr<pd::ProgramOp> importProgram(mlir::ModuleOp module, llvm::StringRef bytes,
                                             const ImportOptions& options);

enum class FileKind {
  ProgramDesc,
  ProgramText,
  PirJson,
  MlirText,
  MlirBytecode,
  Pickle,
  Tensor,
  Empty
};

// What a file is, by its content.
FileKind sniff(llvm::StringRef bytes);

// Saved programs hold one program each, of which importAny makes a pd.program of any name; the
// other kinds that load hold a module.
bool holdsOneProgram(FileKind kind);

// Adds a saved program of any form (ProgramDesc, its text form, PIR JSON) to a module, as above.
mlir::FailureOr<pd::ProgramOp> importAny(mlir::ModuleOp module, llvm::StringRef bytes,
                                         const ImportOptions& options);

// Reads a program or module file of any of our kinds. `symbol` names the pd.program of a
// ProgramDesc.
mlir::OwningOpRef<mlir::ModuleOp> loadFile(mlir::MLIRContext* context, llvm::StringRef path,
                                           llvm::StringRef symbol = "main");

// The same of bytes that have been read; `path` is for messages.
mlir::OwningOpRef<mlir::ModuleOp> loadBytes(mlir::MLIRContext* context, llvm::StringRef path,
                                            llvm::StringRef bytes, llvm::StringRef symbol = "main");

// Reads a whole file; a diagnostic on failure.
mlir::FailureOr<std::string> readFile(mlir::MLIRContext* context, llvm::StringRef path);

}  // namespace dtranspile

// What passes share that give a program another update rule (lars, lamb): finding its updates,
// exclusions by name, and one op in the place of another.
#pragma once

#include <string>
#include <vector>

#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::passes {

// pd.program @main of the module itself: of a saved program, before form-job. Reports and fails
// where there is none.
mlir::FailureOr<pd::ProgramOp> mainOfProgram(mlir::ModuleOp module);

// Updates of @main, those of sub-blocks included, in program order. Reports and fails where there
// is none, where one is no `type`, or where a gradient is no dense tensor.
mlir::FailureOr<std::vector<pd::OpView>> updatesOfType(pd::ProgramOp main, llvm::StringRef type,
                                                       llvm::StringRef pass);

// Of the framework that saved the program; ops of 1.x have fewer slots and attributes.
bool isOfVersion2(pd::ProgramOp main);

// Names of parameters that a rule leaves out, by a part of their name. Says which entries are part
// of no parameter's name when it is done.
class Exclusions {
 public:
  enum class Match { Anywhere, AtEnd };
  Exclusions(llvm::ArrayRef<std::string> entries, Match match);

  bool has(llvm::StringRef parameter);
  void reportUnused(mlir::Operation* at, llvm::StringRef field) const;

 private:
  std::vector<std::pair<std::string, bool>> entries_;  // and whether a parameter had it
  Match match_;
};

// An op of `type` in the place of an update, with those of the named slots that it has, its role
// and its other common attributes. The old op is erased.
pd::OpView replaceUpdate(pd::OpView old, llvm::StringRef type,
                         llvm::ArrayRef<llvm::StringRef> inputs,
                         llvm::ArrayRef<llvm::StringRef> outputs, mlir::NamedAttrList attributes,
                         pd::Declarations& declarations);

}  // namespace dtranspile::passes

// What a semantic pass says of itself: rung 4 (compiler/verify/refinement) proves by it that
// @reference is @source with these changes made, and nothing else.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::passes {

// Options of a change: the fields that decide what the pass makes, under their names.
class Change {
 public:
  Change(mlir::MLIRContext* context, llvm::StringRef pass);

  Change& set(llvm::StringRef name, bool value);
  Change& set(llvm::StringRef name, int64_t value);
  Change& set(llvm::StringRef name, double value);
  Change& set(llvm::StringRef name, llvm::ArrayRef<std::string> value);

  mlir::DictionaryAttr attribute() const { return list_.getDictionary(context_); }

 private:
  mlir::MLIRContext* context_;
  mlir::NamedAttrList list_;
};

// Copies variables and programs of a saved program into nested module @source.
void keepSource(mlir::ModuleOp module);

// Appends it to `dist.changes` of the module that holds the program (builtin.module, before
// form-job).
void declareChange(mlir::ModuleOp module, const Change& change);

}  // namespace dtranspile::passes

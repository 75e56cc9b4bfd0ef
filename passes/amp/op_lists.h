// The lists of mixed precision (op_lists.def) for one program and element type, with what a request
// adds to them. Used by rewrite.cc.
#pragma once

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "runtime/base/dtype.h"

namespace dtranspile::passes {

enum class AmpList { White, Black, Gray };

class OpLists {
 public:
  // `version` of the framework that saved the program; `half` is float16 or bfloat16. An op in both
  // custom lists is the caller's to refuse.
  OpLists(int64_t version, DType half, llvm::ArrayRef<std::string> white,
          llvm::ArrayRef<std::string> black);

  // Of an op type; black where no list has it.
  AmpList of(llvm::StringRef type) const;

 private:
  llvm::StringMap<AmpList> lists_;
};

// Whether a slot, input or output, is float32 also where its op computes in half precision.
bool staysFloat32(llvm::StringRef type, llvm::StringRef slot);

}  // namespace dtranspile::passes

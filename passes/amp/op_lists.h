// The lists of mixed precision (op_lists.def) for one program and element type, with what a request
// adds to them. Used by rewrite.cc.
#pragma once

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
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

  // Whether it computes in half precision where all do that can: it is on a list, is none that the
  // framework cannot compute so, and no custom list says otherwise.
  bool canBeHalf(llvm::StringRef type) const;

 private:
  llvm::StringMap<AmpList> lists_;
  llvm::StringSet<> single_;  // not even where all are half that can
};

// Whether a slot, input or output, is float32 also where its op computes in half precision.
bool staysFloat32(llvm::StringRef type, llvm::StringRef slot);

}  // namespace dtranspile::passes

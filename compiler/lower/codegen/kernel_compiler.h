// Kernel text to object code: MLIR pipeline, translation to LLVM IR, LLVM's -O2 pipeline, emission.
// One compiler per thread (each has its own MLIRContext, PassManager and TargetMachine);
// kernel_library.h runs several of them over many kernels.
#pragma once

#include <memory>
#include <string>

#include "compiler/lower/codegen/target.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace dtranspile::lower {

class KernelCompiler {
 public:
  explicit KernelCompiler(const Target& target);
  ~KernelCompiler();
  KernelCompiler(const KernelCompiler&) = delete;
  KernelCompiler& operator=(const KernelCompiler&) = delete;

  // `text` is one function @kernel(memref<1xT>…, index lo, index n) in dialects func, arith, math,
  // memref, scf. `object` gets an ELF object that defines `void symbol(void* const* args, int64_t
  // lo, int64_t n)`. On failure `error` says what is wrong. A kernel that would allocate or copy
  // buffers behind the plan's back is an error.
  llvm::LogicalResult compile(llvm::StringRef text, llvm::StringRef symbol, std::string& object,
                              std::string& error);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dtranspile::lower

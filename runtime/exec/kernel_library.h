// The shared object of a plan: its generated kernels by name. Opened by the executor.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/abi.h"

namespace dtranspile::exec {

class KernelLibrary {
 public:
  // kNotFound with the linker's message when the file cannot be loaded.
  static absl::StatusOr<KernelLibrary> Open(const std::string& path);

  KernelLibrary() = default;
  ~KernelLibrary();
  KernelLibrary(KernelLibrary&& other) noexcept;
  KernelLibrary& operator=(KernelLibrary&& other) noexcept;

  // kNotFound names the kernel and the file.
  absl::StatusOr<DtKernel> Find(const std::string& name) const;

 private:
  void* handle_ = nullptr;
  std::string path_;
};

// Whether this machine has the instruction sets that code for `features` ("+avx2,+fma,-sse4a", as
// LLVM writes them) may use. kFailedPrecondition names those that are missing.
absl::Status CheckTarget(const std::string& cpu, const std::string& features);

}  // namespace dtranspile::exec

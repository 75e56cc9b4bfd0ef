#include "runtime/exec/kernel_library.h"

#include <dlfcn.h>
#include <sys/statvfs.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/status.h"
#include "runtime/io/filesystem.h"

namespace dtranspile::exec {
namespace {

struct Feature {
  const char* name;
  bool present;
};

// The instruction sets that a vectoriser picks by itself. Features outside this table (crypto,
// cache control, tuning) are used by intrinsics only, which generated kernels have none of.
#define DT_FEATURE(name, id) {name, __builtin_cpu_supports(id) != 0}
// Names of LLVM's features, and whether this processor has them.
const Feature* Features(size_t& count) {
  __builtin_cpu_init();
  static const Feature features[] = {
      DT_FEATURE("sse3", "sse3"),
      DT_FEATURE("ssse3", "ssse3"),
      DT_FEATURE("sse4.1", "sse4.1"),
      DT_FEATURE("sse4.2", "sse4.2"),
      DT_FEATURE("popcnt", "popcnt"),
      DT_FEATURE("avx", "avx"),
      DT_FEATURE("avx2", "avx2"),
      DT_FEATURE("fma", "fma"),
      DT_FEATURE("fma4", "fma4"),
      DT_FEATURE("bmi", "bmi"),
      DT_FEATURE("bmi2", "bmi2"),
      DT_FEATURE("avx512f", "avx512f"),
      DT_FEATURE("avx512bw", "avx512bw"),
      DT_FEATURE("avx512cd", "avx512cd"),
      DT_FEATURE("avx512dq", "avx512dq"),
      DT_FEATURE("avx512vl", "avx512vl"),
      DT_FEATURE("avx512ifma", "avx512ifma"),
      DT_FEATURE("avx512vbmi", "avx512vbmi"),
      DT_FEATURE("avx512vbmi2", "avx512vbmi2"),
      DT_FEATURE("avx512vnni", "avx512vnni"),
      DT_FEATURE("avx512bitalg", "avx512bitalg"),
      DT_FEATURE("avx512vpopcntdq", "avx512vpopcntdq"),
      DT_FEATURE("avx512bf16", "avx512bf16"),
      DT_FEATURE("gfni", "gfni"),
  };
  count = sizeof(features) / sizeof(features[0]);
  return features;
}
#undef DT_FEATURE

}  // namespace

// All symbols are resolved now, and none are given to other libraries.
absl::StatusOr<KernelLibrary> KernelLibrary::Open(const std::string& path) {
  // Opening a pipe would wait for its writer.
  DT_ASSIGN_OR_RETURN(const io::Entry entry, io::Look(path));
  if (entry == io::Entry::kFolder || entry == io::Entry::kOther)
    return absl::InvalidArgumentError(path + ": not a regular file");
  KernelLibrary library;
  library.path_ = path;
  library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) {
    const std::string why = dlerror();
    struct statvfs system;
    const bool barred = statvfs(path.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0;
    return absl::NotFoundError(absl::StrCat(
        path, ": cannot be loaded: ", why,
        barred ? "; its file system is mounted with `noexec`: set TMPDIR to a folder of another one"
               : ""));
  }
  return library;
}

KernelLibrary::~KernelLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

KernelLibrary::KernelLibrary(KernelLibrary&& other) noexcept { *this = std::move(other); }

KernelLibrary& KernelLibrary::operator=(KernelLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

absl::StatusOr<DtKernel> KernelLibrary::Find(const std::string& name) const {
  void* symbol = handle_ == nullptr ? nullptr : dlsym(handle_, name.c_str());
  if (symbol == nullptr)
    return absl::NotFoundError(
        absl::StrCat(path_, ": has no kernel '", name, "'; compile the job again"));
  return reinterpret_cast<DtKernel>(symbol);
}

// An illegal instruction would end the rank with a signal; a missing feature is said by name
// instead.
absl::Status CheckTarget(const std::string& cpu, const std::string& features) {
  size_t count = 0;
  const Feature* table = Features(count);
  std::string missing;
  for (const auto& part : absl::StrSplit(features, ',')) {
    for (size_t i = 0; i < count; ++i)
      if (part == absl::StrCat("+", table[i].name) && !table[i].present)
        absl::StrAppend(&missing, missing.empty() ? "" : ", ", table[i].name);
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("kernels were compiled for '", cpu,
                                                    "', this machine lacks ", missing,
                                                    "; compile the job on this machine"));
}

}  // namespace dtranspile::exec

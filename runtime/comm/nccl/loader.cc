#include "runtime/comm/nccl/loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace dtranspile::comm {
namespace {

constexpr char kDriver[] = "libcuda.so.1";

std::string PluginPath() {
  if (const char* folder = std::getenv("DTRANSPILE_PLUGINS"); folder != nullptr && *folder != 0) {
    return absl::StrCat(folder, "/", kNcclLibrary);
  }
  char program[4096];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
  const std::string path(program, n > 0 ? n : 0);
  return absl::StrCat(path.substr(0, path.rfind('/') + 1), kNcclLibrary);
}

// Libraries stay open for the life of the process: objects made by the plug-in may live as long.
absl::StatusOr<NcclEntry> Open() {
  if (dlopen(kDriver, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no CUDA driver: ", dlerror(), "; --device cuda needs a GPU and its driver"));
  }
  const std::string path = PluginPath();
  void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr)
    return absl::FailedPreconditionError(absl::StrCat("no NCCL back end: ", dlerror()));
  void* entry = dlsym(plugin, kNcclEntry);
  if (entry == nullptr)
    return absl::FailedPreconditionError(absl::StrCat(path, " does not export ", kNcclEntry));
  return reinterpret_cast<NcclEntry>(entry);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> JoinNccl(const Rendezvous& rendezvous,
                                                       const std::string& name, int rank,
                                                       int size) {
  const absl::StatusOr<NcclEntry> entry = Open();
  if (!entry.ok()) return entry.status();
  return (*entry)(kNcclVersion, rendezvous, name, rank, size);
}

}  // namespace dtranspile::comm

// dtranspile doctor: what this machine offers to the tool, each with what to do where something is
// missing.
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "llvm/Support/FileSystem.h"
#include "llvm/TargetParser/Host.h"
#include "nlohmann/json.hpp"
#include "runtime/io/json.h"
#include "runtime/launch/processors.h"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {
namespace {

struct Finding {
  std::string name;
  bool ok;
  bool needed;  // a missing one makes `doctor` answer no
  std::string text;
};

Finding worker() {
  std::string path = Tool::binaryFolder() + "/dtranspile-worker";
  bool ok = access(path.c_str(), X_OK) == 0;
  return {"worker", ok, true, ok ? path : path + " is missing; build //tools/dtranspile:all"};
}

Finding processor() {
  return {"processor", true, true,
          llvm::sys::getHostCPUName().str() + ", " + std::to_string(launch::UsableProcessors()) +
              " of " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) +
              " threads may be used (affinity, control groups)"};
}

Finding sharedMemory() {
  struct statvfs info;
  if (statvfs("/dev/shm", &info) != 0 || access("/dev/shm", W_OK) != 0)
    return {"shared memory", false, true,
            "/dev/shm cannot be written; mount a tmpfs there, or run with --backend gloo"};
  return {"shared memory", true, true,
          std::to_string((static_cast<uint64_t>(info.f_bavail) * info.f_frsize) >> 20) +
              " MiB free in /dev/shm"};
}

Finding memory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  return {"memory", true, true, std::to_string(bytes >> 20) + " MiB"};
}

// A library that is opened at run time only.
Finding library(const char* name, const char* file, const char* remedy) {
  void* handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (handle) dlclose(handle);
  return {name, handle != nullptr, false,
          handle ? std::string(file) : std::string(file) + " not found; " + remedy};
}

std::vector<Finding> examine() {
  return {worker(),
          processor(),
          memory(),
          sharedMemory(),
          library("CUDA driver", "libcuda.so.1", "needed for --device cuda only"),
          library("NCCL", "libnccl.so.2", "needed for --backend nccl only")};
}

int doctor(Tool& tool, const std::string& format) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  bool ok = true;
  for (const Finding& finding : examine()) {
    ok &= finding.ok || !finding.needed;
    list.push_back({{"name", finding.name},
                    {"ok", finding.ok},
                    {"needed", finding.needed},
                    {"text", finding.text}});
    text += std::string(finding.ok       ? "ok       "
                        : finding.needed ? "MISSING  "
                                         : "absent   ") +
            finding.name + ": " + finding.text + "\n";
  }
  return writeOutput(tool, "-", format == "json" ? io::JsonText(list, 1) + "\n" : text) && ok
             ? kDone
             : kNo;
}

}  // namespace

Action declareDoctor(CLI::App& app) {
  auto format = std::make_shared<std::string>("text");
  app.footer("Example: dtranspile doctor");
  app.add_option("--format", *format, "text or json")->check(CLI::IsMember({"text", "json"}));
  return [format](Tool& tool) { return doctor(tool, *format); };
}

}  // namespace dtranspile::cli

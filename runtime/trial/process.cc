// The process of a trial: its limits, and where its result goes.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "runtime/trial/trial.h"

namespace dtranspile::trial {
namespace {

using exec::Json;

void Limit(int resource, int64_t value) {
  rlimit now = {};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0) return;
  now.rlim_cur = std::min<rlim_t>(static_cast<rlim_t>(value), now.rlim_max);
  setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

bool WriteAll(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(fd, text.data() + at, text.size() - at);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return false;
    at += static_cast<size_t>(written);
  }
  return true;
}

}  // namespace

// Limits on memory and processor time are set before anything of the job is read, and no core is
// dumped.
int RunProcess(const std::string& path, const exec::WorkerLinks& links, int out) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto config = ReadConfig(path);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", std::string(config.status().message()).c_str());
    return exec::kWorkerUsage;
  }
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_AS, config->limits.bytes);
  Limit(RLIMIT_CPU, config->limits.cpu_seconds);
  const std::string text =
      ToJson(Run(*config, links)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return WriteAll(out, text) ? exec::kWorkerDone : exec::kWorkerFailed;
}

}  // namespace dtranspile::trial

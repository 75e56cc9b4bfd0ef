#include "runtime/ps/library.h"

#include <grpc/grpc.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dtranspile::ps {
namespace {

// Threads of a small process of gRPC 1.51 beside our own: timers, executors, resolver, event
// engine. A server was seen with 9 on two cores; twice that leaves room for what it starts later.
constexpr int kThreads = 18;

// Whether the system grants kThreads threads at once.
absl::Status AskForThreads() {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  absl::Status status;
  for (int i = 0; i < kThreads && status.ok(); ++i) try {
      threads.emplace_back([&] {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return over; });
      });
    } catch (const std::system_error& error) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("the system grants ", i, " of the ", kThreads,
                       " threads that gRPC may want (", error.what(),
                       "); raise the limits of processes and of memory (`ulimit -u`, `ulimit -v`, "
                       "pids of the control group)"));
    }
  {
    std::lock_guard lock(mutex);
    over = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  return status;
}

// gRPC ends the process where the variable names none of its ways of waiting.
absl::Status CheckWaiting() {
  constexpr char kVariable[] = "GRPC_POLL_STRATEGY";
  const char* given = std::getenv(kVariable);
  if (given == nullptr || *given == 0) return absl::OkStatus();
  for (const absl::string_view one : absl::StrSplit(given, ','))
    if (one == "all" || one == "epoll1" || one == "poll") return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the environment has ", kVariable, "=", given,
                   ", and gRPC knows epoll1, poll and all; unset it"));
}

}  // namespace

absl::Status BeginGrpc() {
  static const absl::Status begun = [] {
    absl::Status status = CheckWaiting();
    if (status.ok()) status = AskForThreads();
    if (!status.ok()) return status;
    grpc_init();  // one reference more than our objects give back
    return status;
  }();
  return begun;
}

}  // namespace dtranspile::ps

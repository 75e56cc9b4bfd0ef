// A launcher in a process of its own, so that it can be interrupted and killed, and a folder for
// what it is given and leaves.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/launch/job.h"

namespace dtranspile::launch {

using exec::Json;
using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline bool WaitFor(const std::function<bool()>& condition, double seconds) {
  for (const auto begin = Clock::now(); SecondsSince(begin) < seconds;
       std::this_thread::sleep_for(std::chrono::milliseconds(5)))
    if (condition()) return true;
  return condition();
}

inline std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Of this process.
inline int64_t ResidentBytes() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// The worker beside the launcher's own program is not there in tests.
inline std::string WorkerOfTests() {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return (own / "../../../tools/dtranspile/dtranspile-worker").lexically_normal();
}

class Launcher {
 public:
  Launcher() {
    char name[] = "/tmp/dtranspile-launch-XXXXXX";
    folder_ = mkdtemp(name);
    spec.worker = WorkerOfTests();
    spec.timeout_seconds = 20;
  }
  virtual ~Launcher() {
    if (launcher > 0) {
      kill(launcher, SIGKILL);
      waitpid(launcher, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  // What the launcher is to find.
  virtual void Prepare() {}

  void Launch() {
    Prepare();
    launcher = fork();
    REQUIRE(launcher >= 0);
    if (launcher != 0) return;
    if (freopen(Path("log").c_str(), "w", stderr) == nullptr) _exit(1);
    const rlimit space = {limit, limit};
    if (limit > 0 && setrlimit(RLIMIT_AS, &space) != 0) _exit(1);
    const int64_t before = ResidentBytes();
    const auto report = RunJob(spec);
    if (measure) std::ofstream(Path("grown")) << ResidentBytes() - before;
    std::ofstream file(Path("report"));
    if (!report.ok()) file << report.status().message();
    else if (!report->Write([&](absl::string_view text) { return file << text, absl::OkStatus(); })
                  .ok())
      _exit(1);
    file.close();
    std::fflush(stderr);
    _exit(!report.ok() ? 2 : report->interrupted_by != 0 ? 130 : report->ok ? 0 : 4);
  }

  // The launcher's exit status; its report in `report`.
  int Finish() {
    int status = 0;
    REQUIRE(waitpid(launcher, &status, 0) == launcher);
    CheckNothingLeft();
    launcher = 0;
    REQUIRE(WIFEXITED(status));
    const std::string text = ReadText(Path("report"));
    report = WEXITSTATUS(status) == 2 ? Json(text) : Json::parse(text);
    return WEXITSTATUS(status);
  }

  int Run() {
    Launch();
    return Finish();
  }

  // The workers, in the order of their ranks; waits until both have begun to step.
  std::vector<pid_t> Workers(size_t count = 2) {
    const std::string list =
        "/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) + "/children";
    REQUIRE(WaitFor(
        [&] {
          std::ifstream in(list);
          workers.clear();
          for (pid_t pid; in >> pid;) workers.push_back(pid);
          return workers.size() == count;
        },
        20));
    return workers;
  }

  void WaitForSteps() {
    Workers();
    // Workers that run have mapped and unlinked their segment, and use the processor.
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  }

  void CheckNothingLeft() {
    for (pid_t pid : workers) CHECK(kill(pid, 0) != 0);
    const std::string prefix = "dtranspile+" + std::to_string(launcher) + "-";
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      CHECK(entry.path().filename().string().find(prefix) != 0);
  }

  JobSpec spec;
  bool measure = false;  // of the launcher's memory: to a file `grown`
  size_t limit = 0;      // of the address space of each process; 0: none
  Json report;
  pid_t launcher = 0;
  std::vector<pid_t> workers;

 protected:
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace dtranspile::launch

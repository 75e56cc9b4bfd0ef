// Runs the cases of a folder (sweep.py) and says of each what became of it: a line of JSON with
// "outcome" agree, refused (by the compiler, or by the step), differ, crash or hang.
//
//     compare FOLDER [REGEX of names]
//
// Every case has a process of its own, forked from this one, and a limit of time.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>

#include "test/compiler/lower/compare_fetch.h"
#include "test/compiler/lower/program_case.h"
#include "test/corpus_path.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;

constexpr int kLimitMs = 20'000;

struct Outcome {
  const char* word;
  std::string message;
};

Outcome runCase(const std::string& name, const std::string& cache) {
  try {
    ProgramCase c(name, cache);
    CompileStatistics statistics;
    if (!c.load() || !c.compile(statistics)) return {"refused", c.errors};
    auto executor = c.start(false);
    c.step(*executor, 0);
    for (const exec::FetchSlot& fetch : executor->plan().step().fetches) {
      if (std::string difference = compareFetch(c, *executor, fetch, 0); !difference.empty())
        return {"differ", difference};
    }
    return {"agree", ""};
  } catch (const std::exception& error) {
    return {"refused", error.what()};
  }
}

// The child's words, until it ends or the time does.
Outcome runInChild(const std::string& name, const std::string& cache) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const Outcome outcome = runCase(name, cache);
    const std::string text = std::string(outcome.word) + "\n" + outcome.message.substr(0, 4000);
    if (write(ends[1], text.data(), text.size()) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  bool late = false;
  for (char buffer[4096];;) {
    pollfd ready{ends[0], POLLIN, 0};
    if (poll(&ready, 1, kLimitMs) == 0) {
      late = true;
      kill(child, SIGKILL);
      break;
    }
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (late) return {"hang", "longer than " + std::to_string(kLimitMs / 1000) + " s"};
  if (!WIFEXITED(status) || text.empty())
    return {"crash", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no word"};
  static const char* const kWords[] = {"agree", "refused", "differ"};
  const size_t end = text.find('\n');
  for (const char* word : kWords) {
    if (text.substr(0, end) == word) return {word, text.substr(end + 1)};
  }
  return {"crash", text};
}

int compareAll(const std::string& folder, const std::regex& names) {
  const std::string cache = (fs::temp_directory_path() / "dtranspile-ops-sweep").string();
  const std::string last = fs::path(folder).filename().string();
  setenv("DTRANSPILE_CORPUS", fs::path(folder).parent_path().c_str(), 1);
  std::map<std::string, int> counts;
  for (const std::string& name : test::CorpusCases(last)) {
    if (!std::regex_search(name, names)) continue;
    const json info = readJson(folder + "/" + name + "/case.json");
    const Outcome outcome = runInChild(last + "/" + name, cache);
    ++counts[outcome.word];
    const json line = {{"case", name},
                       {"type", info["sweep"]["type"]},
                       {"variant", info["sweep"]["variant"]},
                       {"outcome", outcome.word},
                       {"message", outcome.message}};
    std::cout << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
  std::cerr << json(counts).dump() << "\n";
  return 0;
}

}  // namespace
}  // namespace dtranspile::lower

int main(int argc, char** argv) {
  if (argc < 2 || !std::filesystem::is_directory(argv[1])) {
    std::cerr << "usage: compare FOLDER [REGEX]\n";
    return 2;
  }
  const std::string folder = std::filesystem::absolute(argv[1]).lexically_normal().string();
  return dtranspile::lower::compareAll(folder, std::regex(argc > 2 ? argv[2] : ""));
}

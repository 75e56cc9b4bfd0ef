// Calls with wrong arguments, by table. A file of refusals/ has right calls, each followed by
// indented lines of what is changed in it and the whole message that is said then:
//
//   dt_conv_shift X=f32[2,4] Y=f32[2,3]
//     Y=f32[2,2] : 'Y' has 2 columns, expected an odd number of at most the 4 of 'X'
//
// The right call must succeed, so that the change alone is what is refused. Lines that begin with
// `#` and empty ones say nothing, one that ends with `\` goes on in the next one;
// test/runtime/kernels/call_text.h says how calls are written.
//
// The right calls run with all other element types that their signatures admit, too: arguments lie
// in memory that ends where they end, so that a kernel which takes elements of another size than
// its signature says ends the test.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

#include "test/runtime/kernels/call_text.h"

namespace dtranspile::kernels {
namespace {

namespace fs = std::filesystem;

std::string MessageOf(const CallText& call, exec::ThreadPool& pool) {
  const absl::Status status = call.Run(pool);
  if (status.ok()) return "succeeded";
  const std::string message(status.message());
  return message.substr(message.find(": ") + 2);  // after the name of the call
}

// Calls `visit` with every line of a table that says something, and its number.
template <typename Visit>
void ForLines(const fs::path& path, Visit&& visit) {
  std::ifstream file(path);
  REQUIRE(file);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    for (std::string more; line.ends_with('\\') && std::getline(file, more); ++number)
      line.replace(line.size() - 1, 1, more);
    INFO(path.filename().string() << ":" << number << ": " << line);
    if (line.empty() || line[0] == '#') continue;
    try {
      visit(line);
    } catch (const std::runtime_error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

void CheckFile(const fs::path& path, exec::ThreadPool& pool) {
  std::optional<CallText> right;
  ForLines(path, [&](const std::string& line) {
    if (line[0] != ' ') {
      right.emplace(line);
      CHECK(MessageOf(*right, pool) == "succeeded");
      return;
    }
    const size_t mark = line.find(" : ");
    REQUIRE(right.has_value());
    REQUIRE(mark != std::string::npos);
    CallText wrong = *right;
    std::istringstream changes(line.substr(0, mark));
    for (std::string change; changes >> change;) wrong.Set(change);
    CHECK(MessageOf(wrong, pool) == line.substr(mark + 3));
  });
}

std::vector<fs::path> Tables() {
  std::vector<fs::path> tables;
  for (const auto& entry : fs::directory_iterator("test/runtime/kernels/refusals"))
    if (entry.path().extension() == ".txt") tables.push_back(entry.path());
  std::sort(tables.begin(), tables.end());
  REQUIRE(!tables.empty());
  return tables;
}

constexpr DType kTypes[] = {DType::kBool,     DType::kInt8,     DType::kUInt8,   DType::kInt16,
                            DType::kInt32,    DType::kInt64,    DType::kUInt32,  DType::kUInt64,
                            DType::kFloat16,  DType::kBFloat16, DType::kFloat32, DType::kFloat64,
                            DType::kComplex64};

// Runs a call with every type of every class that its signature names, and says at `at` which one
// it is at. How a call ends is not asked: elements have other values then. The number of calls that
// succeeded.
int RunTypes(const CallText& right, std::span<char> at) {
  exec::ThreadPool pool({2, false});
  const Signature& signature = right.signature();
  int succeeded = 0;
  for (size_t k = 0; k < signature.slots(); ++k) {
    const TypeDemand& demand = signature.slot(k).demand;
    if (demand.like != static_cast<int>(k)) continue;
    for (const DType type : kTypes) {
      if (!Holds(demand.types, type)) continue;
      std::snprintf(at.data(), at.size(), "'%s' of %s", signature.slot(k).name.c_str(),
                    NameOf(type));
      CallText other = right;
      other.SetType(k, type);
      try {
        succeeded += other.Run(pool).ok();
      } catch (const std::runtime_error&) {  // elements that the type does not have
      }
    }
  }
  return succeeded;
}

// The same in a process of its own, which a call that leaves its arguments may end.
int RunTypesApart(const CallText& right) {
  constexpr size_t kBytes = 256;
  auto* at = static_cast<char*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(at != MAP_FAILED);
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, SIG_DFL);
    const int succeeded = RunTypes(right, {at, kBytes});
    _exit(std::min(succeeded, 255));
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  INFO("with " << at << " it ends with signal " << (WIFSIGNALED(status) ? WTERMSIG(status) : 0));
  CHECK(WIFEXITED(status));
  munmap(at, kBytes);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

}  // namespace

TEST_CASE("wrong arguments are refused by name") {
  exec::ThreadPool pool({2, false});
  for (const fs::path& table : Tables()) CheckFile(table, pool);
}

TEST_CASE("calls keep to their arguments with every type that their signatures admit") {
  int succeeded = 0;
  for (const fs::path& table : Tables())
    ForLines(table, [&](const std::string& line) {
      if (line[0] != ' ') succeeded += RunTypesApart(CallText(line));
    });
  CHECK(succeeded > 500);
}

}  // namespace dtranspile::kernels

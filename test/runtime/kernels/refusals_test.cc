// Calls with wrong arguments, by table. A file of refusals/ has right calls, each followed by
// indented lines of what is changed in it and the whole message that is said then:
//
//   dt_conv_shift X=f32[2,4] Y=f32[2,3]
//     Y=f32[2,2] : 'Y' has 2 columns, expected an odd number of at most the 4 of 'X'
//
// The right call must succeed, so that the change alone is what is refused. Lines that begin with
// `#` and empty ones say nothing, one that ends with `\` goes on in the next one;
// test/runtime/kernels/call_text.h says how calls are written.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
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

void CheckFile(const fs::path& path, exec::ThreadPool& pool) {
  std::ifstream file(path);
  REQUIRE(file);
  std::optional<CallText> right;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    for (std::string more; line.ends_with('\\') && std::getline(file, more); ++number)
      line.replace(line.size() - 1, 1, more);
    INFO(path.filename().string() << ":" << number << ": " << line);
    if (line.empty() || line[0] == '#') continue;
    try {
      if (line[0] != ' ') {
        right.emplace(line);
        CHECK(MessageOf(*right, pool) == "succeeded");
        continue;
      }
      const size_t mark = line.find(" : ");
      REQUIRE(right.has_value());
      REQUIRE(mark != std::string::npos);
      CallText wrong = *right;
      std::istringstream changes(line.substr(0, mark));
      for (std::string change; changes >> change;) wrong.Set(change);
      CHECK(MessageOf(wrong, pool) == line.substr(mark + 3));
    } catch (const std::runtime_error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

}  // namespace

TEST_CASE("wrong arguments are refused by name") {
  exec::ThreadPool pool({2, false});
  std::vector<fs::path> tables;
  for (const auto& entry : fs::directory_iterator("test/runtime/kernels/refusals"))
    if (entry.path().extension() == ".txt") tables.push_back(entry.path());
  std::sort(tables.begin(), tables.end());
  REQUIRE(!tables.empty());
  for (const fs::path& table : tables) CheckFile(table, pool);
}

}  // namespace dtranspile::kernels

#include "test/corpus_path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace dtranspile::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Candidates() {
  std::vector<fs::path> roots;
  if (const char* given = std::getenv("DTRANSPILE_CORPUS"); given && *given) return {given};
  const fs::path inside = fs::path("dtranspile") / "test" / "corpus";
  if (const char* runfiles = std::getenv("TEST_SRCDIR"); runfiles && *runfiles)
    roots.push_back(runfiles / inside);
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) roots.push_back(fs::path(self.string() + ".runfiles") / inside);
  return roots;
}

}  // namespace

std::string CorpusPath(const std::string& relative) {
  const fs::path corpus = *fs::path(relative).begin();
  std::string tried;
  for (const fs::path& root : Candidates()) {
    if (fs::exists(root / corpus)) return (root / relative).string();
    tried += "\n  " + (root / corpus).string();
  }
  throw std::runtime_error("corpus '" + corpus.string() + "' not found; tried:" + tried +
                           "\nname //test/corpus:" + corpus.string() +
                           " in the test's data, or set DTRANSPILE_CORPUS");
}

std::vector<std::string> CorpusCases(const std::string& corpus) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(CorpusPath(corpus)))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace dtranspile::test

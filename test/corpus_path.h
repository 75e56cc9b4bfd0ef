// Where tests find the files of test/corpus. A test names the corpora it reads in `data`
// ("//test/corpus:fluid18").
#pragma once

#include <string>
#include <vector>

namespace dtranspile::test {

// The path of a file or folder of the corpora, e.g. "fluid18/fit_a_line/main.pdmodel": below
// $DTRANSPILE_CORPUS if that is set, else in the runfiles of the test ($TEST_SRCDIR, or the folder
// beside the binary when it is started by hand). Throws std::runtime_error, which says what was
// tried, when the corpus (first component) is in none of them.
std::string CorpusPath(const std::string& relative);

// The cases (sub-folders) of a corpus, or of a folder below it ("ops/p262"), sorted.
std::vector<std::string> CorpusCases(const std::string& corpus);

}  // namespace dtranspile::test

#include "test/compiler/verify/claims/corpus.h"

#include "test/corpus_path.h"

namespace dtranspile::claims {

std::string checkCorpus(Checker& checker) {
  std::string unread;
  for (const std::string corpus : {"ops/p262", "ops/fluid18"})
    for (const std::string& name : test::CorpusCases(corpus)) {
      try {
        checker.checkCase(corpus + "/" + name);
      } catch (const std::exception& error) {
        unread += corpus + "/" + name + ": " + error.what() + "\n";
      }
    }
  return unread;
}

}  // namespace dtranspile::claims

// Every relation rule, held to account by running operators: docs/verification.md, "Rules are
// tested by execution". DTRANSPILE_OPS, a regular expression over op types and names of cases,
// picks some; DTRANSPILE_CLAIMS=all prints a line per rule.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "test/compiler/verify/claims/checker.h"
#include "test/corpus_path.h"

namespace dtranspile::claims {

TEST_CASE("what rules claim of one-operator programs is so") {
  Checker checker(verify::findRule);
  std::string unread;
  for (const char* corpus : {"ops/p262", "ops/fluid18"})
    for (const std::string& name : test::CorpusCases(corpus)) {
      try {
        checker.checkCase(std::string(corpus) + "/" + name);
      } catch (const std::exception& error) {
        unread += name + ": " + error.what() + "\n";
      }
    }
  const Report& report = checker.report();
  if (std::getenv("DTRANSPILE_CLAIMS")) std::cout << report.text() << report.failureText();
  std::cout << report.tallies().size() << " rules, " << report.claims() << " claims\n";
  INFO(report.failureText());
  CHECK(report.failures() == 0);
  INFO(unread);
  CHECK(unread.empty());
}

}  // namespace dtranspile::claims

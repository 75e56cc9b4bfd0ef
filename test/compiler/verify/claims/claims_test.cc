// Every relation rule, held to account by running operators: docs/verification.md, "Rules are
// tested by execution". DTRANSPILE_OPS, a regular expression over op types and names of cases,
// picks some; DTRANSPILE_CLAIMS=all prints a line per rule and what is wrong.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "test/compiler/verify/claims/corpus.h"
#include "test/compiler/verify/claims/page.h"

namespace dtranspile::claims {
namespace {

// Empty, or the first line in which the page that stands in docs/ differs.
std::string staleLine(const std::string& page) {
  std::ifstream file("docs/operators/relations.md");
  std::istringstream now(page);
  std::string stands, made;
  while (std::getline(now, made)) {
    if (!std::getline(file, stands)) return "ends before: " + made;
    if (stands != made) return "says:    " + stands + "\nbut:     " + made;
  }
  return std::getline(file, stands) ? "goes on with: " + stands : "";
}

}  // namespace

TEST_CASE("what rules claim of one-operator programs is so") {
  Checker checker(verify::findRule);
  const std::string unread = checkCorpus(checker);
  const Report& report = checker.report();
  if (std::getenv("DTRANSPILE_CLAIMS")) std::cout << report.text() << report.failureText();
  std::cout << report.tallies().size() << " rules, " << report.claims() << " claims\n";
  INFO(report.failureText());
  CHECK(report.failures() == 0);
  INFO(unread);
  CHECK(unread.empty());
  if (std::getenv("DTRANSPILE_OPS")) return;
  INFO(
      "docs/operators/relations.md is stale; write it again: bazel run "
      "//test/compiler/verify/claims:page > docs/operators/relations.md");
  INFO(staleLine(pageOf(report)));
  CHECK(staleLine(pageOf(report)).empty());
}

}  // namespace dtranspile::claims

// bazel run //test/compiler/verify/claims:page > docs/operators/relations.md
#include <iostream>

#include "test/compiler/verify/claims/corpus.h"
#include "test/compiler/verify/claims/page.h"

int main() {
  using namespace dtranspile;
  claims::Checker checker(verify::findRule);
  std::cerr << claims::checkCorpus(checker) << checker.report().failureText();
  std::cout << claims::pageOf(checker.report());
  return checker.report().failures() == 0 ? 0 : 1;
}

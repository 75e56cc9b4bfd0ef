// What `dtranspile ops` says holds together: rows of rules name calls that exist, and the element
// types that a row names are at least those of the programs that run.
#include "tools/dtranspile/cli/ops_facts.h"

#include <catch2/catch.hpp>
#include <set>

#include "runtime/kernels/cpu/call_table.h"

namespace dtranspile::cli {

TEST_CASE("calls that rules name exist") {
  for (const pd::OpSpec& spec : pd::builtinOps()) {
    const auto form = lower::nativeForm(spec.type);
    if (!form) continue;
    CHECK((form->formula || form->view || form->blocks || !form->calls.empty()));
    for (const std::string& call : form->calls) {
      INFO(spec.type << " calls " << call);
      CHECK(kernels::FindFunction(call) != nullptr);
      CHECK(kernels::ElementTypesOf(call) != 0);
    }
  }
}

TEST_CASE("element types of the corpora's programs are among those of the tables") {
  size_t tested = 0;
  for (const pd::OpSpec& spec : pd::builtinOps()) {
    const OpFacts facts = factsOf(spec);
    if (!facts.native) continue;
    std::string missing;
    for (const std::string& name : typeNames(facts.tested & ~facts.types)) missing += " " + name;
    INFO(spec.type << " lacks" << missing);
    CHECK(missing.empty());
    tested += !facts.programs.empty();
  }
  CHECK(tested > 650);
}

TEST_CASE("programs of the corpora are found by op type") {
  const OpFacts facts = factsOf(*pd::findOp("conv2d"));
  CHECK(facts.rule != nullptr);
  CHECK(facts.models() > 0);
  CHECK(facts.programs.size() > facts.models());
  CHECK(releases(facts) == std::vector<std::string>{"1.8", "2.6"});
  CHECK(coverage::findUse("no_such_op") == nullptr);
}

}  // namespace dtranspile::cli

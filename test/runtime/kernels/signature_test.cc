// Signatures of library calls: what a line says, and lines that are refused.
#include "runtime/kernels/signature.h"

#include <catch2/catch.hpp>

namespace dtranspile::kernels {
namespace {

std::string MessageOf(std::string_view text) {
  const auto parsed = ParseSignatures("test", text);
  return parsed.ok() ? "parsed" : std::string(parsed.status().message());
}

}  // namespace

TEST_CASE("a signature is inputs, attributes and outputs, in order") {
  const auto parsed = ParseSignatures(
      "indexing",
      "# a comment\n\ndt_gather(X, Axis?, List*, Both?*; axis:int, @version:int?, scales:reals)\n"
      "    -> Out, Parts*\ndt_none() -> Out\n");
  REQUIRE(parsed.ok());
  REQUIRE(parsed->size() == 2);
  const Signature& call = parsed->front();
  CHECK(call.name == "dt_gather");
  CHECK(call.family == "indexing");
  REQUIRE(call.inputs.size() == 4);
  CHECK((call.inputs[0].name == "X" && !call.inputs[0].optional && !call.inputs[0].list));
  CHECK((call.inputs[1].optional && !call.inputs[1].list));
  CHECK((!call.inputs[2].optional && call.inputs[2].list));
  CHECK((call.inputs[3].name == "Both" && call.inputs[3].optional && call.inputs[3].list));
  REQUIRE(call.outputs.size() == 2);
  CHECK(call.outputs[1].list);
  REQUIRE(call.attributes.size() == 3);
  CHECK((call.attributes[1].name == "@version" && call.attributes[1].optional));
  CHECK(call.attributes[2].kind == AttributeKind::kReals);
  CHECK((parsed->back().inputs.empty() && parsed->back().attributes.empty()));
}

TEST_CASE("signatures that say nothing clear are refused") {
  for (const char* text :
       {"dt_f", "dt_f(X)", "(X) -> Out", "dt_f(X X) -> Out", "dt_f(X, X) -> Out", "dt_f(X) -> X",
        "dt_f(X; a) -> Out", "dt_f(X; a:float) -> Out", "dt_f(X; X:int) -> Out",
        "dt_f(X; a:int, a:int) -> Out", "dt_f(X*?) -> Out", "dt_f(X!) -> Out",
        "dt_f(X) -> Out\ndt_f(X) -> Out"}) {
    INFO(text);
    CHECK(MessageOf(text) != "parsed");
  }
  CHECK(MessageOf("dt_f(X; a:float) -> Out") ==
        "'dt_f(X; a:float) -> Out': attribute 'a:float' is no NAME:KIND, or is there twice");
}

}  // namespace dtranspile::kernels

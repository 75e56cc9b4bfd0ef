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
      "# a comment\n\ndt_gather(X:any, Axis?:index, List*:X, Both?*:any; axis:int, @version:int?,\n"
      "    scales:reals) -> Out:X, Parts*:any\ndt_none() -> Out:any\n");
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

TEST_CASE("a slot says element types and dims, an attribute its limit") {
  const auto parsed = ParseSignatures(
      "test",
      "dt_f(X:float[2], Y?:X[1..3], Z*:each index[2..], C:complex(X), F:bool; n:int<=2^28,\n"
      "    k:ints?<=9, free:int) -> P:real(Q), Q:complex, R:Z = Z\n");
  REQUIRE(parsed.ok());
  const Signature& call = parsed->front();
  const TypeDemand &x = call.inputs[0].demand, &y = call.inputs[1].demand,
                   &z = call.inputs[2].demand, &c = call.inputs[3].demand,
                   &p = call.outputs[0].demand, &r = call.outputs[2].demand;
  CHECK((x.types == kFloats && x.like == 0 && x.least_dims == 2 && x.most_dims == 2));
  CHECK((y.types == kFloats && y.like == 0 && y.least_dims == 1 && y.most_dims == 3));
  CHECK((z.types == kIndices && z.each && z.least_dims == 2));
  CHECK((c.types == kComplex && c.like == 0 && c.relation == TypeDemand::Relation::kComplexOf));
  CHECK(call.inputs[4].demand.types == TypesOf({DType::kBool}));
  CHECK((p.types == kFloats && p.like == 6 && p.relation == TypeDemand::Relation::kRealOf));
  CHECK((r.types == kIndices && r.like == 2 && call.outputs[2].shares == "Z"));
  CHECK((call.attributes[0].most == int64_t{1} << 28 && call.attributes[1].most == 9));
  CHECK(call.attributes[1].optional);
  CHECK(call.attributes[2].most == std::numeric_limits<int64_t>::max());
  CHECK(TextOf(kNumbers) == "float32, float64, int32 or int64");
  CHECK(TextOf(TypesOf({DType::kBool})) == "bool");
}

TEST_CASE("signatures that say nothing clear are refused") {
  for (const char* text :
       {"dt_f", "dt_f(X:any)", "(X:any) -> Out:any", "dt_f(X X:any) -> Out:any",
        "dt_f(X:any, X:any) -> Out:any", "dt_f(X:any) -> X:any", "dt_f(X:any; a) -> Out:any",
        "dt_f(X:any; a:float) -> Out:any", "dt_f(X:any; X:int) -> Out:any",
        "dt_f(X:any; a:int, a:int) -> Out:any", "dt_f(X*?:any) -> Out:any",
        "dt_f(X!:any) -> Out:any", "dt_f(X:any) -> Out:any\ndt_f(X:any) -> Out:any",
        // element types, dims and limits
        "dt_f(X) -> Out:any", "dt_f(X:any) -> Out", "dt_f(X:floats) -> Out:any",
        "dt_f(X:X) -> Out:any", "dt_f(X:any) -> Out:Y", "dt_f(X:any, Y:X) -> Out:Y",
        "dt_f(X:any, Y*:each X) -> Out:any", "dt_f(X:index) -> Out:complex(X)",
        "dt_f(X:any[) -> Out:any", "dt_f(X:any[]) -> Out:any", "dt_f(X:any[a]) -> Out:any",
        "dt_f(X:any[3..2]) -> Out:any", "dt_f(X:any[-1]) -> Out:any",
        "dt_f(X:any; a:int<=) -> Out:any", "dt_f(X:any; a:int<=2^63) -> Out:any",
        "dt_f(X:any; a:int<=-1) -> Out:any", "dt_f(X:any; a:real<=4) -> Out:any"}) {
    INFO(text);
    CHECK(MessageOf(text) != "parsed");
  }
  CHECK(MessageOf("dt_f(X:any; a:float) -> Out:any") ==
        "'dt_f(X:any; a:float) -> Out:any': attribute 'a:float' is no NAME:KIND, or is there "
        "twice");
  CHECK(MessageOf("dt_f(X) -> Out:any") ==
        "'dt_f(X) -> Out:any': slot 'X': expected ':' and its element types");
  CHECK(MessageOf("dt_f(X:any, Y:X) -> Out:Y") ==
        "'dt_f(X:any, Y:X) -> Out:Y': slot 'Out': 'Y' names a slot itself, expected a class");
}

}  // namespace dtranspile::kernels

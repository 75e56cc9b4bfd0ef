// The notation of rows: what it says, and the message of everything that it does not.
#include "dialects/pd/op_table.h"

#include "catch2/catch.hpp"

namespace dtranspile::pd {
namespace {

std::string ErrorOf(const char* type, const char* slots, const char* attributes) {
  OpSpec spec;
  std::string error;
  return succeeded(parseRow({type, slots, attributes, kPure, nullptr}, spec, error)) ? "" : error;
}

TEST_CASE("every built-in row parses, once", "[op_table]") {
  size_t rows = 0;
  for (const Family& family : families()) {
    for (const OpRow& row : family.rows) {
      OpSpec spec;
      std::string error;
      INFO(family.name);
      CHECK(succeeded(parseRow(row, spec, error)));
      CHECK(error == "");
      ++rows;
    }
  }
  CHECK(rows == builtinOps().size());
  for (size_t i = 1; i < builtinOps().size(); ++i)
    CHECK(builtinOps()[i - 1].type < builtinOps()[i].type);
}

TEST_CASE("slots", "[op_table]") {
  const OpSpec* adam = findOp("adam");
  REQUIRE(adam);
  CHECK(adam->family == "optimizer");
  CHECK(!adam->input("Param")->dispensable);
  CHECK(adam->input("MasterParam")->dispensable);
  CHECK(adam->input("Out") == nullptr);
  CHECK(findOp("sum")->input("X")->duplicable);
  CHECK(findOp("sum")->input("X")->nonEmpty);
  CHECK(findOp("write_to_array")->output("Out")->updates);
  CHECK(!findOp("while")->input("X")->nonEmpty);
  CHECK(findOp("no_such_op") == nullptr);
}

TEST_CASE("attributes", "[op_table]") {
  const OpSpec* conv = findOp("conv2d");
  REQUIRE(conv);
  CHECK(conv->attribute("strides")->defaultText == "{1,1}");
  CHECK(conv->attribute("padding_algorithm")->defaultText == "EXPLICIT");
  const AttrRow* decay = findOp("lars_momentum")->attribute("lars_weight_decay");
  CHECK(decay->types == std::vector<AttrType>{AttrType::Floats, AttrType::Float});
  CHECK(findOp("cast")->attribute("out_dtype")->required);
  const AttrRow* multi = findOp("adam")->attribute("multi_precision");
  CHECK(multi->sinceVersion == 1);
  CHECK(multi->defaultText == "false");
  CHECK(findOp("momentum")->attribute("regularization_method")->defaultText == "");
  CHECK(findOp("elementwise_add")->attribute("x_data_format")->hint);
}

TEST_CASE("effects", "[op_table]") {
  CHECK(findOp("dropout")->effects == kRandom);
  CHECK(findOp("dropout_grad")->effects == kPure);
  CHECK(findOp("c_allreduce_sum")->effects == kCommunicates);
  CHECK(findOp("print")->effects == kHost);
}

TEST_CASE("common attributes and attributes that name variables", "[op_table]") {
  CHECK(isCommonAttribute("op_role"));
  CHECK(commonAttribute("op_role_var")->types.size() == 2);
  CHECK(commonAttribute("use_mkldnn")->hint);
  CHECK(!isCommonAttribute("axis"));
  CHECK(isNameAttribute("mul", "op_role_var"));
  CHECK(isNameAttribute("while_grad", "original_output_grad"));
  CHECK(isNameAttribute("recurrent", "ex_states"));
  CHECK(!isNameAttribute("rnn", "states"));
}

TEST_CASE("a row that is wrong says where", "[op_table]") {
  struct Case {
    const char *type, *slots, *attributes, *error;
  };
  const Case cases[] = {
      {"", "X -> Out", "", "row '': the op type is missing"},
      {"a b", "X -> Out", "", "row 'a b': the op type has a character that no name has"},
      {"a", "X, Out", "", "row 'a': the slots 'X, Out' lack '->'"},
      {"a", "X -> Y -> Z", "", "row 'a': the slots 'X -> Y -> Z' have more than one '->'"},
      {"a", "X, -> Out", "", "row 'a': '' is no slot; expected a name and then any of ? * + !"},
      {"a", "X?x -> Out", "", "row 'a': 'X?x' is no slot; expected a name and then any of ? * + !"},
      {"a", "X! -> Out", "", "row 'a': input slot 'X!' cannot be marked with !"},
      {"a", "X+? -> Out", "", "row 'a': slot 'X+?' combines + with * or ?"},
      {"a", "X, X -> Out", "", "row 'a': slot 'X' occurs twice"},
      {"a", "X -> Out", "k",
       "row 'a': 'k' is no attribute; expected name:type or name:type=default"},
      {"a", "X -> Out", "k:q=1", "row 'a': attribute 'k': 'q' is no type of op_table.h"},
      {"a", "X -> Out", "k:i=x", "row 'a': attribute 'k': 'x' is no default of its type"},
      {"a", "X -> Out", "k:i=1.5", "row 'a': attribute 'k': '1.5' is no default of its type"},
      {"a", "X -> Out", "k:is={1,x}", "row 'a': attribute 'k': '{1,x}' is no default of its type"},
      {"a", "X -> Out", "k:is=1", "row 'a': attribute 'k': '1' is no default of its type"},
      {"a", "X -> Out", "k:b=1", "row 'a': attribute 'k': '1' is no default of its type"},
      {"a", "X -> Out", "k:blk=1", "row 'a': attribute 'k': '1' is no default of its type"},
      {"a", "X -> Out", "k:i='1'", "row 'a': attribute 'k': a quoted default needs type s"},
      {"a", "X -> Out", "k:s='x", "row 'a': attribute 'k': its text lacks the closing quote"},
      {"a", "X -> Out", "k:i=1@x", "row 'a': attribute 'k': 'x' is no op version"},
      {"a", "X -> Out", "k:i@1", "row 'a': attribute 'k': '@1' is not understood"},
      {"a", "X -> Out", "k:i=1, k:i=1", "row 'a': attribute 'k' occurs twice"},
  };
  for (const Case& c : cases) CHECK(ErrorOf(c.type, c.slots, c.attributes) == c.error);
}

TEST_CASE("quoted text may hold separators", "[op_table]") {
  OpSpec spec;
  std::string error;
  REQUIRE(succeeded(
      parseRow({"a", "-> Out", "k:s='a, b@1', l:ss={x,y}@2", kPure, nullptr}, spec, error)));
  CHECK(spec.inputs.empty());
  CHECK(spec.attribute("k")->defaultText == "a, b@1");
  CHECK(spec.attribute("k")->sinceVersion == 0);
  CHECK(spec.attribute("l")->sinceVersion == 2);
}

TEST_CASE("a table file", "[op_table]") {
  std::vector<OpSpec> specs;
  std::string error;
  const char* text =
      "# ours\n"
      "my_scale | X, S? -> Out | factor:f|d=1, axis:i=-1 | pure\n"
      "\n"
      "my_noise | -> Out | shape:ls={} | random+host\n";
  REQUIRE(succeeded(parseTable("ops.table", text, specs, error)));
  REQUIRE(specs.size() == 2);
  CHECK(specs[0].type == "my_scale");
  CHECK(specs[0].family == "user");
  CHECK(specs[0].attribute("factor")->types.size() == 2);
  CHECK(specs[0].effects == kPure);
  CHECK(specs[1].effects == (kRandom | kHost));
}

TEST_CASE("errors of a table file name the line", "[op_table]") {
  auto error = [](const char* text) {
    std::vector<OpSpec> specs;
    std::string message;
    CHECK(failed(parseTable("t", text, specs, message)));
    return message;
  };
  CHECK(error("\nx\n") == "t:2: row 'x': expected `type | slots | attributes | effects`");
  CHECK(error("x | X -> Y | a:i=1\n") ==
        "t:1: row 'x': expected `type | slots | attributes | effects`");
  CHECK(error("x | X -> Y | | quick\n") ==
        "t:1: row 'x': 'quick' is no effect; expected pure, random, host or communicates");
  CHECK(error("x | X -> Y | | pure\nx | X -> Y | |\n") == "t:2: row 'x': the type occurs twice");
}

}  // namespace
}  // namespace dtranspile::pd

// PIR files that are refused, and what is said of them: file, block, op, and what to do.
#include <catch2/catch.hpp>

#include "compiler/import/pir/normalize.h"
#include "test/compiler/import/pir/pir_json.h"
#include "test/compiler/import/programs.h"

namespace dtranspile::test {
namespace {

using Catch::Matchers::Contains;

std::string refusal(const std::string& bytes, const pir::Budget& budget = {}) {
  Context context;
  Diagnostics collected(context);
  return mlir::failed(pir::normalize(&context, bytes, "main.json", budget)) ? collected.text
                                                                            : "accepted";
}

// A program of one feed and one op.
std::string refusalOf(const std::string& op, const std::vector<int>& operands,
                      const std::vector<json>& types, const std::vector<json>& attributes = {}) {
  PirBuilder p;
  p.data("x", {2, 3});
  p.op(op, operands, types, attributes);
  return refusal(p.text());
}

}  // namespace

TEST_CASE("files that are no PIR program") {
  CHECK_THAT(refusal("{"), Contains("is no legal JSON at byte"));
  CHECK_THAT(refusal("{}"), Contains("base_code.magic is not \"pir\""));
  CHECK_THAT(refusal(R"({"base_code": {"magic": "pir"}})"), Contains("has 0 top-level regions"));
  CHECK_THAT(
      refusal(R"({"base_code": {"magic": "pir"}, "program": {"regions": [{"blocks": []}]}})"),
      Contains("has no block"));
  CHECK_THAT(
      refusal(
          R"({"base_code": {"magic": "pir"}, "program": {"regions": [{"blocks": [{"ops": [], "kwargs": [1]}]}]}})"),
      Contains("\"kwargs\""));
  CHECK_THAT(
      refusal(
          R"({"base_code": {"magic": "pir"}, "program": {"regions": [{"blocks": [{"ops": [7]}]}]}})"),
      Contains("block 0, op 0") && Contains("has no name"));
}

TEST_CASE("budgets hold before anything is kept") {
  pir::Budget budget;
  budget.maxDepth = 100;
  CHECK_THAT(refusal(std::string(101, '['), budget), Contains("nests JSON more than 100 deep"));
  CHECK_THAT(refusal("{\"a\":" + std::string(1'000'000, '[')), Contains("nests JSON more than"));
  budget.maxValues = 1000;
  std::string many = "[0";
  for (int i = 0; i < 1000; ++i) many += ",0";
  CHECK_THAT(refusal(many + "]", budget), Contains("holds more than 1000 JSON values"));
  budget.maxBytes = 10;
  CHECK_THAT(refusal(many, budget), Contains("at most 10 are read"));
}

TEST_CASE("what a file makes ops read is counted in full") {
  PirBuilder p;
  std::vector<int> operands(100, p.data("x", {2}));
  json list = value("0.t_vec", std::vector<json>(100, tensor({2})));
  int all = p.op("0.combine", operands, {list});
  for (int i = 0; i < 100; ++i) p.op("1.add_n", {all}, {tensor({2})});
  CHECK(refusal(p.text()) == "accepted");
  pir::Budget budget;
  budget.maxValues = 9000;
  CHECK_THAT(refusal(p.text(), budget), Contains("read more than 9000 values altogether"));
}

TEST_CASE("a long constant is no attribute") {
  PirBuilder p;
  int x = p.data("x", {2, 3}), shape = p.intArray(std::vector<int>(1025, 1));
  p.op("1.sum", {x, shape}, {tensor({})}, {attribute("keepdim", value("0.a_bool", false))});
  CHECK_THAT(refusal(p.text()), Contains("takes 'dim' from a value computed at run time"));
}

TEST_CASE("errors name file, block, op and remedy") {
  CHECK_THAT(refusalOf("1.frobnicate", {1}, {tensor({2})}),
             Contains("main.json") && Contains("block 0, op 1") &&
                 Contains("op 'pd_op.frobnicate'") && Contains("has no row in the PIR table"));
  CHECK_THAT(refusalOf("1.if", {1}, {}), Contains("has no row"));
  CHECK_THAT(refusalOf("2.stack_create", {}, {}),
             Contains("belongs to control flow") && Contains("Save the program as a ProgramDesc"));
  CHECK_THAT(refusalOf("1.relu", {9}, {tensor({2, 3})}),
             Contains("reads value 9, which no earlier op makes"));
  CHECK_THAT(refusalOf("1.relu", {2}, {tensor({2, 3})}),
             Contains("reads value 2, which no earlier op makes"));
  CHECK_THAT(refusalOf("1.relu", {-1}, {tensor({2, 3})}), Contains("reads value -1"));
  CHECK_THAT(refusalOf("1.relu", {}, {tensor({2, 3})}), Contains("has 0 operands, expected 1"));
  CHECK_THAT(refusalOf("1.relu", {0}, {tensor({2, 3})}), Contains("lacks operand 0 (slot X)"));
  CHECK_THAT(refusalOf("1.relu", {1}, {}), Contains("'Out' is missing"));
  CHECK_THAT(refusalOf("1.relu", {1}, {tensor({2}), tensor({2})}),
             Contains("has 2 results, expected 1"));
  CHECK_THAT(refusalOf("1.relu", {1}, {tensor({-7})}),
             Contains("an extent that is no number from -1 on"));
  CHECK_THAT(refusalOf("1.relu", {1}, {tensor({2}, "t_f4")}),
             Contains("unknown element type 't_f4'"));
  CHECK_THAT(refusalOf("1.relu", {1}, {tensor(std::vector<int>(65, 1))}),
             Contains("more than 64 extents"));
  CHECK_THAT(refusalOf("1.relu", {1}, {value("1.t_sparse_coo_tensor", json::array())}),
             Contains("type 't_sparse_coo_tensor'"));
  CHECK_THAT(refusalOf("1.relu", {1}, {tensor({2})}, {attribute("slope", value("0.a_f32", 1))}),
             Contains("has attribute 'slope', which its row in the PIR table does not know"));
  CHECK_THAT(
      refusalOf("1.softmax", {1}, {tensor({2})}, {attribute("axis", value("0.a_i64", 1LL << 40))}),
      Contains("attribute 'axis' holds 1099511627776, which does not fit"));
  CHECK_THAT(refusalOf("1.softmax", {1}, {tensor({2})}, {attribute("axis", value("0.a_str", "x"))}),
             Contains("attribute 'axis' is neither a number"));
  CHECK_THAT(refusalOf("1.softmax", {1}, {tensor({2})}, {attribute("axis", ints({1, 2}))}),
             Contains("holds 2 numbers, expected one"));
  CHECK_THAT(refusalOf("1.data", {}, {tensor({2})}, {attribute("name", value("0.a_str", "x"))}),
             Contains("declares variable 'x' for the second time"));
  CHECK_THAT(refusalOf("1.data", {}, {tensor({2})}), Contains("has no attribute 'name'"));
  CHECK_THAT(refusalOf("0.split", {1}, {tensor({2})}),
             Contains("takes parts of something that is no list"));
  CHECK_THAT(refusalOf("0.set_parameter", {1}, {}), Contains("has no attribute 'parameter_name'"));
}

TEST_CASE("values are made once, in order") {
  PirBuilder p;
  p.data("x", {2});
  p.op("1.relu", {1}, {tensor({2})});
  p.last()["O"][0]["%"] = 1;
  CHECK_THAT(refusal(p.text()), Contains("makes value 1, which op 0 makes already"));
  p.last()["O"][0]["%"] = 0;
  CHECK_THAT(refusal(p.text()), Contains("without a positive value number"));
  p.last()["O"][0]["%"] = 1e30;
  CHECK_THAT(refusal(p.text()), Contains("without a positive value number"));
}

TEST_CASE("lists have the length that their readers expect") {
  json list = value("0.t_vec", {tensor({2}), tensor({2})});
  for (int position : {-1, 2, 1 << 30}) {
    PirBuilder p;
    int x = p.data("x", {2}), both = p.op("0.combine", {x, x}, {list});
    p.op("0.slice", {both}, {tensor({2})}, {attribute("index", value("0.a_i32", position))});
    CHECK_THAT(refusal(p.text()), Contains("has no attribute 'index' below 2"));
  }
  PirBuilder p;
  int x = p.data("x", {2}), both = p.op("0.combine", {x}, {list});
  p.op("0.split", {both}, {tensor({2}), tensor({2})});
  CHECK_THAT(refusal(p.text()), Contains("takes more parts than the list has"));
  PirBuilder q;
  int y = q.data("x", {2}), pair = q.op("0.combine", {y, y}, {list});
  q.op("1.relu", {pair}, {tensor({2})});
  CHECK_THAT(refusal(q.text()), Contains("has a list as operand 0 (slot X)"));
}

TEST_CASE("the importer's own errors name the position in the PIR file") {
  PirBuilder p;
  int x = p.data("x", {2, 3}), shape = p.intArray({2, 3}),
      y = p.op("1.reshape", {x, shape}, {tensor({2, 3})});
  p.op("1.full_int_array", {}, {tensor({1})}, {attribute("value", ints({1}))});
  CHECK_THAT(refusal(p.text()), Contains("block 0, op 3") && Contains("has no attribute 'dtype'"));
  CHECK(y == 3);
}

}  // namespace dtranspile::test

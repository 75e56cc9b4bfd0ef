#include "compiler/diff/diff.h"

#include <catch2/catch.hpp>

#include "compiler/diff/align.h"
#include "test/compiler/import/programs.h"

namespace dtranspile {
namespace {

using Catch::Matchers::Contains;
using test::attr;
using test::ProgramBuilder;

ProgramBuilder net() {
  ProgramBuilder program;
  for (const char* name : {"x", "h", "s", "y"}) program.var(0, name, {-1, 4});
  program.var(0, "w", {4, 4}, true);
  attr(program.op(0, "mul", {{"X", {"x"}}, {"Y", {"w"}}}, {{"Out", {"h"}}}), "x_num_col_dims", 0)
      .set_i(1);
  attr(program.op(0, "scale", {{"X", {"h"}}}, {{"Out", {"s"}}}), "scale", 1).set_f(2);
  program.op(0, "relu", {{"X", {"s"}}}, {{"Out", {"y"}}});
  return program;
}

std::string diff(const ProgramBuilder& a, const ProgramBuilder& b) {
  test::Context context;
  test::Result left(context, a.bytes()), right(context, b.bytes());
  DiffReport report = diffModules(*left.module, *right.module);
  CHECK(report.equal() == (report.text() == "equal\n"));
  return report.text();
}

}  // namespace

TEST_CASE("equal programs have no difference, whatever the order of attributes in memory") {
  CHECK(diff(net(), net()) == "equal\n");
}

TEST_CASE("an attribute that changed, vanished, or is new") {
  ProgramBuilder b = net();
  b.block(0).mutable_ops(0)->mutable_attrs(0)->set_i(2);
  CHECK(diff(net(), b) ==
        "! main, op 0 (mul): attribute x_num_col_dims: 1 : i32 -> 2 : i32\n1 difference\n");
  b = net();
  b.block(0).mutable_ops(0)->clear_attrs();
  CHECK(diff(net(), b) ==
        "! main, op 0 (mul): attribute x_num_col_dims: 1 : i32 -> (nothing)\n1 difference\n");
  CHECK(diff(b, net()) ==
        "! main, op 0 (mul): attribute x_num_col_dims: (nothing) -> 1 : i32\n1 difference\n");
}

TEST_CASE("an input that another variable took") {
  ProgramBuilder b = net();
  b.block(0).mutable_ops(2)->mutable_inputs(0)->set_arguments(0, "h");
  CHECK(diff(net(), b) == "! main, op 2 (relu): input X[0]: s -> h\n1 difference\n");
}

TEST_CASE("an op that is gone or new, and its users") {
  ProgramBuilder b = net();
  b.block(0).mutable_ops()->DeleteSubrange(1, 1);
  b.block(0).mutable_ops(1)->mutable_inputs(0)->set_arguments(0, "h");
  CHECK(diff(net(), b) ==
        "- main, op 1 (scale): scale Out[0]=s\n! main, op 2 (relu): input X[0]: s -> h\n2 "
        "differences\n");
  CHECK(diff(b, net()) ==
        "+ main, op 1 (scale): scale Out[0]=s\n! main, op 1 (relu): input X[0]: h -> s\n2 "
        "differences\n");
}

TEST_CASE("an output that was renamed is a change of its op") {
  ProgramBuilder b = net();
  b.var(0, "t", {-1, 4});
  b.block(0).mutable_ops(1)->mutable_outputs(0)->set_arguments(0, "t");
  b.block(0).mutable_ops(2)->mutable_inputs(0)->set_arguments(0, "t");
  CHECK(diff(net(), b) ==
        "+ main, variable t: pd.decl t\n! main, op 1 (scale): output Out[0]: s -> t\n! main, op 2 "
        "(relu): input X[0]: s -> t\n3 differences\n");
}

TEST_CASE("an op that moved") {
  ProgramBuilder a = net(), b = net();
  a.op(0, "abs", {{"X", {"x"}}}, {{"Out", {"y"}}});
  b.op(0, "abs", {{"X", {"x"}}}, {{"Out", {"y"}}});
  b.block(0).mutable_ops()->SwapElements(0, 3);
  b.block(0).mutable_ops()->SwapElements(1, 3);
  b.block(0).mutable_ops()->SwapElements(2, 3);
  CHECK(diff(a, b) == "~ main, op 3 (abs): moved to where op 0 (abs) stands\n1 difference\n");
}

TEST_CASE("a variable whose declaration changed") {
  ProgramBuilder b = net();
  b.block(0).mutable_vars(4)->mutable_type()->mutable_lod_tensor()->mutable_tensor()->set_dims(0,
                                                                                               8);
  std::string text = diff(net(), b);
  CHECK_THAT(
      text,
      Contains("! pd.var @w: attribute type: tensor<4x4xf32> -> tensor<8x4xf32>") &&
          Contains("! main, variable w: attribute dims: array<i64: 4, 4> -> array<i64: 8, 4>"));
}

TEST_CASE("differences inside a sub-block") {
  ProgramBuilder a = net();
  a.var(0, "flag", {1}, false, 0);
  int inner = a.addBlock(0);
  test::blockAttr(a.op(0, "conditional_block", {{"Cond", {"flag"}}}, {{"Out", {"y"}}}), "sub_block",
                  inner);
  attr(a.op(inner, "scale", {{"X", {"h"}}}, {{"Out", {"y"}}}), "scale", 1).set_f(1);
  ProgramBuilder b = a;
  b.block(inner).mutable_ops(0)->mutable_attrs(0)->set_f(3);
  CHECK_THAT(diff(a, b), Contains("main, op 3 (conditional_block), op 0 (scale): attribute scale: "
                                  "1.000000e+00 : f32 -> 3.000000e+00 : f32\n1 difference"));
}

TEST_CASE("JSON says the same") {
  test::Context context;
  ProgramBuilder b = net();
  b.block(0).mutable_ops(0)->mutable_attrs(0)->set_i(2);
  test::Result left(context, net().bytes()), right(context, b.bytes());
  std::string json = diffModules(*left.module, *right.module).json();
  CHECK_THAT(json, Contains("\"equal\": false") && Contains("\"kind\": \"changed\"") &&
                       Contains("\"where\": \"main, op 0 (mul)\"") &&
                       Contains("\"b\": \"2 : i32\""));
  CHECK_THAT(diffModules(*left.module, *left.module).json(), Contains("\"equal\": true"));
}

TEST_CASE("alignment pairs the k-th with the k-th and moves as few as it can") {
  Alignment result = align({"a", "b", "c", "a", "d"}, {"c", "a", "b", "a", "e"});
  CHECK(result.pairs == std::vector<std::pair<int, int>>{{0, 1}, {1, 2}, {2, 0}, {3, 3}});
  CHECK(result.moved == std::vector<bool>{false, false, true, false});
  CHECK(result.onlyA == std::vector<int>{4});
  CHECK(result.onlyB == std::vector<int>{4});
}

}  // namespace dtranspile

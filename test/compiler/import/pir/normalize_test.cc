// What the notation of the PIR table does, op by op.
#include <catch2/catch.hpp>

#include "test/compiler/import/pir/pir_json.h"
#include "test/compiler/import/programs.h"

namespace dtranspile::test {
namespace {

using Catch::Matchers::Contains;

std::string import(const PirBuilder& program) {
  Context context;
  Diagnostics collected(context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  if (mlir::failed(importAny(*module, program.text(), {}))) return collected.text;
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

}  // namespace

TEST_CASE("constant operands become attributes, and are made where one is read as a tensor") {
  PirBuilder p;
  int x = p.data("x", {-1, 6}), shape = p.intArray({0, 2, 3}),
      y = p.op("1.reshape", {x, shape}, {tensor({-1, 2, 3})}), two = p.full(2);
  p.op("1.scale", {y, two}, {tensor({-1, 2, 3})},
       {attribute("bias", value("0.a_f32", 1.5)),
        attribute("bias_after_scale", value("0.a_bool", true))});
  std::string text = import(p);
  CHECK_THAT(
      text,
      Contains(
          "pd.reshape X(%0) -> Out(\"#2.0\") {op_role = 0 : i32, shape = array<i32: 0, 2, 3>}"));
  CHECK_THAT(text, Contains("bias = 1.500000e+00 : f32") && Contains("scale = 2.000000e+00 : f32"));
  CHECK_THAT(text, !Contains("fill_constant") && !Contains("assign_value"));
  p.op("1.multiply", {y, two}, {tensor({-1, 2, 3})});
  text = import(p);
  CHECK_THAT(text, Contains("pd.fill_constant -> Out(\"#3.0\")") && Contains("str_value = \"2\""));
  CHECK_THAT(text, Contains("Out(\"#5.0\")"));
}

TEST_CASE("operands that are computed go to the slot for tensors") {
  PirBuilder p;
  int x = p.data("x", {-1, 6}), shape = p.data("s", {2}, "t_i64");
  p.op("1.reshape", {x, shape}, {tensor({-1, -1})});
  CHECK_THAT(import(p), Contains("pd.reshape Shape(%0) X(%1)"));
}

TEST_CASE("lists are folded, and their parts have the names of the ops that take them out") {
  PirBuilder p;
  int x = p.data("x", {4, 6}), y = p.data("y", {4, 2});
  json list = value("0.t_vec", {tensor({4, 6}), tensor({4, 2})});
  int both = p.op("0.combine", {x, y}, {list}), axis = p.full(1, {1}, "int32");
  int joined = p.op("1.concat", {both, axis}, {tensor({4, 8})});
  int sections = p.intArray({6, 2}), parts = p.op("1.split", {joined, sections, axis}, {list});
  p.op("0.split", {parts}, {tensor({4, 6}), tensor({4, 2})});
  std::string text = import(p);
  CHECK_THAT(text, Contains("pd.concat X(%0, %1) -> Out(\"#4.0\") {axis = 1 : i32"));
  CHECK_THAT(text,
             Contains("-> Out(\"#7.0\", \"#7.1\")") && Contains("sections = array<i32: 6, 2>"));
}

TEST_CASE("in-place ops write to the variable of their operand, and later readers see it") {
  PirBuilder p;
  int w = p.parameter("w", {3}), rate = p.data("rate", {1}), gradient = p.data("g", {3});
  p.op("1.sgd_", {w, rate, gradient, 0}, {tensor({3}), {{"#", "NULL"}}},
       {attribute("multi_precision", value("0.a_bool", false))});
  p.op("1.relu", {w}, {tensor({3})});
  std::string text = import(p);
  CHECK_THAT(text,
             Contains("Param(%") && Contains("-> ParamOut(\"w\")") && Contains("pd.set @w, %"));
  CHECK_THAT(text, Contains("pd.relu X(%3) -> Out(\"#4.0\")"));

  PirBuilder q;
  int x = q.data("x", {3}), h = q.op("1.exp", {x}, {tensor({3})});
  q.op("1.relu_", {h}, {tensor({3})});
  q.op("1.tanh", {h}, {tensor({3})});
  CHECK_THAT(import(q),
             Contains("pd.relu X(%1) -> Out(\"#2.0\")") && Contains("%3 = pd.tanh X(%2)"));
}

TEST_CASE("start-up programs write to the parameters that they name") {
  PirBuilder p;
  int w = p.full(0.5, {3});
  p.op("0.set_parameter", {w}, {}, {attribute("parameter_name", value("0.a_str", "w"))});
  p.op("0.shadow_output", {w}, {}, {attribute("output_name", value("0.a_str", "copy"))});
  std::string text = import(p);
  CHECK_THAT(text, Contains("pd.var @w : tensor<3xf32> {parameter}") &&
                       Contains("pd.var @copy : tensor<3xf32>"));
  CHECK_THAT(text, Contains("pd.assign X(%0) -> Out(\"copy\")"));
}

TEST_CASE("full dialect names and generic parameters of pre-releases are read too") {
  PirBuilder p;
  p.op("builtin.parameter", {}, {tensor({3})},
       {attribute("parameter_name", value("0.a_str", "w"))});
  p.op("pd_op.relu", {1}, {tensor({3})});
  CHECK_THAT(import(p), Contains("pd.relu X(%0) -> Out(\"#1.0\")") && Contains("pd.var @w"));
}

TEST_CASE("ops as older releases have them") {
  PirBuilder p;
  int x = p.data("x", {2, 6}), shape = p.intArray({3, 4});
  p.op("1.reshape", {x, shape}, {tensor({3, 4}), tensor({0, 2, 6})});
  p.op("1.mean", {3}, {tensor({})},
       {attribute("axis", value("1.a_intarray", json::array())),
        attribute("keepdim", value("0.a_bool", false))});
  p.op("1.reshape_grad", {4, 3}, {tensor({2, 6})});
  std::string text = import(p);
  CHECK_THAT(text, Contains("pd.reshape_grad \"Out@GRAD\"(%1) X(%0)"));
  CHECK_THAT(text,
             Contains("pd.reduce_mean X(%1) -> Out(\"#3.0\") {dim = array<i32>, keep_dim = false"));
}

TEST_CASE("shapes out of numbers computed one by one go to the slot for their list") {
  PirBuilder p;
  int x = p.data("x", {2, 6}), rows = p.data("rows", {1}, "t_i32"),
      columns = p.data("columns", {1}, "t_i32");
  int both = p.op("0.combine", {rows, columns},
                  {value("0.t_vec", {tensor({1}, "t_i32"), tensor({1}, "t_i32")})});
  p.op("1.reshape", {x, both}, {tensor({-1, -1})});
  CHECK_THAT(import(p), Contains("pd.reshape ShapeTensor(%0, %1) X(%2)"));
}

TEST_CASE("numbers that JSON does not have") {
  PirBuilder p;
  int x = p.data("x", {3});
  p.full(0);
  p.last()["A"][1]["AT"] = {{"#", "0.a_f64"}, {"VD", "-INF"}};
  p.op("1.add", {x, 2}, {tensor({3})});
  CHECK_THAT(import(p), Contains("str_value = \"-inf\""));
}

}  // namespace dtranspile::test

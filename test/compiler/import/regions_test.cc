// Block ops: how their sub-blocks become regions, by the text of small programs.
#include <catch2/catch.hpp>

#include "compiler/export/program.h"
#include "mlir/IR/Verifier.h"
#include "test/compiler/import/programs.h"

namespace dtranspile {
namespace {

using test::attr;
using test::blockAttr;
using test::OpDesc;
using test::ProgramBuilder;

// The ops of the program's body without declarations, one a line, and that the program survives.
std::string body(const ProgramBuilder& program) {
  test::Context context;
  test::Result result(context, program.bytes());
  INFO(result.diagnostics);
  REQUIRE(result.module);
  test::Diagnostics diagnostics(context);
  bool legal = mlir::succeeded(mlir::verify(*result.module));
  INFO(diagnostics.text);
  CHECK(legal);
  std::string out, text = result.text();
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::StringRef trimmed = line.trim();
    if (trimmed.empty() || trimmed.starts_with("pd.decl") || trimmed.starts_with("module") ||
        trimmed == "}" || trimmed.starts_with("pd.program"))
      continue;
    out += trimmed.str() + "\n";
  }
  auto bytes = exportProgramBytes(result.program());
  REQUIRE(mlir::succeeded(bytes));
  CHECK((*bytes == program.bytes()));
  return out;
}

// i < n; while the condition holds, y += x and i += 1 in block 1.
ProgramBuilder loop() {
  ProgramBuilder program;
  program.var(0, "x", {4});
  program.var(0, "y", {4});
  program.var(0, "i", {1}, false, 3);
  program.var(0, "n", {1}, false, 3);
  program.var(0, "more", {1}, false, 0);
  program.var(0, "scopes", {}, false, 5, 11);
  int inner = program.addBlock(0);
  program.var(inner, "sum", {4});
  program.op(0, "less_than", {{"X", {"i"}}, {"Y", {"n"}}}, {{"Out", {"more"}}});
  OpDesc& op = program.op(0, "while", {{"Condition", {"more"}}, {"X", {"x", "y", "i", "n"}}},
                          {{"Out", {"y", "i"}}, {"StepScopes", {"scopes"}}});
  blockAttr(op, "sub_block", inner);
  program.op(inner, "elementwise_add", {{"X", {"y"}}, {"Y", {"x"}}}, {{"Out", {"sum"}}});
  program.op(inner, "assign", {{"X", {"sum"}}}, {{"Out", {"y"}}});
  program.op(inner, "increment", {{"X", {"i"}}}, {{"Out", {"i"}}});
  program.op(inner, "less_than", {{"X", {"i"}}, {"Y", {"n"}}}, {{"Out", {"more"}}});
  return program;
}

}  // namespace

TEST_CASE(
    "a loop: captures are operands, what it writes is yielded, unlisted writes are $written") {
  CHECK(body(loop()) == R"(%0 = pd.input "i" : tensor<1xi64>
%1 = pd.input "n" : tensor<1xi64>
%2 = pd.input "y" : tensor<4xf32>
%3 = pd.input "x" : tensor<4xf32>
%4 = pd.less_than X(%0) Y(%1) -> Out("more") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
%5:4 = pd.while "$capture"(%2, %3, %0, %1, %4) Condition(%4) X(%3, %2, %0, %1) -> Out("y", "i") StepScopes("scopes") "$written"("more") {sub_block = #pd.block<1>} blocks [{captures = ["y", "x", "i", "n", "more"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["y", "i", "more"]}] {
^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<1xi64>, %arg3: tensor<1xi64>, %arg4: tensor<1xi1>):
%6 = pd.elementwise_add X(%arg0) Y(%arg1) -> Out("sum") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
%7 = pd.assign X(%6) -> Out("y") : (tensor<4xf32>) -> tensor<4xf32>
%8 = pd.increment X(%arg2) -> Out("i") : (tensor<1xi64>) -> tensor<1xi64>
%9 = pd.less_than X(%8) Y(%arg3) -> Out("more") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
pd.yield %7, %8, %9 : tensor<4xf32>, tensor<1xi64>, tensor<1xi1>
} : (tensor<4xf32>, tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<4xf32>, tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> (tensor<4xf32>, tensor<1xi64>, !pd.tape, tensor<1xi1>)
)");
}

TEST_CASE("a gradient block takes the locals of its forward block from the tape") {
  ProgramBuilder program = loop();
  program.var(0, "y@GRAD", {4});
  program.var(0, "x@GRAD", {4});
  int gradient = program.addBlock(0, 1);
  program.var(gradient, "sum@GRAD", {4});
  OpDesc& op = program.op(
      0, "while_grad",
      {{"Out", {"y"}}, {"Out@GRAD", {"y@GRAD"}}, {"StepScopes", {"scopes"}}, {"X", {"x"}}},
      {{"X@GRAD", {"x@GRAD"}}});
  blockAttr(op, "sub_block", gradient);
  attr(op, "original_output_grad", 5).add_strings("y@GRAD");
  program.op(gradient, "relu_grad", {{"Out", {"sum"}}, {"Out@GRAD", {"y@GRAD"}}},
             {{"X@GRAD", {"sum@GRAD"}}});
  program.op(gradient, "assign", {{"X", {"sum@GRAD"}}}, {{"Out", {"x@GRAD"}}});
  CHECK(body(program) == R"(%0 = pd.input "i" : tensor<1xi64>
%1 = pd.input "n" : tensor<1xi64>
%2 = pd.input "y" : tensor<4xf32>
%3 = pd.input "x" : tensor<4xf32>
%4 = pd.input "y@GRAD" : tensor<4xf32>
%5 = pd.less_than X(%0) Y(%1) -> Out("more") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
%6:4 = pd.while "$capture"(%2, %3, %0, %1, %5) Condition(%5) X(%3, %2, %0, %1) -> Out("y", "i") StepScopes("scopes") "$written"("more") {sub_block = #pd.block<1>} blocks [{captures = ["y", "x", "i", "n", "more"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = ["sum"], written = ["y", "i", "more"]}] {
^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<1xi64>, %arg3: tensor<1xi64>, %arg4: tensor<1xi1>):
%9 = pd.elementwise_add X(%arg0) Y(%arg1) -> Out("sum") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
%10 = pd.assign X(%9) -> Out("y") : (tensor<4xf32>) -> tensor<4xf32>
%11 = pd.increment X(%arg2) -> Out("i") : (tensor<1xi64>) -> tensor<1xi64>
%12 = pd.less_than X(%11) Y(%arg3) -> Out("more") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
pd.yield %10, %11, %12, %9 : tensor<4xf32>, tensor<1xi64>, tensor<1xi1>, tensor<4xf32>
} : (tensor<4xf32>, tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<4xf32>, tensor<4xf32>, tensor<1xi64>, tensor<1xi64>) -> (tensor<4xf32>, tensor<1xi64>, !pd.tape, tensor<1xi1>)
%7 = pd.undef "x@GRAD" : tensor<4xf32>
%8 = pd.while_grad "$capture"(%4, %7) Out(%6#0) "Out@GRAD"(%4) StepScopes(%6#2) X(%3) -> "X@GRAD"("x@GRAD") {original_output_grad = ["y@GRAD"], sub_block = #pd.block<2>} blocks [{captures = ["y@GRAD", "x@GRAD"], forward = 1 : i32, idx = 2 : i32, locals = ["sum"], parent = 0 : i32, saved = ["y@GRAD"], written = ["x@GRAD"]}] {
^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>):
%9 = pd.relu_grad Out(%arg2) "Out@GRAD"(%arg0) -> "X@GRAD"("sum@GRAD") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
%10 = pd.assign X(%9) -> Out("x@GRAD") : (tensor<4xf32>) -> tensor<4xf32>
pd.yield %10, %arg0 : tensor<4xf32>, tensor<4xf32>
} with {order = array<i32: 1, 0>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, !pd.tape, tensor<4xf32>) -> tensor<4xf32>
)");
}

TEST_CASE("a loop keeps the value that a turn begins with, but for what an op updates in place") {
  ProgramBuilder program = loop();
  program.var(0, "y@GRAD", {4});
  program.var(0, "x@GRAD", {4});
  int gradient = program.addBlock(0, 1);
  OpDesc& op = program.op(
      0, "while_grad",
      {{"Out", {"y"}}, {"Out@GRAD", {"y@GRAD"}}, {"StepScopes", {"scopes"}}, {"X", {"x"}}},
      {{"X@GRAD", {"x@GRAD"}}});
  blockAttr(op, "sub_block", gradient);
  attr(op, "original_output_grad", 5).add_strings("y@GRAD");
  program.op(gradient, "relu_grad", {{"Out", {"y"}}, {"Out@GRAD", {"y@GRAD"}}},
             {{"X@GRAD", {"y@GRAD"}}});
  program.op(gradient, "increment", {{"X", {"i"}}}, {{"Out", {"i"}}});
  const std::string text = body(program);
  INFO(text);
  CHECK(text.find(R"(saved = ["y"], written = ["y", "i", "more"])") != std::string::npos);
  CHECK(text.find("pd.yield %9, %10, %11, %arg0 :") != std::string::npos);
  CHECK(text.find(
            R"(captures = ["y@GRAD", "i"], forward = 1 : i32, idx = 2 : i32, locals = ["y"])") !=
        std::string::npos);
}

// while (more) { while (inner) z = y * x } and its gradient: y belongs to the outer turn, z to the
// inner one.
TEST_CASE(
    "a gradient block within another captures what belongs to forward blocks around its own") {
  ProgramBuilder program;
  for (const char* name : {"x", "x@GRAD"}) program.var(0, name, {4});
  for (const char* name : {"more", "inner"}) program.var(0, name, {1}, false, 0);
  program.var(0, "scopes", {}, false, 5, 11);
  const int outer = program.addBlock(0), inner = program.addBlock(outer),
            gradient = program.addBlock(0, outer), within = program.addBlock(gradient, inner);
  program.var(outer, "y", {4});
  program.var(outer, "kept", {}, false, 5, 11);
  program.var(inner, "z", {4});
  program.var(gradient, "y@GRAD", {4});
  const auto block = [](OpDesc& op, int number) { blockAttr(op, "sub_block", number); };
  block(program.op(0, "while", {{"Condition", {"more"}}, {"X", {"x"}}},
                   {{"Out", {"more"}}, {"StepScopes", {"scopes"}}}),
        outer);
  program.op(outer, "relu", {{"X", {"x"}}}, {{"Out", {"y"}}});
  block(program.op(outer, "while", {{"Condition", {"inner"}}, {"X", {"x", "y"}}},
                   {{"Out", {"inner"}}, {"StepScopes", {"kept"}}}),
        inner);
  program.op(inner, "elementwise_mul", {{"X", {"y"}}, {"Y", {"x"}}}, {{"Out", {"z"}}});
  program.op(inner, "assign", {{"X", {"z"}}}, {{"Out", {"y"}}});
  block(program.op(0, "while_grad", {{"StepScopes", {"scopes"}}, {"X", {"x"}}},
                   {{"X@GRAD", {"x@GRAD"}}}),
        gradient);
  block(program.op(gradient, "while_grad", {{"StepScopes", {"kept"}}, {"X", {"y"}}},
                   {{"X@GRAD", {"y@GRAD"}}}),
        within);
  program.op(within, "relu_grad", {{"Out", {"z"}}, {"Out@GRAD", {"y"}}}, {{"X@GRAD", {"y@GRAD"}}});
  program.op(within, "assign", {{"X", {"y"}}}, {{"Out", {"y"}}});
  const std::string text = body(program);
  INFO(text);
  CHECK(text.find(R"(locals = ["kept", "y"])") != std::string::npos);
  CHECK(text.find(R"(captures = ["y@GRAD", "y"])") != std::string::npos);
  CHECK(text.find(R"(locals = ["z", "y"], parent = 3)") != std::string::npos);
}

TEST_CASE("a branch: what it may leave unwritten enters as operand; persistables are set inside") {
  ProgramBuilder program;
  program.var(0, "flag", {1}, false, 0);
  program.var(0, "x", {4});
  program.var(0, "out", {4});
  program.var(0, "rate", {1}, true);
  program.var(0, "scope", {}, false, 5, 11);
  int inner = program.addBlock(0);
  OpDesc& op = program.op(0, "conditional_block", {{"Cond", {"flag"}}, {"Input", {"x"}}},
                          {{"Out", {"out"}}, {"Scope", {"scope"}}});
  attr(op, "is_scalar_condition", 6).set_b(true);
  blockAttr(op, "sub_block", inner);
  program.op(inner, "scale", {{"X", {"x"}}}, {{"Out", {"out"}}});
  program.op(inner, "scale", {{"X", {"rate"}}}, {{"Out", {"rate"}}});
  program.op(0, "elementwise_mul", {{"X", {"out"}}, {"Y", {"rate"}}}, {{"Out", {"x"}}});
  CHECK(body(program) == R"(pd.var @rate : tensor<1xf32>
%0 = pd.input "x" : tensor<4xf32>
%1 = pd.input "flag" : tensor<1xi1>
%2 = pd.undef "out" : tensor<4xf32>
%3:2 = pd.conditional_block "$capture"(%0, %2) Cond(%1) Input(%0) -> Out("out") Scope("scope") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = ["x", "out"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["out"]}] {
^bb0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>):
%6 = pd.scale X(%arg0) -> Out("out") : (tensor<4xf32>) -> tensor<4xf32>
%7 = pd.get @rate : tensor<1xf32>
%8 = pd.scale X(%7) -> Out("rate") : (tensor<1xf32>) -> tensor<1xf32>
pd.set @rate, %8 : tensor<1xf32>
pd.yield %6 : tensor<4xf32>
} : (tensor<4xf32>, tensor<4xf32>, tensor<1xi1>, tensor<4xf32>) -> (tensor<4xf32>, !pd.tape)
%4 = pd.get @rate : tensor<1xf32>
%5 = pd.elementwise_mul X(%3#0) Y(%4) -> Out("x") : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
)");
}

TEST_CASE(
    "a recurrent op: step inputs and previous states are arguments, states and outputs are saved") {
  ProgramBuilder program;
  program.var(0, "seq", {5, 2, 4});
  program.var(0, "boot", {2, 4});
  program.var(0, "out", {5, 2, 4});
  program.var(0, "scopes", {}, false, 5, 11);
  int inner = program.addBlock(0);
  for (const char* name : {"seq", "state", "state@pre", "out"}) program.var(inner, name, {2, 4});
  OpDesc& op = program.op(0, "recurrent",
                          {{"initial_states", {"boot"}}, {"inputs", {"seq"}}, {"parameters", {}}},
                          {{"outputs", {"out"}}, {"step_scopes", {"scopes"}}});
  attr(op, "ex_states", 5).add_strings("state@pre");
  attr(op, "has_states", 6).set_b(true);
  attr(op, "states", 5).add_strings("state");
  blockAttr(op, "sub_block", inner);
  program.op(inner, "elementwise_add", {{"X", {"seq"}}, {"Y", {"state@pre"}}},
             {{"Out", {"state"}}});
  program.op(inner, "assign", {{"X", {"state"}}}, {{"Out", {"out"}}});
  CHECK(body(program) == R"(%0 = pd.input "boot" : tensor<2x4xf32>
%1 = pd.input "seq" : tensor<5x2x4xf32>
%2:2 = pd.recurrent "$capture"() initial_states(%0) inputs(%1) parameters() -> outputs("out") step_scopes("scopes") {ex_states = ["state@pre"], has_states = true, states = ["state"], sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = ["seq", "state@pre"], parent = 0 : i32, saved = ["state@pre", "state", "out"], written = []}] {
^bb0(%arg0: tensor<2x4xf32>, %arg1: tensor<2x4xf32>):
%3 = pd.elementwise_add X(%arg0) Y(%arg1) -> Out("state") : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
%4 = pd.assign X(%3) -> Out("out") : (tensor<2x4xf32>) -> tensor<2x4xf32>
pd.yield %arg1, %3, %4 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
} : (tensor<2x4xf32>, tensor<5x2x4xf32>) -> (tensor<5x2x4xf32>, !pd.tape)
)");
}

TEST_CASE("a block that no op refers to is kept beside the program") {
  ProgramBuilder program;
  program.var(0, "x", {4});
  int inner = program.addBlock(0);
  program.op(inner, "relu", {{"X", {"x"}}}, {{"Out", {"x"}}});
  CHECK(body(program) ==
        R"(pd.orphan_block blocks [{idx = 1 : i32, locals = ["x"], parent = 0 : i32, saved = []}] {
^bb0(%arg0: tensor<4xf32>):
%0 = pd.relu X(%arg0) -> Out("x") : (tensor<4xf32>) -> tensor<4xf32>
pd.yield
} : () -> ()
)");
}

}  // namespace dtranspile

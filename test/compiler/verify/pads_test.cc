// What stands in the pad of flat parts: op by op, through regions, and in variables by induction
// over steps and turns.
#include "compiler/analysis/relations/pads.h"

#include <catch2/catch.hpp>

#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile::verify {
namespace {

// Ten elements over four ranks: three each, and two zeros.
constexpr const char* kHead = R"(
dist.mesh @world [sharding = 4] time [micro = 2]
dist.comm @c on @world over [sharding] group
dist.role @trainer on @world {
)";
constexpr const char* kBegin = R"(
  pd.program @main {
    %whole = pd.input "whole" : tensor<10xf32>
    %g = dist.reduce_scatter sum(%whole) on @c dim flat : (tensor<10xf32>) -> tensor<3xf32>
    %even = pd.input "even" : tensor<12xf32>
    %none = dist.reduce_scatter sum(%even) on @c dim flat : (tensor<12xf32>) -> tensor<3xf32>
    %number = pd.input "number" : tensor<1xf32>
)";

std::string unary(const std::string& op, const std::string& in, const std::string& out,
                  const std::string& attributes = "") {
  return "%" + out + " = pd." + op + " X(%" + in + ") -> Out(\"" + out + "\") {" + attributes +
         "} : (tensor<3xf32>) -> tensor<3xf32>\n";
}
std::string binary(const std::string& op, const std::string& x, const std::string& y,
                   const std::string& out, const std::string& type = "tensor<3xf32>") {
  return "%" + out + " = pd." + op + " X(%" + x + ") Y(%" + y + ") -> Out(\"" + out +
         "\") {axis = -1 : i32} : (tensor<3xf32>, " + type + ") -> tensor<3xf32>\n";
}

// Of the operand of the last op of @main.
Pad padOf(const std::string& body, const std::string& variables = "",
          const std::string& startup = "") {
  mlir::MLIRContext context;
  context.disableMultithreading();
  context.loadDialect<pd::PdDialect, dist::DistDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      kHead + variables + kBegin + body + "}\n" +
          (startup.empty() ? "" : "pd.program @startup {\n" + startup + "}\n") + "}\n",
      &context);
  REQUIRE(module);
  mlir::Value asked;
  module->walk([&](pd::ProgramOp program) {
    if (program.getSymName() == "main") asked = program.getBodyBlock()->back().getOperand(0);
  });
  return Pads(Pads::Lies::InParts).of(asked);
}

const std::string kNorm =
    R"(%n = pd.squared_l2_norm X(%y) -> Out("n") : (tensor<3xf32>) -> tensor<1xf32>
)";

}  // namespace

TEST_CASE("what ops make of the zeros of a pad") {
  const std::string epsilon = "scale = 1.0 : f32, bias = 1.0e-6 : f32";
  const std::pair<std::string, Pad> rows[] = {
      {unary("assign", "g", "y"), Pad::Zero},
      {unary("square", "g", "y"), Pad::Zero},
      {unary("tanh", "g", "y"), Pad::Zero},
      {unary("scale", "g", "y", "scale = 2.0 : f32"), Pad::Zero},
      {unary("scale", "g", "y", "scale = 2.0 : f32, bias = 1.0 : f32"), Pad::Positive},
      {unary("scale", "g", "y", "scale = 2.0 : f32, bias = -1.0 : f32"), Pad::Finite},
      // The sign of the scale comes in front of it.
      {unary("scale", "g", "y", "scale = -2.0 : f32, bias = 1.0 : f32, bias_after_scale = false"),
       Pad::Finite},
      {unary("exp", "g", "y"), Pad::Positive},
      {unary("cos", "g", "y"), Pad::Positive},
      {unary("reciprocal", "g", "y"), Pad::Any},
      {unary("log", "g", "y"), Pad::Any},
      // Nothing is known of what a row does not name.
      {unary("hard_swish", "g", "y"), Pad::Any},
      // Whatever is done, there is no pad.
      {unary("exp", "none", "y"), Pad::None},
      {unary("reciprocal", "none", "y"), Pad::None},
      {unary("exp", "none", "e") + binary("elementwise_add", "e", "g", "y"), Pad::None},
      {unary("exp", "g", "e") + binary("elementwise_mul", "e", "g", "y"), Pad::Zero},
      {unary("reciprocal", "g", "e") + binary("elementwise_mul", "e", "g", "y"), Pad::Any},
      {unary("exp", "g", "e") + binary("elementwise_add", "e", "g", "y"), Pad::Positive},
      {unary("exp", "g", "e") + binary("elementwise_sub", "g", "e", "y"), Pad::Finite},
      {binary("elementwise_mul", "g", "number", "y", "tensor<1xf32>"), Pad::Zero},
      {binary("elementwise_div", "g", "number", "y", "tensor<1xf32>"), Pad::Zero},
      {binary("elementwise_add", "g", "number", "y", "tensor<1xf32>"), Pad::Any},
      {binary("elementwise_max", "g", "number", "y", "tensor<1xf32>"), Pad::Any},
      // As optimizers divide: 0/(√0 + ε).
      {unary("sqrt", "g", "r") + unary("scale", "r", "d", epsilon) +
           binary("elementwise_div", "g", "d", "y"),
       Pad::Zero},
      {binary("elementwise_div", "g", "g", "y"), Pad::Any},
      // A mask is finite whatever is compared.
      {unary("reciprocal", "g", "e") +
           R"(%m = pd.greater_than X(%e) Y(%g) -> Out("m") {axis = -1 : i32} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
              %f = pd.cast X(%m) -> Out("f") {in_dtype = 0 : i32, out_dtype = 5 : i32} : (tensor<3xi1>) -> tensor<3xf32>
           )" +
           binary("elementwise_mul", "f", "g", "y"),
       Pad::Zero},
  };
  for (const auto& [body, pad] : rows) {
    INFO(body);
    CHECK(padOf(body + kNorm) == pad);
  }
}

TEST_CASE("pads go through communication, guards and micro-batches") {
  const auto micro = [](const std::string& turn) {
    return R"(%zero = pd.fill_constant -> Out("zero") {dtype = 5 : i32, shape = array<i64: 3>, value = 0.0 : f32} : () -> tensor<3xf32>
              %y = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%a = %zero : tensor<3xf32>) -> (tensor<3xf32>) {
           )" +
           turn +
           R"(%s = pd.elementwise_add X(%a) Y(%t) -> Out("s") {axis = -1 : i32} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
              dist.yield %s : tensor<3xf32>
           })";
  };
  const std::pair<std::string, Pad> rows[] = {
      {R"(%y = dist.all_reduce sum(%g) on @c : (tensor<3xf32>) -> tensor<3xf32>
       )",
       Pad::Zero},
      {R"(%y = dist.slice %whole dim flat layout <even(10)> over [sharding] : tensor<10xf32> -> tensor<3xf32>
       )",
       Pad::Zero},
      {R"(%y = dist.slice %even dim flat layout <even(12)> over [sharding] : tensor<12xf32> -> tensor<3xf32>
       )",
       Pad::None},
      {R"(%p = dist.reduce_scatter sum(%whole) on @c dim flat : (tensor<10xf32>) -> !dist.pending<tensor<3xf32>>
          %y = dist.wait %p : (!dist.pending<tensor<3xf32>>) -> tensor<3xf32>
       )",
       Pad::Zero},
      {R"(%y = dist.on <sharding = 0> -> (tensor<3xf32>) {
            dist.yield %g : tensor<3xf32>
          } else {
            %e = pd.exp X(%g) -> Out("e") : (tensor<3xf32>) -> tensor<3xf32>
            dist.yield %e : tensor<3xf32>
          }
       )",
       Pad::Positive},
      {micro(unary("square", "g", "t")), Pad::Zero},
      {micro(unary("exp", "g", "t")), Pad::Any},
      {micro(unary("exp", "none", "t")), Pad::None},
  };
  for (const auto& [body, pad] : rows) {
    INFO(body);
    CHECK(padOf(body + kNorm) == pad);
  }
}

// What a variable begins as is cut by start-up.
TEST_CASE("a variable has a pad of zeros where every step keeps it") {
  const std::string var =
      R"(  pd.var @m : tensor<3xf32> {dist.rel = #dist.rel<"m", sharding: S(flat, even(10))>}
)";
  const std::string even =
      R"(  pd.var @m : tensor<3xf32> {dist.rel = #dist.rel<"m", sharding: S(flat, even(12))>}
)";
  const std::string get = "%m = pd.get @m : tensor<3xf32>\n";
  const auto step = [&](const std::string& next) {
    return get + next + "pd.set @m, %y : tensor<3xf32>\n" + kNorm;
  };
  const std::string cut = R"(
    %w = pd.fill_constant -> Out("m") {dtype = 5 : i32, shape = array<i64: 10>, value = 1.0 : f32} : () -> tensor<10xf32>
    %p = dist.slice %w dim flat layout <even(10)> over [sharding] : tensor<10xf32> -> tensor<3xf32>
    pd.set @m, %p : tensor<3xf32>
)";
  const std::string made = R"(
    %p = pd.fill_constant -> Out("m") {dtype = 5 : i32, shape = array<i64: 3>, value = 1.0 : f32} : () -> tensor<3xf32>
    pd.set @m, %p : tensor<3xf32>
)";
  CHECK(padOf(step(binary("elementwise_add", "m", "g", "y")), var, cut) == Pad::Zero);
  CHECK(padOf(step(binary("elementwise_add", "m", "g", "y")), var, made) == Pad::Any);
  CHECK(padOf(step(unary("exp", "m", "y")), var, cut) == Pad::Any);
  CHECK(padOf(step(unary("exp", "m", "y")), even, made) == Pad::None);
  // What was found while it was taken for zero does not hold where it is not: a mask is finite
  // whatever is compared, and hides the variable.
  CHECK(
      padOf(
          get + unary("square", "m", "q") +
              R"(%f = pd.greater_than X(%m) Y(%g) -> Out("f") {axis = -1 : i32} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
                     %c = pd.cast X(%f) -> Out("c") {in_dtype = 0 : i32, out_dtype = 5 : i32} : (tensor<3xi1>) -> tensor<3xf32>
                  )" +
              binary("elementwise_mul", "c", "g", "z") + unary("exp", "q", "x") +
              "pd.set @m, %x : tensor<3xf32>\n" + binary("elementwise_add", "z", "q", "y") + kNorm,
          var, cut) == Pad::Any);
}

}  // namespace dtranspile::verify

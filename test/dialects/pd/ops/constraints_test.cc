// Every labelled constraint of a row refuses what the framework refuses, by label and with what was found; the line before each refusal
// shows the op that passes.
#include <algorithm>

#include "catch2/catch.hpp"
#include "dialects/pd/pd.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile::pd {
namespace {

// The first complaint about a program whose operands %0 … have these types; empty when there is none.
std::string complaintOf(const std::vector<std::string>& types, const std::string& op) {
  mlir::MLIRContext context;
  context.loadDialect<PdDialect>();
  context.printOpOnDiagnostic(false);
  std::string complaint;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    if (complaint.empty()) complaint = diagnostic.str();
    return mlir::success();
  });
  std::string text = "pd.program @main {\n";
  for (size_t i = 0; i < types.size(); ++i) text += "%" + std::to_string(i) + " = pd.input \"v" + std::to_string(i) + "\" : " + types[i] + "\n";
  text += "%r:99 = " + op + "\n}\n";
  // The number of results is what stands behind the last arrow.
  std::string results = op.substr(op.rfind("->") + 2);
  size_t count = results.find('(') == std::string::npos ? 1 : std::count(results.begin(), results.end(), 't');
  text.replace(text.find("%r:99"), 5, "%r:" + std::to_string(count));
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module && complaint.empty()) complaint = "does not parse";
  return complaint;
}

struct Case {
  std::vector<std::string> types;
  std::string op;
  std::string complaint;  // part of it; empty: passes
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.op);
    if (c.complaint.empty()) CHECK(complaintOf(c.types, c.op) == "");
    else CHECK_THAT(complaintOf(c.types, c.op), Catch::Contains(c.complaint));
  }
}

TEST_CASE("constraints of products", "[constraints]") {
  auto mul = [](const std::string& x, const std::string& y, int columns) {
    return "pd.mul X(%0) Y(%1) -> Out(\"o\") {x_num_col_dims = " + std::to_string(columns) + " : i32} : (" + x + ", " + y + ") -> tensor<?x4xf32>";
  };
  check({
      {{"tensor<?x3xf32>", "tensor<3x4xf32>"}, mul("tensor<?x3xf32>", "tensor<3x4xf32>", 1), ""},
      {{"tensor<?x3xf32>", "tensor<3x4xf32>"}, mul("tensor<?x3xf32>", "tensor<3x4xf32>", 2), "[C1]"},
      {{"tensor<?x3xf32>", "tensor<5x4xf32>"},
       mul("tensor<?x3xf32>", "tensor<5x4xf32>", 1),
       "[C2] the flattened X must have as many columns as the flattened Y has rows; found X [?, 3], Y [5, 4]"},
  });
}

TEST_CASE("constraints of element-wise operators", "[constraints]") {
  auto add = [](const std::string& y, int axis) {
    return "pd.elementwise_add X(%0) Y(%1) -> Out(\"o\") {axis = " + std::to_string(axis) + " : i32} : (tensor<?x3x4xf32>, " + y + ") -> tensor<?x3x4xf32>";
  };
  check({
      {{"tensor<?x3x4xf32>", "tensor<3xf32>"}, add("tensor<3xf32>", 1), ""},
      {{"tensor<?x3x4xf32>", "tensor<3xf32>"}, add("tensor<3xf32>", 7), "[C1] axis must be -1"},
      {{"tensor<?x3x4xf32>", "tensor<5xf32>"}, add("tensor<5xf32>", 1), "[C2] X and Y must be broadcastable; found X [?, 3, 4], Y [5], axis 1"},
  });
}

TEST_CASE("constraints of convolutions", "[constraints]") {
  auto conv = [](const std::string& filter, int groups) {
    return "pd.conv2d Input(%0) Filter(%1) -> Output(\"o\") {groups = " + std::to_string(groups) + " : i32} : (tensor<?x4x9x9xf32>, " + filter +
           ") -> tensor<?x6x7x7xf32>";
  };
  check({
      {{"tensor<?x4x9x9xf32>", "tensor<6x2x3x3xf32>"}, conv("tensor<6x2x3x3xf32>", 2), ""},
      {{"tensor<?x4x9x9xf32>", "tensor<6x2x3xf32>"}, conv("tensor<6x2x3xf32>", 2), "[C1]"},
      {{"tensor<?x4x9x9xf32>", "tensor<6x3x3x3xf32>"}, conv("tensor<6x3x3x3xf32>", 2), "[C2] Input must have as many channels"},
      {{"tensor<?x4x9x9xf32>", "tensor<5x2x3x3xf32>"}, conv("tensor<5x2x3x3xf32>", 2), "[C3] groups must divide the number of filters"},
      {{"tensor<?x4x9x9xf32>", "tensor<6x4x3x3xf32>"}, conv("tensor<6x4x3x3xf32>", 0), "[C2]"},
  });
}

TEST_CASE("constraints of normalisation", "[constraints]") {
  auto norm = [](const std::string& scale, const std::string& epsilon) {
    return "pd.layer_norm X(%0) Scale(%1) -> Y(\"y\") {begin_norm_axis = " + epsilon + " : i32} : (tensor<?x3x4xf32>, " + scale + ") -> tensor<?x3x4xf32>";
  };
  auto batch = [](const std::string& epsilon) {
    return "pd.batch_norm X(%0) Scale(%1) Bias(%1) Mean(%1) Variance(%1) -> Y(\"y\") MeanOut(\"a\") VarianceOut(\"b\") SavedMean(\"c\") SavedVariance(\"d\") "
           "{epsilon = " +
           epsilon +
           " : f32} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, "
           "tensor<3xf32>, tensor<3xf32>)";
  };
  check({
      {{"tensor<?x3x4xf32>", "tensor<12xf32>"}, norm("tensor<12xf32>", "1"), ""},
      {{"tensor<?x3x4xf32>", "tensor<12xf32>"}, norm("tensor<12xf32>", "0"), "[C1] begin_norm_axis"},
      {{"tensor<?x3x4xf32>", "tensor<3xf32>"}, norm("tensor<3xf32>", "1"), "[C2] Scale and Bias"},
      {{"tensor<?x3xf32>", "tensor<3xf32>"}, batch("1.0e-05"), ""},
      {{"tensor<?x3xf32>", "tensor<3xf32>"}, batch("0.1"), "[C2] epsilon must be between 0 and 0.001"},
  });
}

TEST_CASE("constraints of losses, lookups and orderings", "[constraints]") {
  auto loss = [](const std::string& label, const std::string& axis) {
    return "pd.softmax_with_cross_entropy Logits(%0) Label(%1) -> Softmax(\"s\") Loss(\"l\") {axis = " + axis + " : i32} : (tensor<?x10xf32>, " + label +
           ") -> (tensor<?x10xf32>, tensor<?x1xf32>)";
  };
  auto lookup = [](const std::string& ids) { return "pd.lookup_table W(%0) Ids(%1) -> Out(\"o\") : (tensor<9x4xf32>, " + ids + ") -> tensor<?x4xf32>"; };
  check({
      {{"tensor<?x10xf32>", "tensor<?x1xi64>"}, loss("tensor<?x1xi64>", "-1"), ""},
      {{"tensor<?x10xf32>", "tensor<?xi64>"}, loss("tensor<?xi64>", "-1"), ""},
      {{"tensor<?x10xf32>", "tensor<?x1xi64>"}, loss("tensor<?x1xi64>", "2"), "[C1] axis must be an axis of Logits"},
      {{"tensor<?x10xf32>", "tensor<?x1x1xi64>"}, loss("tensor<?x1x1xi64>", "-1"), "[C2] Label must have the rank"},
      {{"tensor<?x10xf32>", "tensor<?x3xi64>"}, loss("tensor<?x3xi64>", "-1"), "[C3] Label must have the extents"},
      {{"tensor<9x4xf32>", "tensor<?x1xi64>"}, lookup("tensor<?x1xi64>"), ""},
      {{"tensor<9x4xf32>", "tensor<?x2xi64>"}, lookup("tensor<?x2xi64>"), "[C2] Ids must end in an extent of 1"},
  });
}

TEST_CASE("constraints of optimizers and moves", "[constraints]") {
  auto sgd = [](const std::string& grad, const std::string& rate) {
    return "pd.sgd Param(%0) Grad(%1) LearningRate(%2) -> ParamOut(\"p\") : (tensor<3x4xf32>, " + grad + ", " + rate + ") -> tensor<3x4xf32>";
  };
  auto move = [](const std::string& axis) {
    return "pd.transpose2 X(%0) -> Out(\"o\") {axis = array<i32: " + axis + ">} : (tensor<?x3x4xf32>) -> tensor<?x4x3xf32>";
  };
  auto join = [](const std::string& y, const std::string& axis) {
    return "pd.concat X(%0, %1) -> Out(\"o\") {axis = " + axis + " : i32} : (tensor<2x3xf32>, " + y + ") -> tensor<?x?xf32>";
  };
  check({
      {{"tensor<3x4xf32>", "tensor<3x4xf32>", "tensor<1xf32>"}, sgd("tensor<3x4xf32>", "tensor<1xf32>"), ""},
      {{"tensor<3x4xf32>", "!pd.rows<tensor<3x4xf32>>", "tensor<f32>"}, sgd("!pd.rows<tensor<3x4xf32>>", "tensor<f32>"), ""},
      {{"tensor<3x4xf32>", "tensor<4x3xf32>", "tensor<1xf32>"},
       sgd("tensor<4x3xf32>", "tensor<1xf32>"),
       "[C1] Grad must have the extents of Param; found Param [3, 4], Grad [4, 3]"},
      {{"tensor<3x4xf32>", "tensor<3x4xf32>", "tensor<2xf32>"}, sgd("tensor<3x4xf32>", "tensor<2xf32>"), "[C2] LearningRate must have one element"},
      {{"tensor<?x3x4xf32>"}, move("0, 2, 1"), ""},
      {{"tensor<?x3x4xf32>"}, move("0, 2, 2"), "[C1] axis must be a permutation"},
      {{"tensor<2x3xf32>", "tensor<5x3xf32>"}, join("tensor<5x3xf32>", "0"), ""},
      {{"tensor<2x3xf32>", "tensor<5x3xf32>"}, join("tensor<5x3xf32>", "2"), "[C1] axis must be an axis of the operands"},
      {{"tensor<2x3xf32>", "tensor<5x3xf32>"}, join("tensor<5x3xf32>", "1"), "[C2] operands must agree"},
  });
}

TEST_CASE("constraints of matrix products, pooling, reductions", "[constraints]") {
  auto product = [](const std::string& type, const std::string& attribute) {
    return "pd." + type + " X(%0) Y(%1) -> Out(\"o\") {" + attribute + " = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>";
  };
  auto pool = [](const std::string& x) {
    return "pd.pool2d X(%0) -> Out(\"o\") {pooling_type = \"max\", ksize = array<i32: 2, 2>} : (" + x + ") -> tensor<?x?x?x?xf32>";
  };
  auto reduce = [](const std::string& axis) {
    return "pd.reduce_sum X(%0) -> Out(\"o\") {dim = array<i32: " + axis + ">} : (tensor<?x3xf32>) -> tensor<?xf32>";
  };
  auto best = [](const std::string& k) {
    return "pd.top_k X(%0) -> Out(\"o\") Indices(\"i\") {k = " + k + " : i32} : (tensor<?x3xf32>) -> (tensor<?x1xf32>, tensor<?x1xi64>)";
  };
  check({
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"}, product("matmul", "transpose_Y"), ""},
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"}, product("matmul", "transpose_X"), "[C1] inner extents must agree"},
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"}, product("matmul_v2", "trans_y"), ""},
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"}, product("matmul_v2", "trans_x"), "[C1] inner extents must agree"},
      {{"tensor<?x3x8x8xf32>"}, pool("tensor<?x3x8x8xf32>"), ""},
      {{"tensor<?x3xf32>"}, pool("tensor<?x3xf32>"), "[C1] X must have two or three spatial axes"},
      {{"tensor<?x3xf32>"}, reduce("-1"), ""},
      {{"tensor<?x3xf32>"}, reduce("2"), "[C1] dim must hold axes of X"},
      {{"tensor<?x3xf32>"}, best("1"), ""},
      {{"tensor<?x3xf32>"}, best("0"), "[C1] k must be positive"},
  });
}

TEST_CASE("constraints of constants and random numbers", "[constraints]") {
  auto fill = [](const std::string& shape, const std::string& dtype) {
    return "pd.fill_constant -> Out(\"o\") {shape = array<i64: " + shape + ">, dtype = " + dtype + " : i32} : () -> tensor<?x?xf32>";
  };
  auto values = [](const std::string& shape) {
    return "pd.assign_value -> Out(\"o\") {shape = array<i32: " + shape + ">, dtype = 5 : i32, fp32_values = array<f32: 1.0, 2.0>} : () -> tensor<?xf32>";
  };
  auto drop = [](const std::string& probability, const std::string& how) {
    return "pd.dropout X(%0) -> Out(\"o\") Mask(\"m\") {dropout_prob = " + probability + " : f32, dropout_implementation = \"" + how +
           "\"} : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xui8>)";
  };
  check({
      {{}, fill("2, 3", "5"), ""},
      {{}, fill("2, 3", "7"), "[C1] dtype must be the code of an element type; found dtype 7"},
      {{}, fill("2, -3", "5"), "[C2] shape must hold extents"},
      {{}, fill("4611686018427387904, 4", "5"), "[C2] shape must hold extents"},
      {{}, values("2"), ""},
      {{}, values("3"), "[C3] there must be as many values as shape has elements; found 2 values for shape [3]"},
      {{"tensor<?x3xf32>"}, drop("0.5", "upscale_in_train"), ""},
      {{"tensor<?x3xf32>"}, drop("1.5", "upscale_in_train"), "[C1] dropout_prob must be between 0 and 1"},
      {{"tensor<?x3xf32>"}, drop("0.5", "sometimes"), "[C2] dropout_implementation must be"},
  });
}

TEST_CASE("constraints of sequences", "[constraints]") {
  auto lstm = [](const std::string& weight, const std::string& bias) {
    return "pd.lstm Input(%0) Weight(%1) Bias(%2) -> Hidden(\"h\") {use_peepholes = false} : (!pd.lod<tensor<?x8xf32>, 1>, " + weight + ", " + bias +
           ") -> !pd.lod<tensor<?x2xf32>, 1>";
  };
  check({
      {{"!pd.lod<tensor<?x8xf32>, 1>", "tensor<2x8xf32>", "tensor<1x8xf32>"}, lstm("tensor<2x8xf32>", "tensor<1x8xf32>"), ""},
      {{"!pd.lod<tensor<?x8xf32>, 1>", "tensor<2x9xf32>", "tensor<1x8xf32>"}, lstm("tensor<2x9xf32>", "tensor<1x8xf32>"), "[C1] Weight must be [D, 4D]"},
      {{"!pd.lod<tensor<?x8xf32>, 1>", "tensor<2x8xf32>", "tensor<1x14xf32>"}, lstm("tensor<2x8xf32>", "tensor<1x14xf32>"), "[C2] Input must have 4D columns"},
  });
}

}  // namespace
}  // namespace dtranspile::pd

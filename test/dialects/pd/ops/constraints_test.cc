// Every labelled constraint of a row refuses what the framework refuses, by label and with what was
// found; the line before each refusal shows the op that passes.
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

// The first complaint about a program whose operands %0 … have these types; empty when there is
// none.
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
  for (size_t i = 0; i < types.size(); ++i)
    text +=
        "%" + std::to_string(i) + " = pd.input \"v" + std::to_string(i) + "\" : " + types[i] + "\n";
  text += "%r:99 = " + op + "\n}\n";
  // The number of results is what stands after the last arrow.
  std::string results = op.substr(op.rfind("->") + 2);
  size_t count =
      results.find('(') == std::string::npos ? 1 : std::count(results.begin(), results.end(), 't');
  text.replace(text.find("%r:99"), 5, "%r:" + std::to_string(count));
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
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
    return "pd.mul X(%0) Y(%1) -> Out(\"o\") {x_num_col_dims = " + std::to_string(columns) +
           " : i32} : (" + x + ", " + y + ") -> tensor<?x4xf32>";
  };
  check({
      {{"tensor<?x3xf32>", "tensor<3x4xf32>"}, mul("tensor<?x3xf32>", "tensor<3x4xf32>", 1), ""},
      {{"tensor<?x3xf32>", "tensor<3x4xf32>"},
       mul("tensor<?x3xf32>", "tensor<3x4xf32>", 2),
       "[C1]"},
      {{"tensor<?x3xf32>", "tensor<5x4xf32>"},
       mul("tensor<?x3xf32>", "tensor<5x4xf32>", 1),
       "[C2] the flattened X must have as many columns as the flattened Y has rows; found X [?, "
       "3], Y [5, 4]"},
  });
}

TEST_CASE("constraints of element-wise operators", "[constraints]") {
  auto add = [](const std::string& y, int axis) {
    return "pd.elementwise_add X(%0) Y(%1) -> Out(\"o\") {axis = " + std::to_string(axis) +
           " : i32} : (tensor<?x3x4xf32>, " + y + ") -> tensor<?x3x4xf32>";
  };
  check({
      {{"tensor<?x3x4xf32>", "tensor<3xf32>"}, add("tensor<3xf32>", 1), ""},
      {{"tensor<?x3x4xf32>", "tensor<3xf32>"}, add("tensor<3xf32>", 7), "[C1] axis must be -1"},
      {{"tensor<?x3x4xf32>", "tensor<5xf32>"},
       add("tensor<5xf32>", 1),
       "[C2] X and Y must be broadcastable; found X [?, 3, 4], Y [5], axis 1"},
  });
}

TEST_CASE("constraints of convolutions", "[constraints]") {
  auto conv = [](const std::string& filter, int groups) {
    return "pd.conv2d Input(%0) Filter(%1) -> Output(\"o\") {groups = " + std::to_string(groups) +
           " : i32} : (tensor<?x4x9x9xf32>, " + filter + ") -> tensor<?x6x7x7xf32>";
  };
  check({
      {{"tensor<?x4x9x9xf32>", "tensor<6x2x3x3xf32>"}, conv("tensor<6x2x3x3xf32>", 2), ""},
      {{"tensor<?x4x9x9xf32>", "tensor<6x2x3xf32>"}, conv("tensor<6x2x3xf32>", 2), "[C1]"},
      {{"tensor<?x4x9x9xf32>", "tensor<6x3x3x3xf32>"},
       conv("tensor<6x3x3x3xf32>", 2),
       "[C2] Input must have as many channels"},
      {{"tensor<?x4x9x9xf32>", "tensor<5x2x3x3xf32>"},
       conv("tensor<5x2x3x3xf32>", 2),
       "[C3] groups must divide the number of filters"},
      {{"tensor<?x4x9x9xf32>", "tensor<6x4x3x3xf32>"}, conv("tensor<6x4x3x3xf32>", 0), "[C2]"},
  });
}

TEST_CASE("constraints of normalisation", "[constraints]") {
  auto norm = [](const std::string& scale, const std::string& epsilon) {
    return "pd.layer_norm X(%0) Scale(%1) -> Y(\"y\") Mean(\"m\") Variance(\"v\") "
           "{begin_norm_axis = " +
           epsilon + " : i32} : (tensor<?x3x4xf32>, " + scale +
           ") -> (tensor<?x3x4xf32>, tensor<?xf32>, tensor<?xf32>)";
  };
  auto batch = [](const std::string& epsilon) {
    return "pd.batch_norm X(%0) Scale(%1) Bias(%1) Mean(%1) Variance(%1) -> Y(\"y\") "
           "MeanOut(\"a\") VarianceOut(\"b\") SavedMean(\"c\") SavedVariance(\"d\") "
           "{epsilon = " +
           epsilon +
           " : f32} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, "
           "tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, "
           "tensor<3xf32>, tensor<3xf32>)";
  };
  check({
      {{"tensor<?x3x4xf32>", "tensor<12xf32>"}, norm("tensor<12xf32>", "1"), ""},
      {{"tensor<?x3x4xf32>", "tensor<12xf32>"},
       norm("tensor<12xf32>", "0"),
       "[C1] begin_norm_axis"},
      {{"tensor<?x3x4xf32>", "tensor<3xf32>"}, norm("tensor<3xf32>", "1"), "[C2] Scale and Bias"},
      {{"tensor<?x3xf32>", "tensor<3xf32>"}, batch("1.0e-05"), ""},
      {{"tensor<?x3xf32>", "tensor<3xf32>"},
       batch("0.1"),
       "[C2] epsilon must be between 0 and 0.001"},
  });
}

TEST_CASE("constraints of losses, lookups and orderings", "[constraints]") {
  auto loss = [](const std::string& label, const std::string& axis) {
    return "pd.softmax_with_cross_entropy Logits(%0) Label(%1) -> Softmax(\"s\") Loss(\"l\") {axis "
           "= " +
           axis + " : i32} : (tensor<?x10xf32>, " + label +
           ") -> (tensor<?x10xf32>, tensor<?x1xf32>)";
  };
  auto lookup = [](const std::string& ids) {
    return "pd.lookup_table W(%0) Ids(%1) -> Out(\"o\") : (tensor<9x4xf32>, " + ids +
           ") -> tensor<?x4xf32>";
  };
  check({
      {{"tensor<?x10xf32>", "tensor<?x1xi64>"}, loss("tensor<?x1xi64>", "-1"), ""},
      {{"tensor<?x10xf32>", "tensor<?xi64>"}, loss("tensor<?xi64>", "-1"), ""},
      {{"tensor<?x10xf32>", "tensor<?x1xi64>"},
       loss("tensor<?x1xi64>", "2"),
       "[C1] axis must be an axis of Logits"},
      {{"tensor<?x10xf32>", "tensor<?x1x1xi64>"},
       loss("tensor<?x1x1xi64>", "-1"),
       "[C2] Label must have the rank"},
      {{"tensor<?x10xf32>", "tensor<?x3xi64>"},
       loss("tensor<?x3xi64>", "-1"),
       "[C3] Label must have the extents"},
      {{"tensor<9x4xf32>", "tensor<?x1xi64>"}, lookup("tensor<?x1xi64>"), ""},
      {{"tensor<9x4xf32>", "tensor<?x2xi64>"},
       lookup("tensor<?x2xi64>"),
       "[C2] Ids must end in an extent of 1"},
  });
}

TEST_CASE("constraints of optimizers and moves", "[constraints]") {
  auto sgd = [](const std::string& grad, const std::string& rate) {
    return "pd.sgd Param(%0) Grad(%1) LearningRate(%2) -> ParamOut(\"p\") : (tensor<3x4xf32>, " +
           grad + ", " + rate + ") -> tensor<3x4xf32>";
  };
  auto move = [](const std::string& axis) {
    return "pd.transpose2 X(%0) -> Out(\"o\") {axis = array<i32: " + axis +
           ">} : (tensor<?x3x4xf32>) -> tensor<?x4x3xf32>";
  };
  auto join = [](const std::string& y, const std::string& axis) {
    return "pd.concat X(%0, %1) -> Out(\"o\") {axis = " + axis + " : i32} : (tensor<2x3xf32>, " +
           y + ") -> tensor<?x?xf32>";
  };
  check({
      {{"tensor<3x4xf32>", "tensor<3x4xf32>", "tensor<1xf32>"},
       sgd("tensor<3x4xf32>", "tensor<1xf32>"),
       ""},
      {{"tensor<3x4xf32>", "!pd.rows<tensor<3x4xf32>>", "tensor<f32>"},
       sgd("!pd.rows<tensor<3x4xf32>>", "tensor<f32>"),
       ""},
      {{"tensor<3x4xf32>", "tensor<4x3xf32>", "tensor<1xf32>"},
       sgd("tensor<4x3xf32>", "tensor<1xf32>"),
       "[C1] Grad must have the extents of Param; found Param [3, 4], Grad [4, 3]"},
      {{"tensor<3x4xf32>", "tensor<3x4xf32>", "tensor<2xf32>"},
       sgd("tensor<3x4xf32>", "tensor<2xf32>"),
       "[C2] LearningRate must have one element"},
      {{"tensor<?x3x4xf32>"}, move("0, 2, 1"), ""},
      {{"tensor<?x3x4xf32>"}, move("0, 2, 2"), "[C1] axis must be a permutation"},
      {{"tensor<2x3xf32>", "tensor<5x3xf32>"}, join("tensor<5x3xf32>", "0"), ""},
      {{"tensor<2x3xf32>", "tensor<5x3xf32>"},
       join("tensor<5x3xf32>", "2"),
       "[C1] axis must be an axis of the operands"},
      {{"tensor<2x3xf32>", "tensor<5x3xf32>"},
       join("tensor<5x3xf32>", "1"),
       "[C2] operands must agree"},
  });
}

TEST_CASE("constraints of matrix products, pooling, reductions", "[constraints]") {
  auto product = [](const std::string& type, const std::string& attribute) {
    return "pd." + type + " X(%0) Y(%1) -> Out(\"o\") {" + attribute +
           " = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>";
  };
  auto pool = [](const std::string& x) {
    return "pd.pool2d X(%0) -> Out(\"o\") {pooling_type = \"max\", ksize = array<i32: 2, 2>} : (" +
           x + ") -> tensor<?x?x?x?xf32>";
  };
  auto reduce = [](const std::string& axis) {
    return "pd.reduce_sum X(%0) -> Out(\"o\") {dim = array<i32: " + axis +
           ">} : (tensor<?x3xf32>) -> tensor<?xf32>";
  };
  auto best = [](const std::string& k) {
    return "pd.top_k X(%0) -> Out(\"o\") Indices(\"i\") {k = " + k +
           " : i32} : (tensor<?x3xf32>) -> (tensor<?x1xf32>, tensor<?x1xi64>)";
  };
  check({
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"}, product("matmul", "transpose_Y"), ""},
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"},
       product("matmul", "transpose_X"),
       "[C1] inner extents must agree"},
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"}, product("matmul_v2", "trans_y"), ""},
      {{"tensor<2x3xf32>", "tensor<4x3xf32>"},
       product("matmul_v2", "trans_x"),
       "[C1] inner extents must agree"},
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
    return "pd.fill_constant -> Out(\"o\") {shape = array<i64: " + shape + ">, dtype = " + dtype +
           " : i32} : () -> tensor<?x?xf32>";
  };
  auto values = [](const std::string& shape) {
    return "pd.assign_value -> Out(\"o\") {shape = array<i32: " + shape +
           ">, dtype = 5 : i32, fp32_values = array<f32: 1.0, 2.0>} : () -> tensor<?xf32>";
  };
  auto drop = [](const std::string& probability, const std::string& how) {
    return "pd.dropout X(%0) -> Out(\"o\") Mask(\"m\") {dropout_prob = " + probability +
           " : f32, dropout_implementation = \"" + how +
           "\"} : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xui8>)";
  };
  check({
      {{}, fill("2, 3", "5"), ""},
      {{}, fill("2, 3", "7"), "[C1] dtype must be the code of an element type; found dtype 7"},
      {{}, fill("2, -3", "5"), "[C2] shape must hold extents"},
      {{}, fill("4611686018427387904, 4", "5"), "[C2] shape must hold extents"},
      {{}, values("2"), ""},
      {{},
       values("3"),
       "[C3] there must be as many values as shape has elements; found 2 values for shape [3]"},
      {{"tensor<?x3xf32>"}, drop("0.5", "upscale_in_train"), ""},
      {{"tensor<?x3xf32>"},
       drop("1.5", "upscale_in_train"),
       "[C1] dropout_prob must be between 0 and 1"},
      {{"tensor<?x3xf32>"}, drop("0.5", "sometimes"), "[C2] dropout_implementation must be"},
  });
}

TEST_CASE("constraints of sequences", "[constraints]") {
  auto lstm = [](const std::string& weight, const std::string& bias) {
    return "pd.lstm Input(%0) Weight(%1) Bias(%2) -> Hidden(\"h\") Cell(\"c\") "
           "BatchGate(\"g\") BatchCellPreAct(\"a\") {use_peepholes = false} : "
           "(!pd.lod<tensor<?x8xf32>, 1>, " +
           weight + ", " + bias +
           ") -> (!pd.lod<tensor<?x2xf32>, 1>, !pd.lod<tensor<?x2xf32>, 1>, "
           "!pd.lod<tensor<?x8xf32>, 1>, !pd.lod<tensor<?x2xf32>, 1>)";
  };
  check({
      {{"!pd.lod<tensor<?x8xf32>, 1>", "tensor<2x8xf32>", "tensor<1x8xf32>"},
       lstm("tensor<2x8xf32>", "tensor<1x8xf32>"),
       ""},
      {{"!pd.lod<tensor<?x8xf32>, 1>", "tensor<2x9xf32>", "tensor<1x8xf32>"},
       lstm("tensor<2x9xf32>", "tensor<1x8xf32>"),
       "[C1] Weight must be [D, 4D]"},
      {{"!pd.lod<tensor<?x8xf32>, 1>", "tensor<2x8xf32>", "tensor<1x14xf32>"},
       lstm("tensor<2x8xf32>", "tensor<1x14xf32>"),
       "[C2] Input must have 4D columns"},
  });
}

TEST_CASE("constraints of axes and words that operators share", "[constraints]") {
  auto one = [](const std::string& type, const std::string& attributes,
                const std::string& result = "tensor<?x3xf32>") {
    return "pd." + type + " X(%0) -> Out(\"o\") {" + attributes + "} : (tensor<?x3xf32>) -> " +
           result;
  };
  const std::vector<std::string> x = {"tensor<?x3xf32>"};
  check({
      {x, one("softmax", "axis = -2 : i32"), ""},
      {x, one("softmax", "axis = 2 : i32"),
       "[C1] the axis must be one of the operand's; found axis 2 of X [?, 3]"},
      {x, one("log_softmax", "axis = -3 : i32"), "[C1] the axis must be"},
      {x, one("cumsum", "axis = 5 : i32"), "[C1] the axis must be"},
      {x, one("cumsum", "axis = 5 : i32, flatten = true", "tensor<?xf32>"), ""},
      {x, one("arg_max", "axis = 2 : i64", "tensor<?xi64>"), "[C1] the axis must be"},
      {x, one("arg_min", "axis = -3 : i64", "tensor<?xi64>"), "[C1] the axis must be"},
      {x,
       "pd.argsort X(%0) -> Out(\"o\") Indices(\"i\") {axis = 2 : i32} : (tensor<?x3xf32>) -> "
       "(tensor<?x3xf32>, tensor<?x3xi64>)",
       "[C1] the axis must be"},
      {x, one("clip", "min = 0.0 : f32, max = 1.0 : f32"), ""},
      {x, one("clip", "min = 2.0 : f32, max = 1.0 : f32"),
       "[C1] min must not be above max; found min 2.0"},
      {{"tensor<?x3xf32>", "tensor<?x4xf32>"},
       "pd.sigmoid_cross_entropy_with_logits X(%0) Label(%1) -> Out(\"o\") {} : (tensor<?x3xf32>, "
       "tensor<?x4xf32>) -> tensor<?x3xf32>",
       "[C1] the operands must have the same extents; found X [?, 3], Label [?, 4]"},
      {{"!pd.lod<tensor<?x3xf32>, 1>"},
       "pd.sequence_pool X(%0) -> Out(\"o\") MaxIndex(\"i\") {pooltype = \"MEDIAN\"} : "
       "(!pd.lod<tensor<?x3xf32>, 1>) -> (tensor<?x3xf32>, tensor<?x3xi32>)",
       "[C1] the attribute must be one of the words that the framework knows; found pooltype "
       "'MEDIAN'"},
  });
}

TEST_CASE("operands that no inference of the row accepts", "[constraints]") {
  const std::vector<std::string> x = {"tensor<?x3xf32>"};
  auto moved = [](const std::string& type, const std::string& attributes) {
    return "pd." + type + " X(%0) -> Out(\"o\") XShape(\"s\") {" + attributes +
           "} : (tensor<?x3xf32>) -> (tensor<?x3x1xf32>, tensor<0x?x3xf32>)";
  };
  auto pick = [](const std::string& index) {
    return "pd.gather X(%0) Index(%1) -> Out(\"o\") {} : (tensor<?x3xf32>, " + index +
           ") -> tensor<?x3xf32>";
  };
  auto repeat = [](const std::string& times) {
    return "pd.expand X(%0) -> Out(\"o\") {expand_times = array<i32: " + times +
           ">} : (tensor<?x3xf32>) -> tensor<?x3xf32>";
  };
  check({
      {x, moved("unsqueeze2", "axes = array<i32: 2>"), ""},
      {x, moved("unsqueeze2", "axes = array<i32: 7>"), "[P10] has no axis 7"},
      {x, moved("squeeze2", "axes = array<i32: -3>"), "[P10] has no axis -3"},
      {x, moved("reshape2", "shape = array<i32: -1, -1>"), "[P10] cannot reshape X [?, 3]"},
      {{"tensor<?x3xf32>", "tensor<?xi64>"}, pick("tensor<?xi64>"), ""},
      {{"tensor<?x3xf32>", "tensor<?xf32>"},
       pick("tensor<?xf32>"),
       "[P10] wants Index of int32 or int64, found float32"},
      {x, repeat("2, 1"), ""},
      {x, repeat("2"), "[P10] has 1 numbers of repetitions for X [?, 3]"},
      {x, repeat("2, 0"), "[P10] repeats X [?, 3] by [2, 0]"},
      {{"tensor<?x1xi64>"},
       "pd.one_hot X(%0) -> Out(\"o\") {depth = 0 : i32} : (tensor<?x1xi64>) -> tensor<?x4xf32>",
       "[P10] wants a positive depth, found 0"},
  });
}

}  // namespace
}  // namespace dtranspile::pd

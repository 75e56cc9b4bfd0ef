// What rules answer where an attribute or an optional input changes what an op does: one row per
// answer that would make a wrong data-parallel job pass, beside the right one.
#include <catch2/catch.hpp>
#include <map>

#include "compiler/analysis/relations/rule.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile::verify {
namespace {

// Walks over a body by rules alone, on four ranks; `split` lists the inputs that are S(0), or
// `name:flat` those that are S(flat), `partial` those that are P(sum). Says what the first result
// of the last op is: "S(0)", "R", "site" where it is evaluated per share, "?" and why.
class Walk {
 public:
  Walk() {
    context_.disableMultithreading();
    context_.loadDialect<pd::PdDialect>();
    axes_.names.push_back("dp");
    axes_.sizes.push_back(4);
    axes_.meshSizes.push_back(4);
    axes_.isData.push_back(true);
  }

  std::string answer(const std::string& body, llvm::StringRef split, llvm::StringRef partial = "",
                     int version = 2006002) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "pd.program @main attributes {version = " + std::to_string(version) + " : i64} {\n" + body +
            "}\n",
        &context_);
    REQUIRE(module);
    std::string last;
    for (mlir::Operation& op : *(*module->getOps<pd::ProgramOp>().begin()).getBodyBlock())
      if (auto input = llvm::dyn_cast<pd::InputOp>(op)) give(input, split, partial);
      else if (pd::OpView::isFrameworkOp(&op)) last = visit(&op);
    return last;
  }

 private:
  static bool lists(llvm::StringRef names, llvm::StringRef name) {
    llvm::SmallVector<llvm::StringRef> words;
    names.split(words, ' ');
    return llvm::is_contained(words, name);
  }

  void give(pd::InputOp input, llvm::StringRef split, llvm::StringRef partial) {
    Relation relation;
    relation.whole = relation.parts = Reading::replicated(axes_);
    if (lists(split, input.getName())) {
      relation.whole.states[0] = State::split(0);
      relation.parts.states[0] = State::parts();
      relation.uneven = isRagged(input.getValue());
    }
    if (lists(split, (input.getName() + ":flat").str()))
      relation.whole.states[0] = State::split(dist::kFlat);
    if (lists(partial, input.getName()))
      relation.whole.states[0] = State::partial(dist::Reduce::Sum);
    relations_[input.getValue()] = relation;
  }

  std::string visit(mlir::Operation* op) {
    const ParsedRule* rule = findRule(pd::OpView(op).type());
    if (!rule) return "? " + noRuleText(pd::OpView(op).type());
    RuleContext context(op, *rule, axes_,
                        [&](mlir::Value value) -> const Relation& { return relations_[value]; });
    context.apply();
    std::string text;
    std::vector<Relation> results = context.takeResults();
    for (auto [i, relation] : llvm::enumerate(results)) {
      if (i == 0)
        text = context.site()     ? "site"
               : relation.known() ? textOf(relation.whole, axes_)
                                  : "? " + context.reasons()[0].why;
      relations_[op->getResult(i)] = relation;
    }
    return text;
  }

  mlir::MLIRContext context_;
  Axes axes_;
  std::map<mlir::Value, Relation, bool (*)(mlir::Value, mlir::Value)> relations_{
      [](mlir::Value a, mlir::Value b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }};
};

struct Row {
  const char* body;
  const char* split;
  const char* answer;  // how it begins
  const char* partial = "";
  int version = 2006002;
};

const char* const kX = "%x = pd.input \"x\" : tensor<?x4xf32>\n";

void check(llvm::ArrayRef<Row> rows) {
  for (const Row& row : rows) {
    const std::string body =
        llvm::StringRef(row.body).contains("%x = ") ? row.body : std::string(kX) + row.body;
    INFO(body << "split: " << row.split << ", partial: " << row.partial);
    CHECK_THAT(Walk().answer(body + "\n", row.split, row.partial, row.version),
               Catch::StartsWith(row.answer));
  }
}

}  // namespace

TEST_CASE("a reshape keeps parts where the batch goes, and only if that is no fixed number") {
  check({
      {R"(%r = pd.reshape X(%x) -> Out("r") {shape = array<i32: -1, 2, 2>} : (tensor<?x4xf32>) -> tensor<?x2x2xf32>)",
       "x", "dp: S(0)"},
      {R"(%r = pd.reshape X(%x) -> Out("r") {shape = array<i32: 0, 2, -1>} : (tensor<?x4xf32>) -> tensor<?x2x2xf32>)",
       "x", "dp: S(0)"},
      {R"(%r = pd.reshape X(%x) -> Out("r") {shape = array<i32: 8, -1>} : (tensor<?x4xf32>) -> tensor<8x?xf32>)",
       "x", "? needs dim 0 whole"},
      {R"(%r = pd.reshape X(%x) -> Out("r") {shape = array<i32: 4, -1>} : (tensor<?x4xf32>) -> tensor<4x?xf32>)",
       "x", "? needs dim 0 whole"},
      {R"(%x = pd.input "x" : tensor<8x4xf32>
          %r = pd.reshape X(%x) -> Out("r") {shape = array<i32: 8, 2, 2>} : (tensor<8x4xf32>) -> tensor<8x2x2xf32>)",
       "x", "? needs dim 0 whole"},
      // Rows of a sample become rows of their own.
      {R"(%r = pd.reshape X(%x) -> Out("r") {shape = array<i32: -1, 1>} : (tensor<?x4xf32>) -> tensor<?x1xf32>)",
       "x", "dp: S(0)"},
      {R"(%s = pd.input "s" : tensor<2xi32>
          %r = pd.reshape X(%x) Shape(%s) -> Out("r") {shape = array<i32: -1, 4>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>)",
       "x", "? "},
      {R"(%n = pd.fill_constant -> Out("n") {shape = array<i64: 1>, dtype = 2 : i32, value = -1.0 : f32} : () -> tensor<1xi32>
          %w = pd.fill_constant -> Out("w") {shape = array<i64: 1>, dtype = 2 : i32, value = 4.0 : f32} : () -> tensor<1xi32>
          %r = pd.reshape X(%x) ShapeTensor(%n, %w) -> Out("r") {shape = array<i32: 0, 0>} : (tensor<?x4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x4xf32>)",
       "x", "dp: S(0)"},
      {R"(%n = pd.fill_constant -> Out("n") {shape = array<i64: 1>, dtype = 2 : i32, value = 8.0 : f32} : () -> tensor<1xi32>
          %w = pd.fill_constant -> Out("w") {shape = array<i64: 1>, dtype = 2 : i32, value = 4.0 : f32} : () -> tensor<1xi32>
          %r = pd.reshape X(%x) ShapeTensor(%n, %w) -> Out("r") {shape = array<i32: 0, 0>} : (tensor<?x4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x4xf32>)",
       "x", "? needs dim 0 whole"},
      {R"(%f = pd.flatten X(%x) -> Out("f") {axis = 0 : i32} : (tensor<?x4xf32>) -> tensor<1x?xf32>)",
       "x", "dp: S(1)"},
      {R"(%f = pd.flatten_contiguous_range X(%x) -> Out("f") {start_axis = 0 : i32, stop_axis = 1 : i32} : (tensor<?x4xf32>) -> tensor<?xf32>)",
       "x", "dp: S(0)"},
  });
}

TEST_CASE("a squeeze keeps parts where no extent of a part can be one that goes") {
  check({
      {R"(%x = pd.input "x" : tensor<?x1x4xf32>
          %s = pd.squeeze X(%x) -> Out("s") {axes = array<i32: 1>} : (tensor<?x1x4xf32>) -> tensor<?x4xf32>)",
       "x", "dp: S(0)"},
      {R"(%x = pd.input "x" : tensor<?x1x4xf32>
          %s = pd.squeeze X(%x) -> Out("s") {axes = array<i32>} : (tensor<?x1x4xf32>) -> tensor<?x4xf32>)",
       "x", "? needs dim 0 whole"},
      {R"(%u = pd.unsqueeze X(%x) -> Out("u") {axes = array<i32: 0>} : (tensor<?x4xf32>) -> tensor<1x?x4xf32>)",
       "x", "dp: S(1)"},
  });
}

TEST_CASE("rows by index: along which axis, and what becomes of equal indices") {
  const char* gather =
      R"(%i = pd.input "i" : tensor<3xi64>
         %g = pd.gather X(%x) Index(%i) -> Out("g") {axis = 1 : i32} : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<?x3xf32>)";
  const char* gatherGrad =
      R"(%d = pd.input "d" : tensor<?x4xf32>
         %i = pd.input "i" : tensor<?xi64>
         %x = pd.input "x" : tensor<9x4xf32>
         %g = pd.gather_grad Index(%i) "Out@GRAD"(%d) X(%x) -> "X@GRAD"("g") {overwrite = true} : (tensor<?xi64>, tensor<?x4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>)";
  check({
      {gather, "x", "dp: S(0)"},
      {gather, "i", "dp: S(1)"},
      {R"(%i = pd.input "i" : tensor<3xi64>
          %g = pd.gather X(%x) Index(%i) -> Out("g") {axis = 0 : i32} : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>)",
       "x", "? needs dim 0 whole"},
      {gatherGrad, "d i", "dp: P(sum)"},
      {gatherGrad, "d i", "? folds a split dim", "", 1008005},
  });
}

TEST_CASE("extents that belong to the whole batch: expand, tile, fill, draws") {
  check({
      {R"(%e = pd.expand X(%x) -> Out("e") {expand_times = array<i32: 1, 2>} : (tensor<?x4xf32>) -> tensor<?x8xf32>)",
       "x", "dp: S(0)"},
      {R"(%e = pd.expand X(%x) -> Out("e") {expand_times = array<i32: 2, 1>} : (tensor<?x4xf32>) -> tensor<?x4xf32>)",
       "x", "? needs dim 0 whole"},
      {R"(%t = pd.tile X(%x) -> Out("t") {repeat_times = array<i32: 3, 1, 1>} : (tensor<?x4xf32>) -> tensor<3x?x4xf32>)",
       "x", "dp: S(1)"},
      {R"(%e = pd.expand_v2 X(%x) -> Out("e") {shape = array<i32: -1, 4>} : (tensor<?x4xf32>) -> tensor<?x4xf32>)",
       "x", "dp: S(0)"},
      {R"(%e = pd.expand_v2 X(%x) -> Out("e") {shape = array<i32: 8, 4>} : (tensor<?x4xf32>) -> tensor<8x4xf32>)",
       "x", "? needs dim 0 whole"},
      {R"(%s = pd.shape Input(%x) -> Out("s") : (tensor<?x4xf32>) -> tensor<2xi32>
          %f = pd.fill_constant ShapeTensor(%s) -> Out("f") {shape = array<i64: 1, 4>, dtype = 5 : i32, value = 1.0 : f32} : (tensor<2xi32>) -> tensor<?x4xf32>)",
       "x", "dp: S(0)"},
      {R"(%s = pd.shape Input(%x) -> Out("s") : (tensor<?x4xf32>) -> tensor<2xi32>
          %f = pd.uniform_random ShapeTensor(%s) -> Out("f") {shape = array<i64: 1, 4>, dtype = 5 : i32} : (tensor<2xi32>) -> tensor<?x4xf32>)",
       "x", "dp: S(0)"},
      {R"(%f = pd.fill_constant_batch_size_like Input(%x) -> Out("f") {shape = array<i32: 3, -1>, input_dim_idx = 0 : i32, output_dim_idx = 1 : i32, value = 1.0 : f32} : (tensor<?x4xf32>) -> tensor<3x?xf32>)",
       "x", "dp: S(1)"},
  });
}

TEST_CASE("ops that see the whole of a dim") {
  check({
      {R"(%a = pd.arg_max X(%x) -> Out("a") {axis = 1 : i64} : (tensor<?x4xf32>) -> tensor<?xi64>)",
       "x", "dp: S(0)"},
      {R"(%a = pd.arg_max X(%x) -> Out("a") {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<4xi64>)",
       "x", "site"},
      {R"(%a = pd.arg_max X(%x) -> Out("a") {axis = 1 : i64, flatten = true} : (tensor<?x4xf32>) -> tensor<1xi64>)",
       "x", "site"},
      {R"(%a = pd.cumsum X(%x) -> Out("a") {axis = 1 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf32>)",
       "x", "dp: S(0)"},
      {R"(%a = pd.cumsum X(%x) -> Out("a") {flatten = true} : (tensor<?x4xf32>) -> tensor<?xf32>)",
       "x", "site"},
      {R"(%a = pd.slice Input(%x) -> Out("a") {axes = array<i32: 1>, starts = array<i32: 0>, ends = array<i32: 2>} : (tensor<?x4xf32>) -> tensor<?x2xf32>)",
       "x", "dp: S(0)"},
      {R"(%e = pd.input "e" : tensor<1xi32>
          %a = pd.slice Input(%x) EndsTensor(%e) -> Out("a") {axes = array<i32: 0>, starts = array<i32: 0>, ends = array<i32: 2>} : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?x4xf32>)",
       "x", "? needs dim 0 whole"},
  });
}

TEST_CASE("what is rounded, or is a truth, adds up to nothing") {
  check({
      {R"(%c = pd.cast X(%x) -> Out("c") {in_dtype = 5 : i32, out_dtype = 6 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf64>)",
       "", "dp: P(sum)", "x"},
      {R"(%c = pd.cast X(%x) -> Out("c") {in_dtype = 5 : i32, out_dtype = 3 : i32} : (tensor<?x4xf32>) -> tensor<?x4xi64>)",
       "", "site", "x"},
      {R"(%c = pd.cast X(%x) -> Out("c") {in_dtype = 5 : i32, out_dtype = 0 : i32} : (tensor<?x4xf32>) -> tensor<?x4xi1>)",
       "", "site", "x"},
      {R"(%x = pd.input "x" : tensor<?x4xi64>
          %y = pd.input "y" : tensor<1xi64>
          %d = pd.elementwise_div X(%x) Y(%y) -> Out("d") : (tensor<?x4xi64>, tensor<1xi64>) -> tensor<?x4xi64>)",
       "", "site", "x"},
      {R"(%x = pd.input "x" : tensor<?xi1>
          %d = pd.reduce_sum X(%x) -> Out("d") {reduce_all = true} : (tensor<?xi1>) -> tensor<1xi1>)",
       "x", "site"},
      {R"(%x = pd.input "x" : tensor<?xi64>
          %d = pd.reduce_mean X(%x) -> Out("d") {reduce_all = true} : (tensor<?xi64>) -> tensor<1xi64>)",
       "x", "site"},
  });
}

// A mean divides by the rows of its part. Where these differ, it is a ratio of sums.
TEST_CASE("a mean over rows whose number differs between the ranks is a site") {
  check({
      {R"(%m = pd.mean X(%x) -> Out("m") : (tensor<?x4xf32>) -> tensor<1xf32>)", "x",
       "dp: P(sum), scale 4"},
      {R"(%x = pd.input "x" : !pd.lod<tensor<?x4xf32>, 1>
          %m = pd.mean X(%x) -> Out("m") : (!pd.lod<tensor<?x4xf32>, 1>) -> tensor<1xf32>)",
       "x", "site"},
      {R"(%x = pd.input "x" : !pd.lod<tensor<?x4xf32>, 1>
          %p:2 = pd.sequence_pool X(%x) -> Out("p") MaxIndex("i") {pooltype = "SUM"} : (!pd.lod<tensor<?x4xf32>, 1>) -> (tensor<?x4xf32>, tensor<?x4xi32>)
          %m = pd.mean X(%p#0) -> Out("m") : (tensor<?x4xf32>) -> tensor<1xf32>)",
       "x", "dp: P(sum), scale 4"},
      {R"(%k = pd.input "k" : tensor<?x4xi1>
          %s = pd.masked_select X(%x) Mask(%k) -> Y("s") : (tensor<?x4xf32>, tensor<?x4xi1>) -> tensor<?xf32>
          %m = pd.mean X(%s) -> Out("m") : (tensor<?xf32>) -> tensor<1xf32>)",
       "x k", "site"},
  });
}

// It is none of the batch: nobody averages over shares what a rank has of a parameter.
TEST_CASE("an op that does not work on a flat part is no site") {
  const std::string x = R"(%x = pd.input "x" : tensor<3xf32>
          )";
  CHECK_THAT(
      Walk().answer(x + R"(%m = pd.mean X(%x) -> Out("m") : (tensor<3xf32>) -> tensor<1xf32>)",
                    "x:flat"),
      Catch::StartsWith("? moves elements of a flat part"));
  CHECK_THAT(
      Walk().answer(
          x + R"(%n = pd.squared_l2_norm X(%x) -> Out("n") : (tensor<3xf32>) -> tensor<1xf32>)",
          "x:flat"),
      Catch::StartsWith("dp: P(sum)"));
}

TEST_CASE("an attribute or input that a row does not name makes the answer unknown, by name") {
  check({
      {R"(%y = pd.input "y" : tensor<4x4xf32>
          %m = pd.matmul X(%x) Y(%y) -> Out("m") {head_number = 2 : i32} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x8xf32>)",
       "x", "? has `head_number` = 2, for which its relation rule was not made"},
  });
  CHECK_THAT(noRuleText("empty"), Catch::Contains("what its result holds is not defined"));
}

}  // namespace dtranspile::verify

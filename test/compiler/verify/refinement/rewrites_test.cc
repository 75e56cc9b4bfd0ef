// Rewrites that only the laws of arithmetic show to be right: each right one is proved, by the
// solver, and each wrong one is not.
#include "test/compiler/verify/refinement/rewrites.h"

#include <regex>

#include "compiler/verify/refinement/solver.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/SMT/IR/SMTDialect.h"
#include "test/compiler/verify/refinement/edited.h"

namespace dtranspile::verify::test {
namespace {

Rung verifyRewrite(const Rewrite& rewrite) {
  Jobs jobs;
  auto job = jobs.parse(jobText(rewrite));
  return verifyRefinement(*job);
}

int64_t statOf(const Rung& rung, const std::string& name) {
  for (const auto& [stat, value] : rung.stats)
    if (stat == name) return value;
  return 0;
}

struct Case {
  const char* what;
  Rewrite right;
  // Lines of the reference that are wrong, each by itself.
  std::vector<std::vector<std::string>> wrong;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"distributivity",
       {"x:4x6 y:4x6 z:4x6",
        {"a:4x6 = elementwise_add X:y Y:z", "r:4x6 = elementwise_mul X:x Y:a"},
        {"b:4x6 = elementwise_mul X:x Y:y", "c:4x6 = elementwise_mul X:x Y:z",
         "r:4x6 = elementwise_add X:b Y:c"},
        "r"},
       {{"b:4x6 = elementwise_mul X:x Y:y", "c:4x6 = elementwise_mul X:y Y:z",
         "r:4x6 = elementwise_add X:b Y:c"},
        {"b:4x6 = elementwise_mul X:x Y:y", "c:4x6 = elementwise_mul X:x Y:z",
         "r:4x6 = elementwise_sub X:b Y:c"}}},
      {"distributivity of matrix products",
       {"x:4x6 v:6x5 w:6x5",
        {"a:4x5 = matmul_v2 X:x Y:v", "b:4x5 = matmul_v2 X:x Y:w",
         "r:4x5 = elementwise_add X:a Y:b"},
        {"s:6x5 = elementwise_add X:v Y:w", "r:4x5 = matmul_v2 X:x Y:s"},
        "r"},
       {{"s:6x5 = elementwise_sub X:v Y:w", "r:4x5 = matmul_v2 X:x Y:s"},
        {"s:6x5 = elementwise_mul X:v Y:w", "r:4x5 = matmul_v2 X:x Y:s"}}},
      {"a chain of matrix products",
       {"x:4x6 v:6x5 w:5x3",
        {"a:6x3 = matmul_v2 X:v Y:w", "r:4x3 = matmul_v2 X:x Y:a"},
        {"a:4x5 = matmul_v2 X:x Y:v", "r:4x3 = matmul_v2 X:a Y:w"},
        "r"},
       {}},
      {"a chain of square matrix products",
       {"x:8x8 v:8x8 w:8x8",
        {"a:8x8 = matmul_v2 X:v Y:w", "r:8x8 = matmul_v2 X:x Y:a"},
        {"a:8x8 = matmul_v2 X:x Y:v", "r:8x8 = matmul_v2 X:a Y:w"},
        "r"},
       {{"a:8x8 = matmul_v2 X:x Y:w", "r:8x8 = matmul_v2 X:a Y:v"},
        {"a:8x8 = matmul_v2 X:v Y:x", "r:8x8 = matmul_v2 X:a Y:w"},
        {"a:8x8 = matmul_v2 X:x Y:v | trans_y = true", "r:8x8 = matmul_v2 X:a Y:w"}}},
      {"an old chain of products of samples",
       {"feedx:?x6 v:6x5 w:5x3",
        {"a:?x5 = mul X:feedx Y:v", "r:?x3 = mul X:a Y:w", "m:1 = mean X:r"},
        {"a:6x3 = mul X:v Y:w", "r:?x3 = mul X:feedx Y:a", "m:1 = mean X:r"},
        "m"},
       {{"a:6x3 = mul X:v Y:w", "r:?x3 = mul X:feedx Y:a",
         "m:1 = reduce_sum X:r | reduce_all = true"},
        {"a:6x3 = mul X:v Y:w", "r:?x3 = mul X:feedx Y:a", "s:1 = mean X:r",
         "m:1 = scale X:s | scale = 2.0 : f32"}}},
      {"a factor through a product",
       {"x:4x6 w:6x8",
        {"a:4x8 = matmul_v2 X:x Y:w", "r:4x8 = scale X:a | scale = 0.125 : f32"},
        {"a:4x6 = scale X:x | scale = 0.125 : f32", "r:4x8 = matmul_v2 X:a Y:w"},
        "r"},
       {{"a:4x6 = scale X:x | scale = 0.25 : f32", "r:4x8 = matmul_v2 X:a Y:w"},
        {"a:4x6 = scale X:x | scale = 0.125 : f32", "b:6x8 = scale X:w | scale = 0.125 : f32",
         "r:4x8 = matmul_v2 X:a Y:b"}}},
      {"alpha of a product",
       {"x:4x6 w:8x6",
        {"a:4x8 = matmul X:x Y:w | alpha = 0.5 : f32, transpose_Y = true"
         ", fused_reshape_Out = array<i32>, fused_transpose_Out = array<i32>",
         "r:4x8 = scale X:a | scale = 1.0 : f32"},
        {"a:4x6 = scale X:x | scale = 0.5 : f32", "r:4x8 = matmul_v2 X:a Y:w | trans_y = true"},
        "r"},
       {{"r:4x8 = matmul_v2 X:x Y:w | trans_y = true"}}},
      {"a factor through a mean",
       {"x:4x6",
        {"a:4x6 = scale X:x | scale = 3.0 : f32", "r:1 = mean X:a"},
        {"a:1 = mean X:x", "r:1 = scale X:a | scale = 3.0 : f32"},
        "r"},
       {{"a:1 = mean X:x", "r:1 = scale X:a | scale = 2.0 : f32"}}},
      {"a mean is a sum over the number of elements",
       {"x:4x6",
        {"r:1 = mean X:x"},
        {"a:1 = reduce_sum X:x | reduce_all = true",
         "r:1 = scale X:a | scale = 0.0416666679 : f32"},
        "r"},
       // Right for two by two, and for the smallest instance.
       {{"a:1 = reduce_sum X:x | reduce_all = true", "r:1 = scale X:a | scale = 0.25 : f32"},
        {"a:1 = reduce_sum X:x | reduce_all = true", "r:1 = scale X:a | scale = 1.0 : f32"}}},
      {"a variance",
       {"x:4x6",
        {"m:4x1 = reduce_mean X:x | dim = array<i32: 1>, keep_dim = true",
         "d:4x6 = elementwise_sub X:x Y:m", "s:4x6 = square X:d",
         "r:4 = reduce_mean X:s | dim = array<i32: 1>"},
        {"s:4x6 = square X:x", "a:4 = reduce_mean X:s | dim = array<i32: 1>",
         "m:4 = reduce_mean X:x | dim = array<i32: 1>", "b:4 = square X:m",
         "r:4 = elementwise_sub X:a Y:b"},
        "r"},
       {{"s:4x6 = square X:x", "a:4 = reduce_mean X:s | dim = array<i32: 1>",
         "m:4 = reduce_mean X:x | dim = array<i32: 1>", "r:4 = elementwise_sub X:a Y:m"},
        {"s:4x6 = square X:x", "a:4 = reduce_mean X:s | dim = array<i32: 1>",
         "m:4 = reduce_mean X:x | dim = array<i32: 1>", "b:4 = square X:m",
         "r:4 = elementwise_add X:a Y:b"},
        {"s:4x6 = square X:x", "a:4 = reduce_sum X:s | dim = array<i32: 1>",
         "m:4 = reduce_mean X:x | dim = array<i32: 1>", "b:4 = square X:m",
         "r:4 = elementwise_sub X:a Y:b"}}},
      {"a bias that is folded",
       {"x:4x6 w:6x8 b:6",
        {"a:4x6 = elementwise_add X:x Y:b", "r:4x8 = matmul_v2 X:a Y:w"},
        {"c:1x6 = unsqueeze X:b | axes = array<i32: 0>", "d:1x8 = matmul_v2 X:c Y:w",
         "a:4x8 = matmul_v2 X:x Y:w", "r:4x8 = elementwise_add X:a Y:d"},
        "r"},
       {{"a:4x8 = matmul_v2 X:x Y:w", "c:4x8 = scale X:a | scale = 2.0 : f32",
         "r:4x8 = elementwise_sub X:c Y:a"}}},
      {"a bias of a scale",
       {"x:4x6",
        {"r:4x6 = scale X:x | scale = 2.0 : f32, bias = 3.0 : f32, bias_after_scale = true"},
        {"r:4x6 = scale X:x | scale = 2.0 : f32, bias = 1.5 : f32, bias_after_scale = false"},
        "r"},
       {{"r:4x6 = scale X:x | scale = 2.0 : f32, bias = 3.0 : f32, bias_after_scale = false"}}},
      {"pairs of transposes",
       {"x:4x6 w:6x8",
        {"r:4x8 = matmul_v2 X:x Y:w"},
        {"a:6x4 = transpose2 X:x | axis = array<i32: 1, 0>",
         "b:8x6 = transpose2 X:w | axis = array<i32: 1, 0>", "c:8x4 = matmul_v2 X:b Y:a",
         "r:4x8 = transpose2 X:c | axis = array<i32: 1, 0>"},
        "r"},
       {}},
      {"pairs of transposes of square matrices",
       {"x:5x5 w:5x5",
        {"r:5x5 = matmul_v2 X:x Y:w"},
        {"a:5x5 = transpose2 X:x | axis = array<i32: 1, 0>",
         "b:5x5 = transpose2 X:w | axis = array<i32: 1, 0>", "c:5x5 = matmul_v2 X:b Y:a",
         "r:5x5 = transpose2 X:c | axis = array<i32: 1, 0>"},
        "r"},
       {{"a:5x5 = transpose2 X:x | axis = array<i32: 1, 0>",
         "b:5x5 = transpose2 X:w | axis = array<i32: 1, 0>", "c:5x5 = matmul_v2 X:a Y:b",
         "r:5x5 = transpose2 X:c | axis = array<i32: 1, 0>"},
        {"a:5x5 = transpose2 X:x | axis = array<i32: 1, 0>",
         "b:5x5 = transpose2 X:w | axis = array<i32: 1, 0>", "r:5x5 = matmul_v2 X:b Y:a"}}},
      {"a function of a transpose",
       {"x:5x5",
        {"a:5x5 = tanh X:x", "r:5x5 = transpose2 X:a | axis = array<i32: 1, 0>"},
        {"a:5x5 = transpose2 X:x | axis = array<i32: 1, 0>", "r:5x5 = tanh X:a"},
        "r"},
       {{"a:5x5 = transpose2 X:x | axis = array<i32: 0, 1>", "r:5x5 = tanh X:a"},
        {"a:5x5 = transpose2 X:x | axis = array<i32: 1, 0>", "r:5x5 = sigmoid X:a"}}},
      {"a function of equal sums",
       {"x:4x6 y:4x6 z:4x6",
        {"a:4x6 = elementwise_add X:y Y:z", "b:4x6 = elementwise_mul X:x Y:a",
         "r:4x6 = softmax X:b"},
        {"b:4x6 = elementwise_mul X:x Y:y", "c:4x6 = elementwise_mul X:x Y:z",
         "d:4x6 = elementwise_add X:b Y:c", "r:4x6 = softmax X:d"},
        "r"},
       {{"b:4x6 = elementwise_mul X:x Y:y", "d:4x6 = elementwise_add X:b Y:z",
         "r:4x6 = softmax X:d"}}},
      {"a sum in pieces",
       {"x:8x6",
        {"r:1 = reduce_sum X:x | reduce_all = true"},
        {"a:3x6 b:5x6 = split X:x | axis = 0 : i32, sections = array<i32: 3, 5>",
         "s:1 = reduce_sum X:a | reduce_all = true", "t:1 = reduce_sum X:b | reduce_all = true",
         "r:1 = elementwise_add X:s Y:t"},
        "r"},
       {{"a:3x6 b:5x6 = split X:x | axis = 0 : i32, sections = array<i32: 3, 5>",
         "s:1 = reduce_sum X:a | reduce_all = true", "t:1 = reduce_sum X:a | reduce_all = true",
         "r:1 = elementwise_add X:s Y:t"},
        {"a:3x6 b:5x6 = split X:x | axis = 0 : i32, sections = array<i32: 3, 5>", "s:1 = mean X:a",
         "t:1 = mean X:b", "u:1 = elementwise_add X:s Y:t",
         "r:1 = scale X:u | scale = 24.0 : f32"}}},
      {"a product in pieces",
       {"x:4x6 v:6x5 w:6x3",
        {"a:4x5 = matmul_v2 X:x Y:v", "b:4x3 = matmul_v2 X:x Y:w",
         "s:1 = reduce_sum X:a | reduce_all = true", "t:1 = mean X:b",
         "r:1 = elementwise_sub X:s Y:t"},
        {"c:6x8 = concat X:v X:w | axis = 1 : i32", "d:4x8 = matmul_v2 X:x Y:c",
         "a:4x5 b:4x3 = split X:d | axis = 1 : i32, sections = array<i32: 5, 3>",
         "s:1 = reduce_sum X:a | reduce_all = true", "t:1 = mean X:b",
         "r:1 = elementwise_sub X:s Y:t"},
        "r"},
       {{"c:6x8 = concat X:w X:v | axis = 1 : i32", "d:4x8 = matmul_v2 X:x Y:c",
         "a:4x5 b:4x3 = split X:d | axis = 1 : i32, sections = array<i32: 5, 3>",
         "s:1 = reduce_sum X:a | reduce_all = true", "t:1 = mean X:b",
         "r:1 = elementwise_sub X:s Y:t"}}},
      {"a slice of a concatenation",
       {"x:4x6 y:4x2",
        {"r:4x2 = scale X:y | scale = 2.0 : f32"},
        {"a:4x8 = concat X:x X:y | axis = 1 : i32",
         "b:4x2 = slice Input:a | axes = array<i32: 1>, starts = array<i32: 6>"
         ", ends = array<i32: 8>",
         "r:4x2 = scale X:b | scale = 2.0 : f32"},
        "r"},
       {{"a:4x8 = concat X:x X:y | axis = 1 : i32",
         "b:4x2 = slice Input:a | axes = array<i32: 1>, starts = array<i32: 5>"
         ", ends = array<i32: 7>",
         "r:4x2 = scale X:b | scale = 2.0 : f32"}}},
      {"the gradient of a chain",
       {"x:4x6 v:6x5 w:5x3 g:4x3",
        {"a:4x5 = matmul_v2 X:x Y:v",
         "X@GRAD/da:4x5 Y@GRAD/dw:5x3 = matmul_v2_grad Out@GRAD:g X:a Y:w",
         "X@GRAD/dx:4x6 Y@GRAD/r:6x5 = matmul_v2_grad Out@GRAD:da X:x Y:v"},
        {"b:6x4 = transpose2 X:x | axis = array<i32: 1, 0>", "c:6x3 = matmul_v2 X:b Y:g",
         "r:6x5 = matmul_v2 X:c Y:w | trans_y = true"},
        "r"},
       {{"b:6x4 = transpose2 X:x | axis = array<i32: 1, 0>", "c:6x3 = matmul_v2 X:b Y:g",
         "d:6x5 = matmul_v2 X:c Y:w | trans_y = true", "r:6x5 = scale X:d | scale = 2.0 : f32"}}},
      {"the gradient of a bias",
       {"g:4x6 x:4x6 b:6",
        {"X@GRAD/dx:4x6 Y@GRAD/r:6 = elementwise_add_grad Out@GRAD:g X:x Y:b | axis = 1 : i32"},
        {"r:6 = reduce_sum X:g | dim = array<i32: 0>"},
        "r"},
       {{"r:6 = reduce_mean X:g | dim = array<i32: 0>"}}},
      {"an update written out",
       {"w:4x6 g:4x6 rate:1",
        {"ParamOut/r:4x6 = sgd Grad:g LearningRate:rate Param:w"},
        {"a:4x6 = elementwise_mul X:g Y:rate", "r:4x6 = elementwise_sub X:w Y:a"},
        "r"},
       {{"a:4x6 = elementwise_mul X:g Y:rate", "r:4x6 = elementwise_add X:w Y:a"},
        {"a:4x6 = elementwise_mul X:w Y:rate", "r:4x6 = elementwise_sub X:w Y:a"}}},
      {"a quotient of a sum",
       {"x:4x6 y:4x6 z:4x6",
        {"a:4x6 = elementwise_add X:x Y:y", "r:4x6 = elementwise_div X:a Y:z"},
        {"a:4x6 = elementwise_div X:x Y:z", "b:4x6 = elementwise_div X:y Y:z",
         "r:4x6 = elementwise_add X:a Y:b"},
        "r"},
       {{"a:4x6 = elementwise_div X:x Y:z", "b:4x6 = elementwise_div X:z Y:y",
         "r:4x6 = elementwise_add X:a Y:b"}}},
  };
  return kCases;
}

// Of a real program: the first layer of the reference with its weights scaled, and the product
// scaled back.
Rung verifyScaledLayer(const std::string& factor, const std::string& back) {
  Jobs jobs;
  Strategy strategy;
  strategy.trainers = 1;
  strategy.lars = true;
  auto job = jobs.make("fluid18/mnist_mlp", strategy);
  std::string text;
  llvm::raw_string_ostream(text) << *job;
  const std::regex layer(
      R"((%\w+) = pd\.mul X\((%\w+)\) Y\((%\w+)\) -> Out\("fc_0\.tmp_0"\)([^\n]*) : )"
      R"(\(([^\n]*), ([^\n]*)\) -> ([^\n]*))");
  const size_t reference = text.find("module @reference");
  REQUIRE(reference != std::string::npos);
  std::smatch found;
  std::string rest = text.substr(reference);
  REQUIRE(std::regex_search(rest, found, layer));
  const std::string product = found.str(1), x = found.str(2), w = found.str(3), ofX = found.str(5),
                    ofW = found.str(6), ofProduct = found.str(7);
  const std::string scaled =
      "%scaled = pd.scale X(" + w + ") -> Out(\"scaled\") {op_role = 0 : i32, scale = " + factor +
      " : f32} : (" + ofW + ") -> " + ofW + "\n%large = pd.mul X(" + x +
      ") Y(%scaled) -> Out(\"large\")" + found.str(4) + " : (" + ofX + ", " + ofW + ") -> " +
      ofProduct + "\n" + product +
      " = pd.scale X(%large) -> Out(\"fc_0.tmp_0\") {op_role = 0 : i32, scale = " + back +
      " : f32} : (" + ofProduct + ") -> " + ofProduct;
  rest.replace(found.position(0), found.length(0), scaled);
  auto edited = jobs.parse(text.substr(0, reference) + rest);
  return verifyRefinement(*edited);
}

}  // namespace

TEST_CASE("a layer of a real program is proved by the solver alone") {
  const Rung right = verifyScaledLayer("4.0", "0.25");
  INFO(textOf(right));
  CHECK(right.verdict == Verdict::Holds);
  CHECK(statOf(right, "questions") > 0);
  CHECK(llvm::any_of(right.conditions, [](const Condition& condition) {
    return condition.kind == "solver" && condition.name == "variable `fc_0.w_0`";
  }));
  const Rung wrong = verifyScaledLayer("4.0", "0.5");
  CHECK(wrong.verdict == Verdict::Unknown);
  CHECK_THAT(textOf(wrong), Catch::Contains("is what the source makes of it"));
}

TEST_CASE("right rewrites are proved by the solver, wrong ones are not accepted") {
  int64_t questions = 0;
  for (const Case& one : cases()) {
    INFO(one.what);
    const Rung rung = verifyRewrite(one.right);
    INFO(textOf(rung) << jobText(one.right));
    CHECK(rung.verdict == Verdict::Holds);
    CHECK(llvm::any_of(rung.conditions, [](const Condition& condition) {
      return condition.kind == "solver" && condition.name == "variable `result`";
    }));
    questions += statOf(rung, "questions");
    for (size_t i = 0; i < one.wrong.size(); ++i) {
      Rewrite wrong = one.right;
      wrong.reference = one.wrong[i];
      const Rung open = verifyRewrite(wrong);
      INFO("wrong one " << i << "\n" << textOf(open) << jobText(wrong));
      CHECK(open.verdict != Verdict::Holds);
      CHECK(textOf(open).find("variable `result`") != std::string::npos);
    }
  }
  // Some are equal as soon as formulas are written out.
  CHECK(questions >= 12);
}

TEST_CASE("a difference of polynomials is refuted with the numbers at which they differ") {
  const Rung rung = verifyRewrite({"x:4x6 y:4x6",
                                   {"r:4x6 = elementwise_mul X:x Y:y"},
                                   {"a:4x6 = elementwise_add X:x Y:y", "r:4x6 = square X:a"},
                                   "r"});
  INFO(textOf(rung));
  REQUIRE(rung.verdict == Verdict::Refuted);
  REQUIRE(rung.messages.size() == 1);
  REQUIRE_FALSE(rung.messages[0].notes.empty());
  CHECK_THAT(rung.messages[0].notes[0], Catch::Contains("variable x["));
}

// (AB - BA)^2 commutes with every matrix where all are two by two (Hall's identity), and not
// beyond: what holds for as few positions as an instance may have is not taken for a law.
TEST_CASE("an identity of two by two matrices is none of larger ones") {
  const auto hall = [](const std::string& type) {
    const auto product = [&](const std::string& name, const std::string& x, const std::string& y) {
      return name + ":" + type + " = matmul_v2 X:" + x + " Y:" + y;
    };
    const std::vector<std::string> commutator = {product("ab", "a", "b"), product("ba", "b", "a"),
                                                 "d:" + type + " = elementwise_sub X:ab Y:ba",
                                                 product("s", "d", "d")};
    Rewrite rewrite{"a:" + type + " b:" + type + " c:" + type, commutator, commutator, "r"};
    rewrite.source.push_back(product("r", "s", "c"));
    rewrite.reference.push_back(product("r", "c", "s"));
    return verifyRewrite(rewrite).verdict;
  };
  CHECK(hall("2x2") == Verdict::Holds);
  CHECK(hall("3x3") != Verdict::Holds);
  CHECK(hall("4x4") != Verdict::Holds);
  CHECK(hall("16x16") != Verdict::Holds);
}

TEST_CASE("a question is SMT-LIB over the real numbers, and has limits") {
  Expressions expressions;
  const ExpressionId x = expressions.leaf("variable x[0]"), y = expressions.leaf("variable y[0]"),
                     half = expressions.constant(Rational(-1, 2));
  const ExpressionId sum = expressions.add({x, y});
  const ExpressionId a = expressions.multiply({half, sum, sum}),
                     f = expressions.apply("tanh", {sum});
  mlir::MLIRContext context;
  context.loadDialect<mlir::smt::SMTDialect>();
  const Question question = questionOf(context, expressions, a, f);
  const std::string text = questionText(*question.module);
  for (const char* part : {"(declare-const x0 Real)", "(declare-const x1 Real)",
                           "(declare-fun f1 (Real) Real)", "(/ ", "(- 0 1)", "distinct"})
    CHECK_THAT(text, Catch::Contains(part));
  CHECK_THAT(text, !Catch::Contains("Int"));
  Solver solver;
  CHECK(solver.decide(expressions, a, f).kind != Answer::Equal);
  CHECK(solver.decide(expressions, sum, expressions.add({y, x})).kind == Answer::Equal);
  // Too large to be asked.
  ExpressionId chain = x;
  for (int i = 0; i < 30'000; ++i) chain = expressions.add({expressions.multiply({chain, x}), y});
  CHECK(solver.decide(expressions, chain, x).kind == Answer::Unknown);
}

TEST_CASE("what no formula is known of is left open") {
  // exp is a function without laws: softmax does not see a shift, and nobody here knows.
  const Rung shifted = verifyRewrite(
      {"x:4x6",
       {"r:4x6 = softmax X:x"},
       {"a:4x6 = scale X:x | scale = 1.0 : f32, bias = 1.0 : f32", "r:4x6 = softmax X:a"},
       "r"});
  CHECK(shifted.verdict == Verdict::Unknown);
  // A value of an unknown extent may be one that is repeated.
  const Rung repeated = verifyRewrite({"feedx:?x6 feedy:?x6",
                                       {"a:?x6 = elementwise_mul X:feedx Y:feedy", "r:1 = mean X:a",
                                        "s:1 = scale X:r | scale = 2.0 : f32"},
                                       {"b:?x6 = scale X:feedx | scale = 2.0 : f32",
                                        "a:?x6 = elementwise_mul X:b Y:feedy", "s:1 = mean X:a"},
                                       "s"});
  CHECK(repeated.verdict == Verdict::Unknown);
}

}  // namespace dtranspile::verify::test

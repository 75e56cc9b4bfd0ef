// Rung 4 on programs in text: what may be changed without a word, what with a declared change only.
#include <catch2/catch.hpp>

#include "compiler/verify/refinement/refinement.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {
namespace {

struct Job {
  std::string variables = "pd.var @w : tensor<4x4xf32> {parameter}\n";
  std::string source, reference;  // bodies of @main
  std::string startup;            // body of @startup of the reference alone
  std::string changes;            // entries of dist.changes
  std::string more;               // variables of the reference alone
};

Rung prove(const Job& job) {
  Jobs jobs;
  std::string text = "module attributes {dist.changes = [" + job.changes + "]} {\n";
  for (bool source : {true, false})
    text += std::string("module @") + (source ? "source" : "reference") + " {\n" + job.variables +
            (source ? "" : job.more) + "pd.program @main {\n" +
            (source ? job.source : job.reference) + "}\npd.program @startup {\n" +
            (source ? "" : job.startup) + "}\n}\n";
  auto module = jobs.parse(text + "}\n");
  return verifyRefinement(*module);
}

bool proved(const Job& job) {
  const Rung rung = prove(job);
  for (const Message& message : rung.messages) UNSCOPED_INFO(message.text);
  return rung.verdict == Verdict::Holds;
}

constexpr char kHead[] = R"(
  %w = pd.get @w : tensor<4x4xf32>
  %x = pd.input "x" : tensor<8x4xf32>
  %h = pd.mul X(%x) Y(%w) -> Out("h") : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
)";
constexpr char kTail[] = R"(
  %g = pd.mul_grad "Out@GRAD"(%d) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  pd.set @w, %n : tensor<4x4xf32>
)";
constexpr char kRelu[] =
    R"(  %a = pd.relu X(%h) -> Out("a") : (tensor<8x4xf32>) -> tensor<8x4xf32>
)";
constexpr char kReluGrad[] =
    R"(  %d = pd.relu_grad Out(%a) "Out@GRAD"(%a) -> "X@GRAD"("h@GRAD") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
)";

std::string join(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

}  // namespace

TEST_CASE("an op that is computed again is the same op") {
  Job job;
  job.source = join({kHead, kRelu, kReluGrad, kTail});
  // The product and its activation once more, under other names, for the gradient alone.
  job.reference = join({kHead, kRelu, R"(
  %h2 = pd.mul X(%x) Y(%w) -> Out("h.again") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %a2 = pd.relu X(%h2) -> Out("a.again") {op_role = 1 : i32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %d = pd.relu_grad Out(%a2) "Out@GRAD"(%a2) -> "X@GRAD"("h@GRAD") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
)",
                        kTail});
  CHECK(proved(job));
  SECTION("not from another operand") {
    job.reference.replace(job.reference.find("relu X(%h2)"), 11, "relu X(%d0)");
    job.reference.replace(job.reference.find("%a2 = pd.relu"), 0,
                          "%d0 = pd.scale X(%h2) -> Out(\"e\") {scale = 2.0 : f32} : "
                          "(tensor<8x4xf32>) -> tensor<8x4xf32>\n  ");
    CHECK_FALSE(proved(job));
  }
  SECTION("not by another op") {
    job.reference.replace(job.reference.find("pd.relu X(%h2)"), 14, "pd.tanh X(%h2)");
    CHECK_FALSE(proved(job));
  }
}

TEST_CASE("a mask that is drawn again is another one") {
  constexpr char kDraw[] =
      R"(  %m = pd.gaussian_random -> Out("m") {shape = array<i64: 8, 4>} : () -> tensor<8x4xf32>
  %d = pd.elementwise_mul X(%h) Y(%m) -> Out("p") : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
)";
  Job job;
  job.source = job.reference = join({kHead, kDraw, kTail});
  CHECK(proved(job));
  job.reference = join({kHead, kDraw, R"(
  %m2 = pd.gaussian_random -> Out("m") {shape = array<i64: 8, 4>, op_role = 1 : i32} : () -> tensor<8x4xf32>
  %d2 = pd.elementwise_mul X(%h) Y(%m2) -> Out("p.again") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
)",
                        kTail});
  job.reference.replace(job.reference.find("\"Out@GRAD\"(%d)"), 14, "\"Out@GRAD\"(%d2)");
  CHECK_FALSE(proved(job));
}

TEST_CASE("sums and factors are computed with") {
  Job job;
  job.source = join({kHead, R"(
  %s = pd.sum X(%h, %h, %x) -> Out("s") : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %d = pd.relu X(%s) -> Out("d") : (tensor<8x4xf32>) -> tensor<8x4xf32>
)",
                     kTail});
  job.reference = join({kHead, R"(
  %t = pd.scale X(%h) -> Out("t") {scale = 2.0 : f32, op_role = 1 : i32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = pd.elementwise_add X(%x) Y(%t) -> Out("s") : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %d = pd.relu X(%s) -> Out("d") : (tensor<8x4xf32>) -> tensor<8x4xf32>
)",
                        kTail});
  CHECK(proved(job));
  job.reference.replace(job.reference.find("2.0"), 3, "3.0");
  CHECK_FALSE(proved(job));
}

TEST_CASE("casts are identities where precision is declared to change") {
  Job job;
  job.source = join({kHead, kRelu, kReluGrad, kTail});
  job.reference = join({R"(
  %w = pd.get @w : tensor<4x4xf32>
  %x = pd.input "x" : tensor<8x4xf32>
  %xh = pd.cast X(%x) -> Out("x.cast_fp16") {in_dtype = 5 : i32, out_dtype = 4 : i32} : (tensor<8x4xf32>) -> tensor<8x4xf16>
  %wh = pd.cast X(%w) -> Out("w.cast_fp16") {in_dtype = 5 : i32, out_dtype = 4 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %hh = pd.mul X(%xh) Y(%wh) -> Out("h") : (tensor<8x4xf16>, tensor<4x4xf16>) -> tensor<8x4xf16>
  %h = pd.cast X(%hh) -> Out("h.cast_fp32") {in_dtype = 4 : i32, out_dtype = 5 : i32} : (tensor<8x4xf16>) -> tensor<8x4xf32>
)",
                        kRelu, kReluGrad, kTail});
  CHECK_FALSE(proved(job));
  job.changes = R"({pass = "amp", amp_dtype = ["bfloat16"]})";
  CHECK_FALSE(proved(job));
  job.changes = R"({pass = "amp", amp_dtype = ["float16"]})";
  CHECK(proved(job));
  SECTION("not in an op that was to be left alone") {
    job.changes = R"({pass = "amp", amp_dtype = ["float16"], custom_black_list = ["mul"]})";
    CHECK_FALSE(proved(job));
  }
  SECTION("not down and up again, for a reader that takes it in full") {
    job.reference.replace(
        job.reference.find("%a = pd.relu X(%h)"), 18,
        R"(%lo = pd.cast X(%h) -> Out("lo") {in_dtype = 5 : i32, out_dtype = 4 : i32} : (tensor<8x4xf32>) -> tensor<8x4xf16>
  %up = pd.cast X(%lo) -> Out("up") {in_dtype = 4 : i32, out_dtype = 5 : i32} : (tensor<8x4xf16>) -> tensor<8x4xf32>
  %a = pd.relu X(%up))");
    CHECK_FALSE(proved(job));
  }
  SECTION("not a cast to integers") {
    job.reference.replace(job.reference.find("pd.relu X(%h)"), 13, "pd.relu X(%hf)");
    job.reference.replace(
        job.reference.find("%a = pd.relu"), 0,
        R"(%hi = pd.cast X(%h) -> Out("i") {in_dtype = 5 : i32, out_dtype = 2 : i32} : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %hf = pd.cast X(%hi) -> Out("f") {in_dtype = 2 : i32, out_dtype = 5 : i32} : (tensor<8x4xi32>) -> tensor<8x4xf32>
  )");
    CHECK_FALSE(proved(job));
  }
}

namespace {

constexpr char kScaled[] = R"(
  %s = pd.get @scale : tensor<1xf32>
  %as = pd.elementwise_mul X(%a) Y(%s) -> Out("a@SCALED") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<1xf32>) -> tensor<8x4xf32>
  %d = pd.relu_grad Out(%a) "Out@GRAD"(%as) -> "X@GRAD"("h@GRAD") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %gs = pd.mul_grad "Out@GRAD"(%d) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g, %found = pd.check_finite_and_unscale X(%gs) Scale(%s) -> Out("w@GRAD") FoundInfinite("found") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<1xf32>) -> (tensor<4x4xf32>, tensor<1xi1>)
  %ok = pd.logical_not X(%found) -> Out("ok") {op_role = 2 : i32} : (tensor<1xi1>) -> tensor<1xi1>
)";
constexpr char kUpdate[] = R"(
    %w2 = pd.get @w : tensor<4x4xf32>
    %n = pd.elementwise_sub X(%w2) Y(%g) -> Out("w") {op_role = 2 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    pd.set @w, %n : tensor<4x4xf32>
)";

}  // namespace

TEST_CASE("a loss scale goes out where gradients are unscaled") {
  Job job;
  job.changes =
      R"({pass = "amp", amp_dtype = ["float16"], scaled = true, init_loss_scaling = 8.0 : f64, use_dynamic_loss_scaling = false})";
  job.more = "pd.var @scale : tensor<1xf32>\n";
  job.startup = R"(
  %c = pd.fill_constant -> Out("scale") {dtype = 5 : i32, shape = array<i64: 1>, value = 8.0 : f32} : () -> tensor<1xf32>
  pd.set @scale, %c : tensor<1xf32>
)";
  job.source = join({kHead, kRelu, kReluGrad, kTail});
  const std::string scaled = join({kHead, kRelu, kScaled});
  SECTION("an update that is not skipped where a gradient overflows") {
    job.reference = scaled + kUpdate;
    const Rung rung = prove(job);
    CHECK(rung.verdict == Verdict::Unknown);
    CHECK_THAT(rung.messages.at(0).text, Catch::Contains("where a gradient is not finite"));
  }
  SECTION("a gradient that keeps the scale") {
    job.reference = scaled + kUpdate;
    job.reference.replace(job.reference.find("Y(%g)"), 5, "Y(%gs)");
    CHECK_FALSE(proved(job));
  }
}

}  // namespace dtranspile::verify::test

// Rung 2 on jobs of several programs, rule by rule: places, time axes, branches and servers. Each
// row changes one place of a job of test/jobs and names the rule that sees it and what it says.
#include <catch2/catch.hpp>

#include "compiler/verify/relations/relations.h"
#include "test/compiler/verify/changed_text.h"

namespace dtranspile::verify::test {
namespace {

using Level = Message::Level;

// A program that is run on some ranks only.
std::string on(const std::string& selector, const std::string& body) {
  return "dist.on <" + selector + "> {\n" + body + "\ndist.yield\n}\n";
}

// The handler of a pull of the bias, of mode geo, that sets it to this.
std::string answer(const std::string& made) {
  return "dist.handle pull @fc_0.b_0 (%from: tensor<1xi64>) {\n"
         "dist.foreach_block @fc_0.b_0 (%block) {\n"
         "%p = pd.get @fc_0.b_0 : tensor<?xf32>\n" +
         made +
         "pd.set @fc_0.b_0, %same : tensor<?xf32>\n"
         "dist.yield\n}\ndist.yield\n}\n";
}

std::string scaled(const std::string& by) {
  return "%same = pd.scale X(%p) -> Out(\"fc_0.b_0\") {bias = 0.000000e+00 : f32, "
         "bias_after_scale = true, scale = " +
         by + " : f32} : (tensor<?xf32>) -> tensor<?xf32>\n";
}

}  // namespace

TEST_CASE("the jobs as they are have no findings in rung 2") {
  Jobs jobs;
  for (const char* name : {"owner_sharded_2", "owner_sharded_4", "pipeline", "interleaved",
                           "zero_bubble", "merged_gradients", "parameter_server", "sparse_table"}) {
    const auto job = jobs.parse(textOf(name));
    const Rung rung = verifyRelations(*job);
    INFO(name << ": " << messagesOf(rung));
    CHECK(rung.verdict == Verdict::Holds);
  }
}

TEST_CASE("places: what some ranks hold, and what they make of it") {
  checkChanged({
      {"owner_sharded_2",
       "the owner takes its summand for the sum",
       {"dist.on <sharding = 0> with (%g0 = %sum0#0"},
       "Grad(%g0)",
       "Grad(%fc_0.w_0.grad)",
       Level::Refuted,
       "part",
       "is P(sum) along axis sharding, and the ranks <sharding = 0> have only their part of it"},
      {"owner_sharded_2",
       "one rank sets what all ranks have",
       {"%all0:4 = dist.broadcast"},
       "\n",
       "\n" + on("sharding = 0",
                 "%r = pd.get @learning_rate_0 : tensor<1xf32>\n%d = pd.scale X(%r) -> "
                 "Out(\"learning_rate_0\") {bias = 0.000000e+00 : f32, bias_after_scale = true, "
                 "scale = 2.000000e+00 : f32} : (tensor<1xf32>) -> tensor<1xf32>\n"
                 "pd.set @learning_rate_0, %d : tensor<1xf32>"),
       Level::Refuted,
       "invariant",
       "on the ranks of this region only, <sharding = 0>; elsewhere it ends as another value"},
      {"owner_sharded_2",
       "the sum at its owner is a maximum",
       {"%sum0:4"},
       "dist.reduce sum",
       "dist.reduce max",
       Level::Refuted,
       "reduction",
       "which is P(sum) along axis sharding, with max"},
      {"pipeline",
       "zeros of the other stage are ones",
       {"Squares of the own"},
       "value = 0.000000e+00",
       "value = 1.000000e+00",
       Level::Unknown,
       "unknown-relation",
       "joins values of different relations"},
      {"pipeline",
       "what is on one stage is taken for the sum over both",
       {"%norm ="},
       "pd.sqrt X(%norm)",
       "pd.sqrt X(%square0#0)",
       Level::Refuted,
       "reduced-once",
       "enters sqrt as P(sum) along axis pp, never reduced"},
      {"interleaved",
       "the same of two chunks",
       {"%norm ="},
       "pd.sqrt X(%norm)",
       "pd.sqrt X(%add_n_0.tmp_0)",
       Level::Refuted,
       "reduced-once",
       "P(sum) along axis pp"},
  });
}

TEST_CASE("time axes: sums over micro-batches") {
  checkChanged({
      {"pipeline",
       "the sum begins with one",
       {"What is summed over"},
       "value = 0.000000e+00",
       "value = 1.000000e+00",
       Level::Refuted,
       "accumulation",
       "begins to accumulate with `linear_0.w_0@GRAD`, which is not zero"},
      {"pipeline",
       "the loss is summed, and the mean forgotten",
       {"The mean over the batch"},
       "scale = 2.500000e-01",
       "scale = 5.000000e-01",
       Level::Refuted,
       "name",
       "2 times that of the reference"},
      {"pipeline",
       "the seed counts every micro-batch whole",
       {},
       "scale = 2.500000e-01 : f32} : (tensor<f32>) -> tensor<f32>",
       "scale = 1.000000e+00 : f32} : (tensor<f32>) -> tensor<f32>",
       Level::Refuted,
       "scale",
       "as 4 times the gradient"},
      {"pipeline",
       "a feed is whole in every micro-batch",
       {"dist.role"},
       "\"x\" {dist.batch = #dist.batch<0: micro>}",
       "\"x\"",
       Level::Unknown,
       "misfit",
       "along data axis micro"},
      {"pipeline",
       "weights are added up, not their gradient",
       {"task B -> (!dist.at<tensor<?x32xf32>, pp = 1>, !dist.at<tensor<32x32xf32>"},
       "%n0 = pd.sum X(%a1, %matmul_v2_grad.2#1)",
       "%n0 = pd.sum X(%a1, %linear_2.w_0)",
       Level::Refuted,
       "lineage",
       "takes `linear_2.w_0` before the step where the reference takes"},
      {"zero_bubble",
       "W multiplies an activation with itself",
       {"task W -> (!dist.at<tensor<32x32xf32>"},
       "\"Out@GRAD\"(%g3) X(%h_in)",
       "\"Out@GRAD\"(%h_in) X(%h_in)",
       Level::Refuted,
       "lineage",
       "takes `tanh_0.tmp_0` of tanh of `tanh_0.tmp_0` where the reference takes"},
  });
}

TEST_CASE("branches: the same on all ranks, and the same relation on both ways out") {
  checkChanged({
      {"merged_gradients",
       "ranks count differently",
       {"dist.role"},
       "%step = pd.get @merge_step : tensor<1xi64>",
       "%step = dist.coord \"dp\" : tensor<1xi64>",
       Level::Refuted,
       "D26",
       "differs between the ranks along axis dp"},
      {"merged_gradients",
       "the branch leaves a sum that is not emptied",
       {"dist.all_reduce"},
       "pd.set @fc_0.b_0.merged, %empty_fc_0_b_0 : tensor<128xf32>",
       "",
       Level::Refuted,
       "lineage",
       "in the reference it ends as `fc_0.b_0.merged` after conditional_block"},
      {"merged_gradients",
       "the branch leaves the reduced sum",
       {"dist.all_reduce"},
       "pd.set @fc_0.b_0.merged, %empty_fc_0_b_0",
       "pd.set @fc_0.b_0.merged, %all#0",
       Level::Refuted,
       "invariant",
       "as R where its block has run, and as dp: P(sum) where it has not"},
      {"merged_gradients",
       "the branch updates with the rank's own sum",
       {"dist.role", "pd.conditional_block"},
       "X(%all#0)",
       "X(%own_fc_0_b_0)",
       Level::Refuted,
       "reduced-once",
       "enters momentum as P(sum) along axis dp, never reduced"},
      {"merged_gradients",
       "sums of the ranks that are declared equal",
       {},
       "dist.rel = #dist.rel<\"fc_0.w_0.merged\", dp: P(sum)>",
       "dist.rel = #dist.rel<\"fc_0.w_0.merged\">",
       Level::Refuted,
       "scale",
       "adds values of scale 2 and 1"},
  });
}

TEST_CASE("servers: pushes, rounds and pulls") {
  const std::string push =
      "dist.push %elementwise_add_grad#1 to @server::@fc_0.b_0 merge mean on @ps : tensor<1xf32>";
  const std::string phase = "dist.phase push on @ps\n",
                    pull =
                        "%early = dist.pull @server::@fc_0.b_0 on @ps : tensor<1xf32>\n"
                        "pd.set @fc_0.b_0, %early : tensor<1xf32>";
  checkChanged({
      {"parameter_server",
       "pushed twice",
       {"dist.role"},
       phase,
       push + "\n" + phase,
       Level::Refuted,
       "push",
       "a second time in one step"},
      {"parameter_server",
       "the sum of the trainers' means",
       {"dist.role"},
       "merge mean",
       "merge sum",
       Level::Refuted,
       "scale",
       "as 2 times the gradient of the reference"},
      {"parameter_server",
       "a push by itself to a server with rounds",
       {"dist.role"},
       "merge mean",
       "merge each",
       Level::Refuted,
       "push",
       "a server of mode sync takes what all trainers push"},
      {"async_server",
       "a merged push to a server without rounds",
       {"dist.role"},
       "merge each",
       "merge mean",
       Level::Refuted,
       "push",
       "a server of mode async applies every push by itself"},
      {"parameter_server",
       "the phase has no end",
       {"dist.role"},
       phase,
       "",
       Level::Refuted,
       "phase",
       "its round is never run"},
      {"parameter_server",
       "a parameter is pushed",
       {"dist.role"},
       "dist.push %elementwise_add_grad#1",
       "dist.push %fc_0.b_0",
       Level::Refuted,
       "lineage",
       "takes `fc_0.b_0` before the step where the reference takes `fc_0.b_0@GRAD`"},
      {"parameter_server",
       "nobody pushes",
       {"dist.role"},
       push,
       "",
       Level::Refuted,
       "push",
       "none of them pushes to it before the end of the push phase"},
      {"parameter_server",
       "the round does not take it",
       {"dist.role @server"},
       "%g = dist.merged @fc_0.b_0 : tensor<?xf32>",
       "%g = pd.get @fc_0.b_0 : tensor<?xf32>",
       Level::Refuted,
       "push",
       "pushes to `fc_0.b_0`, and the server's round does not take it"},
      {"parameter_server",
       "one trainer asks",
       {"dist.role"},
       phase,
       on("dp = 0", pull) + phase,
       Level::Refuted,
       "push",
       "asks the server on the ranks <dp = 0> only"},
      {"parameter_server",
       "beside the loop of rounds",
       {"dist.role @server"},
       "dist.serve on @ps mode sync {",
       "%r = pd.get @learning_rate_0 : tensor<1xf32>\ndist.serve on @ps mode sync {",
       Level::Unknown,
       "serve",
       "is run once, and not in every round"},
  });
}

TEST_CASE("blocks of a server: what is set per block, and cut by another layout") {
  const std::string two = "dist.mesh @servers [ps = 2]", one = "dist.mesh @servers [ps = 1]";
  const Changed rows[] = {
      {"parameter_server",
       "a rate is set once per block",
       {"dist.role @server"},
       "pd.set @fc_0.b_0, %new : tensor<?xf32>",
       "pd.set @fc_0.b_0, %new : tensor<?xf32>\npd.set @learning_rate_0, %rate : tensor<1xf32>",
       Level::Refuted,
       "invariant",
       "once per block of `fc_0.b_0` that a server owns"},
      {"parameter_server",
       "a server keeps blocks of another size",
       {"dist.role @server", "pd.program @startup"},
       "%own_w = dist.slice %fc_0.w_0 dim 0 layout <blocks(10, per 10, first 0)>",
       "%own_w = dist.slice %fc_0.w_0 dim 0 layout <blocks(10, per 5, first 0)>",
       Level::Refuted,
       "invariant",
       "blocks(10, per 5, first 0)"},
  };
  Jobs jobs;
  for (const Changed& row : rows) {
    INFO(row.what);
    std::string text = changed(row);
    text.replace(text.find(one), one.size(), two);
    const auto job = jobs.parse(text);
    const Rung rung = verifyRelations(*job);
    INFO(messagesOf(rung));
    CHECK(llvm::any_of(rung.messages, [&](const Message& message) {
      return message.level == row.level && message.rule == row.rule &&
             message.text.find(row.says) != std::string::npos;
    }));
  }
}

TEST_CASE("geo-SGD: what runs before a pull is answered leaves the table as it is") {
  const std::string before = "dist.handle push @fc_0.b_0", one = "1.000000e+00";
  const std::string root =
      "%same = pd.sqrt X(%p) -> Out(\"fc_0.b_0\") : (tensor<?xf32>) -> tensor<?xf32>\n";
  const auto row = [&](const char* what, const std::string& handler, Level level,
                       const char* says) -> Changed {
    return {"geo_server",     what,  {"dist.role @server"}, before,
            handler + before, level, "geo-server",          says};
  };
  checkChanged({
      row("it is scaled", answer(scaled("2.000000e+00")), Level::Refuted,
          "sets `fc_0.b_0` to 2*`fc_0.b_0` before it is answered with"),
      row("a root of it", answer(root), Level::Unknown, "of which it is not known"),
      row("it is set twice", answer(scaled(one) + "pd.set @fc_0.b_0, %same : tensor<?xf32>\n"),
          Level::Unknown, "sets `fc_0.b_0` again"),
  });
  Jobs jobs;
  for (const std::string& handler :
       {answer(scaled(one)), std::string("dist.handle pull @fc_0.b_0 (%from: tensor<1xi64>) {\n"
                                         "dist.yield\n}\n")}) {
    const auto job = jobs.parse(changed(row("as it is", handler, Level::Note, "")));
    const Rung rung = verifyRelations(*job);
    INFO(messagesOf(rung));
    CHECK(rung.verdict == Verdict::Holds);
  }
}

}  // namespace dtranspile::verify::test

// Rung 2 on jobs without rounds: what trainers of geo-SGD do between exchanges, how variables of an
// exchange are declared, what counts steps, and how requests wait.
#include <catch2/catch.hpp>

#include "compiler/verify/relations/relations.h"
#include "test/compiler/verify/changed_text.h"

namespace dtranspile::verify::test {
namespace {

using Level = Message::Level;

constexpr const char* kTrainer = "dist.role @trainer";

}  // namespace

TEST_CASE("jobs without rounds as they are have no findings in rung 2") {
  Jobs jobs;
  for (const char* name : {"geo_server", "async_server"}) {
    const auto job = jobs.parse(textOf(name));
    const Rung rung = verifyRelations(*job);
    INFO(name << ": " << messagesOf(rung));
    CHECK(rung.verdict == Verdict::Holds);
  }
}

TEST_CASE("every trainer takes the reference's step on a share of its own") {
  const char* seed =
      "%square_error_cost_0.tmp_1.grad = pd.mean_grad \"Out@GRAD\"(%mean_0.tmp_0.grad)";
  checkChanged({
      {"geo_server",
       "one feed is whole",
       {kTrainer},
       "pd.input \"y\" {dist.batch = #dist.batch<0: dp>}",
       "pd.input \"y\"",
       Level::Unknown,
       "shares",
       "`y` is whole along axis dp, and other feeds are cut"},
      {"geo_server",
       "a feed is cut along its features",
       {kTrainer},
       "pd.input \"x\" {dist.batch = #dist.batch<0: dp>}",
       "pd.input \"x\" {dist.batch = #dist.batch<1: dp>}",
       Level::Unknown,
       "misfit",
       "mul takes this operand whole and others in parts (`fc_0.w_0`)"},
      {"geo_server",
       "the gradient of the loss is 1 on one trainer, and 0 on the others",
       {kTrainer},
       seed,
       "%off = pd.fill_constant -> Out(\"off\") {dtype = 5 : i32, shape = array<i64: 1>, value = "
       "0.000000e+00 : f32} : () -> tensor<1xf32>\n"
       "%some = dist.on <dp = 0> -> (tensor<1xf32>) {\ndist.yield %mean_0.tmp_0.grad : "
       "tensor<1xf32>\n} else {\ndist.yield %off : tensor<1xf32>\n}\n"
       "%square_error_cost_0.tmp_1.grad = pd.mean_grad \"Out@GRAD\"(%some)",
       Level::Unknown,
       "unknown-relation",
       ""},
      {"geo_server",
       "the gradient is that of the mean over all trainers",
       {kTrainer},
       seed,
       "%half = pd.scale X(%mean_0.tmp_0.grad) -> Out(\"half\") {bias = 0.000000e+00 : f32, "
       "bias_after_scale = true, op_role = 1 : i32, scale = 5.000000e-01 : f32} : (tensor<1xf32>) "
       "-> tensor<1xf32>\n"
       "%square_error_cost_0.tmp_1.grad = pd.mean_grad \"Out@GRAD\"(%half)",
       Level::Refuted,
       "reduced-once",
       "along axis dp"},
      {"async_server",
       "one feed is whole",
       {kTrainer},
       "pd.input \"x\" {dist.batch = #dist.batch<0: dp>}",
       "pd.input \"x\"",
       Level::Unknown,
       "shares",
       "`x` is whole along axis dp"},
  });
}

TEST_CASE("a whole batch on every trainer is no share") {
  Jobs jobs;
  for (const char* name : {"geo_server", "async_server"}) {
    std::string text = textOf(name);
    const std::string cut = " {dist.batch = #dist.batch<0: dp>}";
    for (size_t at = text.find(cut); at != std::string::npos; at = text.find(cut))
      text.erase(at, cut.size());
    const auto job = jobs.parse(text);
    const Rung rung = verifyRelations(*job);
    INFO(name << ": " << messagesOf(rung));
    CHECK(rung.verdict == Verdict::Refuted);
    CHECK(messagesOf(rung).find("takes the step on the whole batch") != std::string::npos);
  }
}

TEST_CASE("what is exchanged is the reference's own") {
  checkChanged({
      {"geo_server",
       "a parameter is declared twice its value",
       {kTrainer},
       "dist.rel = #dist.rel<\"fc_0.w_0\">",
       "dist.rel = #dist.rel<\"fc_0.w_0\", scale 2>",
       Level::Refuted,
       "geo-exchange",
       "`fc_0.w_0` is declared to be 2 times that of the reference"},
      {"geo_server",
       "a snapshot is declared half its value",
       {kTrainer, "@fc_0.b_0.server"},
       "dist.rel = #dist.rel<\"fc_0.b_0\">",
       "dist.rel = #dist.rel<\"fc_0.b_0\", scale 1/2>",
       Level::Refuted,
       "geo-exchange",
       "`fc_0.b_0.server` is declared to be 1/2 times"},
      {"geo_server",
       "a parameter by another contract",
       {kTrainer},
       "dist.rel = #dist.rel<\"fc_0.w_0\">",
       "dist.rel = #dist.rel<\"fc_0.w_0\", tags [\"fp16_wire\"]>",
       Level::Refuted,
       "geo-exchange",
       "declared to deviate by the contract \"fp16_wire\""},
      {"geo_server",
       "a parameter that is declared to differ",
       {kTrainer},
       "dist.rel = #dist.rel<\"fc_0.b_0\">",
       "dist.rel = #dist.rel<\"fc_0.b_0\", dp: X(geo)>",
       Level::Refuted,
       "geo-exchange",
       "`fc_0.b_0` is declared dp: X(geo)"},
      {"geo_server",
       "a table of the servers is declared twice its value",
       {"dist.role @server"},
       "ps: S(0, blocks(10, per 10, first 0))>",
       "ps: S(0, blocks(10, per 10, first 0)), scale 2>",
       Level::Refuted,
       "geo-exchange",
       "`fc_0.w_0` is declared to be 2 times"},
      {"geo_server",
       "parameters are averaged too",
       {},
       "dist.contracts = [{tag = \"geo\"",
       "dist.contracts = [{tag = \"local_sgd\", statement = \"\", sites = []}, {tag = \"geo\"",
       Level::Unknown,
       "geo-exchange",
       "trainers average parameters among themselves too"},
      {"geo_server",
       "a server adds to what the trainer has pulled",
       {"dist.role @server", "dist.merged @fc_0.w_0"},
       "pd.get @fc_0.w_0 :",
       "pd.get @fc_0.w_0 {dist.as_pulled} :",
       Level::Refuted,
       "geo-server",
       "as the trainer has pulled it last: what others have added since would be lost"},
      {"async_server",
       "no server serves in mode geo",
       {},
       "dist.contracts = [",
       "dist.contracts = [{tag = \"geo\", statement = \"\", sites = []}, ",
       Level::Refuted,
       "contract",
       "no server serves in mode geo"},
  });
}

TEST_CASE("steps are counted in one number") {
  std::string text = textOf("geo_server");
  const size_t from = text.find(kTrainer);
  std::string trainer = text.substr(from, text.find("dist.role @server") - from);
  const std::string three = "dtype = 3 : i32, shape = array<i64: ";
  const std::string four = ">, value = 4.000000e+00 : f32} : () -> tensor<",
                    none = "Out(\"geo_none\") {" + three,
                    zero = ">, value = 0.000000e+00 : f32} : () -> tensor<";
  // The counter is of two numbers, what it is compared with of one.
  for (const auto& [one, two] : std::vector<std::pair<std::string, std::string>>{
           {"tensor<1xi64>", "tensor<2xi64>"},
           {"tensor<1xi1>", "tensor<2xi1>"},
           {"int64 [1]", "int64 [2]"},
           {"bool [1]", "bool [2]"},
           {three + "1", three + "2"},
           {three + "2" + four + "2xi64>", three + "1" + four + "1xi64>"},
           {none + "2" + zero + "2xi64>", none + "1" + zero + "1xi64>"},
           {"(tensor<2xi64>, tensor<2xi64>)", "(tensor<2xi64>, tensor<1xi64>)"}})
    for (size_t at = trainer.find(one); at != std::string::npos; at = trainer.find(one, at + 1))
      trainer.replace(at, one.size(), two);
  text.replace(from, text.find("dist.role @server") - from, trainer);
  Jobs jobs;
  const auto job = jobs.parse(text);
  const Rung rung = verifyRelations(*job);
  INFO(messagesOf(rung));
  CHECK(rung.verdict == Verdict::Refuted);
  CHECK(messagesOf(rung).find("something else than one number of 64 bits") != std::string::npos);
}

TEST_CASE("how requests wait, the contract says") {
  const std::string merging = "rpc @server {dist.sending = {max_merge_var_num = 2 : i64}}";
  checkChanged({
      {"async_server",
       "two gradients are one push",
       {"dist.comm @ps"},
       "rpc @server",
       merging,
       Level::Refuted,
       "contract",
       "up to 2 gradients of a trainer, added up, are one push"},
      {"async_server",
       "trainers do not wait for what they have pushed",
       {"dist.comm @ps"},
       "rpc @server",
       "rpc @server {dist.sending = {independent_recv_thread}}",
       Level::Refuted,
       "contract",
       "they pulled before their last pushes"},
      {"async_server",
       "a gradient passes those that wait",
       {kTrainer, "dist.push %fc_0.w_0.grad to @server::@fc_0.w_0 merge each on @ps"},
       "",
       " {dist.at_once}",
       Level::Refuted,
       "push",
       "is no signal that counts steps"},
      {"async_server",
       "rows of a gradient that are zero do not travel",
       {kTrainer, "dist.push %fc_0.w_0.grad to @server::@fc_0.w_0 merge each on @ps"},
       "",
       " {dist.changed_rows}",
       Level::Refuted,
       "push",
       "sends the rows that are not zero"},
      {"async_server",
       "rows are taken to be the trainer's own",
       {kTrainer, "dist.pull @server::@fc_0.w_0 on @ps"},
       "",
       " {dist.known = @fc_0.w_0}",
       Level::Refuted,
       "pull",
       "which need not be what the server has"},
      {"geo_server",
       "rows are known at start-up",
       {kTrainer, "pd.program @startup", "dist.pull @server::@fc_0.w_0 on @ps"},
       "",
       " {dist.known = @fc_0.w_0}",
       Level::Refuted,
       "pull",
       "which need not be what the server has"},
  });
}

TEST_CASE("what an exchange computes has names of its own") {
  checkChanged({
      {"geo_server",
       "the name of a value of the step",
       {kTrainer},
       "Out(\"fc_0.b_0.way\")",
       "Out(\"fc_0.tmp_0\")",
       Level::Refuted,
       "name",
       "`fc_0.tmp_0`, which the reference computes"},
      {"geo_server",
       "the name of a variable",
       {kTrainer},
       "Out(\"fc_0.b_0.way\")",
       "Out(\"learning_rate_0\")",
       Level::Refuted,
       "name",
       "the variable `learning_rate_0`, which is not set to it"},
      {"geo_server",
       "the name of a feed",
       {kTrainer},
       "Out(\"fc_0.b_0.way\")",
       "Out(\"x\")",
       Level::Refuted,
       "name",
       "the feed `x`"},
      {"geo_server",
       "on a server, the name of another table",
       {"dist.role @server", "dist.handle push @fc_0.b_0"},
       "Out(\"fc_0.b_0\")",
       "Out(\"fc_0.w_0\")",
       Level::Refuted,
       "name",
       "the variable `fc_0.w_0`, which is not set to it"},
  });
}

}  // namespace dtranspile::verify::test

// A manifest that asks for something else than the job does: features that were left out or that
// nobody asked for, other numbers of them. What the module shows, rung 1 compares.
#include "compiler/artifact/job.h"
#include "test/compiler/verify/mutations/edits.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

struct Row {
  const char* program;
  std::function<void(Strategy&)> change;
  Json asked;  // of the fields that the row is about, as they are right
  const char* field;
  Json wrong;
  const char* says;
};

const char* const kPlain = "fluid18/mnist_mlp";
const char* const kStages = "static26/mlp_stages";  // with two devices

void nothing(Strategy&) {}
void pipelined(Strategy& s) {
  s.pipeline = true;
  s.accumulate_steps = 2;
}
void sharded(Strategy& s) {
  s.sharding = true;
  s.sharding_degree = 2;
}
void parted(Strategy& s) {
  sharded(s);
  s.sharding_stage = 3;
}
void split(Strategy& s) {
  s.tensor_parallel = true;
  s.tensor_parallel_degree = 2;
}
void halved(Strategy& s) { s.fp16_allreduce = true; }
void compressed(Strategy& s) {
  s.dgc = true;
  s.dgc_min_size = 1;
  s.sparsity = {"0.75"};
}
void changed(Strategy& s) {
  s.recompute = true;
  s.recompute_checkpoints = {"sqrt"};
}
void served(Strategy& s) {
  s.mode = "pserver";
  s.pservers = {"2"};
  s.preset = "async";
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      // Left out.
      {kPlain, nothing, {{"lamb", false}}, "lamb", true, "declares no change of pass lamb"},
      {kPlain, nothing, {{"amp", false}}, "amp", true, "declares no change of pass amp"},
      {kPlain, nothing, {{"gradient_merge", false}}, "gradient_merge", true, "gradient-merge"},
      {kPlain, nothing, {{"sharding", false}}, "sharding", true, "was made with false"},
      {kPlain, nothing, {{"pipeline", false}}, "pipeline", true, "was made with false"},
      {kPlain, nothing, {{"tensor_parallel", false}}, "tensor_parallel", true, "with false"},
      {kPlain, nothing, {{"fp16_allreduce", false}}, "fp16_allreduce", true, "with false"},
      {kPlain, nothing, {{"dgc", false}, {"dgc_min_size", 1}}, "dgc", true, "with false"},
      {kPlain, nothing, {{"adaptive_localsgd", false}}, "adaptive_localsgd", true, "with false"},
      {kPlain, nothing, {{"scale_strategy", "avg"}}, "scale_strategy", "sum", "with \"avg\""},
      {kPlain, nothing, {{"mode", "collective"}}, "mode", "pserver", "with \"collective\""},
      {kPlain,
       nothing,
       {{"use_hierarchical_allreduce", false}},
       "use_hierarchical_allreduce",
       true,
       "with false"},
      {"static26/resnet_thin",
       nothing,
       {{"sync_batch_norm", false}},
       "sync_batch_norm",
       true,
       "with false"},
      // Not asked for.
      {kPlain, changed, {{"recompute", true}}, "recompute", false, "declares the change"},
      {kPlain,
       changed,
       {{"recompute", true}, {"recompute_offload", false}},
       "recompute_offload",
       true,
       "asked for"},
      {kPlain, halved, {{"fp16_allreduce", true}}, "fp16_allreduce", false, "with true"},
      {kPlain, compressed, {{"dgc", true}}, "dgc", false, "with true"},
      {kPlain, sharded, {{"sharding", true}}, "sharding", false, "with true"},
      // Otherwise.
      {kPlain,
       compressed,
       {{"dgc", true}, {"sparsity", {"0.75"}}},
       "sparsity",
       {"0.5"},
       "the contract \"dgc\" lists fc_"},
      {kPlain,
       sharded,
       {{"sharding", true}, {"sharding_degree", 2}},
       "sharding_degree",
       4,
       "with 2"},
      {kPlain, parted, {{"sharding", true}, {"sharding_stage", 3}}, "sharding_stage", 1, "with 3"},
      {kStages,
       pipelined,
       {{"pipeline", true}, {"schedule_mode", "1F1B"}},
       "schedule_mode",
       "F-then-B",
       "with \"1F1B\""},
      {kStages, pipelined, {{"pipeline", true}, {"stages", 0}}, "stages", 4, "with 2"},
      {kStages,
       pipelined,
       {{"pipeline", true}, {"virtual_stages", 1}},
       "virtual_stages",
       2,
       "with 1"},
      {kStages, pipelined, {{"accumulate_steps", 2}}, "accumulate_steps", 4, "with 2"},
      {kPlain,
       nothing,
       {{"batch_dims", {"img=0"}}},
       "batch_dims",
       {"img=none"},
       "with [\"img=0\"]"},
      {kStages, split, {{"tensor_parallel_degree", 2}}, "tensor_parallel_degree", 4, "with 2"},
      {kPlain, served, {{"mode", "pserver"}, {"pservers", {"2"}}}, "pservers", {"3"}, "with \"2\""},
      {kPlain,
       served,
       {{"mode", "pserver"}, {"preset", "async"}},
       "preset",
       "sync",
       "with \"async\""},
      {kPlain,
       served,
       {{"preset", "async"}, {"enable_dc_asgd", false}},
       "enable_dc_asgd",
       true,
       "with false"},
  };
  return all;
}

}  // namespace

TEST_CASE("a request that is not what the job does is refuted") {
  Jobs jobs;
  for (const Row& row : rows()) {
    INFO(row.program << " " << row.field << " " << row.wrong.dump());
    Strategy strategy = unfused(4);
    row.change(strategy);
    auto job = jobs.make(row.program, strategy);
    const Json right = makeManifest(*job, row.asked);
    VerifyReport verified = verifyJob(*job, &right);
    INFO(messagesOf(verified));
    CHECK(verified.overall() == Verdict::Holds);
    Json asked = row.asked;
    asked[row.field] = row.wrong;
    const Json manifest = makeManifest(*job, asked);
    VerifyReport report = verifyJob(*job, &manifest);
    CHECK_THAT(refuted(report, "manifest").text, Contains(row.says));
  }
}

}  // namespace dtranspile::verify::test

// Strategy files: those that the framework writes come back byte for byte; what cannot be read is
// refused with its place.
#include "compiler/strategy/file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/strategy/request.h"

namespace dtranspile {
namespace {

std::string contentOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

StrategyFile mustRead(llvm::StringRef text) {
  Findings findings;
  std::optional<StrategyFile> file = StrategyFile::read(text, findings);
  for (const Finding& each : findings) UNSCOPED_INFO(each.message);
  REQUIRE(file);
  return *file;
}

// The errors of a text that is refused.
Findings refused(llvm::StringRef text) {
  Findings findings;
  CHECK_FALSE(StrategyFile::read(text, findings));
  CHECK(hasError(findings));
  return findings;
}

void checkError(const Findings& findings, size_t index, Place place, const std::string& message) {
  REQUIRE(index < findings.size());
  CHECK(findings[index].message == message);
  CHECK(findings[index].place.line == place.line);
  CHECK(findings[index].place.column == place.column);
}

TEST_CASE("what the framework writes is written again byte for byte") {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator("test/compiler/strategy/framework")) {
    INFO(entry.path().string());
    const std::string text = contentOf(entry.path());
    const std::string once = mustRead(text).write();
    CHECK(once == text);
    CHECK(mustRead(once).write() == once);
    ++count;
  }
  CHECK(count == 57);
}

TEST_CASE("an empty file says nothing") {
  CHECK(mustRead("").said().empty());
  CHECK(mustRead("# only a comment\n").write().empty());
}

TEST_CASE("entries have their path, value and place") {
  const StrategyFile file = mustRead(
      "amp: true\n"
      "amp_configs { decr_ratio: 0.8 custom_white_list: ['a', 'b']\n"
      "  custom_white_list: \"c\" }\n"
      "downpour_table_param { shard_num: 1 }\n"
      "downpour_table_param { type: PS_DENSE_TABLE }\n");
  REQUIRE(file.find("amp_configs.decr_ratio"));
  CHECK(file.find("amp_configs.decr_ratio")->text() == "0.8");
  CHECK(file.find("amp_configs.decr_ratio")->place == Place{2, 15});
  CHECK(file.find("amp_configs.custom_white_list")->text() == "[\"a\", \"b\", \"c\"]");
  CHECK(file.find("downpour_table_param[1].type")->text() == "PS_DENSE_TABLE");
  CHECK(file.find("downpour_table_param[1].type")->place == Place{5, 24});
  CHECK_FALSE(file.find("lars"));
}

TEST_CASE("unknown names are all found, each with a suggestion") {
  const Findings findings = refused(
      "larz: true  # larz\n"
      "lars_coeff: 0.1\n"
      "amp_configs {\n"
      "  amp: true\n"
      "  init_los_scaling: 3\n"
      "}\n"
      "nothing_like_it { a: 1 b { c: 2 } }\n");
  REQUIRE(findings.size() == 5);
  checkError(findings, 0, {1, 1}, "DistributedStrategy has no field 'larz'; did you mean 'lars'?");
  checkError(findings, 1, {2, 1},
             "DistributedStrategy has no field 'lars_coeff'; it is a field of lars_configs");
  checkError(findings, 2, {4, 3},
             "AMPConfig has no field 'amp'; it is a field of DistributedStrategy itself");
  checkError(findings, 3, {5, 3},
             "AMPConfig has no field 'init_los_scaling'; did you mean 'init_loss_scaling'?");
  checkError(findings, 4, {7, 1}, "DistributedStrategy has no field 'nothing_like_it'");
}

TEST_CASE("what is no text of the message is refused with its place") {
  for (const char* text :
       {"lars", "lars: ", "lars: 3", "lars: true lars: false", "lars_configs {", "}",
        "lars_configs { lars_coeff: x }", "mode: NOTHING", "nccl_comm_num: 99999999999",
        "nccl_comm_num: -0x80000001", "\x01", "lars_configs: [ { } ]",
        "recompute_configs { checkpoints: 'a", "[paddle.ext]: 1", "1: true"}) {
    INFO(text);
    const Findings findings = refused(text);
    CHECK(findings[0].place.line == 1);
  }
}

TEST_CASE("hostile texts end") {
  refused(std::string(1 << 21, ' '));
  refused(std::string(100000, '{'));
  std::string nested, unknown;
  for (int i = 0; i < 20000; ++i) nested += "x {", unknown += "x" + std::to_string(i) + ": 1\n";
  refused(nested);
  CHECK(refused(unknown).size() == 20000);
}

TEST_CASE("older spellings become what they mean") {
  Findings findings;
  const auto file = StrategyFile::read(
      "sharding_configs { fuse_broadcast_MB: 16 sharding_group_size: 4 hybrid_dp: true }\n"
      "pipeline_configs { micro_batch: 8 }\n"
      "gradient_scale_configs { avg_loss: true }\n",
      findings);
  REQUIRE(file);
  CHECK(findings.size() == 4);
  CHECK_FALSE(hasError(findings));
  CHECK(file->write() ==
        "pipeline_configs {\n  accumulate_steps: 8\n}\n"
        "sharding_configs {\n  segment_broadcast_MB: 16\n  sharding_degree: 4\n  hybrid_dp: "
        "true\n}\n"
        "gradient_scale_configs {\n  scale_gradient: false\n}\n");
  CHECK(file->find("sharding_configs.sharding_degree")->place == Place{1, 42});

  const Findings twice = refused("pipeline_configs { accumulate_steps: 2\nmicro_batch: 8 }");
  CHECK(twice[0].place == Place{2, 1});
  REQUIRE(twice[0].related.size() == 1);
  CHECK(twice[0].related[0].first == Place{1, 20});
}

TEST_CASE("flags override the file, the file the defaults") {
  const StrategyFile file = mustRead("nccl_comm_num: 3\nfuse_grad_size_in_MB: 16\n");
  Strategy flags;
  flags.nccl_comm_num = 2;
  flags.trainers = 4;
  const Request request = makeRequest(&file, flags, {"nccl_comm_num", "trainers"});
  CHECK(request.findings.empty());
  CHECK(request.strategy.nccl_comm_num == 2);
  CHECK(request.strategy.fuse_grad_size_in_MB == 16);
  CHECK(request.originOf("nccl_comm_num").kind == Origin::Kind::Flag);
  CHECK(request.originOf("fuse_grad_size_in_MB").place == Place{2, 1});
  CHECK(request.originOf("sync_batch_norm").kind == Origin::Kind::Default);
}

// The fields that a text sets in mode pserver, with two servers.
Strategy served(llvm::StringRef text) {
  const StrategyFile file = mustRead(text);
  Strategy flags;
  flags.pservers = {"2"};
  return makeRequest(&file, flags, {"pservers"}).strategy;
}

TEST_CASE("a_sync says how servers work") {
  CHECK(served("mode: PS").sync_mode);
  CHECK(served("mode: PS a_sync: false").sync_mode);
  CHECK_FALSE(served("mode: PS a_sync: true").sync_mode);
  CHECK_FALSE(served("mode: PS a_sync: true a_sync_configs { k_steps: 0 }").geo_sgd_mode);
  const Strategy geo = served("mode: PS a_sync: true a_sync_configs { k_steps: 7 }");
  CHECK(geo.geo_sgd_mode);
  CHECK(geo.geo_sgd_need_push_nums == 7);
}

TEST_CASE("a_sync_configs says how gradients wait") {
  const Strategy queues = served(
      "mode: PS a_sync: true a_sync_configs { k_steps: 0 max_merge_var_num: 4 send_queue_size: 8 "
      "independent_recv_thread: true min_send_grad_num_before_recv: 3 thread_pool_size: 2 "
      "send_wait_times: 6 }");
  CHECK(queues.max_merge_var_num == 4);
  CHECK(queues.send_queue_size == 8);
  CHECK(queues.independent_recv_thread);
  CHECK(queues.min_send_grad_num_before_recv == 3);
  CHECK(queues.thread_pool_size == 2);
  CHECK(queues.send_wait_times == 6);
}

}  // namespace
}  // namespace dtranspile

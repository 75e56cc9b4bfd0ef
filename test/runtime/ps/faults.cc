#include "test/runtime/ps/faults.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "runtime/base/status.h"

namespace dtranspile::ps::test {

using comm::test::Now;
using exec::Merge;
using exec::Phase;

const std::vector<Variable>& Variables() {
  static const std::vector<Variable> list = {
      {"w", DType::kFloat32, {8, 2}, LayoutOf(exec::LayoutKind::kBlocks, {8, 2}, 0, 2)}};
  return list;
}

std::vector<std::vector<float>> Initial() { return {std::vector<float>(16, 1.0F)}; }

absl::Status Train(const ClientOptions& options, int rounds, const Disturb& disturb) {
  const auto at = [&](int round, At place) {
    if (disturb) disturb(round, place);
  };
  DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(options));
  const auto run = [&]() -> absl::Status {
    std::vector<float> values(16);
    float expected = 1.0F;
    for (int round = 0; round < rounds; ++round) {
      at(round, At::kBegin);
      std::fill(values.begin(), values.end(), static_cast<float>(options.rank));
      DT_RETURN_IF_ERROR(client->Push(
          Variables()[0].request(), Merge::kSum,
          {DType::kFloat32, {8, 2}, reinterpret_cast<const std::byte*>(values.data())}));
      at(round, At::kPushed);
      DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPush));
      at(round, At::kPushesEnded);
      DT_RETURN_IF_ERROR(
          client->Pull(Variables()[0].request(),
                       {DType::kFloat32, {8, 2}, reinterpret_cast<std::byte*>(values.data())}));
      at(round, At::kPulled);
      expected -= static_cast<float>(options.ranks * (options.ranks - 1) / 2);
      for (const float value : values)
        if (value != expected) return absl::InternalError("a wrong value");
      DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPull));
    }
    at(rounds, At::kEnd);
    return client->Leave();
  };
  const absl::Status status = run();
  if (!status.ok()) client->Abort(std::string(status.message()));
  return status;
}

absl::Status ServeDisturbed(const ServerOptions& options, const std::function<void(int)>& before) {
  Part part = PartOf(Variables()[0], Initial()[0], options.server, options.servers);
  DT_ASSIGN_OR_RETURN(const auto server, Server::Make(options));
  DT_RETURN_IF_ERROR(server->Open({part.table}, {}));
  const auto run = [&]() -> absl::Status {
    while (true) {
      DT_ASSIGN_OR_RETURN(const exec::Turn turn, server->Next());
      if (turn.kind == exec::Turn::Kind::kEnd) return absl::OkStatus();
      before(static_cast<int>(turn.round));
      std::vector<float> merged(part.values.size());
      DT_RETURN_IF_ERROR(server->Merged(
          "w", -1,
          {DType::kFloat32, part.table.dims, reinterpret_cast<std::byte*>(merged.data())}));
      for (size_t i = 0; i < merged.size(); ++i) part.values[i] -= merged[i];
      server->Finish(absl::OkStatus());
    }
  };
  const absl::Status status = run();
  if (!status.ok()) server->Abort(std::string(status.message()));
  return status;
}

std::string ServeText(const ServerOptions& options) {
  return Text(Serve(options, Variables(), Initial(), 1.0F));
}

void RequireFailure(const TestJob& job, const Failure& failure,
                    const std::function<std::string(int)>& trainer,
                    const std::function<std::string(int)>& server) {
  const double begin = Now();
  const auto outcomes = job.Run(trainer, server, failure.lost);
  const double took = Now() - begin;
  for (int i = 0; i < job.trainers + job.servers; ++i) {
    if (std::find(failure.lost.begin(), failure.lost.end(), i) != failure.lost.end()) continue;
    const auto& outcome = outcomes[static_cast<size_t>(i)];
    INFO("process " << i << ": " << outcome.text);
    CHECK_FALSE(outcome.late);
    CHECK(outcome.signal == 0);
    CHECK(!outcome.text.empty());
    bool said = false;
    for (const std::string& one : failure.says) said |= outcome.text.find(one) != std::string::npos;
    CHECK(said);
  }
  CHECK(took >= failure.at_least);
  // Processes that start and end on a machine with other work.
  constexpr double kBusy = 4;
  CHECK(took <= failure.at_most + kBusy);
}

Disturb Do(int round, At at, const std::function<void()>& what) {
  return [=](int r, At a) {
    if (r == round && a == at) what();
  };
}

}  // namespace dtranspile::ps::test

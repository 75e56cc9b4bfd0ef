// Values between ranks that are threads of this process, over every back end of the host.
#include "runtime/exec/value_collective.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <thread>

#include "runtime/comm/gloo/store.h"

namespace dtranspile::exec {
namespace {

// That of the test case.
std::string backEnd = "shm";

// What every rank's `body` returned.
std::vector<absl::Status> OnRanks(
    int size, const std::function<absl::Status(int, comm::Communicator&)>& body) {
  static int jobs = 0;
  comm::Rendezvous rendezvous;
  rendezvous.backend = backEnd;
  rendezvous.job =
      "value_collective_test." + std::to_string(getpid()) + "." + std::to_string(jobs++);
  rendezvous.timeout_seconds = 20;
  std::unique_ptr<comm::StoreServer> store;
  if (backEnd == "gloo") {
    rendezvous.token = "00112233445566778899aabbccddeeff";
    auto started = comm::StoreServer::Start("127.0.0.1:0", rendezvous.token);
    REQUIRE(started.ok());
    store = *std::move(started);
    rendezvous.store = store->address();
  }
  std::vector<absl::Status> statuses(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      auto comm = comm::Join(rendezvous, "g", rank, size);
      statuses[static_cast<size_t>(rank)] = comm.ok() ? body(rank, **comm) : comm.status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return statuses;
}

absl::Status Exchange(comm::Kind kind, comm::Communicator& comm, Value& input, Value& output) {
  ValueCollective collective(comm, kind, comm::ReduceOp::kSum, "w@GRAD", "0:7 all_reduce", input,
                             output);
  for (int step = 0; step < 2; ++step) {
    auto ticket = collective.Start();
    if (!ticket.ok()) return ticket.status();
    if (absl::Status status = collective.Finish(*ticket); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Reduce(comm::Communicator& comm, Value& input, Value& output) {
  return Exchange(comm::Kind::kAllReduce, comm, input, output);
}

Value Rows(std::vector<int64_t> rows, int64_t width, int64_t height, float first) {
  Value value(Value::Kind::kRows, DType::kFloat32);
  REQUIRE(value.Resize({static_cast<int64_t>(rows.size()), width}).ok());
  for (int64_t i = 0; i < value.count(); ++i) value.as<float>()[i] = first + static_cast<float>(i);
  value.rows = std::move(rows);
  value.height = height;
  return value;
}

void AllSay(const std::vector<absl::Status>& statuses, const std::string& words) {
  for (const absl::Status& status : statuses) {
    CHECK(absl::IsInvalidArgument(status));
    CHECK_THAT(std::string(status.message()),
               Catch::Contains("'w@GRAD'") && Catch::Contains(words));
  }
}

TEST_CASE("SelectedRows of all ranks stand one after the other, those of a rank without rows too") {
  backEnd = GENERATE("shm", "gloo");
  INFO(backEnd);
  std::vector<Value> outputs(3);
  for (Value& output : outputs) output = Value(Value::Kind::kRows, DType::kFloat32);
  const auto statuses = OnRanks(3, [&](int rank, comm::Communicator& comm) {
    Value input = rank == 0   ? Rows({4, 1}, 2, 6, 10)
                  : rank == 1 ? Rows({}, 2, 6, 0)
                              : Rows({5, 4, 4}, 2, 6, 20);
    return Reduce(comm, input, outputs[static_cast<size_t>(rank)]);
  });
  for (size_t rank = 0; rank < 3; ++rank) {
    REQUIRE(statuses[rank].ok());
    const Value& out = outputs[rank];
    CHECK(out.rows == std::vector<int64_t>{4, 1, 5, 4, 4});
    CHECK(out.dims == std::vector<int64_t>{5, 2});
    CHECK(out.height == 6);
    CHECK(std::vector<float>(out.as<float>(), out.as<float>() + 10) ==
          std::vector<float>{10, 11, 12, 13, 20, 21, 22, 23, 24, 25});
  }
}

TEST_CASE("tensors of extents that agree are summed, in place too") {
  backEnd = GENERATE("shm", "gloo");
  INFO(backEnd);
  std::vector<float> firsts(2);
  const auto statuses = OnRanks(2, [&](int rank, comm::Communicator& comm) {
    Value input;
    if (!input.Resize({3, 2}).ok()) return absl::InternalError("memory");
    std::fill_n(input.as<float>(), 6, static_cast<float>(rank + 1));
    ValueCollective collective(comm, comm::Kind::kAllReduce, comm::ReduceOp::kSum, "w@GRAD",
                               "0:7 all_reduce", input, input);
    auto ticket = collective.Start();
    const absl::Status status = ticket.ok() ? collective.Finish(*ticket) : ticket.status();
    firsts[static_cast<size_t>(rank)] = input.as<float>()[5];
    return status;
  });
  for (const absl::Status& status : statuses) CHECK(status.ok());
  CHECK(firsts == std::vector<float>{3, 3});
}

TEST_CASE("tensors of different numbers of rows are gathered, the first rank's first") {
  backEnd = GENERATE("shm", "gloo");
  INFO(backEnd);
  std::vector<Value> outputs(3);
  const auto statuses = OnRanks(3, [&](int rank, comm::Communicator& comm) {
    Value input;
    const int64_t rows = rank == 0 ? 2 : rank == 1 ? 0 : 1;
    if (!input.Resize({rows, 2}).ok()) return absl::InternalError("memory");
    std::fill_n(input.as<float>(), 2 * rows, static_cast<float>(rank + 1));
    return Exchange(comm::Kind::kAllGather, comm, input, outputs[static_cast<size_t>(rank)]);
  });
  for (size_t rank = 0; rank < 3; ++rank) {
    REQUIRE(statuses[rank].ok());
    const Value& out = outputs[rank];
    CHECK(out.dims == std::vector<int64_t>{3, 2});
    CHECK(std::vector<float>(out.as<float>(), out.as<float>() + 6) ==
          std::vector<float>{1, 1, 1, 1, 3, 3});
  }
  AllSay(OnRanks(2,
                 [](int rank, comm::Communicator& comm) {
                   Value input, output;
                   if (!input.Resize({1, rank + 2}).ok()) return absl::InternalError("memory");
                   return Exchange(comm::Kind::kAllGather, comm, input, output);
                 }),
         "float32[1, 3]");
}

TEST_CASE("ranks that differ all say so, and none waits") {
  backEnd = GENERATE("shm", "gloo");
  INFO(backEnd);
  const auto rows = [](int64_t width, int64_t height) {
    return OnRanks(2, [&](int rank, comm::Communicator& comm) {
      Value input = Rows({0}, rank == 0 ? 2 : width, rank == 0 ? 6 : height, 0),
            output(Value::Kind::kRows, DType::kFloat32);
      return Reduce(comm, input, output);
    });
  };
  AllSay(rows(3, 6), "rows of 3 elements in a height of 6");
  AllSay(rows(2, 7), "rows of 2 elements in a height of 7");
  AllSay(OnRanks(2,
                 [](int rank, comm::Communicator& comm) {
                   Value input, output;
                   if (!input.Resize({2, rank + 1}).ok()) return absl::InternalError("memory");
                   return Reduce(comm, input, output);
                 }),
         "[2, 2]");
  AllSay(OnRanks(2,
                 [](int rank, comm::Communicator& comm) {
                   Value input = Rows({rank == 0 ? 0 : 9}, 1, 6, 0),
                         output(Value::Kind::kRows, DType::kFloat32);
                   return Reduce(comm, input, output);
                 }),
         "row 9 of 6");
}

}  // namespace
}  // namespace dtranspile::exec

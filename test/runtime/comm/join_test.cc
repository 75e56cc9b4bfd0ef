// Join's own checks, and back ends that cannot work here.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runtime/comm/communicator.h"

namespace dtranspile::comm::test {
namespace {

TEST_CASE("join refuses what makes no sense, by name") {
  struct Row {
    const char* backend;
    int rank, size;
    double timeout;
    const char* says;
  };
  const Row rows[] = {
      {"shm", 0, 0, 1, "rank 0 is not one of 0"},
      {"shm", 2, 2, 1, "rank 2 is not one of 2"},
      {"shm", -1, 2, 1, "rank -1 is not one of 2"},
      {"shm", 0, 1, 0, "a deadline of 0 s is not between 0 and 1e+06"},
      {"shm", 0, 1, -3, "a deadline of -3 s"},
      {"shm", 0, 1, 1e18, "a deadline of 1e+18 s"},
      {"mpi", 0, 1, 1, "back end 'mpi' is unknown; there are shm, gloo, nccl"},
      {"shm", 0, 1000, 1, "shared memory serves at most 512"},
  };
  for (const Row& row : rows) {
    Rendezvous rendezvous;
    rendezvous.backend = row.backend;
    rendezvous.timeout_seconds = row.timeout;
    const absl::Status status = Join(rendezvous, "g", row.rank, row.size).status();
    CHECK(absl::IsInvalidArgument(status));
    CHECK_THAT(std::string(status.message()), Catch::Contains(row.says));
  }
}

TEST_CASE("a group of one needs nobody") {
  for (const char* backend : {"shm", "gloo"}) {
    Rendezvous rendezvous;
    rendezvous.backend = backend;
    rendezvous.job = "join_test." + std::to_string(getpid());
    absl::StatusOr<std::unique_ptr<Communicator>> comm = Join(rendezvous, "alone", 0, 1);
    REQUIRE(comm.ok());
    CHECK(std::string((*comm)->backend()) == backend);
    CHECK((*comm)->size() == 1);
    CHECK((*comm)->bytes_sent() == 0);
    CHECK((*comm)->Wait(7).message() ==
          "ticket 7 of group alone was never given or has been waited for");
  }
}

TEST_CASE("addresses that are none are refused as they are written") {
  const std::pair<const char*, const char*> kStores[] = {
      {"nowhere", "the address 'nowhere' is not of the form host:port"},
      {":12", "the address ':12' is not of the form host:port"},
      {"127.0.0.1:", "the address '127.0.0.1:' is not of the form host:port"},
      {"127.0.0.1:http", "the address '127.0.0.1:http': "},
  };
  for (const auto& [store, says] : kStores) {
    Rendezvous rendezvous;
    rendezvous.backend = "gloo";
    rendezvous.store = store;
    rendezvous.token = "00112233445566778899aabbccddeeff";
    rendezvous.timeout_seconds = 5;
    CHECK_THAT(std::string(Join(rendezvous, "g", 0, 2).status().message()), Catch::Contains(says));
  }
}

TEST_CASE("nccl without a GPU fails by name") {
  if (access("/dev/nvidia0", F_OK) == 0) {
    WARN("skipped: this machine has a GPU");
    return;
  }
  Rendezvous rendezvous;
  rendezvous.backend = "nccl";
  const absl::Status status = Join(rendezvous, "g", 0, 1).status();
  CHECK(absl::IsFailedPrecondition(status));
  CHECK_THAT(std::string(status.message()), Catch::Contains("no CUDA driver: libcuda.so.1"));
}

}  // namespace
}  // namespace dtranspile::comm::test

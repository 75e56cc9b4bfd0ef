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
      {"shm", 0, 1, 0, "a deadline of 0 s"},
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

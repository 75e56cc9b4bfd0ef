// The conformance suite over shared memory, and what only shared memory has: files that must not
// stay.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/comm/shm/communicator.h"
#include "test/runtime/comm/conformance.h"
#include "test/runtime/comm/processes.h"
#include "test/runtime/comm/reference.h"

namespace dtranspile::comm::test {
namespace {

std::string NewJob() {
  static int jobs = 0;
  return "test/" + std::to_string(getpid()) + "." + std::to_string(jobs++);
}

Rendezvous NewRendezvous() {
  Rendezvous rendezvous;
  rendezvous.job = NewJob();
  rendezvous.timeout_seconds = 30;
  return rendezvous;
}

// Names in /dev/shm that belong to tests of this process.
int FilesLeft(const char* folder = "/dev/shm") {
  const std::string mine = "dtranspile+test%2F" + std::to_string(getpid()) + ".";
  DIR* listing = opendir(folder);
  REQUIRE(listing != nullptr);
  int count = 0;
  while (const dirent* entry = readdir(listing))
    count += std::strncmp(entry->d_name, mine.c_str(), mine.size()) == 0;
  closedir(listing);
  return count;
}

TEST_CASE("shm conforms") {
  const BackEnd back_end = {JoinShm, NewRendezvous, 1100 << 10};
  for (const ConformanceCase& one : ConformanceCases()) {
    DYNAMIC_SECTION(one.name) {
      one.run(back_end);
      CHECK(FilesLeft() == 0);
    }
  }
}

TEST_CASE("shm: nothing stays when all ranks are killed") {
  const Rendezvous rendezvous = NewRendezvous();
  RunRanks(3, [&](int rank) -> std::string {
    auto comm = JoinShm(rendezvous, "world", rank, 3);
    kill(getpid(), SIGKILL);
    return "";
  });
  CHECK(FilesLeft() == 0);
}

TEST_CASE(
    "shm: what is left of a group that never met can be removed, and does not disturb the next "
    "one") {
  // A folder of its own: in /dev/shm any command that starts would remove it.
  char folder[] = "/dev/shm/dtranspile-test-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  Rendezvous rendezvous = NewRendezvous();
  rendezvous.store = folder;
  const auto killed_while_joining = [&] {
    RunRanks(1, [&](int) -> std::string {
      alarm(1);  // ends the process
      return JoinShm(rendezvous, "world", 0, 2).status().ToString();
    });
  };
  killed_while_joining();
  CHECK(FilesLeft(folder) == 1);
  SECTION("a launcher removes it") {
    CHECK(RemoveSegments("another job", folder) == 0);
    CHECK(RemoveSegments(rendezvous.job, folder) == 1);
  }
  SECTION("so does the launcher of a later job, but nothing that is in use") {
    RequireRanks(1, [&](int) -> std::string {
      Rendezvous other = NewRendezvous();
      other.store = folder;
      other.timeout_seconds = 1;
      std::thread joins([&] { (void)JoinShm(other, "world", 0, 2); });
      usleep(300'000);
      const int removed = RemoveLeftSegments(folder), left = FilesLeft(folder);
      joins.join();
      return removed == 1 && left == 1
                 ? ""
                 : "removed " + std::to_string(removed) + ", left " + std::to_string(left);
    });
  }
  SECTION("a job of the same name takes its place") {
    RequireRanks(2, [&](int rank) -> std::string {
      if (rank == 0) usleep(300'000);  // rank 1 meets the old file first
      auto comm = JoinShm(rendezvous, "world", rank, 2);
      return comm.ok() ? RunTrial(**comm, Trial{}) : comm.status().ToString();
    });
  }
  CHECK(FilesLeft(folder) == 0);
  rmdir(folder);
}

TEST_CASE("shm: ranks that disagree about the group") {
  const Rendezvous rendezvous = NewRendezvous();
  Rendezvous shorter = rendezvous;
  shorter.timeout_seconds = 1;
  SECTION("on its size") {
    const auto outcomes = RunRanks(
        2, [&](int rank) { return JoinShm(shorter, "world", rank, 2 + rank).status().ToString(); });
    CHECK_THAT(outcomes[1].text, Catch::Contains("has 2 ranks for rank 0, but 3 for rank 1"));
  }
  SECTION("on who is who") {
    const auto outcomes = RunRanks(3, [&](int rank) {
      if (rank == 2) usleep(300'000);
      return JoinShm(shorter, "world", rank == 2 ? 1 : rank, 3).status().ToString();
    });
    CHECK_THAT(outcomes[2].text, Catch::Contains("rank 1 of group world is already process"));
  }
  SECTION("a job name in use") {
    const auto outcomes = RunRanks(2, [&](int rank) {
      if (rank == 1) usleep(300'000);
      return JoinShm(shorter, "world", 0, 3).status().ToString();
    });
    CHECK_THAT(outcomes[1].text, Catch::Contains("does another job have the same name"));
  }
  CHECK(FilesLeft() == 0);
}

TEST_CASE("shm: a file of the wrong content is not joined") {
  Rendezvous rendezvous = NewRendezvous();
  rendezvous.timeout_seconds = 0.5;
  const std::string path = "/dev/shm/dtranspile+test%2F" + rendezvous.job.substr(5) + "+world";
  const int fd = open(path.c_str(), O_CREAT | O_RDWR, 0600);
  REQUIRE(fd >= 0);
  SECTION("empty") {}
  SECTION("noise") {
    const std::string noise(1 << 20, '\xee');
    REQUIRE(write(fd, noise.data(), noise.size()) == static_cast<ssize_t>(noise.size()));
  }
  const auto outcomes =
      RunRanks(1, [&](int) { return JoinShm(rendezvous, "world", 1, 2).status().ToString(); });
  CHECK_THAT(outcomes[0].text, Catch::Contains("DEADLINE_EXCEEDED"));
  // Rank 0 replaces it.
  RequireRanks(2, [&](int rank) -> std::string {
    auto comm = JoinShm(rendezvous, "world", rank, 2);
    return comm.ok() ? RunTrial(**comm, Trial{}) : comm.status().ToString();
  });
  close(fd);
  CHECK(FilesLeft() == 0);
}

TEST_CASE("shm: a folder without room or rights is an error") {
  Rendezvous rendezvous = NewRendezvous();
  rendezvous.store = "/proc";
  const auto outcomes =
      RunRanks(1, [&](int) { return JoinShm(rendezvous, "world", 0, 1).status().ToString(); });
  CHECK_THAT(outcomes[0].text, Catch::Contains("/proc"));
}

// Mappings of blocks in this process.
int BlocksMapped() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:dtranspile") != std::string::npos;
  return count;
}

TEST_CASE("shm: buffers at equal offsets of shared blocks are reached directly, others are not") {
  for (const bool skewed : {false, true}) {
    const Rendezvous rendezvous = NewRendezvous();
    RequireRanks(3, [&](int rank) -> std::string {
      auto comm = JoinShm(rendezvous, "world", rank, 3);
      if (!comm.ok()) return comm.status().ToString();
      Trial trial;
      trial.counts = {100'000};
      trial.shared = true;
      trial.skewed = skewed;
      if (std::string wrong = RunTrial(**comm, trial); !wrong.empty()) return wrong;
      const int mapped = BlocksMapped();  // its own block is gone with the trial
      return mapped == (skewed ? 0 : 2) ? ""
                                        : "maps " + std::to_string(mapped) + " blocks of peers";
    });
  }
}

TEST_CASE("shm: a block that is gone, or another one by now, is not mapped") {
  auto block = SharedMemory::Allocate(8192);
  REQUIRE(block.ok());
  std::vector<Segment> whole = {{block->data(), 8192}};
  Request request;
  request.inputs = request.outputs = whole;
  Place place = PlaceOf(request, 1);
  CHECK(place.base == block->data());
  CHECK(SharedMemory::Map(place.share).ok());
  ShareId other = place.share;
  other.bytes += 4096;
  CHECK_FALSE(SharedMemory::Map(other).ok());
  request.outputs[0].count = 8193;
  CHECK(PlaceOf(request, 1).share.inode == 0);
  *block = SharedMemory();
  CHECK_FALSE(SharedMemory::Map(place.share).ok());
}

// Ranks as threads of one process: the embedded case.
TEST_CASE("shm: ranks in one process") {
  const Rendezvous rendezvous = NewRendezvous();
  RequireRanks(1, [&](int) -> std::string {
    std::vector<std::thread> threads;
    std::vector<std::string> results(3);
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        auto comm = JoinShm(rendezvous, "world", rank, 3);
        Trial trial;
        trial.counts = {2'000'000};
        results[rank] = comm.ok() ? RunTrial(**comm, trial) : comm.status().ToString();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return results[0] + results[1] + results[2];
  });
}

}  // namespace
}  // namespace dtranspile::comm::test

// What communication says of a system that does not give what it asks for, and of peers of another
// build. Limits are those of a process of their own (RunRanks).
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/nccl/loader.h"
#include "runtime/comm/operation.h"
#include "runtime/comm/shared_memory.h"
#include "runtime/comm/shm/communicator.h"
#include "test/runtime/comm/processes.h"

namespace dtranspile::comm::test {
namespace {

using Catch::Matchers::Contains;

std::string Said(const absl::Status& status) { return std::string(status.message()); }

// What `body` says in a process that may write no file, or open none.
std::string Limited(int resource, const std::function<absl::Status()>& body) {
  return RunRanks(1,
                  [&](int) {
                    signal(SIGXFSZ, SIG_IGN);
                    rlimit none = {};
                    getrlimit(static_cast<__rlimit_resource_t>(resource), &none);
                    none.rlim_cur = 0;
                    setrlimit(static_cast<__rlimit_resource_t>(resource), &none);
                    return Said(body());
                  })
      .front()
      .text;
}

ShareId IdOf(int fd) {
  struct stat info;
  REQUIRE(fstat(fd, &info) == 0);
  return {getpid(), fd, info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size)};
}

}  // namespace

TEST_CASE("shared memory that the system does not give") {
  const auto allocate = [] { return SharedMemory::Allocate(4096).status(); };
  CHECK(Limited(RLIMIT_NOFILE, allocate) == "no shared memory: Too many open files");
  CHECK(Said(SharedMemory::Allocate(size_t{1} << 63).status()) ==
        "no 9223372036854775808 bytes of shared memory: Invalid argument");

  const int sparse = memfd_create("messages_test", MFD_CLOEXEC);
  REQUIRE(ftruncate(sparse, off_t{1} << 62) == 0);
  CHECK_THAT(Said(SharedMemory::Map(IdOf(sparse)).status()),
             Contains("no addresses for 4611686018427387904 shared bytes: "));
  close(sparse);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  CHECK_THAT(Said(SharedMemory::Map(IdOf(nothing)).status()), Contains("mapping 0 shared bytes: "));
  close(nothing);
}

TEST_CASE("a group without room for its file") {
  Rendezvous rendezvous;
  rendezvous.job = "messages_test." + std::to_string(getpid());
  CHECK(Limited(RLIMIT_FSIZE, [&] { return JoinShm(rendezvous, "world", 0, 1).status(); }) ==
        "sizing a shared-memory file in /dev/shm: File too large; raise the limit on the size of "
        "files (`ulimit -f`), or run with --backend gloo");
}

TEST_CASE("a peer of another build") {
  Header mine, theirs;
  theirs.magic = 7;
  CHECK(Said(CheckSame(mine, 0, theirs, 3)) ==
        "rank 3 sent no operation header; is it of another build?");
}

TEST_CASE("a network interface without an address") {
  const std::string said = RunRanks(1,
                                    [](int) {
                                      if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
                                        return std::string();
                                      return Said(HostOf("lo").status());
                                    })
                               .front()
                               .text;
  if (said.empty()) {
    printf("SKIPPED a network interface without an address: no network namespaces here\n");
    return;
  }
  CHECK(said == "the network interface lo has no address");
}

// A library that says it is the driver, and exports nothing, stands for it and for the plug-in.
TEST_CASE("a driver without its plug-in, and a plug-in of something else") {
  if (access("/dev/nvidia0", F_OK) == 0) return;
  const Rendezvous rendezvous;
  CHECK_THAT(
      Said(JoinNccl(rendezvous, "g", 0, 1).status()),
      Contains("no CUDA driver: ") && Contains("; --device cuda needs a GPU and its driver"));
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  REQUIRE(dlopen((own / "libcuda_of_tests.so").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr);
  const char* given = std::getenv("TEST_TMPDIR");
  const std::filesystem::path folder = std::filesystem::path(given == nullptr ? "/tmp" : given) /
                                       ("messages_test." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  setenv("DTRANSPILE_PLUGINS", folder.c_str(), 1);
  CHECK_THAT(Said(JoinNccl(rendezvous, "g", 0, 1).status()), Contains("no NCCL back end: "));
  std::filesystem::copy_file(own / "libcuda_of_tests.so", folder / kNcclLibrary);
  CHECK(Said(JoinNccl(rendezvous, "g", 0, 1).status()) ==
        (folder / kNcclLibrary).string() + " does not export " + kNcclEntry);
  std::filesystem::remove_all(folder);
}

}  // namespace dtranspile::comm::test

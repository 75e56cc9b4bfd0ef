// all_reduce over shared memory and over Gloo between two processes of this host: latency of 4
// bytes, bandwidth of 1 MB and 64 MB, and the ratios between the back ends. Buffers lie where those
// of the executor do, in a block that ranks can share; a line without a goal says what private
// memory gives. The back ends take turns within one run, so that a busy machine hits both; every
// figure is the median over the turns. Bandwidth is bytes of one rank's buffer per time of one
// all_reduce.
//
//     bazel run -c opt //bench/comm:comm_bench [TURNS]
//
// Exits with 1 if shared memory has less than 5 times the bandwidth or 20 times the speed at 4
// bytes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/shared_memory.h"

namespace dtranspile::comm {
namespace {

constexpr int kRanks = 2;

struct Size {
  const char* name;
  int64_t floats;
  int repeats;  // operations per turn and back end
};
constexpr Size kSizes[] = {{"4 B", 1, 2000}, {"1 MB", 1 << 18, 60}, {"64 MB", 1 << 24, 3}};
constexpr const char* kBackEnds[] = {"shm", "gloo"};
constexpr int kColumns = 3;  // shm, gloo, shm with private buffers
constexpr double kBandwidthGoal = 5, kLatencyGoal = 20;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

[[noreturn]] void Die(const absl::Status& status) {
  fprintf(stderr, "%s\n", status.ToString().c_str());
  _exit(70);
}

void Run(Communicator& comm, float* values, int64_t count) {
  Request request;
  request.kind = Kind::kAllReduce;
  request.label = "bench";
  request.inputs = request.outputs = {{values, count}};
  if (absl::Status status = comm.Run(std::move(request)); !status.ok()) Die(status);
}

// Seconds per operation.
double Turn(Communicator& comm, float* values, const Size& size) {
  Run(comm, values, 1);  // all begin together
  Run(comm, values, size.floats);
  const double begin = Now();
  for (int i = 0; i < size.repeats; ++i) Run(comm, values, size.floats);
  return (Now() - begin) / size.repeats;
}

bool Report(const Size& size, std::vector<double> seconds[kColumns]) {
  const double shm = Median(seconds[0]), gloo = Median(seconds[1]), own = Median(seconds[2]),
               ratio = gloo / shm;
  const double bytes = static_cast<double>(size.floats) * sizeof(float);
  if (size.floats == 1) {
    printf("%-6s  shm %9.2f us    gloo %9.2f us    ratio %6.1f (goal %.0f)\n", size.name, shm * 1e6,
           gloo * 1e6, ratio, kLatencyGoal);
    return ratio >= kLatencyGoal;
  }
  printf("%-6s  shm %9.2f GB/s  gloo %9.2f GB/s  ratio %6.1f (goal %.0f)\n", size.name,
         bytes / shm * 1e-9, bytes / gloo * 1e-9, ratio, kBandwidthGoal);
  printf("%-6s  shm %9.2f GB/s  with private buffers  ratio %6.1f\n", size.name, bytes / own * 1e-9,
         gloo / own);
  return ratio >= kBandwidthGoal;
}

// Nobody else is to be kept out.
constexpr char kToken[] = "00112233445566778899aabbccddeeff";

int RankMain(int rank, int turns, const std::string& store) {
  std::unique_ptr<Communicator> comms[2];
  for (int b = 0; b < 2; ++b) {
    Rendezvous rendezvous;
    rendezvous.backend = kBackEnds[b];
    rendezvous.token = kToken;
    rendezvous.job = "comm_bench." + std::to_string(getppid());
    if (rendezvous.backend == "gloo") rendezvous.store = store;
    absl::StatusOr<std::unique_ptr<Communicator>> comm = Join(rendezvous, "bench", rank, kRanks);
    if (!comm.ok()) Die(comm.status());
    comms[b] = *std::move(comm);
  }
  bool good = true;
  std::vector<float> own(kSizes[2].floats, 0.0f);
  absl::StatusOr<SharedMemory> block = SharedMemory::Allocate(own.size() * sizeof(float));
  if (!block.ok()) Die(block.status());
  float* shared = reinterpret_cast<float*>(block->data());
  if (rank == 0)
    printf("all_reduce of float32, %d ranks, median of %d interleaved turns\n", kRanks, turns);
  for (const Size& size : kSizes) {
    std::vector<double> seconds[kColumns];
    for (int turn = 0; turn < turns; ++turn) {
      for (int b = 0; b < 2; ++b) seconds[b].push_back(Turn(*comms[b], shared, size));
      seconds[2].push_back(Turn(*comms[0], own.data(), size));
    }
    if (rank == 0) good &= Report(size, seconds);
  }
  fflush(stdout);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace dtranspile::comm

int main(int argc, char** argv) {
  using namespace dtranspile::comm;
  const int turns = argc > 1 ? std::max(1, atoi(argv[1])) : 9;
  // The store's thread starts after the ranks have been forked: they get its address over pipes.
  int pipes[kRanks][2];
  pid_t pids[kRanks];
  for (int rank = 0; rank < kRanks; ++rank) {
    if (pipe(pipes[rank]) != 0) return 70;
    pids[rank] = fork();
    if (pids[rank] == 0) {
      char address[256] = {};
      if (read(pipes[rank][0], address, sizeof(address) - 1) <= 0) _exit(70);
      _exit(RankMain(rank, turns, address));
    }
  }
  const absl::StatusOr<std::unique_ptr<StoreServer>> server =
      StoreServer::Start("127.0.0.1:0", kToken);
  if (!server.ok()) {
    fprintf(stderr, "%s\n", server.status().ToString().c_str());
    return 70;
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string address = (*server)->address();
    if (write(pipes[rank][1], address.data(), address.size()) < 0) return 70;
  }
  int code = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    int status = 0;
    waitpid(pids[rank], &status, 0);
    code = std::max(code, WIFEXITED(status) ? WEXITSTATUS(status) : 70);
  }
  return code;
}

// Synchronous rounds over loopback: every trainer pushes a dense table to one server, which merges
// it and runs nothing else, and pulls it back. Bandwidth is the bytes that a trainer pushes and
// pulls in a round per time of the round; latency the time of a round of 4 kB. Every process is one
// of its own; figures are medians over the rounds of trainer 0.
//
//     bazel run -c opt //bench/ps:ps_bench [ROUNDS]
//
// CPU seconds per GB are those of all processes together: they tell more than the rest where other
// work has the processors.
//
// Exits with 1 if a single trainer has less than 1.5 GB/s for blocks of 1 MB and more.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/ps/client.h"
#include "runtime/ps/server.h"

namespace dtranspile::ps {
namespace {

constexpr double kGoal = 1.5;  // GB/s
// Nobody else is to be kept out.
constexpr char kToken[] = "00112233445566778899aabbccddeeff";

struct Size {
  const char* name;
  int64_t floats;
};
constexpr Size kSizes[] = {
    {"4 kB", 1 << 10}, {"1 MB", 1 << 18}, {"16 MB", 1 << 22}, {"64 MB", 1 << 24}};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all processes that have ended.
double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  constexpr double kMicro = 1e-6;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * kMicro;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

int Die(const absl::Status& status) {
  fprintf(stderr, "%s\n", status.ToString().c_str());
  return 70;
}

struct Bench {
  const Size& size;
  int trainers, rounds;
  std::string address;
};

absl::Status Serve(const Bench& bench) {
  std::vector<float> values(static_cast<size_t>(bench.size.floats), 1.0F), merged(values.size());
  ServerOptions options;
  options.address = bench.address;
  options.token = kToken;
  options.trainers = bench.trainers;
  DT_ASSIGN_OR_RETURN(const auto server, Server::Make(options));
  exec::Table table;
  table.name = "w";
  table.dims = {bench.size.floats};
  table.data = reinterpret_cast<std::byte*>(values.data());
  DT_RETURN_IF_ERROR(server->Open({table}, {}));
  while (true) {
    DT_ASSIGN_OR_RETURN(const exec::Turn turn, server->Next());
    if (turn.kind == exec::Turn::Kind::kEnd) return absl::OkStatus();
    server->Finish(server->Merged(
        "w", -1, {DType::kFloat32, table.dims, reinterpret_cast<std::byte*>(merged.data())}));
  }
}

absl::StatusOr<std::vector<double>> Train(const Bench& bench, int rank) {
  std::vector<float> values(static_cast<size_t>(bench.size.floats), 1.0F);
  ClientOptions options;
  options.addresses = {bench.address};
  options.token = kToken;
  options.rank = rank;
  options.ranks = bench.trainers;
  DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(options));
  const exec::TableRequest request{"", "w", nullptr};
  auto* data = reinterpret_cast<std::byte*>(values.data());
  std::vector<double> seconds;
  for (int round = 0; round <= bench.rounds; ++round) {
    const double begin = Now();
    DT_RETURN_IF_ERROR(
        client->Push(request, exec::Merge::kMean, {DType::kFloat32, {bench.size.floats}, data}));
    DT_RETURN_IF_ERROR(client->EndPhase("", exec::Phase::kPush));
    DT_RETURN_IF_ERROR(client->Pull(request, {DType::kFloat32, {bench.size.floats}, data}));
    DT_RETURN_IF_ERROR(client->EndPhase("", exec::Phase::kPull));
    if (round > 0) seconds.push_back(Now() - begin);  // the first one makes memory
  }
  DT_RETURN_IF_ERROR(client->Leave());
  return seconds;
}

// Forks all processes; the median of trainer 0 comes over a pipe, below 0 after a failure.
double Run(const Size& size, int trainers, int rounds) {
  Bench bench{size, trainers, rounds, ""};
  {
    const auto listener = comm::Listen("127.0.0.1:0");
    if (!listener.ok()) return Die(listener.status()), -1;
    bench.address = comm::WithPortOf(*listener, "127.0.0.1:0");
  }
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::vector<pid_t> pids;
  for (int i = 0; i <= trainers; ++i) {
    const pid_t pid = fork();
    if (pid != 0) {
      pids.push_back(pid);
      continue;
    }
    if (i == trainers) {
      const absl::Status status = Serve(bench);
      _exit(status.ok() ? 0 : Die(status));
    }
    const auto seconds = Train(bench, i);
    if (!seconds.ok()) _exit(Die(seconds.status()));
    const double median = Median(*seconds);
    if (i == 0 && write(ends[1], &median, sizeof(median)) != sizeof(median)) _exit(70);
    _exit(0);
  }
  close(ends[1]);
  double median = -1;
  const bool told = read(ends[0], &median, sizeof(median)) == sizeof(median);
  close(ends[0]);
  bool good = told;
  for (const pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return good ? median : -1;
}

}  // namespace
}  // namespace dtranspile::ps

int main(int argc, char** argv) {
  using namespace dtranspile::ps;
  const int rounds = argc > 1 ? std::max(1, atoi(argv[1])) : 40;
  bool good = true;
  for (const int trainers : {1, 2})
    for (const Size& size : kSizes) {
      const double before = CpuSeconds();
      const double seconds = Run(size, trainers, rounds);
      const double cpu = CpuSeconds() - before;
      if (seconds < 0) return 70;
      const double bytes = 2 * static_cast<double>(size.floats) * sizeof(float);
      const double speed = bytes / seconds * 1e-9;
      const bool counts = trainers == 1 && size.floats >= kSizes[1].floats;
      const double moved = bytes * 1e-9 * trainers * (rounds + 1);
      printf("%d trainer%s  %-6s  round %10.1f us  %6.2f GB/s  %6.2f CPU s/GB%s\n", trainers,
             trainers == 1 ? " " : "s", size.name, seconds * 1e6, speed, cpu / moved,
             counts ? "  (goal 1.5 GB/s)" : "");
      fflush(stdout);
      good &= !counts || speed >= kGoal;
    }
  return good ? 0 : 1;
}

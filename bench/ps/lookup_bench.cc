// Lookups over loopback: a trainer asks one server for rows of a table of 10 million rows of 16
// floats, in batches, by ids drawn evenly (next to no row twice) and by ids of which a few come
// most of the time (as words do). Every process is one of its own; figures are medians over the
// batches.
//
//     bazel run -c opt //bench/ps:lookup_bench [BATCHES [ROWS]]
//
// CPU seconds per million ids are those of both processes after their start: they tell more than
// the rest where other work has the processors. `memory` is what the server holds, as a multiple of
// the table's bytes.
//
// Exits with 1 below a million ids per second, or above 1.3 times the table's bytes.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/ps/client.h"
#include "runtime/ps/server.h"

namespace dtranspile::ps {
namespace {

constexpr double kGoal = 1e6;  // ids per second
constexpr double kMostMemory = 1.3;
constexpr int64_t kWidth = 16;
// Nobody else is to be kept out.
constexpr char kToken[] = "00112233445566778899aabbccddeeff";

struct Batch {
  const char* name;
  int64_t ids;
  bool skewed;
};
constexpr Batch kBatches[] = {{"1,024 even", 1024, false},
                              {"26 x 512 even", 26 * 512, false},
                              {"26 x 4,096 even", 26 * 4096, false},
                              {"26 x 4,096 skewed", 26 * 4096, true}};

// What a process tells when it has ended: the server its memory, the trainer the median.
struct Told {
  double figure = -1, cpu_seconds = 0;
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of this process.
double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double kMicro = 1e-6;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * kMicro;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int Die(const absl::Status& status) {
  fprintf(stderr, "%s\n", status.ToString().c_str());
  return 70;
}

absl::StatusOr<Told> Serve(const std::string& address, int64_t rows) {
  std::vector<float> values(static_cast<size_t>(rows * kWidth), 1.0F);
  ServerOptions options;
  options.address = address;
  options.token = kToken;
  DT_ASSIGN_OR_RETURN(const auto server, Server::Make(options));
  exec::Table table;
  table.name = "w";
  table.dims = {rows, kWidth};
  table.data = reinterpret_cast<std::byte*>(values.data());
  DT_RETURN_IF_ERROR(server->Open({table}, {}));
  const double begin = CpuSeconds();
  while (true) {
    DT_ASSIGN_OR_RETURN(const exec::Turn turn, server->Next());
    if (turn.kind == exec::Turn::Kind::kEnd) break;
    server->Finish(absl::OkStatus());
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double kKilo = 1024;
  return Told{static_cast<double>(usage.ru_maxrss) * kKilo /
                  static_cast<double>(values.size() * sizeof(float)),
              CpuSeconds() - begin};
}

absl::StatusOr<Told> Train(const std::string& address, int64_t rows, const Batch& batch,
                           int batches) {
  ClientOptions options;
  options.addresses = {address};
  options.token = kToken;
  DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(options));
  const exec::TableRequest request{"", "w", nullptr, {}};
  std::vector<int64_t> ids(static_cast<size_t>(batch.ids));
  std::vector<float> answer(ids.size() * kWidth);
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> even(0, 1);
  std::vector<double> seconds;
  double cpu = 0;
  for (int turn = 0; turn <= batches; ++turn) {
    // Skewed: the logarithm of an id is drawn evenly.
    for (int64_t& id : ids) {
      const double draw = even(engine), most = static_cast<double>(rows);
      id = std::min(rows - 1,
                    static_cast<int64_t>(batch.skewed ? std::pow(most, draw) - 1 : most * draw));
    }
    const double begin = Now(), used = CpuSeconds();
    DT_RETURN_IF_ERROR(client->Lookup(
        request, ids.data(), batch.ids,
        {DType::kFloat32, {batch.ids, kWidth}, reinterpret_cast<std::byte*>(answer.data())}));
    if (turn > 0) seconds.push_back(Now() - begin);
    cpu += CpuSeconds() - used;
  }
  DT_RETURN_IF_ERROR(client->Leave());
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return Told{seconds[seconds.size() / 2], cpu};
}

// Forks both processes: server, trainer. A figure below 0 after a failure.
struct Figures {
  Told server, trainer;
};
Figures Run(const Batch& batch, int batches, int64_t rows) {
  std::string address;
  {
    const auto listener = comm::Listen("127.0.0.1:0");
    if (!listener.ok()) return Die(listener.status()), Figures();
    address = comm::WithPortOf(*listener, "127.0.0.1:0");
  }
  Figures figures;
  int ends[2][2];
  pid_t pids[2];
  for (int i = 0; i < 2; ++i) {
    if (pipe(ends[i]) != 0) return figures;
    pids[i] = fork();
    if (pids[i] != 0) continue;
    const absl::StatusOr<Told> told =
        i == 0 ? Serve(address, rows) : Train(address, rows, batch, batches);
    if (!told.ok()) _exit(Die(told.status()));
    _exit(write(ends[i][1], &*told, sizeof(Told)) == sizeof(Told) ? 0 : 70);
  }
  for (int i = 0; i < 2; ++i) {
    close(ends[i][1]);
    Told& to = i == 0 ? figures.server : figures.trainer;
    if (read(ends[i][0], &to, sizeof(to)) != sizeof(to)) to = Told();
    close(ends[i][0]);
    waitpid(pids[i], nullptr, 0);
  }
  return figures;
}

}  // namespace
}  // namespace dtranspile::ps

int main(int argc, char** argv) {
  using namespace dtranspile::ps;
  const int batches = argc > 1 ? std::max(1, atoi(argv[1])) : 20;
  const int64_t rows = argc > 2 ? std::max(1, atoi(argv[2])) : 10'000'000;
  bool good = true;
  for (const Batch& batch : kBatches) {
    const Figures figures = Run(batch, batches, rows);
    const double seconds = figures.trainer.figure, memory = figures.server.figure;
    if (seconds < 0 || memory < 0) return 70;
    const double speed = static_cast<double>(batch.ids) / seconds;
    const double millions = static_cast<double>(batch.ids) * (batches + 1) * 1e-6;
    const double cpu = (figures.server.cpu_seconds + figures.trainer.cpu_seconds) / millions;
    const bool counts = batch.ids >= kBatches[1].ids;
    printf("%-18s  batch %10.1f us  %6.2f M ids/s  %6.2f CPU s/M ids  memory %.2f%s\n", batch.name,
           seconds * 1e6, speed * 1e-6, cpu, memory, counts ? "  (goal 1 M ids/s, 1.3)" : "");
    fflush(stdout);
    good &= !counts || (speed >= kGoal && memory <= kMostMemory);
  }
  return good ? 0 : 1;
}

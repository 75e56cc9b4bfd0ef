// Cost of making a job: saved program to folder, as `transpile` does it. For 8 ranks against
// 100,000, per op for programs of two sizes, with parameter servers beside the framework's own
// transpiler, and against the commands that read the job. Every
// measurement is a process of its own, so that peaks of memory are its own; processor time, so that
// other load does not count. Goals are printed beside the figures; exit status 1 where one is
// missed.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compiler/artifact/job.h"
#include "compiler/import/import.h"
#include "compiler/pipelines/collective.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"
#include "test/corpus_path.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kLaps = 5;
constexpr double kMaxDifference = 0.1, kMaxGrowth = 1.3, kMaxRatio = 1.3;

struct Cost {
  double seconds = 0, megabytes = 0;
};

// In the child process. Returns the number of ops of @main; 0 on failure.
int64_t transpile(const std::string& program, const Strategy& strategy, const std::string& folder) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<pd::PdDialect, dist::DistDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  int64_t ops = 0;
  for (const char* symbol : {"main", "startup"}) {
    ImportOptions options;
    options.symbol = symbol;
    mlir::FailureOr<std::string> bytes =
        readFile(&context, test::CorpusPath(program + "/" + symbol + ".pdmodel"));
    if (mlir::failed(bytes)) return 0;
    auto imported = importProgram(*module, *bytes, options);
    if (mlir::failed(imported)) return 0;
    for (mlir::Operation& op : *imported->getBodyBlock()) ops += pd::OpView::isFrameworkOp(&op);
  }
  if (mlir::failed(transpileCollective(*module, strategy))) return 0;
  const auto manifest = makeManifest(*module, toJson(strategy));
  return mlir::succeeded(writeJob(folder, *module, manifest, true)) ? ops : 0;
}

// One run in a process of its own, with those that it starts. Exits where it fails.
Cost measure(const std::string& what, const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  rusage usage = {};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
    std::fprintf(stderr, "transpile_bench: %s failed\n", what.c_str());
    std::exit(1);
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

Cost measure(const std::string& program, const Strategy& strategy, const std::string& folder) {
  return measure(program + " for " + std::to_string(strategy.trainers) + " ranks",
                 [&] { return transpile(program, strategy, folder) > 0; });
}

Cost measure(const std::string& program, int64_t ranks, const std::string& folder) {
  Strategy strategy;
  strategy.trainers = ranks;
  return measure(program, strategy, folder);
}

// A command of the tool, without what it prints.
Cost measureCommand(std::vector<std::string> words) {
  words.insert(words.begin(), "dtranspile");
  return measure(words[1], [&] {
    const int nowhere = open("/dev/null", O_WRONLY);
    for (int fd : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    return cli::runTool(static_cast<int>(arguments.size()), arguments.data()) == 0;
  });
}

Cost median(std::vector<Cost> costs) {
  const auto middle = [&](double Cost::* field) {
    std::sort(costs.begin(), costs.end(),
              [&](const Cost& a, const Cost& b) { return a.*field < b.*field; });
    return costs[costs.size() / 2].*field;
  };
  return {middle(&Cost::seconds), middle(&Cost::megabytes)};
}

bool goal(const char* what, double value, double limit) {
  const bool met = value <= limit;
  std::printf("  %s %.3f, goal at most %.3f: %s\n", what, value, limit, met ? "met" : "MISSED");
  return met;
}

// The two sides take turns.
bool compareRanks(const std::string& program, const std::string& folder) {
  std::vector<Cost> few, many;
  for (int lap = 0; lap < kLaps; ++lap) {
    few.push_back(measure(program, 8, folder));
    many.push_back(measure(program, 100000, folder));
  }
  const Cost a = median(few), b = median(many);
  std::printf("%s: 8 ranks %.2f s, %.1f MB; 100,000 ranks %.2f s, %.1f MB\n", program.c_str(),
              a.seconds, a.megabytes, b.seconds, b.megabytes);
  const bool time = goal("time, difference", std::abs(b.seconds / a.seconds - 1), kMaxDifference);
  return goal("memory, difference", std::abs(b.megabytes / a.megabytes - 1), kMaxDifference) &&
         time;
}

int64_t opsOf(const std::string& program) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<pd::PdDialect>();
  int64_t ops = 0;
  for (const char* symbol : {"main", "startup"}) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    mlir::FailureOr<std::string> bytes =
        readFile(&context, test::CorpusPath(program + "/" + symbol + ".pdmodel"));
    auto imported = mlir::succeeded(bytes) ? importProgram(*module, *bytes, {})
                                           : mlir::FailureOr<pd::ProgramOp>(mlir::failure());
    if (mlir::failed(imported)) std::exit(1);
    for (mlir::Operation& op : *imported->getBodyBlock()) ops += pd::OpView::isFrameworkOp(&op);
  }
  return ops;
}

bool compareSizes(const std::string& small, const std::string& large, const std::string& folder) {
  double perOp[2];
  int side = 0;
  for (const std::string& program : {small, large}) {
    std::vector<Cost> costs;
    for (int lap = 0; lap < kLaps; ++lap) costs.push_back(measure(program, 8, folder));
    const int64_t ops = opsOf(program);
    perOp[side++] = median(costs).seconds / static_cast<double>(ops);
    std::printf("%s: %lld ops, %.1f us per op\n", program.c_str(), static_cast<long long>(ops),
                perOp[side - 1] * 1e6);
  }
  return goal("time per op, growth", perOp[1] / perOp[0], kMaxGrowth);
}

// All roles of a job with servers, in process and as a command, beside processor seconds of the
// framework's transpiler (paddlepaddle 1.8.5 on a machine of this kind; 0: it has not been run).
bool compareServers(const std::string& program, int64_t servers, double framework,
                    const std::string& folder) {
  constexpr double kInProcess = 500, kAsCommand = 100;
  Strategy strategy;
  strategy.mode = "pserver";
  strategy.trainers = 2;
  strategy.pservers = {std::to_string(servers)};
  const auto file = [&](const char* name) { return test::CorpusPath(program + "/" + name); };
  std::vector<Cost> inside, commands, verifying;
  for (int lap = 0; lap < kLaps; ++lap) {
    inside.push_back(measure(program, strategy, folder));
    fs::remove_all(folder);
    commands.push_back(measureCommand({"transpile", file("main.pdmodel"), "--startup",
                                       file("startup.pdmodel"), "-o", folder, "--mode", "pserver",
                                       "--trainers", "2", "--pservers", std::to_string(servers)}));
    verifying.push_back(measureCommand({"verify", folder, "--execute=off"}));
    fs::remove_all(folder);
  }
  const Cost made = median(inside), command = median(commands), verified = median(verifying);
  std::printf(
      "%s, 2 trainers, %lld servers: in process %.3f s, %.1f MB; command %.3f s; verify %.2f s\n",
      program.c_str(), static_cast<long long>(servers), made.seconds, made.megabytes,
      command.seconds, verified.seconds);
  if (framework == 0) return true;
  const bool process =
      goal("in process, part of the framework's", made.seconds / framework, 1 / kInProcess);
  return goal("command, part of the framework's", command.seconds / framework, 1 / kAsCommand) &&
         process;
}

// Who reads a job should not take much longer than who made it. The three take turns.
bool compareCommands(const std::string& program, const std::string& scratch) {
  const std::string job = scratch + "/read", programs = scratch + "/programs";
  const auto file = [&](const char* name) { return test::CorpusPath(program + "/" + name); };
  std::vector<Cost> making, verifying, exporting;
  for (int lap = 0; lap < kLaps; ++lap) {
    fs::remove_all(job);
    fs::remove_all(programs);
    making.push_back(measureCommand({"transpile", file("main.pdmodel"), "--startup",
                                     file("startup.pdmodel"), "-o", job, "--trainers", "8"}));
    verifying.push_back(measureCommand({"verify", job}));
    exporting.push_back(measureCommand({"export", job, "-o", programs, "--ranks", "0"}));
  }
  const auto ops = static_cast<double>(opsOf(program));
  const double made = median(making).seconds, verified = median(verifying).seconds,
               exported = median(exporting).seconds;
  std::printf("%s: us per op: transpile %.1f, verify %.1f, export of a rank %.1f\n",
              program.c_str(), made / ops * 1e6, verified / ops * 1e6, exported / ops * 1e6);
  const bool verify = goal("verify against transpile", verified / made, kMaxRatio);
  return goal("export against transpile", exported / made, kMaxRatio) && verify;
}

int run() {
  std::string pattern = (fs::temp_directory_path() / "dtranspile-bench-XXXXXX").string();
  const std::string scratch = mkdtemp(pattern.data());
  bool ok = compareRanks("large/static26_gpt_96layer", scratch + "/job");
  ok = compareSizes("large/static26_gpt2_small", "large/static26_gpt_96layer", scratch + "/job") &&
       ok;
  ok = compareCommands("large/static26_gpt_96layer", scratch) && ok;
  struct Row {
    const char* program;
    int64_t servers;
    double framework;
  };
  constexpr Row kServers[] = {
      {"large/fluid18_resnet50", 2, 7.2},   {"large/fluid18_transformer_base", 2, 25.8},
      {"large/fluid18_bert_base", 2, 28.5}, {"large/fluid18_transformer_base", 64, 157},
      {"large/fluid18_resnet50", 64, 0},    {"large/fluid18_bert_base", 64, 0},
      {"large/fluid18_resnet50", 10000, 0}, {"large/fluid18_transformer_base", 10000, 0},
      {"large/fluid18_bert_base", 10000, 0}};
  for (const Row& row : kServers)
    ok = compareServers(row.program, row.servers, row.framework, scratch + "/served") && ok;
  fs::remove_all(scratch);
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace dtranspile::bench

int main() { return dtranspile::bench::run(); }

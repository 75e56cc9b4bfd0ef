// Time per element of programs that are large in one direction, phase by phase. Every measurement
// is a process of its own: processor time and peak memory are those of one program. The goal is
// that no phase takes longer for an element of a large program than for one of a small; exit status
// 1 where it is missed.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>

#include "bench/size/programs.h"
#include "compiler/artifact/job.h"
#include "compiler/export/program.h"
#include "compiler/import/import.h"
#include "compiler/import/usable.h"
#include "compiler/lower/compile.h"
#include "compiler/pipelines/collective.h"
#include "dialects/dist/dist.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile::bench {
namespace {

constexpr const char* kPhases[] = {"import", "check", "export", "print", "transpile", "lower"};
constexpr int kPhaseCount = std::size(kPhases);
// Of the time per element at the largest size and at the second one; less than kShort is noise.
constexpr double kMaxGrowth = 2, kShort = 0.02;
constexpr int64_t kSizes[] = {1'000, 10'000, 100'000, 1'000'000};

struct Times {
  std::array<double, kPhaseCount> seconds;  // negative: not done
  double megabytes = 0;
};

double now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class Program {
 public:
  Program() : context_(mlir::MLIRContext::Threading::DISABLED) {
    context_.loadDialect<pd::PdDialect, dist::DistDialect>();
    // What a phase refuses is seen in the table.
    context_.getDiagEngine().registerHandler([](mlir::Diagnostic&) { return mlir::success(); });
    module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
  }

  bool run(int phase, const std::string& bytes) {
    switch (phase) {
      case 0: return read(bytes);
      case 1:
        return mlir::succeeded(mlir::verify(*module_)) && mlir::succeeded(checkUsable(*module_));
      case 2: return mlir::succeeded(exportProgramBytes(program_));
      case 3: return print();
      case 4: return transpile();
      default: return lower();
    }
  }

 private:
  bool read(const std::string& bytes) {
    ImportOptions options;
    options.symbol = "main";
    auto program = importProgram(*module_, bytes, options);
    if (mlir::succeeded(program)) program_ = *program;
    return mlir::succeeded(program);
  }

  bool print() {
    module_->print(llvm::nulls());
    return true;
  }

  bool transpile() {
    mlir::OwningOpRef<mlir::ModuleOp> job = module_->clone();
    Strategy strategy;
    strategy.trainers = 4;
    if (mlir::failed(transpileCollective(*job, strategy))) return false;
    return !makeManifest(*job, toJson(strategy)).empty();
  }

  bool lower() {
    lower::CompileOptions options;
    for (auto input : program_.getBodyBlock()->getOps<pd::InputOp>()) {
      auto tensor = llvm::cast<mlir::RankedTensorType>(input.getValue().getType());
      std::vector<int64_t> dims(tensor.getShape());
      for (int64_t& dim : dims) dim = dim < 0 ? 4 : dim;
      options.main.feedDims[input.getName().str()] = dims;
    }
    mlir::Value last;
    for (mlir::Operation& op : *program_.getBodyBlock())
      if (pd::OpView::isFrameworkOp(&op) && op.getNumResults()) last = op.getResult(0);
    if (last) options.main.fetches.push_back(pd::nameOf(last).str());
    return mlir::succeeded(lower::lowerPrograms(program_, {}, options));
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  pd::ProgramOp program_;
};

// A phase that fails is left out, and after an import that fails all of them.
Times measure(const std::string& bytes) {
  Times times;
  times.seconds.fill(-1);
  Program program;
  for (int phase = 0; phase < kPhaseCount; ++phase) {
    const double start = now();
    const bool good = program.run(phase, bytes);
    if (good) times.seconds[phase] = now() - start;
    else if (phase == 0) break;
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  times.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  return times;
}

Times inChild(const std::string& bytes) {
  Times times;
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    times = measure(bytes);
    _exit(write(ends[1], &times, sizeof times) == sizeof times ? 0 : 1);
  }
  close(ends[1]);
  const bool got = child > 0 && read(ends[0], &times, sizeof times) == sizeof times;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  if (got) return times;
  std::fprintf(stderr, "size_bench: a measurement ended without a result\n");
  std::exit(1);
}

bool compare(const Direction& direction, int64_t most) {
  bool linear = true;
  Times before = {};
  int64_t sizeBefore = 0;
  for (int64_t wanted : kSizes) {
    const int64_t size = std::min(wanted, direction.most);
    if (size == sizeBefore || wanted > most) break;
    const std::string bytes = direction.generate(size);
    const Times times = inChild(bytes);
    std::printf("%-26s %9lld", direction.name, static_cast<long long>(size));
    for (int phase = 0; phase < kPhaseCount; ++phase) {
      const double seconds = times.seconds[phase], each = seconds / static_cast<double>(size);
      if (seconds < 0) {
        std::printf(" %10s", "-");
        continue;
      }
      const bool counts = sizeBefore > 0 && before.seconds[phase] >= kShort;
      const bool grows =
          counts && each > kMaxGrowth * before.seconds[phase] / static_cast<double>(sizeBefore);
      linear &= !grows;
      std::printf(" %9.2f%c", each * 1e6, grows ? '!' : ' ');
    }
    std::printf(" %9.0f %8.1f\n", times.megabytes,
                times.megabytes * 1048576 / static_cast<double>(bytes.size()));
    std::fflush(stdout);
    before = times;
    sizeBefore = size;
  }
  return linear;
}

int run(int64_t most, const std::string& only) {
  std::printf("us per element of each phase; ! where it grows more than %.0f times\n%-26s %9s",
              kMaxGrowth, "", "size");
  for (const char* phase : kPhases) std::printf(" %9s ", phase);
  std::printf(" %9s %8s\n", "peak MB", "B/B");
  bool linear = true;
  for (const Direction& direction : directions())
    if (std::string(direction.name).find(only) != std::string::npos)
      linear = compare(direction, most) && linear;
  std::printf("linear in every direction: %s\n", linear ? "yes" : "NO");
  return linear ? 0 : 1;
}

}  // namespace
}  // namespace dtranspile::bench

// size_bench [MOST [DIRECTION]]
int main(int argc, char** argv) {
  return dtranspile::bench::run(argc > 1 ? std::atoll(argv[1]) : 1'000'000,
                                argc > 2 ? argv[2] : "");
}

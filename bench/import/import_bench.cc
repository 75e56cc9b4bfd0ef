// Cost of import and export. `ratio`: against bare protobuf parse and serialize of the same bytes,
// interleaved in one process. `scale`: time and memory per op of generated programs up to 1 M ops.
// The goals are printed beside the figures; exit status 1 where one is missed. docs/import.md has
// the figures.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <vector>

#include "bench/import/generate.h"
#include "bench/import/memory.h"
#include "compiler/export/program.h"
#include "compiler/import/import.h"
#include "test/corpus_path.h"

namespace dtranspile::bench {
namespace {

constexpr double kMaxRatio = 3, kMaxGrowth = 1.3, kMaxBytesPerOp = 2500;

// Processor time of this thread (all the work is on it), so that other load on the machine does not
// count.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A context as commands make it, with one program in it.
class Imported {
 public:
  explicit Imported(const std::string& bytes) : context_(mlir::MLIRContext::Threading::DISABLED) {
    context_.loadDialect<pd::PdDialect>();
    module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
    auto program = importProgram(*module_, bytes, {});
    if (mlir::succeeded(program)) program_ = *program;
  }

  pd::ProgramOp program() { return program_; }

 private:
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  pd::ProgramOp program_;
};

struct Lap {
  double import = 0, total = 0;
};

Lap ours(const std::string& bytes) {
  double start = now();
  Lap lap;
  Imported imported(bytes);
  lap.import = now() - start;
  auto out = imported.program() ? exportProgramBytes(imported.program())
                                : mlir::FailureOr<std::string>(mlir::failure());
  lap.total = now() - start;  // destruction of the module is not part of it, as that of the message
                              // is not part of the other
  if (mlir::failed(out) || *out != bytes) {
    std::fprintf(stderr, "import_bench: the program does not survive\n");
    std::exit(1);
  }
  return lap;
}

double bare(const std::string& bytes) {
  double start = now();
  framework::ProgramDesc program;
  bool ok = program.ParseFromString(bytes) && program.SerializeAsString().size() == bytes.size();
  return ok ? now() - start : -1;
}

bool ratio(const std::string& file, int rounds) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  std::vector<double> import, total, protobuf;
  ours(bytes);
  for (int i = 0; i < rounds; ++i) {
    protobuf.push_back(bare(bytes));
    Lap lap = ours(bytes);
    import.push_back(lap.import);
    total.push_back(lap.total);
  }
  double quotient = median(total) / median(protobuf);
  std::printf(
      "%s: %zu bytes, %d rounds\n  protobuf parse + serialize %8.2f ms\n  import                   "
      "  %8.2f ms\n  import + export            %8.2f ms\n"
      "  ratio                      %8.2f    (goal <= %.1f)\n",
      file.c_str(), bytes.size(), rounds, median(protobuf) * 1e3, median(import) * 1e3,
      median(total) * 1e3, quotient, kMaxRatio);
  return quotient <= kMaxRatio;
}

Figures parsed(const std::string& bytes) {
  double before = residentBytes();
  framework::ProgramDesc program;
  program.ParseFromString(bytes);
  return {0, residentBytes() - before, 0};
}

Figures module(const std::string& bytes) {
  double before = residentBytes();
  resetPeak();
  double start = now();
  Imported imported(bytes);
  double time = now() - start, peak = peakBytes() - before;
  if (!imported.program()) return {};
  return {time, residentBytes() - before, peak};
}

bool scale(const std::vector<int64_t>& sizes) {
  std::printf("%10s %12s %10s %14s %14s %14s %12s\n", "ops", "import ms", "us/op", "message MB",
              "module MB", "peak MB", "module B/op");
  double first = 0, growth = 0, perOp = 0;
  bool peakFits = true;
  for (int64_t ops : sizes) {
    std::string bytes = generateProgram(ops);
    Figures message = inChild([&] { return parsed(bytes); });
    Figures imported = inChild([&] { return module(bytes); });
    if (imported.seconds < 0) return false;
    double each = imported.seconds / ops;
    if (first == 0) first = each;
    growth = each / first;
    perOp = imported.held / ops;
    peakFits &=
        imported.peak <= (message.held + imported.held) * 1.02;  // 2 %: pages of the allocator
    std::printf("%10lld %12.1f %10.2f %14.1f %14.1f %14.1f %12.0f\n", static_cast<long long>(ops),
                imported.seconds * 1e3, each * 1e6, message.held / 1e6, imported.held / 1e6,
                imported.peak / 1e6, perOp);
  }
  std::printf(
      "  time per op, largest : smallest  %6.2f    (goal <= %.1f)\n  module bytes per op           "
      "   %6.0f    (goal <= %.0f)\n"
      "  peak <= message + module         %6s\n",
      growth, kMaxGrowth, perOp, kMaxBytesPerOp, peakFits ? "yes" : "no");
  return growth <= kMaxGrowth && perOp <= kMaxBytesPerOp && peakFits;
}

}  // namespace
}  // namespace dtranspile::bench

int main(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "";
  bool fine = true;
  if (what != "ratio" && what != "scale" && what != "all") {
    std::fprintf(stderr, "usage: import_bench ratio [FILE] | scale | all\n");
    return 2;
  }
  if (what != "scale")
    fine &= dtranspile::bench::ratio(
        argc > 2 ? argv[2]
                 : dtranspile::test::CorpusPath("large/static26_gpt_96layer/main.pdmodel"),
        15);
  if (what != "ratio") fine &= dtranspile::bench::scale({100'000, 300'000, 1'000'000});
  return fine ? 0 : 1;
}

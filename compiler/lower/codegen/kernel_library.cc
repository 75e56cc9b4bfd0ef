#include "compiler/lower/codegen/kernel_library.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "compiler/lower/codegen/cache.h"
#include "compiler/lower/codegen/kernel_compiler.h"
#include "compiler/lower/codegen/linker.h"

namespace dtranspile::lower {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Compilers hold it shared, the linker alone: LLD resets global options of LLVM.
std::shared_mutex& llvmOptions() {
  static std::shared_mutex mutex;
  return mutex;
}

std::string keyOf(const KernelSource& kernel, const Target& target) {
  return ObjectCache::key("v" + std::to_string(kPipelineVersion) + "\n" + target.cpu + "\n" +
                          target.features + "\n" + kernel.text);
}

// A kernel to be in the library: its object is from the cache or compiled.
struct Job {
  const KernelSource* source;
  std::string symbol, object;
};

// Threads take jobs from a common counter, as kernels differ in their cost; the first error stops
// them all. One compiler per thread: it holds an LLVM context, which threads cannot share.
void compileAll(std::vector<Job*>& jobs, const LibraryOptions& options, ObjectCache& cache,
                std::string& error) {
  std::atomic<size_t> next{0};
  std::mutex failures;
  auto work = [&] {
    std::shared_lock lock(llvmOptions());
    KernelCompiler compiler(options.target);
    for (size_t i; (i = next++) < jobs.size();) {
      Job& job = *jobs[i];
      std::string problem;
      if (llvm::succeeded(compiler.compile(job.source->text, job.symbol, job.object, problem))) {
        cache.insert(keyOf(*job.source, options.target), job.object);
        continue;
      }
      std::lock_guard guard(failures);
      if (error.empty())
        error = "kernel " + job.symbol + " (" + job.source->hint + "): " + problem + "\n" +
                job.source->text;
      next = jobs.size();
    }
  };
  const size_t count =
      std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()), jobs.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back(work);
  if (count > 0) work();
  for (std::thread& thread : threads) thread.join();
}

// Objects in the order of their symbols, so that equal kernels make equal libraries, byte by byte.
llvm::LogicalResult link(const std::vector<Job>& jobs, const std::string& output,
                         std::string& error) {
  std::vector<NamedObject> objects;
  for (const Job& job : jobs) objects.push_back({job.symbol + ".o", job.object});
  std::unique_lock lock(llvmOptions());
  return linkShared(objects, output, error);
}

}  // namespace

std::string symbolOf(const KernelSource& kernel, const Target& target) {
  return "k_" + keyOf(kernel, target).substr(0, 16);
}

// Kernels of equal text have one symbol and are compiled once; of the rest, only those that the
// cache lacks.
llvm::LogicalResult buildLibrary(const std::vector<KernelSource>& kernels,
                                 const LibraryOptions& options, const std::string& output,
                                 LibraryStatistics& statistics, std::string& error) {
  auto start = Clock::now();
  ObjectCache cache(options.cache);
  statistics.cacheRefusal = cache.refusal();
  std::map<std::string, Job> distinct;
  for (const KernelSource& kernel : kernels) {
    std::string symbol = symbolOf(kernel, options.target);
    distinct.try_emplace(symbol, Job{&kernel, symbol, ""});
  }
  std::vector<Job> jobs;
  for (auto& [symbol, job] : distinct) jobs.push_back(std::move(job));
  std::vector<Job*> missing;
  for (Job& job : jobs) {
    if (auto object = cache.find(keyOf(*job.source, options.target)))
      job.object = std::move(*object);
    else missing.push_back(&job);
  }
  statistics.kernels = static_cast<int>(jobs.size());
  statistics.compiled = static_cast<int>(missing.size());
  compileAll(missing, options, cache, error);
  statistics.compileMs = since(start);
  if (!error.empty()) return llvm::failure();
  if (!missing.empty()) cache.trim();
  start = Clock::now();
  llvm::LogicalResult linked = link(jobs, output, error);
  statistics.linkMs = since(start);
  return linked;
}

}  // namespace dtranspile::lower

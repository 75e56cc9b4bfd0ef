// dtranspile-worker CONFIG: one rank of a job. Started by the launcher (runtime/launch), once per
// rank; by hand to look into one. dtranspile-worker --trial CONFIG: all ranks of a job and its
// reference, as threads (runtime/trial); started by `verify`.
#include <cstdio>
#include <string_view>

#include "runtime/comm/communicator.h"
#include "runtime/exec/worker.h"
#include "runtime/kernels/cpu/call_table.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "runtime/launch/process.h"
#include "runtime/ps/worker_links.h"
#include "runtime/trial/trial.h"

int main(int argc, char** argv) {
  using namespace dtranspile;
  const bool trial = argc == 3 && std::string_view(argv[1]) == "--trial";
  if (argc != 2 && !trial) {
    std::fprintf(stderr, "usage: dtranspile-worker [--trial] CONFIG.json (docs/file-formats.md)\n");
    return exec::kWorkerUsage;
  }
  const auto seed = [](const exec::WorkerConfig& config) {
    random::Generator::Process().SetSeed(static_cast<uint64_t>(config.seed));
    random::Generator::Process().SetRank(config.coordinates, config.mesh);
  };
  const auto begin_step = [](int64_t step) { random::Generator::Process().SetStep(step); };
  exec::WorkerLinks links;
  links.find_function = kernels::FindFunction;
  links.element_types = kernels::ElementTypesOf;
  links.join = comm::Join;
  links.seed = seed;
  links.begin_step = begin_step;
  links.stand = [](const exec::Position& position) {
    random::Generator::Process().SetRank(position.coordinates, position.mesh);
  };
  links.connect = ps::Connect;
  links.serve = ps::Serve;
  return trial ? trial::RunProcess(argv[2], links, launch::kControlFd)
               : exec::RunWorker(argv[1], links);
}

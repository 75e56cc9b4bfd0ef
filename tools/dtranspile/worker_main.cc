// dtranspile-worker CONFIG: one rank of a job. Started by the launcher (runtime/launch), once per
// rank; by hand to look into one.
#include <cstdio>

#include "runtime/comm/communicator.h"
#include "runtime/exec/worker.h"
#include "runtime/kernels/cpu/call_table.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "runtime/ps/worker_links.h"

int main(int argc, char** argv) {
  using namespace dtranspile;
  if (argc != 2) {
    std::fprintf(stderr, "usage: dtranspile-worker CONFIG.json (docs/file-formats.md)\n");
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
  return exec::RunWorker(argv[1], links);
}

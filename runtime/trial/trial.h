// A job and its reference side by side, in this process: ranks are threads, reductions are those of
// runtime/comm (in the order of the ranks), and what every rank holds after its start-up program
// and after every step is compared with what the reference holds then. What `verify --execute`
// runs (docs/verification.md, Rung 5), in a process of its own, since a wrong job may do anything:
// `dtranspile-worker --trial CONFIG`.
#pragma once

#include <string>

#include "runtime/exec/worker.h"
#include "runtime/trial/config.h"
#include "runtime/trial/result.h"

namespace dtranspile::trial {

// Runs it. `links` without what a thread has of its own: random numbers.
Result Run(const Config& config, const exec::WorkerLinks& links);

// The process: CONFIG at `path`, limits set, the result as JSON to `out`. The exit status.
int RunProcess(const std::string& path, const exec::WorkerLinks& links, int out);

}  // namespace dtranspile::trial

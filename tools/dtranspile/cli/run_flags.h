// What a run is given: shared by the commands `run` and `compile`.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

struct RunFlags {
  std::string input;                 // JOB or MAIN
  std::string startup;               // of MAIN
  std::string feeds;                 // folder
  std::vector<std::string> feed;     // NAME=FILE.npy
  std::string init;                  // folder, combined file or pickle
  std::vector<std::string> perStep;  // VAR=v0,v1,…
  std::vector<std::string> fetch;
  int64_t steps = -1;        // -1: as many as the feeds have
  std::string cache;         // empty: the user's cache folder
  int threads = 0;           // of a rank; 0: cores / ranks, at least 1
  bool mendDefects = false;  // docs/operators/defects.md
  bool float64 = false;      // pass widen-float64
};

// Declares the flags that both commands have.
void declareRunFlags(CLI::App& app, RunFlags& flags);

}  // namespace dtranspile::cli

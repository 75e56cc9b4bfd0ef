// `run --dataset`: text files instead of feeds (docs/datasets.md).
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/dtranspile/cli/runnable.h"

namespace dtranspile::cli {

struct DatasetFlags {
  std::string description;  // FILE.json; empty: none
  bool pipeCommand = false;
};

void declareDataset(CLI::App& app, DatasetFlags& flags);

// Reads the data set, as many trainers as cut the feeds of the job, and writes its feeds into the
// folder, which it makes. Says what of the data is left out.
mlir::LogicalResult feedFromDataset(Tool& tool, const DatasetFlags& flags, Runnable& runnable,
                                    const std::string& folder);

}  // namespace dtranspile::cli

// Data sets of text files, as CTR jobs have them: the framework's QueueDataset and InMemoryDataset.
// Every trainer has files of its own, of which it makes batches of its own; the batch of a step is
// those of all trainers, in the order of their ranks. Read and turned into feeds before the first
// step (docs/datasets.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data/multislot.h"

namespace dtranspile::data {

enum class Shuffle {
  kNone,    // the order of the files and of the lines in them
  kLocal,   // each trainer its own samples
  kGlobal,  // all samples, which are then dealt to the trainers in equal shares
};

struct Dataset {
  std::vector<std::string> files;  // relative ones belong to the folder of the description
  std::vector<Slot> slots;         // in the order of a line
  int64_t batch_size = 1;          // samples of a trainer in a step
  int64_t epochs = 1;              // how often the files are gone through
  // InMemoryDataset only: QueueDataset keeps the order and holds one file per trainer in memory.
  bool in_memory = false;
  Shuffle shuffle = Shuffle::kNone;
  uint64_t seed = 0;         // of the shuffles, each epoch another one
  std::string pipe_command;  // empty: the files themselves (the framework's default, `cat`)
  int64_t pipe_command_seconds = 600;  // that it may be silent
};

// A description in JSON. kInvalidArgument names the file, the key and what is expected.
absl::StatusOr<Dataset> ReadDataset(const std::string& path);

// The files of trainer `trainer` of `trainers`: consecutive ones, the first trainers one more where
// their number does not divide (as the framework's get_file_shard). kInvalidArgument where there
// are fewer files than trainers.
absl::StatusOr<std::vector<std::string>> FilesOf(const Dataset& dataset, int64_t trainer,
                                                 int64_t trainers);

struct FedDataset {
  int64_t steps = 0;
  // Whatever is left out: samples after the last whole batch, batches that other trainers do not
  // have.
  std::vector<std::string> notes;
};

// Feeds of all steps, in `folder`, which exists: NAME.npy, or NAME.step<k>.npy and
// NAME.step<k>.lod.json (runtime/io/feed.h). `threads` files are read at once. Errors of
// ReadSamples and of writing; kInvalidArgument where no trainer has a whole batch.
absl::StatusOr<FedDataset> WriteFeeds(const Dataset& dataset, int64_t trainers, int threads,
                                      const std::string& folder);

}  // namespace dtranspile::data

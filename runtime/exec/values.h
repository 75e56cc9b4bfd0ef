// Values into and out of a loaded plan: feeds cut to this rank's part, persistables from files and
// back, per-step values, fetches. Used by the worker.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/server_link.h"
#include "runtime/io/feed.h"
#include "runtime/io/npy.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {

// The feeds of the main program, opened and checked against the plan.
class Feeds {
 public:
  // kInvalidArgument for feeds that are missing, unknown, of another type or extents, with fewer
  // steps than asked for.
  static absl::StatusOr<Feeds> Open(const WorkerConfig& config, const Executor& executor);

  // Copies the rank's part of `step` into the plan's buffers.
  absl::Status Read(int64_t step, const Executor& executor) const;

 private:
  std::vector<OpenFeed> entries_;
};

// Sets persistables as `config.init` says, or by the start-up program. Persistables without a file
// that are no parameters are left to the start-up program, which then runs first.
absl::Status Initialise(const WorkerConfig& config, Executor& executor);

// What a server answers for: the variables that this rank has, where they lie.
absl::StatusOr<std::vector<Table>> TablesOf(const WorkerConfig& config, const Executor& executor);

// What a buffer holds now. Makes all rows of a variable that are made when they are touched.
absl::StatusOr<TensorView> ViewOf(const Executor& executor, int id);

// Writes config.save_names to the folder config.save and this rank's parts of config.part_names to
// config.save_parts, one tensor file each. A part has the extents of its memory where that has a
// pad (even layouts), else its own.
absl::Status Save(const WorkerConfig& config, const Executor& executor);

// Gives a buffer the elements of a tensor. kInvalidArgument where type or extents are not those of
// the plan.
absl::Status SetBuffer(const Executor& executor, int buffer, const TensorView& tensor);

// Sets every element of the variables of config.per_step to the value of `step`.
absl::Status SetPerStep(const WorkerConfig& config, int64_t step, const Executor& executor);

// The fetches of a run: values for the report, and raw ones for files.
class Fetches {
 public:
  static absl::StatusOr<Fetches> Open(const WorkerConfig& config, const Executor& executor);

  // name -> flat list of elements; null for more than 64 elements. Writes the step to the files of
  // save_fetches.
  absl::StatusOr<Json> Take(int64_t step, const Executor& executor);

  absl::Status Finish();

 private:
  struct Entry {
    std::string name;
    int buffer;
    std::string stem;                   // of files per step; empty: none
    std::optional<io::NpyStack> stack;  // all steps in one file
  };
  std::vector<Entry> entries_;
};

}  // namespace dtranspile::exec

// What a run is given: feeds, initial values, per-step values, found and checked against a plan
// without its memory. The launcher checks before it starts a process, so that what is wrong is said
// once; the worker reads through the same functions (values.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/exec/plan.h"
#include "runtime/io/feed.h"
#include "runtime/io/tensor_record.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {

// Everything below at once; of tensor files the headers. kInvalidArgument, kNotFound, kDataLoss,
// kFailedPrecondition.
absl::Status CheckInputs(const WorkerConfig& config, const Plan& plan);

// A feed of the main program and the part that this rank takes of it.
struct OpenFeed {
  io::Feed feed;
  int buffer;
  int dim;
  int64_t part, parts;
};

// kInvalidArgument for feeds that are missing, of another type or extents, with fewer steps than
// asked for.
absl::StatusOr<std::vector<OpenFeed>> OpenFeeds(const WorkerConfig& config, const Plan& plan);

// Null for a name that the plan lacks.
const Persistable* FindPersistable(const Plan& plan, const std::string& name);

// Sets elements to a number; null for types that have no per-step values.
using FillFunction = void (*)(std::byte* data, int64_t count, double value);
FillFunction FillOf(DType type);

// Whether config.per_step names persistables and has a value for each step.
absl::Status CheckPerStep(const WorkerConfig& config, const Plan& plan);

// Whether there is something to start from at all.
absl::Status CheckInit(const WorkerConfig& config, const Plan& plan);

// What `init` has no value for.
struct MissingInitials {
  std::vector<std::string> made;  // the start-up program makes them
  std::vector<std::pair<const Persistable*, const Persistable*>>
      copied;  // they begin as another one that has a value
};
// kNotFound where there is no way to begin: parameters, or no start-up program. Points into `plan`.
absl::StatusOr<MissingInitials> FindMissing(const InitConfig& init, const Plan& plan);

// Reads the value of every persistable that is not `missing`; type and extents fit the plan's
// (FitsOrWidens).
using UseInitial = std::function<absl::Status(const Persistable&, Tensor)>;
absl::Status ForEachInitial(const InitConfig& init, const MissingInitials& missing,
                            const Plan& plan, io::Elements elements, const UseInitial& use);

}  // namespace dtranspile::exec

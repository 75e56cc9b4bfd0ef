// What a run is given: feeds, initial values, per-step values, found and checked against a plan
// without its memory. The launcher checks before it starts a process, so that what is wrong is said
// once; the worker reads through the same functions (values.h).
#pragma once

#include <functional>
#include <map>
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

// Variables of a plan.
using Variables = std::vector<const Persistable*>;
Variables AllVariables(const Plan& plan);
// Those that a rank has, or a part of.
Variables VariablesOf(const Plan& plan, const std::map<std::string, int64_t>& coordinates);
// Null for a name that the plan lacks.
const Persistable* FindPersistable(const Plan& plan, const std::string& name);
// Extents of a variable as files have it: those of the whole tensor.
const std::vector<int64_t>& WholeDims(const Plan& plan, const Persistable& variable);

// Everything below at once, of all variables of the plan; of tensor files the headers.
// kInvalidArgument, kNotFound, kDataLoss, kFailedPrecondition.
absl::Status CheckInputs(const WorkerConfig& config, const Plan& plan);

// A feed of the program of every step, and the part that this rank takes of it.
struct OpenFeed {
  io::Feed feed;
  int buffer;
  int dim;
  int64_t part, parts;
};

// kInvalidArgument for feeds that are missing, of another type or extents, with fewer steps than
// asked for.
absl::StatusOr<std::vector<OpenFeed>> OpenFeeds(const WorkerConfig& config, const Plan& plan);

// Sets elements to a number; null for types that have no per-step values.
using FillFunction = void (*)(std::byte* data, int64_t count, double value);
FillFunction FillOf(DType type);

// Whether config.per_step names persistables and has a value for each step.
absl::Status CheckPerStep(const WorkerConfig& config, const Plan& plan);

// Whether there is something to start from at all.
absl::Status CheckInit(const WorkerConfig& config, const Plan& plan);

// kFailedPrecondition where a checkpoint has shares of a variable that every rank of another job
// has of its own: ranks of this one, which is shared out in another way, could not go on from them.
absl::Status CheckShares(const WorkerConfig& config, const Plan& plan);

// Which of a plan's variables `init` has no value for.
struct MissingInitials {
  std::vector<std::string> made;  // the start-up program makes them
  std::vector<std::pair<const Persistable*, const Persistable*>>
      copied;  // they begin as another one that has a value
};
// kNotFound where there is no way to begin: parameters, or no start-up program.
absl::StatusOr<MissingInitials> FindMissing(const InitConfig& init, const Plan& plan,
                                            const Variables& variables);

// Reads what this rank begins with of every one of these variables that is not `missing`, as a
// whole variable of which it may have a part; type and extents fit the plan's (FitsOrWidens). Of a
// sum over ranks that is one value in `config.init` the first rank has all, the others zeros.
using UseInitial = std::function<absl::Status(const Persistable&, Tensor)>;
absl::Status ForEachInitial(const WorkerConfig& config, const MissingInitials& missing,
                            const Plan& plan, const Variables& variables, io::Elements elements,
                            const UseInitial& use);

}  // namespace dtranspile::exec

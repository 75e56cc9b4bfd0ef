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

// Which of these variables `init` has no value for and the start-up program makes. kNotFound where
// it cannot: parameters, or no start-up program.
absl::StatusOr<std::vector<std::string>> MissingInitials(const InitConfig& init, const Plan& plan,
                                                         const Variables& variables);

// Reads the whole value of every one of these variables that is not `missing`; type and extents fit
// the plan's (FitsOrWidens).
using UseInitial = std::function<absl::Status(const Persistable&, Tensor)>;
absl::Status ForEachInitial(const InitConfig& init, const std::vector<std::string>& missing,
                            const Plan& plan, const Variables& variables, io::Elements elements,
                            const UseInitial& use);

}  // namespace dtranspile::exec

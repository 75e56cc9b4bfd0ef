// What a trial (trial.h) has found out, and its text between the process that runs it and the
// command that asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/json_reader.h"

namespace dtranspile::trial {

// A variable or fetch that is not what the reference has.
struct Difference {
  std::string kind;  // "variable", "fetch", "draw" (ranks that drew their own start-up values keep
                     // them apart)
  std::string name;  // of the job
  std::string of;    // of the reference
  std::string role;
  int rank = 0;
  int64_t step = -1;  // -1: after the start-up program
  double relative = 0;
  std::string text;  // "element 3 is 0.5, not 0.25"
};

// A rank that did not come to its end.
struct Stop {
  std::string role;
  int rank = 0;
  std::string op, message;
  int64_t step = -1;
  bool waiting = false;
};

struct Result {
  std::string failure;  // of the trial itself, or of the reference: nothing was found out
  std::optional<std::string> wild;  // a variable of the reference that is no finite number
  std::vector<Stop> stops;          // a rank that failed by itself before those that waited for it
  // Of the first step in which there are some.
  std::vector<Difference> differences;
  int64_t compared = 0;                 // tensors
  std::vector<std::string> unmoved;     // feeds that the loss of the reference does not react to
  std::vector<std::string> unaffected;  // parameters of which the same is true
  std::vector<std::string> frozen;      // parameters that no step of the reference changes
};

exec::Json ToJson(const Result& result);
// kInvalidArgument names the place.
absl::StatusOr<Result> ParseResult(const std::string& text);

}  // namespace dtranspile::trial

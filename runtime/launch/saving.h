// --save of a job and its checkpoints: which rank writes which variable, and cut variables put
// together from the parts of their ranks, sums from their terms. Of what each rank has of its own
// (runtime/exec/shares.h) the first one's is saved, and checkpoints have all. Of several roles that
// have a variable servers are asked first, then the first one whose copy is that of the saved
// program; of its ranks the first that has the variable, or the part. Used by RunJob.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"
#include "runtime/exec/plan.h"
#include "runtime/launch/ranks.h"

namespace dtranspile::launch {

// A variable of which every rank has a part, or a term of a sum.
struct CutVariable {
  struct Writer {
    int64_t term = 0, part = 0;
    size_t rank = 0;
  };
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;           // of the whole
  std::optional<exec::Layout> layout;  // where it is cut
  int64_t parts = 1;
  std::vector<Writer> writers;  // empty parts have none
};

// Sets what every rank saves (`save`, `save_names`, `part_names`). Returns the variables that are
// to be put together.
// kInvalidArgument where a part is on no rank, or ranks do not agree how a variable is cut.
absl::StatusOr<std::vector<CutVariable>> ShareSaving(const std::string& folder,
                                                     std::vector<Rank>& ranks);

// Sets which variables and parts of them every rank writes to checkpoints, and the ranks that do.
// Of roles that are not started here the names of their variables are enough.
absl::Status ShareCheckpoints(const JobSpec& spec, std::vector<Rank>& ranks);

// The folder below `parts` where a rank leaves its parts.
std::string PartsFolder(const std::string& parts, size_t rank);

// Writes the whole variables to `folder`.
absl::Status PutTogether(const std::vector<CutVariable>& variables, const std::string& parts,
                         const std::string& folder);

}  // namespace dtranspile::launch

// Variables that ranks do not have alike: sums of which every rank has a term (P(sum): gradients
// that are merged, between two updates), and what every rank has of its own (X: the parameters of
// local SGD between two averages, what compressed gradients have kept back, running statistics).
// Of such a variable a checkpoint has every rank's share (docs/file-formats.md, Checkpoints); the
// framework's files, which know one value per variable, have the sum, or the first rank's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/plan.h"
#include "runtime/io/tensor_record.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {

// How a variable is shared out: along the axes on which it is neither equal nor cut.
struct Shares {
  struct Axis {
    std::string name;
    int64_t size = 1;
    std::string state;  // "P(sum)", "X(dgc)": as the job has it
    bool operator==(const Axis&) const = default;
  };
  std::vector<Axis> axes;  // by name

  // Equal on all ranks, as far as it is not cut.
  bool alike() const { return axes.empty(); }
  // Whether the value is the sum of the shares; of one that is alike it is.
  bool sums() const;
  int64_t count() const;
  // Coordinates along the axes as digits, the first one major.
  int64_t at(const std::map<std::string, int64_t>& coordinates) const;
  bool operator==(const Shares&) const = default;
};

// Axes that `mesh` lacks have one rank.
Shares SharesOf(const Persistable& variable, const std::map<std::string, int64_t>& mesh);

// Where they lie in a folder of variables: every share as a whole variable, and what shares there
// are.
std::string ShareName(int64_t share, const std::string& variable);
std::string SharesName(const std::string& variable);
std::string TextOf(const Shares& shares);

// How `variable` is shared out in a folder; alike where that says nothing of it.
absl::StatusOr<Shares> ReadShares(const std::string& folder, const std::string& variable);

// The sum of its shares in the folder, or what it has under the variable's own name. kSkip: type
// and extents of all of them are compared.
absl::StatusOr<Tensor> ReadWhole(const std::string& folder, const std::string& variable,
                                 io::Elements elements = io::Elements::kRead);

// total += term. kInvalidArgument where they do not fit, or the type has no sums.
absl::Status AddTerm(const Tensor& term, const std::string& from, Tensor& total);

}  // namespace dtranspile::exec

// The ids of one lookup, each once: what is asked for, where the answers go, and which rows are
// copies of others. Used by the client (client.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace dtranspile::ps {

class DistinctIds {
 public:
  // Row i of the answer is to be that of ids[i], or zeros where ids[i] is `padding`.
  DistinctIds(const int64_t* ids, int64_t count, std::optional<int64_t> padding);

  // Every id but the padding, in the order in which they come first, and the row of the answer
  // where that is.
  struct Wanted {
    int64_t id = 0, row = 0;
  };
  const std::vector<Wanted>& wanted() const { return wanted_; }

  // Once the rows of `wanted` are there: fills the others. `rows` has as many rows as there were
  // ids, of `row_bytes` each.
  void Fill(std::byte* rows, int64_t row_bytes) const;

 private:
  std::vector<Wanted> wanted_;
  std::vector<std::pair<int64_t, int64_t>> copies_;  // from one row of the answer to a later one
  std::vector<int64_t> zeros_;
};

}  // namespace dtranspile::ps

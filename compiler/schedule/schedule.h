// Pipeline schedules by name, expanded: which task every stage runs when. `dist.micro` names one;
// whoever needs the order asks here (verify: D15).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtranspile::schedule {

// F: forward; B: backward; W: gradients of weights, where they are a task of their own.
enum class Task { F, B, W };

// Chunk k is the k-th of the stage's own (the model's part k·stages + stage).
struct Entry {
  Task task;
  int64_t chunk, micro;
  bool operator==(const Entry&) const = default;
};

struct Shape {
  int64_t stages = 1, chunks = 1, micros = 1;
  int64_t entries() const;  // of a table with three tasks; saturates
};

// What each stage runs, in its order.
using Table = std::vector<std::vector<Entry>>;

// Names that `expand` knows: "F-then-B", "1F1B" (with chunks: interleaved), "ZB-H1".
std::vector<std::string> names();

// Nothing where the name is not known or the shape does not fit it; `why` then says which.
std::optional<Table> expand(std::string_view name, const Shape& shape, std::string& why);

// How many copies a stage keeps of a value, so that what is under way at once is kept apart:
// micro-batch m has copy m mod that, from the first of its entries to the last one. Entries count
// whether or not the stage has something to do in them: a send that waits for its copy before the
// table says so may wait for a stage that waits for what comes after it. At most `micros`.
int64_t instancesOf(const std::vector<Entry>& row, int64_t micros);

// "F2", "B0", "F1.3" for micro-batch 3 of chunk 1.
std::string textOf(const Entry& entry);

}  // namespace dtranspile::schedule

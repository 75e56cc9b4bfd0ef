#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <limits>

namespace dtranspile::schedule {
namespace {

using Row = std::vector<Entry>;

// All forward, then all backward; a stage's chunks one after the other.
Row forwardThenBackward(const Shape& shape, int64_t) {
  Row row;
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
    for (int64_t micro = 0; micro < shape.micros; ++micro) row.push_back({Task::F, chunk, micro});
  for (int64_t chunk = shape.chunks - 1; chunk >= 0; --chunk)
    for (int64_t micro = 0; micro < shape.micros; ++micro) row.push_back({Task::B, chunk, micro});
  return row;
}

// Turn t of a stage: micro-batches go in groups as large as the pipeline, each group through all
// chunks (Narayanan et al. 2021, arXiv:2104.04473).
Entry interleaved(Task task, const Shape& shape, int64_t turn) {
  const int64_t group = shape.stages * shape.chunks, within = turn % group,
                chunk = within / shape.stages;
  return {task, task == Task::F ? chunk : shape.chunks - 1 - chunk,
          turn / group * shape.stages + within % shape.stages};
}

// Warm-up, then one forward and one backward in turn, then what is left of backward. The last stage
// warms up least.
Row oneForwardOneBackward(const Shape& shape, int64_t stage) {
  const int64_t total = shape.micros * shape.chunks, after = shape.stages - 1 - stage;
  const int64_t warm = shape.chunks == 1 ? after
                       : shape.micros == shape.stages
                           ? total
                           : 2 * after + (shape.chunks - 1) * shape.stages;
  const int64_t first = std::min(warm, total);
  Row row;
  for (int64_t turn = 0; turn < first; ++turn) row.push_back(interleaved(Task::F, shape, turn));
  for (int64_t turn = first; turn < total; ++turn) {
    row.push_back(interleaved(Task::F, shape, turn));
    row.push_back(interleaved(Task::B, shape, turn - first));
  }
  for (int64_t turn = total - first; turn < total; ++turn)
    row.push_back(interleaved(Task::B, shape, turn));
  return row;
}

// Gradients of weights fill the bubbles: what the warm-up kept back runs at the end (Qi et al.
// 2023, arXiv:2401.10241, H1).
Row zeroBubble(const Shape& shape, int64_t stage) {
  Row row;
  int64_t forward = 0, backward = 0, weight = 0;
  for (; forward < std::min(shape.stages - stage, shape.micros); ++forward)
    row.push_back({Task::F, 0, forward});
  while (backward < shape.micros) {
    row.push_back({Task::B, 0, backward++});
    if (backward > stage) row.push_back({Task::W, 0, weight++});
    if (forward < shape.micros) row.push_back({Task::F, 0, forward++});
  }
  while (weight < shape.micros) row.push_back({Task::W, 0, weight++});
  return row;
}

struct Generator {
  const char* name;
  Row (*row)(const Shape&, int64_t stage);
  bool chunks;  // may have more than one per stage
};
constexpr Generator kGenerators[] = {
    {"F-then-B", forwardThenBackward, true},
    {"1F1B", oneForwardOneBackward, true},
    {"ZB-H1", zeroBubble, false},
};

}  // namespace

int64_t Shape::entries() const {
  int64_t count = 3;
  for (int64_t factor : {stages, chunks, micros})
    if (__builtin_mul_overflow(count, factor, &count)) return std::numeric_limits<int64_t>::max();
  return count;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Generator& generator : kGenerators) all.emplace_back(generator.name);
  return all;
}

// The order of tasks per stage; nothing, with the reason in `why`, where the schedule does not have
// this shape.
std::optional<Table> expand(std::string_view name, const Shape& shape, std::string& why) {
  const Generator* generator = std::find_if(std::begin(kGenerators), std::end(kGenerators),
                                            [&](const Generator& one) { return one.name == name; });
  if (generator == std::end(kGenerators)) {
    why = "no schedule is called \"" + std::string(name) + "\"; there are";
    for (const std::string& one : names()) why += " \"" + one + "\"";
    return std::nullopt;
  }
  if (shape.stages < 1 || shape.chunks < 1 || shape.micros < 1) {
    why = "a schedule needs at least one stage, chunk and micro-batch";
    return std::nullopt;
  }
  if (shape.chunks > 1 && (!generator->chunks || (name == "1F1B" && shape.micros % shape.stages))) {
    why = generator->chunks
              ? "interleaved chunks need a number of micro-batches that the stages divide"
              : "\"" + std::string(name) + "\" has one chunk per stage";
    return std::nullopt;
  }
  Table table;
  for (int64_t stage = 0; stage < shape.stages; ++stage)
    table.push_back(generator->row(shape, stage));
  return table;
}

// How many micro-batches are under way at once on a stage, as buffers see it: micro-batch m uses
// instance m mod n. The least n for which nobody's instance is taken while its micro-batch still
// has tasks.
int64_t instancesOf(const std::vector<Entry>& row, int64_t micros) {
  std::vector<size_t> last(static_cast<size_t>(micros));
  for (size_t i = 0; i < row.size(); ++i) last[static_cast<size_t>(row[i].micro)] = i;
  const auto keepsApart = [&](int64_t count) {
    std::vector<int64_t> holders(static_cast<size_t>(count), -1);
    for (size_t i = 0; i < row.size(); ++i) {
      int64_t& holder = holders[static_cast<size_t>(row[i].micro % count)];
      if (holder >= 0 && holder != row[i].micro && last[static_cast<size_t>(holder)] >= i)
        return false;
      holder = row[i].micro;
    }
    return true;
  };
  int64_t count = 1;
  while (count < micros && !keepsApart(count)) ++count;
  return count;
}

std::string textOf(const Entry& entry) {
  static constexpr const char* kLetters[] = {"F", "B", "W"};
  std::string chunk = entry.chunk ? std::to_string(entry.chunk) + "." : "";
  return kLetters[static_cast<int>(entry.task)] + chunk + std::to_string(entry.micro);
}

}  // namespace dtranspile::schedule

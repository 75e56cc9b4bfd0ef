#include "runtime/exec/plan_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/exec/plan_check_body.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kAlignment = 64;
constexpr size_t kMostBuffers = size_t{1} << 24;
constexpr const char* kCombines[] = {"mean", "same", "sum", "concat", "list"};

// Where a buffer lies: its bytes are those of its type, all instances of it are inside their block
// of memory, and the arithmetic of that does not overflow. Values have no memory of the plan's.
void CheckBuffer(PlanCheck& check, const Buffer& buffer, const std::string& where) {
  const bool pinned = buffer.memory == Memory::kPinned && buffer.space == Space::kArena;
  if (buffer.memory != Memory::kHost && !pinned)
    return check.Add(where + ".memory", "'", buffer.name,
                     "' is not in host memory, and this runtime has no other");
  if (buffer.space == Space::kValue) return;
  const bool constant = buffer.space == Space::kConstant;
  const auto bytes = ByteCount(buffer.dtype, buffer.dims);
  if (!bytes.ok()) return check.Add(where, std::string(bytes.status().message()));
  if (*bytes != buffer.bytes)
    return check.Add(where + ".bytes", "'", buffer.name, "' is ",
                     ShapeText(buffer.dtype, buffer.dims), ", ", *bytes, " bytes, not ",
                     buffer.bytes);
  if (constant && static_cast<int64_t>(buffer.data.size()) != buffer.bytes)
    return check.Add(where + ".data", "expected ", 2 * buffer.bytes, " hexadecimal digits");
  if (buffer.offset % kAlignment != 0)
    return check.Add(where + ".offset", "not a multiple of ", kAlignment);
  if (buffer.stride % kAlignment != 0 && buffer.space == Space::kArena)
    return check.Add(where + ".stride", "not a multiple of ", kAlignment);
  int64_t end = 0;
  if (__builtin_mul_overflow(buffer.stride, buffer.instances - 1, &end) ||
      __builtin_add_overflow(end, buffer.offset + buffer.bytes, &end))
    return check.Add(where, "'", buffer.name, "' is larger than any memory");
  const int64_t block = pinned                          ? check.plan.pinned_bytes
                        : buffer.space == Space::kArena ? check.plan.arena_bytes
                                                        : check.plan.persistent_bytes;
  if (!constant && end > block)
    check.Add(where, "'", buffer.name, "' ends at byte ", end, " of a block of ", block);
}

// Names are unique, each has persistent memory, and `begins_as` names another one of the same type.
void CheckPersistables(PlanCheck& check) {
  std::map<std::string_view, const Persistable*> names;
  for (size_t i = 0; i < check.plan.persistables.size(); ++i) {
    const Persistable& p = check.plan.persistables[i];
    const std::string where = absl::StrCat("persistables[", i, "]");
    if (!names.emplace(p.name, &p).second)
      check.Add(where + ".name", "'", p.name, "' occurs twice");
    if (check.At(p.buffer).space != Space::kPersistent)
      check.Add(where, "'", p.name, "' is not in persistent memory");
    CheckSelector(check, p.at, where + ".at");
    if (p.layout) CheckLayout(check, *p.layout, where + ".layout");
  }
  for (size_t i = 0; i < check.plan.persistables.size(); ++i) {
    const Persistable& p = check.plan.persistables[i];
    if (p.begins_as.empty()) continue;
    const std::string where = absl::StrCat("persistables[", i, "].begins_as");
    const auto from = names.find(p.begins_as);
    if (from == names.end() || from->second == &p) {
      check.Add(where, "'", p.begins_as, "' is no other persistable of the plan");
      continue;
    }
    const Buffer &to = check.At(p.buffer), &source = check.At(from->second->buffer);
    if (to.dtype != source.dtype || to.dims != source.dims)
      check.Add(where, "'", p.begins_as, "' is of another type or of other extents");
  }
}

void CheckProgram(PlanCheck& check, Program& program, const std::string& where) {
  for (size_t i = 0; i < program.feeds.size(); ++i) {
    const FeedSlot& feed = program.feeds[i];
    const std::string place = absl::StrCat(where, ".feeds[", i, "]");
    const Buffer& buffer = check.At(feed.buffer);
    if (buffer.space == Space::kConstant) check.Add(place, "a constant cannot be fed");
    if (feed.split && feed.split->dim >= static_cast<int>(buffer.dims.size()))
      check.Add(place + ".split", "dimension ", feed.split->dim, " of ", buffer.dims.size());
  }
  for (size_t i = 0; i < program.fetches.size(); ++i) {
    const std::string& combine = program.fetches[i].combine;
    if (std::find(std::begin(kCombines), std::end(kCombines), combine) == std::end(kCombines))
      check.Add(absl::StrCat(where, ".fetches[", i, "].combine"), "unknown '",
                combine.substr(0, 80), "', expected one of mean, same, sum, concat, list");
  }
  CheckProgramBody(check, program.body, where + ".body");
}

// One program for each time and table at most, and either one of every step (a trainer) or those of
// a server, which answers pushes, pulls and rounds instead.
void CheckPrograms(PlanCheck& check) {
  std::set<std::pair<When, std::string>> when;
  for (size_t i = 0; check.errors.ok() && i < check.plan.programs.size(); ++i) {
    Program& program = check.plan.programs[i];
    const std::string where = absl::StrCat("programs.", program.name.substr(0, 80));
    if (!when.insert({program.when, program.table}).second)
      check.Add(where + ".when", "another program runs then, too");
    CheckProgram(check, program, where);
  }
  const auto runs = [&](When one) {
    return std::any_of(check.plan.programs.begin(), check.plan.programs.end(),
                       [&](const Program& program) { return program.when == one; });
  };
  const bool serves = runs(When::kRound) || runs(When::kPush) || runs(When::kPull);
  if (runs(When::kStep) == serves)
    check.Add("programs",
              serves ? "a server has no program of every step" : "none runs in every step");
}

}  // namespace

void CheckPlan(Plan& plan, JsonErrors& errors) {
  PlanCheck check{plan, errors};
  if (plan.library.find('/') != std::string::npos)
    check.Add("library", "expected a file of the plan's own folder");
  if (plan.buffers.size() > kMostBuffers) check.Add("buffers", "too many");
  for (size_t i = 0; check.errors.ok() && i < plan.buffers.size(); ++i)
    CheckBuffer(check, plan.buffers[i], absl::StrCat("buffers[", i, "]"));
  if (check.errors.ok()) CheckPersistables(check);
  if (check.errors.ok()) CheckPrograms(check);
}

}  // namespace dtranspile::exec

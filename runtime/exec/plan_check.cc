#include "runtime/exec/plan_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/exec/layout_check.h"
#include "runtime/exec/node_check.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kAlignment = 64;
constexpr size_t kMostBuffers = size_t{1} << 24;
constexpr const char* kCombines[] = {"mean", "same", "sum", "concat", "list"};

class PlanChecker {
 public:
  PlanChecker(Plan& plan, JsonErrors& errors) : plan_(plan), errors_(errors) {}

  void Check();

 private:
  template <typename... Parts>
  void Add(const std::string& where, const Parts&... parts) {
    errors_.Add(where, absl::StrCat(parts...));
  }
  const Buffer& At(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }

  void CheckBuffer(const Buffer& buffer, const std::string& where);
  void CheckPersistables();
  void CheckPrograms();
  void CheckProgram(Program& program, const std::string& where);

  Plan& plan_;
  JsonErrors& errors_;
};

void PlanChecker::CheckBuffer(const Buffer& buffer, const std::string& where) {
  if (buffer.memory != Memory::kHost)
    return Add(where + ".memory", "'", buffer.name,
               "' is not in host memory, and this runtime has no other");
  if (buffer.space == Space::kValue) return;
  const bool constant = buffer.space == Space::kConstant;
  const auto bytes = ByteCount(buffer.dtype, buffer.dims);
  if (!bytes.ok()) return Add(where, std::string(bytes.status().message()));
  if (*bytes != buffer.bytes)
    return Add(where + ".bytes", "'", buffer.name, "' is ", ShapeText(buffer.dtype, buffer.dims),
               ", ", *bytes, " bytes, not ", buffer.bytes);
  if (constant && static_cast<int64_t>(buffer.data.size()) != buffer.bytes)
    return Add(where + ".data", "expected ", 2 * buffer.bytes, " hexadecimal digits");
  if (buffer.offset % kAlignment != 0)
    return Add(where + ".offset", "not a multiple of ", kAlignment);
  if (buffer.stride % kAlignment != 0 && buffer.space == Space::kArena)
    return Add(where + ".stride", "not a multiple of ", kAlignment);
  int64_t end = 0;
  if (__builtin_mul_overflow(buffer.stride, buffer.instances - 1, &end) ||
      __builtin_add_overflow(end, buffer.offset + buffer.bytes, &end))
    return Add(where, "'", buffer.name, "' is larger than any memory");
  const int64_t block = buffer.space == Space::kArena ? plan_.arena_bytes : plan_.persistent_bytes;
  if (!constant && end > block)
    Add(where, "'", buffer.name, "' ends at byte ", end, " of a block of ", block);
}

void PlanChecker::CheckPersistables() {
  std::map<std::string_view, const Persistable*> names;
  for (size_t i = 0; i < plan_.persistables.size(); ++i) {
    const Persistable& p = plan_.persistables[i];
    const std::string where = absl::StrCat("persistables[", i, "]");
    if (!names.emplace(p.name, &p).second) Add(where + ".name", "'", p.name, "' occurs twice");
    if (At(p.buffer).space != Space::kPersistent)
      Add(where, "'", p.name, "' is not in persistent memory");
    CheckSelector(p.at, where + ".at", errors_);
    if (p.layout) CheckLayout(*p.layout, where + ".layout", errors_);
  }
  for (size_t i = 0; i < plan_.persistables.size(); ++i) {
    const Persistable& p = plan_.persistables[i];
    if (p.begins_as.empty()) continue;
    const std::string where = absl::StrCat("persistables[", i, "].begins_as");
    const auto from = names.find(p.begins_as);
    if (from == names.end() || from->second == &p) {
      Add(where, "'", p.begins_as, "' is no other persistable of the plan");
      continue;
    }
    const Buffer &to = At(p.buffer), &source = At(from->second->buffer);
    if (to.dtype != source.dtype || to.dims != source.dims)
      Add(where, "'", p.begins_as, "' is of another type or of other extents");
  }
}

void PlanChecker::CheckPrograms() {
  std::set<std::pair<When, std::string>> when;
  for (size_t i = 0; errors_.ok() && i < plan_.programs.size(); ++i) {
    Program& program = plan_.programs[i];
    const std::string where = absl::StrCat("programs.", program.name.substr(0, 80));
    if (!when.insert({program.when, program.table}).second)
      Add(where + ".when", "another program runs then, too");
    CheckProgram(program, where);
  }
  const auto runs = [&](When one) {
    return std::any_of(plan_.programs.begin(), plan_.programs.end(),
                       [&](const Program& program) { return program.when == one; });
  };
  const bool serves = runs(When::kRound) || runs(When::kPush) || runs(When::kPull);
  if (runs(When::kStep) == serves)
    Add("programs", serves ? "a server has no program of every step" : "none runs in every step");
}

void PlanChecker::CheckProgram(Program& program, const std::string& where) {
  for (size_t i = 0; i < program.feeds.size(); ++i) {
    const FeedSlot& feed = program.feeds[i];
    const std::string place = absl::StrCat(where, ".feeds[", i, "]");
    const Buffer& buffer = At(feed.buffer);
    if (buffer.space == Space::kConstant) Add(place, "a constant cannot be fed");
    if (feed.split && feed.split->dim >= static_cast<int>(buffer.dims.size()))
      Add(place + ".split", "dimension ", feed.split->dim, " of ", buffer.dims.size());
  }
  for (size_t i = 0; i < program.fetches.size(); ++i) {
    const std::string& combine = program.fetches[i].combine;
    if (std::find(std::begin(kCombines), std::end(kCombines), combine) == std::end(kCombines))
      Add(absl::StrCat(where, ".fetches[", i, "].combine"), "unknown '", combine.substr(0, 80),
          "', expected one of mean, same, sum, concat, list");
  }
  CheckNodes(plan_, program.body, where + ".body", errors_);
}

void PlanChecker::Check() {
  if (plan_.library.find('/') != std::string::npos)
    Add("library", "expected a file of the plan's own folder");
  if (plan_.buffers.size() > kMostBuffers) Add("buffers", "too many");
  for (size_t i = 0; errors_.ok() && i < plan_.buffers.size(); ++i)
    CheckBuffer(plan_.buffers[i], absl::StrCat("buffers[", i, "]"));
  if (errors_.ok()) CheckPersistables();
  if (errors_.ok()) CheckPrograms();
}

}  // namespace

void CheckPlan(Plan& plan, JsonErrors& errors) { PlanChecker(plan, errors).Check(); }

}  // namespace dtranspile::exec

#include "runtime/trial/judge.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/values.h"
#include "runtime/trial/compare.h"

namespace dtranspile::trial {
namespace {

constexpr size_t kMostDifferences = 1000;

// Of step -1, the values after initialisation, there are variables only.
const Tensor* Find(const Course& course, int64_t step, const std::string& name, bool fetch) {
  const auto at = static_cast<size_t>(step + 1);
  if (at >= course.size()) return nullptr;
  const auto& values = fetch ? course[at].fetches : course[at].variables;
  const auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

// Values of ranks one after the other, along the first dimension; nothing where they are scalars,
// or do not fit each other: then no run of the job puts them together either.
std::optional<Tensor> Joined(const std::vector<const Tensor*>& parts) {
  std::vector<int64_t> dims = parts.front()->dims;
  if (dims.empty()) return std::nullopt;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i]->dims.size() != dims.size() || parts[i]->dtype != parts[0]->dtype)
      return std::nullopt;
    dims[0] += parts[i]->dims[0];
  }
  absl::StatusOr<Tensor> all = Tensor::Zeros(parts[0]->dtype, dims);
  if (!all.ok()) return std::nullopt;
  std::byte* to = all->bytes.data();
  for (const Tensor* part : parts) to = std::copy_n(part->bytes.data(), part->view().bytes(), to);
  return *std::move(all);
}

}  // namespace

Judge::Judge(const Config& config, const std::vector<Course>& courses)
    : config_(config), courses_(courses) {
  for (const Variable& one : config.variables) variables_[{one.role, one.name}] = &one;
}

// There may be several courses of the reference, each with feeds of its own (config.h): a value is
// right where it agrees with one of them; otherwise the difference from the first one is shown.
void Judge::Hold(const Difference& what, const TensorView& got, double scale, bool fetch) {
  std::optional<Apart> shown;
  bool known = false;
  for (const Course& course : courses_) {
    const Tensor* wanted = Find(course, what.step, what.of, fetch);
    if (wanted == nullptr) continue;
    known = true;
    std::optional<Apart> apart = Compare(got, wanted->view(), scale, config_.tolerance);
    if (!apart) {
      shown.reset();
      break;
    }
    if (!shown) shown = std::move(apart);
  }
  Note(what, known, shown, "");
}

// Ranks are threads of one process, and see their values at the same time.
void Judge::Note(const Difference& what, bool known, const std::optional<Apart>& shown,
                 const char* of) {
  const std::lock_guard lock(mutex_);
  compared_ += known;
  if (!shown || differences_.size() >= kMostDifferences) return;
  Difference& found = differences_.emplace_back(what);
  found.relative = shown->relative;
  found.text = shown->text + of;
}

// Three kinds of variables: sums over ranks are kept until all are there; whole ones are compared
// at once; parts with the same part of the reference's value.
void Judge::SeeVariable(int64_t step, const exec::WorkerConfig& rank,
                        const exec::Executor& executor, const exec::Persistable& p,
                        const Variable& variable, absl::Status& status) {
  const exec::Buffer& buffer = executor.plan().buffers[static_cast<size_t>(p.buffer)];
  if (buffer.kind != exec::Value::Kind::kTensor) return;
  auto now = exec::ViewOf(executor, p.buffer);
  if (!now.ok()) return void(status = now.status());
  TensorView view = *now;
  if (!variable.axes.empty()) {
    auto copy = Tensor::Copy(view);
    if (!copy.ok()) return void(status = copy.status());
    const std::lock_guard lock(mutex_);
    sums_[{step, absl::StrCat(rank.role, "/", p.name)}].push_back(
        {Lasting(rank), *std::move(copy)});
    return;
  }
  const Difference what = {"variable", p.name, variable.of, rank.role, rank.rank, step, 0, ""};
  if (!p.layout) return Hold(what, view, variable.scale, false);
  // The rank's part: what the reference has is cut in the same way.
  const auto place = exec::PlaceOf(p.layout->axes, executor.position());
  if (!place.ok()) return void(status = place.status());
  const exec::Parts parts(*p.layout, place->of);
  const bool pad = p.layout->kind == exec::LayoutKind::kEven;
  std::optional<Apart> shown;
  bool known = false;
  for (const Course& course : courses_) {
    const Tensor* whole = Find(course, step, variable.of, false);
    if (whole == nullptr || whole->dims != p.layout->whole) continue;
    const std::vector<int64_t> dims = pad ? parts.room_dims() : parts.dims(place->at);
    auto wanted = Tensor::Zeros(whole->dtype, dims);
    if (!wanted.ok()) return void(status = wanted.status());
    parts.Take(place->at, SizeOf(whole->dtype), whole->bytes.data(), wanted->bytes.data(), pad);
    view.dims = dims;
    known = true;
    std::optional<Apart> apart = Compare(view, wanted->view(), variable.scale, config_.tolerance);
    if (!apart) {
      shown.reset();
      break;
    }
    if (!shown) shown = std::move(apart);
  }
  Note(what, known, shown, " (of this rank's part)");
}

const exec::WorkerConfig* Judge::Lasting(const exec::WorkerConfig& rank) const {
  const auto found =
      std::find_if(config_.ranks.begin(), config_.ranks.end(), [&](const exec::WorkerConfig& one) {
        return one.role == rank.role && one.rank == rank.rank;
      });
  return found == config_.ranks.end() ? nullptr : &*found;
}

// Called by every rank after every step, before anything of the next one is written.
absl::Status Judge::See(int64_t step, const exec::WorkerConfig& rank,
                        const exec::Executor& executor) {
  absl::Status status;
  for (const exec::Persistable* p : exec::VariablesOf(executor.plan(), rank.coordinates)) {
    const auto found = variables_.find({rank.role, p->name});
    if (found != variables_.end()) SeeVariable(step, rank, executor, *p, *found->second, status);
    DT_RETURN_IF_ERROR(status);
  }
  if (step < 0) return absl::OkStatus();
  for (const std::string& name : rank.fetch) {
    const int buffer = FetchBuffer(executor, name);
    if (buffer < 0) continue;
    DT_ASSIGN_OR_RETURN(Tensor copy, CopyOf(executor, buffer));
    const std::lock_guard lock(mutex_);
    fetches_[{step, name}].push_back({Lasting(rank), std::move(copy)});
  }
  return absl::OkStatus();
}

// Combines what the ranks have as a run would, and compares that. Ranks come in any order, so they
// are sorted first.
void Judge::CompareFetch(int64_t step, const Fetch& fetch, std::vector<Held>& held) {
  std::sort(held.begin(), held.end(),
            [](const Held& a, const Held& b) { return a.rank->rank < b.rank->rank; });
  const auto what = [&](const Held& one) {
    return Difference{"fetch", fetch.name, fetch.name, one.rank->role, one.rank->rank, step, 0, ""};
  };
  if (fetch.combine == "same") {
    for (const Held& one : held) Hold(what(one), one.value.view(), 1, true);
  } else if (fetch.combine == "sum" || fetch.combine == "mean") {
    Tensor& sum = held.front().value;
    for (size_t i = 1; i < held.size(); ++i)
      if (!AddTo(sum, held[i].value.view())) return;  // of types that no run combines
    const double scale = fetch.combine == "sum" ? 1 : static_cast<double>(held.size());
    Hold(what(held.front()), sum.view(), scale, true);
  } else if (fetch.combine == "concat") {
    std::vector<const Tensor*> parts;
    for (const Held& one : held) parts.push_back(&one.value);
    if (const auto all = Joined(parts)) Hold(what(held.front()), all->view(), 1, true);
  }
}

// Variables of which each rank has a term (P(sum)) cannot be compared rank by rank: the terms of
// the ranks that differ along those axes only are added, in their order, and the sum is compared.
void Judge::CompareCombined() {
  for (auto& [key, held] : sums_) {
    const Variable& variable =
        *variables_.at({held.front().rank->role, key.second.substr(key.second.find('/') + 1)});
    // Ranks that differ along the axes of the sum only.
    std::map<std::map<std::string, int64_t>, std::vector<Held*>> groups;
    for (Held& one : held) {
      std::map<std::string, int64_t> others = one.rank->coordinates;
      for (const std::string& axis : variable.axes) others.erase(axis);
      groups[others].push_back(&one);
    }
    for (auto& [unused, members] : groups) {
      Tensor& sum = members.front()->value;
      for (size_t i = 1; i < members.size(); ++i)
        if (!AddTo(sum, members[i]->value.view())) break;
      const exec::WorkerConfig& rank = *members.front()->rank;
      Hold({"variable", variable.name, variable.of, rank.role, rank.rank, key.first, 0, ""},
           sum.view(), variable.scale, false);
    }
  }
  for (const Fetch& fetch : config_.fetches)
    for (auto& [key, held] : fetches_)
      if (key.second == fetch.name) CompareFetch(key.first, fetch, held);
}

// Those of the first step that has any: later ones follow from these.
std::vector<Difference> Judge::TakeDifferences() {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const Difference& one : differences_) first = std::min(first, one.step);
  std::vector<Difference> result;
  for (Difference& one : differences_)
    if (one.step == first) result.push_back(std::move(one));
  std::sort(result.begin(), result.end(), [](const Difference& a, const Difference& b) {
    return std::tie(a.kind, a.role, a.name, a.rank) < std::tie(b.kind, b.role, b.name, b.rank);
  });
  return result;
}

}  // namespace dtranspile::trial

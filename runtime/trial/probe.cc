#include "runtime/trial/probe.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "runtime/base/status.h"
#include "runtime/exec/values.h"
#include "runtime/trial/snapshot.h"

namespace dtranspile::trial {
namespace {

// By how much a parameter is shifted: its elements by different amounts, so that nothing that
// subtracts their mean takes it back.
template <typename T>
void Shift(Tensor& tensor) {
  constexpr double kStep = 1e-2;
  const auto count = static_cast<int64_t>(tensor.bytes.size() / sizeof(T));
  for (int64_t i = 0; i < count; ++i)
    tensor.as<T>()[i] += static_cast<T>(kStep * (1 + 0.5 * std::sin(static_cast<double>(i + 1))));
}

class Bench {
 public:
  Bench(const exec::WorkerConfig& rank, const std::string& loss, const exec::WorkerLinks& links)
      : rank_(rank), loss_(loss), links_(links) {}

  absl::Status Open() {
    if (links_.seed) links_.seed(rank_);
    DT_ASSIGN_OR_RETURN(exec::Plan plan, exec::ReadPlan(rank_.plan));
    exec::ExecutorOptions options;
    options.find_function = links_.find_function;
    options.element_types = links_.element_types;
    options.stand = links_.stand;
    options.position = {rank_.coordinates, rank_.mesh};
    DT_ASSIGN_OR_RETURN(executor_, exec::Executor::Load(std::move(plan), std::move(options)));
    DT_ASSIGN_OR_RETURN(feeds_, exec::Feeds::Open(rank_, *executor_));
    DT_RETURN_IF_ERROR(exec::Initialise(rank_, *executor_));
    DT_ASSIGN_OR_RETURN(begin_, Take(rank_, *executor_));
    return absl::OkStatus();
  }

  // The loss of the first step; `changed` takes place of what it would begin with.
  absl::StatusOr<Tensor> Loss(const std::map<int, const Tensor*>& changed = {}) {
    for (const exec::Persistable& p : executor_->plan().persistables)
      if (const auto found = begin_.variables.find(p.name); found != begin_.variables.end())
        DT_RETURN_IF_ERROR(Restore(*executor_, p.buffer, found->second));
    if (links_.begin_step) links_.begin_step(rank_.first_step);
    DT_RETURN_IF_ERROR(feeds_->Read(0, *executor_));
    DT_RETURN_IF_ERROR(exec::SetPerStep(rank_, 0, *executor_));
    for (const auto& [buffer, tensor] : changed)
      DT_RETURN_IF_ERROR(Restore(*executor_, buffer, *tensor));
    DT_RETURN_IF_ERROR(executor_->Run(executor_->plan().repeated()->when));
    const int buffer = FetchBuffer(*executor_, loss_);
    if (buffer < 0) return absl::NotFoundError("the loss is no tensor");
    return CopyOf(*executor_, buffer);
  }

  // Values of the feeds in a step, by buffer.
  absl::StatusOr<std::map<int, Tensor>> FeedsOf(int64_t step) {
    DT_RETURN_IF_ERROR(feeds_->Read(step, *executor_));
    std::map<int, Tensor> others;
    for (const exec::FeedSlot& slot : executor_->plan().repeated()->feeds) {
      DT_ASSIGN_OR_RETURN(others[slot.buffer], CopyOf(*executor_, slot.buffer));
    }
    return others;
  }

  const exec::Plan& plan() const { return executor_->plan(); }
  const Snapshot& begin() const { return begin_; }

 private:
  const exec::WorkerConfig& rank_;
  const std::string& loss_;
  const exec::WorkerLinks& links_;
  std::unique_ptr<exec::Executor> executor_;
  std::optional<exec::Feeds> feeds_;
  Snapshot begin_;
};

bool Same(const Tensor& a, const Tensor& b) {
  return a.dims == b.dims && a.bytes.size() == b.bytes.size() &&
         std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

}  // namespace

// Whether a comparison would notice anything: runs the reference again with one feed replaced by
// that of another step, or one parameter shifted, and lists what the loss does not react to.
absl::StatusOr<Reactions> Probe(const exec::WorkerConfig& rank, const std::string& loss,
                                const std::vector<std::string>& parameters,
                                const exec::WorkerLinks& links) {
  Reactions reactions;
  Bench bench(rank, loss, links);
  DT_RETURN_IF_ERROR(bench.Open());
  DT_ASSIGN_OR_RETURN(const Tensor first, bench.Loss());
  std::map<int, std::string> unmoved;  // feeds by buffer
  if (rank.steps > 1)
    for (const exec::FeedSlot& slot : bench.plan().repeated()->feeds)
      unmoved[slot.buffer] = slot.name;
  for (int64_t step = 1; step < rank.steps && !unmoved.empty(); ++step) {
    DT_ASSIGN_OR_RETURN(const auto others, bench.FeedsOf(step));
    for (auto feed = unmoved.begin(); feed != unmoved.end();) {
      // Ragged feeds fit those of their own step only: then nothing is known.
      const auto loss_then = bench.Loss({{feed->first, &others.at(feed->first)}});
      feed = loss_then.ok() && Same(first, *loss_then) ? std::next(feed) : unmoved.erase(feed);
    }
  }
  for (const auto& [buffer, name] : unmoved) reactions.unmoved.push_back(name);
  for (const exec::Persistable& p : bench.plan().persistables) {
    if (std::find(parameters.begin(), parameters.end(), p.name) == parameters.end()) continue;
    const auto found = bench.begin().variables.find(p.name);
    if (found == bench.begin().variables.end()) continue;
    DT_ASSIGN_OR_RETURN(Tensor shifted, found->second.Clone());
    if (shifted.dtype == DType::kFloat64) Shift<double>(shifted);
    else if (shifted.dtype == DType::kFloat32) Shift<float>(shifted);
    else continue;
    DT_ASSIGN_OR_RETURN(const Tensor loss_then, bench.Loss({{p.buffer, &shifted}}));
    if (Same(first, loss_then)) reactions.unaffected.push_back(p.name);
  }
  return reactions;
}

}  // namespace dtranspile::trial

// From samples to feeds: whose sample comes when.
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/printable.h"
#include "runtime/base/status.h"
#include "runtime/data/dataset.h"
#include "runtime/io/feed.h"
#include "runtime/io/npy.h"

namespace dtranspile::data {
namespace {

Pipe PipeOf(const Dataset& dataset) { return {dataset.pipe_command, dataset.pipe_command_seconds}; }

using Read = absl::StatusOr<Samples>;

std::string TrainerName(int64_t trainer) { return absl::StrCat("trainer ", trainer); }

// A generator whose numbers are the same everywhere (SplitMix64: Steele, Lea, Flood 2014).
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// Fisher and Yates.
template <typename T>
void Mix(std::vector<T>& list, uint64_t seed) {
  Numbers numbers(seed);
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[numbers.Next() % i]);
}

// One sample: of which file's.
struct Place {
  const Samples* samples = nullptr;
  int64_t at = 0;
};

// The samples of one trainer, batch by batch.
class Source {
 public:
  virtual ~Source() = default;
  // Appends up to `count` samples, fewer at the end. They stay where they are until the next call.
  virtual absl::Status Take(int64_t count, std::vector<Place>& out) = 0;
};

// File after file, the next one being read meanwhile; what a batch begins with may lie in the file
// before.
class Queue : public Source {
 public:
  Queue(const Dataset& dataset, std::vector<std::string> files)
      : dataset_(dataset), files_(std::move(files)) {
    Prefetch();
  }

  // Files are read one after the other, the next one ahead on another thread. The samples handed
  // out point into their file, which is therefore kept until the next call; only then is all but
  // the current one given back.
  absl::Status Take(int64_t count, std::vector<Place>& out) override {
    if (held_.size() > 1) held_.erase(held_.begin(), held_.end() - 1);
    while (count > 0) {
      if (held_.empty() || at_ == held_.back()->count) {
        if (!next_.valid()) break;
        Read read = next_.get();
        if (!read.ok()) return read.status();
        held_.push_back(std::make_unique<Samples>(*std::move(read)));
        at_ = 0;
        Prefetch();
        continue;
      }
      out.push_back({held_.back().get(), at_++});
      --count;
    }
    return absl::OkStatus();
  }

 private:
  // Begins to read the next file, of the next epoch after the last one.
  void Prefetch() {
    if (file_ == files_.size() && ++epoch_ < dataset_.epochs) file_ = 0;
    if (file_ == files_.size()) return;
    next_ = std::async(std::launch::async, [this, file = files_[file_]]() {
      return ReadSamples(dataset_.slots, file, PipeOf(dataset_));
    });
    ++file_;
  }

  const Dataset& dataset_;
  const std::vector<std::string> files_;
  size_t file_ = 0;
  int64_t epoch_ = 0, at_ = 0;
  std::vector<std::unique_ptr<Samples>> held_;
  std::future<Read> next_;
};

// An order that is given.
class Listed : public Source {
 public:
  explicit Listed(std::vector<Place> places) : places_(std::move(places)) {}
  absl::Status Take(int64_t count, std::vector<Place>& out) override {
    for (; count > 0 && at_ < places_.size(); --count) out.push_back(places_[at_++]);
    return absl::OkStatus();
  }

 private:
  std::vector<Place> places_;
  size_t at_ = 0;
};

// Writes one feed.
// One feed of all steps: of a dense slot one .npy with the step as first dim, of a ragged one a
// file and a LoD per step.
class Feeder {
 public:
  Feeder(const Slot& slot, size_t column, std::string stem)
      : slot_(slot), column_(column), stem_(std::move(stem)) {}

  absl::Status Write(int64_t step, const std::vector<Place>& batch) {
    if (!dims_) {
      dims_ = {static_cast<int64_t>(batch.size())};
      dims_->insert(dims_->end(), slot_.shape.begin(), slot_.shape.end());
    }
    return slot_.integers
               ? WriteAs<int64_t>(step, batch, &Column::integers, integers_, DType::kInt64)
               : WriteAs<float>(step, batch, &Column::numbers, numbers_, DType::kFloat32);
  }
  absl::Status Finish() {
    if (!slot_.dense) return absl::OkStatus();
    return slot_.integers ? Stack(integers_, DType::kInt64) : Stack(numbers_, DType::kFloat32);
  }

 private:
  // Dense values stay until the number of steps is known, ragged ones are files of their own.
  template <typename T>
  absl::Status WriteAs(int64_t step, const std::vector<Place>& batch,
                       std::vector<T> Column::* values, std::vector<T>& all, DType dtype) {
    if (!slot_.dense) all.clear();
    Lod lod = {{0}};
    for (const Place& place : batch) {
      const Column& column = place.samples->columns[column_];
      const auto begin = (column.*values).begin() + column.begins[static_cast<size_t>(place.at)];
      all.insert(all.end(), begin, begin + column.count(place.at));
      lod[0].push_back(all.size());
    }
    if (slot_.dense) return absl::OkStatus();
    return io::WriteStep(stem_, step, View(all, dtype, {static_cast<int64_t>(all.size()), 1}), lod);
  }

  template <typename T>
  absl::Status Stack(const std::vector<T>& all, DType dtype) {
    std::vector<int64_t> dims = *dims_;
    int64_t each = 1;
    for (int64_t extent : dims) each *= extent;
    dims.insert(dims.begin(), static_cast<int64_t>(all.size()) / each);
    return io::WriteNpy(stem_ + ".npy", View(all, dtype, std::move(dims)));
  }

  template <typename T>
  static TensorView View(const std::vector<T>& all, DType dtype, std::vector<int64_t> dims) {
    return {dtype, std::move(dims), reinterpret_cast<const std::byte*>(all.data())};
  }

  const Slot& slot_;
  const size_t column_;
  const std::string stem_;
  std::optional<std::vector<int64_t>> dims_;  // of one step, dense
  std::vector<int64_t> integers_;
  std::vector<float> numbers_;
};

// All files, `threads` at once.
absl::StatusOr<std::vector<Samples>> ReadAll(const Dataset& dataset, int threads) {
  std::vector<Samples> all;
  std::vector<std::future<Read>> under_way;
  const auto take = [&]() -> absl::Status {
    for (std::future<Read>& one : under_way) {
      Read read = one.get();
      if (!read.ok()) return read.status();
      all.push_back(*std::move(read));
    }
    under_way.clear();
    return absl::OkStatus();
  };
  for (const std::string& file : dataset.files) {
    under_way.push_back(std::async(std::launch::async, [&dataset, file]() {
      return ReadSamples(dataset.slots, file, PipeOf(dataset));
    }));
    if (under_way.size() == static_cast<size_t>(threads)) DT_RETURN_IF_ERROR(take());
  }
  DT_RETURN_IF_ERROR(take());
  return all;
}

void AppendAll(const Samples& samples, std::vector<Place>& out) {
  for (int64_t i = 0; i < samples.count; ++i) out.push_back({&samples, i});
}

// The orders of the trainers over all epochs.
// Global: one order of all samples, dealt out in equal shares, the rest left out. Local: each
// trainer mixes the samples of its own files. Either way the order is a function of seed, epoch and
// trainer.
absl::StatusOr<std::vector<std::vector<Place>>> Orders(const Dataset& dataset, int64_t trainers,
                                                       const std::vector<Samples>& all) {
  std::vector<std::vector<Place>> orders(static_cast<size_t>(trainers));
  for (int64_t epoch = 0; epoch < dataset.epochs; ++epoch) {
    const uint64_t seed = Numbers(dataset.seed + static_cast<uint64_t>(epoch)).Next();
    if (dataset.shuffle == Shuffle::kGlobal) {
      std::vector<Place> places;
      for (const Samples& one : all) AppendAll(one, places);
      Mix(places, seed);
      const size_t share = places.size() / orders.size();
      for (size_t t = 0; t < orders.size(); ++t)
        orders[t].insert(orders[t].end(), places.begin() + static_cast<int64_t>(t * share),
                         places.begin() + static_cast<int64_t>((t + 1) * share));
      continue;
    }
    size_t file = 0;
    for (int64_t t = 0; t < trainers; ++t) {
      DT_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesOf(dataset, t, trainers));
      std::vector<Place> places;
      for (size_t i = 0; i < files.size(); ++i) AppendAll(all[file++], places);
      if (dataset.shuffle == Shuffle::kLocal) Mix(places, seed + static_cast<uint64_t>(t));
      std::vector<Place>& order = orders[static_cast<size_t>(t)];
      order.insert(order.end(), places.begin(), places.end());
    }
  }
  return orders;
}

// Steps as long as every trainer has a batch; then what each has left.
absl::StatusOr<FedDataset> Drain(const Dataset& dataset,
                                 std::vector<std::unique_ptr<Source>>& sources,
                                 std::vector<Feeder>& feeders) {
  FedDataset fed;
  std::vector<Place> batch;
  std::vector<int64_t> last(sources.size());
  for (bool whole = true; whole;) {
    batch.clear();
    for (size_t t = 0; t < sources.size(); ++t) {
      const size_t before = batch.size();
      DT_RETURN_IF_ERROR(sources[t]->Take(dataset.batch_size, batch));
      last[t] = static_cast<int64_t>(batch.size() - before);
      whole = whole && last[t] == dataset.batch_size;
    }
    if (!whole) break;
    for (Feeder& feeder : feeders) DT_RETURN_IF_ERROR(feeder.Write(fed.steps, batch));
    ++fed.steps;
  }
  for (size_t t = 0; t < sources.size(); ++t) {
    // To the end: what is left out is counted, and its lines are looked at.
    int64_t left = last[t];
    for (int64_t more = left; more > 0;) {
      batch.clear();
      DT_RETURN_IF_ERROR(sources[t]->Take(dataset.batch_size, batch));
      more = static_cast<int64_t>(batch.size());
      left += more;
    }
    if (left > 0)
      fed.notes.push_back(absl::StrCat(
          TrainerName(static_cast<int64_t>(t)), ": ", left, " samples after step ", fed.steps,
          " are left out: ",
          left < dataset.batch_size ? "they make no whole batch" : "another trainer has no batch"));
  }
  return fed;
}

}  // namespace

// Consecutive files, as many for each trainer as for any other or one more, the first trainers
// having more: as get_file_shard of the framework deals them.
absl::StatusOr<std::vector<std::string>> FilesOf(const Dataset& dataset, int64_t trainer,
                                                 int64_t trainers) {
  const auto count = static_cast<int64_t>(dataset.files.size());
  if (count < trainers)
    return absl::InvalidArgumentError(
        absl::StrCat(count, count == 1 ? " file" : " files", " for ", trainers,
                     " trainers, of which each reads "
                     "its own (the first is ",
                     Printable(dataset.files.front()),
                     "); cut the files, or deal samples with \"shuffle\": \"global\""));
  const int64_t share = count / trainers, more = count % trainers;
  const int64_t begin = trainer * share + std::min(trainer, more);
  const int64_t end = begin + share + (trainer < more ? 1 : 0);
  return std::vector<std::string>(dataset.files.begin() + begin, dataset.files.begin() + end);
}

// A step of the job is a batch of every trainer, in the order of the trainers: that is what the
// reference program, which knows no trainers, gets as one batch.
absl::StatusOr<FedDataset> WriteFeeds(const Dataset& dataset, int64_t trainers, int threads,
                                      const std::string& folder) {
  std::vector<Samples> all;
  std::vector<std::unique_ptr<Source>> sources;
  if (dataset.in_memory) {
    DT_ASSIGN_OR_RETURN(all, ReadAll(dataset, threads));
    DT_ASSIGN_OR_RETURN(auto orders, Orders(dataset, trainers, all));
    for (std::vector<Place>& order : orders)
      sources.push_back(std::make_unique<Listed>(std::move(order)));
  } else {
    for (int64_t t = 0; t < trainers; ++t) {
      DT_ASSIGN_OR_RETURN(std::vector<std::string> files, FilesOf(dataset, t, trainers));
      sources.push_back(std::make_unique<Queue>(dataset, std::move(files)));
    }
  }
  std::vector<Feeder> feeders;
  for (size_t i = 0; i < dataset.slots.size(); ++i)
    if (dataset.slots[i].used)
      feeders.emplace_back(dataset.slots[i], i, folder + "/" + dataset.slots[i].name);
  DT_ASSIGN_OR_RETURN(FedDataset fed, Drain(dataset, sources, feeders));
  if (fed.steps == 0)
    return absl::InvalidArgumentError(
        absl::StrCat("no step: not every trainer has a batch of ", dataset.batch_size,
                     fed.notes.empty() ? "" : "; " + fed.notes.front()));
  for (Feeder& feeder : feeders) DT_RETURN_IF_ERROR(feeder.Finish());
  return fed;
}

}  // namespace dtranspile::data

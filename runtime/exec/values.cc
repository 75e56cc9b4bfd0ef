#include "runtime/exec/values.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/exec/control.h"
#include "runtime/io/output.h"
#include "runtime/io/tensor_record.h"
#include "runtime/tensor/widen.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kMostReportedElements = 64;

const Buffer& BufferAt(const Executor& executor, int id) { return executor.plan().buffers[static_cast<size_t>(id)]; }

// What a buffer holds now.
TensorView ViewOf(const Executor& executor, int id) {
  if (const Value* value = executor.value(id)) return value->view();
  const Buffer& buffer = BufferAt(executor, id);
  return {buffer.dtype, buffer.dims, executor.data(id)};
}

// Which part of how many this rank takes: the coordinates along the axes as digits, the first one major.
absl::Status PartOf(const FeedSlot& slot, const WorkerConfig& config, int64_t& part, int64_t& parts) {
  part = 0;
  parts = 1;
  for (const std::string& axis : slot.split.axes) {
    const auto size = config.mesh.find(axis), at = config.coordinates.find(axis);
    if (size == config.mesh.end() || at == config.coordinates.end())
      return absl::InvalidArgumentError(absl::StrCat("feed '", slot.name, "' is split over axis '", axis, "', which this rank's mesh lacks"));
    part = part * size->second + at->second;
    parts *= size->second;
  }
  return absl::OkStatus();
}

// Extents of -1 belong to the step.
bool Agree(const std::vector<int64_t>& dims, const std::vector<int64_t>& expected) {
  return std::equal(dims.begin(), dims.end(), expected.begin(), expected.end(), [](int64_t have, int64_t want) { return want < 0 || have == want; });
}

// The extents of the file's steps have to be those of the plan, times the parts in the dimension that is cut.
absl::Status CheckFeed(const io::Feed& feed, const FeedSlot& slot, const Buffer& buffer, int64_t parts, int64_t steps, const std::string& file) {
  if (feed.ragged() && buffer.lod_level == 0)
    return absl::InvalidArgumentError(absl::StrCat(file, ": feed '", slot.name, "' is ragged (LoD), the program declares it without levels of sequences"));
  std::vector<int64_t> expected = buffer.dims;
  if (slot.is_split && expected[static_cast<size_t>(slot.split.dim)] >= 0) expected[static_cast<size_t>(slot.split.dim)] *= parts;
  if (!FitsOrWidens(feed.dtype(), buffer.dtype) || !Agree(feed.dims(), expected))
    return absl::InvalidArgumentError(absl::StrCat(file, ": a step of feed '", slot.name, "' is ", ShapeText(feed.dtype(), feed.dims()),
                                                   ", the job was compiled for ", ShapeText(buffer.dtype, expected)));
  if (feed.steps() < steps)
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": has ", feed.steps(), " steps of feed '", slot.name, "', ", steps, " are to be run; use --steps ", feed.steps()));
  return absl::OkStatus();
}

const Persistable* FindPersistable(const Executor& executor, const std::string& name) {
  const auto& all = executor.plan().persistables;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Persistable& p) { return p.name == name; });
  return found == all.end() ? nullptr : &*found;
}

absl::Status WrongShape(const Tensor& value, const Persistable& p, const Buffer& buffer, const std::string& file) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": '", p.name, "' is ", ShapeText(value.dtype, value.dims), ", the program declares ", ShapeText(buffer.dtype, buffer.dims)));
}

absl::Status SetFrom(Tensor read, const Persistable& p, const Executor& executor, const std::string& file) {
  const Buffer& buffer = BufferAt(executor, p.buffer);
  if (!FitsOrWidens(read.dtype, buffer.dtype)) return WrongShape(read, p, buffer, file);
  DT_ASSIGN_OR_RETURN(const Tensor value, Widened(std::move(read), buffer.dtype));
  // A scalar may have been saved as [] or as [1].
  const bool same_dims = value.dims == buffer.dims || (static_cast<int64_t>(value.bytes.size()) == buffer.bytes && buffer.count() == 1);
  if (!same_dims) return WrongShape(value, p, buffer, file);
  if (buffer.bytes > 0) std::memcpy(executor.data(p.buffer), value.bytes.data(), static_cast<size_t>(buffer.bytes));
  return absl::OkStatus();
}

absl::Status InitialiseFromCombined(const InitConfig& init, const Executor& executor) {
  std::vector<io::Expected> expected;
  for (const std::string& name : init.names) {
    const Persistable* p = FindPersistable(executor, name);
    if (p == nullptr) return absl::InvalidArgumentError(absl::StrCat(init.combined, ": '", name, "' is no persistable of the job"));
    const Buffer& buffer = BufferAt(executor, p->buffer);
    expected.push_back({name, buffer.dtype, buffer.dims});
  }
  DT_ASSIGN_OR_RETURN(auto values, io::ReadCombined(init.combined, expected));
  for (auto& [name, value] : values) DT_RETURN_IF_ERROR(SetFrom(std::move(value), *FindPersistable(executor, name), executor, init.combined));
  return absl::OkStatus();
}

// A pipe or a device is none, and is not opened: that could block.
bool IsFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), R_OK) == 0;
}

// What `init` has no value for. Parameters may not be among it.
absl::StatusOr<std::vector<std::string>> MissingOf(const InitConfig& init, const Executor& executor) {
  const std::set<std::string> names(init.names.begin(), init.names.end());
  std::vector<std::string> missing, parameters;
  for (const Persistable& p : executor.plan().persistables) {
    bool there = names.count(p.name) > 0;
    if (!init.folder.empty()) {
      DT_ASSIGN_OR_RETURN(const std::string path, io::PathInside(init.folder, p.name));
      there = IsFile(path);
    }
    if (there) continue;
    missing.push_back(p.name);
    if (p.parameter) parameters.push_back(p.name);
  }
  const std::string& where = init.folder.empty() ? init.combined : init.folder;
  if (!parameters.empty()) return absl::NotFoundError(absl::StrCat(where, ": has no value for ", absl::StrJoin(parameters, ", ")));
  if (!missing.empty() && !executor.plan().has_startup)
    return absl::NotFoundError(absl::StrCat(where, ": has no value for ", absl::StrJoin(missing, ", "), ", and there is no start-up program"));
  return missing;
}

absl::Status InitialiseFromFolder(const InitConfig& init, const std::vector<std::string>& missing, const Executor& executor) {
  const std::set<std::string> without(missing.begin(), missing.end());
  for (const Persistable& p : executor.plan().persistables) {
    if (without.count(p.name) > 0) continue;
    DT_ASSIGN_OR_RETURN(const std::string path, io::PathInside(init.folder, p.name));
    DT_ASSIGN_OR_RETURN(Tensor value, io::ReadTensorFile(path));
    DT_RETURN_IF_ERROR(SetFrom(std::move(value), p, executor, path));
  }
  return absl::OkStatus();
}

template <typename T>
void Fill(std::byte* data, int64_t count, double value) {
  std::fill_n(reinterpret_cast<T*>(data), count, static_cast<T>(value));
}

using FillFunction = void (*)(std::byte*, int64_t, double);
FillFunction FillOf(DType type) {
  switch (type) {
    case DType::kFloat32: return Fill<float>;
    case DType::kFloat64: return Fill<double>;
    case DType::kInt32: return Fill<int32_t>;
    case DType::kInt64: return Fill<int64_t>;
    default: return nullptr;
  }
}

template <typename T>
Json Elements(const std::byte* data, int64_t count) {
  Json list = Json::array();
  const T* values = reinterpret_cast<const T*>(data);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>) list.push_back(JsonNumber(static_cast<double>(values[i])));
    else list.push_back(values[i]);
  }
  return list;
}

// Null for types that reports do not show.
Json ElementsOf(const TensorView& view) {
  const int64_t count = view.bytes() / static_cast<int64_t>(SizeOf(view.dtype));
  if (count > kMostReportedElements) return nullptr;
  switch (view.dtype) {
    case DType::kFloat32: return Elements<float>(view.data, count);
    case DType::kFloat64: return Elements<double>(view.data, count);
    case DType::kInt32: return Elements<int32_t>(view.data, count);
    case DType::kInt64: return Elements<int64_t>(view.data, count);
    case DType::kBool: return Elements<bool>(view.data, count);
    case DType::kUInt8: return Elements<uint8_t>(view.data, count);
    default: return nullptr;
  }
}

}  // namespace

absl::StatusOr<Feeds> Feeds::Open(const WorkerConfig& config, const Executor& executor) {
  Feeds feeds;
  std::map<std::string, std::string> files;
  for (const FeedConfig& feed : config.feeds) files[feed.name] = feed.file;
  for (const FeedSlot& slot : executor.plan().main.feeds) {
    const auto file = files.find(slot.name);
    if (file == files.end()) return absl::InvalidArgumentError(absl::StrCat("feed '", slot.name, "' is not given; add ", slot.name, ".npy to the feeds"));
    int64_t part = 0, parts = 1;
    DT_RETURN_IF_ERROR(PartOf(slot, config, part, parts));
    DT_ASSIGN_OR_RETURN(io::Feed feed, io::Feed::OpenFile(file->second));
    DT_RETURN_IF_ERROR(CheckFeed(feed, slot, BufferAt(executor, slot.buffer), parts, config.steps, file->second));
    feeds.entries_.push_back({std::move(feed), slot.buffer, slot.split.dim, part, parts});
  }
  // Files of other feeds are not read: the fetches may need a part of the program.
  return feeds;
}

absl::Status Feeds::Read(int64_t step, const Executor& executor) const {
  for (const Entry& entry : entries_) {
    Value* value = executor.value(entry.buffer);
    const DType type = BufferAt(executor, entry.buffer).dtype;
    std::byte* to = executor.data(entry.buffer);
    if (value != nullptr || entry.feed.dtype() != type) {
      DT_ASSIGN_OR_RETURN(Tensor read, entry.parts == 1 ? entry.feed.Read(step) : entry.feed.ReadPart(step, entry.dim, entry.part, entry.parts));
      DT_ASSIGN_OR_RETURN(Tensor part, Widened(std::move(read), type));
      if (value == nullptr) {
        std::memcpy(to, part.bytes.data(), part.bytes.size());
        continue;
      }
      DT_RETURN_IF_ERROR(value->Assign(part.view()));
      value->lod = std::move(part.lod);
      continue;
    }
    if (!entry.feed.dims().empty()) {
      DT_RETURN_IF_ERROR(entry.feed.ReadPartInto(step, entry.dim, entry.part, entry.parts, to));
      continue;
    }
    DT_ASSIGN_OR_RETURN(const Tensor scalar, entry.feed.Read(step));
    std::memcpy(to, scalar.bytes.data(), scalar.bytes.size());
  }
  return absl::OkStatus();
}

absl::Status Initialise(const WorkerConfig& config, Executor& executor) {
  std::vector<std::string> missing;
  if (config.init) {
    DT_ASSIGN_OR_RETURN(missing, MissingOf(*config.init, executor));
  }
  if (!config.init && !executor.plan().has_startup && !executor.plan().persistables.empty())
    return absl::FailedPreconditionError("there is no start-up program; give initial values with --init");
  if (!config.init || !missing.empty()) {
    if (!missing.empty()) std::fprintf(stderr, "initialised by the start-up program: %s\n", absl::StrJoin(missing, ", ").c_str());
    DT_RETURN_IF_ERROR(executor.RunStartup());
  }
  if (!config.init) return absl::OkStatus();
  if (config.init->folder.empty()) return InitialiseFromCombined(*config.init, executor);
  return InitialiseFromFolder(*config.init, missing, executor);
}

absl::Status Save(const WorkerConfig& config, const Executor& executor) {
  for (const std::string& name : config.save_names) {
    const Persistable* p = FindPersistable(executor, name);
    if (p == nullptr) return absl::InvalidArgumentError(absl::StrCat("'", name, "' is to be saved, but is no persistable of this rank"));
    DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(config.save, name));
    DT_RETURN_IF_ERROR(io::WriteTensorFile(path, ViewOf(executor, p->buffer)));
  }
  return absl::OkStatus();
}

absl::Status CheckPerStep(const WorkerConfig& config, const Executor& executor) {
  for (const auto& [name, values] : config.per_step) {
    const Persistable* p = FindPersistable(executor, name);
    if (p == nullptr) return absl::InvalidArgumentError(absl::StrCat("per-step values: '", name, "' is no persistable of the job"));
    if (FillOf(BufferAt(executor, p->buffer).dtype) == nullptr)
      return absl::InvalidArgumentError(absl::StrCat("per-step values: '", name, "' is ", NameOf(BufferAt(executor, p->buffer).dtype)));
    if (static_cast<int64_t>(values.size()) < config.steps)
      return absl::InvalidArgumentError(absl::StrCat("per-step values: ", values.size(), " values of '", name, "' for ", config.steps, " steps"));
  }
  return absl::OkStatus();
}

absl::Status SetPerStep(const WorkerConfig& config, int64_t step, const Executor& executor) {
  for (const auto& [name, values] : config.per_step) {
    const Persistable& p = *FindPersistable(executor, name);
    const Buffer& buffer = BufferAt(executor, p.buffer);
    FillOf(buffer.dtype)(executor.data(p.buffer), buffer.count(), values[static_cast<size_t>(step)]);
  }
  return absl::OkStatus();
}

absl::StatusOr<Fetches> Fetches::Open(const WorkerConfig& config, const Executor& executor) {
  Fetches fetches;
  const auto& slots = executor.plan().main.fetches;
  for (const std::string& name : config.fetch) {
    const auto slot = std::find_if(slots.begin(), slots.end(), [&](const FetchSlot& s) { return s.name == name; });
    if (slot == slots.end()) return absl::InvalidArgumentError(absl::StrCat("'", name, "' is not among the fetches that the job was compiled for"));
    const Buffer& buffer = BufferAt(executor, slot->buffer);
    if (buffer.kind != Value::Kind::kTensor)
      return absl::InvalidArgumentError(
          absl::StrCat("fetch '", name, "' is ", buffer.kind == Value::Kind::kList ? "an array" : "SelectedRows", ", tensors are reported"));
    Entry& entry = fetches.entries_.emplace_back(Entry{name, slot->buffer, "", {}});
    if (config.save_fetches.empty()) continue;
    DT_ASSIGN_OR_RETURN(const std::string stem, io::PrepareInside(absl::StrCat(config.save_fetches, "/", config.rank), name));
    // Extents that may differ from step to step: a file each.
    if (buffer.space == Space::kValue) {
      entry.stem = stem;
      io::ClearSteps(stem, config.steps);
      continue;
    }
    DT_ASSIGN_OR_RETURN(io::NpyStack stack, io::NpyStack::Create(stem + ".npy", buffer.dtype, buffer.dims, config.steps));
    entry.stack.emplace(std::move(stack));
  }
  return fetches;
}

absl::StatusOr<Json> Fetches::Take(int64_t step, const Executor& executor) {
  Json values = Json::object();
  for (Entry& entry : entries_) {
    const TensorView view = ViewOf(executor, entry.buffer);
    values[entry.name] = ElementsOf(view);
    if (entry.stack) DT_RETURN_IF_ERROR(entry.stack->Append(view));
    if (!entry.stem.empty()) DT_RETURN_IF_ERROR(io::WriteStep(entry.stem, step, view, executor.value(entry.buffer)->lod));
  }
  return values;
}

absl::Status Fetches::Finish() {
  for (Entry& entry : entries_)
    if (entry.stack) DT_RETURN_IF_ERROR(entry.stack->Finish());
  return absl::OkStatus();
}

}  // namespace dtranspile::exec

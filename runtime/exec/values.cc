#include "runtime/exec/values.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/exec/control.h"
#include "runtime/exec/inputs.h"
#include "runtime/io/output.h"
#include "runtime/io/tensor_record.h"
#include "runtime/tensor/widen.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kMostReportedElements = 64;

const Buffer& BufferAt(const Executor& executor, int id) {
  return executor.plan().buffers[static_cast<size_t>(id)];
}

template <typename T>
Json Elements(const std::byte* data, int64_t count) {
  Json list = Json::array();
  const T* values = reinterpret_cast<const T*>(data);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      list.push_back(JsonNumber(static_cast<double>(values[i])));
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

// What a buffer holds now, wherever it lies: extents of a value are those of the step.
absl::StatusOr<TensorView> ViewOf(const Executor& executor, int id) {
  if (const Value* value = executor.value(id)) return value->view();
  const Buffer& buffer = BufferAt(executor, id);
  if (FirstTouch* const rows = executor.untouched(id)) DT_RETURN_IF_ERROR(rows->TouchAll());
  return TensorView{buffer.dtype, buffer.dims, executor.data(id)};
}

absl::StatusOr<Feeds> Feeds::Open(const WorkerConfig& config, const Executor& executor) {
  Feeds feeds;
  DT_ASSIGN_OR_RETURN(feeds.entries_, OpenFeeds(config, executor.plan()));
  return feeds;
}

// Three ways, by what the feed needs: through a tensor of its own where the buffer is a value or
// the file has a narrower type; straight into the arena, only the part of this rank, in the common
// case; and scalars, which have no dim to cut.
absl::Status Feeds::Read(int64_t step, const Executor& executor) const {
  for (const OpenFeed& entry : entries_) {
    Value* value = executor.value(entry.buffer);
    const DType type = BufferAt(executor, entry.buffer).dtype;
    std::byte* to = executor.data(entry.buffer);
    if (value != nullptr || entry.feed.dtype() != type) {
      DT_ASSIGN_OR_RETURN(Tensor read,
                          entry.parts == 1
                              ? entry.feed.Read(step)
                              : entry.feed.ReadPart(step, entry.dim, entry.part, entry.parts));
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

namespace {

// The part of a cut variable that this rank has.
absl::StatusOr<Place> PlaceOf(const Persistable& variable, const Executor& executor) {
  return PlaceOf(variable.layout->axes, executor.position());
}

// Even parts have their pad in memory.
bool HasPad(const Layout& layout) { return layout.kind == LayoutKind::kEven; }

// Stores a whole variable on this rank: as it is, or of a variable that is cut the rank's own part.
absl::Status SetVariable(const Executor& executor, const Persistable& variable, Tensor whole) {
  const Buffer& buffer = BufferAt(executor, variable.buffer);
  DT_ASSIGN_OR_RETURN(const Tensor value, Widened(std::move(whole), buffer.dtype));
  std::byte* to = executor.data(variable.buffer);
  if (FirstTouch* const rows = executor.untouched(variable.buffer)) rows->Overwritten();
  if (!variable.layout) {
    if (buffer.bytes > 0) std::memcpy(to, value.bytes.data(), static_cast<size_t>(buffer.bytes));
    return absl::OkStatus();
  }
  DT_ASSIGN_OR_RETURN(const Place place, PlaceOf(variable, executor));
  Parts(*variable.layout, place.of)
      .Take(place.at, SizeOf(buffer.dtype), value.bytes.data(), to, HasPad(*variable.layout));
  return absl::OkStatus();
}

}  // namespace

// Values by precedence: those that are given; of a variable that begins as another one, and was not
// given, that one's; all others by the start-up program, which therefore runs first where it is
// needed. A parameter must be given where any is.
absl::Status Initialise(const WorkerConfig& config, Executor& executor) {
  const Plan& plan = executor.plan();
  DT_RETURN_IF_ERROR(CheckInit(config, plan));
  if (!config.init) return executor.RunStartup();
  const Variables variables = VariablesOf(plan, config.coordinates);
  DT_ASSIGN_OR_RETURN(const MissingInitials missing, FindMissing(*config.init, plan, variables));
  if (!missing.made.empty()) {
    std::fprintf(stderr, "initialised by the start-up program: %s\n",
                 absl::StrJoin(missing.made, ", ").c_str());
    DT_RETURN_IF_ERROR(executor.RunStartup());
  }
  DT_RETURN_IF_ERROR(ForEachInitial(config, missing, plan, variables, io::Elements::kRead,
                                    [&](const Persistable& variable, Tensor read) {
                                      return SetVariable(executor, variable, std::move(read));
                                    }));
  for (const auto& [variable, from] : missing.copied) {
    std::fprintf(stderr, "initialised as %s: %s\n", from->name.c_str(), variable->name.c_str());
    // Neither is cut (FindMissing), so that no row of them is made when it is touched.
    const Buffer& buffer = BufferAt(executor, variable->buffer);
    if (buffer.bytes > 0)
      std::memcpy(executor.data(variable->buffer), executor.data(from->buffer),
                  static_cast<size_t>(buffer.bytes));
  }
  return absl::OkStatus();
}

// The variables of a server as what requests name and cut: extents are those of the part that this
// server has.
absl::StatusOr<std::vector<Table>> TablesOf(const WorkerConfig& config, const Executor& executor) {
  std::vector<Table> tables;
  for (const Persistable* p : VariablesOf(executor.plan(), config.coordinates)) {
    const Buffer& buffer = BufferAt(executor, p->buffer);
    Table& table = tables.emplace_back();
    table.name = p->name;
    table.dtype = buffer.dtype;
    table.dims = buffer.dims;
    table.data = executor.data(p->buffer);
    if (FirstTouch* const untouched = executor.untouched(p->buffer))
      table.touch = [untouched](const int64_t* rows, int64_t count) {
        return rows == nullptr ? untouched->TouchAll() : untouched->Touch(rows, count);
      };
    table.layout = p->layout;
    if (!p->layout) continue;
    DT_ASSIGN_OR_RETURN(table.place, PlaceOf(*p, executor));
    table.dims = Parts(*p->layout, table.place.of).dims(table.place.at);
    // The memory of even parts that are cut inside of a row is wider than they are.
    if (HasPad(*p->layout) && (p->layout->dim > 0 || !p->layout->also.empty()))
      table.dims = buffer.dims;
  }
  return tables;
}

namespace {

// Of a variable of which some rows have never been touched: these are made piece by piece, and are
// not kept.
absl::Status WriteRows(const std::string& path, DType dtype, std::vector<int64_t> dims,
                       FirstTouch& rows) {
  constexpr int64_t kPieceBytes = int64_t{1} << 20;
  DT_ASSIGN_OR_RETURN(io::OutputFile file, io::OutputFile::Create(path));
  const std::string header = io::RecordHeader(dtype, dims, {});
  DT_RETURN_IF_ERROR(file.Write(header.data(), static_cast<int64_t>(header.size())));
  const int64_t together = std::max<int64_t>(kPieceBytes / rows.row_bytes(), 1);
  std::vector<std::byte> piece(static_cast<size_t>(together * rows.row_bytes()));
  for (int64_t row = 0; row < dims[0]; row += together) {
    const int64_t count = std::min(together, dims[0] - row);
    DT_RETURN_IF_ERROR(rows.Read(row, count, piece.data()));
    DT_RETURN_IF_ERROR(file.Write(piece.data(), count * rows.row_bytes()));
  }
  return file.Close();
}

}  // namespace

// Whole variables by the ranks that the launcher chose for them, parts of cut ones by all that own
// one. Even parts are written as they lie, with their pad, other ones with the extents of what they
// hold.
absl::Status Save(const WorkerConfig& config, const Executor& executor) {
  // There may be many: of each the place is looked up at once.
  std::map<std::string_view, const Persistable*> variables;
  for (const Persistable* p : VariablesOf(executor.plan(), config.coordinates))
    variables.emplace(p->name, p);
  const auto write = [&](const std::string& folder, const std::string& name,
                         const auto& view_of) -> absl::Status {
    const auto found = variables.find(name);
    if (found == variables.end())
      return absl::InvalidArgumentError(
          absl::StrCat("'", name, "' is to be saved, but is no persistable of this rank"));
    DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(folder, name));
    const Persistable& variable = *found->second;
    FirstTouch* const rows = executor.untouched(variable.buffer);
    if (rows != nullptr && rows->left() > 0) {
      DT_ASSIGN_OR_RETURN(const Place place, PlaceOf(variable, executor));
      return WriteRows(path, BufferAt(executor, variable.buffer).dtype,
                       Parts(*variable.layout, place.of).dims(place.at), *rows);
    }
    DT_ASSIGN_OR_RETURN(const TensorView view, view_of(variable));
    return io::WriteTensorFile(path, view);
  };
  for (const std::string& name : config.save_names)
    DT_RETURN_IF_ERROR(
        write(config.save, name, [&](const Persistable& p) -> absl::StatusOr<TensorView> {
          return ViewOf(executor, p.buffer);
        }));
  for (const std::string& name : config.part_names)
    DT_RETURN_IF_ERROR(
        write(config.save_parts, name, [&](const Persistable& p) -> absl::StatusOr<TensorView> {
          DT_ASSIGN_OR_RETURN(TensorView view, ViewOf(executor, p.buffer));
          // A term of a sum that is whole on every rank.
          if (!p.layout) return view;
          DT_ASSIGN_OR_RETURN(const Place place, PlaceOf(p, executor));
          if (!HasPad(*p.layout)) view.dims = Parts(*p.layout, place.of).dims(place.at);
          return view;
        }));
  return absl::OkStatus();
}

// An argument that arrives from another process: type and extents are compared before a byte is
// copied.
absl::Status SetBuffer(const Executor& executor, int id, const TensorView& tensor) {
  const Buffer& buffer = BufferAt(executor, id);
  const bool fits = buffer.space == Space::kValue ? buffer.kind == Value::Kind::kTensor
                                                  : tensor.dims == buffer.dims;
  if (!fits || tensor.dtype != buffer.dtype ||
      (executor.value(id) == nullptr && !executor.storage().whole(id)))
    return absl::InvalidArgumentError(
        absl::StrCat("'", buffer.name, "' is ", ShapeText(buffer.dtype, buffer.dims),
                     ", what arrives is ", ShapeText(tensor.dtype, tensor.dims)));
  if (Value* value = executor.value(id)) return value->Assign(tensor);
  if (FirstTouch* const rows = executor.untouched(id)) DT_RETURN_IF_ERROR(rows->TouchAll());
  if (buffer.bytes > 0)
    std::memcpy(executor.data(id), tensor.data, static_cast<size_t>(buffer.bytes));
  return absl::OkStatus();
}

// Numbers that the run gives step by step (a learning rate, say) fill all elements of a
// persistable; that there are enough of them was checked at load.
absl::Status SetPerStep(const WorkerConfig& config, int64_t step, const Executor& executor) {
  for (const auto& [name, values] : config.per_step) {
    if (step >= static_cast<int64_t>(values.size()))
      return absl::OutOfRangeError(absl::StrCat("per-step values: ", values.size(), " values of '",
                                                name, "', none for step ", step));
    const Persistable& p = *FindPersistable(executor.plan(), name);
    const DType type = BufferAt(executor, p.buffer).dtype;
    const int64_t bytes = executor.storage().bytes(p.buffer);
    if (FirstTouch* const rows = executor.untouched(p.buffer)) rows->Overwritten();
    FillOf(type)(executor.data(p.buffer), bytes / static_cast<int64_t>(SizeOf(type)),
                 values[static_cast<size_t>(step)]);
  }
  return absl::OkStatus();
}

// Looks every fetch up once, and makes the files that will hold all steps: one .npy with the step
// as its first dim for fixed extents, one file per step otherwise.
absl::StatusOr<Fetches> Fetches::Open(const WorkerConfig& config, const Executor& executor) {
  Fetches fetches;
  const Program* program = executor.plan().repeated();
  const auto& slots = program ? program->fetches : std::vector<FetchSlot>();
  for (const std::string& name : config.fetch) {
    const auto slot = std::find_if(slots.begin(), slots.end(),
                                   [&](const FetchSlot& s) { return s.name == name; });
    if (slot == slots.end())
      return absl::InvalidArgumentError(
          absl::StrCat("'", name, "' is not among the fetches that the job was compiled for"));
    const Buffer& buffer = BufferAt(executor, slot->buffer);
    if (buffer.kind != Value::Kind::kTensor)
      return absl::InvalidArgumentError(absl::StrCat(
          "fetch '", name, "' is ", buffer.kind == Value::Kind::kList ? "an array" : "SelectedRows",
          ", tensors are reported"));
    Entry& entry = fetches.entries_.emplace_back(Entry{name, slot->buffer, "", {}});
    if (config.save_fetches.empty()) continue;
    DT_ASSIGN_OR_RETURN(
        const std::string stem,
        io::PrepareInside(absl::StrCat(config.save_fetches, "/", config.rank), name));
    // Extents that may differ from step to step: a file each.
    if (buffer.space == Space::kValue) {
      entry.stem = stem;
      io::ClearSteps(stem, config.steps);
      continue;
    }
    DT_ASSIGN_OR_RETURN(io::NpyStack stack, io::NpyStack::Create(stem + ".npy", buffer.dtype,
                                                                 buffer.dims, config.steps));
    entry.stack.emplace(std::move(stack));
  }
  return fetches;
}

// What is reported of a step, null where a tensor is too large to be; files get all of it.
absl::StatusOr<Json> Fetches::Take(int64_t step, const Executor& executor) {
  Json values = Json::object();
  for (Entry& entry : entries_) {
    DT_ASSIGN_OR_RETURN(const TensorView view, ViewOf(executor, entry.buffer));
    values[entry.name] = ElementsOf(view);
    if (entry.stack) DT_RETURN_IF_ERROR(entry.stack->Append(view));
    if (!entry.stem.empty())
      DT_RETURN_IF_ERROR(io::WriteStep(entry.stem, step, view, executor.value(entry.buffer)->lod));
  }
  return values;
}

absl::Status Fetches::Finish() {
  for (Entry& entry : entries_)
    if (entry.stack) DT_RETURN_IF_ERROR(entry.stack->Finish());
  return absl::OkStatus();
}

}  // namespace dtranspile::exec

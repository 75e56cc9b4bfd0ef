#include "runtime/exec/inputs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/exec/shares.h"
#include "runtime/io/output.h"
#include "runtime/tensor/widen.h"

namespace dtranspile::exec {
namespace {

const Buffer& BufferAt(const Plan& plan, int id) { return plan.buffers[static_cast<size_t>(id)]; }

// Which part of how many this rank takes: the coordinates along the axes as digits, the first one
// major.
absl::Status PartOf(const FeedSlot& slot, const WorkerConfig& config, int64_t& part,
                    int64_t& parts) {
  part = 0;
  parts = 1;
  for (const std::string& axis : slot.split ? slot.split->axes : std::vector<std::string>()) {
    const auto size = config.mesh.find(axis), at = config.coordinates.find(axis);
    if (size == config.mesh.end() || at == config.coordinates.end())
      return absl::InvalidArgumentError(absl::StrCat("feed '", slot.name, "' is split over axis '",
                                                     axis, "', which this rank's mesh lacks"));
    part = part * size->second + at->second;
    parts *= size->second;
  }
  return absl::OkStatus();
}

// Extents of -1 belong to the step.
bool Agree(const std::vector<int64_t>& dims, const std::vector<int64_t>& expected) {
  return std::equal(dims.begin(), dims.end(), expected.begin(), expected.end(),
                    [](int64_t have, int64_t want) { return want < 0 || have == want; });
}

// The extents of the file's steps have to be those of the plan, times the parts in the dimension
// that is cut.
absl::Status CheckFeed(const io::Feed& feed, const FeedSlot& slot, const Buffer& buffer,
                       int64_t parts, int64_t steps, const std::string& file) {
  if (feed.ragged() && buffer.lod_level == 0)
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": feed '", slot.name,
                     "' is ragged (LoD), the program declares it without levels of sequences"));
  std::vector<int64_t> expected = buffer.dims;
  if (slot.split && expected[static_cast<size_t>(slot.split->dim)] >= 0)
    expected[static_cast<size_t>(slot.split->dim)] *= parts;
  if (!FitsOrWidens(feed.dtype(), buffer.dtype) || !Agree(feed.dims(), expected))
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": a step of feed '", slot.name, "' is ", ShapeText(feed.dtype(), feed.dims()),
        ", the job was compiled for ", ShapeText(buffer.dtype, expected)));
  if (feed.steps() < steps)
    return absl::InvalidArgumentError(absl::StrCat(file, ": has ", feed.steps(), " steps of feed '",
                                                   slot.name, "', ", steps,
                                                   " are to be run; use --steps ", feed.steps()));
  return absl::OkStatus();
}

// A pipe or a device is none, and is not opened: that could block.
bool IsFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), R_OK) == 0;
}

// A scalar may have been saved as [] or as [1].
absl::Status CheckInitial(const Tensor& read, const Persistable& p, const Plan& plan,
                          const std::string& file) {
  const Buffer& buffer = BufferAt(plan, p.buffer);
  const std::vector<int64_t>& dims = WholeDims(plan, p);
  const auto scalar = [](const std::vector<int64_t>& extents) {
    return std::all_of(extents.begin(), extents.end(), [](int64_t extent) { return extent == 1; });
  };
  if (FitsOrWidens(read.dtype, buffer.dtype) &&
      (read.dims == dims || (scalar(read.dims) && scalar(dims))))
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": '", p.name, "' is ", ShapeText(read.dtype, read.dims),
                   ", the program declares ", ShapeText(buffer.dtype, dims)));
}

// What this rank begins with of a variable whose one value is `whole`: of a sum all or nothing.
Tensor ShareOfWhole(const WorkerConfig& config, const Persistable& variable, Tensor whole) {
  const Shares shares = SharesOf(variable, config.mesh);
  if (shares.sums() && shares.at(config.coordinates) > 0)
    std::fill_n(whole.bytes.data(), whole.bytes.size(), std::byte{0});
  return whole;
}

// Of ranks that share a variable out as those did who have written the folder each has its share
// again; else the value is that of all shares, or the first one.
absl::StatusOr<Tensor> ReadShare(const WorkerConfig& config, const Persistable& variable,
                                 io::Elements elements) {
  const std::string& folder = config.init->folder;
  const Shares here = SharesOf(variable, config.mesh);
  DT_ASSIGN_OR_RETURN(const Shares there, ReadShares(folder, variable.name));
  if (!there.alike() && here == there) {
    DT_ASSIGN_OR_RETURN(
        const std::string path,
        io::PathInside(folder, ShareName(here.at(config.coordinates), variable.name)));
    return io::ReadTensorFile(path, elements);
  }
  DT_ASSIGN_OR_RETURN(Tensor whole, ReadWhole(folder, variable.name, elements));
  return ShareOfWhole(config, variable, std::move(whole));
}

// Of a combined file every record is passed; those of other ranks and roles are not read.
absl::Status ForEachOfCombined(const WorkerConfig& config, const Plan& plan,
                               const Variables& variables, io::Elements elements,
                               const UseInitial& use) {
  const InitConfig& init = *config.init;
  std::map<std::string, const Persistable*> wanted;
  for (const Persistable* p : variables) wanted.emplace(p->name, p);
  std::vector<io::Expected> expected;
  for (const std::string& name : init.names) {
    io::Expected& one = expected.emplace_back(io::Expected{name});
    const auto found = wanted.find(name);
    one.skips = found == wanted.end();
    if (one.skips) continue;
    one.dtype = BufferAt(plan, found->second->buffer).dtype;
    one.dims = WholeDims(plan, *found->second);
  }
  DT_ASSIGN_OR_RETURN(auto values, io::ReadCombined(init.combined, expected, elements));
  for (auto& [name, value] : values) {
    const Persistable& variable = *wanted.at(name);
    DT_RETURN_IF_ERROR(use(variable, ShareOfWhole(config, variable, std::move(value))));
  }
  return absl::OkStatus();
}

// One file per variable, of those that are given; others were found missing before.
absl::Status ForEachOfFolder(const WorkerConfig& config, const MissingInitials& missing,
                             const Plan& plan, const Variables& variables, io::Elements elements,
                             const UseInitial& use) {
  std::set<std::string> without(missing.made.begin(), missing.made.end());
  for (const auto& [p, from] : missing.copied) without.insert(p->name);
  for (const Persistable* p : variables) {
    if (without.count(p->name) > 0) continue;
    DT_ASSIGN_OR_RETURN(const std::string path, io::PathInside(config.init->folder, p->name));
    DT_ASSIGN_OR_RETURN(Tensor value, ReadShare(config, *p, elements));
    DT_RETURN_IF_ERROR(CheckInitial(value, *p, plan, path));
    DT_RETURN_IF_ERROR(use(*p, std::move(value)));
  }
  return absl::OkStatus();
}

// Whether a number is one of the type's. Floats take any that does not round to infinity.
bool Holds(DType type, double value) {
  if (type == DType::kFloat32) return std::isfinite(static_cast<float>(value));
  if (type != DType::kInt32 && type != DType::kInt64) return true;
  const double most = type == DType::kInt32 ? 0x1p31 : 0x1p63;
  return value >= -most && value < most && std::trunc(value) == value;
}

template <typename T>
void Fill(std::byte* data, int64_t count, double value) {
  std::fill_n(reinterpret_cast<T*>(data), count, static_cast<T>(value));
}

}  // namespace

Variables AllVariables(const Plan& plan) {
  Variables variables;
  for (const Persistable& p : plan.persistables) variables.push_back(&p);
  return variables;
}

// Those that exist on a rank with these coordinates: pipeline stages, for instance, have their own.
Variables VariablesOf(const Plan& plan, const std::map<std::string, int64_t>& coordinates) {
  Variables variables;
  for (const Persistable& p : plan.persistables)
    if (p.at.contains(coordinates)) variables.push_back(&p);
  return variables;
}

// Files hold whole tensors, whatever part of one the rank keeps.
const std::vector<int64_t>& WholeDims(const Plan& plan, const Persistable& variable) {
  return variable.layout ? variable.layout->whole : BufferAt(plan, variable.buffer).dims;
}

const Persistable* FindPersistable(const Plan& plan, const std::string& name) {
  const auto& all = plan.persistables;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Persistable& p) { return p.name == name; });
  return found == all.end() ? nullptr : &*found;
}

FillFunction FillOf(DType type) {
  switch (type) {
    case DType::kFloat32: return Fill<float>;
    case DType::kFloat64: return Fill<double>;
    case DType::kInt32: return Fill<int32_t>;
    case DType::kInt64: return Fill<int64_t>;
    default: return nullptr;
  }
}

// The feeds that the program reads, opened and compared with what it was compiled for, and the part
// of each that this rank takes.
absl::StatusOr<std::vector<OpenFeed>> OpenFeeds(const WorkerConfig& config, const Plan& plan) {
  std::vector<OpenFeed> feeds;
  std::map<std::string, std::string> files;
  for (const FeedConfig& feed : config.feeds) files[feed.name] = feed.file;
  const Program* program = plan.repeated();
  for (const FeedSlot& slot : program ? program->feeds : std::vector<FeedSlot>()) {
    const auto file = files.find(slot.name);
    if (file == files.end())
      return absl::InvalidArgumentError(absl::StrCat("feed '", slot.name, "' is not given; add ",
                                                     slot.name, ".npy to the feeds"));
    int64_t part = 0, parts = 1;
    DT_RETURN_IF_ERROR(PartOf(slot, config, part, parts));
    DT_ASSIGN_OR_RETURN(io::Feed feed, io::Feed::OpenFile(file->second));
    DT_RETURN_IF_ERROR(CheckFeed(feed, slot, BufferAt(plan, slot.buffer), parts,
                                 config.skip + config.steps, file->second));
    feeds.push_back({std::move(feed), slot.buffer, slot.split ? slot.split->dim : 0, part, parts});
  }
  // Files of other feeds are not read: the fetches may need a part of the program.
  return feeds;
}

// Before the first step: the variable exists, its type can hold every number, and there is one for
// each step.
absl::Status CheckPerStep(const WorkerConfig& config, const Plan& plan) {
  for (const auto& [name, values] : config.per_step) {
    const Persistable* p = FindPersistable(plan, name);
    if (p == nullptr)
      return absl::InvalidArgumentError(
          absl::StrCat("per-step values: '", name, "' is no persistable of the job"));
    if (plan.serves() && plan.repeated() == nullptr)
      return absl::UnimplementedError(absl::StrCat(
          "per-step values: '", name,
          "' is on servers that apply every push by itself, and know "
          "no steps; make the job with sync_mode, or let the program compute the value"));
    if (FillOf(BufferAt(plan, p->buffer).dtype) == nullptr)
      return absl::InvalidArgumentError(absl::StrCat("per-step values: '", name, "' is ",
                                                     NameOf(BufferAt(plan, p->buffer).dtype)));
    const auto wrong = std::find_if_not(values.begin(), values.end(), [&](double value) {
      return Holds(BufferAt(plan, p->buffer).dtype, value);
    });
    if (wrong != values.end())
      return absl::InvalidArgumentError(absl::StrCat("per-step values: '", name, "' is ",
                                                     NameOf(BufferAt(plan, p->buffer).dtype),
                                                     ", which has no value ", *wrong));
    if (const int64_t steps = config.skip + config.steps;
        static_cast<int64_t>(values.size()) < steps)
      return absl::InvalidArgumentError(absl::StrCat(
          "per-step values: ", values.size(), " values of '", name, "' for ", steps, " steps"));
  }
  return absl::OkStatus();
}

// Sorts the variables without a given value: `copied` begin as another one that was given (an
// average as its parameter), `made` are left to the start-up program, and a parameter among them is
// an error, since a start-up program's random value is surely not what was meant.
absl::StatusOr<MissingInitials> FindMissing(const InitConfig& init, const Plan& plan,
                                            const Variables& variables) {
  const std::set<std::string> names(init.names.begin(), init.names.end());
  std::map<std::string_view, const Persistable*> given;
  std::vector<const Persistable*> others;
  for (const Persistable* p : variables) {
    bool there = names.count(p->name) > 0;
    if (!init.folder.empty()) {
      DT_ASSIGN_OR_RETURN(const std::string path, io::PathInside(init.folder, p->name));
      there = IsFile(path);
      // Of a sum a checkpoint has the shares only.
      if (!there) {
        DT_ASSIGN_OR_RETURN(const Shares shares, ReadShares(init.folder, p->name));
        there = !shares.alike() && shares.sums();
      }
    }
    if (there) given[p->name] = p;
    else others.push_back(p);
  }
  MissingInitials missing;
  std::vector<std::string> parameters;
  for (const Persistable* p : others) {
    const auto from = given.find(p->begins_as);
    if (p->parameter) parameters.push_back(p->name);
    else if (from != given.end() && !p->layout && !from->second->layout)
      missing.copied.emplace_back(p, from->second);
    else missing.made.push_back(p->name);
  }
  const std::string& where = init.folder.empty() ? init.combined : init.folder;
  if (!parameters.empty())
    return absl::NotFoundError(absl::StrCat(
        where, ": has no value for ", absl::StrJoin(parameters, ", "),
        plan.startup() ? "; add them, or leave initial values out for start-up to make all" : ""));
  if (!missing.made.empty() && plan.startup() == nullptr)
    return absl::NotFoundError(absl::StrCat(where, ": has no value for ",
                                            absl::StrJoin(missing.made, ", "),
                                            ", and there is no start-up program"));
  return missing;
}

absl::Status CheckInit(const WorkerConfig& config, const Plan& plan) {
  if (config.init || plan.startup() != nullptr || plan.persistables.empty())
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      "there is no start-up program; give initial values with --init");
}

// A sum is one value for any number of ranks, and so is what is alike; of what ranks have each of
// its own nobody else can go on.
absl::Status CheckShares(const WorkerConfig& config, const Plan& plan) {
  if (!config.init || config.init->folder.empty()) return absl::OkStatus();
  const std::string& folder = config.init->folder;
  for (const Persistable& variable : plan.persistables) {
    DT_ASSIGN_OR_RETURN(const Shares there, ReadShares(folder, variable.name));
    const Shares here = SharesOf(variable, config.mesh);
    if (there == here || there.alike() || (there.sums() && here.sums())) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        folder, ": has '", variable.name, "' of each of ", there.count(), " ranks (",
        there.axes.front().state, "), this job has ", here.count(),
        " of them: go on with the same job, or begin anew with the first rank's values, --init ",
        folder));
  }
  return absl::OkStatus();
}

absl::Status ForEachInitial(const WorkerConfig& config, const MissingInitials& missing,
                            const Plan& plan, const Variables& variables, io::Elements elements,
                            const UseInitial& use) {
  return config.init->folder.empty()
             ? ForEachOfCombined(config, plan, variables, elements, use)
             : ForEachOfFolder(config, missing, plan, variables, elements, use);
}

// What the launcher does before it starts any process: all feeds and initial values are opened and
// compared, none is read, so that a wrong file is one message instead of one per rank.
absl::Status CheckInputs(const WorkerConfig& config, const Plan& plan) {
  DT_RETURN_IF_ERROR(CheckPerStep(config, plan));
  DT_ASSIGN_OR_RETURN(const std::vector<OpenFeed> feeds, OpenFeeds(config, plan));
  for (const OpenFeed& open : feeds)
    DT_RETURN_IF_ERROR(open.feed.CheckSteps(config.skip + config.steps, open.parts));
  DT_RETURN_IF_ERROR(CheckInit(config, plan));
  if (!config.init) return absl::OkStatus();
  const Variables variables = AllVariables(plan);
  DT_ASSIGN_OR_RETURN(const MissingInitials missing, FindMissing(*config.init, plan, variables));
  return ForEachInitial(config, missing, plan, variables, io::Elements::kSkip,
                        [](const Persistable&, Tensor) { return absl::OkStatus(); });
}

}  // namespace dtranspile::exec

#include "runtime/launch/saving.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/layout.h"
#include "runtime/io/output.h"
#include "runtime/io/tensor_record.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::launch {
namespace {

using exec::Persistable;

// Whether ranks together have the value of the saved program: a copy each, or parts of it.
bool IsReference(const Persistable& variable) {
  return std::all_of(variable.relation.begin(), variable.relation.end(), [](const auto& axis) {
    return axis.second.rfind('R', 0) == 0 || axis.second.rfind('S', 0) == 0;
  });
}

// By variable: the role that is asked for it.
std::map<std::string, size_t> RolesOf(const std::vector<Rank>& ranks) {
  std::map<std::string, size_t> chosen;
  std::set<std::string> settled;
  for (const Rank& rank : ranks)
    for (const Persistable& variable : rank.plan->persistables) {
      const bool reference = IsReference(variable);
      if (settled.count(variable.name) > 0) continue;
      if (reference) {
        chosen[variable.name] = rank.role_index;
        settled.insert(variable.name);
      } else {
        chosen.emplace(variable.name, rank.role_index);
      }
    }
  return chosen;
}

// Who writes what, while ranks are looked at in their order.
class Sharing {
 public:
  explicit Sharing(const std::string& folder) : folder_(folder) {}

  absl::Status Add(size_t index, Rank& rank, const Persistable& variable) {
    if (!variable.layout) {
      if (!whole_.insert(variable.name).second) return absl::OkStatus();
      if (cut_.count(variable.name) > 0) return Disagree(rank, variable);
      rank.config.save = folder_;
      rank.config.save_names.push_back(variable.name);
      return absl::OkStatus();
    }
    if (whole_.count(variable.name) > 0) return Disagree(rank, variable);
    DT_ASSIGN_OR_RETURN(
        const exec::Place place,
        exec::PlaceOf(variable.layout->axes, {rank.config.coordinates, rank.config.mesh}));
    const auto [found, added] = cut_.emplace(variable.name, CutVariable{});
    CutVariable& cut = found->second;
    if (added) {
      const auto buffer = static_cast<size_t>(variable.buffer);
      cut = {variable.name, rank.plan->buffers[buffer].dtype, *variable.layout, place.of, {}};
    }
    if (cut.parts != place.of || cut.layout.kind != variable.layout->kind ||
        cut.layout.whole != variable.layout->whole)
      return Disagree(rank, variable);
    if (exec::Parts(cut.layout, cut.parts).extent(place.at) == 0 ||
        !written_.insert({variable.name, place.at}).second)
      return absl::OkStatus();
    cut.writers.emplace_back(place.at, index);
    rank.config.part_names.push_back(variable.name);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<CutVariable>> Finish() {
    std::vector<CutVariable> variables;
    for (auto& [name, cut] : cut_) {
      const exec::Parts parts(cut.layout, cut.parts);
      for (int64_t part = 0; part < cut.parts; ++part)
        if (parts.extent(part) > 0 && written_.count({name, part}) == 0)
          return absl::InvalidArgumentError(
              absl::StrCat("part ", part, " of '", name, "' is on no rank"));
      variables.push_back(std::move(cut));
    }
    return variables;
  }

 private:
  static absl::Status Disagree(const Rank& rank, const Persistable& variable) {
    return absl::InvalidArgumentError(absl::StrCat(rank.name(), ": has '", variable.name,
                                                   "' cut in another way than the ranks before"));
  }

  const std::string& folder_;
  std::set<std::string> whole_;
  std::map<std::string, CutVariable> cut_;
  std::set<std::pair<std::string, int64_t>> written_;
};

// The elements of one part, as Save of runtime/exec/values.h leaves them.
absl::Status AddPart(const CutVariable& variable, const exec::Parts& all, int64_t part,
                     const std::string& file, Tensor& whole) {
  DT_ASSIGN_OR_RETURN(const Tensor read, io::ReadTensorFile(file));
  const bool pad = variable.layout.kind == exec::LayoutKind::kEven;
  if (read.dtype != variable.dtype || read.dims != (pad ? all.room_dims() : all.dims(part)))
    return absl::InternalError(absl::StrCat(file, ": is ", ShapeText(read.dtype, read.dims),
                                            ", which is no part of '", variable.name, "'"));
  all.Put(part, SizeOf(variable.dtype), read.bytes.data(), whole.bytes.data(), pad);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<CutVariable>> ShareSaving(const std::string& folder,
                                                     std::vector<Rank>& ranks) {
  if (folder.empty()) return std::vector<CutVariable>();
  const std::map<std::string, size_t> roles = RolesOf(ranks);
  Sharing sharing(folder);
  for (size_t i = 0; i < ranks.size(); ++i)
    for (const Persistable* p : exec::VariablesOf(*ranks[i].plan, ranks[i].config.coordinates))
      if (roles.at(p->name) == ranks[i].role_index)
        DT_RETURN_IF_ERROR(sharing.Add(i, ranks[i], *p));
  return sharing.Finish();
}

std::string PartsFolder(const std::string& parts, size_t rank) {
  return absl::StrCat(parts, "/", rank);
}

absl::Status PutTogether(const std::vector<CutVariable>& variables, const std::string& parts,
                         const std::string& folder) {
  for (const CutVariable& variable : variables) {
    const exec::Parts all(variable.layout, variable.parts);
    DT_ASSIGN_OR_RETURN(Tensor whole, Tensor::Zeros(variable.dtype, variable.layout.whole));
    for (const auto& [part, rank] : variable.writers) {
      DT_ASSIGN_OR_RETURN(const std::string file,
                          io::PathInside(PartsFolder(parts, rank), variable.name));
      DT_RETURN_IF_ERROR(AddPart(variable, all, part, file, whole));
    }
    DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(folder, variable.name));
    DT_RETURN_IF_ERROR(io::WriteTensorFile(path, whole));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::launch

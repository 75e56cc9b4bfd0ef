#include "runtime/launch/ranks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/inputs.h"
#include "runtime/launch/processors.h"

namespace dtranspile::launch {
namespace {

constexpr int64_t kMostRanks = 4096;

using Mesh = std::vector<std::pair<std::string, int64_t>>;

absl::StatusOr<int64_t> RanksOf(const Role& role) {
  int64_t ranks = 1;
  for (const auto& [axis, size] : role.mesh) {
    if (size < 1 || size > kMostRanks || ranks * size > kMostRanks)
      return absl::InvalidArgumentError(absl::StrCat(
          "axis '", axis, "' of ", size, ": a machine runs 1 to ", kMostRanks, " ranks"));
    ranks *= size;
  }
  const auto plans = static_cast<int64_t>(role.plans.size());
  if (plans != 1 && plans != ranks)
    return absl::InvalidArgumentError(
        absl::StrCat("role '", role.name, "' has ", ranks, " ranks and ", plans, " plans"));
  return ranks;
}

// Threads of every rank, and who spins: busy waiting pays only when no other rank wants the core.
// Threads run where this process may, as the system places them: one that is tied to a core waits
// for it while others are free.
void ShareProcessors(int wanted, std::vector<Rank>& ranks) {
  const int64_t have = UsableProcessors(), count = static_cast<int64_t>(ranks.size());
  const int64_t threads = wanted > 0 ? wanted : std::max<int64_t>(have / count, 1);
  for (Rank& rank : ranks) {
    rank.config.threads = static_cast<int>(threads);
    rank.config.spin = threads * count <= have;
  }
}

absl::Status AddCombines(const JobSpec& spec, const exec::Plan& plan,
                         std::map<std::string, std::string>& combine) {
  for (const std::string& name : spec.fetch) {
    const auto& slots = plan.step().fetches;
    const auto slot = std::find_if(slots.begin(), slots.end(),
                                   [&](const exec::FetchSlot& s) { return s.name == name; });
    if (slot == slots.end())
      return absl::InvalidArgumentError(
          absl::StrCat(plan.folder, ": was not compiled to fetch '", name, "'"));
    const auto [known, added] = combine.emplace(name, slot->combine);
    if (!added && known->second != slot->combine)
      return absl::InvalidArgumentError(absl::StrCat("fetch '", name, "' is combined by ",
                                                     known->second, " and by ", slot->combine));
  }
  return absl::OkStatus();
}

absl::StatusOr<Rank> MakeRank(const JobSpec& spec, const Role& role, const exec::Plan& plan,
                              int64_t number) {
  Rank rank{role.name, static_cast<int>(number), role.compile_ms, {}};
  exec::WorkerConfig& c = rank.config;
  c.plan = plan.folder;
  c.role = role.name;
  c.rank = rank.rank;
  c.coordinates = CoordinatesOf(role.mesh, number);
  c.mesh = {role.mesh.begin(), role.mesh.end()};
  for (const exec::PlanComm& comm : plan.comms) {
    DT_ASSIGN_OR_RETURN(exec::CommConfig group, GroupOf(comm, role.name, role.mesh, c.coordinates));
    c.comms.push_back(std::move(group));
  }
  c.feeds = spec.feeds;
  c.init = spec.init;
  c.per_step = spec.per_step;
  c.steps = spec.steps;
  c.first_step = spec.first_step;
  c.fetch = spec.fetch;
  c.seed = spec.seed;
  c.save_fetches = spec.save_fetches;
  if (!spec.trace.empty()) c.trace = absl::StrCat(spec.trace, "/", role.name, ".", number, ".json");
  if (!spec.save.empty() && number == 0) {
    c.save = spec.save;
    for (const exec::Persistable& p : plan.persistables) c.save_names.push_back(p.name);
  }
  return rank;
}

}  // namespace

std::map<std::string, int64_t> CoordinatesOf(const Mesh& mesh, int64_t rank) {
  std::map<std::string, int64_t> coordinates;
  for (auto axis = mesh.rbegin(); axis != mesh.rend(); ++axis) {
    coordinates[axis->first] = rank % axis->second;
    rank /= axis->second;
  }
  return coordinates;
}

absl::StatusOr<exec::CommConfig> GroupOf(const exec::PlanComm& comm, const std::string& role,
                                         const Mesh& mesh,
                                         const std::map<std::string, int64_t>& coordinates) {
  exec::CommConfig group{comm.name, absl::StrCat(role, ".", comm.name), 0, 1};
  for (const std::string& axis : comm.axes) {
    const auto found =
        std::find_if(mesh.begin(), mesh.end(), [&](const auto& a) { return a.first == axis; });
    if (found == mesh.end())
      return absl::InvalidArgumentError(absl::StrCat(
          "communicator '", comm.name, "' runs along axis '", axis, "', which the mesh lacks"));
    group.rank = static_cast<int>(group.rank * found->second + coordinates.at(axis));
    group.size = static_cast<int>(group.size * found->second);
  }
  for (const auto& [axis, size] : mesh)
    if (std::find(comm.axes.begin(), comm.axes.end(), axis) == comm.axes.end())
      absl::StrAppend(&group.group, ".", coordinates.at(axis));
  return group;
}

absl::StatusOr<Ranks> MakeRanks(const JobSpec& spec) {
  Ranks result;
  for (const Role& role : spec.roles) {
    DT_ASSIGN_OR_RETURN(const int64_t ranks, RanksOf(role));
    std::vector<exec::Plan> plans;
    for (const std::string& folder : role.plans) {
      DT_ASSIGN_OR_RETURN(exec::Plan plan, exec::ReadPlan(folder));
      DT_RETURN_IF_ERROR(AddCombines(spec, plan, result.combine));
      plans.push_back(std::move(plan));
    }
    for (int64_t number = 0; number < ranks; ++number) {
      const exec::Plan& plan = plans[plans.size() == 1 ? 0 : static_cast<size_t>(number)];
      DT_ASSIGN_OR_RETURN(Rank rank, MakeRank(spec, role, plan, number));
      // Ranks of one plan want the same.
      if (number == 0 || plans.size() > 1) DT_RETURN_IF_ERROR(exec::CheckInputs(rank.config, plan));
      result.ranks.push_back(std::move(rank));
    }
  }
  if (result.ranks.empty()) return absl::InvalidArgumentError("the job has no ranks");
  ShareProcessors(spec.threads, result.ranks);
  return result;
}

}  // namespace dtranspile::launch

#include "runtime/launch/ranks.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/inputs.h"
#include "runtime/launch/groups.h"
#include "runtime/launch/processors.h"
#include "runtime/launch/servers.h"

namespace dtranspile::launch {
namespace {

constexpr int64_t kMostRanks = 4096;

using Plans = std::vector<const exec::Plan*>;

// The product of the mesh; a role has a plan for all ranks or one for each.
absl::StatusOr<int64_t> RanksOf(const Role& role) {
  int64_t ranks = 1;
  for (const auto& [axis, size] : role.mesh) {
    if (size < 1 || size > kMostRanks || ranks * size > kMostRanks)
      return absl::InvalidArgumentError(absl::StrCat(
          "axis '", axis, "' of ", size, ": a machine runs 1 to ", kMostRanks, " ranks"));
    ranks *= size;
  }
  const auto plans = static_cast<int64_t>(role.plans.size());
  if (plans > 1 && plans != ranks)
    return absl::InvalidArgumentError(
        absl::StrCat("role '", role.name, "' has ", ranks, " ranks and ", plans, " plans"));
  if (!role.classes.empty() && role.classes.size() != role.plans.size())
    return absl::InvalidArgumentError(absl::StrCat("role '", role.name, "' has ", plans,
                                                   " plans and ", role.classes.size(), " classes"));
  if (role.device != "cpu")
    return absl::InvalidArgumentError(absl::StrCat("role '", role.name, "' is to run on '",
                                                   role.device, "'; this runtime runs on cpu"));
  return ranks;
}

// The plan is of this job, role and class of ranks: folders may have been mixed up.
absl::Status CheckPlan(const JobSpec& spec, const Role& role, size_t index,
                       const exec::Plan& plan) {
  const auto refuse = [&](const char* what, const std::string& has, const std::string& wants) {
    return absl::InvalidArgumentError(absl::StrCat(plan.folder, ": is a plan of ", what, " '", has,
                                                   "', given to ranks of '", wants, "'"));
  };
  if (!plan.role.empty() && plan.role != role.name) return refuse("role", plan.role, role.name);
  if (!role.classes.empty() && plan.class_name != role.classes[index])
    return refuse("class", plan.class_name, role.classes[index]);
  if (plan.target.device != role.device) return refuse("device", plan.target.device, role.device);
  if (!spec.digest.empty() && plan.digest != spec.digest)
    return refuse("job", plan.digest, spec.digest);
  return absl::OkStatus();
}

// A plan per entry of role.plans; a folder is read once.
absl::StatusOr<Plans> ReadPlans(const JobSpec& spec, const Role& role, Ranks& result) {
  std::map<std::string, const exec::Plan*> known;
  Plans plans;
  for (size_t i = 0; i < role.plans.size(); ++i) {
    if (role.plans[i].empty()) {
      plans.push_back(nullptr);
      continue;
    }
    const exec::Plan*& plan = known[role.plans[i]];
    if (plan == nullptr) {
      DT_ASSIGN_OR_RETURN(exec::Plan read, exec::ReadPlan(role.plans[i]));
      result.plans.push_back(std::make_unique<const exec::Plan>(std::move(read)));
      plan = result.plans.back().get();
    }
    DT_RETURN_IF_ERROR(CheckPlan(spec, role, i, *plan));
    plans.push_back(plan);
  }
  return plans;
}

// Threads of every rank, and who spins: busy waiting pays only when no other rank wants the core.
// Threads run where this process may, as the system places them: one that is tied to a core waits
// for it while others are free.
void ShareProcessors(const JobSpec& spec, std::vector<Rank>& ranks) {
  int64_t asked = 0, open = 0;
  for (Rank& rank : ranks) {
    const int own = spec.roles[rank.role_index].threads;
    rank.config.threads = own > 0 ? own : spec.threads;
    asked += rank.config.threads;
    open += rank.config.threads == 0;
  }
  const int64_t have = UsableProcessors();
  const int64_t share = open == 0 ? 0 : std::max<int64_t>((have - asked) / open, 1);
  for (Rank& rank : ranks) {
    if (rank.config.threads == 0) rank.config.threads = static_cast<int>(share);
    rank.config.spin = asked + share * open <= have;
  }
}

const exec::FetchSlot* FindFetch(const exec::Plan& plan, const std::string& name) {
  const exec::Program* program = plan.repeated();
  if (program == nullptr) return nullptr;
  const auto slot = std::find_if(program->fetches.begin(), program->fetches.end(),
                                 [&](const exec::FetchSlot& s) { return s.name == name; });
  return slot == program->fetches.end() ? nullptr : &*slot;
}

// A fetch is that of the first role which has it, from the ranks that hold it.
absl::Status ShareFetch(const std::string& name, const JobSpec& spec, Ranks& result) {
  HeldFetch held;
  const Rank* first = nullptr;
  for (size_t i = 0; i < result.ranks.size(); ++i) {
    Rank& rank = result.ranks[i];
    const exec::FetchSlot* slot = FindFetch(*rank.plan, name);
    if (slot == nullptr || (first != nullptr && rank.role_index != first->role_index)) continue;
    if (first == nullptr) first = &rank, held.combine = slot->combine;
    if (slot->combine != held.combine)
      return absl::InvalidArgumentError(absl::StrCat("fetch '", name, "' is combined by ",
                                                     held.combine, " and by ", slot->combine));
    if (!slot->at.contains(rank.config.coordinates)) continue;
    rank.config.fetch.push_back(name);
    held.indices.push_back(i);
    held.ranks.push_back(rank.rank);
  }
  // Ranks that are not here may have it.
  if (held.ranks.empty() && spec.part) return absl::OkStatus();
  if (first == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(result.ranks.front().plan->folder,
                                                   ": was not compiled to fetch '", name, "'"));
  if (held.ranks.empty())
    return absl::InvalidArgumentError(absl::StrCat("fetch '", name, "' is on no rank"));
  result.fetches[name] = std::move(held);
  return absl::OkStatus();
}

// Everything that a rank is told, except for what depends on other ranks (servers, threads,
// fetches), which is filled in when all are known.
absl::StatusOr<Rank> MakeRank(const JobSpec& spec, size_t role_index, const exec::Plan& plan,
                              int64_t number) {
  const Role& role = spec.roles[role_index];
  Rank rank;
  rank.role_index = role_index;
  rank.role = role.name;
  rank.class_name = plan.class_name;
  rank.rank = static_cast<int>(number);
  rank.compile_ms = role.compile_ms;
  rank.plan = &plan;
  exec::WorkerConfig& c = rank.config;
  c.plan = plan.folder;
  c.digest = plan.digest;
  c.role = role.name;
  c.class_name = plan.class_name;
  c.rank = rank.rank;
  c.coordinates = CoordinatesOf(role.mesh, number);
  c.mesh = {role.mesh.begin(), role.mesh.end()};
  for (const exec::PlanComm& comm : plan.comms) {
    if (comm.kind == exec::CommKind::kRpc) continue;
    DT_ASSIGN_OR_RETURN(auto group, GroupOf(comm, role.name, role.mesh, c.coordinates));
    if (group) c.comms.push_back(*std::move(group));
  }
  c.feeds = spec.feeds;
  c.init = spec.init;
  for (const exec::Persistable* p : exec::VariablesOf(plan, c.coordinates))
    if (const auto values = spec.per_step.find(p->name); values != spec.per_step.end())
      c.per_step.insert(*values);
  c.steps = spec.steps;
  c.first_step = spec.first_step;
  c.skip = spec.skip;
  c.seed = spec.seed;
  c.save_fetches = spec.save_fetches;
  if (!spec.trace.empty()) c.trace = absl::StrCat(spec.trace, "/", role.name, ".", number, ".json");
  return rank;
}

// Ranks that are started in different places meet at servers only.
absl::Status CheckGroups(const std::vector<Rank>& ranks) {
  std::map<std::string, int> here;
  for (const Rank& rank : ranks)
    for (const exec::CommConfig& comm : rank.config.comms) ++here[comm.group];
  for (const Rank& rank : ranks)
    for (const exec::CommConfig& comm : rank.config.comms)
      if (here[comm.group] != comm.size)
        return absl::InvalidArgumentError(absl::StrCat(
            rank.name(), " has communicator '", comm.name, "' with ", comm.size - 1,
            " other ranks, of which ", here[comm.group] - 1,
            " are started here: ranks of a communicator are started together; run the whole role, "
            "without a rank"));
  return absl::OkStatus();
}

// What a plan wants, with the values that are given for any of its ranks.
absl::Status CheckInputsOf(const JobSpec& spec, const Rank& rank) {
  exec::WorkerConfig config = rank.config;
  for (const auto& [name, values] : spec.per_step)
    if (exec::FindPersistable(*rank.plan, name) != nullptr) config.per_step[name] = values;
  if (spec.resumes) DT_RETURN_IF_ERROR(exec::CheckShares(config, *rank.plan));
  return exec::CheckInputs(config, *rank.plan);
}

// Names that no plan knows are nobody's.
absl::Status CheckNames(const JobSpec& spec, const Ranks& result) {
  const auto known = [&](const std::string& name) {
    return std::any_of(result.plans.begin(), result.plans.end(), [&](const auto& plan) {
      return exec::FindPersistable(*plan, name) != nullptr;
    });
  };
  for (const auto& [name, values] : spec.per_step)
    if (!known(name))
      return absl::InvalidArgumentError(
          absl::StrCat("per-step values: '", name, "' is no persistable of the job"));
  for (const std::string& name : spec.init ? spec.init->names : std::vector<std::string>())
    if (!known(name))
      return absl::InvalidArgumentError(
          absl::StrCat(spec.init->combined, ": '", name, "' is no persistable of the job"));
  return absl::OkStatus();
}

// The ranks of a role that are to be started here (`spec.part`), or all.
absl::Status AddRole(const JobSpec& spec, size_t index, Ranks& result) {
  const Role& role = spec.roles[index];
  DT_ASSIGN_OR_RETURN(const int64_t ranks, RanksOf(role));
  DT_ASSIGN_OR_RETURN(const Plans plans, ReadPlans(spec, role, result));
  std::set<std::string> classes;
  for (const exec::Plan* plan : plans)
    if (plan != nullptr) classes.insert(plan->class_name);
  for (int64_t number = 0; number < ranks; ++number) {
    if (spec.part && !spec.part->has(role.name, number)) continue;
    const exec::Plan* plan =
        plans.empty() ? nullptr : plans[plans.size() == 1 ? 0 : static_cast<size_t>(number)];
    if (plan == nullptr)
      return absl::InvalidArgumentError(
          absl::StrCat(role.name, " ", number, " is to be started and has no plan"));
    DT_ASSIGN_OR_RETURN(Rank rank, MakeRank(spec, index, *plan, number));
    rank.one_of_classes = classes.size() > 1;
    result.ranks.push_back(std::move(rank));
  }
  return absl::OkStatus();
}

}  // namespace

// From the job to the list of processes. All that can be wrong with files and names is found here,
// before the first process starts.
absl::StatusOr<Ranks> MakeRanks(const JobSpec& spec) {
  Ranks result;
  std::set<std::string> names;
  for (size_t i = 0; i < spec.roles.size(); ++i) {
    if (!names.insert(spec.roles[i].name).second)
      return absl::InvalidArgumentError(
          absl::StrCat("the job has two roles '", spec.roles[i].name, "'"));
    DT_RETURN_IF_ERROR(AddRole(spec, i, result));
  }
  if (result.ranks.empty()) return absl::InvalidArgumentError("the job has no ranks");
  if (spec.part) DT_RETURN_IF_ERROR(CheckGroups(result.ranks));
  DT_RETURN_IF_ERROR(ConnectRoles(spec, result.ranks));
  for (const std::string& name : spec.fetch) DT_RETURN_IF_ERROR(ShareFetch(name, spec, result));
  if (!spec.part) DT_RETURN_IF_ERROR(CheckNames(spec, result));
  // Ranks of one plan want the same.
  std::set<const exec::Plan*> checked;
  for (const Rank& rank : result.ranks)
    if (checked.insert(rank.plan).second) DT_RETURN_IF_ERROR(CheckInputsOf(spec, rank));
  ShareProcessors(spec, result.ranks);
  return result;
}

}  // namespace dtranspile::launch

#include "runtime/launch/saving.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/inputs.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/shares.h"
#include "runtime/io/output.h"
#include "runtime/io/tensor_record.h"
#include "runtime/launch/groups.h"
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

// By variable: the role that is asked for it. Copies that trainers have of what servers hold may be
// older.
std::map<std::string, size_t> RolesOf(const std::vector<Rank>& ranks) {
  std::map<std::string, size_t> chosen;
  std::set<std::string> settled;
  for (const bool serves : {true, false})
    for (const Rank& rank : ranks) {
      if (rank.plan->serves() != serves) continue;
      for (const Persistable& variable : rank.plan->persistables) {
        if (settled.count(variable.name) > 0) continue;
        if (IsReference(variable)) {
          chosen[variable.name] = rank.role_index;
          settled.insert(variable.name);
        } else {
          chosen.emplace(variable.name, rank.role_index);
        }
      }
    }
  return chosen;
}

// Whether a variable is what a trainer knows of one that servers have (geo-SGD): a run that begins
// with their value begins with this one equal to it.
bool FollowsServers(const Persistable& variable, const std::vector<Rank>& ranks) {
  return !variable.begins_as.empty() &&
         std::any_of(ranks.begin(), ranks.end(), [&](const Rank& rank) {
           const auto& all = rank.plan->persistables;
           return rank.plan->serves() &&
                  std::any_of(all.begin(), all.end(), [&](const Persistable& one) {
                    return one.name == variable.begins_as;
                  });
         });
}

// What a rank writes.
struct Share {
  std::vector<std::string> whole, parts;
  bool empty() const { return whole.empty() && parts.empty(); }
};

// Who writes what, while ranks are looked at in their order.
// Every variable is written once: whole ones by the first rank that has them, each part of a cut
// one by the first rank that has this part, and so each share where ranks do not have it alike.
// Ranks that have the same variable must have it cut alike, or parts would not fit together.
class Sharing {
 public:
  // kOneValue: files have one value per variable, so that of shares which are no terms of a sum the
  // first one is written, and terms are to be put together.
  enum Kind { kAllShares, kOneValue };
  Sharing(Kind kind, size_t ranks) : kind_(kind), shares_(ranks) {}

  const Share& of(size_t index) const { return shares_[index]; }

  // The first rank that has a whole variable writes it; of a cut one, the first rank that has each
  // part. A variable that is whole on some ranks and cut on others, or cut in two ways, cannot be
  // saved as one.
  absl::Status Add(size_t index, const Rank& rank, const Persistable& variable) {
    const exec::Shares shares = exec::SharesOf(variable, rank.config.mesh);
    const bool one = kind_ == kOneValue && !shares.sums();
    const int64_t share = one ? 0 : shares.at(rank.config.coordinates);
    if (!variable.layout) return AddWhole(index, rank, variable, share);
    if (whole_.count(variable.name) > 0) return Disagree(rank, variable);
    DT_ASSIGN_OR_RETURN(
        const exec::Place place,
        exec::PlaceOf(variable.layout->axes, {rank.config.coordinates, rank.config.mesh}));
    const auto [found, added] = cut_.emplace(variable.name, CutVariable{});
    CutVariable& cut = found->second;
    if (added) {
      cut = Begun(rank, variable);
      cut.parts = place.of;
    }
    if (cut.parts != place.of || cut.layout->kind != variable.layout->kind ||
        cut.layout->whole != variable.layout->whole)
      return Disagree(rank, variable);
    if (exec::Parts(*cut.layout, cut.parts).extent(place.at) == 0 ||
        !written_.insert({variable.name, share, place.at}).second)
      return absl::OkStatus();
    cut.writers.push_back({share, place.at, index});
    shares_[index].parts.push_back(variable.name);
    return absl::OkStatus();
  }

  // All parts with elements must have found a writer.
  absl::StatusOr<std::vector<CutVariable>> Finish() {
    std::vector<CutVariable> variables;
    for (auto& [name, cut] : cut_) {
      const exec::Parts parts(*cut.layout, cut.parts);
      std::set<int64_t> terms;
      for (const CutVariable::Writer& writer : cut.writers) terms.insert(writer.term);
      if (terms.empty()) terms.insert(0);
      for (const int64_t term : terms)
        for (int64_t part = 0; part < cut.parts; ++part)
          if (parts.extent(part) > 0 && written_.count({name, term, part}) == 0)
            return absl::InvalidArgumentError(
                absl::StrCat("part ", part, " of '", name, "' is on no rank"));
      variables.push_back(std::move(cut));
    }
    for (auto& [name, sum] : sums_) variables.push_back(std::move(sum));
    return variables;
  }

 private:
  // The first rank that has a share writes it.
  absl::Status AddWhole(size_t index, const Rank& rank, const Persistable& variable,
                        int64_t share) {
    if (cut_.count(variable.name) > 0) return Disagree(rank, variable);
    if (!whole_[variable.name].insert(share).second) return absl::OkStatus();
    const exec::Shares shares = exec::SharesOf(variable, rank.config.mesh);
    if (kind_ == kAllShares || shares.alike() || !shares.sums()) {
      shares_[index].whole.push_back(variable.name);
      return absl::OkStatus();
    }
    const auto [found, added] = sums_.emplace(variable.name, CutVariable{});
    if (added) found->second = Begun(rank, variable);
    found->second.writers.push_back({share, 0, index});
    shares_[index].parts.push_back(variable.name);
    return absl::OkStatus();
  }

  static CutVariable Begun(const Rank& rank, const Persistable& variable) {
    CutVariable begun;
    begun.name = variable.name;
    begun.dtype = rank.plan->buffers[static_cast<size_t>(variable.buffer)].dtype;
    begun.dims = exec::WholeDims(*rank.plan, variable);
    begun.layout = variable.layout;
    return begun;
  }

  static absl::Status Disagree(const Rank& rank, const Persistable& variable) {
    return absl::InvalidArgumentError(absl::StrCat(rank.name(), ": has '", variable.name,
                                                   "' cut in another way than the ranks before"));
  }

  const Kind kind_;
  std::vector<Share> shares_;
  std::map<std::string, std::set<int64_t>> whole_;  // their shares that have a writer
  std::map<std::string, CutVariable> cut_, sums_;
  std::set<std::tuple<std::string, int64_t, int64_t>> written_;
};

// The elements of one part, as Save of runtime/exec/values.h leaves them.
absl::Status AddPart(const CutVariable& variable, int64_t part, const std::string& file,
                     Tensor& whole) {
  DT_ASSIGN_OR_RETURN(Tensor read, io::ReadTensorFile(file));
  if (!variable.layout) {
    whole = std::move(read);
    return absl::OkStatus();
  }
  const exec::Parts all(*variable.layout, variable.parts);
  const bool pad = variable.layout->kind == exec::LayoutKind::kEven;
  if (read.dtype != variable.dtype || read.dims != (pad ? all.room_dims() : all.dims(part)))
    return absl::InternalError(absl::StrCat(file, ": is ", ShapeText(read.dtype, read.dims),
                                            ", which is no part of '", variable.name, "'"));
  all.Put(part, SizeOf(variable.dtype), read.bytes.data(), whole.bytes.data(), pad);
  return absl::OkStatus();
}

// All ranks of the part's role, started here or not; of one class, so that one plan is that of all.
absl::StatusOr<std::vector<Rank>> WholeRole(const JobSpec& spec, const std::vector<Rank>& ranks) {
  const Rank& here = ranks.front();
  const Role& role = spec.roles[here.role_index];
  int64_t count = 1;
  for (const auto& [axis, size] : role.mesh) count *= size;
  if (role.plans.size() > 1 && static_cast<int64_t>(ranks.size()) < count)
    return absl::UnimplementedError(
        absl::StrCat("role '", role.name,
                     "' has several classes of ranks: for checkpoints start "
                     "all of them together, --role ",
                     role.name, " without --rank"));
  if (role.plans.size() > 1) return ranks;
  std::vector<Rank> all;
  for (int64_t number = 0; number < count; ++number) {
    Rank rank;
    rank.role_index = here.role_index;
    rank.role = here.role;
    rank.rank = static_cast<int>(number);
    rank.plan = here.plan;
    rank.config.coordinates = CoordinatesOf(role.mesh, number);
    rank.config.mesh = here.config.mesh;
    all.push_back(std::move(rank));
  }
  return all;
}

std::string MemberOf(const std::string& role, int64_t rank) {
  return absl::StrCat(role, ".", rank);
}

// What the ranks of roles that are not started here write, as far as this one has to know: servers
// all that they have, others what no server has.
struct Elsewhere {
  std::set<std::string> served;      // variables of servers that are elsewhere
  std::vector<std::string> members;  // ranks that write something
};

// Of a launch that has some of the job's ranks only: who else writes to the folder, and which
// variables are the servers' to save.
Elsewhere FindElsewhere(const JobSpec& spec, const std::vector<Rank>& ranks) {
  Elsewhere result;
  std::set<std::string> servers;
  for (const Role& role : spec.roles)
    for (const auto& [server, unused] : role.asks) servers.insert(server);
  const size_t here = ranks.front().role_index;
  std::set<std::string> own;
  for (const Persistable& p : ranks.front().plan->persistables) own.insert(p.name);
  for (size_t r = 0; r < spec.roles.size(); ++r) {
    const Role& role = spec.roles[r];
    if (r == here) continue;
    const bool serves = servers.count(role.name) > 0;
    if (serves) result.served.insert(role.variables.begin(), role.variables.end());
    const bool writes =
        serves || std::any_of(role.variables.begin(), role.variables.end(),
                              [&](const std::string& name) { return own.count(name) == 0; });
    int64_t count = 1;
    for (const auto& [axis, size] : role.mesh) count *= size;
    for (int64_t rank = 0; writes && rank < count; ++rank)
      result.members.push_back(MemberOf(role.name, rank));
  }
  return result;
}

}  // namespace

// Members of a checkpoint are the ranks that write something: it is whole when all of them have
// said so (runtime/exec/checkpoint_folder.h). Where roles are started one by one nobody sees all
// ranks, and the members must follow from the job alone, or two launchers would wait for different
// ones.
absl::Status ShareCheckpoints(const JobSpec& spec, std::vector<Rank>& ranks) {
  if (!spec.checkpoints) return absl::OkStatus();
  std::vector<Rank> all = ranks;
  Elsewhere elsewhere;
  if (spec.part) {
    DT_ASSIGN_OR_RETURN(all, WholeRole(spec, ranks));
    elsewhere = FindElsewhere(spec, ranks);
  }
  const std::map<std::string, size_t> roles = RolesOf(all);
  Sharing sharing(Sharing::kAllShares, all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (const Persistable* p : exec::VariablesOf(*all[i].plan, all[i].config.coordinates))
      if (roles.at(p->name) == all[i].role_index && elsewhere.served.count(p->name) == 0 &&
          elsewhere.served.count(p->begins_as) == 0 && !FollowsServers(*p, all))
        DT_RETURN_IF_ERROR(sharing.Add(i, all[i], *p));
  DT_RETURN_IF_ERROR(sharing.Finish().status());
  exec::CheckpointConfig c{spec.checkpoints->folder,
                           spec.checkpoints->every,
                           spec.checkpoints->keep,
                           {},
                           elsewhere.members,
                           {},
                           {}};
  // A role by itself cannot know which ranks of another one write: there all of them are members.
  bool writes = false;
  for (size_t i = 0; i < all.size(); ++i) writes |= !sharing.of(i).empty();
  const auto is_member = [&](size_t i) { return spec.part ? writes : !sharing.of(i).empty(); };
  for (size_t i = 0; i < all.size(); ++i)
    if (is_member(i)) c.members.push_back(MemberOf(all[i].role, all[i].rank));
  for (size_t i = 0; i < all.size(); ++i)
    for (Rank& rank : ranks) {
      if (!is_member(i) || rank.role_index != all[i].role_index || rank.rank != all[i].rank)
        continue;
      rank.config.checkpoint = c;
      rank.config.checkpoint->member = MemberOf(rank.role, rank.rank);
      rank.config.checkpoint->names = sharing.of(i).whole;
      rank.config.checkpoint->part_names = sharing.of(i).parts;
    }
  // Who asks servers may have to tell them that it is time (Worker::Checkpoint).
  for (Rank& rank : ranks)
    if (!rank.config.checkpoint && !rank.plan->serves() &&
        std::any_of(rank.plan->comms.begin(), rank.plan->comms.end(),
                    [](const exec::PlanComm& comm) { return comm.kind == exec::CommKind::kRpc; }))
      rank.config.checkpoint = c;
  return absl::OkStatus();
}

// Decides which rank writes which variable, once each, and returns the cut ones, which are joined
// afterwards.
absl::StatusOr<std::vector<CutVariable>> ShareSaving(const std::string& folder,
                                                     std::vector<Rank>& ranks) {
  if (folder.empty()) return std::vector<CutVariable>();
  const std::map<std::string, size_t> roles = RolesOf(ranks);
  Sharing sharing(Sharing::kOneValue, ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i)
    for (const Persistable* p : exec::VariablesOf(*ranks[i].plan, ranks[i].config.coordinates))
      if (roles.at(p->name) == ranks[i].role_index && !FollowsServers(*p, ranks))
        DT_RETURN_IF_ERROR(sharing.Add(i, ranks[i], *p));
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!sharing.of(i).whole.empty()) ranks[i].config.save = folder;
    ranks[i].config.save_names = sharing.of(i).whole;
    ranks[i].config.part_names = sharing.of(i).parts;
  }
  return sharing.Finish();
}

std::string PartsFolder(const std::string& parts, size_t rank) {
  return absl::StrCat(parts, "/", rank);
}

// One whole variable in memory at a time, of a sum and a term of it. Terms are added up in the
// order of the ranks.
absl::Status PutTogether(const std::vector<CutVariable>& variables, const std::string& parts,
                         const std::string& folder) {
  for (const CutVariable& variable : variables) {
    std::map<int64_t, std::vector<CutVariable::Writer>> terms;
    for (const CutVariable::Writer& writer : variable.writers) terms[writer.term].push_back(writer);
    if (terms.empty()) terms[0];
    std::optional<Tensor> whole;
    for (const auto& [number, writers] : terms) {
      DT_ASSIGN_OR_RETURN(Tensor term, Tensor::Zeros(variable.dtype, variable.dims));
      for (const CutVariable::Writer& writer : writers) {
        DT_ASSIGN_OR_RETURN(const std::string file,
                            io::PathInside(PartsFolder(parts, writer.rank), variable.name));
        DT_RETURN_IF_ERROR(AddPart(variable, writer.part, file, term));
      }
      if (whole) DT_RETURN_IF_ERROR(exec::AddTerm(term, variable.name, *whole));
      else whole = std::move(term);
    }
    DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(folder, variable.name));
    DT_RETURN_IF_ERROR(io::WriteTensorFile(path, *whole));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::launch

#include "runtime/launch/groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dtranspile::launch {
namespace {

// How many of the coordinates below `end` a subset has on an axis.
int64_t MembersBelow(const exec::Selector& subset, const std::string& axis, int64_t end) {
  const auto set = subset.sets.find(axis);
  if (set == subset.sets.end()) return end;
  int64_t count = 0;
  for (size_t i = 0; i + 1 < set->second.size(); i += 2)
    count +=
        std::max<int64_t>(std::min(set->second[i + 1], end) - std::min(set->second[i], end), 0);
  return count;
}

}  // namespace

// Row-major: the last axis of the mesh changes fastest, as everywhere that ranks are counted.
std::map<std::string, int64_t> CoordinatesOf(const Mesh& mesh, int64_t rank) {
  std::map<std::string, int64_t> coordinates;
  for (auto axis = mesh.rbegin(); axis != mesh.rend(); ++axis) {
    coordinates[axis->first] = rank % axis->second;
    rank /= axis->second;
  }
  return coordinates;
}

// The rank within the group counts the members along the communicator's axes, again row-major,
// without those that the subset leaves out; the coordinates on all other axes are the group's name.
// So every rank finds its group by itself, from the mesh alone, and members agree on their order.
absl::StatusOr<std::optional<exec::CommConfig>> GroupOf(
    const exec::PlanComm& comm, const std::string& role, const Mesh& mesh,
    const std::map<std::string, int64_t>& coordinates) {
  exec::CommConfig group{comm.name, absl::StrCat(role, ".", comm.name), 0, 1};
  for (const std::string& axis : comm.axes) {
    const auto found =
        std::find_if(mesh.begin(), mesh.end(), [&](const auto& a) { return a.first == axis; });
    if (found == mesh.end())
      return absl::InvalidArgumentError(absl::StrCat(
          "communicator '", comm.name, "' runs along axis '", axis, "', which the mesh lacks"));
    const int64_t members = MembersBelow(comm.subset, axis, found->second);
    const int64_t below = MembersBelow(comm.subset, axis, coordinates.at(axis));
    group.rank = static_cast<int>(group.rank * members + below);
    group.size = static_cast<int>(group.size * members);
  }
  if (!comm.subset.contains(coordinates)) return std::nullopt;
  for (const auto& [axis, size] : mesh)
    if (std::find(comm.axes.begin(), comm.axes.end(), axis) == comm.axes.end())
      absl::StrAppend(&group.group, ".", coordinates.at(axis));
  return group;
}

}  // namespace dtranspile::launch

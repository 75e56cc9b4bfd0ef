#include "runtime/exec/shares.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"
#include "runtime/comm/reduce.h"
#include "runtime/exec/json_reader.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/output.h"

namespace dtranspile::exec {
namespace {

constexpr char kFolder[] = ".dtranspile-shares";
constexpr char kSum[] = "P(sum)";
constexpr int64_t kMostShares = int64_t{1} << 30;

bool IsAlike(const std::string& state) {
  return state.rfind('R', 0) == 0 || state.rfind('S', 0) == 0;
}

}  // namespace

bool Shares::sums() const {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.state == kSum; });
}

int64_t Shares::count() const {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  return count;
}

int64_t Shares::at(const std::map<std::string, int64_t>& coordinates) const {
  int64_t share = 0;
  for (const Axis& axis : axes) {
    const auto found = coordinates.find(axis.name);
    share = share * axis.size + (found == coordinates.end() ? 0 : found->second);
  }
  return share;
}

Shares SharesOf(const Persistable& variable, const std::map<std::string, int64_t>& mesh) {
  Shares shares;
  for (const auto& [axis, state] : variable.relation) {
    const auto size = mesh.find(axis);
    if (size != mesh.end() && size->second > 1 && !IsAlike(state))
      shares.axes.push_back({axis, size->second, state});
  }
  return shares;
}

std::string ShareName(int64_t share, const std::string& variable) {
  return absl::StrCat(kFolder, "/", share, "/", variable);
}

std::string SharesName(const std::string& variable) {
  return absl::StrCat(kFolder, "/of/", variable);
}

std::string TextOf(const Shares& shares) {
  Json axes = Json::array();
  for (const Shares::Axis& axis : shares.axes)
    axes.push_back({{"axis", axis.name}, {"size", axis.size}, {"state", axis.state}});
  return Json{{"axes", axes}}.dump() + "\n";
}

absl::StatusOr<Shares> ReadShares(const std::string& folder, const std::string& variable) {
  Shares shares;
  DT_ASSIGN_OR_RETURN(const std::string file, io::PathInside(folder, SharesName(variable)));
  const absl::StatusOr<io::Entry> entry = io::Look(file);
  // Of a name that is too long for a file nobody has written any.
  if (absl::IsInvalidArgument(entry.status())) return shares;
  DT_RETURN_IF_ERROR(entry.status());
  if (*entry == io::Entry::kNone) return shares;
  DT_ASSIGN_OR_RETURN(const Json json, io::ReadJson<Json>(file));
  JsonErrors errors(file);
  JsonObject root(json, "", errors);
  const Json& axes = root.Array("axes");
  for (size_t i = 0; i < axes.size() && errors.ok(); ++i) {
    JsonObject axis(axes[i], root.At("axes", i), errors);
    Shares::Axis& one = shares.axes.emplace_back();
    one.name = axis.String("axis");
    one.size = axis.Int("size", 2, kMostShares / shares.count());
    one.state = axis.String("state");
    axis.Done();
  }
  root.Done();
  if (!errors.ok()) return errors.status();
  return shares;
}

absl::Status AddTerm(const Tensor& term, const std::string& from, Tensor& total) {
  if (term.dtype != total.dtype || term.dims != total.dims)
    return absl::InvalidArgumentError(absl::StrCat(from, ": a term is ",
                                                   ShapeText(term.dtype, term.dims), ", another ",
                                                   ShapeText(total.dtype, total.dims)));
  DT_RETURN_IF_ERROR(comm::CheckReduce(total.dtype, comm::ReduceOp::kSum));
  if (total.bytes.size() != term.bytes.size() || total.bytes.size() == 0) return absl::OkStatus();
  const std::byte* const sources[] = {total.bytes.data(), term.bytes.data()};
  const auto count = static_cast<int64_t>(total.bytes.size() / SizeOf(total.dtype));
  comm::Reduce(total.dtype, comm::ReduceOp::kSum, sources, 2, total.bytes.data(), count);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadWhole(const std::string& folder, const std::string& variable,
                                 io::Elements elements) {
  DT_ASSIGN_OR_RETURN(const Shares shares, ReadShares(folder, variable));
  if (shares.alike() || !shares.sums()) {
    DT_ASSIGN_OR_RETURN(const std::string file, io::PathInside(folder, variable));
    return io::ReadTensorFile(file, elements);
  }
  Tensor total;
  for (int64_t share = 0; share < shares.count(); ++share) {
    DT_ASSIGN_OR_RETURN(const std::string file, io::PathInside(folder, ShareName(share, variable)));
    DT_ASSIGN_OR_RETURN(Tensor term, io::ReadTensorFile(file, elements));
    if (share == 0) total = std::move(term);
    else DT_RETURN_IF_ERROR(AddTerm(term, file, total));
  }
  return total;
}

}  // namespace dtranspile::exec

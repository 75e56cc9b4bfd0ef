#include "tools/dtranspile/page/places.h"

#include <set>

#include "llvm/ADT/SetVector.h"
#include "tools/dtranspile/page/limits.h"

namespace dtranspile::page {
namespace {

using Interval = std::pair<int64_t, int64_t>;

dist::SelAttr locationOf(pd::VarOp var) { return var->getAttrOfType<dist::SelAttr>(dist::kAtAttr); }

// The parts of an axis between the ends of the owners' sets.
std::vector<Interval> partsOf(llvm::StringRef axis, int64_t size,
                              const llvm::SetVector<dist::SelAttr>& owners) {
  std::set<int64_t> cuts = {0};
  for (dist::SelAttr owner : owners)
    if (dist::AxisSetAttr set = owner.lookup(axis))
      for (int64_t bound : set.getBounds())
        if (bound < size) cuts.insert(bound);
  std::vector<Interval> parts;
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut)
    parts.push_back({*cut, std::next(cut) == cuts.end() ? size : *std::next(cut)});
  return parts;
}

// Of layouts of unequal parts what a coordinate has at most.
int64_t mostOf(dist::LayoutAttr layout, int64_t size) {
  if (std::optional<int64_t> local = layout.localExtent(size)) return *local;
  const int64_t extent = layout.getExtent();
  if (layout.getKind() == dist::LayoutKind::Cyclic) return (extent + size - 1) / size;
  if (layout.getKind() != dist::LayoutKind::Blocks) return extent;
  const int64_t per = std::max<int64_t>(layout.getPer(), 1), blocks = (extent + per - 1) / per;
  return std::min(extent, (blocks + size - 1) / size * per);
}

std::string stateText(dist::AxisRelAttr state) {
  std::string text;
  llvm::raw_string_ostream out(text);
  state.printInline(out);
  return text;
}

Place placeOf(dist::SelAttr where, int64_t ranks, RoleFacts& role) {
  Place place{where, ranks, {}, {}, 0, {}};
  for (auto var : role.op.getBody().front().getOps<pd::VarOp>()) {
    dist::SelAttr owner = locationOf(var);
    if (owner && !meet(owner, where)) continue;
    (var.getParameter() ? place.parameters : place.state) += bytesOf(var, role.mesh);
    if (!owner) continue;
    ++place.count;
    if (place.owned.size() < kMostListed) place.owned.push_back(var);
  }
  return place;
}

}  // namespace

void findPlaces(RoleFacts& role) {
  llvm::SetVector<dist::SelAttr> owners;
  for (auto var : role.op.getBody().front().getOps<pd::VarOp>())
    if (dist::SelAttr owner = locationOf(var)) owners.insert(owner);
  struct Axis {
    mlir::StringAttr name;
    std::vector<Interval> parts;
    size_t at = 0;
  };
  std::vector<Axis> axes;
  role.allPlaces = 1;
  for (auto [axis, size] :
       llvm::zip(role.mesh.getAxes().getAsRange<mlir::StringAttr>(), role.mesh.getSizes())) {
    axes.push_back({axis, partsOf(axis.getValue(), size, owners)});
    if (__builtin_mul_overflow(role.allPlaces, static_cast<int64_t>(axes.back().parts.size()),
                               &role.allPlaces))
      role.allPlaces = std::numeric_limits<int64_t>::max();
  }
  while (role.places.size() < kMostPlaces) {
    llvm::SmallVector<dist::AxisSetAttr> sets;
    int64_t ranks = 1;
    for (const Axis& axis : axes) {
      const Interval& part = axis.parts[axis.at];
      ranks *= part.second - part.first;
      if (axis.parts.size() > 1) sets.push_back(dist::AxisSetAttr::of(axis.name, part));
    }
    role.places.push_back(placeOf(dist::SelAttr::of(role.op.getContext(), sets), ranks, role));
    // The next one: the last axis runs fastest.
    size_t last = axes.size();
    while (last > 0 && ++axes[last - 1].at == axes[last - 1].parts.size()) axes[--last].at = 0;
    if (last == 0) return;
  }
}

Bytes bytesOf(pd::VarOp var, dist::MeshOp mesh) {
  Bytes bytes = bytesOf(var.getType());
  if (!bytes.perRow) return bytes;
  // `?` of a variable is the part that its relation speaks of.
  int64_t most = 0;
  if (auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr))
    for (dist::AxisRelAttr state : relation.getAxes())
      if (state.getState() == dist::StateKind::Split && state.getLayout())
        most = mostOf(state.getLayout(), mesh.sizeOf(state.getAxis().getValue()).value_or(1));
  return most ? Bytes{product(bytes.perRow, most), 0, false, true} : Bytes{0, 0, true, false};
}

std::string ownerText(pd::VarOp var) {
  dist::SelAttr owner = locationOf(var);
  return owner ? selectorText(owner) : "everywhere";
}

std::string relationText(pd::VarOp var) {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  if (!relation) return "";
  std::string text;
  for (dist::AxisRelAttr state : relation.getAxes())
    text += (text.empty() ? "" : ", ") + stateText(state);
  if (text.empty()) text = "R";
  if (relation.getNumerator() != 1 || relation.getDenominator() != 1) {
    text += ", scale " + std::to_string(relation.getNumerator());
    if (relation.getDenominator() != 1) text += "/" + std::to_string(relation.getDenominator());
  }
  for (mlir::StringAttr tag : relation.getTags()) text += ", tag " + tag.getValue().str();
  if (relation.getVariable().getValue() != var.getSymName())
    text += " of " + relation.getVariable().getValue().str();
  return text;
}

}  // namespace dtranspile::page

// Classes of ranks: every axis is cut where a guard begins or ends; ranks between the same cuts
// have equal text. Work and result grow with the guards, not with the ranks.
#include <map>
#include <set>

#include "compiler/specialize/specialize.h"
#include "dialects/dist/lookup.h"

namespace dtranspile {
namespace {

using dist::AxisSetAttr;
using dist::SelAttr;

constexpr size_t kMaxClasses = 4096;

std::vector<SelAttr> selectorsOf(dist::RoleOp role) {
  std::set<SelAttr, bool (*)(SelAttr, SelAttr)> seen(
      [](SelAttr a, SelAttr b) { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); });
  std::vector<SelAttr> selectors;
  role->walk([&](mlir::Operation* op) {
    SelAttr where = op->getAttrOfType<SelAttr>(dist::kAtAttr);
    if (auto on = llvm::dyn_cast<dist::OnOp>(op)) where = on.getWhere();
    if (where && seen.insert(where).second) selectors.push_back(where);
  });
  return selectors;
}

// The parts of [0, size) that no selector tells apart, in order of their first coordinate; one part
// where no selector names the axis.
std::vector<AxisSetAttr> partsOf(mlir::StringAttr axis, int64_t size,
                                 llvm::ArrayRef<SelAttr> selectors) {
  std::set<int64_t> cuts = {0};
  for (SelAttr selector : selectors)
    if (AxisSetAttr set = selector.lookup(axis))
      for (int64_t bound : set.getBounds())
        if (bound < size) cuts.insert(bound);
  std::map<std::vector<bool>, std::vector<std::pair<int64_t, int64_t>>> groups;
  std::vector<std::vector<bool>> order;
  for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
    std::vector<bool> signature;
    for (SelAttr selector : selectors) {
      AxisSetAttr set = selector.lookup(axis);
      signature.push_back(!set || set.contains(*cut));
    }
    auto& intervals = groups[signature];
    if (intervals.empty()) order.push_back(signature);
    intervals.push_back({*cut, std::next(cut) == cuts.end() ? size : *std::next(cut)});
  }
  std::vector<AxisSetAttr> parts;
  for (const std::vector<bool>& signature : order)
    parts.push_back(AxisSetAttr::of(axis, groups[signature]));
  return parts;
}

std::string nameOf(llvm::StringRef role, SelAttr where) {
  std::string name = role.str();
  for (size_t i = 0; i < where.getSets().size(); ++i) {
    AxisSetAttr set = where.getSets()[i];
    name += (i ? "," : "[") + set.getAxis().getValue().str() + "=";
    for (size_t j = 0; j < set.getBounds().size(); j += 2) {
      int64_t lo = set.getBounds()[j], hi = set.getBounds()[j + 1] - 1;
      name += (j ? "+" : "") + std::to_string(lo) + (hi > lo ? ".." + std::to_string(hi) : "");
    }
  }
  return where.getSets().empty() ? name : name + "]";
}

}  // namespace

bool RankClass::contains(dist::MeshOp mesh, int64_t rank) const {
  llvm::SmallVector<int64_t> coordinates = mesh.coordinatesOf(rank);
  return llvm::all_of(where.getSets(), [&](AxisSetAttr set) {
    std::optional<unsigned> index = mesh.indexOf(set.getAxis());
    return index && set.contains(coordinates[*index]);
  });
}

RankClass classOfRank(dist::RoleOp role, dist::MeshOp mesh, int64_t rank) {
  llvm::SmallVector<AxisSetAttr> sets;
  for (auto [axis, size, at] : llvm::zip(mesh.getAxes().getAsRange<mlir::StringAttr>(),
                                         mesh.getSizes(), mesh.coordinatesOf(rank)))
    if (size > 1) sets.push_back(AxisSetAttr::of(axis, {{at, at + 1}}));
  SelAttr where = SelAttr::of(role.getContext(), sets);
  return {nameOf(role.getSymName(), where), where, 1};
}

mlir::FailureOr<std::vector<RankClass>> classesOf(dist::RoleOp role) {
  dist::MeshOp mesh = dist::meshOf(role);
  if (!mesh) return role.emitError("has no mesh");
  std::vector<SelAttr> selectors = selectorsOf(role);
  std::vector<RankClass> classes = {{"", SelAttr::of(role.getContext(), {}), 1}};
  for (auto [axis, size] :
       llvm::zip(mesh.getAxes().getAsRange<mlir::StringAttr>(), mesh.getSizes())) {
    std::vector<AxisSetAttr> parts = partsOf(axis, size, selectors);
    if (classes.size() * parts.size() > kMaxClasses)
      return role.emitError("has more than ") << kMaxClasses << " classes of ranks";
    std::vector<RankClass> finer;
    for (const RankClass& coarse : classes)
      for (AxisSetAttr part : parts) {
        // A whole axis is not written.
        SelAttr where = parts.size() == 1
                            ? coarse.where
                            : coarse.where.intersect(SelAttr::of(role.getContext(), part));
        finer.push_back({"", where, coarse.ranks * part.count()});
      }
    classes = std::move(finer);
  }
  for (RankClass& each : classes) each.name = nameOf(role.getSymName(), each.where);
  return classes;
}

}  // namespace dtranspile

// Classes of ranks: every axis is cut where a guard that matters begins or ends; ranks between the
// same cuts have equal text. Work and result grow with the guards, not with the ranks.
#include <map>
#include <set>

#include "compiler/specialize/specialize.h"
#include "dialects/dist/lookup.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile {
namespace {

using dist::AxisSetAttr;
using dist::SelAttr;

constexpr size_t kMaxClasses = 4096;

// Whether the ranks of a guard have operations that others lack, or a place in a schedule. Any
// other guard stays in the text: which of its sides a rank takes is data of the rank.
bool cuts(dist::OnOp guard) {
  return guard
      ->walk([&](mlir::Operation* op) {
        auto on = llvm::dyn_cast<dist::OnOp>(op);
        return dist::commOf(op) || (on && on.getTask()) ? mlir::WalkResult::interrupt()
                                                        : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// A stage has a row of its own in the schedule, so that a task of several stages, which have one
// text, is cut at each of them all the same. Not where there are too many.
void addStages(dist::OnOp on, llvm::SetVector<SelAttr>& selectors) {
  if (!on.getTask() || on.getWhere().getSets().empty()) return;
  AxisSetAttr stages = on.getWhere().getSets().front();
  if (stages.isPoint() || stages.count() > static_cast<int64_t>(kMaxClasses)) return;
  for (size_t i = 0; i < stages.getBounds().size(); i += 2)
    for (int64_t at = stages.getBounds()[i]; at < stages.getBounds()[i + 1]; ++at)
      selectors.insert(SelAttr::point(on.getContext(), stages.getAxis().getValue(), at));
}

// All selectors whose ranks need another text than the others: those of guards that communicate or
// are scheduled, and both ends of transfers.
llvm::SmallVector<SelAttr> selectorsOf(dist::RoleOp role) {
  llvm::SetVector<SelAttr> selectors;
  role->walk([&](mlir::Operation* op) {
    if (auto on = llvm::dyn_cast<dist::OnOp>(op); on && cuts(on)) {
      selectors.insert(on.getWhere());
      addStages(on, selectors);
    }
    if (!llvm::isa<dist::TransferOp>(op)) return;
    for (mlir::Type end : {op->getOperand(0).getType(), op->getResult(0).getType()})
      if (auto at = llvm::dyn_cast<dist::AtType>(end)) selectors.insert(at.getWhere());
  });
  return llvm::to_vector(selectors);
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

// The product over axes of the parts that selectors cut them into, bounded by kMaxClasses.
mlir::FailureOr<std::vector<RankClass>> classesOf(dist::RoleOp role) {
  dist::MeshOp mesh = dist::meshOf(role);
  if (!mesh) return role.emitError("has no mesh");
  llvm::SmallVector<SelAttr> selectors = selectorsOf(role);
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

RankClass classOfRank(dist::RoleOp role, dist::MeshOp mesh, int64_t rank) {
  llvm::SmallVector<AxisSetAttr> sets;
  for (auto [axis, at] :
       llvm::zip(mesh.getAxes().getAsRange<mlir::StringAttr>(), mesh.coordinatesOf(rank)))
    sets.push_back(AxisSetAttr::of(axis, {{at, at + 1}}));
  SelAttr where = SelAttr::of(role.getContext(), sets);
  return {nameOf(role.getSymName(), where), where, 1};
}

}  // namespace dtranspile

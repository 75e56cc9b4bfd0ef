// Rank-conditional regions: what their bodies leave, joined.
#include "compiler/analysis/relations/transfer.h"

namespace dtranspile::verify {
namespace {

// A variable that a body sets is set so on the ranks of its selector only. Unless it exists on
// these alone, both bodies must leave it alike: `held` is how the body leaves the variables,
// the store how the else-body does, which may be none.
void joinVariables(const Scene& scene, dist::OnOp on, const Variables& before, Variables held) {
  dist::SelAttr where = on.getWhere();
  bool everywhere = llvm::all_of(where.getSets(), [&](dist::AxisSetAttr set) {
    int axis = scene.axes().indexOf(set.getAxis().getValue());
    return axis >= 0 && set.count() == scene.axes().sizes[axis];
  });
  for (auto& [name, here] : held) {
    Variable& there = *scene.store.variable(name);
    mlir::Operation* unset = before.find(name)->second.setter;
    if (here.setter == unset && there.setter == unset) continue;
    auto at = here.op->getAttrOfType<dist::SelAttr>(dist::kAtAttr);
    bool oneBody = everywhere ||
                   (at && (where.contains(at) || !where.intersect(at)));  // that all its ranks run
    mlir::Operation* setter = here.setter != unset ? here.setter : there.setter;
    bool alike = oneBody || here.now == there.now;
    Relation drawn = there.now;
    drawn.draw = here.now.draw;
    const bool otherDraw = !alike && drawn == here.now;
    if (here.setter != unset || everywhere) there = here;
    if (alike) continue;
    if (otherDraw) {
      scene.report(setter, Message::Level::Unknown, "invariant",
                   "sets `" + name +
                       "` on the ranks of this region only, to another of the ranks' draws than it "
                       "is elsewhere, as far as is known",
                   "broadcast the draw once, and set the variable to that on all ranks");
      continue;
    }
    scene.report(
        setter, Message::Level::Refuted, "invariant",
        "sets `" + name +
            "` on the ranks of this region only; elsewhere it ends as another value, so that "
            "the ranks' copies drift apart",
        "set it behind the dist.on, or alike in both of its bodies; or give the variable a "
        "dist.at, if it exists on these ranks only");
  }
}

// The values that both bodies give are joined; a replicated value on one coordinate and zero
// elsewhere is a partial sum: the way to count a replicated thing once.
void joinResults(const Scene& scene, dist::OnOp on) {
  auto yielded = [](mlir::Region& region) {
    return llvm::cast<dist::YieldOp>(region.front().getTerminator()).getValues();
  };
  bool hasElse = !on.getOtherwise().empty();
  llvm::ArrayRef<dist::AxisSetAttr> sets = on.getWhere().getSets();
  int axis = sets.size() == 1 && sets[0].isPoint()
                 ? scene.axes().indexOf(sets[0].getAxis().getValue())
                 : -1;
  for (mlir::OpResult result : on->getResults()) {
    unsigned i = result.getResultNumber();
    Relation here = scene.of(yielded(on.getBody())[i]);
    if (!hasElse) {
      scene.store.set(result, std::move(here));
      continue;
    }
    const Relation& there = scene.of(yielded(on.getOtherwise())[i]);
    if (there.isZero && axis >= 0 && here.whole.known && here.whole.states[axis].isReplicated()) {
      // What is nothing on the other ranks is no contribution of their shares.
      here.whole.states[axis] = State::partial(dist::Reduce::Sum);
      here.parts = {};
      here.gradient = false;
      scene.store.set(result, std::move(here));
    } else if (here == there) {
      scene.store.set(result, std::move(here));
    } else {
      scene.store.lose(result, {"joins values of different relations", -1, {}});
    }
  }
}

}  // namespace

void joinBodies(const Scene& scene, dist::OnOp on, const Variables& before, Variables held) {
  joinVariables(scene, on, before, std::move(held));
  joinResults(scene, on);
}

}  // namespace dtranspile::verify

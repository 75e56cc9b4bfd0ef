// Rank-conditional regions: what their bodies give, joined. (What they set: variables.cc.)
#include "compiler/analysis/relations/transfer.h"

namespace dtranspile::verify {
namespace {

// Zero on all other ranks makes a sum over the guarded axes of what is there: equal values count
// once per coordinate that has one. The way to count a replicated thing once.
bool summedWithZeros(Reading& reading, const Axes& axes, const Place& outside,
                     const Place& inside) {
  if (!reading.known) return false;
  for (unsigned a = 0; a < axes.count(); ++a) {
    const int64_t count = inside.countAlong(axes.names[a], axes.meshSizes[a]);
    if (count == outside.countAlong(axes.names[a], axes.meshSizes[a])) continue;
    State& state = reading.states[a];
    const bool partial = count > 1 && state == State::partial(dist::Reduce::Sum);
    if (!partial && !state.isReplicated()) return false;
    if (!partial) reading.scale = reading.scale * Rational(count);
    state = State::partial(dist::Reduce::Sum);
  }
  return true;
}

bool cutsData(const Axes& axes, const Place& outside, const Place& inside) {
  for (unsigned a = 0; a < axes.count(); ++a)
    if (axes.isData[a] && inside.countAlong(axes.names[a], axes.meshSizes[a]) !=
                              outside.countAlong(axes.names[a], axes.meshSizes[a]))
      return true;
  return false;
}

// Where the two bodies give the same on the ranks of either: along the guarded axes that is so of
// equal values, and of draws, which differ.
bool alike(const Relation& here, const Relation& there, const Axes& axes, const Place& outside,
           const Place& inside) {
  if (!(here == there) || !here.whole.known || here.isZero != there.isZero) return false;
  for (unsigned a = 0; a < axes.count(); ++a)
    if (inside.countAlong(axes.names[a], axes.meshSizes[a]) !=
            outside.countAlong(axes.names[a], axes.meshSizes[a]) &&
        !here.whole.states[a].isReplicated() && !here.whole.states[a].isDifferent())
      return false;
  return true;
}

}  // namespace

// What a region gives, with the reasons for what is not known.
std::vector<Awaited> yieldedBy(const Scene& scene, mlir::Region& region) {
  std::vector<Awaited> values;
  for (mlir::Value value : llvm::cast<dist::YieldOp>(region.front().getTerminator()).getValues()) {
    const Reason* reason = scene.store.reasonOf(value);
    values.push_back(
        {scene.of(value), reason ? *reason : Reason{"gives what is not known", -1, {}}});
    // After the region the other ranks' parts may come to it.
    if (llvm::StringRef(values.back().reason.wrong) == "part") values.back().reason.wrong = nullptr;
  }
  return values;
}

void giveAwaited(const Scene& scene, mlir::Value result, Awaited value) {
  if (value.relation.known()) return scene.store.set(result, std::move(value.relation));
  scene.store.lose(result, std::move(value.reason));
  scene.store.correct(result, std::move(value.relation));  // it still stands for what it did
}

// Without an else-body results are located at the guard's ranks, and speak of them.
void joinBodies(const Scene& scene, dist::OnOp on, std::vector<Awaited> here,
                std::vector<Awaited> there) {
  const Place& outside = scene.store.scope().place;
  const Place inside = Place::of(on.getBody()),
              others = on.getOtherwise().empty() ? Place() : Place::of(on.getOtherwise());
  const Axes& axes = scene.store.meshAxes();
  for (mlir::OpResult result : on->getResults()) {
    Awaited& mine = here[result.getResultNumber()];
    if (there.empty()) {
      giveAwaited(scene, result, std::move(mine));
      continue;
    }
    Awaited& other = there[result.getResultNumber()];
    if (alike(mine.relation, other.relation, axes, outside, inside)) {
      giveAwaited(scene, result, std::move(mine));
      continue;
    }
    const bool swap = mine.relation.isZero && others.vague.empty();
    const Place& full = swap ? others : inside;
    Awaited value = std::move(swap ? other : mine);
    const Awaited& rest = swap ? mine : other;
    if (rest.relation.isZero && summedWithZeros(value.relation.whole, axes, outside, full)) {
      // What is nothing on the other ranks is no contribution of their shares.
      const bool shares = cutsData(axes, outside, full);
      if (shares || !summedWithZeros(value.relation.parts, axes, outside, full))
        value.relation.parts = {};
      value.relation.gradient &= !shares;
      giveAwaited(scene, result, std::move(value));
    } else {
      const bool known = value.relation.known() && rest.relation.known();
      scene.store.lose(result, known ? Reason{"joins values of different relations", -1, {}}
                               : value.relation.known() ? rest.reason
                                                        : value.reason);
    }
  }
}

}  // namespace dtranspile::verify

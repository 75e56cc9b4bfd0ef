// What variables hold where guards set them on some ranks: a variable is one value as long as all
// ranks that have it end with the same.
#include "compiler/analysis/relations/store.h"

namespace dtranspile::verify {
namespace {

// The records that say what the ranks of a place hold: of every rank the last one that is about it.
std::vector<const Held*> recordsFor(const Variable& variable, const Place& place,
                                    const Axes& axes) {
  std::vector<const Held*> all;
  std::vector<dist::SelAttr> selectors;
  for (const Held& one : llvm::reverse(variable.held)) {
    if (one.where && !place.meets(one.where)) continue;
    all.push_back(&one);
    if (!one.where || (place.where && one.where.contains(place.where))) break;
    selectors.push_back(one.where);
  }
  if (all.size() <= 1) return all;
  std::optional<std::vector<dist::SelAttr>> pieces = piecesOf(place, axes, selectors);
  if (!pieces) return all;
  llvm::SmallVector<bool> used(all.size());
  for (dist::SelAttr piece : *pieces)
    for (auto [i, one] : llvm::enumerate(all))
      if (!one->where || one->where.contains(piece)) {
        used[i] = true;
        break;
      }
  std::vector<const Held*> records;
  for (auto [i, one] : llvm::enumerate(all))
    if (used[i]) records.push_back(one);
  return records;
}

// Two readings of one value on different ranks of a place, as one. Along an axis that tells the
// ranks apart both sides must have the whole of it.
bool joinReadings(Reading& mine, const Reading& other, llvm::ArrayRef<bool> apart) {
  if (!mine.known || !other.known || !(mine.scale == other.scale)) return false;
  for (auto [a, state, theirs] : llvm::enumerate(mine.states, other.states)) {
    if (!apart[a]) {
      if (!(state == theirs)) return false;
      continue;
    }
    if (!(state == theirs) || !(state.isReplicated() || state.isDifferent())) return false;
  }
  return true;
}

struct Joined {
  Awaited value;
  mlir::Operation* torn = nullptr;
  mlir::Operation* setter = nullptr;
  bool otherDraw = false;
};

// What a variable holds, as one relation for all ranks of a place. Each record says what some ranks
// of it were last set to; the records are joined pairwise. They must stand for the same value of
// the reference with the same readings, except along axes that tell the records apart (`apart`),
// where different coordinates may have different parts. Where they do not, the variable is torn:
// nobody may read it as one value, and the op that tore it is kept for the message. Draws of random
// numbers are compared apart from the rest, since equal relations with different draws are two
// values.
Joined join(const Store& store, const Variable& variable, const Place& place) {
  const Axes& axes = store.meshAxes();
  const std::vector<const Held*> records = recordsFor(variable, place, axes);
  Joined joined;
  llvm::SmallVector<bool> apart(axes.count());
  for (const Held* record : records)
    for (unsigned a = 0; a < axes.count(); ++a)
      apart[a] |= place.within(record->where).countAlong(axes.names[a], axes.meshSizes[a]) !=
                  place.countAlong(axes.names[a], axes.meshSizes[a]);
  for (const Held* record : records) {
    const Place from = record->where ? Place{record->where, {}} : variable.at;
    Reason reason;
    Relation relation = store.restricted(record->now, from, place.within(record->where), reason);
    if (record->setter && (!joined.setter || !relation.known())) joined.setter = record->setter;
    if (record == records.front()) {
      joined.value = {std::move(relation), std::move(reason)};
      continue;
    }
    Relation& all = joined.value.relation;
    if (!relation.known() || !all.known()) {
      all = {};
      // What nobody has set is nothing, and another thing than what some have.
      for (const Held* one : records)
        if (!record->setter && !record->now.known() && one->where && !joined.torn)
          joined.torn = one->setter;
      if (joined.value.reason.why.empty()) joined.value.reason = std::move(reason);
      continue;
    }
    const Reading parts = relation.parts;
    joined.otherDraw = all.draw != relation.draw;
    if (joined.otherDraw) relation.draw = all.draw;
    if (!joinReadings(all.parts, parts, apart)) all.parts = {};
    const bool same = all.sameValue(relation) && joinReadings(all.whole, relation.whole, apart);
    joined.otherDraw &= same;
    if (!same || joined.otherDraw) {
      all = {};
      joined.value.reason = {"is not the same on all ranks that have the variable", -1, {}};
      for (const Held* one : records)
        if (one->where && !joined.torn) joined.torn = one->setter;
      return joined;
    }
    all.isZero &= relation.isZero;
    all.perShare |= relation.perShare;
    all.gradient |= relation.gradient;
    all.addTags(relation.tags);
  }
  return joined;
}

}  // namespace

Awaited Store::held(const Variable& variable) const {
  return join(*this, variable, scope().place).value;
}

// A set by all ranks that have the variable replaces all records; one by some ranks replaces the
// records of these ranks and of fewer, and is put behind the others, since the last record about a
// rank is the one that counts.
void Store::hold(Variable& variable, Relation relation, mlir::Operation* setter) {
  const Place& here = scope().place;
  // Which of the ranks along a vague axis run this is not known.
  if (!here.vague.empty()) relation = {};
  if (here.vague.empty() && here.covers(variable.at.where)) {
    variable.held = {{{}, std::move(relation), setter}};
    return;
  }
  llvm::erase_if(variable.held, [&](const Held& one) {
    return one.where && here.where && here.where.contains(one.where);
  });
  variable.held.push_back({here.where, std::move(relation), setter});
}

// At the end of a step: joins what the ranks have, and normalises the states along axes of which
// the place has one coordinate, so that the result can be compared with what the variable is
// declared to hold.
void Store::settle() {
  for (auto& [name, variable] : variables_) {
    Joined joined = join(*this, variable, variable.at);
    variable.now = std::move(joined.value.relation);
    variable.torn = joined.torn;
    variable.otherDraw = joined.otherDraw;
    variable.setter = joined.setter;
    // One coordinate is all that there is of it.
    for (unsigned a = 0; a < meshAxes().count(); ++a)
      if (variable.at.countAlong(meshAxes().names[a], meshAxes().meshSizes[a]) == 1)
        for (Reading* reading : {&variable.now.whole, &variable.now.parts})
          if (reading->known) reading->states[a] = State::replicated();
  }
}

}  // namespace dtranspile::verify

// Relations are kept as they are where a value was made. A guard looks at values from outside
// through its own ranks: what is captured is restricted once per guard (restrictTo), remembered
// while the walk is in it, and forgotten with it. So a value has one relation of its own and as
// many views as there are guards that read it, and correcting a view does not touch the value.
#include "compiler/analysis/relations/store.h"

#include "dialects/dist/lookup.h"

namespace dtranspile::verify {

Store::Store(Axes axes) {
  scopes_.push_back({{}, std::move(axes), -1, "", -1});
  captured_.emplace_back();
}

void Store::enter(Scope scope) {
  scope.parent = current_;
  current_ = static_cast<int>(scopes_.size());
  scopes_.push_back(std::move(scope));
  captured_.emplace_back();
}

void Store::leave() {
  current_ = scopes_[current_].parent;
  captured_.pop_back();
}

bool Store::isInside(int scope, int outer) const {
  while (scope > outer) scope = scopes_[scope].parent;
  return scope == outer;
}

// A value seen by fewer ranks. Where the whole reading does not survive, the reason names the axis
// whose parts are missing, for the message at the op that reads the value.
Relation Store::restricted(Relation relation, const Place& from, const Place& to,
                           Reason& reason) const {
  const llvm::SmallVector<State, 2> before(relation.whole.states);
  std::optional<unsigned> axis = restrictTo(relation.whole, meshAxes(), from, to);
  restrictTo(relation.parts, meshAxes(), from, to);
  if (!axis) return relation;
  reason.why = "gives a value that is " + before[*axis].text() + " along axis " +
               meshAxes().names[*axis] + ", and the ranks " + to.text() +
               " have only their part of it";
  reason.wrong = "part";
  return relation;
}

// Inside a loop over blocks the axis of the servers counts blocks: what the servers have different
// parts of is nothing that a block is computed from.
void Store::captureForBlocks(Captured& here, int outer) const {
  const int axis = scope().blockAxis;
  if (axis < 0 || scopes_[outer].blockAxis == axis) return;
  if (here.relation.whole.known && !here.relation.whole.states[axis].isReplicated()) {
    here.reason = {"gives a value that is " + here.relation.whole.states[axis].text() +
                       " along axis " + axes().names[axis] + ", and no block of `" +
                       scope().blocksOf + "`",
                   -1,
                   {}};
    here.relation.whole = {};
  }
  if (here.relation.parts.known && !here.relation.parts.states[axis].isReplicated())
    here.relation.parts = {};
}

// What a guard captures is looked at through the guard; null where nothing changes.
Store::Captured* Store::captured(mlir::Value value) const {
  if (current_ == 0) return nullptr;
  const int outer = scopeOf_.lookup(value);
  if (outer == current_ || !isInside(current_, outer)) return nullptr;
  std::unique_ptr<Captured>& here = captured_.back()[value];
  if (here) return here.get();
  here = std::make_unique<Captured>();
  const Relation* found = own(value);
  if (!found) return here.get();
  Place from = scopes_[outer].place;
  if (auto at = llvm::dyn_cast<dist::AtType>(value.getType())) from = from.within(at.getWhere());
  here->relation = restricted(*found, from, scope().place, here->reason);
  captureForBlocks(*here, outer);
  return here.get();
}

const Relation& Store::of(mlir::Value value) const {
  if (Captured* here = captured(value)) return here->relation;
  const Relation* found = own(value);
  return found ? *found : none_;
}

const Relation* Store::own(mlir::Value value) const {
  auto found = numbers_.find(value);
  return found == numbers_.end() ? nullptr : &relations_[found->second];
}

Relation& Store::known(mlir::Value value) {
  auto [at, made] = numbers_.try_emplace(value, static_cast<uint32_t>(relations_.size()));
  if (made) relations_.emplace_back();
  return relations_[at->second];
}

void Store::set(mlir::Value value, Relation relation) {
  if (relation.reference >= 0 && !relation.minuend) lastFor_[relation.reference] = value;
  if (current_ != 0) scopeOf_[value] = current_;
  known(value) = std::move(relation);
}

void Store::correct(mlir::Value value, Relation relation) {
  if (current_ != 0 && !own(value)) scopeOf_[value] = current_;
  if (Captured* here = captured(value)) here->relation = std::move(relation);
  else known(value) = std::move(relation);
}

void Store::lose(mlir::Value value, Reason reason) {
  if (current_ != 0) scopeOf_[value] = current_;
  known(value) = {};
  reasons_[value] = std::move(reason);
}

const Reason* Store::reasonOf(mlir::Value value) const {
  if (Captured* here = captured(value); here && !here->reason.why.empty()) return &here->reason;
  auto found = reasons_.find(value);
  return found == reasons_.end() ? nullptr : &found->second;
}

void Store::start(mlir::Value pending, std::vector<Awaited> results) {
  pending_[pending] = std::move(results);
}

const std::vector<Awaited>* Store::started(mlir::Value pending) const {
  auto found = pending_.find(pending);
  return found == pending_.end() ? nullptr : &found->second;
}

Variable* Store::variable(llvm::StringRef name) {
  auto found = variables_.find(name.str());
  return found == variables_.end() ? nullptr : &found->second;
}

const Variable* Store::variable(llvm::StringRef name) const {
  auto found = variables_.find(name.str());
  return found == variables_.end() ? nullptr : &found->second;
}

}  // namespace dtranspile::verify

#include "compiler/analysis/relations/store.h"

namespace dtranspile::verify {

const Relation& Store::of(mlir::Value value) const {
  auto found = relations_.find(value);
  return found == relations_.end() ? none_ : found->second;
}

void Store::set(mlir::Value value, Relation relation) {
  if (relation.reference >= 0 && !relation.minuend) lastFor_[relation.reference] = value;
  relations_[value] = std::move(relation);
}

void Store::lose(mlir::Value value, Loss loss) {
  relations_[value] = {};
  losses_[value] = std::move(loss);
}

const Loss* Store::lossOf(mlir::Value value) const {
  auto found = losses_.find(value);
  return found == losses_.end() ? nullptr : &found->second;
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

// Control flow around communication, and branches on what is equal everywhere: all ranks take the
// same branch (D26), so that its body is walked like the program around it, op by op. What is set
// inside must leave by both ways out with one relation: a branch may not run, a loop may run again.
#include "compiler/analysis/relations/branches.h"

#include "compiler/analysis/position.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// The slot of the predicate, and whether the body may run again.
struct BranchRow {
  llvm::StringLiteral type, predicate;
  bool repeats;
};
constexpr BranchRow kBranches[] = {{"conditional_block", "Cond", false},
                                   {"conditional_block_grad", "Cond", false},
                                   {"while", "Condition", true}};

const BranchRow* rowOf(mlir::Operation* op) {
  const llvm::StringRef type = pd::OpView(op).type();
  const BranchRow* row =
      llvm::find_if(kBranches, [&](const BranchRow& one) { return one.type == type; });
  return row == std::end(kBranches) ? nullptr : row;
}

// One of the name lists of the op's block.
std::vector<llvm::StringRef> namesOf(mlir::Operation* op, llvm::StringRef which) {
  std::vector<llvm::StringRef> names;
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  if (!blocks || blocks.empty()) return names;
  if (auto list = llvm::cast<mlir::DictionaryAttr>(blocks[0]).getAs<mlir::ArrayAttr>(which))
    for (auto name : list.getAsValueRange<mlir::StringAttr>()) names.push_back(name);
  return names;
}

// The arguments of a block are its captures, then its locals: of a gradient's block what the
// forward block saved of them, after what it writes. Within another gradient's block the tape is
// one of those.
mlir::Value outsideOf(mlir::Operation* op, unsigned argument) {
  const pd::OpView view(op);
  const size_t captures = namesOf(op, "captures").size();
  if (argument < captures) return view.input("$capture", argument);
  const std::vector<llvm::StringRef> locals = namesOf(op, "locals");
  mlir::Value tape = view.input("Scope");
  while (auto inner = llvm::dyn_cast_or_null<mlir::BlockArgument>(tape)) {
    mlir::Operation* parent = inner.getOwner()->getParentOp();
    if (!pd::OpView::isFrameworkOp(parent) || !rowOf(parent)) return {};
    tape = outsideOf(parent, inner.getArgNumber());
  }
  mlir::Operation* forward = tape ? tape.getDefiningOp() : nullptr;
  if (!forward || !pd::OpView::isFrameworkOp(forward) || !rowOf(forward) ||
      argument - captures >= locals.size())
    return {};
  const std::vector<llvm::StringRef> saved = namesOf(forward, "saved");
  const auto found = llvm::find(saved, locals[argument - captures]);
  mlir::Operation* yield = forward->getRegion(0).front().getTerminator();
  const size_t at = namesOf(forward, "written").size() + (found - saved.begin());
  return found != saved.end() && at < yield->getNumOperands() ? yield->getOperand(at)
                                                              : mlir::Value();
}

// The last value of a name before the end of a block. One of several gradients of a value has a
// name of its own outside (`x@GRAD@RENAME@…`), which the block does not know.
mlir::Value lastNamed(mlir::Operation* end, llvm::StringRef name) {
  for (mlir::Operation* op = end->getPrevNode(); op; op = op->getPrevNode())
    for (mlir::Value result : op->getResults())
      if (pd::nameOf(result) == name) return result;
  return {};
}

// What is so on both ways out; false where they differ. Zero is whatever the other is.
bool sameWays(Relation& mine, const Relation& other) {
  if (!mine.whole.known || !other.whole.known) return mine.whole.known = false, false;
  mine.addTags(other.tags);
  mine.gradient |= other.gradient;
  mine.perShare |= other.perShare;
  if (other.isZero) return true;
  if (mine.isZero) {
    mine.whole = other.whole;
    mine.parts = other.parts;
    mine.isZero = false;
    return true;
  }
  if (!(mine.parts == other.parts)) mine.parts = {};
  return mine.whole == other.whole;
}

}  // namespace

// A branch that all ranks take alike and that takes values which differ between ranks: as one op it
// would be lost, op by op it need not be.
bool isUniformBranch(const Scene& scene, mlir::Operation* op) {
  const BranchRow* row = rowOf(op);
  if (!row || row->repeats || !isLocal(op)) return false;
  mlir::Value predicate = pd::OpView(op).input(row->predicate);
  if (!predicate) return false;
  const Reading& decides = scene.of(predicate).whole;
  return decides.isReplicated() && decides.scale.isOne() &&
         llvm::any_of(op->getOperands(),
                      [&](mlir::Value value) { return !scene.of(value).whole.isReplicated(); });
}

// Whether a pass has put ops of the job into the body; otherwise the op is one of the reference as
// it is.
bool hasJobOps(mlir::Operation* op) {
  return op
      ->walk([](mlir::Operation* inner) {
        return llvm::isa_and_nonnull<dist::DistDialect>(inner->getDialect())
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// Needs a predicate that is the same on all ranks. Captures stand for the arguments of the
// reference's block; what variables hold before is remembered for the way around the body.
bool Branch::enter() {
  const BranchRow* row = rowOf(op_);
  if (!row) return giveUp("communicates inside, for which there is no rule"), false;
  repeats_ = row->repeats;
  mlir::Region &mine = op_->getRegion(0), &theirs = reference_->getRegion(0);
  if (mine.empty() || theirs.empty() || mine.getNumArguments() != theirs.getNumArguments())
    return giveUp("has another block than the op of the reference"), false;
  mlir::Value predicate = pd::OpView(op_).input(row->predicate);
  const Relation& decides = scene_.of(predicate);
  if (!decides.whole.isReplicated() || !decides.whole.scale.isOne())
    return giveUp("communicates inside, and its predicate " + nameText(predicate) + " is " +
                  textOf(decides.whole, scene_.axes()) +
                  ": not every rank is known to take the same branch"),
           false;
  for (auto [i, argument] : llvm::enumerate(mine.getArguments())) {
    Relation relation = scene_.of(outsideOf(op_, i));
    relation.reference = scene_.reference().numberOf(theirs.getArgument(i));
    if (repeats_) relation.isZero = false;  // at the first turn only
    scene_.store.set(argument, std::move(relation));
  }
  op_->walk([&](pd::SetOp set) {
    Variable* variable = scene_.store.variable(set.getVar());
    if (!variable || before_.count(set.getVar().str())) return;
    Relation held = scene_.store.held(*variable).relation;
    if (repeats_ && held.isZero) {
      held.isZero = false;
      scene_.store.hold(*variable, held, variable->held.back().setter);
    }
    before_[set.getVar().str()] = std::move(held);
  });
  return true;
}

// Nothing is known of what the op gives or sets; the walk goes on after it.
void Branch::giveUp(const std::string& why) {
  scene_.giveUnknown(op_, why, reference_);
  op_->walk([&](pd::SetOp set) {
    if (Variable* variable = scene_.store.variable(set.getVar()))
      scene_.store.hold(*variable, {}, op_);
  });
}

void Branch::leave() {
  for (const auto& [name, before] : before_) leaveVariable(name, before);
  if (!turnsAlike()) return giveUp("changes what is known of a value from turn to turn");
  for (mlir::OpResult result : op_->getResults()) leaveResult(result);
}

// After the op a variable holds what the body set or what it held before, and nobody knows which:
// both must have one relation, and each must be what the reference has on that way.
void Branch::leaveVariable(const std::string& name, const Relation& before) {
  Variable& variable = *scene_.store.variable(name);
  const auto number = op_->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr).getInt();
  Relation after = scene_.store.held(variable).relation;
  const int wanted = scene_.reference().numberWithin(number, variable.reference);
  const int earlier = scene_.reference().numberBefore(number, variable.reference);
  if (wanted >= 0 && before.reference >= 0 && !before.standsFor(earlier))
    scene_.report(op_, Message::Level::Refuted, "lineage",
                  "finds `" + name + "` as " + scene_.describe(before) +
                      ", which stays where its block is not run; the reference has " +
                      scene_.reference().describe(earlier) + " there",
                  "set the variable before as the reference does");
  if (after.reference >= 0 && !after.standsFor(wanted)) {
    scene_.report(
        op_, Message::Level::Refuted, "lineage",
        "leaves `" + name + "` as " + scene_.describe(after) + " in its block; " +
            (wanted < 0 ? "the reference does not set it there"
                        : "the reference leaves it as " + scene_.reference().describe(wanted)),
        "set in the block what the reference sets there");
  } else if (wanted < 0) {
    after.whole = after.parts = {};
  } else if (after.reference < 0 && after.known()) {
    // Zero, or a count, is no version of the variable: it fits relations, and not what it stands
    // for.
    scene_.report(op_, Message::Level::Unknown, "lineage",
                  "leaves `" + name +
                      "` in its block as a value that stands for none of the reference, which "
                      "leaves it as " +
                      scene_.reference().describe(wanted),
                  "set in the block what the reference sets there");
    after.whole = after.parts = {};
  }
  const bool known = after.whole.known && before.whole.known;
  const std::string taken = textOf(after.whole, scene_.axes());
  if (!sameWays(after, before) && known) {
    scene_.report(op_, Message::Level::Refuted, "invariant",
                  "leaves `" + name + "` as " + taken + " where its block has run, and as " +
                      textOf(before.whole, scene_.axes()) + " where it has not",
                  "let the block set it to a value of the relation that it had before, or to zero");
    after.whole = before.whole;  // reported once
  }
  after.reference = scene_.reference().numberAfter(number, variable.reference);
  after.minuend = {};
  scene_.store.hold(variable, std::move(after), op_);
}

// What a turn hands on is what it was handed, and what the reference hands on.
bool Branch::turnsAlike() {
  mlir::Operation* yield = op_->getRegion(0).front().getTerminator();
  mlir::Operation* theirs = reference_->getRegion(0).front().getTerminator();
  const std::vector<llvm::StringRef> captures = namesOf(op_, "captures"),
                                     written = namesOf(op_, "written");
  for (auto [name, value, wanted] :
       llvm::zip(written, yield->getOperands(), theirs->getOperands())) {
    const Relation& relation = scene_.of(value);
    const int number = scene_.reference().numberOf(wanted);
    if (relation.reference >= 0 && !relation.standsFor(number))
      scene_.report(op_, Message::Level::Refuted, "lineage",
                    "leaves `" + name.str() + "` as " + scene_.describe(relation) +
                        " in its block; the reference leaves it as " +
                        scene_.reference().describe(number),
                    "compute in the block what the reference computes there");
    const bool nothing = value.getDefiningOp<pd::UndefOp>() && wanted.getDefiningOp<pd::UndefOp>();
    if (relation.reference < 0 && relation.known() && !nothing)
      scene_.report(op_, Message::Level::Unknown, "lineage",
                    "leaves `" + name.str() +
                        "` in its block as a value that stands for none of the reference, which "
                        "leaves it as " +
                        scene_.reference().describe(number),
                    "compute in the block what the reference computes there");
    if (!repeats_) continue;
    for (auto [capture, argument] : llvm::zip(captures, op_->getRegion(0).getArguments()))
      if (capture == name && !(scene_.of(argument).whole == relation.whole)) return false;
  }
  return true;
}

// A result is what the body yields, or the capture of the same name where the body is not run.
void Branch::leaveResult(mlir::OpResult result) {
  const llvm::StringRef name = pd::nameOf(result);
  const std::vector<llvm::StringRef> captures = namesOf(op_, "captures"),
                                     written = namesOf(op_, "written"),
                                     saved = namesOf(op_, "saved");
  mlir::Operation* yield = op_->getRegion(0).front().getTerminator();
  auto at = llvm::find(written, name);
  Relation relation;
  if (at != written.end()) {
    relation = scene_.of(yield->getOperand(at - written.begin()));
    auto capture = llvm::find(captures, name);
    if (capture != captures.end() &&
        !sameWays(relation,
                  scene_.of(pd::OpView(op_).input("$capture", capture - captures.begin()))))
      relation.whole = relation.parts = {};
  } else if (auto kept = llvm::find(saved, name); kept != saved.end()) {
    // A gradient, which is zero where the block is not run.
    relation = scene_.of(yield->getOperand(written.size() + (kept - saved.begin())));
  } else if (mlir::Value last = lastNamed(yield, name.split("@RENAME").first);
             last && name.contains("@RENAME")) {
    relation = scene_.of(last);
  } else {
    // The tape: whoever reads it reads what the block gives.
    for (mlir::Value value : yield->getOperands()) relation.perShare |= scene_.of(value).perShare;
  }
  if (!relation.known())
    scene_.store.noteReason(result,
                            {"gives what is not the same on both ways out of its block", -1, {}});
  relation.reference = scene_.reference().numberOf(reference_->getResult(result.getResultNumber()));
  relation.minuend = {};
  scene_.store.set(result, std::move(relation));
}

}  // namespace dtranspile::verify

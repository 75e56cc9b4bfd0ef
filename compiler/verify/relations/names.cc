#include "compiler/verify/relations/names.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

// Whether the variable of the name is set to the value.
bool setsVariable(mlir::Value value, llvm::StringRef name) {
  return llvm::any_of(value.getUsers(), [&](mlir::Operation* user) {
    auto set = llvm::dyn_cast<pd::SetOp>(user);
    return set && set.getVar() == name;
  });
}

// Users feed, fetch and save by name, so that the name of a value is part of what a job promises: a
// feed, a fetched result or a variable of the reference's name must be that one. The walk compares
// values by lineage; this compares what they are called.
class Names {
 public:
  Names(const Question& question, const Store& store, Rung& findings)
      : question_(question), store_(store), findings_(findings) {
    for (pd::InputOp input : inputsOf(question.program)) feeds_.insert(input.getName());
    // What other roles do of the reference's program, in a program of the same name.
    for (auto role : dist::jobOf(dist::RoleOp(question.role))->getRegion(0).getOps<dist::RoleOp>())
      if (role != dist::RoleOp(question.role))
        if (pd::ProgramOp program = findProgram(role, pd::ProgramOp(question.program).getSymName()))
          program.walk([&](mlir::Operation* op) {
            if (auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr))
              elsewhere_.insert(question.reference.op(number.getInt()));
          });
  }

  void check() {
    read(*pd::ProgramOp(question_.program).getBodyBlock());
    for (auto [name, value] : last_) checkLast(name, value);
  }

 private:
  // Regions of the job are part of the program. Blocks of control flow have the names that they
  // declare, and write the cells of the block around them under all others.
  void read(mlir::Block& block) {
    for (mlir::Operation& op : block) {
      auto composite = llvm::dyn_cast<dist::CompositeOp>(op);
      if (composite || pd::OpView::isFrameworkOp(&op)) {
        readResults(op, composite);
        if (!composite)
          for (mlir::Region& region : op.getRegions())
            for (mlir::Block& inner : region) readBody(inner);
        continue;
      }
      for (mlir::Region& region : op.getRegions())
        for (mlir::Block& inner : region) read(inner);
      // What guards, loops and communication hand on keeps its name.
      if (!llvm::isa<dist::DistDialect>(op.getDialect()) || llvm::isa<dist::RemoteOp>(op)) continue;
      for (mlir::OpResult result : op.getResults())
        if (llvm::StringRef name = dist::nameOf(result); !name.empty()) last_[name] = result;
    }
  }

  // Notes the last value of each name, which is the one that a fetch gives, and looks at the names
  // that passes gave to ops of their own.
  void readResults(mlir::Operation& op, dist::CompositeOp composite) {
    for (mlir::OpResult result : op.getResults()) {
      llvm::StringRef name =
          composite
              ? llvm::cast<mlir::StringAttr>(composite.getOutputNames()[result.getResultNumber()])
                    .getValue()
              : pd::nameOf(result);
      if (name.empty()) continue;
      last_[name] = result;
      if (op.hasAttr(dist::kSrcAttr)) continue;
      checkInserted(result, name);
      checkUnderName(result, name);
    }
  }

  // Of a block of control flow: what was put into it gets no name of a cell that others write.
  // (Rung 1 compares the names of what stands for an op of the reference.)
  void readBody(mlir::Block& block) {
    llvm::StringSet<> own;
    block.walk([&](pd::DeclOp decl) { own.insert(decl.getName()); });
    block.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op) || op->hasAttr(dist::kSrcAttr)) return;
      for (mlir::OpResult result : op->getResults()) {
        const llvm::StringRef name = pd::nameOf(result);
        if (name.empty()) continue;
        checkInserted(result, name);
        if (!store_.variable(name) && !own.contains(name) &&
            question_.reference.namedNumber(name) >= 0)
          refute(op, "was put into a block and gives its result the name of `" + name.str() +
                         "`, which the program around it computes");
      }
    });
  }

  void refute(mlir::Operation* at, std::string text) {
    findings_.add(messageAt(at, Message::Level::Refuted, "name", std::move(text),
                            "give what is inserted a name of its own"));
  }

  // Exports write under the name: a variable that this value is not set to, or a feed, would be
  // overwritten.
  void checkInserted(mlir::Value value, llvm::StringRef name) {
    if (store_.variable(name) && !setsVariable(value, name))
      refute(value.getDefiningOp(), "was inserted and gives its result the name of the variable `" +
                                        name.str() + "`, which is not set to it");
    if (feeds_.contains(name))
      refute(value.getDefiningOp(),
             "was inserted and gives its result the name of the feed `" + name.str() + "`");
  }

  // Wherever it stands: an export writes the cell of the name, and whatever is read under it there.
  void checkUnderName(mlir::OpResult value, llvm::StringRef name) {
    const int wanted = question_.reference.namedNumber(name);
    const Relation& relation = store_.of(value);
    if (wanted < 0 || relation.reference < 0 || !relation.known() || relation.gradient ||
        relation.minuend)
      return;
    mlir::Operation* original = question_.reference.definingOp(wanted);
    if (!pd::OpView::isFrameworkOp(original) ||
        (pd::OpView(original).role() & (pd::kBackward | pd::kOptimize)))
      return;
    if (question_.reference.nameOf(relation.reference) != name) {
      reported_.insert(value.getOwner());
      return refute(value.getOwner(), "was inserted and gives the name `" + name.str() +
                                          "` to what stands for " +
                                          describe(question_.reference, relation));
    }
    const Rational& scale = relation.parts.scale;
    if (!relation.parts.known || scale.isLost() || scale.isOne()) return;
    reported_.insert(value.getOwner());
    refute(value.getOwner(), "was inserted and gives the name `" + name.str() + "` to " +
                                 scale.text() + " times that of the reference");
  }

  // What a fetch of the name reports.
  void checkLast(llvm::StringRef name, mlir::Value value) {
    const int wanted = question_.reference.namedNumber(name);
    if (wanted < 0) return;
    // A fetch takes it from the role that gives the last value.
    if (elsewhere_.contains(question_.reference.definingOp(wanted))) return;
    const Relation& relation = store_.of(value);
    mlir::Operation* op = value.getDefiningOp();
    if (reported_.contains(op)) return;
    if (relation.reference >= 0 && !relation.standsFor(wanted))
      return refute(op, "gives the last value of the name `" + name.str() + "`, which stands for " +
                            describe(question_.reference, relation) +
                            "; in the reference the name ends as " +
                            question_.reference.describe(wanted));
    // Equal on all ranks: nothing that puts their values together takes the factor off again.
    if (relation.whole.known && relation.whole.isReplicated() && !relation.gradient &&
        !relation.whole.scale.isOne())
      return refute(op, "gives the last value of the name `" + name.str() + "`, " +
                            relation.whole.scale.text() + " times that of the reference");
    const bool inserted = !op->hasAttr(dist::kSrcAttr) &&
                          (pd::OpView::isFrameworkOp(op) || llvm::isa<dist::CompositeOp>(op));
    if (inserted && relation.reference < 0)
      return findings_.add(messageAt(op, Message::Level::Unknown, "name",
                                     "was inserted and gives the last value of the name `" +
                                         name.str() + "`; it is not known what it stands for",
                                     "give what is inserted a name of its own"));
    if (inserted && relation.known() && !relation.gradient && relation.parts.known &&
        !relation.parts.scale.isOne())
      refute(op, "gives the last value of the name `" + name.str() + "`, " +
                     relation.parts.scale.text() + " times that of the reference");
  }

  const Question& question_;
  const Store& store_;
  Rung& findings_;
  llvm::StringSet<> feeds_;
  llvm::DenseSet<mlir::Operation*> elsewhere_;  // ops of the reference that another role does
  llvm::DenseSet<mlir::Operation*> reported_;
  llvm::MapVector<llvm::StringRef, mlir::Value> last_;
};

// Names that a role may give to nothing of its own, and what they are of.
class TakenNames {
 public:
  TakenNames(dist::RoleOp role, pd::ProgramOp program, const Reference& reference)
      : reference_(reference) {
    for (auto var : role.getBody().front().getOps<pd::VarOp>()) variables_.insert(var.getSymName());
    for (pd::InputOp input : inputsOf(program)) feeds_.insert(input.getName());
  }

  // Empty where the value may have its name. A variable's is that of what it is set to. Gradients
  // may go on under the name that they have, outside of bodies.
  std::string of(mlir::Value value, llvm::StringRef name, bool body) const {
    if (variables_.contains(name) && (body || !setsVariable(value, name)))
      return "the variable `" + name.str() + "`, which is not set to it";
    if (variables_.contains(name)) return "";
    if (feeds_.contains(name)) return "the feed `" + name.str() + "`";
    const int number = reference_.namedNumber(name);
    mlir::Operation* original = number < 0 ? nullptr : reference_.definingOp(number);
    if (!original || (!body && (!pd::OpView::isFrameworkOp(original) ||
                                (pd::OpView(original).role() & (pd::kBackward | pd::kOptimize)))))
      return "";
    return "`" + name.str() + "`, which the reference computes";
  }

 private:
  const Reference& reference_;
  llvm::StringSet<> variables_, feeds_;
};

// For parts of a job that stand for no op of the reference: bodies of composites, and, where a
// formula was taken out before the walk, all that was inserted.
class NamesApart {
 public:
  NamesApart(bool apart, Rung& findings) : apart_(apart), findings_(findings) {}

  void check(pd::ProgramOp program, const TakenNames& taken) {
    program.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      auto composite = op->getParentOfType<dist::CompositeOp>();
      if (!composite && (!apart_ || op->hasAttr(dist::kSrcAttr))) return;
      for (mlir::OpResult result : op->getResults()) {
        const llvm::StringRef name = pd::nameOf(result);
        if (name.empty() || name == pd::kEmptyArgument || isOutput(composite, result, name))
          continue;
        if (const std::string other = taken.of(result, name, static_cast<bool>(composite));
            !other.empty())
          refute(op, (composite ? "stands in the body of a composite and gives its result the name "
                                  "of "
                                : "was inserted and gives its result the name of ") +
                         other);
      }
    });
  }

 private:
  // What a body hands out may have the name that it has outside.
  static bool isOutput(dist::CompositeOp composite, mlir::Value value, llvm::StringRef name) {
    if (!composite) return false;
    for (mlir::OpOperand& use : value.getUses())
      if (use.getOwner()->getParentOp() == composite && llvm::isa<dist::YieldOp>(use.getOwner()) &&
          llvm::cast<mlir::StringAttr>(composite.getOutputNames()[use.getOperandNumber()]) == name)
        return true;
    return false;
  }

  // A walk may have said the same of what it has met.
  void refute(mlir::Operation* at, std::string text) {
    Message message = messageAt(at, Message::Level::Refuted, "name", std::move(text),
                                "give what is inserted a name of its own");
    for (const Message& said : findings_.messages)
      if (said.rule == message.rule && said.position == message.position) return;
    findings_.add(std::move(message));
  }

  const bool apart_;
  Rung& findings_;
};

}  // namespace

void checkNamesApart(mlir::ModuleOp job, bool apart, Rung& findings) {
  for (llvm::StringRef name : {"startup", "main"}) {
    const Reference reference(findProgram(referenceModule(job), name));
    for (auto role : job.getOps<dist::RoleOp>())
      if (pd::ProgramOp program = findProgram(role, name))
        NamesApart(apart && name == "main", findings)
            .check(program, TakenNames(role, program, reference));
  }
}

void checkNames(const Question& question, const Store& store, Rung& findings) {
  Names(question, store, findings).check();
}

}  // namespace dtranspile::verify

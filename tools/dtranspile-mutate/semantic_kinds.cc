// Bugs of passes that change the program itself (lamb, merged steps, …): the role and @reference
// are wrong alike, so that only the proof of @reference from @source can see it. Of jobs without a
// @reference of their own nothing is changed here.
#include "compiler/analysis/program_info.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "tools/dtranspile-mutate/edits.h"
#include "tools/dtranspile-mutate/pairs.h"

namespace dtranspile::mutate {
namespace {

// Two operands of one type change places.
void operandsSwapped(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list)
    for (unsigned i = 0; i < pair.theirs->getNumOperands(); ++i)
      for (unsigned j = i + 1; j < pair.theirs->getNumOperands(); ++j) {
        mlir::Value a = pair.theirs->getOperand(i), b = pair.theirs->getOperand(j);
        if (a == b || a.getType() != b.getType()) continue;
        edits.add(pair.own, quoted(a) + " and " + quoted(b) + " change places, in @reference too",
                  [=]() {
                    for (mlir::Operation* op : {pair.own, pair.theirs}) {
                      mlir::Value first = op->getOperand(i);
                      op->setOperand(i, op->getOperand(j));
                      op->setOperand(j, first);
                    }
                  });
      }
}

// An operand is another earlier value of its type.
// The nearest earlier pair in the same blocks of both programs that has a result of the type.
void operandReplaced(JobView& view, Edits& edits) {
  const Pairs pairs(view);
  for (size_t at = 0; at < pairs.list.size(); ++at)
    for (unsigned i = 0; i < pairs.list[at].theirs->getNumOperands(); ++i) {
      const Pair& pair = pairs.list[at];
      mlir::Value now = pair.theirs->getOperand(i);
      for (size_t before = at; before-- > 0;) {
        const Pair& maker = pairs.list[before];
        if (maker.theirs->getBlock() != pair.theirs->getBlock() ||
            maker.own->getBlock() != pair.own->getBlock())
          continue;
        mlir::Value other;
        for (mlir::Value result : maker.theirs->getResults())
          if (result.getType() == now.getType() && result != now) other = result;
        if (!other) continue;
        const unsigned result = llvm::cast<mlir::OpResult>(other).getResultNumber();
        edits.add(pair.own,
                  "takes " + quoted(other) + " in place of " + quoted(now) + ", in @reference too",
                  [=]() {
                    pair.own->setOperand(i, maker.own->getResult(result));
                    pair.theirs->setOperand(i, other);
                  });
        break;
      }
    }
}

// What an op gives is what it was given: a mean that is not taken, a cast that is not made.
void opBypassed(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list)
    for (unsigned result = 0; result < pair.theirs->getNumResults(); ++result)
      for (unsigned i = 0; i < pair.theirs->getNumOperands(); ++i) {
        mlir::Value given = pair.theirs->getOperand(i), made = pair.theirs->getResult(result);
        if (given.getType() != made.getType() || made.use_empty() ||
            llvm::isa<pd::TapeType>(made.getType()))
          continue;
        edits.add(pair.own, "its readers take " + quoted(given) + ", in @reference too", [=]() {
          for (mlir::Operation* op : {pair.own, pair.theirs})
            op->getResult(result).replaceAllUsesWith(op->getOperand(i));
        });
        break;
      }
}

// Both lose it: the role still equals its reference, and both are wrong.
void setDropped(JobView& view, Edits& edits) {
  for (auto [own, theirs] : Pairs(view).sets)
    edits.add(own, "`" + own.getVar().str() + "` is not set, in @reference neither",
              [own = own, theirs = theirs]() mutable {
                own.erase();
                theirs.erase();
              });
}

// A variable keeps what it had.
void setToOld(JobView& view, Edits& edits) {
  for (auto [own, theirs] : Pairs(view).sets)
    edits.add(own, "`" + own.getVar().str() + "` is set to what it was, in @reference too",
              [own = own, theirs = theirs]() mutable {
                for (pd::SetOp set : {own, theirs}) {
                  mlir::OpBuilder builder(set);
                  set.getValueMutable().assign(pd::GetOp::create(
                      builder, set.getLoc(), set.getValue().getType(), set.getVarAttr()));
                }
              });
}

// Two variables of one type are set to what the other one should be.
void setsSwapped(JobView& view, Edits& edits) {
  const Pairs pairs(view);
  for (size_t i = 0; i < pairs.sets.size(); ++i)
    for (size_t j = i + 1; j < pairs.sets.size(); ++j) {
      auto [a, refA] = pairs.sets[i];
      auto [b, refB] = pairs.sets[j];
      if (a.getVar() == b.getVar() || a.getValue().getType() != b.getValue().getType() ||
          refA->getBlock() != refB->getBlock())
        continue;
      edits.add(a,
                "`" + a.getVar().str() + "` and `" + b.getVar().str() +
                    "` are set to each other's, in @reference too",
                [a = a, b = b, refA = refA, refB = refB]() mutable {
                  for (auto [x, y] : {std::pair(a, b), std::pair(refA, refB)}) {
                    mlir::FlatSymbolRefAttr name = x.getVarAttr();
                    x.setVarAttr(y.getVarAttr());
                    y.setVarAttr(name);
                  }
                });
      break;
    }
}

// The name that an export writes, and a fetch reads, in the role and in what it is compared with.
void renamedAlike(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list)
    for (unsigned i = 0; i < pair.theirs->getNumResults(); ++i) {
      mlir::OpResult result = pair.own->getResult(i);
      if (pd::nameOf(result).empty()) continue;
      edits.add(pair.own, quoted(result) + " has another name, in @reference too", [=]() {
        for (mlir::Operation* op : {pair.own, pair.theirs}) {
          const std::string name = pd::nameOf(op->getResult(i)).str() + ".other";
          pd::Declarations().declare(op->getBlock(), name, op->getResult(i).getType());
          rename(op->getResult(i), name);
        }
      });
    }
}

// What an op is for: the loss, gradients and the update are found by it.
void roleAlike(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list)
    for (int role : {+pd::kForward, +pd::kBackward, +pd::kOptimize, pd::kForward | pd::kLoss,
                     pd::kBackward | pd::kLoss}) {
      if (pd::OpView(pair.own).role() == role) continue;
      edits.add(pair.own, "op_role is " + std::to_string(role) + ", in @reference too", [=]() {
        for (mlir::Operation* op : {pair.own, pair.theirs})
          pd::OpView(op).setAttr("op_role",
                                 mlir::Builder(op->getContext()).getI32IntegerAttr(role));
      });
    }
}

// Ops were put behind op `number` of @reference: those after it count on, and the role's own stand
// for them.
void countOn(JobView view, int64_t number, llvm::ArrayRef<mlir::Operation*> own) {
  const auto added = static_cast<int64_t>(own.size());
  mlir::Builder builder(view.job.getContext());
  for (auto role : view.job.getOps<dist::RoleOp>())
    if (pd::ProgramOp program = findProgram(role, view.program.getSymName()))
      program->walk([&](mlir::Operation* op) {
        if (auto now = sourceOf(op); now && *now > number)
          op->setAttr(dist::kSrcAttr, builder.getI64IntegerAttr(*now + added));
      });
  for (mlir::Operation* op : own) op->setAttr(dist::kSrcAttr, builder.getI64IntegerAttr(++number));
}

// A value is rounded for all who take it.
void roundedAlike(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list)
    for (unsigned i = 0; i < pair.theirs->getNumResults(); ++i) {
      mlir::Value result = pair.own->getResult(i);
      auto type = llvm::dyn_cast<mlir::RankedTensorType>(result.getType());
      const int64_t number = *sourceOf(pair.own);
      if (!type || !type.getElementType().isF32() || result.use_empty() ||
          pair.theirs->getNumRegions() > 0)
        continue;
      edits.add(pair.own, quoted(result) + " is rounded, in @reference too", [=]() {
        llvm::SmallVector<mlir::Operation*> own;
        for (mlir::Operation* op : {pair.theirs, pair.own}) {
          mlir::OpBuilder builder(op->getContext());
          builder.setInsertionPointAfter(op);
          Readers readers(op->getResult(i));
          mlir::Value down = cast(builder, op->getResult(i), builder.getF16Type());
          mlir::Value up = cast(builder, down, builder.getF32Type());
          readers.read(up);
          own = {down.getDefiningOp(), up.getDefiningOp()};
        }
        countOn(view, number, own);
      });
    }
}

// A condition that always holds, or never: of its own branches.
void conditionReplaced(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list) {
    if (pd::OpView(pair.theirs).type() != "conditional_block") continue;
    edits.add(pair.own, "runs in the other steps, in @reference too", [=]() {
      for (mlir::Operation* op : {pair.own, pair.theirs}) {
        mlir::OpBuilder builder(op);
        mlir::Value condition = op->getOperand(0);
        pd::Declarations declarations;
        const std::string name = declarations.freshName(op->getBlock(), "otherwise");
        op->setOperand(0, declarations
                              .create(builder, op->getLoc(), "logical_not", {{"X", {condition}}},
                                      {{"Out", {{name, condition.getType()}}}}, {}, pd::kOptimize)
                              .output("Out"));
      }
    });
  }
}

// What a job says of the passes that made its reference.
void changeDropped(JobView& view, Edits& edits) {
  auto changes = view.job->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr);
  if (!changes) return;
  for (size_t i = 0; i < changes.size(); ++i)
    edits.add(view.program, "a change is not declared", [=, job = view.job]() mutable {
      llvm::SmallVector<mlir::Attribute> kept(changes.begin(), changes.end());
      kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
      job->setAttr(dist::kChangesAttr, mlir::ArrayAttr::get(changes.getContext(), kept));
    });
}

// The proof of @reference is made from @source by the declared changes; with another option it
// comes to another reference.
void changeOption(JobView& view, Edits& edits) {
  auto changes = view.job->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr);
  if (!changes) return;
  for (size_t i = 0; i < changes.size(); ++i)
    for (mlir::NamedAttribute option : llvm::cast<mlir::DictionaryAttr>(changes[i])) {
      mlir::Attribute now =
          option.getName() == "pass" ? mlir::Attribute() : perturbed(option.getValue());
      if (!now) continue;
      edits.add(view.program, "declares another `" + option.getName().str() + "`",
                [=, job = view.job]() mutable {
                  llvm::SmallVector<mlir::Attribute> all(changes.begin(), changes.end());
                  mlir::NamedAttrList list(llvm::cast<mlir::DictionaryAttr>(all[i]));
                  list.set(option.getName(), now);
                  all[i] = list.getDictionary(changes.getContext());
                  job->setAttr(dist::kChangesAttr, mlir::ArrayAttr::get(changes.getContext(), all));
                });
    }
}

}  // namespace

std::vector<Kind> semanticKinds() {
  const char* semantic = "semantic";
  return {
      {semantic, "operands-swapped-alike", "two operands change places, in @reference too",
       Place::Main, operandsSwapped},
      {semantic, "operand-replaced-alike", "an op takes another value, in @reference too",
       Place::Main, operandReplaced},
      {semantic, "op-bypassed-alike", "an op is left out, in @reference too", Place::Main,
       opBypassed},
      {semantic, "set-dropped-alike", "a variable is not set, in @reference neither", Place::Main,
       setDropped},
      {semantic, "set-to-old-alike", "a variable is set to what it was, in @reference too",
       Place::Main, setToOld},
      {semantic, "sets-swapped-alike", "two variables change places, in @reference too",
       Place::Main, setsSwapped},
      {semantic, "result-renamed-alike", "a result has another name, in @reference too",
       Place::Main, renamedAlike},
      {semantic, "body-result-renamed-alike",
       "a result in a block has another name, in @reference too", Place::Bodies, renamedAlike},
      {semantic, "op-role-alike", "an op says that it has another role, in @reference too",
       Place::Main, roleAlike},
      {semantic, "value-rounded-alike", "a value is rounded, in @reference too", Place::Main,
       roundedAlike},
      {semantic, "condition-alike", "a branch is taken in other steps, in @reference too",
       Place::Main, conditionReplaced},
      {semantic, "body-operands-swapped-alike",
       "two operands change places in a block, in @reference too", Place::Bodies, operandsSwapped},
      {semantic, "body-operand-replaced-alike",
       "an op of a block takes another value, in @reference too", Place::Bodies, operandReplaced},
      {semantic, "body-op-bypassed-alike", "an op of a block is left out, in @reference too",
       Place::Bodies, opBypassed},
      {semantic, "startup-op-alike", "an initialiser takes another value, in @reference too",
       Place::Startup, operandReplaced},
      {semantic, "startup-set-dropped-alike",
       "a variable has no initial value, in @reference neither", Place::Startup, setDropped},
      {semantic, "startup-sets-swapped-alike",
       "two variables change initial values, in @reference too", Place::Startup, setsSwapped},
      {semantic, "change-dropped", "a declared change is not declared", Place::Main, changeDropped},
      {semantic, "change-option", "a declared change has another option", Place::Main,
       changeOption},
  };
}

}  // namespace dtranspile::mutate

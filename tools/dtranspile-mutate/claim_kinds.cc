// What is said beside the values: relations that an op claims of its result, what an inserted block
// says of itself, and words of a variable or of the module that are none of theirs.
#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Values of the reference by their names: what most results of its ops stand for.
template <typename Visit>
void forEachNamed(JobView& view, Visit visit) {
  for (mlir::Operation* op : view.framework)
    if (!isInserted(op) && op->getNumResults() == 1 && isFloat(op->getResult(0)) &&
        !nameFor(op->getResult(0)).empty())
      visit(op, nameFor(op->getResult(0)));
}

void claim(mlir::Operation* op, const std::string& name, int64_t number,
           llvm::ArrayRef<dist::AxisRelAttr> axes, int64_t times) {
  op->setAttr(dist::kRelAttr,
              dist::RelAttr::get(op->getContext(), mlir::StringAttr::get(op->getContext(), name),
                                 number, axes, times, 1, {}));
}

// Nothing is the largest of the ranks' values, or three times what it stands for.
void claimsState(JobView& view, Edits& edits) {
  const std::string axis = view.axis;
  if (axis.empty()) return;
  forEachNamed(view, [&](mlir::Operation* op, const std::string& name) {
    edits.add(op, "claims to be P(max) along " + axis, [op, name, axis]() {
      const auto along = mlir::StringAttr::get(op->getContext(), axis);
      claim(op, name, 0, dist::AxisRelAttr::partial(along, dist::Reduce::Max), 1);
    });
    edits.add(op, "claims to be three times its value",
              [op, name]() { claim(op, name, 0, {}, 3); });
  });
}

void claimsOther(JobView& view, Edits& edits) {
  std::string before;
  forEachNamed(view, [&](mlir::Operation* op, const std::string& name) {
    if (!before.empty() && before != name)
      edits.add(op, "claims to stand for `" + before + "`",
                [op, before]() { claim(op, before, 0, {}, 1); });
    before = name;
  });
}

// An axis that has one coordinate where the op stands: of the mesh, or within a guard.
void claimsAlone(JobView& view, Edits& edits) {
  if (!view.mesh) return;
  forEachNamed(view, [&](mlir::Operation* op, const std::string& name) {
    const dist::Guard guard = dist::guardOf(op);
    for (auto [axis, size] :
         llvm::zip(view.mesh.getAxes().getAsValueRange<mlir::StringAttr>(), view.mesh.getSizes())) {
      const dist::AxisSetAttr here = guard.where ? guard.where.lookup(axis) : dist::AxisSetAttr();
      if (size != 1 && !(here && here.count() == 1)) continue;
      edits.add(op, "claims to be P(sum) along " + axis.str() + ", of which one is here",
                [op, name, axis = axis.str()]() {
                  const auto along = mlir::StringAttr::get(op->getContext(), axis);
                  claim(op, name, 0, dist::AxisRelAttr::partial(along, dist::Reduce::Sum), 1);
                });
    }
  });
}

// The same of a variable, which exists on one coordinate of an axis only.
void variableAlone(JobView& view, Edits& edits) {
  if (!view.mesh) return;
  for (auto variable : view.role.getOps<pd::VarOp>()) {
    auto relation = variable->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    auto at = variable->getAttrOfType<dist::SelAttr>(dist::kAtAttr);
    if (!relation) continue;
    for (auto [axis, size] :
         llvm::zip(view.mesh.getAxes().getAsValueRange<mlir::StringAttr>(), view.mesh.getSizes())) {
      const dist::AxisSetAttr here = at ? at.lookup(axis) : dist::AxisSetAttr();
      if (size != 1 && !(here && here.count() == 1)) continue;
      const auto along = mlir::StringAttr::get(variable.getContext(), axis);
      llvm::SmallVector<dist::AxisRelAttr> wrong = {dist::AxisRelAttr::different(along, "nobody")};
      // Of a mesh that is as small passes may say what they would of a larger one.
      if (size != 1) wrong.push_back(dist::AxisRelAttr::partial(along, dist::Reduce::Max));
      for (dist::AxisRelAttr state : wrong)
        edits.add(variable, "is declared otherwise along " + axis.str() + ", where it is alone",
                  [variable, relation, state]() mutable {
                    variable->setAttr(
                        dist::kRelAttr,
                        dist::RelAttr::get(variable.getContext(), relation.getVariable(),
                                           relation.getNumber(), {state}, relation.getNumerator(),
                                           relation.getDenominator(), relation.getTags()));
                  });
    }
  }
}

// The description of an inserted block: a number, the block around it, a name that it takes.
void blockSaid(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
    if (!blocks || blocks.empty() || !isInserted(op)) continue;
    for (llvm::StringRef field : {"idx", "parent"})
      for (int64_t other : {0, 9})
        edits.add(op, "says `" + field.str() + "` " + std::to_string(other) + " of its block",
                  [op, blocks, field, other]() {
                    mlir::Builder builder(op->getContext());
                    mlir::NamedAttrList words(llvm::cast<mlir::DictionaryAttr>(blocks[0]));
                    words.set(field, builder.getI32IntegerAttr(static_cast<int32_t>(other)));
                    llvm::SmallVector<mlir::Attribute> all(blocks.begin(), blocks.end());
                    all[0] = words.getDictionary(op->getContext());
                    op->setAttr("blocks", builder.getArrayAttr(all));
                  });
  }
}

// Whether a condition has elements decides, not what they are.
void decidedByExtents(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    if (isInserted(op) && pd::OpView(op).type() == "conditional_block")
      edits.add(op, "runs where its condition has elements", [op]() {
        pd::OpView(op).setAttr("is_scalar_condition",
                               mlir::Builder(op->getContext()).getBoolAttr(false));
      });
}

void variableOfNumber(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view))
    if (auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr))
      edits.add(var, "`" + var.getSymName().str() + "` is one value of its variable",
                [var, relation]() mutable {
                  var->setAttr(dist::kRelAttr,
                               dist::RelAttr::get(var.getContext(), relation.getVariable(), 2,
                                                  relation.getAxes(), relation.getNumerator(),
                                                  relation.getDenominator(), relation.getTags()));
                });
}

void textOfClass(JobView& view, Edits& edits) {
  edits.add(view.program, "the job says to be the text of a class", [job = view.job]() mutable {
    job->setAttr(dist::kClassAttr, mlir::StringAttr::get(job.getContext(), "trainer"));
  });
}

// A variable that a pass adds to the program is one of its parameters.
void addedParameter(JobView& view, Edits& edits) {
  mlir::ModuleOp reference = findModule(view.job, "reference");
  if (!reference || !view.source) return;
  mlir::SymbolTable given(view.source), theirs(reference);
  for (pd::VarOp var : variablesOf(view)) {
    auto added = theirs.lookup<pd::VarOp>(var.getSymName());
    if (added && !given.lookup(var.getSymName()))
      edits.add(var, "`" + var.getSymName().str() + "` is a parameter, in @reference too",
                [var, added]() mutable {
                  var.setParameter(true);
                  added.setParameter(true);
                });
  }
}

}  // namespace

std::vector<Kind> claimKinds() {
  const char* group = "claims";
  return {
      {group, "claim-state", "an op claims another relation than its result has", Place::Main,
       claimsState},
      {group, "claim-other", "an op claims to give another value of the reference", Place::Main,
       claimsOther},
      {group, "claim-alone", "an op claims a state along an axis of one coordinate", Place::Main,
       claimsAlone},
      {group, "variable-alone", "a variable is declared otherwise along an axis of one coordinate",
       Place::Main, variableAlone},
      {group, "body-claim", "an op of a block claims another relation", Place::Bodies, claimsState},
      {group, "block-said", "an inserted op says something else of its block", Place::Main,
       blockSaid},
      {group, "branch-extents", "an inserted branch looks at the extents of its condition",
       Place::Main, decidedByExtents},
      {group, "variable-number", "a variable stands for one value of another", Place::Main,
       variableOfNumber},
      {group, "text-of-class", "a job says to be the text of a class", Place::Main, textOfClass},
      {"semantic", "parameter-added", "what a pass adds is a parameter, in @reference too",
       Place::Main, addedParameter},
  };
}

}  // namespace dtranspile::mutate

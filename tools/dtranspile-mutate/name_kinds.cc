// Names: what is fetched, saved and exported goes by them.
#include "compiler/analysis/program_info.h"
#include "dialects/pd/declarations.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Results that stand for a variable of the framework's program.
std::vector<mlir::OpResult> resultsOfProgram(JobView& view) {
  std::vector<mlir::OpResult> results;
  for (mlir::Operation* op : view.framework)
    for (mlir::OpResult result : op->getResults())
      if (!pd::nameOf(result).empty()) results.push_back(result);
  return results;
}

// What passes inserted is called as they like.
void renamed(JobView& view, Edits& edits) {
  for (mlir::OpResult result : resultsOfProgram(view)) {
    if (view.place == Place::Main && isInserted(result.getOwner())) continue;
    edits.add(result.getOwner(), quoted(result) + " has a name of its own", [=]() {
      std::string name = pd::nameOf(result).str() + ".other";
      pd::Declarations().declare(result.getOwner()->getBlock(), name, result.getType());
      rename(result, name);
    });
  }
}

// What is fetched under the name of the loss is another value.
void lossRenamed(JobView& view, Edits& edits) {
  std::string loss = findLoss(view.program);
  mlir::OpResult last;
  std::vector<mlir::OpResult> results = resultsOfProgram(view);
  for (mlir::OpResult result : results)
    if (pd::nameOf(result) == loss) last = result;
  if (!last) return;
  for (mlir::OpResult other : results)
    if (other != last && other.getType() == last.getType() && pd::nameOf(other) != loss)
      edits.add(other.getOwner(), quoted(other) + " is called as the loss is", [=]() {
        std::string name = pd::nameOf(other).str();
        rename(last, name);
        rename(other, loss);
      });
}

// The loss is fetched from a copy that is scaled.
void lossShadowed(JobView& view, Edits& edits) {
  std::string loss = findLoss(view.program);
  for (mlir::OpResult result : resultsOfProgram(view))
    if (pd::nameOf(result) == loss)
      edits.add(result.getOwner(), "a multiple of the loss stands under its name, unread", [=]() {
        mlir::OpBuilder builder(result.getOwner()->getContext());
        builder.setInsertionPointAfter(result.getOwner());
        scaled(builder, result, 2);
      });
}

// Nothing that is computed changes. What is fetched does, and an exported program, in which a name
// is a variable, computes something else.
void namesSwapped(JobView& view, Edits& edits) {
  std::vector<mlir::OpResult> results = resultsOfProgram(view);
  for (size_t i = 0; i + 1 < results.size(); ++i)
    for (size_t j = i + 1; j < results.size(); ++j) {
      mlir::OpResult a = results[i], b = results[j];
      if (a.getType() != b.getType() || pd::nameOf(a) == pd::nameOf(b)) continue;
      edits.add(a.getOwner(), quoted(a) + " and " + quoted(b) + " change names", [=]() {
        std::string first = pd::nameOf(a).str(), second = pd::nameOf(b).str();
        rename(a, second);
        rename(b, first);
      });
      break;
    }
}

// An export would write the parameter.
void likeParameter(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view))
    for (mlir::OpResult result : resultsOfProgram(view))
      if (result.getType() == var.getType() && pd::nameOf(result) != var.getSymName())
        edits.add(result.getOwner(),
                  quoted(result) + " is called as `" + var.getSymName().str() + "` is",
                  [result, name = var.getSymName().str()]() { rename(result, name); });
}

// In the body of a composite, whatever its type: an export writes the cell, with what is left of it
// for whoever reads the variable next.
void bodyLikeVariable(JobView& view, Edits& edits) {
  for (mlir::OpResult result : resultsOfProgram(view)) {
    const bool leaves = llvm::any_of(
        result.getUsers(), [](mlir::Operation* user) { return llvm::isa<dist::YieldOp>(user); });
    for (pd::VarOp var : variablesOf(view))
      if (!leaves)
        edits.add(result.getOwner(),
                  quoted(result) + " is called as `" + var.getSymName().str() + "` is",
                  [result, name = var.getSymName().str()]() { rename(result, name); });
  }
}

// What the program says of its variables' types, apart from the values that have their names.
std::vector<pd::DeclOp> declarations(JobView& view) {
  std::vector<pd::DeclOp> found;
  view.program->walk([&](pd::DeclOp decl) { found.push_back(decl); });
  return found;
}

// Each attribute but the kind, whose other values mean another set of attributes.
void declChanged(JobView& view, Edits& edits) {
  for (pd::DeclOp decl : declarations(view))
    for (mlir::NamedAttribute one : decl->getAttrs()) {
      if (one.getName() == "kind") continue;
      mlir::Attribute now = perturbed(one.getValue());
      if (now)
        edits.add(decl,
                  "`" + decl.getName().str() + "` is declared with another " + one.getName().str(),
                  [=]() { decl->setAttr(one.getName(), now); });
    }
}

// A temporary that is kept is saved with the model; a persistable that is not is missing there.
void declPersistable(JobView& view, Edits& edits) {
  for (pd::DeclOp decl : declarations(view))
    edits.add(decl,
              "`" + decl.getName().str() + "` is declared " +
                  (pd::DeclOp(decl).isPersistable() ? "a temporary" : "persistable"),
              [decl]() mutable {
                decl.setPersistableAttr(
                    mlir::Builder(decl.getContext()).getBoolAttr(!decl.isPersistable()));
              });
}

void declDropped(JobView& view, Edits& edits) {
  for (pd::DeclOp decl : declarations(view))
    edits.add(decl, "`" + decl.getName().str() + "` is not declared", [decl]() { decl->erase(); });
}

// Two feeds of one type: the runner would give each the other's data.
void inputsSwapped(JobView& view, Edits& edits) {
  std::vector<pd::InputOp> inputs = inputsOf(view.program);
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t j = i + 1; j < inputs.size(); ++j) {
      pd::InputOp a = inputs[i], b = inputs[j];
      if (a.getType() != b.getType()) continue;
      edits.add(
          a, "the feeds `" + a.getName().str() + "` and `" + b.getName().str() + "` change names",
          [=]() mutable {
            mlir::StringAttr name = a.getNameAttr();
            a.setNameAttr(b.getNameAttr());
            b.setNameAttr(name);
          });
    }
}

// With a declaration of the new name, so that only the name itself is wrong.
void inputRenamed(JobView& view, Edits& edits) {
  for (pd::InputOp input : inputsOf(view.program))
    edits.add(input, "the feed `" + input.getName().str() + "` has another name", [=]() mutable {
      std::string name = input.getName().str() + ".other";
      pd::Declarations().declare(input->getBlock(), name, input.getType());
      input.setName(name);
    });
}

// Throughout the role, and with a relation that says which variable of the reference it stands for:
// all that is computed stays right, but nobody finds it in a checkpoint.
void variableRenamed(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view)) {
    if (!view.source || !mlir::SymbolTable::lookupSymbolIn(view.source, var.getSymName())) continue;
    edits.add(var, "`" + var.getSymName().str() + "` has another name",
              [var, role = view.role]() mutable {
                mlir::StringAttr before = var.getSymNameAttr();
                auto now = mlir::FlatSymbolRefAttr::get(var.getContext(),
                                                        before.getValue().str() + ".other");
                role.walk([&](mlir::Operation* op) {
                  if (auto get = llvm::dyn_cast<pd::GetOp>(op))
                    if (get.getVarAttr().getAttr() == before) get.setVarAttr(now);
                  if (auto set = llvm::dyn_cast<pd::SetOp>(op))
                    if (set.getVarAttr().getAttr() == before) set.setVarAttr(now);
                });
                if (!var->hasAttr(dist::kRelAttr))
                  var->setAttr(dist::kRelAttr, dist::RelAttr::of(before));
                var.setSymNameAttr(now.getAttr());
              });
  }
}

}  // namespace

std::vector<Kind> nameKinds() {
  const char* group = "names";
  return {
      {group, "result-renamed", "a result has another name", Place::Main, renamed},
      {group, "loss-renamed", "another value has the name of the loss", Place::Main, lossRenamed},
      {group, "loss-shadowed", "a later value has the name of the loss", Place::Main, lossShadowed},
      {group, "names-swapped", "two results have each other's name", Place::Main, namesSwapped},
      {group, "named-like-variable", "a result has the name of a persistable", Place::Main,
       likeParameter},
      {group, "declaration", "a declaration says something else", Place::Main, declChanged},
      {group, "declaration-persistable", "a declaration says what is kept", Place::Main,
       declPersistable},
      {group, "declaration-dropped", "a name is not declared", Place::Main, declDropped},
      {group, "variable-renamed", "a variable has another name", Place::Main, variableRenamed},
      {group, "composite-named-like-variable", "a result in a body has the name of a persistable",
       Place::Composites, bodyLikeVariable},
      {group, "body-result-renamed", "a result in a block has another name", Place::Bodies,
       renamed},
      {"feeds", "inputs-swapped", "two feeds have each other's name", Place::Main, inputsSwapped},
      {"feeds", "input-renamed", "a feed has another name", Place::Main, inputRenamed},
  };
}

}  // namespace dtranspile::mutate

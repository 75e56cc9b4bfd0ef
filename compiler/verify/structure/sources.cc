#include "compiler/verify/structure/sources.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_diff.h"
#include "compiler/analysis/program_info.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::verify {
namespace {

std::string describe(mlir::Operation* op) {
  if (auto symbol = llvm::dyn_cast<mlir::SymbolOpInterface>(op))
    return typeOf(op) + " @" + symbol.getName().str();
  return pd::OpView::isFrameworkOp(op) ? pd::describe(op) : typeOf(op);
}

using Symbols = llvm::DenseMap<mlir::StringAttr, mlir::Operation*>;
Symbols symbolsOf(mlir::Operation* table) {
  Symbols symbols;
  for (mlir::Operation& op : table->getRegion(0).front())
    if (auto symbol = llvm::dyn_cast<mlir::SymbolOpInterface>(op))
      symbols[symbol.getNameAttr()] = &op;
  return symbols;
}

// The first difference between the variables and programs of two symbol tables, by name; nothing
// where there is none. With `all`, symbols that only `mine` has are one.
std::optional<Difference> tablesDiffer(mlir::Operation* mine, mlir::Operation* theirs, bool all) {
  const CompareRules rules{};
  const Symbols own = symbolsOf(mine), others = symbolsOf(theirs);
  for (mlir::Operation& op : theirs->getRegion(0).front()) {
    auto symbol = llvm::dyn_cast<mlir::SymbolOpInterface>(op);
    if (!symbol) continue;
    mlir::Operation* found = own.lookup(symbol.getNameAttr());
    if (!found) return Difference{&op, nullptr, "is missing there"};
    if (auto different = firstDifference(found, &op, rules)) return different;
  }
  if (!all) return std::nullopt;
  for (mlir::Operation& op : mine->getRegion(0).front())
    if (auto symbol = llvm::dyn_cast<mlir::SymbolOpInterface>(op);
        symbol && !others.count(symbol.getNameAttr()))
      return Difference{&op, nullptr, "is not there"};
  return std::nullopt;
}

}  // namespace

void checkReference(mlir::ModuleOp job, Rung& rung) {
  if (findModule(job, "source")) return;
  rung.add(messageAt(job, Message::Level::Unknown, "reference",
                     "the job holds no source program: nothing says what it was made from",
                     "make the job with transpile, which stores it"));
}

void checkGiven(mlir::ModuleOp job, mlir::ModuleOp given, Rung& rung) {
  mlir::ModuleOp source = findModule(job, "source");
  if (!source) return;
  // Without a start-up program the job may hold more than was given.
  const bool all = findProgram(given, "startup") || !findProgram(source, "startup");
  std::optional<Difference> found = tablesDiffer(source, given, all);
  if (!found) return;
  rung.add(messageAt(found->mine, Message::Level::Refuted, "source",
                     "the source of the job is not the program given: " + describe(found->mine) +
                         " " + found->text,
                     "give the program that transpile was given, or make the job again"));
}

}  // namespace dtranspile::verify

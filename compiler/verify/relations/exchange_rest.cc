// What is left of a job of geo-SGD without its exchanges (exchange.h).
#include "compiler/analysis/program_info.h"
#include "compiler/verify/relations/every.h"
#include "compiler/verify/relations/exchange.h"
#include "compiler/verify/relations/exchange_parts.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

// What only the exchange has read and set.
void eraseSnapshots(Parties& parties) {
  llvm::StringSet<> used;
  llvm::StringMap<int> standing;  // variables per one of the reference
  parties.main.walk([&](mlir::Operation* op) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(op)) used.insert(get.getVar());
    if (auto set = llvm::dyn_cast<pd::SetOp>(op)) used.insert(set.getVar());
  });
  auto variables = parties.trainers.getBody().front().getOps<pd::VarOp>();
  for (auto var : variables) ++standing[standsFor(var)];
  for (auto var : llvm::make_early_inc_range(variables))
    if (standing[standsFor(var)] > 1 && !var.getParameter() && !used.contains(var.getSymName()))
      var.erase();
}

bool isTrained(pd::VarOp var, const Reference& reference) {
  return var.getParameter() && reference.trains(standsFor(var));
}

// A communicator of all trainers.
mlir::FlatSymbolRefAttr addGroup(dist::MeshOp mesh) {
  mlir::OpBuilder builder(mesh.getContext());
  builder.setInsertionPointAfter(mesh);
  std::string name = "geo_mean";
  while (mlir::SymbolTable::lookupSymbolIn(mesh->getParentOp(), name)) name += "_";
  dist::CommOp::create(builder, mesh.getLoc(), builder.getStringAttr(name),
                       mlir::FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getAxes(),
                       dist::SelAttr(),
                       dist::CommKindAttr::get(mesh.getContext(), dist::CommKind::Group),
                       mlir::FlatSymbolRefAttr(), builder.getStringAttr("gradients"));
  return mlir::FlatSymbolRefAttr::get(mesh.getContext(), name);
}

// p := sum of p/N over all trainers, at the end of the program.
void averageParameters(Parties& parties, const Reference& reference) {
  dist::MeshOp mesh = dist::meshOf(parties.trainers);
  const mlir::FlatSymbolRefAttr comm = addGroup(mesh);
  mlir::Block* block = parties.main.getBodyBlock();
  pd::Declarations declarations;
  auto builder = mlir::OpBuilder::atBlockEnd(block);
  const float share = 1.0F / static_cast<float>(mesh.ranks());
  for (auto var : parties.trainers.getBody().front().getOps<pd::VarOp>()) {
    if (!isTrained(var, reference)) continue;
    const auto symbol = mlir::FlatSymbolRefAttr::get(var.getSymNameAttr());
    const std::string part = declarations.freshName(block, (var.getSymName() + "@SHARE").str());
    mlir::Value own = pd::GetOp::create(builder, var.getLoc(), var.getType(), symbol);
    mlir::Value term =
        declarations
            .create(builder, var.getLoc(), "scale", {{"X", {own}}},
                    {{"Out", {{part, var.getType()}}}},
                    {builder.getNamedAttr("scale", builder.getF32FloatAttr(share)),
                     builder.getNamedAttr("bias", builder.getF32FloatAttr(0)),
                     builder.getNamedAttr("bias_after_scale", builder.getBoolAttr(true))},
                    pd::kOptimize)
            .output("Out");
    auto mean =
        dist::AllReduceOp::create(builder, var.getLoc(), mlir::TypeRange(var.getType()),
                                  dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum),
                                  mlir::ValueRange(term), comm);
    pd::SetOp::create(builder, var.getLoc(), symbol, mean.getResult(0));
  }
}

// What a trainer's own updates leave, and no exchange makes equal again, stays its own.
void declareOwn(Parties& parties, const Reference& reference, const std::set<std::string>& names) {
  dist::MeshOp mesh = dist::meshOf(parties.trainers);
  llvm::SmallVector<dist::AxisRelAttr> axes;
  for (auto [axis, size] :
       llvm::zip(mesh.getAxes().getAsRange<mlir::StringAttr>(), mesh.getSizes()))
    if (size > 1) axes.push_back(dist::AxisRelAttr::different(axis, kGeoTag));
  for (auto var : parties.trainers.getBody().front().getOps<pd::VarOp>()) {
    if (!names.count(var.getSymName().str()) || isTrained(var, reference)) continue;
    const llvm::StringRef stands = standsFor(var).empty() ? var.getSymName() : standsFor(var);
    var->setAttr(dist::kRelAttr,
                 dist::RelAttr::of(mlir::StringAttr::get(var.getContext(), stands), axes));
  }
}

}  // namespace

// What trainers do between exchanges does not depend on what the others hold: it is enough to look
// at steps that begin with equal parameters and end with their mean over all trainers, by which
// X(geo) becomes R (compiler/analysis/relations/averages.h). So the demands on a step are those of
// local SGD: what each trainer's updates take is what the reference's take on its own share, of
// scale 1, on every trainer; state that its own updates make stays with it.
mlir::OwningOpRef<mlir::ModuleOp> withoutExchanges(mlir::ModuleOp job,
                                                   const Deviations& deviations) {
  mlir::OwningOpRef<mlir::ModuleOp> rest(llvm::cast<mlir::ModuleOp>(job->clone()));
  Parties parties = partiesOf(*rest);
  if (!parties.main || !parties.servers || !dist::meshOf(parties.trainers)) return rest;
  mlir::Block& body = *parties.main.getBodyBlock();
  mlir::Operation* branch = body.empty() ? nullptr : &body.back();
  bool asks = false;
  if (branch)
    branch->walk([&](mlir::Operation* op) { asks |= static_cast<bool>(dist::commOf(op)); });
  if (asks) eraseEvery(branch, parties.trainers);
  eraseSnapshots(parties);
  const Reference reference(findProgram(referenceModule(*rest), "main"));
  averageParameters(parties, reference);
  const auto own = deviations.find(kGeoTag.str());
  if (own != deviations.end()) declareOwn(parties, reference, own->second);
  parties.servers.erase();
  return rest;
}

}  // namespace dtranspile::verify

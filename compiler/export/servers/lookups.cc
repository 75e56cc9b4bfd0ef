#include "compiler/export/servers/lookups.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile {
namespace {

using mlir::LogicalResult;
using mlir::Value;

// The framework looks rows up with distributed_lookup_table, which asks for W by its name and
// extents only: the trainer has a variable that fake_init fills with nothing. Gradients of the
// lookup take that variable too, for its extents.
class Translation {
 public:
  Translation(const Tables& tables, int64_t rank, pd::ProgramOp main)
      : tables_(tables), rank_(rank), main_(main), builder_(main.getContext()) {}

  // Every dist.remote stands for a table that is not here. Its lookups become ops that ask for
  // rows; all its other readers look at extents only (D34), and take the variable that start-up
  // fakes.
  LogicalResult run(pd::ProgramOp startup) {
    llvm::SmallVector<dist::RemoteOp> remotes;
    main_.walk([&](dist::RemoteOp remote) { remotes.push_back(remote); });
    for (dist::RemoteOp remote : remotes) {
      const Table* found = tables_.find(remote.getVar().getLeafReference().getValue());
      if (!found)
        return remote.emitError("export: ") << remote.getVar() << " is no table of the servers";
      const Table& table = *found;
      if (remote->getBlock() != main_.getBodyBlock() || !startup)
        return remote.emitError("export: '")
               << table.name
               << (startup
                       ? "' is looked up inside of control flow: the framework's trainers ask "
                         "at the top of a program; pull the table"
                       : "' is looked up, and the trainers have no start-up program to fake it");
      if (faked_.insert(&table)) fake(remote, table, startup);
      builder_.setInsertionPoint(remote);
      Value stands =
          pd::GetOp::create(builder_, remote.getLoc(), remote.getOutput().getType(),
                            mlir::FlatSymbolRefAttr::get(builder_.getContext(), table.name));
      for (mlir::Operation* user : llvm::make_early_inc_range(remote.getOutput().getUsers()))
        if (auto composite = llvm::dyn_cast<dist::CompositeOp>(user))
          if (mlir::failed(lookUp(composite, table, stands))) return mlir::failure();
      remote.getOutput().replaceAllUsesWith(stands);
      remote.erase();
    }
    return mlir::success();
  }

 private:
  // A variable of the table's name and extents, which holds nothing.
  void fake(dist::RemoteOp remote, const Table& table, pd::ProgramOp startup) {
    const mlir::Location loc = remote.getLoc();
    auto programs = main_->getParentOfType<mlir::ModuleOp>().getOps<pd::ProgramOp>();
    builder_.setInsertionPoint(*programs.begin());
    pd::VarOp::create(builder_, loc, builder_.getStringAttr(table.name),
                      mlir::TypeAttr::get(remote.getOutput().getType()), builder_.getUnitAttr());
    for (pd::ProgramOp program : {main_, startup}) {
      declarations_.declare(program.getBodyBlock(), table.name, table.whole);
      declarations_.find(program.getBodyBlock(), table.name).setPersistable(true);
    }
    // The framework's start-up ends with the barrier of the pulls, which stays after.
    builder_.setInsertionPointToStart(startup.getBodyBlock());
    for (mlir::Operation& op : *startup.getBodyBlock())
      if (llvm::isa<pd::DeclOp>(op)) builder_.setInsertionPointAfter(&op);
    Value nothing =
        declarations_
            .create(builder_, loc, "fake_init", {}, {{"Out", {{table.name, table.whole}}}},
                    {builder_.getNamedAttr("shape",
                                           builder_.getDenseI64ArrayAttr(table.whole.getShape()))},
                    pd::kForward)
            .output("Out");
    pd::SetOp::create(builder_, loc,
                      mlir::FlatSymbolRefAttr::get(builder_.getContext(), table.name), nothing);
  }

  // One lookup, with the blocks of the table: their names, the number of rows of each
  // (`height_sections`), and where each is. The op sends an id to the server of its block by these
  // sections.
  LogicalResult lookUp(dist::CompositeOp composite, const Table& table, Value stands) {
    mlir::Block& body = composite.getBody().front();
    auto request = llvm::dyn_cast<dist::LookupOp>(body.front());
    auto ids =
        request ? llvm::dyn_cast<mlir::BlockArgument>(request.getIds()) : mlir::BlockArgument();
    if (!ids || composite->getNumResults() != 1) return composite.emitError("export: is no lookup");
    llvm::SmallVector<llvm::StringRef> endpoints = tables_.endpointsOf(table);
    std::vector<std::string> blocks;
    llvm::SmallVector<int64_t> heights;
    for (const Block& block : table.blocks) {
      blocks.push_back(table.blockName(block));
      heights.push_back(block.rows);
    }
    llvm::SmallVector<llvm::StringRef> names(blocks.begin(), blocks.end());
    auto named = [&](llvm::StringRef name, mlir::Attribute value) {
      return builder_.getNamedAttr(name, value);
    };
    const int64_t padding = request.getPadding() ? static_cast<int64_t>(*request.getPadding()) : -1;
    builder_.setInsertionPoint(composite);
    mlir::OpResult old = composite->getResult(0);
    pd::OpView made = declarations_.create(
        builder_, composite.getLoc(), "distributed_lookup_table",
        {{"Ids", {composite.getInputs()[ids.getArgNumber()]}}, {"W", {stands}}},
        {{"Outputs", {{dist::nameOf(old).str(), old.getType()}}}},
        {named("table_names", builder_.getStrArrayAttr(names)),
         named("height_sections", builder_.getDenseI64ArrayAttr(heights)),
         named("endpoints", builder_.getStrArrayAttr(endpoints)),
         named("padding_idx", builder_.getI64IntegerAttr(padding)),
         named("trainer_id", builder_.getI32IntegerAttr(static_cast<int32_t>(rank_))),
         named("lookup_table_version", builder_.getStringAttr(composite.getOp()))},
        pd::kForward);
    old.replaceAllUsesWith(made.output("Outputs"));
    composite.erase();
    return mlir::success();
  }

  const Tables& tables_;
  int64_t rank_;
  pd::ProgramOp main_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  llvm::SetVector<const Table*> faked_;
};

}  // namespace

LogicalResult translateLookups(const Tables& tables, int64_t rank, pd::ProgramOp main,
                               pd::ProgramOp startup) {
  return Translation(tables, rank, main).run(startup);
}

}  // namespace dtranspile

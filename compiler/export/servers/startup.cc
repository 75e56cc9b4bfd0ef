#include "compiler/export/servers/startup.h"

#include "compiler/export/edit.h"
#include "compiler/export/servers/round_plan.h"
#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

bool computesOnly(Operation* op) {
  if (llvm::isa<pd::GetOp, pd::UndefOp, pd::InputOp, dist::SliceOp>(op)) return true;
  if (!pd::OpView::isFrameworkOp(op) || op->getNumRegions() != 0) return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return spec && (spec->effects & ~pd::kRandom) == pd::kPure;
}

void eraseUnused(mlir::Block& block) {
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && op.getNumResults() != 0 && computesOnly(&op)) op.erase();
}

// The start-up program of one server: every variable that is set to a part by dist.slice is set to
// this server's blocks instead. A constant is made in the size of the block; everything else is
// drawn or computed as a whole and cut, since a draw of a part is not a part of the draw.
class StartupWriter {
 public:
  StartupWriter(pd::ProgramOp startup, const Tables& tables, int64_t server)
      : startup_(startup), tables_(tables), server_(server), builder_(startup.getContext()) {}

  // A server draws each table whole, as the single-device program does, and keeps its blocks: then
  // all servers together have what one device would have, whatever the generator.
  LogicalResult run() {
    mlir::Block& block = *startup_.getBodyBlock();
    declareAnew(block);
    for (auto set : llvm::make_early_inc_range(block.getOps<pd::SetOp>()))
      if (const Table* table = tables_.find(set.getVar()))
        if (mlir::failed(setBlocks(set, *table))) return mlir::failure();
    LogicalResult good = mlir::success();
    startup_.walk([&](Operation* op) {
      auto get = llvm::dyn_cast<pd::GetOp>(op);
      auto set = llvm::dyn_cast<pd::SetOp>(op);
      llvm::StringRef name = get ? get.getVar() : set ? set.getVar() : llvm::StringRef();
      const Table* table = name.empty() ? nullptr : tables_.find(name);
      if (table && (get || set->getBlock() != &block))
        good = op->emitError("export: start-up reads '")
               << name
               << "', or sets it inside of control flow: servers have blocks of it; set it "
                  "at the top, once";
    });
    eraseUnused(block);
    return good;
  }

 private:
  // Only what servers keep outlives start-up.
  // Where a table is cut, its whole value needs another name: the framework has one variable for
  // each name, and the name is taken by the block on this server.
  void declareAnew(mlir::Block& block) {
    for (auto decl : llvm::make_early_inc_range(block.getOps<pd::DeclOp>())) decl.erase();
    for (auto var : startup_->getParentOfType<mlir::ModuleOp>().getOps<pd::VarOp>()) {
      declarations_.declare(&block, var.getSymName(), var.getType());
      declarations_.find(&block, var.getSymName()).setPersistable(true);
    }
    llvm::StringMap<std::string>
        others;  // results with the name of a variable that is set to blocks
    for (Operation& op : block) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      renameResults(&op, [&](mlir::OpResult result, llvm::StringRef name) {
        std::string here = name.str();
        const Table* table = tables_.find(name);
        if (table && table->isCut() && declarations_.find(&block, name)) {
          std::string& other = others[name];
          if (other.empty()) other = declarations_.freshName(&block, (name + ".whole").str());
          here = other;
        }
        declarations_.declare(&block, here, result.getType());
        return here;
      });
    }
  }

  // The slice must be the cut of the table: along dim 0, of its extent, in its blocks. Anything
  // else has no counterpart among the framework's variables.
  LogicalResult setBlocks(pd::SetOp set, const Table& table) {
    Value whole = set.getValue();
    if (auto slice = whole.getDefiningOp<dist::SliceOp>()) {
      if (slice.getDim() != 0 || slice.getLayout().getExtent() != table.whole.getDimSize(0) ||
          (slice.getLayout().getKind() != dist::LayoutKind::Even &&
           slice.getLayout().getKind() != dist::LayoutKind::Cyclic &&
           slice.getLayout().getPer() != table.blocks.front().rows))
        return slice.emitError("export: is cut otherwise than '") << table.name << "'";
      whole = slice.getInput();
    } else if (table.isCut()) {
      return set.emitError("export: start-up sets '")
             << table.name
             << "', which is cut into blocks, to something else than a dist.slice of "
                "its whole value";
    }
    builder_.setInsertionPoint(set);
    for (const Block* block : table.on(server_))
      setVariable(builder_, declarations_, set.getLoc(), table.blockName(*block),
                  part(set.getLoc(), whole, table, *block), pd::kForward);
    set.erase();
    return mlir::success();
  }

  // A constant is made in the extents of the block; of anything else the rows are sliced.
  Value part(mlir::Location loc, Value whole, const Table& table, const Block& block) {
    if (!table.isCut()) return whole;
    const std::vector<std::pair<std::string, mlir::Type>> out = {
        {table.blockName(block), table.typeOf(block)}};
    Operation* maker = whole.getDefiningOp();
    if (maker && pd::OpView::isFrameworkOp(maker) && pd::OpView(maker).type() == "fill_constant" &&
        maker->getNumOperands() == 0) {
      mlir::NamedAttrList attributes(maker->getAttrOfType<mlir::DictionaryAttr>("attrs"));
      attributes.set("shape", builder_.getDenseI64ArrayAttr(table.typeOf(block).getShape()));
      return declarations_
          .create(builder_, loc, "fill_constant", {}, {{"Out", out}}, attributes.getAttrs(),
                  pd::OpView(maker).role())
          .output("Out");
    }
    const auto ints = [&](int64_t value) {
      return builder_.getDenseI32ArrayAttr({static_cast<int32_t>(value)});
    };
    return declarations_
        .create(builder_, loc, "slice", {{"Input", {whole}}}, {{"Out", out}},
                {builder_.getNamedAttr("axes", ints(0)),
                 builder_.getNamedAttr("starts", ints(block.begin)),
                 builder_.getNamedAttr("ends", ints(block.begin + block.rows))},
                pd::kForward)
        .output("Out");
  }

  pd::ProgramOp startup_;
  const Tables& tables_;
  int64_t server_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
};

}  // namespace

// Liveness over variables to a fixed point, backwards: whatever does not lead to a variable that
// the server keeps is not computed.
void dropForeignValues(pd::ProgramOp startup, llvm::StringSet<>& kept) {
  mlir::Block& block = *startup.getBodyBlock();
  // A variable that is read is kept, and what sets it may read others.
  for (bool more = true; more;) {
    more = false;
    for (Operation& op : llvm::reverse(block)) {
      bool wanted = !computesOnly(&op);
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) wanted = kept.contains(set.getVar());
      if (!wanted) continue;
      llvm::SmallVector<Value> open = takenBy(&op);
      while (!open.empty()) {
        Operation* maker = open.pop_back_val().getDefiningOp();
        if (!maker) continue;
        forVariables(maker, [&](llvm::StringRef name, bool) { more |= kept.insert(name).second; });
        open.append(takenBy(maker));
      }
      forVariables(&op, [&](llvm::StringRef name, bool) { more |= kept.insert(name).second; });
    }
  }
  for (auto set : llvm::make_early_inc_range(block.getOps<pd::SetOp>()))
    if (!kept.contains(set.getVar())) set.erase();
  eraseUnused(block);
}

mlir::LogicalResult writeStartup(pd::ProgramOp startup, const Tables& tables, int64_t server) {
  return StartupWriter(startup, tables, server).run();
}

}  // namespace dtranspile

#include "compiler/export/servers/tables.h"

#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "runtime/exec/layout.h"

namespace dtranspile {
namespace {

exec::Layout layoutFor(dist::LayoutAttr layout, llvm::StringRef name) {
  exec::Layout cut;
  cut.kind = layout.getKind() == dist::LayoutKind::Hashed ? exec::LayoutKind::kHashed
                                                          : exec::LayoutKind::kBlocks;
  cut.extent = layout.getExtent();
  cut.per = layout.getPer();
  cut.first = layout.getFirst();
  cut.name = name.str();
  return cut;
}

// Blocks of a layout over `servers` servers. Even parts are blocks as well.
// The same numbers as the runtime's (exec::Parts): an exported job and one that runs natively put
// the same rows on the same server.
std::vector<Block> blocksOf(dist::LayoutAttr layout, llvm::StringRef name, int64_t servers) {
  exec::Layout cut = layoutFor(layout, name);
  if (layout.getKind() == dist::LayoutKind::Even) {
    cut.per = std::max<int64_t>(1, llvm::divideCeil(layout.getExtent(), servers));
    cut.first = 0;
  }
  const exec::Parts parts(cut, servers);
  std::vector<Block> blocks;
  for (int64_t number = 0; number < parts.blocks(); ++number) {
    const exec::Parts::Block one = parts.block(number);
    blocks.push_back({number, one.begin, one.extent, one.part});
  }
  return blocks;
}

mlir::RankedTensorType withRows(mlir::RankedTensorType type, int64_t rows) {
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape[0] = rows;
  return mlir::RankedTensorType::get(shape, type.getElementType());
}

std::string numbered(const std::string& name, const char* what, int64_t number) {
  return name + what + std::to_string(number);
}

}  // namespace

std::vector<const Block*> Table::on(int64_t server) const {
  std::vector<const Block*> owned;
  for (const Block& block : blocks)
    if (block.server == server) owned.push_back(&block);
  return owned;
}

std::string Table::blockName(const Block& block) const {
  const bool alone = !isCut() || (!travels && on(block.server).size() == 1);
  return alone ? name : numbered(name, ".block", block.number);
}

std::string Table::gradientName(const Block& block) const {
  return isCut() ? numbered(gradient, ".block", block.number) : gradient;
}

std::string Table::sentName(const Block& block, int64_t trainer) const {
  const std::string name = gradientName(block);
  return trainer < 0 ? name : numbered(name, ".trainer_", trainer);
}

mlir::RankedTensorType Table::typeOf(const Block& block) const {
  return withRows(whole, block.rows);
}

mlir::Type Table::gradientTypeOf(const Block& block) const {
  mlir::RankedTensorType type = withRows(pd::tensorOf(gradientType), block.rows);
  if (llvm::isa<pd::RowsType>(gradientType)) return pd::RowsType::get(type.getContext(), type);
  return type;
}

// The role that some communicator of kind rpc names as its server.
dist::RoleOp servingRole(mlir::ModuleOp job) {
  for (auto comm : job.getOps<dist::CommOp>())
    if (comm.getKind() == dist::CommKind::Rpc)
      if (auto role = llvm::dyn_cast_or_null<dist::RoleOp>(
              mlir::SymbolTable::lookupSymbolIn(job, comm.getServerAttr())))
        return role;
  return {};
}

// Variables of the server role with their blocks, and which trainers' gradients they get, as the
// framework's transpiler names them.
mlir::FailureOr<Tables> Tables::of(mlir::ModuleOp job, std::vector<std::string> endpoints) {
  Tables tables;
  tables.endpoints_ = std::move(endpoints);
  if (mlir::failed(tables.findRoles(job))) return mlir::failure();
  dist::MeshOp mesh = dist::meshOf(tables.serverRole_);
  if (mesh.ranks() != tables.servers())
    return tables.serverRole_.emitError("export: ")
           << mesh.ranks() << " servers need as many endpoints, not " << tables.servers();
  for (auto var : tables.serverRole_.getBody().front().getOps<pd::VarOp>())
    if (mlir::failed(tables.addVariable(var, mesh))) return mlir::failure();
  if (mlir::failed(tables.readTrainers())) return mlir::failure();
  return tables;
}

// One role that serves, and one that asks: the framework knows no third one.
mlir::LogicalResult Tables::findRoles(mlir::ModuleOp job) {
  serverRole_ = servingRole(job);
  if (!serverRole_) return job.emitError("export: the job has no role that serves others");
  for (auto role : job.getOps<dist::RoleOp>()) {
    if (role == serverRole_) continue;
    if (trainerRole_)
      return role.emitError("export: jobs of servers and trainers are exported; @")
             << role.getSymName() << " is a role beside them";
    trainerRole_ = role;
  }
  if (!trainerRole_) return serverRole_.emitError("export: nobody asks this role");
  for (dist::RoleOp role : {serverRole_, trainerRole_})
    if (!dist::meshOf(role)) return role.emitError("has no mesh");
  for (auto comm : job.getOps<dist::CommOp>())
    if (comm->hasAttr(dist::kSendingAttr))
      return comm.emitError(
          "export: gradients wait in queues of the trainer (max_merge_var_num, send_queue_size and "
          "their like): exported programs run without the framework's communicator, and send each "
          "of them at once; leave these fields at their defaults");
  trainers_ = dist::meshOf(trainerRole_).ranks();
  serverRole_.walk(
      [&](dist::ServeOp serve) { rounds_ = serve.getMode() == dist::ServeMode::Sync; });
  return mlir::success();
}

// Cut along one axis, or whole on the only server.
mlir::LogicalResult Tables::addVariable(pd::VarOp var, dist::MeshOp mesh) {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  mlir::RankedTensorType local = pd::tensorOf(var.getType());
  dist::AxisRelAttr cut;
  for (mlir::StringAttr axis : mesh.getAxes().getAsRange<mlir::StringAttr>()) {
    dist::AxisRelAttr state = relation ? relation.lookup(axis) : dist::AxisRelAttr();
    if (!state || state.getState() != dist::StateKind::Split) continue;
    if (cut || *mesh.sizeOf(axis) != mesh.ranks())
      return var.emitError("export: '") << var.getSymName()
                                        << "' is cut along one of several axes of the servers: the "
                                           "framework's servers stand in one row";
    cut = state;
  }
  if (!cut) return mlir::success();
  dist::LayoutAttr layout = cut.getLayout();
  if (!layout && local && cut.getDim() == 0 && !local.isDynamicDim(0))
    layout = dist::LayoutAttr::even(var.getContext(), local.getDimSize(0) * mesh.ranks());
  // The framework keeps rows by number modulo servers in tables of their own kind, which its sgd
  // alone updates. Where a row lies changes no value: they are exported as blocks.
  if (layout && layout.getKind() == dist::LayoutKind::Cyclic)
    layout = dist::LayoutAttr::get(
        var.getContext(), dist::LayoutKind::Blocks, layout.getExtent(),
        static_cast<int64_t>(llvm::divideCeil(layout.getExtent(), servers())), 0);
  if (!layout || cut.getDim() != 0 || !llvm::isa<mlir::RankedTensorType>(var.getType()))
    return var.emitError("export: '")
           << var.getSymName()
           << "' is cut otherwise than into blocks of rows, which the framework's servers hold";
  Table table;
  table.name = var.getSymName().str();
  table.whole = withRows(local, layout.getExtent());
  table.blocks = blocksOf(layout, table.name, servers());
  numbers_[table.name] = tables_.size();
  tables_.push_back(std::move(table));
  return mlir::success();
}

// Tables are what trainers push to and pull from. A variable that is whole on the only server
// becomes a table of one block here; what no trainer asks for stays a variable of the servers.
mlir::LogicalResult Tables::readTrainers() {
  mlir::LogicalResult good = mlir::success();
  std::vector<std::string> pushed;
  trainerRole_.walk([&](mlir::Operation* op) {
    auto push = llvm::dyn_cast<dist::PushOp>(op);
    auto pull = llvm::dyn_cast<dist::PullOp>(op);
    if ((!push && !pull) || mlir::failed(good)) return;
    llvm::StringRef name = (push ? push.getVar() : pull.getVar()).getLeafReference().getValue();
    auto found = numbers_.find(name);
    if (found == numbers_.end()) {
      auto var = mlir::SymbolTable::lookupSymbolIn(serverRole_, name);
      auto local =
          var ? pd::tensorOf(llvm::cast<pd::VarOp>(var).getType()) : mlir::RankedTensorType();
      if (servers() > 1 || !local || !local.hasStaticShape() || local.getRank() == 0) {
        good = op->emitError("export: '")
               << name
               << "' lies whole on every server: the framework asks one server for a "
                  "block; cut it into blocks";
        return;
      }
      Table table;
      table.name = name.str();
      table.whole = local;
      table.blocks = {{0, 0, local.getDimSize(0), 0}};
      found = numbers_.try_emplace(name, tables_.size()).first;
      tables_.push_back(std::move(table));
    }
    Table& table = tables_[found->second];
    table.travels = true;
    if (!push) return;
    if (llvm::is_contained(pushed, table.name)) return;
    pushed.push_back(table.name);
    good = addPush(push);
  });
  if (mlir::failed(good)) return mlir::failure();
  // In the order of the pushes; the others after them.
  std::vector<Table> ordered;
  for (const std::string& name : pushed) ordered.push_back(tables_[numbers_.lookup(name)]);
  for (Table& table : tables_)
    if (!llvm::is_contained(pushed, table.name)) ordered.push_back(std::move(table));
  tables_ = std::move(ordered);
  for (auto [number, table] : llvm::enumerate(tables_)) numbers_[table.name] = number;
  return mlir::success();
}

// The gradient has the name that the trainers' program gives it. Where another one has it already,
// or a variable does, it is named by its table.
mlir::LogicalResult Tables::addPush(dist::PushOp push) {
  Table& table = tables_[numbers_.lookup(push.getVar().getLeafReference().getValue())];
  table.merge = push.getMerge();
  table.gradientType = push.getInput().getType();
  if (table.merge == dist::Merge::Each && rounds_)
    return push.emitError(
        "export: `merge each` belongs to asynchronous modes, and these servers have rounds; push "
        "with mean or sum");
  mlir::RankedTensorType tensor = pd::tensorOf(table.gradientType);
  if (!tensor || tensor.getRank() == 0)
    return push.emitError(
               "export: pushes of tensors and of SelectedRows are sent by the "
               "framework, not ")
           << table.gradientType;
  std::string name = dist::nameOf(push.getInput()).str();
  auto taken = [&](llvm::StringRef one) {
    return one.empty() || mlir::SymbolTable::lookupSymbolIn(trainerRole_, one) ||
           mlir::SymbolTable::lookupSymbolIn(serverRole_, one) ||
           llvm::any_of(tables_, [&](const Table& other) { return other.gradient == one; });
  };
  if (taken(name)) name = table.name + "@GRAD";
  for (int k = 0; taken(name); ++k) name = table.name + "@GRAD_" + std::to_string(k);
  table.gradient = name;
  return mlir::success();
}

llvm::SmallVector<llvm::StringRef> Tables::endpointsOf(const Table& table) const {
  llvm::SmallVector<llvm::StringRef> list;
  for (const Block& block : table.blocks) list.push_back(endpoints_[block.server]);
  return list;
}

const Table* Tables::find(llvm::StringRef name) const {
  auto found = numbers_.find(name);
  return found == numbers_.end() ? nullptr : &tables_[found->second];
}

}  // namespace dtranspile

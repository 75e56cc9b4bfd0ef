// What trainers ask of servers, in the framework's operators, where it stands in the text.
#include "compiler/export/collective/collective.h"
#include "compiler/export/edit.h"
#include "compiler/export/servers/lookups.h"
#include "compiler/export/servers/reductions.h"
#include "compiler/export/servers/servers.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {
namespace {

using mlir::LogicalResult;
using mlir::Value;

// One pass over the top of the program, in which pushes and pulls of a phase are gathered until its
// end is met. Between `send` and `recv` the framework orders by control variables: the end of the
// pushes takes those of all sends, each recv takes that of the end, and what was received stands
// after the end of the pulls. A phase without its end would leave servers waiting for ever, and is
// refused.
class TrainerProgram {
 public:
  TrainerProgram(const Tables& tables, int64_t rank, pd::ProgramOp program)
      : tables_(tables), rank_(rank), program_(program), builder_(program.getContext()) {}

  // After the pass no request may be left: one inside of control flow is seen then, and refused.
  LogicalResult run() {
    mlir::Block& block = *program_.getBodyBlock();
    for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
      builder_.setInsertionPoint(&op);
      LogicalResult done = mlir::success();
      if (auto push = llvm::dyn_cast<dist::PushOp>(op)) done = sendGradient(push);
      else if (auto pull = llvm::dyn_cast<dist::PullOp>(op)) done = receive(pull);
      else if (auto phase = llvm::dyn_cast<dist::PhaseOp>(op))
        done = phase.getKind() == dist::PhaseKind::Push ? endPushes(phase) : endPulls(phase);
      if (mlir::failed(done)) return mlir::failure();
    }
    if (!pulled_.empty())
      return pulled_.front().op.emitError(
          "export: its phase has no end: the framework's servers "
          "wait for the end of the pulls");
    if (!tables_.rounds() && received_) endStartup();
    if (tables_.rounds() && !sent_.empty())
      return program_.emitError(
          "export: its pushes have no end: the framework's servers wait for it");
    renameInRoles();
    LogicalResult good = mlir::success();
    program_.walk([&](mlir::Operation* op) {
      if (llvm::isa<dist::PushOp, dist::PullOp, dist::PhaseOp, dist::LookupOp>(op))
        good = op->emitError("export: ")
               << op->getName()
               << (llvm::isa<dist::LookupOp>(op)
                       ? " stands in no lookup_table: pull the table"
                       : " inside of control flow: the framework's servers wait "
                         "for every trainer in every step");
    });
    return good;
  }

 private:
  using Attributes = std::vector<mlir::NamedAttribute>;
  struct Pulled {
    dist::PullOp op;
    const Table* table;
    llvm::SmallVector<Value> parts;
  };

  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }
  mlir::NamedAttribute names(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> list) {
    return named(name, builder_.getStrArrayAttr(list));
  }
  mlir::NamedAttribute trainerId(int64_t rank) {
    return named("trainer_id", builder_.getI32IntegerAttr(static_cast<int32_t>(rank)));
  }
  mlir::NamedAttribute everyEndpoint() {
    llvm::SmallVector<llvm::StringRef> all(tables_.endpoints().begin(), tables_.endpoints().end());
    return names("endpoints", all);
  }
  // The framework's name for what only orders operations; it has random numbers in this place.
  std::pair<std::string, mlir::Type> order() {
    return {"__control_var@" + std::to_string(orders_++),
            pd::RawType::get(builder_.getContext(), "LOD_TENSOR")};
  }

  // A gradient goes out block by block, under the names that the servers of these blocks know; one
  // `send` carries them. With several trainers each sends under names of its own (`.trainer_k`),
  // and the server adds them up.
  LogicalResult sendGradient(dist::PushOp push) {
    const Table& table = tableOf(push.getVar());
    const int64_t number = tables_.numberOf(rank_);
    Value gradient = push.getInput();
    if (llvm::is_contained(pushedTables_, &table))
      return push.emitError("export: '") << table.name << "' is pushed twice in a step";
    pushedTables_.push_back(&table);
    std::vector<Value> parts;
    std::string sent = table.isCut() ? table.gradient : table.sentName(table.blocks[0], number);
    gradient = called(gradient, sent, push);
    builder_.setInsertionPoint(push);
    if (table.isCut()) parts = split(push.getLoc(), table, gradient, number);
    else parts = {gradient};
    pd::OpView send =
        declarations_.create(builder_, push.getLoc(), "send", {{"X", parts}}, {{"Out", {order()}}},
                             {trainerId(0), names("epmap", tables_.endpointsOf(table)),
                              named("sections", builder_.getDenseI64ArrayAttr({})),
                              names("send_varnames", {}), names("op_role_var", {table.name, sent})},
                             pd::kRpc);
    sent_.push_back(send.output("Out"));
    sentOf_[&table] = sent_.back();
    push.erase();
    return mlir::success();
  }

  // The same value in a variable of that name: the op that makes it writes there, where it can.
  // The op that makes the value may write it under the wanted name where nothing else depends on
  // the old one: not an op with regions, whose blocks write by that name, not one in another block,
  // none that was renamed before, and no variable's name, which readers look up. Else the value is
  // copied.
  Value called(Value value, const std::string& name, dist::PushOp push) {
    if (dist::nameOf(value) == name) return value;
    mlir::Operation* maker = value.getDefiningOp();
    const std::string old = dist::nameOf(value).str();
    const bool writes = maker && pd::OpView::isFrameworkOp(maker) && maker->getNumRegions() == 0 &&
                        maker->getBlock() == push->getBlock() && !renamed_.contains(value) &&
                        !mlir::SymbolTable::lookupSymbolIn(program_->getParentOp(), old);
    renamed_.insert(value);
    if (!writes)
      return declarations_
          .create(builder_, push.getLoc(), "assign", {{"X", {value}}},
                  {{"Out", {{name, value.getType()}}}}, {}, pd::kBackward)
          .output("Out");
    renameResults(maker, [&](mlir::OpResult result, llvm::StringRef now) {
      return result == value ? name : now.str();
    });
    if (pd::DeclOp original = declarations_.find(maker->getBlock(), old))
      declarations_.copy(original, name);
    else declarations_.declare(maker->getBlock(), name, value.getType());
    newNames_[builder_.getStringAttr(old)] = builder_.getStringAttr(name);
    return value;
  }

  // Rows cut at the bounds of the table's blocks: dense by reference, SelectedRows with their
  // numbers.
  std::vector<Value> split(mlir::Location loc, const Table& table, Value gradient, int64_t number) {
    std::vector<std::pair<std::string, mlir::Type>> parts;
    llvm::SmallVector<int64_t> rows;
    for (const Block& block : table.blocks) {
      parts.push_back({table.sentName(block, number), table.gradientTypeOf(block)});
      rows.push_back(block.rows);
    }
    if (llvm::isa<pd::RowsType>(gradient.getType()))
      return declarations_
          .create(builder_, loc, "split_selected_rows", {{"X", {gradient}}}, {{"Out", parts}},
                  {named("height_sections", builder_.getDenseI64ArrayAttr(rows))}, pd::kDist)
          .outputs("Out");
    llvm::SmallVector<int32_t> sections(rows.begin(), rows.end());
    return declarations_
        .create(builder_, loc, "split_byref", {{"X", {gradient}}}, {{"Out", parts}},
                {named("sections", builder_.getDenseI32ArrayAttr(sections)),
                 named("num", builder_.getI32IntegerAttr(0))},
                pd::kDist)
        .outputs("Out");
  }

  LogicalResult endPushes(dist::PhaseOp phase) {
    barrier_ =
        declarations_
            .create(builder_, phase.getLoc(), "send_barrier", {{"X", sent_}}, {{"Out", {order()}}},
                    {everyEndpoint(), trainerId(rank_),
                     named("half_async", builder_.getBoolAttr(false))},
                    pd::kRpc)
            .output("Out");
    sent_.clear();
    phase.erase();
    return mlir::success();
  }

  // A pull of the step says which gradient belongs to the table (`op_role_var`), as the framework's
  // own transpiler does; in start-up there is none, and nothing to wait for.
  LogicalResult receive(dist::PullOp pull) {
    const Table& table = tableOf(pull.getVar());
    if (llvm::any_of(pulled_, [&](const Pulled& one) { return one.table == &table; }))
      return pull.emitError("export: '") << table.name << "' is pulled twice in a step";
    std::vector<std::pair<std::string, mlir::Type>> parts;
    for (const Block& block : table.blocks)
      parts.push_back({table.blockName(block), table.typeOf(block)});
    Attributes attributes = {names("epmap", tables_.endpointsOf(table)), trainerId(rank_),
                             names("recv_varnames", {}), names("varnames", {})};
    std::vector<Value> after;
    // Without rounds a trainer waits for what it has pushed itself to the same table.
    if (Value own = tables_.rounds() ? barrier_ : sentOf_.lookup(&table)) {
      after.push_back(own);
      const bool pushed = llvm::is_contained(pushedTables_, &table);
      const std::string gradient =
          table.isCut() ? table.gradient : table.sentName(table.blocks[0], tables_.numberOf(rank_));
      if (pushed) attributes.push_back(names("op_role_var", {table.name, gradient}));
    }
    pd::OpView recv = declarations_.create(builder_, pull.getLoc(), "recv", {{"X", after}},
                                           {{"Out", parts}}, attributes, pd::kRpc);
    Pulled one{pull, &table, {}};
    llvm::append_range(one.parts, recv.outputs("Out"));
    if (tables_.rounds()) {
      pulled_.push_back(std::move(one));
      return mlir::success();
    }
    received_ = true;
    one.op.getOutput().replaceAllUsesWith(wholeOf(one));
    one.op.erase();
    return mlir::success();
  }

  // What the framework's start-up ends with in every mode.
  void endStartup() {
    if (program_.getSymName() != "startup") return;
    builder_.setInsertionPointToEnd(program_.getBodyBlock());
    declarations_.create(builder_, program_.getLoc(), "fetch_barrier", {{"X", {}}},
                         {{"Out", {order()}}}, {everyEndpoint(), trainerId(rank_)}, pd::kRpc);
  }

  // The blocks of what was pulled, put together.
  Value wholeOf(Pulled& one) {
    if (!one.table->isCut()) return one.parts.front();
    return declarations_
        .create(builder_, one.op.getLoc(), "concat", {{"X", {one.parts.begin(), one.parts.end()}}},
                {{"Out", {{one.table->name, one.op.getOutput().getType()}}}},
                {named("axis", builder_.getI32IntegerAttr(0))},
                barrier_ || !sent_.empty() ? pd::kDist : pd::kForward)
        .output("Out");
  }

  // After the barrier of the step stands what was received, and the blocks are put together. The
  // start-up program has nothing to order.
  LogicalResult endPulls(dist::PhaseOp phase) {
    std::vector<std::pair<std::string, mlir::Type>> received;
    for (const Pulled& one : pulled_)
      for (Value part : one.parts) received.push_back({pd::nameOf(part).str(), part.getType()});
    std::vector<Value> after;
    if (barrier_) after.push_back(barrier_);
    pd::OpView fetch = declarations_.create(
        builder_, phase.getLoc(), "fetch_barrier", {{"X", after}},
        {{"Out", barrier_ ? received : std::vector<std::pair<std::string, mlir::Type>>{order()}}},
        {everyEndpoint(), trainerId(rank_)}, pd::kRpc);
    unsigned next = 0;
    for (Pulled& one : pulled_) {
      if (barrier_)
        for (Value& part : one.parts) part = fetch.output("Out", next++);
      if (mlir::failed(deliver(one, phase))) return mlir::failure();
    }
    pulled_.clear();
    barrier_ = {};
    phase.erase();
    return mlir::success();
  }

  // What was pulled exists behind the barrier of the pulls only, so a set that stands before it
  // moves there; readers in between would see the old value, and are refused.
  LogicalResult deliver(Pulled& one, dist::PhaseOp phase) {
    Value whole = wholeOf(one);
    for (mlir::Operation* user : llvm::make_early_inc_range(one.op.getOutput().getUsers())) {
      mlir::Operation* top = phase->getBlock()->findAncestorOpInBlock(*user);
      if (!top->isBeforeInBlock(phase)) continue;
      auto set = llvm::dyn_cast<pd::SetOp>(user);
      if (!set || mlir::failed(checkUnread(set, phase)))
        return user->emitError("export: takes '")
               << one.table->name
               << "' before the end of the pulls, where the framework's trainers have it; move it "
                  "after dist.phase pull";
      set->moveBefore(phase);
    }
    one.op.getOutput().replaceAllUsesWith(whole);
    one.op.erase();
    return mlir::success();
  }

  // Whether a variable can be set later, at the end of the phase.
  static LogicalResult checkUnread(pd::SetOp set, dist::PhaseOp phase) {
    for (mlir::Operation* op = set->getNextNode(); op != phase.getOperation();
         op = op->getNextNode()) {
      const bool touches = op->walk([&](mlir::Operation* inner) {
                               auto get = llvm::dyn_cast<pd::GetOp>(inner);
                               auto other = llvm::dyn_cast<pd::SetOp>(inner);
                               return (get && get.getVar() == set.getVar()) ||
                                              (other && other.getVar() == set.getVar())
                                          ? mlir::WalkResult::interrupt()
                                          : mlir::WalkResult::advance();
                             }).wasInterrupted();
      if (touches) return mlir::failure();
    }
    return mlir::success();
  }

  // Gradients that are sent under other names are so in `op_role_var`.
  // `op_role_var` lists gradients by name, and passes of the framework read it.
  void renameInRoles() {
    if (newNames_.empty()) return;
    program_.walk([&](mlir::Operation* op) {
      auto roles = pd::OpView::isFrameworkOp(op)
                       ? llvm::dyn_cast_or_null<mlir::ArrayAttr>(pd::OpView(op).attr("op_role_var"))
                       : mlir::ArrayAttr();
      if (!roles) return;
      llvm::SmallVector<mlir::Attribute> list(roles.begin(), roles.end());
      for (mlir::Attribute& name : list)
        if (mlir::StringAttr other = newNames_.lookup(llvm::dyn_cast<mlir::StringAttr>(name)))
          name = other;
      pd::OpView(op).setAttr("op_role_var", builder_.getArrayAttr(list));
    });
  }

  const Table& tableOf(mlir::SymbolRefAttr name) const {
    return *tables_.find(name.getLeafReference().getValue());
  }

  const Tables& tables_;
  int64_t rank_;
  pd::ProgramOp program_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  std::vector<Value> sent_;  // what orders the pushes of this phase
  llvm::DenseMap<const Table*, Value> sentOf_;
  bool received_ = false;  // without rounds
  Value barrier_;          // of the pushes; null in start-up
  std::vector<Pulled> pulled_;
  llvm::SmallVector<const Table*> pushedTables_;
  llvm::DenseSet<Value> renamed_;
  llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> newNames_;
  int orders_ = 0;
};

}  // namespace

// Specialises the trainer role for the rank, translates lookups first (their composites must still
// be whole), then pushes and pulls, then what is local.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> exportTrainer(const Tables& tables,
                                                                 int64_t rank) {
  dist::RoleOp role = tables.trainerRole();
  dist::MeshOp mesh = dist::meshOf(role);
  SpecializeOptions options;
  options.inlineComposites = false;
  options.verify = false;  // what becomes of it is
  auto module = specialize(role, classOfRank(role, mesh, rank), options);
  if (mlir::failed(module) || mlir::failed(resolveGroups(**module, mesh, "trainers")))
    return mlir::failure();
  const mlir::SymbolTable programs(**module);
  auto main = programs.lookup<pd::ProgramOp>("main");
  if (main &&
      mlir::failed(translateLookups(tables, rank, main, programs.lookup<pd::ProgramOp>("startup"))))
    return mlir::failure();
  for (auto program : (*module)->getOps<pd::ProgramOp>())
    if (mlir::failed(TrainerProgram(tables, rank, program).run())) return mlir::failure();
  // What is left are local operations: coordinates, parts, composites.
  const std::vector<std::string> noRings(static_cast<size_t>(mesh.ranks()));
  if (mlir::failed(exportCollective(**module, rank, noRings))) return mlir::failure();
  return module;
}

}  // namespace dtranspile

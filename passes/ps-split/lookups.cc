#include "passes/ps-split/lookups.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::passes {
namespace {

// A lookup at the top of @main of rows of the value that is used.
bool looksUp(mlir::OpOperand& use, mlir::Block& body) {
  mlir::Operation* op = use.getOwner();
  if (op->getBlock() != &body || !pd::OpView::isFrameworkOp(op)) return false;
  const pd::OpView view(op);
  static constexpr llvm::StringLiteral kLookups[] = {"lookup_table", "lookup_table_v2"};
  if (!llvm::is_contained(kLookups, view.type()) || !view.getBool("is_sparse")) return false;
  mlir::Value ids = view.input("Ids");
  mlir::RankedTensorType type = ids ? pd::tensorOf(ids.getType()) : mlir::RankedTensorType();
  return view.input("W") == use.get() && ids != use.get() && type &&
         (type.getElementType().isInteger(32) || type.getElementType().isInteger(64));
}

// A gradient of a lookup takes the table for its extents only, and so can do with what has no rows.
bool makesGradient(mlir::OpOperand& use, mlir::Block& body) {
  return use.getOwner()->getBlock() == &body && dist::readsExtentsOnly(use);
}

std::vector<pd::GetOp> readsOf(const JobOnAxes& job, const Served& served) {
  std::vector<pd::GetOp> gets;
  pd::ProgramOp(job.main).walk([&](pd::GetOp get) {
    if (get.getVar() == pd::VarOp(served.var).getSymName()) gets.push_back(get);
  });
  return gets;
}

// The op as a composite: its operands, names and attributes, and in its body the request.
// A composite keeps the op's own slots, names and attributes, so that it stands for the op of the
// reference (rung 1), while its body says how its result comes about: by a request for the rows of
// the ids.
void replaceByRequest(mlir::Operation* op, mlir::SymbolRefAttr table,
                      mlir::FlatSymbolRefAttr rounds) {
  const pd::OpView view(op);
  mlir::OpBuilder builder(op);
  llvm::SmallVector<mlir::Attribute> slots;
  llvm::SmallVector<mlir::Value> operands;
  for (const std::string& slot : view.inputSlots())
    if (mlir::Value value = view.input(slot)) {
      slots.push_back(builder.getStringAttr(slot));
      operands.push_back(value);
    }
  const mlir::StringAttr name = pd::nameAttrOf(op->getResult(0));
  auto composite = dist::CompositeOp::create(
      builder, op->getLoc(), op->getResultTypes(), builder.getStringAttr(view.type()),
      builder.getArrayAttr(slots), operands, builder.getStrArrayAttr({"Out"}),
      builder.getArrayAttr({name}), op->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  if (mlir::Attribute source = op->getAttr(dist::kSrcAttr))
    composite->setAttr(dist::kSrcAttr, source);
  mlir::Block* body = builder.createBlock(&composite.getBody());
  mlir::Value ids;
  for (auto [slot, value] : llvm::zip(slots, operands)) {
    mlir::Value inside = body->addArgument(value.getType(), value.getLoc());
    if (llvm::cast<mlir::StringAttr>(slot).getValue() == "Ids") ids = inside;
  }
  const int64_t padding = view.getInt("padding_idx");
  auto rows = dist::LookupOp::create(
      builder, op->getLoc(), op->getResultTypes().front(), ids, table,
      padding == -1 ? mlir::IntegerAttr() : builder.getI64IntegerAttr(padding), name, rounds);
  dist::YieldOp::create(builder, op->getLoc(), mlir::ValueRange{rows.getOutput()});
  op->replaceAllUsesWith(composite.getResults());
  op->erase();
}

}  // namespace

// A matrix that trainers read by lookups alone, at the top of the program, and that has a gradient
// by rows: then no trainer needs the whole of it.
bool isTable(const JobOnAxes& job, const Served& served) {
  mlir::RankedTensorType type = pd::tensorOf(pd::VarOp(served.var).getType());
  if (!served.gradient || !llvm::isa<pd::RowsType>(served.gradient.getType()) || !type ||
      type.getRank() != 2)
    return false;
  mlir::Block& body = *pd::ProgramOp(job.main).getBodyBlock();
  const std::vector<pd::GetOp> gets = readsOf(job, served);
  return !gets.empty() && llvm::all_of(gets, [&](pd::GetOp get) {
    return get->getBlock() == &body && llvm::all_of(get->getUses(), [&](mlir::OpOperand& use) {
             return looksUp(use, body) || makesGradient(use, body);
           });
  });
}

mlir::Operation* takerOfWhole(const JobOnAxes& job, const Served& served) {
  mlir::Block& body = *pd::ProgramOp(job.main).getBodyBlock();
  if (!served.gradient || !llvm::isa<pd::RowsType>(served.gradient.getType())) return nullptr;
  for (pd::GetOp get : readsOf(job, served))
    for (mlir::OpOperand& use : get->getUses())
      if (get->getBlock() != &body || !(looksUp(use, body) || makesGradient(use, body)))
        return use.getOwner();
  return nullptr;
}

// Every read of the table becomes a reference to the servers' variable (dist.remote, which moves
// nothing), and every lookup in it a request for the rows of its ids.
void lookUpOnServers(const JobOnAxes& job, const Served& served, mlir::SymbolRefAttr table,
                     mlir::FlatSymbolRefAttr rounds) {
  mlir::Block& body = *pd::ProgramOp(job.main).getBodyBlock();
  for (pd::GetOp get : readsOf(job, served)) {
    mlir::OpBuilder builder(get);
    auto remote = dist::RemoteOp::create(builder, get.getLoc(), get.getValue().getType(), table);
    llvm::SmallVector<mlir::Operation*> lookups;
    for (mlir::OpOperand& use : get->getUses())
      if (looksUp(use, body)) lookups.push_back(use.getOwner());
    get->replaceAllUsesWith(remote->getResults());
    get->erase();
    for (mlir::Operation* op : llvm::reverse(lookups)) replaceByRequest(op, table, rounds);
  }
}

namespace {

bool isEarlier(mlir::Operation* one, mlir::Operation* other) {
  return !one || (other && one->isBeforeInBlock(other));
}

// Ops that ids are made ready with: nothing but their operands says where they stand.
bool preparesIds(mlir::Operation* op) {
  static constexpr llvm::StringLiteral kTypes[] = {
      "cast",       "reshape",  "reshape2", "squeeze", "squeeze2", "unsqueeze",
      "unsqueeze2", "flatten2", "slice",    "split",   "assign",   "flatten_contiguous_range"};
  return pd::OpView::isFrameworkOp(op) && llvm::is_contained(kTypes, pd::OpView(op).type());
}

// Moves what makes a value in front of `first`, if it can stand there: feeds, and what is made of
// them without anything that `first` or an op behind it gives. One look at each op, however they
// share operands.
void moveBefore(mlir::Value value, mlir::Operation* first) {
  llvm::SetVector<mlir::Operation*> makers;
  const auto ask = [&](mlir::Value of) {
    mlir::Operation* maker = of.getDefiningOp();
    if (maker && !maker->isBeforeInBlock(first)) makers.insert(maker);
  };
  ask(value);
  for (size_t i = 0; i < makers.size(); ++i) {
    mlir::Operation* maker = makers[i];
    if (llvm::isa<pd::InputOp>(maker)) continue;
    if (!preparesIds(maker)) return;
    for (mlir::Value operand : maker->getOperands()) ask(operand);
  }
  llvm::SmallVector<mlir::Operation*> inOrder = makers.takeVector();
  llvm::sort(inOrder, [](auto* one, auto* other) { return one->isBeforeInBlock(other); });
  for (mlir::Operation* maker : inOrder) maker->moveBefore(first);
}

// What makes the ids of a request (a cast, a change of their shape) moves up in front of the first
// request of the group, between which it would stand else.
void moveIdsBefore(dist::CompositeOp request, mlir::Operation* first) {
  for (mlir::Value operand : request->getOperands()) {
    mlir::Operation* maker = operand.getDefiningOp();
    if (first && maker && preparesIds(maker)) moveBefore(operand, first);
  }
}

}  // namespace

// Rows are what they are from the pulls of the last step on, so a request may come as soon as its
// ids are there. In the order of the program; a group begins anew where ids come later than what
// the group before has asked for. A table that is remote goes along: it has no memory.
void gatherLookups(const JobOnAxes& job) {
  mlir::Block& body = *pd::ProgramOp(job.main).getBodyBlock();
  llvm::SmallVector<dist::CompositeOp> requests;
  for (auto composite : body.getOps<dist::CompositeOp>())
    if (!composite.getBody().getOps<dist::LookupOp>().empty()) requests.push_back(composite);
  mlir::Operation *first = nullptr, *last = nullptr;  // of a group; the next one stands behind last
  for (dist::CompositeOp request : requests) {
    moveIdsBefore(request, first);
    mlir::Operation* after = last;
    llvm::SmallVector<mlir::Operation*> tables;
    for (mlir::Value operand : request->getOperands()) {
      mlir::Operation* maker = operand.getDefiningOp();
      if (!maker) continue;
      if (llvm::isa<dist::RemoteOp>(maker)) tables.push_back(maker);
      else if (isEarlier(after, maker)) after = maker;
    }
    // Another group, but where the ids are a feed.
    if (after != last && after && !llvm::isa<pd::InputOp>(after)) first = nullptr;
    for (mlir::Operation* table : tables)
      if (after && after->isBeforeInBlock(table)) table->moveAfter(after), after = table;
      else if (!after) table->moveBefore(&body, body.begin()), after = table;
    if (after) request->moveAfter(after);
    if (!first) first = request;
    last = request;
  }
}

}  // namespace dtranspile::passes

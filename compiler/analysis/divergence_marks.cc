// A value is marked with the axes along which it differs, or may; marks only ever grow. Values are
// visited in the order of the text, so that a straight program takes one walk. What comes round
// again is walked until nothing grows any more: a block that runs in turns (what a turn leaves
// enters the next), and the programs of a role (a variable begins a step as any step may have left
// it). Both end, as there are no more marks than values times axes.
//
// Control flow marks what it guards: where a predicate differs between ranks, so does everything
// that its block computes (control_), and what a block sets does not take the place of the old
// value, as it may not run (weak_).
#include "compiler/analysis/divergence_marks.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile::verify {
namespace {

// The predicates of control flow.
struct ControlRow {
  llvm::StringLiteral type, slot;
};
constexpr ControlRow kControls[] = {{"conditional_block", "Cond"}, {"while", "Condition"}};

}  // namespace

// Null of other ops with blocks.
mlir::Value predicateOf(mlir::Operation* op) {
  for (const ControlRow& row : kControls)
    if (pd::OpView(op).type() == row.type) return pd::OpView(op).input(row.slot);
  return {};
}

// A list of names of the op's first block (captures, written).
std::vector<llvm::StringRef> blockNames(mlir::Operation* op, llvm::StringRef which) {
  std::vector<llvm::StringRef> names;
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  auto block = blocks && !blocks.empty() ? llvm::dyn_cast<mlir::DictionaryAttr>(blocks[0])
                                         : mlir::DictionaryAttr();
  if (auto list = block ? block.getAs<mlir::ArrayAttr>(which) : mlir::ArrayAttr())
    for (auto name : list.getAsValueRange<mlir::StringAttr>()) names.push_back(name);
  return names;
}

// The outer fixed point: programs of a role run one after another in any number of steps, so a
// variable begins a program as any of them, itself included, may have left it.
Divergence::Divergence(dist::RoleOp role) : role_(role), mesh_(dist::meshOf(role)) {
  for (auto [name, size] :
       llvm::zip(mesh_.getAxes().getAsValueRange<mlir::StringAttr>(), mesh_.getSizes()))
    if (axes_.size() < kMostAxes) axes_.push_back({name.str(), size});
  for (auto var : role.getBody().front().getOps<pd::VarOp>())
    start_[var.getSymName()] = declared(var);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto program : role.getBody().front().getOps<pd::ProgramOp>()) {
      now_ = start_;
      visit(*program.getBodyBlock());
      for (auto& entry : now_) {
        Mark joined = start_[entry.getKey()];
        joined.join(entry.getValue());
        changed |= !(joined == start_[entry.getKey()]);
        start_[entry.getKey()] = joined;
      }
    }
  }
}

// Draws differ along their streams; in start-up those without a seed are each rank's own.
Mark Divergence::drawn(mlir::Operation* op) {
  pd::OpView view(op);
  auto streams = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
  const bool startup = op->getParentOfType<pd::ProgramOp>().getSymName() == "startup";
  const bool seeded = view.spec()->attribute("seed") && view.getInt("seed") != 0;
  const bool alike = seeded || (streams && !startup);
  return own((alike ? 0 : all()) | (streams ? bits(streams) : 0), op);
}

// What a server sees of a variable is as its declaration says; of one that is not declared nothing
// is known.
Mark Divergence::blocksOf(llvm::StringRef name, mlir::Operation* op) {
  for (auto var : role_.getBody().front().getOps<pd::VarOp>())
    if (var.getSymName() == name) return declared(var);
  return own(all(), op, false);
}

// A strong set replaces the mark, a weak one (in a block that may not run) adds to it.
void Divergence::visitSet(pd::SetOp set) {
  Mark mark = of(set.getValue());
  mark.join(control_);
  // On some of its ranks only: the others have another value, or none.
  if (auto on = set->getParentOfType<dist::OnOp>()) {
    dist::SelAttr at;
    for (auto var : role_.getBody().front().getOps<pd::VarOp>())
      if (var.getSymName() == set.getVar()) at = var->getAttrOfType<dist::SelAttr>(dist::kAtAttr);
    const dist::Guard guard = dist::guardOf(set);
    if (!guard.partly.empty() || !at || !guard.where.contains(at))
      mark.join(own(bits(guard.where), on, false));
  }
  Mark& held = now_[set.getVar()];
  if (weak_) held.join(mark);
  else held = mark;
}

// Operands enter as captures, by position; written values leave under their names, and enter the
// next turn under them.
void Divergence::visitControl(mlir::Operation* op) {
  const Mark outside = control_, all = ofOperands(op);
  const bool weak = std::exchange(weak_, true);
  mlir::Value predicate = predicateOf(op);
  // Of other control flow any operand may decide.
  control_.join(predicate ? of(predicate) : all);
  const std::vector<llvm::StringRef> captures = blockNames(op, "captures"),
                                     written = blockNames(op, "written");
  std::vector<mlir::Value> operands = pd::OpView(op).inputs("$capture");
  const bool simple = predicate && operands.size() == captures.size() &&
                      op->getRegion(0).getNumArguments() == captures.size();
  llvm::StringMap<Mark> left;
  for (mlir::Region& region : op->getRegions()) {
    if (region.empty()) continue;
    for (auto [i, argument] : llvm::enumerate(region.getArguments()))
      widen(argument, simple ? of(operands[i]) : all);
    mlir::Operation* yield = region.front().getTerminator();
    repeat(region, [&] {
      bool changed = false;
      for (auto [name, value] : llvm::zip(written, yield->getOperands()))
        left[name].join(of(value));
      const Mark given = ofOperands(yield);
      for (auto [i, argument] : llvm::enumerate(region.getArguments()))
        if (!simple) changed |= widen(argument, given);
        else if (auto at = left.find(captures[i]); at != left.end())
          changed |= widen(argument, at->getValue());
      if (predicate)
        if (auto at = left.find(pd::nameOf(predicate)); at != left.end()) {
          changed |= (at->getValue().differs & ~control_.differs) != 0 ||
                     (at->getValue().unknown & ~control_.unknown) != 0;
          control_.join(at->getValue());
        }
      return changed;
    });
  }
  for (mlir::OpResult result : op->getResults()) {
    auto at = left.find(pd::nameOf(result));
    Mark mark = simple && at != left.end() ? at->getValue() : all;
    for (auto [name, operand] : llvm::zip(captures, operands))
      if (name == pd::nameOf(result)) mark.join(of(operand));
    if (!simple)
      for (auto& entry : left) mark.join(entry.getValue());
    mark.join(control_);
    marks_[result] = mark;
  }
  control_ = outside;
  weak_ = weak;
}

// What both bodies yield, and, unless they yield the same value, a difference along the axes of the
// guard.
void Divergence::visitOn(dist::OnOp on) {
  const bool weak = std::exchange(weak_, true);
  for (auto [argument, input] : llvm::zip(on.getBody().getArguments(), on.getInputs()))
    marks_[argument] = of(input);
  for (mlir::Region* region : {&on.getBody(), &on.getOtherwise()})
    if (!region->empty()) visit(region->front());
  weak_ = weak;
  auto yielded = [](mlir::Region& region) {
    return llvm::cast<dist::YieldOp>(region.front().getTerminator()).getValues();
  };
  for (auto [i, result] : llvm::enumerate(on.getResults())) {
    Mark mark = of(yielded(on.getBody())[i]);
    if (!on.getOtherwise().empty()) {
      mlir::Value other = yielded(on.getOtherwise())[i];
      mark.join(of(other));
      if (other != yielded(on.getBody())[i]) mark.join(own(bits(on.getWhere()), on));
    }
    marks_[result] = mark;
  }
}

// A loop of the job: what it hands on from turn to turn, from `first` on.
void Divergence::visitLoop(mlir::Operation* op, mlir::ValueRange inits, unsigned first,
                           Mark turns) {
  mlir::Region& region = op->getRegion(0);
  const Mark outside = control_;
  const bool weak = std::exchange(weak_, true);
  control_.join(turns);
  for (auto [argument, init] : llvm::zip(region.getArguments().drop_front(first), inits))
    widen(argument, of(init));
  if (first) marks_[region.getArgument(0)] = turns;
  mlir::Operation* yield = region.front().getTerminator();
  repeat(region, [&] {
    bool changed = false;
    for (auto [argument, value] :
         llvm::zip(region.getArguments().drop_front(first), yield->getOperands()))
      changed |= widen(argument, of(value));
    return changed;
  });
  control_ = outside;
  weak_ = weak;
  for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands())) {
    Mark mark = of(value);
    mark.join(turns);
    marks_[result] = mark;
  }
}

// Reductions, broadcasts and gathers end equal on all members, so that the marks of the
// communicator's axes go; scatters and exchanges leave every member its own part. A pull between
// rounds is one value for all; from servers without rounds each rank may find another one.
void Divergence::visitCommunication(mlir::Operation* op, dist::CommOp comm) {
  const uint64_t axes = comm ? bits(comm.getAxes()) : 0;
  // An operand and its result, also of a started operation, whose results are marked alike.
  Mark mark = ofOperands(op);
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<dist::AllReduceOp, dist::ReduceOp, dist::BroadcastOp, dist::AllGatherOp>(
          [&](mlir::Operation*) { mark.clear(axes); })
      .Case<dist::ReduceScatterOp, dist::AllToAllOp>(
          [&](mlir::Operation*) { mark.join(own(axes, op)); })
      .Case([&](dist::PullOp) {
        auto serve = llvm::dyn_cast_or_null<dist::RoleOp>(
            mlir::SymbolTable::lookupSymbolIn(dist::jobOf(op), comm.getServerAttr().getAttr()));
        bool sync = false;
        if (serve)
          serve.walk([&](dist::ServeOp loop) { sync = loop.getMode() == dist::ServeMode::Sync; });
        if (!sync) mark.join(own(all(), op));
      })
      .Case<dist::TransferOp, dist::LookupOp>([](mlir::Operation*) {})
      .Default([&](mlir::Operation*) { mark.join(own(all(), op, false)); });
  if (!comm || op->getNumResults() != op->getNumOperands()) return give(op, mark);
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
    if (llvm::isa<dist::PendingType>(result.getType())) return give(op, mark);
    Mark one = of(operand);
    one.differs &= mark.differs;
    one.unknown &= mark.unknown;
    if (llvm::isa<dist::ReduceScatterOp, dist::AllToAllOp>(op)) one.join(own(axes, op));
    marks_[result] = one;
  }
}

// The transfer function: feeds differ along the axes that they are cut over, coordinates and parts
// along their own, communication makes its results equal along its axes, and everything else has
// what its operands have.
void Divergence::visit(mlir::Operation* op) {
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](pd::InputOp input) {
        auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
        Mark mark;
        if (batch)
          for (mlir::StringAttr name : batch.getAxes()) mark.differs |= bit(name.getValue());
        mark.cause = op;
        marks_[input.getValue()] = mark;
      })
      .Case([&](pd::GetOp get) { marks_[get.getValue()] = Mark(now_[get.getVar()]); })
      .Case([&](pd::SetOp set) { visitSet(set); })
      .Case([&](dist::OnOp on) { visitOn(on); })
      .Case([&](dist::MicroOp micro) { visitLoop(op, micro.getInits(), 0, {}); })
      .Case([&](dist::ForeachBlockOp loop) {
        visitLoop(op, loop.getInits(), 1, blocksOf(loop.getVar(), op));
      })
      .Case<dist::ServeOp>([&](dist::ServeOp serve) { visit(serve.getBody().front()); })
      .Case([&](dist::HandleOp handle) {
        const bool weak = std::exchange(weak_, true);
        for (mlir::Value argument : handle.getBody().getArguments())
          marks_[argument] = own(all(), op, false);
        visit(handle.getBody().front());
        weak_ = weak;
      })
      .Case([&](dist::CompositeOp composite) {
        mlir::Block& body = composite.getBody().front();
        for (auto [argument, input] : llvm::zip(body.getArguments(), composite.getInputs()))
          marks_[argument] = of(input);
        visit(body);
        for (auto [result, value] :
             llvm::zip(op->getResults(), body.getTerminator()->getOperands()))
          marks_[result] = of(value);
      })
      .Case([&](dist::SliceOp slice) {
        Mark mark = ofOperands(op);
        mark.join(own(bits(slice.getAxes()), op));
        give(op, mark);
      })
      .Case([&](dist::CoordOp coord) { give(op, own(bit(coord.getAxis()), op)); })
      .Case([&](dist::MergedOp merged) { give(op, blocksOf(merged.getVar(), op)); })
      .Case<dist::WaitOp, dist::CopyOp, dist::AssumeOp>(
          [&](mlir::Operation*) { give(op, ofOperands(op)); })
      .Default([&](mlir::Operation*) {
        if (dist::commOf(op)) return visitCommunication(op, dist::lookupComm(op, dist::commOf(op)));
        if (!pd::OpView::isFrameworkOp(op)) return give(op, ofOperands(op));
        if (op->getNumRegions()) return visitControl(op);
        const pd::OpSpec* spec = pd::OpView(op).spec();
        Mark mark = ofOperands(op);
        if (!spec || (spec->effects & pd::kCommunicates)) mark.join(own(all(), op, false));
        else if (spec->effects & pd::kRandom) mark.join(drawn(op));
        give(op, mark);
      });
}

}  // namespace dtranspile::verify

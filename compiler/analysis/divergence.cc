#include "compiler/analysis/divergence.h"

#include <map>

#include "compiler/analysis/position.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile::verify {
namespace {

constexpr unsigned kMostAxes = 64;

// Along which rank axes of the role's mesh a value differs, or may; a bit per axis.
struct Mark {
  uint64_t differs = 0, unknown = 0;
  mlir::Operation* cause = nullptr;  // of the first bit

  void join(const Mark& other) {
    if (!cause && (other.differs || other.unknown)) cause = other.cause;
    differs |= other.differs;
    unknown |= other.unknown;
  }
  void clear(uint64_t axes) {
    differs &= ~axes;
    unknown &= ~axes;
    if (!differs && !unknown) cause = nullptr;
  }
  bool operator==(const Mark& other) const {
    return differs == other.differs && unknown == other.unknown;
  }
};

// The predicates of control flow: what is read before the block is entered, and what a turn leaves
// for the next one.
struct ControlRow {
  llvm::StringLiteral type, slot;
};
constexpr ControlRow kControls[] = {{"conditional_block", "Cond"}, {"while", "Condition"}};

mlir::Value predicateOf(mlir::Operation* op) {
  for (const ControlRow& row : kControls)
    if (pd::OpView(op).type() == row.type) return pd::OpView(op).input(row.slot);
  return {};
}

using Names = std::vector<llvm::StringRef>;
// A list of names of the op's first block; empty where it has none.
Names namesOf(mlir::Operation* op, llvm::StringRef which) {
  Names names;
  auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
  auto block = blocks && !blocks.empty() ? llvm::dyn_cast<mlir::DictionaryAttr>(blocks[0])
                                         : mlir::DictionaryAttr();
  if (auto list = block ? block.getAs<mlir::ArrayAttr>(which) : mlir::ArrayAttr())
    for (auto name : list.getAsValueRange<mlir::StringAttr>()) names.push_back(name);
  return names;
}

class Divergence {
 public:
  explicit Divergence(dist::RoleOp role) : role_(role), mesh_(dist::meshOf(role)) {
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

  Mark of(mlir::Value value) const { return marks_.lookup(value); }
  llvm::ArrayRef<std::pair<std::string, int64_t>> axes() const { return axes_; }

  // Bits of axes with more than one rank.
  uint64_t bit(llvm::StringRef axis) const {
    for (auto [i, one] : llvm::enumerate(axes_))
      if (one.first == axis) return one.second > 1 ? uint64_t{1} << i : 0;
    return 0;
  }
  uint64_t bits(mlir::ArrayAttr names) const {
    uint64_t all = 0;
    for (auto name : names.getAsValueRange<mlir::StringAttr>()) all |= bit(name);
    return all;
  }
  uint64_t bits(dist::SelAttr where) const {
    uint64_t all = 0;
    for (dist::AxisSetAttr set : where.getSets()) all |= bit(set.getAxis().getValue());
    return all;
  }
  uint64_t all() const {
    uint64_t bits = 0;
    for (const auto& [name, size] : axes_) bits |= bit(name);
    return bits;
  }

 private:
  Mark declared(pd::VarOp var) const {
    Mark mark;
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    if (!relation) return mark;
    for (dist::AxisRelAttr one : relation.getAxes()) {
      const uint64_t axis = bit(one.getAxis().getValue());
      if (one.getState() == dist::StateKind::Replicated) continue;
      (one.getState() == dist::StateKind::Unknown ? mark.unknown : mark.differs) |= axis;
      if (axis) mark.cause = var;
    }
    return mark;
  }

  Mark own(uint64_t axes, mlir::Operation* op, bool known = true) const {
    Mark mark;
    (known ? mark.differs : mark.unknown) = axes;
    mark.cause = op;
    return mark;
  }
  Mark ofOperands(mlir::Operation* op) {
    Mark mark;
    for (mlir::Value operand : op->getOperands()) mark.join(of(operand));
    return mark;
  }
  void give(mlir::Operation* op, Mark mark) {
    mark.join(control_);
    for (mlir::Value result : op->getResults()) marks_[result] = mark;
  }
  void visit(mlir::Block& block) {
    for (mlir::Operation& op : block) visit(&op);
  }
  // Until what enters a block again stays as it is.
  void repeat(mlir::Region& region, llvm::function_ref<bool()> changed) {
    do visit(region.front());
    while (changed());
  }
  bool widen(mlir::Value value, const Mark& more) {
    const Mark before = of(value);
    Mark joined = before;
    joined.join(more);
    marks_[value] = joined;
    return !(joined == before);
  }

  void visit(mlir::Operation* op);
  void visitSet(pd::SetOp set);
  void visitControl(mlir::Operation* op);
  void visitOn(dist::OnOp on);
  void visitLoop(mlir::Operation* op, mlir::ValueRange inits, unsigned first, Mark turns);
  void visitCommunication(mlir::Operation* op, dist::CommOp comm);
  Mark drawn(mlir::Operation* op);
  Mark blocksOf(llvm::StringRef var, mlir::Operation* op);

  dist::RoleOp role_;
  dist::MeshOp mesh_;
  llvm::SmallVector<std::pair<std::string, int64_t>> axes_;
  llvm::StringMap<Mark> start_, now_;  // of variables: at the beginning of a program, and here
  llvm::DenseMap<mlir::Value, Mark> marks_;
  Mark control_;       // of the predicates around
  bool weak_ = false;  // inside of regions that may not run, or run on some ranks
};

// Draws differ along their streams; in start-up those without a seed are each rank's own.
Mark Divergence::drawn(mlir::Operation* op) {
  pd::OpView view(op);
  auto streams = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
  const bool startup = op->getParentOfType<pd::ProgramOp>().getSymName() == "startup";
  const bool seeded = view.spec()->attribute("seed") && view.getInt("seed") != 0;
  const bool alike = seeded || (streams && !startup);
  return own((alike ? 0 : all()) | (streams ? bits(streams) : 0), op);
}

Mark Divergence::blocksOf(llvm::StringRef name, mlir::Operation* op) {
  for (auto var : role_.getBody().front().getOps<pd::VarOp>())
    if (var.getSymName() == name) return declared(var);
  return own(all(), op, false);
}

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
  const Names captures = namesOf(op, "captures"), written = namesOf(op, "written");
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

// What may decide whether the block of `op` runs.
Mark decides(Divergence& divergence, mlir::Operation* op) {
  mlir::Value predicate = predicateOf(op);
  Mark mark;
  if (!predicate) {
    mark.unknown = divergence.all();
    mark.cause = op;
    return mark;
  }
  mark = divergence.of(predicate);
  if (pd::OpView(op).type() != "while") return mark;
  // Every turn leaves the next one's predicate under its name.
  mlir::Operation* yield = op->getRegion(0).front().getTerminator();
  for (auto [name, value] : llvm::zip(namesOf(op, "written"), yield->getOperands()))
    if (name == pd::nameOf(predicate)) mark.join(divergence.of(value));
  return mark;
}

// Axes along which the members of an operation stand beside each other here.
uint64_t axesOf(const Divergence& divergence, mlir::Operation* op, dist::CommOp comm) {
  const dist::SelAttr where = dist::guardOf(op).where;
  uint64_t axes = 0;
  for (auto name : comm.getAxes().getAsValueRange<mlir::StringAttr>()) {
    dist::AxisSetAttr set = where.lookup(name);
    if (comm.getKind() != dist::CommKind::Group || !set || !set.isPoint())
      axes |= divergence.bit(name);
  }
  return axes;
}

std::string whyOf(mlir::Operation* cause) {
  if (!cause) return "";
  if (auto input = llvm::dyn_cast<pd::InputOp>(cause))
    return "every rank is fed its own part of `" + input.getName().str() + "`";
  if (auto var = llvm::dyn_cast<pd::VarOp>(cause))
    return "`" + var.getSymName().str() + "` is declared to differ";
  return "it comes from " + positionOf(cause);
}

void collect(dist::RoleOp role, std::vector<DivergentControl>& found) {
  std::vector<std::pair<mlir::Operation*, mlir::Operation*>> pairs;
  role->walk([&](mlir::Operation* op) {
    if (!dist::commOf(op)) return;
    for (mlir::Operation* around = op->getParentOp(); around && around != role;
         around = around->getParentOp())
      if (pd::OpView::isFrameworkOp(around)) pairs.push_back({around, op});
  });
  if (pairs.empty() || !dist::meshOf(role)) return;
  Divergence divergence(role);
  std::map<mlir::Operation*, uint64_t> said;
  for (auto [control, communication] : pairs) {
    dist::CommOp comm = dist::lookupComm(communication, dist::commOf(communication));
    if (!comm) continue;
    const Mark mark = decides(divergence, control);
    uint64_t bad =
        axesOf(divergence, communication, comm) & (mark.differs | mark.unknown) & ~said[control];
    said[control] |= bad;
    for (auto [i, axis] : llvm::enumerate(divergence.axes())) {
      const uint64_t bit = uint64_t{1} << i;
      if (!(bad & bit)) continue;
      found.push_back({control, communication, axis.first, (mark.differs & bit) != 0,
                       whyOf(mark.cause), mark.cause});
    }
  }
}

std::string textOf(const DivergentControl& one) {
  mlir::Value predicate = predicateOf(one.control);
  return typeOf(one.control) + " communicates inside (" + typeOf(one.communication) + " on @" +
         dist::commOf(one.communication).getValue().str() + "), and its predicate" +
         (predicate ? " " + nameText(predicate) : "") +
         (one.differs ? " differs between the ranks along axis "
                      : " is not known to be equal along axis ") +
         one.axis + (one.why.empty() ? "" : ": " + one.why) +
         "; ranks that do not come here would be waited for without end";
}

constexpr const char* kRemedy =
    "decide by what is equal on all ranks (a counter, or a value that was reduced over this axis), "
    "or move the communication out of the block";

}  // namespace

std::vector<DivergentControl> divergentControl(mlir::ModuleOp job) {
  std::vector<DivergentControl> found;
  for (auto role : job.getOps<dist::RoleOp>()) collect(role, found);
  return found;
}

void reportDivergence(mlir::ModuleOp job, Rung& rung) {
  for (const DivergentControl& one : divergentControl(job)) {
    Message message =
        messageAt(one.control, one.differs ? Message::Level::Refuted : Message::Level::Unknown,
                  "D26", textOf(one), kRemedy);
    message.notes.push_back("it would wait at: " + positionOf(one.communication));
    rung.add(std::move(message));
  }
}

mlir::LogicalResult checkUniform(mlir::ModuleOp job) {
  std::vector<DivergentControl> found = divergentControl(job);
  for (const DivergentControl& one : found) {
    mlir::InFlightDiagnostic error = one.control->emitError("D26: ") << textOf(one);
    error.attachNote(one.communication->getLoc()) << "the operation that waits";
    error.attachNote() << kRemedy;
  }
  return mlir::success(found.empty());
}

}  // namespace dtranspile::verify

#include "compiler/analysis/divergence.h"

#include <map>

#include "compiler/analysis/divergence_marks.h"
#include "compiler/analysis/position.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

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
  for (auto [name, value] : llvm::zip(blockNames(op, "written"), yield->getOperands()))
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

// Communication inside of control flow that ranks may decide differently would wait for ranks that
// never come. For each such pair the axes along which the decision differs (or may), restricted to
// those that the communicator joins, each said once per control op.
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

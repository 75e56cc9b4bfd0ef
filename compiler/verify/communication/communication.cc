// Rung 3. Every class of ranks is a thread of events; one representative runs for all of its ranks,
// since what differs between them (coordinates, peers) is symbolic in the events. Only along the
// axes of point-to-point channels do ranks of one class meet each other: there every coordinate is
// a thread of its own (perCoordinate). Threads are then run together (run.h), and what waits at the
// end is reported. A job of which rung 2 does not show that branches with communication are taken
// alike is no set of threads, and is not run.
#include "compiler/verify/communication/communication.h"

#include "compiler/analysis/divergence.h"
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/specialize/specialize.h"
#include "compiler/verify/communication/protocol.h"
#include "compiler/verify/communication/run.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::verify {
namespace {

// D3: communicators are created in the order of their text, which must be one on all ranks:
// creation is a blocking group operation.
void checkCreation(llvm::ArrayRef<ClassText> classes, Rung& rung) {
  for (size_t i = 1; i < classes.size(); ++i) {
    auto name = [](dist::CommOp comm) { return comm.getSymName(); };
    if (llvm::equal(llvm::map_range(classes[0].comms, name),
                    llvm::map_range(classes[i].comms, name)))
      continue;
    rung.add(messageAt(classes[i].main, Message::Level::Refuted, "D3",
                       classes[i].name + " creates its communicators in another order than " +
                           classes[0].name + ": creation would wait for ever",
                       "declare the dist.comm ops in one order"));
  }
}

// Start-up and step are run apart: between them every rank has ended, so no operation is open.
int64_t runAll(llvm::ArrayRef<ClassText> classes, Rung& rung) {
  int64_t events = 0;
  for (llvm::StringRef program : {"startup", "main"}) {
    for (const ClassText& text : classes) checkProtocol(text, program, rung);
    events += runProgram(classes, program, rung);
  }
  return events;
}

// Coordinates at the ends of a pair are told apart: every one is a thread of its own.
constexpr int64_t kMostCoordinates = 4096;
// By one communicator after the other, so that a class is cut along every axis that some pair runs
// along, and along no other: data parallelism beside a pipeline stays one thread per stage.
std::vector<ClassText> perCoordinate(ClassText text, dist::MeshOp mesh, Rung& rung) {
  std::vector<ClassText> texts;
  texts.push_back(std::move(text));
  for (dist::CommOp comm : texts.front().comms) {
    if (comm.getKind() != dist::CommKind::Pairs || !mesh) continue;
    auto axis = llvm::cast<mlir::StringAttr>(comm.getAxes()[0]);
    const int64_t size = mesh.sizeOf(axis.getValue()).value_or(1);
    std::vector<ClassText> finer;
    for (ClassText& one : texts) {
      dist::AxisSetAttr own = one.where.lookup(axis);
      if ((own && own.isPoint()) || size == 1 || size > kMostCoordinates) {
        if (size > kMostCoordinates)
          rung.add(messageAt(comm, Message::Level::Unknown, "model",
                             "joins pairs along an axis of more than " +
                                 std::to_string(kMostCoordinates) + " coordinates",
                             "verify a job of fewer stages"));
        finer.push_back(std::move(one));
        continue;
      }
      for (int64_t at = 0; at < size; ++at) {
        if (own && !own.contains(at)) continue;
        ClassText point = one;
        point.where =
            one.where.intersect(dist::SelAttr::point(comm.getContext(), axis.getValue(), at));
        point.name = rankText(one.role, point.where);
        finer.push_back(std::move(point));
      }
    }
    texts = std::move(finer);
  }
  return texts;
}

}  // namespace

// Of a module that specialisation has made: for tools that have one class only.
ClassText classTextOf(mlir::ModuleOp specialized, dist::SelAttr where) {
  ClassText text;
  if (auto name = specialized->getAttrOfType<mlir::StringAttr>(dist::kClassAttr))
    text.name = name.getValue().str();
  if (auto role = specialized->getAttrOfType<mlir::StringAttr>(dist::kRoleAttr))
    text.role = role.getValue().str();
  text.where = where;
  for (auto comm : specialized.getOps<dist::CommOp>()) text.comms.push_back(comm);
  text.startup = findProgram(specialized, "startup");
  text.main = findProgram(specialized, "main");
  return text;
}

// First whether all ranks create the same communicators in one order, then the runs of both
// programs.
Rung verifyCommunication(llvm::ArrayRef<ClassText> classes) {
  Rung rung;
  rung.name = "communication";
  checkCreation(classes, rung);
  const int64_t events = runAll(classes, rung);
  rung.stat("classes", static_cast<int64_t>(classes.size()));
  rung.stat("events", events);
  return rung;
}

Rung verifyCommunication(mlir::ModuleOp job) {
  Rung rung;
  rung.name = "communication";
  int64_t count = 0;
  // C2: what is not shown to be uniform is no thread of events.
  for (const DivergentControl& one : divergentControl(job))
    rung.add(messageAt(one.control, Message::Level::Unknown, "C2",
                       typeOf(one.control) +
                           " communicates inside, and its predicate is not shown to be equal on "
                           "all ranks (rung relations, D26)",
                       "see what rung relations says"));
  std::vector<ClassText> texts;
  for (auto role : job.getOps<dist::RoleOp>()) {
    mlir::FailureOr<std::vector<RankClass>> classes = classesOf(role);
    if (mlir::failed(classes)) {
      rung.add(messageAt(role, Message::Level::Unknown, "classes",
                         "the classes of ranks of this role cannot be formed",
                         "see the diagnostic above"));
      continue;
    }
    count += static_cast<int64_t>(classes->size());
    for (const RankClass& one : *classes) {
      ClassText text;
      text.name = one.name;
      text.role = role.getSymName().str();
      text.where = one.where;
      for (auto comm : job.getOps<dist::CommOp>())
        if (comm.getMesh() == role.getMesh() || comm.getServer() == role.getSymName())
          text.comms.push_back(comm);
      text.startup = findProgram(role, "startup");
      text.main = findProgram(role, "main");
      llvm::append_range(texts, perCoordinate(std::move(text), dist::meshOf(role), rung));
    }
  }
  const int64_t events = rung.verdict == Verdict::Holds ? runAll(texts, rung) : 0;
  rung.stat("classes", count);
  rung.stat("events", events);
  return rung;
}

}  // namespace dtranspile::verify

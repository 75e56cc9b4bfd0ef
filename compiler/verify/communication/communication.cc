#include "compiler/verify/communication/communication.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/specialize/specialize.h"
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

void runAll(llvm::ArrayRef<ClassText> classes, Rung& rung, int64_t& events) {
  checkCreation(classes, rung);
  for (llvm::StringRef program : {"startup", "main"}) events += runProgram(classes, program, rung);
}

}  // namespace

ClassText classTextOf(mlir::ModuleOp specialized, dist::SelAttr where) {
  ClassText text;
  if (auto name = specialized->getAttrOfType<mlir::StringAttr>(dist::kClassAttr))
    text.name = name.getValue().str();
  text.where = where;
  for (auto comm : specialized.getOps<dist::CommOp>()) text.comms.push_back(comm);
  text.startup = findProgram(specialized, "startup");
  text.main = findProgram(specialized, "main");
  return text;
}

Rung verifyCommunication(llvm::ArrayRef<ClassText> classes) {
  Rung rung;
  rung.name = "communication";
  int64_t events = 0;
  runAll(classes, rung, events);
  rung.stat("classes", static_cast<int64_t>(classes.size()));
  rung.stat("events", events);
  return rung;
}

Rung verifyCommunication(mlir::ModuleOp job) {
  Rung rung;
  rung.name = "communication";
  int64_t events = 0, count = 0;
  for (auto role : job.getOps<dist::RoleOp>()) {
    mlir::FailureOr<std::vector<RankClass>> classes = classesOf(role);
    if (mlir::failed(classes)) {
      rung.add(messageAt(role, Message::Level::Unknown, "classes",
                         "the classes of ranks of this role cannot be formed",
                         "see the diagnostic above"));
      continue;
    }
    std::vector<ClassText> texts;
    for (const RankClass& one : *classes) {
      ClassText text;
      text.name = one.name;
      text.where = one.where;
      for (auto comm : job.getOps<dist::CommOp>())
        if (comm.getMesh() == role.getMesh()) text.comms.push_back(comm);
      text.startup = findProgram(role, "startup");
      text.main = findProgram(role, "main");
      texts.push_back(std::move(text));
    }
    runAll(texts, rung, events);
    count += static_cast<int64_t>(texts.size());
  }
  rung.stat("classes", count);
  rung.stat("events", events);
  return rung;
}

}  // namespace dtranspile::verify

#include "dialects/pd/position.h"

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"

namespace dtranspile::pd {
namespace {

// Fused locations begin with the op that a merged one is named after.
mlir::NameLoc namedLocation(mlir::Location location) {
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location)) return name;
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(location);
  return fused && !fused.getLocations().empty() ? namedLocation(fused.getLocations().front())
                                                : mlir::NameLoc();
}

std::string variableOf(mlir::Operation* op) {
  for (mlir::Value value : op->getResults())
    if (!nameOf(value).empty()) return nameOf(value).str();
  for (mlir::Value value : op->getOperands())
    if (!nameOf(value).empty()) return nameOf(value).str();
  return "";
}

std::vector<std::string> framesOf(mlir::Operation* op) {
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  auto stack = attributes ? attributes.getAs<mlir::ArrayAttr>("op_callstack") : mlir::ArrayAttr();
  std::vector<std::string> frames;
  if (!stack) return frames;
  for (mlir::Attribute frame : stack)
    if (auto text = llvm::dyn_cast<mlir::StringAttr>(frame)) frames.push_back(text.str());
  return frames;
}

}  // namespace

// 1.x has the innermost call first, a frame and its text in one string; 2.x the outermost first, in
// strings of their own. Frames of the framework itself are not the user's.
std::string sourceLine(llvm::ArrayRef<std::string> frames) {
  std::string line;
  for (llvm::StringRef frame : frames) {
    const bool innermostFirst = frame.contains('\n');
    if (!frame.ltrim().consume_front("File \"") || frame.contains("/paddle/")) continue;
    auto [file, rest] = frame.ltrim().drop_front(6).split('"');
    unsigned number = 0;
    if (!rest.consume_front(", line ") || rest.consumeInteger(10, number)) continue;
    llvm::StringRef last = file.rsplit('/').second;
    line = (last.empty() ? file : last).str() + ":" + std::to_string(number);
    if (innermostFirst) break;
  }
  return line;
}

Position positionOf(mlir::Operation* op) {
  Position position;
  const bool framework = OpView::isFrameworkOp(op);
  position.type = framework ? OpView(op).type().str() : op->getName().stripDialect().str();
  if (framework) {
    position.variable = variableOf(op);
    position.source = sourceLine(framesOf(op));
  }
  mlir::NameLoc name = namedLocation(op->getLoc());
  if (!name) return position;
  position.place = name.getName().str();
  if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(name.getChildLoc())) {
    position.file = file.getFilename().str();
    position.block = file.getLine();
    position.index = file.getColumn();
  }
  return position;
}

std::string Position::text() const {
  std::string text = type + (variable.empty() ? "" : " of `" + variable + "`");
  if (place.empty() && source.empty()) return text;
  return text + " (" + place + (place.empty() || source.empty() ? "" : "; ") + source + ")";
}

std::string describe(mlir::Operation* op) { return positionOf(op).text(); }

}  // namespace dtranspile::pd

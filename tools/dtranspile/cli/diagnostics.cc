#include "tools/dtranspile/cli/diagnostics.h"

#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/base/printable.h"

namespace dtranspile::cli {

// The first place that says something: file and name of an op, file, line and column, or of a fused
// location the first of its parts.
std::string describeLocation(mlir::Location location) {
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location)) {
    auto file = llvm::dyn_cast<mlir::FileLineColLoc>(name.getChildLoc());
    return (file ? file.getFilename().getValue().str() + ": " : "") +
           name.getName().getValue().str();
  }
  if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(location)) {
    std::string text = file.getFilename().getValue().str();
    if (file.getLine() || file.getColumn())
      text += ":" + std::to_string(file.getLine()) + ":" + std::to_string(file.getColumn());
    return text;
  }
  if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations()) {
      std::string text = describeLocation(part);
      if (!text.empty()) return text;
    }
  return "";
}

namespace {

constexpr int64_t kMostOfASeverity = 20;

const char* severityName(mlir::DiagnosticSeverity severity) {
  switch (severity) {
    case mlir::DiagnosticSeverity::Error: return "error";
    case mlir::DiagnosticSeverity::Warning: return "warning";
    case mlir::DiagnosticSeverity::Remark: return "remark";
    case mlir::DiagnosticSeverity::Note: return "note";
  }
  return "";
}

void print(mlir::Diagnostic& diagnostic) {
  const std::string where = describeLocation(diagnostic.getLocation());
  llvm::errs() << (where.empty() ? "dtranspile" : Printable(where)) << ": "
               << severityName(diagnostic.getSeverity()) << ": "
               << Printable(diagnostic.str(), LineBreaks::kIndent, kLongestMessage) << "\n";
  int64_t notes = 0;
  for (mlir::Diagnostic& note : diagnostic.getNotes())
    if (++notes <= kMostOfASeverity) print(note);
  if (notes > kMostOfASeverity)
    llvm::errs() << "dtranspile: note: and " << notes - kMostOfASeverity << " notes more\n";
}

}  // namespace

Diagnostics::Diagnostics(mlir::MLIRContext* context)
    : handler_(context, [this](mlir::Diagnostic& diagnostic) {
        report(diagnostic);
        return mlir::success();
      }) {}

void Diagnostics::report(mlir::Diagnostic& diagnostic) {
  if (++seen_[diagnostic.getSeverity()] <= kMostOfASeverity) print(diagnostic);
}

Diagnostics::~Diagnostics() {
  for (const auto& [severity, count] : seen_)
    if (count > kMostOfASeverity)
      llvm::errs() << "dtranspile: note: " << count - kMostOfASeverity << " more "
                   << severityName(severity) << "s like these are not shown\n";
}

}  // namespace dtranspile::cli

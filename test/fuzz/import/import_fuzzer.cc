// libFuzzer target over the importer. What it accepts must come back: import, verify, export,
// import again, export to the same bytes; what also verifies must survive the text form. Nothing
// may crash, hang or take more than the limits that run.sh sets.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "compiler/export/program.h"
#include "compiler/import/import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile {
namespace {

constexpr size_t kTextLimit = 4096;  // printing and parsing dominate beyond
constexpr int kInputsPerContext = 500;

[[noreturn]] void report(const char* what) {
  std::fprintf(stderr, "import_fuzzer: %s\n", what);
  std::abort();
}

// A context that is made anew now and then, since it keeps every attribute it has seen.
mlir::MLIRContext& context(bool next = false) {
  static std::unique_ptr<mlir::MLIRContext> current;
  static int inputs = 0;
  if (!current || (next && ++inputs % kInputsPerContext == 0)) {
    current = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    current->loadDialect<pd::PdDialect>();
  }
  return *current;
}

mlir::OwningOpRef<mlir::ModuleOp> imported(llvm::StringRef bytes) {
  ImportOptions options;
  options.budget.maxFields = 2'000'000;
  options.budget.maxInterfaceNames = 200'000;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context()));
  if (mlir::failed(importAny(*module, bytes, options))) return {};
  return module;
}

std::string exported(mlir::ModuleOp module) {
  mlir::FailureOr<std::string> bytes = exportProgramBytes(*module.getOps<pd::ProgramOp>().begin());
  if (mlir::failed(bytes)) report("an imported program cannot be exported");
  return *bytes;
}

void checkText(mlir::ModuleOp module, const std::string& bytes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  auto parsed =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(module.getContext()));
  if (!parsed) report(("the text form does not parse:\n" + text).c_str());
  if (exported(*parsed) != bytes) report("the text form is another program");
}

}  // namespace
}  // namespace dtranspile

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dtranspile;
  mlir::MLIRContext& shared = context(true);
  mlir::ScopedDiagnosticHandler quiet(&shared, [](mlir::Diagnostic&) { return mlir::success(); });
  llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  mlir::OwningOpRef<mlir::ModuleOp> first = imported(bytes);
  if (!first) return 0;
  bool legal = mlir::succeeded(mlir::verify(*first));
  std::string once = exported(*first);
  mlir::OwningOpRef<mlir::ModuleOp> second = imported(once);
  if (!second) report("an exported program cannot be imported");
  if (exported(*second) != once) report("a second round trip gives other bytes");
  if (legal && size <= kTextLimit) checkText(*second, once);
  return 0;
}

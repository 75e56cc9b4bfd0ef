// Every program of the corpora, imported and exported again, is the same file byte for byte; so it
// is by way of the text form and of byte code.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "compiler/export/program.h"
#include "compiler/import/import.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/corpus_path.h"

namespace dtranspile {
namespace {

std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// All .pdmodel files below a corpus.
std::vector<std::filesystem::path> programs(const std::string& corpus) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::CorpusPath(corpus)))
    if (entry.path().extension() == ".pdmodel") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Programs {
 public:
  Programs() {
    context_.disableMultithreading();
    context_.loadDialect<pd::PdDialect>();
  }

  mlir::OwningOpRef<mlir::ModuleOp> import(const std::string& bytes, const std::string& file) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
    ImportOptions options;
    options.file = file;
    if (mlir::failed(importProgram(*module, bytes, options))) return {};
    return module;
  }

  std::string exported(mlir::ModuleOp module) {
    mlir::FailureOr<std::string> bytes =
        exportProgramBytes(*module.getOps<pd::ProgramOp>().begin());
    return mlir::succeeded(bytes) ? *bytes : "";
  }

  mlir::MLIRContext* context() { return &context_; }

 private:
  mlir::MLIRContext context_;
};

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

std::string bytecodeOf(mlir::ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  REQUIRE(mlir::succeeded(mlir::writeBytecodeToFile(module, stream)));
  return bytes;
}

void checkRoundTrip(const std::string& corpus, size_t atLeast, bool throughText) {
  Programs programs_;
  std::vector<std::filesystem::path> files = programs(corpus);
  REQUIRE(files.size() >= atLeast);
  for (const auto& file : files) {
    INFO(file.string());
    std::string bytes = slurp(file);
    auto module = programs_.import(bytes, file.string());
    REQUIRE(module);
    CHECK(mlir::succeeded(mlir::verify(*module)));
    CHECK((programs_.exported(*module) == bytes));
    if (!throughText) continue;
    mlir::ParserConfig config(programs_.context());
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(textOf(*module), config);
    REQUIRE(parsed);
    CHECK((programs_.exported(*parsed) == bytes));
    auto loaded = mlir::parseSourceString<mlir::ModuleOp>(bytecodeOf(*module), config);
    REQUIRE(loaded);
    CHECK((programs_.exported(*loaded) == bytes));
  }
}

}  // namespace

TEST_CASE("fluid 1.8 programs survive import and export") { checkRoundTrip("fluid18", 64, true); }
TEST_CASE("static 2.6 programs survive import and export") { checkRoundTrip("static26", 32, true); }
TEST_CASE("large programs survive import and export") { checkRoundTrip("large", 20, false); }
TEST_CASE("one-operator programs survive import and export") { checkRoundTrip("ops", 1500, false); }

}  // namespace dtranspile

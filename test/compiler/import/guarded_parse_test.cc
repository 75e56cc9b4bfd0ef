// Modules of unknown origin: whatever the bytes are, this process goes on.
#include "compiler/import/guarded_parse.h"

#include <catch2/catch.hpp>

#include "dialects/pd/pd.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"

namespace dtranspile {
namespace {

class Reader {
 public:
  Reader()
      : context_(mlir::MLIRContext::Threading::DISABLED),
        handler_(&context_, [this](mlir::Diagnostic& diagnostic) {
          llvm::raw_string_ostream(said_)
              << diagnostic.getLocation() << ": " << diagnostic.str() << "\n";
          return mlir::success();
        }) {
    context_.loadDialect<pd::PdDialect>();
  }

  mlir::OwningOpRef<mlir::ModuleOp> read(llvm::StringRef bytes) {
    said_.clear();
    return parseGuarded(&context_, bytes, "file.mlir");
  }
  const std::string& said() const { return said_; }

 private:
  mlir::MLIRContext context_;
  std::string said_;
  mlir::ScopedDiagnosticHandler handler_;
};

std::string nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += "module {";
  return text + std::string(static_cast<size_t>(depth), '}');
}

TEST_CASE("a module is read") {
  Reader reader;
  CHECK(reader.read(nested(3)));
  CHECK(reader.said().empty());
}

TEST_CASE("errors keep their place and their words") {
  Reader reader;
  CHECK_FALSE(reader.read("module {\n  \"pd.nothing\"() : () -> ()\n}"));
  CHECK_THAT(reader.said(), Catch::Contains("file.mlir\":2:3") &&
                                Catch::Contains("unregistered operation 'pd.nothing'"));
}

TEST_CASE("text nested too deeply ends the child only") {
  Reader reader;
  CHECK_FALSE(reader.read(nested(200000)));
  CHECK_THAT(reader.said(), Catch::Contains("is damaged or nested too deeply"));
}

TEST_CASE("damaged byte code is refused or read, never a crash") {
  Reader reader;
  std::string bytes;
  auto module = reader.read("module @a { module @b {} module @c { module @d {} } }");
  REQUIRE(module);
  llvm::raw_string_ostream stream(bytes);
  REQUIRE(mlir::succeeded(mlir::writeBytecodeToFile(*module, stream)));
  int refused = 0;
  for (size_t at = 4; at < bytes.size(); at += 3) {
    for (int value : {0x00, 0xff}) {
      std::string bad = bytes;
      bad[at] = static_cast<char>(value);
      const bool read = bool(reader.read(bad));
      CHECK(read == reader.said().empty());
      refused += !read;
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("a context with threads is refused: a child has none of them") {
  mlir::MLIRContext context;
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    said = diagnostic.str();
    return mlir::success();
  });
  CHECK_FALSE(parseGuarded(&context, "module {}", "file.mlir"));
  CHECK_THAT(said, Catch::Contains("context without threads"));
}

}  // namespace
}  // namespace dtranspile

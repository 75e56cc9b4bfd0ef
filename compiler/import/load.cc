// Files of any of our kinds to a module; commands call this first.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "compiler/import/guarded_parse.h"
#include "compiler/import/import.h"
#include "compiler/import/pir/normalize.h"
#include "compiler/program_desc/framework.pb.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "llvm/Support/FileSystem.h"
#include "mlir/IR/Diagnostics.h"

namespace dtranspile {
namespace {

mlir::Location fileLocation(mlir::MLIRContext* context, llvm::StringRef path) {
  return mlir::FileLineColLoc::get(context, path, 0, 0);
}

struct KindRow {
  FileKind kind;
  const char* name;
};

// Files that are recognised, but are no program.
constexpr KindRow kOthers[] = {
    {FileKind::Pickle, "a Python pickle (parameters: give it to --init)"},
    {FileKind::Tensor, "a tensor file (give its folder to --init)"},
    {FileKind::Empty, "empty"},
};

// Protobuf text form to wire bytes.
mlir::FailureOr<std::string> fromText(mlir::MLIRContext* context, llvm::StringRef text,
                                      llvm::StringRef path) {
  struct Collector : google::protobuf::io::ErrorCollector {
    std::string first;
    void AddError(int line, int column, const std::string& message) override {
      if (first.empty())
        first = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) +
                ": " + message;
    }
  } collector;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.SetRecursionLimit(32);
  framework::ProgramDesc program;
  if (!parser.ParseFromString(text.str(), &program))
    return mlir::emitError(fileLocation(context, path))
           << "not a program in protobuf text form: " << collector.first;
  return program.SerializeAsString();
}

}  // namespace

namespace {

// Whether the whole input is a chain of the fields of a ProgramDesc (framework.proto): one whose
// first block has 123 bytes starts as white space and `{` do.
bool isWire(llvm::StringRef bytes) {
  auto varint = [&](uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes.front());
      bytes = bytes.drop_front();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  while (!bytes.empty()) {
    uint64_t tag = 0, size = 0;
    constexpr uint64_t kLengthDelimited = 2, kMostField = 5;
    if (!varint(tag) || (tag & 7) != kLengthDelimited || tag >> 3 == 0 || tag >> 3 > kMostField)
      return false;
    if (!varint(size) || size > bytes.size()) return false;
    bytes = bytes.drop_front(size);
  }
  return true;
}

}  // namespace

// In the order of certainty: a ProgramDesc has no mark, but the whole of one parses as its fields;
// the others begin with a mark or a word.
FileKind sniff(llvm::StringRef bytes) {
  if (bytes.empty()) return FileKind::Empty;
  if (isWire(bytes)) return FileKind::ProgramDesc;
  if (bytes.starts_with("ML\xefR")) return FileKind::MlirBytecode;
  if (static_cast<uint8_t>(bytes[0]) == 0x80) return FileKind::Pickle;
  llvm::StringRef text = bytes.ltrim();
  if (text.starts_with("{")) return FileKind::PirJson;
  if (bytes.size() >= 16 && bytes.take_front(12) == llvm::StringRef("\0\0\0\0\0\0\0\0\0\0\0\0", 12))
    return FileKind::Tensor;
  if (text.starts_with("blocks")) return FileKind::ProgramText;
  for (llvm::StringRef start : {"//", "module", "#", "!", "pd.", "dist.", "\"", "builtin."})
    if (text.starts_with(start)) return FileKind::MlirText;
  return FileKind::ProgramDesc;  // has no mark of its own; the importer says what is wrong with it
}

bool holdsOneProgram(FileKind kind) {
  return kind == FileKind::ProgramDesc || kind == FileKind::ProgramText ||
         kind == FileKind::PirJson;
}

// All formats become the bytes of a ProgramDesc first; only one importer gives them a meaning.
mlir::FailureOr<pd::ProgramOp> importAny(mlir::ModuleOp module, llvm::StringRef bytes,
                                         const ImportOptions& options) {
  mlir::MLIRContext* context = module.getContext();
  FileKind kind = sniff(bytes);
  if (kind == FileKind::ProgramText) {
    mlir::FailureOr<std::string> wire = fromText(context, bytes, options.file);
    return mlir::failed(wire) ? mlir::FailureOr<pd::ProgramOp>(mlir::failure())
                              : importProgram(module, *wire, options);
  }
  if (kind != FileKind::PirJson) return importProgram(module, bytes, options);
  mlir::FailureOr<pir::NormalProgram> normal = pir::normalize(context, bytes, options.file);
  if (mlir::failed(normal)) return mlir::failure();
  ImportOptions positioned = options;
  positioned.positions = std::move(normal->positions);
  return importProgram(module, normal->bytes, positioned);
}

// "-" is the standard input.
mlir::FailureOr<std::string> readFile(mlir::MLIRContext* context, llvm::StringRef path) {
  if (path != "-" && llvm::sys::fs::is_directory(path))
    return mlir::emitError(fileLocation(context, path)) << "is a folder, expected a program file";
  std::unique_ptr<std::FILE, decltype(&std::fclose)> opened(
      path == "-" ? nullptr : std::fopen(path.str().c_str(), "rb"), &std::fclose);
  std::FILE* file = path == "-" ? stdin : opened.get();
  if (!file)
    return mlir::emitError(fileLocation(context, path))
           << "cannot be read: " << std::strerror(errno);
  // Pipes and devices have no size: what does not end is given up where no format goes on.
  constexpr size_t kPiece = size_t{1} << 20;
  const auto most = static_cast<size_t>(Budget().maxBytes);
  std::string bytes;
  if (uint64_t size = 0; !llvm::sys::fs::file_size(path, size))
    bytes.reserve(std::min<size_t>(size, most) + kPiece);
  while (!std::feof(file) && !std::ferror(file) && bytes.size() <= most) {
    const size_t before = bytes.size();
    bytes.resize(before + kPiece);
    bytes.resize(before + std::fread(bytes.data() + before, 1, kPiece, file));
  }
  if (std::ferror(file))
    return mlir::emitError(fileLocation(context, path))
           << "cannot be read: " << std::strerror(errno);
  if (bytes.size() > most)
    return mlir::emitError(fileLocation(context, path))
           << "has more than " << most << " bytes, which no program file has";
  return bytes;
}

// By the contents, not the ending, of the file.
mlir::OwningOpRef<mlir::ModuleOp> loadBytes(mlir::MLIRContext* context, llvm::StringRef path,
                                            llvm::StringRef bytes, llvm::StringRef symbol) {
  FileKind kind = sniff(bytes);
  for (const KindRow& row : kOthers)
    if (row.kind == kind)
      return mlir::emitError(fileLocation(context, path)) << "is " << row.name << ", not a program",
             nullptr;
  if (kind == FileKind::MlirText || kind == FileKind::MlirBytecode)
    return parseGuarded(context, bytes, path);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(fileLocation(context, path));
  ImportOptions options;
  options.file = path.str();
  options.symbol = symbol.str();
  if (mlir::failed(importAny(*module, bytes, options))) return {};
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> loadFile(mlir::MLIRContext* context, llvm::StringRef path,
                                           llvm::StringRef symbol) {
  mlir::FailureOr<std::string> bytes = readFile(context, path);
  return mlir::failed(bytes) ? nullptr : loadBytes(context, path, *bytes, symbol);
}

}  // namespace dtranspile

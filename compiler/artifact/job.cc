#include "compiler/artifact/job.h"

#include <unistd.h>

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = llvm::sys::fs;

constexpr int kSchema = 1;
constexpr int64_t kMaxManifestBytes = int64_t{256} << 20;

mlir::InFlightDiagnostic fail(mlir::MLIRContext* context, llvm::StringRef path) { return mlir::emitError(mlir::FileLineColLoc::get(context, path, 0, 0)); }

std::string joined(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

// Streams text into a hash, so that the text of a large module is never held.
class HashStream : public llvm::raw_ostream {
 public:
  HashStream() { SetBufferSize(1 << 16); }
  ~HashStream() override { flush(); }
  std::string hex() {
    flush();
    return llvm::toHex(hash_.final(), /*LowerCase=*/true);
  }

 private:
  void write_impl(const char* data, size_t size) override {
    hash_.update(llvm::StringRef(data, size));
    position_ += size;
  }
  uint64_t current_pos() const override { return position_; }
  llvm::SHA256 hash_;
  uint64_t position_ = 0;
};

mlir::LogicalResult writeWhole(mlir::MLIRContext* context, const std::string& path, llvm::function_ref<mlir::LogicalResult(llvm::raw_ostream&)> body) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error, fs::CD_CreateNew);
  if (error) return fail(context, path) << "cannot be written: " << error.message();
  mlir::LogicalResult ok = body(stream);
  stream.close();
  if (stream.has_error()) {
    std::string why = stream.error().message();
    stream.clear_error();
    return fail(context, path) << "cannot be written: " << why;
  }
  return ok;
}

// The fields that every reader relies on, with their types.
struct FieldRow {
  const char* name;
  Json::value_t type;
};
constexpr FieldRow kFields[] = {
    {"schema", Json::value_t::number_unsigned},
    {"digest", Json::value_t::string},
    {"mode", Json::value_t::string},
    {"strategy", Json::value_t::object},
    {"roles", Json::value_t::array},
    {"meshes", Json::value_t::array},
    {"comms", Json::value_t::array},
    {"classes", Json::value_t::array},
    {"feeds", Json::value_t::array},
    {"persistables", Json::value_t::array},
};

mlir::LogicalResult checkManifest(mlir::MLIRContext* context, llvm::StringRef path, const Json& manifest) {
  if (!manifest.is_object()) return fail(context, path) << "is no JSON object";
  for (const FieldRow& row : kFields) {
    auto found = manifest.find(row.name);
    if (found == manifest.end()) return fail(context, path) << "lacks the field '" << row.name << "'";
    if (found->type() != row.type) return fail(context, path) << "field '" << row.name << "' is a " << found->type_name();
  }
  if (manifest["schema"].get<uint64_t>() != kSchema)
    return fail(context, path) << "has schema " << manifest["schema"].get<uint64_t>() << ", this program reads schema " << kSchema << "; transpile again";
  return mlir::success();
}

}  // namespace

int64_t Job::ranks() const {
  int64_t count = 0;
  for (const Json& role : manifest["roles"]) count += role.value("ranks", int64_t{0});
  return count;
}

bool isJob(llvm::StringRef path) { return fs::is_directory(path) && fs::exists(joined(path, "manifest.json")); }

std::string digestOf(mlir::ModuleOp module, const Json& manifest) {
  HashStream stream;
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(false).useLocalScope();
  module->print(stream, flags);
  Json content = manifest;
  content.erase("digest");
  stream << content.dump();
  return "sha256:" + stream.hex();
}

mlir::LogicalResult writeJob(llvm::StringRef path, mlir::ModuleOp module, const Json& manifest, bool force) {
  mlir::MLIRContext* context = module.getContext();
  if (fs::exists(path)) {
    if (!isJob(path)) return fail(context, path) << "exists and is no job; nothing is replaced";
    if (!force) return fail(context, path) << "exists already; give --force to replace it";
  }
  std::string fresh = (path + ".new-" + llvm::Twine(getpid())).str();
  if (std::error_code error = fs::create_directories(fresh, /*IgnoreExisting=*/false)) return fail(context, fresh) << "cannot be made: " << error.message();
  llvm::scope_exit cleanUp([&] { fs::remove_directories(fresh); });
  auto text = [&](llvm::raw_ostream& out) {
    out << manifest.dump(2) << "\n";
    return mlir::success();
  };
  auto bytecode = [&](llvm::raw_ostream& out) { return mlir::writeBytecodeToFile(module, out); };
  if (mlir::failed(writeWhole(context, joined(fresh, "manifest.json"), text)) || mlir::failed(writeWhole(context, joined(fresh, "job.mlirbc"), bytecode)))
    return mlir::failure();
  // The old job steps aside before the new one takes its name; a crash between the two leaves both under names that say what they are.
  std::string old = (path + ".old-" + llvm::Twine(getpid())).str();
  bool replaces = fs::exists(path);
  if (replaces)
    if (std::error_code error = fs::rename(path, old)) return fail(context, path) << "cannot be replaced: " << error.message();
  if (std::error_code error = fs::rename(fresh, path)) {
    if (replaces) fs::rename(old, path);
    return fail(context, path) << "cannot be written: " << error.message();
  }
  cleanUp.release();
  if (replaces) fs::remove_directories(old);
  return mlir::success();
}

mlir::FailureOr<Job> readJob(mlir::MLIRContext* context, llvm::StringRef path) {
  std::string manifestPath = joined(path, "manifest.json"), modulePath = joined(path, "job.mlirbc");
  auto text = llvm::MemoryBuffer::getFile(manifestPath);
  if (!text) return fail(context, manifestPath) << "cannot be read: " << text.getError().message();
  if (static_cast<int64_t>((*text)->getBufferSize()) > kMaxManifestBytes) return fail(context, manifestPath) << "is larger than 256 MiB";
  Job job;
  job.manifest = Json::parse((*text)->getBuffer().begin(), (*text)->getBuffer().end(), nullptr, /*allow_exceptions=*/false);
  if (job.manifest.is_discarded()) return fail(context, manifestPath) << "is no legal JSON";
  if (mlir::failed(checkManifest(context, manifestPath, job.manifest))) return mlir::failure();
  auto bytes = llvm::MemoryBuffer::getFile(modulePath, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes) return fail(context, modulePath) << "cannot be read: " << bytes.getError().message();
  job.module = mlir::parseSourceString<mlir::ModuleOp>((*bytes)->getBuffer(), mlir::ParserConfig(context), modulePath);
  if (!job.module) return fail(context, modulePath) << "is no job module of this version; transpile again";
  return job;
}

}  // namespace dtranspile

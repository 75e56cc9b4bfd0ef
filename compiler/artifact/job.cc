#include "compiler/artifact/job.h"

#include "compiler/import/guarded_parse.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "runtime/io/staged_folder.h"

namespace dtranspile {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = llvm::sys::fs;

constexpr int kSchema = 1;
constexpr int64_t kMaxManifestBytes = int64_t{256} << 20;

mlir::InFlightDiagnostic fail(mlir::MLIRContext* context, llvm::StringRef path) {
  return mlir::emitError(mlir::FileLineColLoc::get(context, path, 0, 0));
}

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

mlir::LogicalResult writeWhole(mlir::MLIRContext* context, const std::string& path,
                               llvm::function_ref<mlir::LogicalResult(llvm::raw_ostream&)> body) {
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

mlir::LogicalResult checkManifest(mlir::MLIRContext* context, llvm::StringRef path,
                                  const Json& manifest) {
  if (!manifest.is_object()) return fail(context, path) << "is no JSON object";
  for (const FieldRow& row : kFields) {
    auto found = manifest.find(row.name);
    if (found == manifest.end())
      return fail(context, path) << "lacks the field '" << row.name << "'";
    if (found->type() != row.type)
      return fail(context, path) << "field '" << row.name << "' is a " << found->type_name();
  }
  if (manifest["schema"].get<uint64_t>() != kSchema)
    return fail(context, path) << "has schema " << manifest["schema"].get<uint64_t>()
                               << ", this program reads schema " << kSchema << "; transpile again";
  return mlir::success();
}

}  // namespace

int64_t Job::ranks() const {
  int64_t count = 0;
  for (const Json& role : manifest["roles"]) count += role.value("ranks", int64_t{0});
  return count;
}

bool isJob(llvm::StringRef path) {
  return fs::is_directory(path) && fs::exists(joined(path, "manifest.json"));
}

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

mlir::LogicalResult writeJob(llvm::StringRef path, mlir::ModuleOp module, const Json& manifest,
                             bool force) {
  mlir::MLIRContext* context = module.getContext();
  if (fs::exists(path)) {
    if (!isJob(path) || !io::HoldsOnly(path.str(), {"manifest.json", "job.mlirbc"}))
      return fail(context, path)
             << "exists and is no job, or holds more than a job; nothing is replaced";
    if (!force) return fail(context, path) << "exists already; give --force to replace it";
  }
  absl::StatusOr<io::StagedFolder> staged = io::StagedFolder::Create(path.str());
  if (!staged.ok())
    return fail(context, path) << "cannot be written: " << staged.status().message();
  auto text = [&](llvm::raw_ostream& out) {
    out << manifest.dump(2) << "\n";
    return mlir::success();
  };
  auto bytecode = [&](llvm::raw_ostream& out) { return mlir::writeBytecodeToFile(module, out); };
  if (mlir::failed(writeWhole(context, joined(staged->path(), "manifest.json"), text)) ||
      mlir::failed(writeWhole(context, joined(staged->path(), "job.mlirbc"), bytecode)))
    return mlir::failure();
  if (absl::Status status = staged->Publish(); !status.ok())
    return fail(context, path) << "cannot be written: " << status.message();
  return mlir::success();
}

mlir::FailureOr<Job> readJob(mlir::MLIRContext* context, llvm::StringRef path) {
  std::string manifestPath = joined(path, "manifest.json"), modulePath = joined(path, "job.mlirbc");
  auto text = llvm::MemoryBuffer::getFile(manifestPath);
  if (!text) return fail(context, manifestPath) << "cannot be read: " << text.getError().message();
  if (static_cast<int64_t>((*text)->getBufferSize()) > kMaxManifestBytes)
    return fail(context, manifestPath) << "is larger than 256 MiB";
  Job job;
  job.manifest = Json::parse((*text)->getBuffer().begin(), (*text)->getBuffer().end(), nullptr,
                             /*allow_exceptions=*/false);
  if (job.manifest.is_discarded()) return fail(context, manifestPath) << "is no legal JSON";
  if (mlir::failed(checkManifest(context, manifestPath, job.manifest))) return mlir::failure();
  auto bytes =
      llvm::MemoryBuffer::getFile(modulePath, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!bytes) return fail(context, modulePath) << "cannot be read: " << bytes.getError().message();
  job.module = parseGuarded(context, (*bytes)->getBuffer(), modulePath);
  if (!job.module) return mlir::failure();
  return job;
}

mlir::FailureOr<Job> readUnchangedJob(mlir::MLIRContext* context, llvm::StringRef path) {
  mlir::FailureOr<Job> job = readJob(context, path);
  if (mlir::failed(job)) return mlir::failure();
  // What is said of fetches took the analysis of relations to find, and `verify` does that again;
  // here they are believed as far as the digest covers them.
  const Json expected =
      makeManifest(*job->module, job->manifest["strategy"], &job->manifest["fetches"]);
  const Json difference = Json::diff(job->manifest, expected);
  if (difference.empty()) return job;
  return fail(context, joined(path, "manifest.json"))
         << "field '" << difference.front()["path"].get<std::string>()
         << "' is not what job.mlirbc says: one of the two files was changed; transpile again";
}

}  // namespace dtranspile

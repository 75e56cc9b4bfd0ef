#include "compiler/artifact/job.h"

#include "compiler/artifact/manifest_schema.h"
#include "compiler/import/guarded_parse.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/output.h"
#include "runtime/io/staged.h"

namespace dtranspile {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMaxManifestBytes = int64_t{256} << 20;
constexpr int64_t kMaxModuleBytes = int64_t{4} << 30;

mlir::InFlightDiagnostic fail(mlir::MLIRContext* context, llvm::StringRef path) {
  return mlir::emitError(mlir::FileLineColLoc::get(context, path, 0, 0));
}

std::string joined(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

mlir::LogicalResult good(mlir::MLIRContext* context, llvm::StringRef path,
                         const absl::Status& status) {
  if (status.ok()) return mlir::success();
  // Statuses of files begin with the path, and so do diagnostics.
  llvm::StringRef text(status.message().data(), status.message().size());
  text.consume_front((path + ": ").str());
  return fail(context, path) << text;
}

mlir::LogicalResult writeIn(mlir::MLIRContext* context, const std::string& path,
                            const std::string& bytes) {
  return good(context, path, io::WriteFile(path, bytes.data(), static_cast<int64_t>(bytes.size())));
}

// The fields that every reader relies on, with their types.
struct FieldRow {
  const char* name;
  Json::value_t type;
};
// The fields of a manifest and their JSON types (docs/file-formats.md); all must be there.
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

// The shape of what everything after reads without a look. Fields that are not listed are read with
// defaults.
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
  if (manifest["schema"].get<uint64_t>() != kManifestSchema)
    return fail(context, path) << "has schema " << manifest["schema"].get<uint64_t>()
                               << ", this program reads schema " << kManifestSchema
                               << "; transpile again";
  return mlir::success();
}

}  // namespace

int64_t Job::ranks() const {
  int64_t count = 0;
  for (const Json& role : manifest["roles"]) count += role.value("ranks", int64_t{0});
  return count;
}

bool isJob(llvm::StringRef path) {
  absl::StatusOr<io::Entry> manifest = io::LookAtLink(joined(path, "manifest.json"));
  return manifest.ok() && *manifest != io::Entry::kNone;
}

// Both files are written into a folder beside the target, which takes its place at once; a reader
// never sees one file of the old job and one of the new.
mlir::LogicalResult writeJob(llvm::StringRef path, mlir::ModuleOp module, const Json& manifest,
                             bool force) {
  mlir::MLIRContext* context = module.getContext();
  // Asked before the work, and of what stands there in the instant of the exchange.
  auto accept = [&](const std::string& old) {
    if (!io::HoldsOnly(old, {"manifest.json", "job.mlirbc"}) || !isJob(old))
      return absl::AlreadyExistsError(
          path.str() + ": exists and is no job, or holds more than a job; nothing is replaced");
    return force ? absl::OkStatus()
                 : absl::AlreadyExistsError(path.str() +
                                            ": exists already; give --force to replace it");
  };
  absl::StatusOr<io::Entry> there = io::LookAtLink(path.str());
  if (there.ok() && *there == io::Entry::kFolder &&
      mlir::failed(good(context, path, accept(path.str()))))
    return mlir::failure();
  absl::StatusOr<io::StagedFolder> staged = io::StagedFolder::Create(path.str());
  if (!staged.ok()) return good(context, path, staged.status());
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  if (mlir::failed(mlir::writeBytecodeToFile(module, stream)) ||
      mlir::failed(writeIn(context, joined(staged->path(), "manifest.json"),
                           io::JsonText(manifest, 2) + "\n")) ||
      mlir::failed(writeIn(context, joined(staged->path(), "job.mlirbc"), bytecode)))
    return mlir::failure();
  return good(context, path, staged->PublishOver(accept));
}

mlir::FailureOr<Job> readJob(mlir::MLIRContext* context, llvm::StringRef path) {
  std::string manifestPath = joined(path, "manifest.json"), modulePath = joined(path, "job.mlirbc");
  Job job;
  io::JsonLimits limits;
  limits.bytes = kMaxManifestBytes;
  absl::StatusOr<Json> manifest = io::ReadJson<Json>(manifestPath, limits);
  if (!manifest.ok()) return good(context, manifestPath, manifest.status());
  job.manifest = *std::move(manifest);
  if (mlir::failed(checkManifest(context, manifestPath, job.manifest))) return mlir::failure();
  absl::StatusOr<std::string> bytes = io::ReadText(modulePath, kMaxModuleBytes);
  if (!bytes.ok()) return good(context, modulePath, bytes.status());
  job.module = parseGuarded(context, *bytes, modulePath);
  if (!job.module) return mlir::failure();
  return job;
}

// The manifest is made again from the module, digest included, and has to be the same.
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

// JOB: the folder that `transpile` writes and every other command reads: manifest.json beside
// job.mlirbc (docs/file-formats.md).
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "nlohmann/json.hpp"

namespace dtranspile {

struct Job {
  nlohmann::ordered_json manifest;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  std::string digest() const { return manifest.value("digest", ""); }
  // Ranks of all roles.
  int64_t ranks() const;
};

// True for a folder with a manifest.json.
bool isJob(llvm::StringRef path);

// SHA-256 over what the module (without locations) and the manifest (without its digest) say,
// "sha256:<hex>": the same content gives the same digest everywhere, other content other bytes.
std::string digestOf(mlir::ModuleOp module, const nlohmann::ordered_json& manifest);

// The manifest of a job module: everything that it says, in the form that programs read. `strategy`
// is stored as given; the digest is filled in. What a run reports of fetches takes the analysis of
// relations: where `knownFetches` is given, it says that instead.
nlohmann::ordered_json makeManifest(mlir::ModuleOp module, const nlohmann::ordered_json& strategy,
                                    const nlohmann::ordered_json* knownFetches = nullptr);

// Writes JOB wholly or not at all: a new folder beside it is renamed into place. An existing job is
// an error unless `force`; a folder that is no job is never replaced.
mlir::LogicalResult writeJob(llvm::StringRef path, mlir::ModuleOp module,
                             const nlohmann::ordered_json& manifest, bool force);

// Reads and checks both files. Errors name the file, and the field of the manifest.
mlir::FailureOr<Job> readJob(mlir::MLIRContext* context, llvm::StringRef path);

// The same, and the manifest is what makeManifest says of the module, digest included: for those
// that go by the manifest. Its fetches are covered by the digest alone. `verify` reports a
// difference as a finding instead.
mlir::FailureOr<Job> readUnchangedJob(mlir::MLIRContext* context, llvm::StringRef path);

}  // namespace dtranspile

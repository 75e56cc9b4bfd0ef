// What the data-parallel passes share: finding their way in a job, and building the few framework
// ops that they insert.
#pragma once

#include <vector>

#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::passes {

// What communicators of the data-parallel passes carry (attribute `carries` of dist.comm).
inline constexpr llvm::StringLiteral kGradients = "gradients";        // over all replicas
inline constexpr llvm::StringLiteral kWithin = "gradients within";    // over a group of replicas
inline constexpr llvm::StringLiteral kBetween = "gradients between";  // over the groups
inline constexpr llvm::StringLiteral kStatistics = "statistics";      // of a batch

// A job with one role of replicas, as dp-form-job makes it.
struct DataParallelJob {
  dist::RoleOp role;
  dist::MeshOp mesh;
  pd::ProgramOp main;
  pd::ProgramOp startup;  // null where there is none

  // Number of replicas, and the attribute `scale` that divides by it.
  int64_t replicas() { return mesh.ranks(); }
  mlir::ArrayAttr axes() { return mesh.getAxes(); }
};

// Reports and fails where the module is no such job.
mlir::FailureOr<DataParallelJob> dataParallelJob(mlir::ModuleOp module);

// The communicators that carry `what`, in order of creation.
std::vector<dist::CommOp> commsCarrying(mlir::ModuleOp job, llvm::StringRef what);
mlir::FlatSymbolRefAttr symbolOf(dist::CommOp comm);

// Those that carry gradients; reports and fails where the job has none.
mlir::FailureOr<std::vector<dist::CommOp>> gradientComms(mlir::ModuleOp job);

// dist.all_reduce sum(value) on comm.
mlir::Value sumOver(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value,
                    mlir::FlatSymbolRefAttr comm);

// Calls `visit` for every parameter of every framework op that has the slots Param, Grad and
// ParamOut, those of sub-blocks included. A learning rate is no mark of an update: adadelta has
// none.
void forEachUpdate(pd::ProgramOp program,
                   llvm::function_ref<void(pd::OpView, llvm::StringRef parameter)> visit);

// Bytes of a value; -1 where its shape is not known or it is no dense tensor.
int64_t bytesOf(mlir::Type type);

// pd.scale X(value) -> Out(name) {scale = factor}.
mlir::Value scale(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value value, double factor,
                  llvm::StringRef name, int role, pd::Declarations& declarations);

// pd.<type> X(x) Y(y) -> Out(name): an element-wise op without broadcast beyond `axis`.
mlir::Value elementwise(mlir::OpBuilder& builder, mlir::Location loc, llvm::StringRef type,
                        mlir::Value x, mlir::Value y, llvm::StringRef name, int role,
                        pd::Declarations& declarations, int axis = -1);

// The direct child of `block` that is or contains `op`.
mlir::Operation* inBlock(mlir::Block* block, mlir::Operation* op);

// Adds {tag, statement, sites} to the contracts of the job; sites of an existing tag are joined.
void addContract(mlir::ModuleOp job, llvm::StringRef tag, llvm::StringRef statement,
                 llvm::ArrayRef<std::string> sites);
bool hasContract(mlir::ModuleOp job, llvm::StringRef tag);

}  // namespace dtranspile::passes

// What passes over jobs share: finding their way in one, and building the few framework ops that
// they insert.
#pragma once

#include <vector>

#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::passes {

// What communicators carry (attribute `carries` of dist.comm).
inline constexpr llvm::StringLiteral kGradients = "gradients";        // over all replicas
inline constexpr llvm::StringLiteral kWithin = "gradients within";    // over a group of replicas
inline constexpr llvm::StringLiteral kBetween = "gradients between";  // over the groups
inline constexpr llvm::StringLiteral kShards = "shards";  // parts of gradients and parameters
inline constexpr llvm::StringLiteral kStatistics = "statistics";  // of a batch
inline constexpr llvm::StringLiteral kLayers = "layers";          // what layers that are split give

// A job with one role that computes, as form-job makes it, and the axes of that role's mesh that a
// pass works on. Roles of servers stand aside.
struct JobOnAxes {
  dist::RoleOp role;
  dist::MeshOp mesh;
  pd::ProgramOp main;
  pd::ProgramOp startup;  // null where there is none
  mlir::ArrayAttr axes;   // in mesh order
  int64_t ranks = 1;      // that differ along these axes: the product of their sizes
};

// Reports and fails where the module is no such job, and where `axes` are none of its mesh's, or
// none at all.
mlir::FailureOr<JobOnAxes> jobOnAxes(mlir::ModuleOp module, llvm::ArrayRef<std::string> axes);

// Whether the main program of a role is a server's loop.
bool serves(dist::RoleOp role);

// "[dp, sharding]"
std::string listOf(mlir::ArrayAttr axes);

// The communicators over exactly these axes that carry `what`, in order of creation; reports and
// fails where the job has none.
mlir::FailureOr<std::vector<dist::CommOp>> commsCarrying(mlir::ModuleOp job, llvm::StringRef what,
                                                         mlir::ArrayAttr axes);
mlir::FlatSymbolRefAttr symbolOf(dist::CommOp comm);

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

// Adds {tag, statement, sites} to the contracts of the job; sites of an existing tag are joined,
// and its statement stays where none is given.
void addContract(mlir::ModuleOp job, llvm::StringRef tag, llvm::StringRef statement,
                 llvm::ArrayRef<std::string> sites);
bool hasContract(mlir::ModuleOp job, llvm::StringRef tag);

}  // namespace dtranspile::passes

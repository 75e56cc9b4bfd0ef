// Settings of a role that change nothing of what it computes: attributes of dist.role. Flags of a
// run win over them.
#pragma once

#include "dialects/dist/dist.h"

namespace dtranspile::dist {

inline constexpr llvm::StringLiteral kDeviceAttr = "dist.device";
inline constexpr llvm::StringLiteral kThreadsAttr = "dist.threads";

inline constexpr llvm::StringLiteral kDevices[] = {"cpu", "cuda"};

// What the ranks of a role run on; empty where the job does not say.
inline llvm::StringRef deviceOf(RoleOp role) {
  auto device = role->getAttrOfType<mlir::StringAttr>(kDeviceAttr);
  return device ? device.getValue() : llvm::StringRef();
}

// Threads of each rank of a role; 0 where the job does not say.
inline int64_t threadsOf(RoleOp role) {
  auto threads = role->getAttrOfType<mlir::IntegerAttr>(kThreadsAttr);
  return threads ? threads.getInt() : 0;
}

}  // namespace dtranspile::dist

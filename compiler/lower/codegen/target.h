// The machine that kernels are compiled for: recorded in every plan, part of every cache key.
#pragma once

#include <string>

namespace dtranspile::lower {

struct Target {
  std::string cpu;       // LLVM's name
  std::string features;  // LLVM's feature string, sorted
};

// The machine that this process runs on.
Target hostTarget();

// Pipeline and text format of kernels; a new number makes every cached object stale.
inline constexpr int kPipelineVersion = 2;

}  // namespace dtranspile::lower

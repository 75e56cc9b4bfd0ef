// Drawing what stages run: shared by the planned schedule and by the one that ran.
#pragma once

#include "compiler/schedule/schedule.h"
#include "dialects/dist/dist.h"
#include "tools/dtranspile/page/ran.h"
#include "tools/dtranspile/page/svg.h"

namespace dtranspile::page {

// Pixels: left of a row its name, right of it a remark, and its height.
inline constexpr int kNames = 96, kTail = 130, kRow = 30;

// The colour of a task, by style.cc.
const char* styleOf(schedule::Task task);

// "F2" within a box, if there is room for it.
void labelBox(Svg& svg, int x, int y, int width, const std::string& text);

// The rank of a stage whose other coordinates are 0.
int64_t firstRankOf(dist::MeshOp mesh, llvm::StringRef axis, int64_t stage);

// The rows of a planned schedule: the tasks of each stage in its order.
using PlannedRows = std::vector<std::vector<schedule::Entry>>;

// The step of median length of a pipeline, from the traces of the first rank of each stage; nothing
// where there are none. `idle` is the planned share of time, in percent.
struct RanPipeline {
  const PlannedRows& planned;
  int64_t idle;
  llvm::StringRef role, axis;
  dist::MeshOp mesh;
};
void writeRan(const RanPipeline& pipeline, const Traces& traces, Html& html);

}  // namespace dtranspile::page

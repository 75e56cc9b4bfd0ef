// The list of all passes: one line per pass in passes.cc. Called by dtranspile-opt and by the
// pipelines.
#pragma once

namespace dtranspile::passes {

// Makes every pass and every named pipeline available to textual pipelines. Safe to call twice.
void registerAll();

}  // namespace dtranspile::passes

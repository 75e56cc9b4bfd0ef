// RUN: not dtranspile-opt %s --specialize="rank=2" 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not dtranspile-opt %s --specialize="class=other" 2>&1 | FileCheck %s --check-prefix=CLASS

// RANK: :7:1: error: has no rank 2; the last one is 1
// CLASS: :7:1: error: has no class of ranks 'other'
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {}
}

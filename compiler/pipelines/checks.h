// What stands between the passes of a pipeline, as passes of their own: what a saved program must
// not hold to be made a job of, and what a job must say of itself at the end.
#pragma once

namespace dtranspile {

// `check-source`: every op of the programs is one that passes may rewrite around. Refused, all of
// them at once and by name: ops without a row (custom ops, py_func, pylayer, run_program), ops that
// communicate (the input is the single-device program), and ops of the main program that read or
// write files or take their input from a reader, since every rank would do so.
// `declare-sites`: the job declares the ops behind which it equals the reference on each rank's
// share of the batch, and not on the whole batch.
void registerChecks();

}  // namespace dtranspile

#ifndef DTRANSPILE_PASSES_PIPELINE
#define DTRANSPILE_PASSES_PIPELINE
include "passes/field_options.td"

def Pipeline : Pass<"pipeline", "::mlir::ModuleOp"> {
  let summary = "the forward and backward part become tasks of stages, run per micro-batch";
  let description = [{
    Behind form-job, cut-batch, scale-loss and reduce-gradients, which see micro-batches as one more
    axis of ranks, and assign-stages. The axis `micro` becomes a time axis; the ops of the forward and
    backward part become a `dist.micro` with a task F and a task B for every part of the model;
    values go from stage to stage by `dist.transfer`, to where they are read. A sum over the axis
    `micro` becomes an accumulation, which begins with zeros; what is left of the axes of such a sum
    is summed once, behind the loop.

    What runs once per step stands behind the loop, each op on the stages that need what it gives and
    have what it takes. A sum of terms of several stages (a global norm; the gradient of a parameter
    that several stages read) takes every term from one stage, zeros from the others, and is an
    `all_reduce`. Any other value that a stage needs and does not have is broadcast. A variable is on
    the stages that read it in the loop, or where what is set to it is; learning rates, schedules and
    counters are on all. In start-up each stage makes its own variables; those that several stages
    hold and that are drawn are broadcast.

    The loss, and every other number of the forward part of which the analysis knows how, is added up
    over the micro-batches and scaled to what the program computes of the whole batch.

    Under a schedule with tasks W (ZB-H1) gradients of products become two ops: what another stage
    waits for stays in B, the gradient of the weight and what is computed of it goes into W.

    Running statistics of a batch norm go through the micro-batches: each takes them as the one before
    has left them, and what the last one gives is set behind the loop. With several micro-batches that
    is contract `micro_statistics`.

    Refused by name: any other variable that is set once per micro-batch, where there are several,
    among them statistics that two norms share or that another op reads; gradients by rows; an op that takes a value of a later stage in the
    forward part, or of an earlier one's gradient in the backward part; control flow that needs
    several stages; values of micro-batches that an update reads and that are no sum over them.

    Example: `pipeline{axes=pp micro=micro schedule_mode=1F1B}`

        %h = pd.tanh … {dist.stage = 0} ; %l = pd.mean X(%h) {dist.stage = 1} …
        --->
        %sum:2 = dist.micro over [micro] schedule("1F1B", chunks 1) iter(…) {
          %f0 = dist.on <pp = 0> task F { %h = pd.tanh … ; dist.yield %h }
          %t = dist.transfer %f0 on @forward : !dist.at<…, pp = 0> -> !dist.at<…, pp = 1>
          %f1 = dist.on <pp = 1> with (%h = %t) task F { %l = pd.mean X(%h) … }
          … }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [
    axesOption,
    Option<"micro", "micro", "std::string", "\"micro\"", "the axis that becomes micro-batches">,
  ] # FieldOptions<"pipeline">.options;
}
#endif

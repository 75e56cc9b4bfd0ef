#ifndef DTRANSPILE_PASSES_FORM_JOB
#define DTRANSPILE_PASSES_FORM_JOB
include "passes/field_options.td"

def FormJob : Pass<"form-job", "::mlir::ModuleOp"> {
  let summary = "a saved program becomes a job with one role";
  let description = [{
    Input: a module with `pd.var`s, `pd.program @main` and, where there is one, `pd.program
    @startup`. Output: the same as nested module `@source` (as `@reference` where keep-source has made
    an `@source` already), a mesh of `axes` (the last one fastest),
    communicators over `comm-axes`, and `dist.role @trainer` with copies. Copies carry `dist.src`,
    variables `dist.rel` (replicated). Every rank computes the whole program; nothing communicates
    yet.

    Communicators: `nccl_comm_num` that carry gradients, one for statistics under `sync_batch_norm`,
    and under `use_hierarchical_allreduce` also as many per level: over the second of two
    `comm-axes` (within a group) and over the first (between groups). One over `layer-axis` carries what
    layers that are split over it give. `comm-axes=none` makes none:
    the ranks speak to servers only.

    SIZE is a number, `stages`: how many devices op_device names (`stages/V`: V of them on a stage), or
    NUMBER/ in front of these: how many such pipelines so many ranks are.

    Example: `form-job{axes=dp:4 comm-axes=dp}`

        pd.program @main { %x = pd.input "x" : tensor<?x13xf32> … }
        --->
        dist.mesh @world [dp = 4]
        dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
        module @source { pd.program @main { … } }
        dist.role @trainer on @world { pd.program @main { … } }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [
    ListOption<"axes", "axes", "std::string", "NAME:SIZE of every axis of the mesh">,
    ListOption<"commAxes", "comm-axes", "std::string", "the axes that communicators go over">,
    Option<"layerAxis", "layer-axis", "std::string", "\"\"",
           "the axis that layers are split over, if they are">,
  ] # FieldOptions<"form-job">.options;
}
#endif

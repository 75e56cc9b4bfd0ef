// Which requests go together. A feature is what a request asks for by one switch; every pair of
// features has a verdict. Read by generate.py in the build: the rows of composition.cc and the page
// docs/composition.md. The build fails where a pair of features that are there has no row.
#ifndef DTRANSPILE_STRATEGY_PAIRS
#define DTRANSPILE_STRATEGY_PAIRS
include "compiler/strategy/fields.td"

class Feature<string nm, string what> {
  string name = nm;      // as users say it: the entry of a strategy file, or of a request
  string meaning = what;
  string on = "";        // FIELD=VALUE of the request; empty: there is no pass yet
}

// In the order in which passes apply them: first what changes the program of one device, then what
// distributes it.
def Amp : Feature<"amp", "mixed precision"> { let on = "amp=true"; }
def Recompute : Feature<"recompute", "activations computed again"> {
  let on = "recompute=true";
}
def Lars : Feature<"lars", "momentum with a rate per layer"> { let on = "lars=true"; }
def Lamb : Feature<"lamb", "adam with a rate per layer"> { let on = "lamb=true"; }
def Asp : Feature<"asp", "two of four weights are zero"> { let on = "asp=true"; }
def Lookahead : Feature<"lookahead", "slow weights"> { let on = "lookahead=true"; }
def GradientMerge : Feature<"gradient_merge", "gradients merged over steps"> {
  let on = "gradient_merge=true";
}
def Pipeline : Feature<"pipeline", "stages on different ranks"> { let on = "pipeline=true"; }
def TensorParallel : Feature<"tensor_parallel", "layers split over ranks"> {
  let on = "tensor_parallel=true";
}
def SequenceParallel : Feature<"sequence_parallel", "sequences in parts between split layers"> {
  let on = "sequence_parallel=true";
}
def Sharding : Feature<"sharding", "parameters and state cut over ranks"> { let on = "sharding=true"; }
def ShardingOwner : Feature<"sharding_form owner", "parameters on ranks that own them"> {
  let on = "sharding_form=owner";
}
def Served : Feature<"mode pserver", "parameters lie on servers"> { let on = "mode=pserver"; }
def LocalSgd : Feature<"localsgd", "parameters averaged, gradients not reduced"> {
  let on = "collective_mode=local_sgd";
}
def AdaptiveLocalSgd : Feature<"adaptive_localsgd", "averaged when the loss says so"> {
  let on = "adaptive_localsgd=true";
}
def Dgc : Feature<"dgc", "gradients travel as their largest elements"> { let on = "dgc=true"; }
def Fp16AllReduce : Feature<"fp16_allreduce", "gradients travel in half precision"> {
  let on = "fp16_allreduce=true";
}
def SyncBatchNorm : Feature<"sync_batch_norm", "statistics of the whole batch"> {
  let on = "sync_batch_norm=true";
}
def Hierarchical : Feature<"use_hierarchical_allreduce", "sums level by level"> {
  let on = "use_hierarchical_allreduce=true";
}

// What holds of `of` and each of `with`.
class Pair<Feature of, list<Feature> with> {
  Feature one = of;
  list<Feature> others = with;
  string verdict = ?;
  string why = "";
  string shown = "";  // name of the end-to-end test
}
class Composes<Feature of, list<Feature> with, string test, string how = "">
    : Pair<of, with> {
  let verdict = "composes";
  let shown = test;
  let why = how;
}
class Conflicts<Feature of, list<Feature> with, string reason> : Pair<of, with> {
  let verdict = "conflicts";
  let why = reason;
}
// Makes sense, and some part of it is not there yet.
class Later<Feature of, list<Feature> with, string missing> : Pair<of, with> {
  let verdict = "later";
  let why = missing;
}

def : Conflicts<Lars, [Lamb], "each is an update rule of its own, and a parameter has one">;
def : Conflicts<Dgc, [Lars, Lamb],
                "dgc corrects the momentum of a plain momentum update; a rate per layer needs the "
                "whole gradient, which no rank has">;
def : Conflicts<Dgc, [Amp, Fp16AllReduce],
                "what is kept back is added up over many steps, which half precision rounds away">;
def : Conflicts<Dgc, [GradientMerge],
                "what dgc keeps back is merged over steps already">;
def : Conflicts<Dgc, [Sharding, TensorParallel, SequenceParallel],
                "the largest elements are those of a whole gradient, and ranks hold parts">;
def : Conflicts<Dgc, [Pipeline], "stages hold momentum of their own parameters only">;
def : Conflicts<Dgc, [LocalSgd, AdaptiveLocalSgd],
                "gradients do not travel where parameters are averaged">;
def : Conflicts<Dgc, [Hierarchical],
                "sparse gradients are gathered by all ranks, not summed level by level">;
def : Composes<Dgc, [Recompute], "pair_dgc_recompute">;
def : Composes<Dgc, [SyncBatchNorm], "dgc_sync_batch_norm">;
def : Composes<AdaptiveLocalSgd, [Recompute], "pair_recompute_adaptive">;
def : Composes<AdaptiveLocalSgd, [Lars], "pair_lars_adaptive">;
def : Composes<AdaptiveLocalSgd, [Lamb], "pair_lamb_adaptive">;
def : Later<AdaptiveLocalSgd, [Hierarchical],
            "the mean loss that decides would have to be followed through sums of several levels">;
def : Later<AdaptiveLocalSgd, [Amp],
            "each replica would scale by a number of its own, and leave out steps of its own">;
def : Later<AdaptiveLocalSgd, [GradientMerge],
            "parameters would be averaged in the branch of the k-th step">;
def : Conflicts<AdaptiveLocalSgd, [SyncBatchNorm],
                "statistics of the whole batch couple replicas that take a step on their own">;
def : Conflicts<LocalSgd, [AdaptiveLocalSgd],
                "both say after how many steps parameters are averaged">;
def : Conflicts<Fp16AllReduce, [LocalSgd, AdaptiveLocalSgd],
                "gradients do not travel where parameters are averaged">;
def : Conflicts<Fp16AllReduce, [Amp],
                "gradients of mixed precision travel as they are computed, in half precision">;
def : Conflicts<Sharding, [LocalSgd, AdaptiveLocalSgd],
                "a parameter that is cut over ranks has no copies to average">;
def : Conflicts<Served,
                [Dgc, Fp16AllReduce, LocalSgd, AdaptiveLocalSgd, Sharding, ShardingOwner, Pipeline,
                 TensorParallel, SequenceParallel, Hierarchical],
                "trainers speak to servers only, not to each other">;
def : Conflicts<Served, [SyncBatchNorm],
                "trainers speak to servers only, and statistics of the whole batch need all "
                "trainers; use mode collective">;

def : Composes<Recompute, [Lars], "lars_recompute">;
def : Composes<Recompute, [Lamb], "lamb_recompute">;
def : Composes<Recompute, [GradientMerge], "gradient_merge_recompute">;
def : Composes<Recompute, [Served], "pserver_recompute">;
def : Composes<Recompute, [LocalSgd], "pair_recompute_localsgd">;
def : Composes<Recompute, [SyncBatchNorm], "recompute_sync_batch_norm">;
def : Composes<Recompute, [Hierarchical], "recompute_hierarchical">;
def : Composes<Recompute, [Sharding], "recompute_sharding">;
def : Composes<Recompute, [Fp16AllReduce], "pair_recompute_fp16_allreduce">;
def : Composes<Lars, [Fp16AllReduce], "pair_lars_fp16_allreduce">;
def : Composes<Lamb, [Fp16AllReduce], "pair_lamb_fp16_allreduce">;
def : Composes<GradientMerge, [Fp16AllReduce], "pair_gradient_merge_fp16_allreduce">;
def : Composes<SyncBatchNorm, [Fp16AllReduce], "fp16_all_reduce_batch_norm">;
def : Composes<Hierarchical, [Fp16AllReduce], "fp16_all_reduce_hierarchical">;
def : Composes<Amp, [Lars], "amp_lars">;
def : Composes<Amp, [Lamb], "amp_lamb">;
def : Composes<Amp, [Hierarchical], "amp_hierarchical">;
def : Composes<Amp, [GradientMerge], "amp_gradient_merge",
               "gradients are added up in float32 with the scale in them, and looked at once per "
               "update">;
def : Composes<Amp, [SyncBatchNorm], "amp_sync_batch_norm",
               "statistics are taken in float32">;
def : Composes<Amp, [Recompute], "amp_recompute">;
def : Composes<Amp, [Sharding], "amp_sharding",
               "each rank looks at its parts, and all know whether any has found something">;
def : Composes<Amp, [Served], "amp_servers",
               "servers, which know the sums of gradients, agree on whether one overflows, leave the round "
               "out, and hand the scale on to the trainers">;
def : Composes<Amp, [LocalSgd], "pair_amp_localsgd",
               "each replica scales by a number of its own, and leaves out steps of its own">;
def : Composes<Lars, [Served, Hierarchical], "lars_recorded">;
def : Composes<Lamb, [Served, Hierarchical], "lamb_recorded">;
def : Composes<Lars, [LocalSgd], "pair_lars_localsgd">;
def : Composes<Lamb, [LocalSgd], "pair_lamb_localsgd">;
def : Composes<Lars, [SyncBatchNorm], "lars_sync_batch_norm">;
// No saved program of the tests has both adam and batch_norm.
def : Composes<Lamb, [SyncBatchNorm], "">;
def : Composes<GradientMerge, [Lars, Lamb], "gradient_merge_rules">;
def : Later<GradientMerge, [Served], "servers would take what a trainer has merged every k-th step">;
def : Later<GradientMerge, [LocalSgd],
            "parameters would be averaged in the branch of the k-th step">;
def : Later<GradientMerge, [Hierarchical],
            "sums within the branch of the k-th step are not taken apart into levels">;
def : Later<GradientMerge, [SyncBatchNorm],
            "running statistics would have to move once for all merged steps">;
def : Composes<Sharding, [Lars, Lamb], "sharding_rules",
               "norms of parameters are summed up from parts; in pipelines and branches what takes them is "
               "updated whole on every rank">;
def : Composes<Sharding, [GradientMerge], "pair_gradient_merge_sharding">;
def : Composes<Sharding, [SyncBatchNorm], "sharding_sync_batch_norm">;
def : Composes<Sharding, [Fp16AllReduce], "pair_sharding_fp16_allreduce",
               "gradients travel to the ranks of their parts in half precision, parameters come back as "
               "they are; not in pipelines">;
def : Later<Sharding, [Hierarchical],
            "parts would be summed level by level; ranks beside sharding_degree sum parts already">;
def : Composes<Sharding, [ShardingOwner], "owner_mnist_mlp", "the form of sharding">;
def : Conflicts<ShardingOwner, [Dgc],
                "the largest elements are those of a gradient that every rank has">;
def : Conflicts<ShardingOwner, [LocalSgd, AdaptiveLocalSgd],
                "a parameter that one rank owns has no copies to average">;
def : Composes<ShardingOwner, [Amp], "amp_owner",
               "each owner looks at its gradients, and all know whether any has found something">;
def : Composes<ShardingOwner, [Recompute], "recompute_owner">;
def : Composes<ShardingOwner, [Lars, Lamb], "owner_rules",
               "an owner has whole parameters, and so their norms">;
def : Composes<ShardingOwner, [Asp], "asp_owner", "masks lie with the owners of their weights">;
def : Composes<ShardingOwner, [Lookahead], "lookahead_owner",
               "slow weights lie with the owners of their parameters, and all ranks count">;
def : Composes<ShardingOwner, [GradientMerge], "pair_gradient_merge_owner",
               "every rank adds up its gradients; in the branch of the k-th step owners take the sums">;
def : Composes<ShardingOwner, [Fp16AllReduce], "pair_owner_fp16_allreduce",
               "gradients travel to owners in half precision, parameters come back as they are">;
def : Composes<ShardingOwner, [SyncBatchNorm], "owner_sync_batch_norm">;
def : Later<ShardingOwner, [Pipeline],
            "owners would have to be chosen stage by stage; flat parts go with pipelines">;
def : Later<ShardingOwner, [TensorParallel, SequenceParallel],
            "parts of layers would have owners among their own ranks; flat parts go with split layers">;
def : Later<ShardingOwner, [Hierarchical],
            "gradients would be summed level by level on the way to an owner">;
def : Composes<Lars, [Pipeline], "pair_lars_pipeline">;
def : Composes<Lamb, [Pipeline], "pair_lamb_pipeline">;
def : Composes<Pipeline, [Amp], "amp_pipeline",
               "each stage looks at its gradients, and all know whether any has found something">;
def : Composes<Pipeline, [Recompute], "pair_recompute_pipeline">;
def : Composes<Asp, [Pipeline], "asp_pipeline", "masks lie on the stages of their weights">;
def : Composes<GradientMerge, [Pipeline], "pair_gradient_merge_pipeline",
               "every step adds up its micro-batches; in the branch of the k-th step each stage updates "
               "what is its own">;
def : Composes<Amp, [TensorParallel], "pair_amp_tensor_parallel",
               "every rank looks at its parts of the gradients, and the flags are joined">;
def : Composes<GradientMerge, [TensorParallel], "pair_gradient_merge_tensor_parallel",
               "the branch of the k-th step works on parts">;
def : Composes<Recompute, [TensorParallel], "pair_recompute_tensor_parallel",
               "sums of layers that are computed again are sent again">;
def : Composes<TensorParallel, [Lars], "pair_lars_tensor_parallel",
               "norms of parameters are summed up from parts; in pipelines and branches what takes them is "
               "updated whole on every rank">;
def : Composes<TensorParallel, [Lamb], "pair_lamb_tensor_parallel",
               "norms of parameters are summed up from parts; in pipelines and branches what takes them is "
               "updated whole on every rank">;
def : Composes<TensorParallel, [Fp16AllReduce], "pair_tensor_parallel_fp16_allreduce",
               "gradients travel between replicas in half precision, sums of layers as they are">;
def : Composes<Pipeline, [TensorParallel], "pair_pipeline_tensor_parallel",
               "sums of layers stand in the tasks of their stages">;
def : Composes<Sharding, [TensorParallel], "sharding_tensor_parallel",
               "what is cut by rows or columns is cut flat once more">;
def : Later<TensorParallel, [LocalSgd, AdaptiveLocalSgd],
            "parts would be averaged over the replicas only">;
def : Later<TensorParallel, [SyncBatchNorm],
            "channels of statistics would have to lie as the parts of layers do">;
def : Later<TensorParallel, [Hierarchical],
            "the mesh has one axis of replicas beside that of layers">;
def : Composes<TensorParallel, [SequenceParallel], "tensor_parallel_sequence_gpt_tiny",
               "what is summed behind one layer and needed whole by the next lies in parts between them">;
def : Composes<Amp, [SequenceParallel], "pair_amp_sequence_parallel",
               "parts travel in the precision that layers compute in">;
def : Composes<Recompute, [SequenceParallel], "pair_recompute_sequence_parallel",
               "what is computed again is put together again">;
def : Later<SequenceParallel, [Pipeline],
            "stages would have to hand on parts of activations, and take no sums of terms in parts">;
def : Later<SequenceParallel, [Sharding, Fp16AllReduce, GradientMerge, Asp, Lookahead, Lars, Lamb],
            "it has not been shown on programs yet">;
def : Later<SequenceParallel, [LocalSgd, AdaptiveLocalSgd],
            "parts of layers would be averaged over the replicas only">;
def : Later<SequenceParallel, [SyncBatchNorm],
            "channels of statistics would have to lie as the parts of layers do">;
def : Later<SequenceParallel, [Hierarchical],
            "the mesh has one axis of replicas beside that of layers">;
def : Later<Asp, [AdaptiveLocalSgd],
            "what replicas average would have to be known to be pruned alike">;
def : Later<Lookahead, [AdaptiveLocalSgd], "every replica would have slow weights of its own">;
def : Later<Dgc, [Asp, Lookahead], "it has not been shown on programs yet">;
def : Composes<Asp, [TensorParallel], "asp_tensor_parallel",
               "masks are whole on every rank, which takes its part of them">;
def : Composes<Lookahead, [TensorParallel], "lookahead_tensor_parallel",
               "slow weights are cut as weights are">;
def : Composes<Sharding, [Pipeline], "sharding_pipeline",
               "every stage cuts what is its own over its replicas">;
def : Later<Pipeline, [LocalSgd, AdaptiveLocalSgd],
            "each stage would have to average its own parameters">;
def : Composes<Pipeline, [Fp16AllReduce], "pair_pipeline_fp16_allreduce",
               "gradients are added up over the micro-batches in full, and rounded to travel">;
def : Later<Pipeline, [SyncBatchNorm],
            "statistics would be those of a micro-batch on all replicas">;
def : Later<Pipeline, [Hierarchical],
            "sums of gradients stand in the parts of stages and are not taken apart into levels">;
def : Composes<Amp, [Asp], "asp_amp">;
def : Composes<Recompute, [Asp], "asp_recompute">;
def : Composes<Lars, [Asp], "asp_lars">;
def : Composes<Lamb, [Asp], "asp_lamb">;
def : Composes<Asp, [Lookahead], "asp_lookahead",
               "slow weights are pruned where weights are">;
def : Composes<Asp, [GradientMerge], "asp_merge">;
def : Composes<Asp, [Fp16AllReduce], "asp_fp16_all_reduce">;
def : Composes<Asp, [SyncBatchNorm], "asp_sync_batch_norm">;
def : Composes<Asp, [Hierarchical], "asp_hierarchical">;
def : Composes<Asp, [Sharding], "asp_sharding", "masks stay whole on every rank">;
def : Composes<Asp, [Served], "asp_servers", "servers have the masks of their blocks">;
def : Composes<Asp, [LocalSgd], "pair_asp_localsgd",
               "masks are equal on all replicas, so what they average is pruned alike">;
def : Composes<Amp, [Lookahead], "lookahead_amp", "a step that is left out does not count">;
def : Composes<Recompute, [Lookahead], "lookahead_recompute">;
def : Composes<Lars, [Lookahead], "lookahead_lars">;
def : Composes<Lamb, [Lookahead], "lookahead_lamb">;
def : Composes<Lookahead, [GradientMerge], "lookahead_merge", "updates count, not steps">;
def : Composes<Lookahead, [Fp16AllReduce], "lookahead_fp16_all_reduce">;
def : Composes<Lookahead, [SyncBatchNorm], "lookahead_sync_batch_norm">;
def : Composes<Lookahead, [Hierarchical], "lookahead_hierarchical">;
def : Composes<Lookahead, [Sharding], "lookahead_sharding", "slow weights stay whole on every rank">;
def : Composes<Lookahead, [Pipeline], "lookahead_pipeline",
               "slow weights lie on the stages of their parameters, and all stages count">;
def : Composes<Lookahead, [Served], "lookahead_servers",
               "servers choose between the weights of every k-th round and those of others, block by block">;
def : Later<Lookahead, [LocalSgd],
            "parameters would have to be averaged behind the branch in which slow weights move">;
def : Composes<Hierarchical, [SyncBatchNorm], "train_hierarchical_sync_batch_norm">;
def : Composes<Hierarchical, [LocalSgd], "pair_localsgd_hierarchical">;
def : Conflicts<LocalSgd, [SyncBatchNorm],
                "statistics of the whole batch couple replicas that take a step on their own">;
#endif

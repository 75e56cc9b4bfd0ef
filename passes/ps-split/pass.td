#ifndef DTRANSPILE_PASSES_PS_SPLIT
#define DTRANSPILE_PASSES_PS_SPLIT
include "passes/field_options.td"

def PsSplit : Pass<"ps-split", "::mlir::ModuleOp"> {
  let summary = "trainers push gradients and pull parameters, servers update: synchronous rounds";
  let description = [{
    Takes the update part out of the trainers' `@main` and makes a server role of it, on a mesh
    `[ps = servers]`. Trainers push every gradient where it is complete, end the pushes, pull every
    parameter that they read, and end the pulls. The servers' round runs, stage by stage, what is
    the same on all of them (the schedule of the learning rate, what is made of norms), then a loop
    over the blocks of each parameter; a sum over the blocks of all servers is the end of a stage.
    Pushes are combined as `scale-loss` would scale: mean where the loss is one value per share of
    the batch, sum where it is a sum over the batch. Powers of decay rates, which update ops hand
    on, are the same for all blocks and advance once per round, outside of the loops.

    A parameter of which trainers look rows up and need nothing else (`is_sparse` lookups
    at the top of the program, and their gradients) stays on the servers: lookups become requests
    for rows, which move up behind their ids, so that a step asks for all of them at once. Gradients of SelectedRows are merged as rows where all that takes them updates rows by
    themselves.

    `serve=async` and `half_async`: servers apply every push by itself. Each parameter has a handler
    of its own, with what its update takes: the state of its blocks, the schedule's rate made anew
    of the counter, powers of its decay rates after the loop. What is set once per step for all of
    them (the counter) is the handler of a variable that trainers push to when a step's gradients
    begin. There are no phases; `half_async` trainers wait for their own pushes. Contract
    `staleness` lists what depends on the order of pushes. Sums over gradients are an error.

    `enable_dc_asgd` (DC-ASGD, for `sgd` with dense gradients): a server takes g + (w - b)*g*g for a
    gradient g, w the parameter as it is and b as the trainer that pushes has pulled it last
    (`pd.get @w {dist.as_pulled}`). Contract `delay_compensation`.

    `sum_distributed_tables`: gradients of tables that lie by row numbers are summed over the trainers
    and not averaged, as the framework has it. Contract `table_sum` lists the tables.

    Start-up is left to ps-startup. What servers cannot take over is an error: an update inside of
    control flow, a value that the trainers compute and that is no gradient, random numbers, a
    variable that both sides set.

    Example: `ps-split{axes=dp servers=2}`

        %w1 = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) … ; pd.set @w, %w1
        --->
        dist.role @trainer … dist.push %g to @pserver::@w merge mean on @rounds ; dist.phase push on @rounds ; %n = dist.pull @pserver::@w on @rounds ; pd.set @w, %n ; dist.phase pull on @rounds
        dist.role @pserver … dist.serve on @rounds mode sync { dist.handle round { … dist.foreach_block @w (%b) { %g = dist.merged @w ; … pd.sgd … } } }

    Example: `ps-split{axes=dp servers=2 serve=async}`

        dist.role @trainer … dist.push %g to @pserver::@w merge each on @rounds ; %n = dist.pull @pserver::@w on @rounds ; pd.set @w, %n
        dist.role @pserver … dist.serve on @rounds mode async { dist.handle push @w (%from) { … dist.foreach_block @w (%b) { %g = dist.merged @w ; … pd.sgd … } } }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption, serversOption,
                 Option<"serve", "serve", "std::string", "\"sync\"",
                        "sync, async or half_async: whether servers wait for all trainers">] #
                FieldOptions<"ps-split">.options;
}
#endif

#ifndef DTRANSPILE_PASSES_PS_EXCHANGE
#define DTRANSPILE_PASSES_PS_EXCHANGE
include "passes/field_options.td"

def PsExchange : Pass<"ps-exchange", "::mlir::ModuleOp"> {
  let summary = "geo-SGD: trainers train by themselves and exchange changes with servers";
  let description = [{
    In place of ps-split. Trainers keep the whole program; a server role on a mesh `[ps = servers]`
    holds the trained parameters, as ps-place has cut them. At the end of every
    `geo_sgd_need_push_nums`-th step a trainer pushes its share of how far it has come since the last
    exchange, pulls what the servers have then, and goes on from there with what others have added:

        m = (x - y) / N ;  push m ;  z = pull ;  x = x + (z - (y + m)) ;  y = z

    x is the trainer's parameter `<p>`, y what the servers had after the last exchange as far as this
    trainer knows, `<p>@SNAPSHOT`. A server adds every push to what it has. All pushes go out before
    the first pull. Of a parameter with a gradient of SelectedRows only rows travel: those that the
    trainer has changed, and those that others have changed since it asked last.

    The contract `geo` says so; declare-relations lists in it what differs between trainers by their
    own updates. Start-up is left to ps-startup, which sets x and y to what it pulls. Steps are
    counted by `geo_sgd_step`. A program without start-up program is an error, and a trained
    parameter without dims or elements.

    Example: `ps-exchange{axes=dp servers=2 geo_sgd_need_push_nums=4}`

        %w1 = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) … ; pd.set @w, %w1
        --->
        dist.role @trainer … pd.set @w, %w1 ; pd.conditional_block Cond(step mod 4 == 0) { %d = pd.elementwise_sub X(%x) Y(%y) ; %m = pd.scale X(%d) {scale = 0.5} ; dist.push %m to @pserver::@w merge each on @rounds ; %z = dist.pull @pserver::@w on @rounds ; … pd.set @w, %n ; pd.set @"w@SNAPSHOT", %z }
        dist.role @pserver … dist.serve on @rounds mode geo { dist.handle push @w (%from) { dist.foreach_block @w (%b) { %m = dist.merged @w ; %p = pd.get @w ; %n = pd.elementwise_add X(%p) Y(%m) ; pd.set @w, %n } } }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption, serversOption] # FieldOptions<"ps-exchange">.options;
}
#endif

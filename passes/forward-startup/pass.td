#ifndef DTRANSPILE_PASSES_FORWARD_STARTUP
#define DTRANSPILE_PASSES_FORWARD_STARTUP
include "mlir/Pass/PassBase.td"

def ForwardStartup : Pass<"forward-startup", "::mlir::ModuleOp"> {
  let summary = "start-up reads nothing back that it has set";
  let description = [{
    In the start-up program of every role a `pd.get` of a variable that a `pd.set` at the top has set
    becomes the value that was set, and a `pd.set` that a later one at the top makes useless goes.
    Loops and branches that set a variable, or read it, leave its sets and what reads it behind them
    as they are. `@reference` stays.

    For passes that give every rank the variables it needs: a stage or a server that has one of them
    computes what it is made of, and need not have the others. Masks (asp) and slow weights
    (lookahead) are made of what start-up has set.

    Example: `forward-startup`

        pd.set @w, %1 ; %2 = pd.get @w ; %3 = pd.scale X(%2) ; pd.set @w, %3
        --->
        %3 = pd.scale X(%1) ; pd.set @w, %3
  }];
}
#endif

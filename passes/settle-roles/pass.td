#ifndef DTRANSPILE_PASSES_SETTLE_ROLES
#define DTRANSPILE_PASSES_SETTLE_ROLES
include "mlir/Pass/PassBase.td"

def SettleRoles : Pass<"settle-roles", "::mlir::ModuleOp"> {
  let summary = "ops of the update that the program's author wrote get its role";
  let description = [{
    The framework gives the ops that its optimizers append the role Optimize. What a user writes
    between the backward part and the update, in front of it or behind it (gradients that are
    changed, counters, averages and clips of parameters) has the role Forward, and what comes after
    would take it for a part of the step. An op gets the role Optimize if

    * neither the loss nor a gradient follows from it, by values or by variables,
    * it follows from no feed but through complete gradients (those that the last op with role
      Backward lists in op_role_var),
    * only the update and variables take what it gives, and
    * no other op sets behind it a variable that it reads.

    What follows from variables alone, and is taken by the step as well as by the update or set to a
    variable (a counter of steps, a teacher that follows in the forward part), is computed once
    more for the update: the step computes it of the same variables, as often as it runs.

    Where the program merges gradients itself, a gradient is complete in front of the sum with what
    earlier steps have left. Programs that have all roles are left as they are. For others the source
    is kept, if it is not yet, and the change is declared: rung 4 proves that variables are set to what
    the source sets them to.

    Example: `settle-roles`

        %g = pd.mul_grad … {op_role = 1, op_role_var = ["w", "w@GRAD"]}
        %h = pd.scale X(%g) {op_role = 0, scale = 0.5}     ---> op_role = 2
        pd.sgd Grad(%h) Param(%w) {op_role = 2}
  }];
  let options = [
    Option<"by_block", "by_block", "bool", "false",
           "the update is that of servers: what the step sets by parameters stays with it">,
  ];
}
#endif

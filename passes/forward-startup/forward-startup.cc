// Values of start-up in the place of variables that hold them. After form-job, in front of what
// spreads variables over servers or stages.
#include "dialects/dist/dist.h"
#include "passes/forward-startup/pass.h"
#include "passes/support/update_part.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_FORWARDSTARTUP
#include "passes/forward-startup/pass.h.inc"

namespace {

// The last set of each variable at the top, as long as nothing else can have set it.
class Forward {
 public:
  void run(mlir::Block& body) {
    for (mlir::Operation& op : llvm::make_early_inc_range(body)) {
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) read(get);
      else if (auto set = llvm::dyn_cast<pd::SetOp>(op)) write(set);
      else meet(op);
    }
  }

 private:
  struct Last {
    pd::SetOp set;
    bool isRead = false;  // by what stays
  };

  void read(pd::GetOp get) {
    auto last = last_.find(get.getVarAttr().getAttr());
    if (last == last_.end()) return;
    mlir::Value value = last->second.set.getValue();
    if (value.getType() != get.getType()) {
      last->second.isRead = true;
      return;
    }
    get.replaceAllUsesWith(value);
    get.erase();
  }
  void write(pd::SetOp set) {
    auto [last, first] = last_.try_emplace(set.getVarAttr().getAttr(), Last{set});
    if (first) return;
    // A value that nothing else takes stays set, as it is in the program: without it the op that
    // makes it would be for nothing, and be gone (flat weights, filled before their parts are made
    // one).
    if (!last->second.isRead && !last->second.set.getValue().hasOneUse()) last->second.set.erase();
    last->second = Last{set};
  }
  void meet(mlir::Operation& op) {
    const Touched touched = touchedBy(&op);
    for (mlir::StringAttr name : touched.read)
      if (auto last = last_.find(name); last != last_.end()) last->second.isRead = true;
    for (mlir::StringAttr name : touched.set) last_.erase(name);
  }

  llvm::DenseMap<mlir::StringAttr, Last> last_;
};

struct ForwardStartup : impl::ForwardStartupBase<ForwardStartup> {
  void runOnOperation() override {
    for (auto role : getOperation().getOps<dist::RoleOp>())
      if (auto startup = llvm::dyn_cast_or_null<pd::ProgramOp>(
              mlir::SymbolTable::lookupSymbolIn(role, "startup")))
        Forward().run(*startup.getBodyBlock());
  }
};

}  // namespace
}  // namespace dtranspile::passes

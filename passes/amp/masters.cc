// The framework calls the float32 copy `<p>_fp32_master_0`. Start-up makes the copy and rounds it
// to the parameter; the update takes and gives both (slots MasterParam and MasterParamOut,
// multi_precision); what else the update part does with a parameter, decay or averages, it does
// with the copy.
#include "passes/amp/masters.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "passes/amp/values.h"
#include "passes/support/job.h"
#include "passes/support/update_rule.h"

namespace dtranspile::passes {
namespace {

constexpr llvm::StringLiteral kMaster = "_fp32_master";
// Updates whose kernels know two copies.
constexpr llvm::StringLiteral kTwoCopies[] = {"sgd", "momentum", "adam", "adamw"};

bool isOfUpdate(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) && (pd::OpView(op).role() & pd::kOptimize);
}

class Masters {
 public:
  Masters(pd::ProgramOp main, pd::ProgramOp startup, mlir::Type half,
          pd::Declarations& declarations)
      : main_(main),
        startup_(startup),
        half_(half),
        declarations_(declarations),
        builder_(main.getContext()) {}

  // One parameter after another; a parameter that cannot have a copy is an error, and the others
  // are still looked at, so that all such errors are seen at once.
  mlir::LogicalResult run() {
    llvm::MapVector<mlir::StringAttr, llvm::SmallVector<mlir::Operation*>> updates;
    forEachUpdate(main_, [&](pd::OpView update, llvm::StringRef parameter) {
      updates[builder_.getStringAttr(parameter)].push_back(update.operation());
    });
    bool good = true;
    for (auto& [name, ops] : updates) {
      auto var = llvm::cast<pd::VarOp>(mlir::SymbolTable::lookupNearestSymbolFrom(main_, name));
      if (!isTakenInHalf(var)) continue;
      if (mlir::failed(check(var, ops)) || mlir::failed(inStartup(var))) good = false;
      else inMain(var, ops);
    }
    forget();
    return mlir::success(good);
  }

 private:
  std::vector<pd::GetOp> getsOf(pd::ProgramOp program, pd::VarOp var) {
    std::vector<pd::GetOp> gets;
    program.walk([&](pd::GetOp get) {
      if (get.getVar() == var.getSymName()) gets.push_back(get);
    });
    return gets;
  }
  bool isRounding(mlir::Operation* op) const {
    return pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == "cast" && !isOfUpdate(op) &&
           elementOf(op->getResult(0)) == half_;
  }

  // True where every op outside the update takes the parameter through a cast to half precision,
  // and at least one does. Only then can the variable itself be stored in half precision: any other
  // reader would see rounded values that it did not see before.
  bool isTakenInHalf(pd::VarOp var) {
    bool taken = false;
    for (pd::GetOp get : getsOf(main_, var))
      for (mlir::Operation* user : get->getUsers()) {
        if (isOfUpdate(user)) continue;
        if (!isRounding(user)) return false;
        taken = true;
      }
    return taken;
  }

  // Only updates that have slots for a master copy, of programs of 2.x, can keep one.
  mlir::LogicalResult check(pd::VarOp var, llvm::ArrayRef<mlir::Operation*> updates) {
    for (mlir::Operation* update : updates) {
      const auto refuse = [&](const llvm::Twine& why) {
        return update->emitError("amp: parameter '")
               << var.getSymName() << "' " << why << "; leave use_pure_fp16 and use_pure_bf16 out";
      };
      if (!llvm::is_contained(kTwoCopies, pd::OpView(update).type()) || !isOfVersion2(main_))
        return refuse("is updated by " + pd::OpView(update).type() +
                      (isOfVersion2(main_) ? "" : " of 1.x") +
                      ", which has no form with a copy in float32");
      if (pd::OpView(update).inputCount("MasterParam") > 0) return refuse("has a copy already");
      if (update->getBlock() != main_.getBodyBlock()) return refuse("is updated within a block");
      if (!llvm::isa<mlir::RankedTensorType>(pd::OpView(update).input("Grad").getType()))
        return refuse("has a gradient of SelectedRows");
    }
    return mlir::success();
  }

  std::string masterOf(pd::VarOp var) { return (var.getSymName() + kMaster + "_0").str(); }
  mlir::FlatSymbolRefAttr symbol(llvm::StringRef name) {
    return mlir::FlatSymbolRefAttr::get(builder_.getStringAttr(name));
  }

  // What start-up makes is the copy; rounded it is the parameter.
  mlir::LogicalResult inStartup(pd::VarOp var) {
    const auto refuse = [&](llvm::StringRef why) {
      return startup_.emitError("amp: start-up ")
             << why << " '" << var.getSymName()
             << "', which use_pure_fp16 and use_pure_bf16 keep in two types; leave them out";
    };
    if (!getsOf(startup_, var).empty()) return refuse("reads");
    llvm::SmallVector<pd::SetOp> sets;
    startup_.walk([&](pd::SetOp set) {
      if (set.getVar() == var.getSymName()) sets.push_back(set);
    });
    if (sets.size() != 1 || sets[0]->getBlock() != startup_.getBodyBlock())
      return refuse("does not set once and for all");
    auto made = llvm::dyn_cast<mlir::OpResult>(sets[0].getValue());
    if (!made || !pd::OpView::isFrameworkOp(made.getOwner()) || !made.hasOneUse())
      return refuse("uses otherwise what it makes for");
    const mlir::Type wide = var.getType();
    const std::string master = masterOf(var);
    if (mlir::SymbolTable::lookupNearestSymbolFrom(main_, builder_.getStringAttr(master)))
      return refuse("has a copy already of");
    // A parameter too: a run that is given initial values is to have it among them.
    builder_.setInsertionPointAfter(var);
    pd::VarOp::create(builder_, var.getLoc(), builder_.getStringAttr(master),
                      mlir::TypeAttr::get(wide), builder_.getUnitAttr());
    var.setTypeAttr(mlir::TypeAttr::get(withElement(wide, half_)));
    for (pd::ProgramOp program : {main_, startup_}) {
      declarations_.declare(program.getBodyBlock(), master, wide);
      declarations_.find(program.getBodyBlock(), master).setPersistable(true);
    }
    Values values(startup_, declarations_);
    values.rename(made, master);
    builder_.setInsertionPoint(sets[0]);
    pd::SetOp::create(builder_, sets[0].getLoc(), symbol(master), made);
    for (pd::ProgramOp program : {startup_, main_})
      if (pd::DeclOp decl = declarations_.find(program.getBodyBlock(), var.getSymName()))
        decl.setDtype(code(half_));
    sets[0].getValueMutable().assign(rounded(made, var.getSymName()));
    return mlir::success();
  }

  int32_t code(mlir::Type element) { return static_cast<int32_t>(*pd::dtypeOf(element)); }

  mlir::Value rounded(mlir::Value value, llvm::StringRef name) {
    return declarations_
        .create(
            builder_, value.getLoc(), "cast", {{"X", {value}}},
            {{"Out", {{name.str(), withElement(value.getType(), half_)}}}},
            {builder_.getNamedAttr("in_dtype", builder_.getI32IntegerAttr(code(elementOf(value)))),
             builder_.getNamedAttr("out_dtype", builder_.getI32IntegerAttr(code(half_)))},
            pd::kForward)
        .output("Out");
  }

  // The variable itself becomes one of half precision. Casts of it that the rewrite has put in are
  // superfluous then; the update takes both, and everything else that wanted float32 reads the
  // copy.
  void inMain(pd::VarOp var, llvm::ArrayRef<mlir::Operation*> updates) {
    const std::string master = masterOf(var);
    for (pd::GetOp get : getsOf(main_, var)) {
      mlir::Value own = get.getResult();
      builder_.setInsertionPointAfter(get);
      mlir::Value copy = pd::GetOp::create(builder_, get.getLoc(), own.getType(), symbol(master));
      own.setType(var.getType());
      for (mlir::OpOperand& use : llvm::make_early_inc_range(own.getUses())) {
        mlir::Operation* user = use.getOwner();
        if (isRounding(user)) {
          rounded_.insert(pd::nameOf(user->getResult(0)));
          user->getResult(0).replaceAllUsesWith(own);
          user->erase();
        } else if (!llvm::is_contained(updates, user)) {
          use.set(copy);
        }
      }
      for (mlir::Operation* update : llvm::to_vector(own.getUsers()))
        if (llvm::is_contained(updates, update)) withCopy(pd::OpView(update), copy, master);
      if (copy.use_empty()) copy.getDefiningOp()->erase();
    }
  }

  // The same update of both copies. What it gives for the parameter is rounded; all but the
  // parameter itself go on with what it gives for the copy.
  void withCopy(pd::OpView old, mlir::Value copy, const std::string& master) {
    const std::vector<std::string> inputs = old.inputSlots(), outputs = old.outputSlots();
    std::vector<pd::InputSlot> ins;
    // Saved programs have the slots, with nothing in them.
    for (const std::string& slot : inputs)
      if (slot != "MasterParam") ins.push_back({slot, old.inputs(slot)});
    ins.push_back({"MasterParam", {copy}});
    std::vector<pd::OutputSlot> outs;
    for (const std::string& slot : outputs) {
      if (slot == "MasterParamOut") continue;
      pd::OutputSlot& out = outs.emplace_back(pd::OutputSlot{slot, {}});
      for (unsigned i = 0; i < old.outputCount(slot); ++i) {
        mlir::Value result = old.output(slot, i);
        mlir::Type type = result ? result.getType() : mlir::Type();
        out.results.push_back(
            {old.outputName(slot, i).str(), slot == "ParamOut" ? withElement(type, half_) : type});
      }
    }
    outs.push_back({"MasterParamOut", {{master, copy.getType()}}});
    mlir::NamedAttrList attributes;
    if (auto all = old.operation()->getAttrOfType<mlir::DictionaryAttr>("attrs"))
      attributes.append(all.begin(), all.end());
    attributes.erase("op_role");
    attributes.set("multi_precision", builder_.getBoolAttr(true));
    builder_.setInsertionPoint(old.operation());
    pd::OpView made = declarations_.create(builder_, old.operation()->getLoc(), old.type(), ins,
                                           outs, attributes.getAttrs(), old.role());
    mlir::Value wide = made.output("MasterParamOut");
    for (const std::string& slot : outputs)
      for (unsigned i = 0; i < old.outputCount(slot); ++i) {
        mlir::Value before = old.output(slot, i);
        if (!before) continue;
        mlir::Value after = made.output(slot, i);
        if (slot != "ParamOut") {
          before.replaceAllUsesWith(after);
          continue;
        }
        for (mlir::OpOperand& use : llvm::make_early_inc_range(before.getUses())) {
          auto set = llvm::dyn_cast<pd::SetOp>(use.getOwner());
          const bool own = set && set.getVar() == pd::nameOf(made.input("Param"));
          use.set(own ? after : wide);
          if (!own) continue;
          builder_.setInsertionPointAfter(set);
          pd::SetOp::create(builder_, set.getLoc(), symbol(master), wide);
        }
      }
    old.operation()->erase();
  }

  // Casts that are not made any more are not declared either.
  void forget() {
    for (auto decl : llvm::make_early_inc_range(main_.getBodyBlock()->getOps<pd::DeclOp>()))
      if (rounded_.contains(decl.getName())) decl.erase();
    declarations_ = pd::Declarations();
  }

  pd::ProgramOp main_, startup_;
  mlir::Type half_;
  pd::Declarations& declarations_;
  mlir::OpBuilder builder_;
  llvm::StringSet<> rounded_;  // names of casts of parameters
};

}  // namespace

mlir::LogicalResult keepInHalf(pd::ProgramOp main, pd::ProgramOp startup, mlir::Type half,
                               pd::Declarations& declarations) {
  return Masters(main, startup, half, declarations).run();
}

}  // namespace dtranspile::passes

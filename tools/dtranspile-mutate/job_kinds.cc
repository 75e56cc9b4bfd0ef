// Whatever ops of the job itself say, one word at a time: every attribute of communication, guards,
// loops, handlers, meshes, communicators and variables is another one of its kind; every operand of
// such an op is another value; every attribute that dialect dist puts on ops of the framework is
// another one. No row knows what an op is for, so that what is new in the dialect is broken too.
#include "dialects/dist/lookup.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

using Others = llvm::SmallVector<mlir::Attribute, 4>;

bool isDist(mlir::Operation* op) {
  return llvm::isa_and_nonnull<dist::DistDialect>(op->getDialect());
}

// The other words of an enumeration.
template <typename EnumAttr, typename Enum>
Others others(EnumAttr now, std::initializer_list<Enum> all) {
  Others found;
  for (Enum one : all)
    if (one != now.getValue()) found.push_back(EnumAttr::get(now.getContext(), one));
  return found;
}

// Another symbol of the same kind of op: of variables one of the same type.
Others otherSymbols(mlir::Operation* at, mlir::FlatSymbolRefAttr now) {
  Others found;
  dist::jobOf(at)->walk([&](mlir::Operation* op) {
    auto name = op->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
    if (!name || name.getValue() == now.getValue()) return;
    dist::jobOf(at)->walk([&](mlir::Operation* own) {
      auto mine = own->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
      if (!mine || mine.getValue() != now.getValue() || own->getName() != op->getName() ||
          own->getParentOp() != op->getParentOp())
        return;
      auto variable = llvm::dyn_cast<pd::VarOp>(own);
      if (variable && llvm::cast<pd::VarOp>(op).getType() != variable.getType()) return;
      mlir::Attribute other = mlir::FlatSymbolRefAttr::get(name);
      if (!llvm::is_contained(found, other)) found.push_back(other);
    });
  });
  return found;
}

// Lists of axes: in the other order, one less, one that is another axis of the mesh.
Others otherLists(mlir::ArrayAttr now, dist::MeshOp mesh) {
  Others found;
  mlir::Builder builder(now.getContext());
  llvm::SmallVector<mlir::Attribute> list(now.begin(), now.end());
  if (list.size() > 1) {
    llvm::SmallVector<mlir::Attribute> turned(llvm::reverse(list));
    found.push_back(builder.getArrayAttr(turned));
  }
  if (!list.empty()) found.push_back(builder.getArrayAttr(llvm::ArrayRef(list).drop_back()));
  if (!mesh) return found;
  llvm::SmallVector<mlir::Attribute> all(mesh.getAxes().begin(), mesh.getAxes().end());
  all.append(mesh.getTimeAxes().begin(), mesh.getTimeAxes().end());
  for (mlir::Attribute axis : all) {
    if (llvm::is_contained(list, axis)) continue;
    llvm::SmallVector<mlir::Attribute> more(list);
    more.push_back(axis);
    found.push_back(builder.getArrayAttr(more));
    if (list.empty()) continue;
    more = list;
    more[0] = axis;
    found.push_back(builder.getArrayAttr(more));
  }
  return found;
}

Others otherPlaces(dist::SelAttr now, dist::MeshOp mesh) {
  Others found;
  for (dist::AxisSetAttr set : now.getSets()) {
    const int64_t size =
        mesh ? mesh.sizeOf(set.getAxis().getValue()).value_or(1) : set.getBounds()[1] + 1;
    const int64_t next = (set.getBounds()[0] + 1) % size;
    if (next != set.getBounds()[0])
      found.push_back(dist::SelAttr::point(now.getContext(), set.getAxis().getValue(), next));
  }
  return found;
}

// Other attributes of the same kind that are legal there, as far as that can be told: an illegal
// one would be found by a verifier of ops, which is not what is measured.
Others otherAttributes(mlir::Operation* at, mlir::Attribute now, dist::MeshOp mesh) {
  return llvm::TypeSwitch<mlir::Attribute, Others>(now)
      .Case([&](mlir::FlatSymbolRefAttr one) { return otherSymbols(at, one); })
      .Case([&](mlir::ArrayAttr one) { return otherLists(one, mesh); })
      .Case([&](dist::SelAttr one) { return otherPlaces(one, mesh); })
      .Case([&](dist::LayoutAttr one) {
        Others found;
        for (auto [extent, per, first] :
             {std::tuple(1, 0, 0), std::tuple(0, 1, 0), std::tuple(0, 0, 1)})
          if (extent || one.getKind() != dist::LayoutKind::Even)
            found.push_back(dist::LayoutAttr::get(one.getContext(), one.getKind(),
                                                  one.getExtent() + extent, one.getPer() + per,
                                                  one.getFirst() + first));
        return found;
      })
      .Case([&](dist::BatchAttr one) {
        Others found = {dist::BatchAttr::get(one.getContext(), one.getDim() + 1, one.getAxes())};
        if (one.getDim() > 0)
          found.push_back(dist::BatchAttr::get(one.getContext(), 0, one.getAxes()));
        return found;
      })
      .Case([&](dist::ReduceAttr one) {
        using dist::Reduce;
        return others(one, {Reduce::Sum, Reduce::Max, Reduce::Min, Reduce::Prod, Reduce::Or});
      })
      .Case([&](dist::MergeAttr one) {
        return others(one, {dist::Merge::Mean, dist::Merge::Sum, dist::Merge::Each});
      })
      .Case([&](dist::ServeModeAttr one) {
        using dist::ServeMode;
        return others(one,
                      {ServeMode::Sync, ServeMode::Async, ServeMode::HalfAsync, ServeMode::Geo});
      })
      .Case([&](dist::HandlerAttr one) {
        using dist::Handler;
        return others(one, {Handler::Round, Handler::Push, Handler::Pull, Handler::Lookup});
      })
      .Case([&](dist::PhaseKindAttr one) {
        return others(one, {dist::PhaseKind::Push, dist::PhaseKind::Pull});
      })
      .Case([&](dist::TaskAttr one) {
        return others(one, {dist::Task::F, dist::Task::B, dist::Task::W});
      })
      .Case([&](dist::CommKindAttr one) {
        return others(one, {dist::CommKind::Group, dist::CommKind::Pairs, dist::CommKind::Rpc});
      })
      .Default([&](mlir::Attribute one) {
        Others found;
        if (mlir::Attribute other = perturbed(one)) found.push_back(other);
        return found;
      });
}

std::string words(mlir::NamedAttribute now, mlir::Attribute other) {
  std::string text = "`" + now.getName().str() + "` is ";
  llvm::raw_string_ostream stream(text);
  stream << other << " in place of " << now.getValue();
  return text;
}

void changeAttributes(JobView& view, mlir::Operation* op, Edits& edits) {
  for (mlir::NamedAttribute now : op->getAttrs()) {
    const llvm::StringRef name = now.getName().getValue();
    // What stands for what has kinds of its own; symbols are named by all that use them.
    if (name == dist::kSrcAttr || name == dist::kRelAttr || name == "sym_name") continue;
    if (!isDist(op) && !name.starts_with("dist.")) continue;
    for (mlir::Attribute other : otherAttributes(op, now.getValue(), view.mesh))
      edits.add(op, words(now, other),
                [op, name = now.getName(), other]() { op->setAttr(name, other); });
  }
}

void ofProgram(JobView& view, Edits& edits) {
  view.program->walk([&](mlir::Operation* op) {
    if (op != view.program.getOperation() && view.holds(op)) changeAttributes(view, op, edits);
  });
}

// Of what programs stand on: the mesh, its communicators, the role and its variables.
void ofJob(JobView& view, Edits& edits) {
  if (view.mesh) changeAttributes(view, view.mesh, edits);
  for (auto comm : view.job.getOps<dist::CommOp>()) changeAttributes(view, comm, edits);
  changeAttributes(view, view.role, edits);
  for (pd::VarOp var : variablesOf(view)) changeAttributes(view, var, edits);
}

// Values that stand before the op in its block.
std::vector<mlir::Value> before(mlir::Operation* op, mlir::Value now) {
  std::vector<mlir::Value> found;
  for (mlir::BlockArgument argument : op->getBlock()->getArguments())
    if (argument != now && argument.getType() == now.getType()) found.push_back(argument);
  for (mlir::Operation& one : *op->getBlock()) {
    if (&one == op) break;
    for (mlir::Value value : one.getResults())
      if (value != now && value.getType() == now.getType()) found.push_back(value);
  }
  return found;
}

void operandReplaced(JobView& view, Edits& edits) {
  view.program->walk([&](mlir::Operation* op) {
    if (!isDist(op) || !view.holds(op)) return;
    for (mlir::OpOperand& use : op->getOpOperands()) {
      const std::vector<mlir::Value> found = before(op, use.get());
      if (found.empty()) continue;
      mlir::Value other = found[view.draw(found.size())];
      edits.add(op, "takes " + quoted(other) + " in place of " + quoted(use.get()),
                [at = &use, other]() { at->set(other); });
    }
  });
}

void resultsSwapped(JobView& view, Edits& edits) {
  view.program->walk([&](mlir::Operation* op) {
    if (!isDist(op) || !view.holds(op)) return;
    for (unsigned i = 0; i + 1 < op->getNumResults(); ++i)
      for (unsigned j = i + 1; j < op->getNumResults(); ++j)
        if (op->getResult(i).getType() == op->getResult(j).getType()) {
          edits.add(op,
                    "results " + std::to_string(i) + " and " + std::to_string(j) + " change places",
                    [op, i, j]() {
                      Readers first(op->getResult(i)), second(op->getResult(j));
                      first.read(op->getResult(j));
                      second.read(op->getResult(i));
                    });
          break;
        }
  });
}

// A variable is read as it was when the step began, where it is to be read as it was set last.
void readTooEarly(JobView& view, Edits& edits) {
  llvm::StringSet<> set;
  view.program->walk([&](mlir::Operation* op) {
    if (auto one = llvm::dyn_cast<pd::SetOp>(op)) set.insert(one.getVar());
    auto get = llvm::dyn_cast<pd::GetOp>(op);
    if (!get || !set.contains(get.getVar())) return;
    edits.add(get, "`" + get.getVar().str() + "` is read as it was before the step",
              [get, program = view.program]() mutable {
                auto builder = mlir::OpBuilder::atBlockBegin(program.getBodyBlock());
                mlir::Operation* early = builder.clone(*get.getOperation());
                get.getValue().replaceAllUsesWith(early->getResult(0));
              });
  });
}

// What an op gives is not what it gives, but what a variable of its type holds.
void replacedByVariable(JobView& view, Edits& edits) {
  std::vector<pd::VarOp> variables = variablesOf(view);
  for (mlir::Value value : view.values) {
    if (!value.getDefiningOp() || value.getDefiningOp<pd::GetOp>() || variables.empty()) continue;
    std::vector<pd::VarOp> fitting;
    for (pd::VarOp var : variables)
      if (var.getType() == value.getType()) fitting.push_back(var);
    if (fitting.empty()) continue;
    pd::VarOp var = fitting[view.draw(fitting.size())];
    edits.add(value.getDefiningOp(),
              quoted(value) + " is not read: its readers take `" + var.getSymName().str() + "`",
              [value, var]() mutable {
                mlir::OpBuilder builder(value.getContext());
                builder.setInsertionPointAfterValue(value);
                Readers readers(value);
                readers.read(pd::GetOp::create(builder, value.getLoc(), value.getType(),
                                               mlir::FlatSymbolRefAttr::get(var.getSymNameAttr())));
              });
  }
}

}  // namespace

std::vector<Kind> jobKinds() {
  const char* group = "job";
  return {
      {group, "job-attribute", "an op of the job says something else", Place::Main, ofProgram},
      {group, "job-operand", "an op of the job takes another value", Place::Main, operandReplaced},
      {group, "job-results-swapped", "an op of the job gives values in each other's place",
       Place::Main, resultsSwapped},
      {group, "job-declaration", "a mesh, a communicator or a variable says something else",
       Place::Main, ofJob},
      {group, "job-startup-attribute", "an op of the job says something else at the start",
       Place::Startup, ofProgram},
      {group, "job-startup-operand", "an op of the job takes another value at the start",
       Place::Startup, operandReplaced},
      {group, "read-too-early", "a variable is read as it was before the step", Place::Main,
       readTooEarly},
      {group, "replaced-by-variable", "a value is not read, a variable is", Place::Main,
       replacedByVariable},
      {group, "startup-replaced-by-variable", "an initial value is what a variable holds",
       Place::Startup, replacedByVariable},
  };
}

}  // namespace dtranspile::mutate

// Programs, variables and feeds that say something else, and ops that have no place in a job.
#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Attributes of an op that are not its symbol, with another value each.
void otherAttributes(mlir::Operation* op, llvm::StringRef what, Edits& edits) {
  for (mlir::NamedAttribute one : op->getAttrs()) {
    mlir::Attribute now =
        one.getName() == "sym_name" ? mlir::Attribute() : perturbed(one.getValue());
    if (llvm::isa<mlir::UnitAttr>(one.getValue()))
      edits.add(op, what.str() + " lacks " + one.getName().str(),
                [op, name = one.getName()]() { op->removeAttr(name); });
    if (now)
      edits.add(op, what.str() + " has another " + one.getName().str(),
                [op, now, name = one.getName()]() { op->setAttr(name, now); });
  }
}

void programAttributes(JobView& view, Edits& edits) {
  otherAttributes(view.program, "the program", edits);
}

// Every attribute with another value, and a state that says that it is a parameter.
void variableAttributes(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view)) {
    std::string what = "`" + var.getSymName().str() + "`";
    otherAttributes(var, what, edits);
    if (!var.getParameter())
      edits.add(var, what + " is a parameter", [var]() mutable { var.setParameter(true); });
  }
}

// float64 in place of float32; null of any other type, of which no mutant is made.
mlir::Type otherElement(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.getElementType().isF32()) return {};
  return tensor.clone(mlir::Float64Type::get(type.getContext()));
}

// The last extent is one more, an unknown one 7; null of scalars and unranked types.
mlir::Type otherShape(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0) return {};
  llvm::SmallVector<int64_t> shape(tensor.getShape());
  shape.back() = shape.back() < 0 ? 7 : shape.back() + 1;
  return tensor.clone(shape);
}

using OtherType = mlir::Type (*)(mlir::Type);

// The variable, and everything that gets it; what is computed from it stays.
template <OtherType other>
void variableType(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view))
    if (mlir::Type now = other(var.getType()))
      edits.add(var, "`" + var.getSymName().str() + "` has another type",
                [var, now, role = view.role]() mutable {
                  var.setType(now);
                  role.walk([&](pd::GetOp get) {
                    if (get.getVar() == var.getSymName()) get.getValue().setType(now);
                  });
                });
}

template <OtherType other>
void resultType(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (mlir::OpResult result : op->getResults())
      if (mlir::Type now = other(result.getType()))
        edits.add(op, quoted(result) + " has another type",
                  [result, now]() mutable { result.setType(now); });
}

void inputType(JobView& view, Edits& edits) {
  for (pd::InputOp input : inputsOf(view.program))
    for (OtherType other : {otherElement, otherShape})
      if (mlir::Type now = other(input.getType()))
        edits.add(input, "the feed `" + input.getName().str() + "` has another type",
                  [input, now]() mutable { input.getValue().setType(now); });
}

// A copy of the program that nobody compares, with a changed update.
void programAdded(JobView& view, Edits& edits) {
  edits.add(view.program, "a second program of the role, @test",
            [program = view.program]() mutable {
              mlir::OpBuilder builder(program);
              builder.setInsertionPointAfter(program);
              auto copy = llvm::cast<pd::ProgramOp>(builder.clone(*program.getOperation()));
              copy.setSymName("test");
            });
}

void programDropped(JobView& view, Edits& edits) {
  edits.add(view.program, "the program is left out",
            [program = view.program]() { program->erase(); });
}

// A copy of the role: two roles of one mesh would both want its ranks.
void roleAdded(JobView& view, Edits& edits) {
  edits.add(view.role, "a second role on the same mesh", [role = view.role]() mutable {
    mlir::OpBuilder builder(role);
    builder.setInsertionPointAfter(role);
    auto copy = llvm::cast<dist::RoleOp>(builder.clone(*role.getOperation()));
    copy.setSymName("other");
  });
}

// All later draws of the generator give other numbers than in the reference, though no value
// depends on this one.
void drawInserted(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    edits.add(op, "after it stands a draw that nobody reads", [op]() {
      mlir::OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      auto type = mlir::RankedTensorType::get({2}, builder.getF32Type());
      pd::Declarations().create(
          builder, op->getLoc(), "uniform_random", {},
          {{"Out", {{pd::Declarations().freshName(builder.getInsertionBlock(), "draw"), type}}}},
          {builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr({2})),
           builder.getNamedAttr("dtype", builder.getI32IntegerAttr(5))},
          pd::kForward);
    });
}

// Its output equals its input, so that all values stay right; what the job prints does not.
void printInserted(JobView& view, Edits& edits) {
  for (mlir::Value value : view.values)
    if (value.getDefiningOp())
      edits.add(value.getDefiningOp(),
                quoted(value) + " is printed, its readers read what is printed", [value]() {
                  Readers readers(value);
                  mlir::OpBuilder builder(value.getContext());
                  builder.setInsertionPointAfterValue(value);
                  readers.read(pd::Declarations()
                                   .create(builder, value.getLoc(), "print", {{"In", {value}}},
                                           {{"Out", {{nameFor(value), value.getType()}}}}, {},
                                           pd::kForward)
                                   .output("Out"));
                });
}

// A variable is set once more, to a value of its type.
void setInserted(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view))
    for (mlir::Value value : view.values)
      if (value.getType() == var.getType() && value.getDefiningOp() &&
          value.getDefiningOp()->getParentOp() == view.program.getOperation()) {
        edits.add(value.getDefiningOp(),
                  "`" + var.getSymName().str() + "` is set to " + quoted(value) + " at the end",
                  [var, value, program = view.program]() mutable {
                    auto builder = mlir::OpBuilder::atBlockEnd(program.getBodyBlock());
                    pd::SetOp::create(builder, value.getLoc(), var.getSymName(), value);
                  });
        break;
      }
}

// What a rank computes depends on its number.
// Of values of one element only, which the coordinate, [1], can be added to.
void coordinateAdded(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (mlir::Value value : view.values) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!value.getDefiningOp() || !type || type.getShape() != llvm::ArrayRef<int64_t>{1}) continue;
    edits.add(
        value.getDefiningOp(), "the rank's coordinate is added to " + quoted(value),
        [value, type, axis = view.axis]() {
          Readers readers(value);
          mlir::OpBuilder builder(value.getContext());
          builder.setInsertionPointAfterValue(value);
          auto whole = mlir::RankedTensorType::get({1}, builder.getI64Type());
          mlir::Value own =
              dist::CoordOp::create(builder, value.getLoc(), whole, builder.getStringAttr(axis));
          mlir::Value number = cast(builder, own, type.getElementType());
          readers.read(pd::Declarations()
                           .create(builder, value.getLoc(), "elementwise_add",
                                   {{"X", {value}}, {"Y", {number}}},
                                   {{"Out", {{nameFor(value), type}}}},
                                   {builder.getNamedAttr("axis", builder.getI32IntegerAttr(-1))},
                                   pd::kForward)
                           .output("Out"));
        });
  }
}

// A level of a reduction is left out, and the factor made up for it: equal on all ranks, and wrong.
void levelDropped(JobView& view, Edits& edits) {
  std::vector<pd::OpView> scales;
  for (mlir::Operation* op : view.framework)
    if (isInserted(op) && pd::OpView(op).type() == "scale") scales.emplace_back(op);
  if (scales.empty()) return;
  for (mlir::Operation* op : view.collectives) {
    dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
    if (!llvm::isa<dist::AllReduceOp>(op) || !comm) continue;
    edits.add(op, "is left out, and the factor is that of the ranks that remain",
              [op, scale = scales.front(), size = comm.groupSize(view.mesh)]() mutable {
                mlir::Builder builder(op->getContext());
                scale.setAttr("scale", builder.getF32FloatAttr(scale.getFloat("scale") *
                                                               static_cast<double>(size)));
                bypass(op);
              });
  }
}

}  // namespace

std::vector<Kind> programKinds() {
  const char* group = "programs";
  return {
      {group, "program-attribute", "an attribute of the program", Place::Main, programAttributes},
      {group, "program-dropped", "a program is left out", Place::Main, programDropped},
      {group, "startup-dropped", "the start-up program is left out", Place::Startup,
       programDropped},
      {group, "program-added", "a program that the reference has not", Place::Main, programAdded},
      {group, "role-added", "a role that the job has no use for", Place::Main, roleAdded},
      {group, "variable-attribute", "an attribute of a variable", Place::Main, variableAttributes},
      {group, "variable-element", "a variable of another element type", Place::Main,
       variableType<otherElement>},
      {group, "variable-shape", "a variable of another shape", Place::Main,
       variableType<otherShape>},
      {group, "result-element", "a result of another element type", Place::Main,
       resultType<otherElement>},
      {group, "result-shape", "a result of another shape", Place::Main, resultType<otherShape>},
      {group, "draw-inserted", "a draw more", Place::Main, drawInserted},
      {group, "print-inserted", "an op with an effect on the outside", Place::Main, printInserted},
      {group, "set-inserted", "a variable is set once more", Place::Main, setInserted},
      {group, "startup-set-inserted", "an initial value is set once more", Place::Startup,
       setInserted},
      {group, "coordinate-added", "a value depends on the number of the rank", Place::Main,
       coordinateAdded},
      {group, "startup-coordinate-added", "an initial value depends on the number of the rank",
       Place::Startup, coordinateAdded},
      {"feeds", "input-type", "a feed of another type", Place::Main, inputType},
      {"communication", "level-dropped", "a reduction is left out, and the factor fits again",
       Place::Main, levelDropped},
  };
}

}  // namespace dtranspile::mutate

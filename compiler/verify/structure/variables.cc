#include "compiler/verify/structure/variables.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_diff.h"
#include "compiler/verify/structure/form.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {
namespace {

void refute(Rung& rung, mlir::Operation* at, const char* rule, std::string text,
            std::string remedy) {
  rung.add(messageAt(at, Message::Level::Refuted, rule, std::move(text), std::move(remedy)));
}

// What a rank has of a variable: all of it, or its part by the relation that is declared. How many
// blocks a rank owns is data of the rank.
mlir::Type localTypeOf(mlir::Type whole, pd::VarOp var) {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(whole);
  dist::MeshOp mesh = dist::meshOf(var);
  if (!relation || !tensor || !mesh) return whole;
  llvm::SmallVector<int64_t> dims(tensor.getShape());
  const auto cut = [&](dist::AxisRelAttr one, int64_t& extent) {
    const int64_t size = mesh.sizeOf(one.getAxis().getValue()).value_or(1);
    const bool even = !one.getLayout() || one.getLayout().getKind() == dist::LayoutKind::Even;
    if (!even) extent = mlir::ShapedType::kDynamic;
    else if (!mlir::ShapedType::isDynamic(extent)) extent = extent / size + (extent % size != 0);
  };
  for (dist::AxisRelAttr one : relation.getAxes()) {
    if (one.getState() != dist::StateKind::Split || one.getDim() == dist::kFlat) continue;
    if (one.getDim() >= static_cast<int64_t>(dims.size())) return whole;
    cut(one, dims[one.getDim()]);
  }
  // What is flat is cut last.
  for (dist::AxisRelAttr one : relation.getAxes()) {
    if (one.getState() != dist::StateKind::Split || one.getDim() != dist::kFlat) continue;
    if (mlir::ShapedType::isDynamicShape(dims)) return whole;
    dims = {mlir::ShapedType::getNumElements(dims)};
    cut(one, dims[0]);
  }
  return mlir::RankedTensorType::get(dims, tensor.getElementType());
}

// Elements that a rank has before flat cuts; dynamic where that is not known.
int64_t elementsToCut(mlir::RankedTensorType whole, dist::RelAttr relation, dist::MeshOp mesh) {
  if (!whole.hasStaticShape() || !mesh) return mlir::ShapedType::kDynamic;
  llvm::SmallVector<int64_t> dims(whole.getShape());
  for (dist::AxisRelAttr one : relation.getAxes())
    if (one.getState() == dist::StateKind::Split && one.getDim() >= 0 &&
        one.getDim() < static_cast<int64_t>(dims.size())) {
      const int64_t size = mesh.sizeOf(one.getAxis().getValue()).value_or(1);
      int64_t& extent = dims[one.getDim()];
      extent = extent / size + (extent % size != 0);
    }
  return mlir::ShapedType::getNumElements(dims);
}

// Equal parts are of as many elements as the whole has: a rank's own part does not tell, the pad
// makes up for a few.
std::optional<std::string> otherExtent(pd::VarOp var, mlir::Type whole) {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(whole);
  if (!relation || !tensor) return std::nullopt;
  for (dist::AxisRelAttr one : relation.getAxes()) {
    const dist::LayoutAttr layout = one.getLayout();
    const int64_t dim = one.getDim();
    if (one.getState() != dist::StateKind::Split || !layout ||
        layout.getKind() != dist::LayoutKind::Even || dim >= tensor.getRank())
      continue;
    const int64_t extent = dim != dist::kFlat ? tensor.getDimSize(dim)
                                              : elementsToCut(tensor, relation, dist::meshOf(var));
    if (!mlir::ShapedType::isDynamic(extent) && extent != layout.getExtent())
      return "its parts are those of " + std::to_string(layout.getExtent()) + " elements, and " +
             std::to_string(extent) + " are there";
  }
  return std::nullopt;
}

// A variable of the reference's name is declared as there, but for its type, which is that of the
// rank's part by its relation (`localTypeOf`).
void checkTypes(dist::RoleOp role, mlir::Operation* reference, Rung& rung) {
  llvm::DenseMap<mlir::StringAttr, pd::VarOp> originals;
  for (auto var : reference->getRegion(0).getOps<pd::VarOp>())
    originals[var.getSymNameAttr()] = var;
  for (auto var : role.getBody().front().getOps<pd::VarOp>()) {
    pd::VarOp original = originals.lookup(var.getSymNameAttr());
    // One that a pass puts in is like none of the reference.
    std::optional<std::string> different;
    if (original) different = programAttributesDiffer(var, original, {"type"});
    if (original && !different && var.getType() != localTypeOf(original.getType(), var))
      different = attributeDifference("type", mlir::TypeAttr::get(var.getType()),
                                      mlir::TypeAttr::get(localTypeOf(original.getType(), var)));
    if (original && !different) different = otherExtent(var, original.getType());
    if (!original && var->hasAttr(pd::kPartsAttr))
      different = "pd.parts is given, and there is none there";
    // What is given, saved and exported as a parameter is one of the reference's.
    if (!original && var.getParameter())
      different = "it is a parameter, and the reference has no variable of its name";
    if (different)
      refute(
          rung, var, "variable",
          "variable `" + var.getSymName().str() + "` differs from the reference's: " + *different,
          "declare it as the reference does; only attributes of dialect dist belong to the job");
  }
}

// A part of unequal parts goes straight into the variable that it is set to, which is declared to
// be cut in the very way: also where one rank has all of it, and no state tells.
void checkParts(dist::RoleOp role, Rung& rung) {
  llvm::DenseMap<mlir::StringAttr, pd::VarOp> variables;
  for (auto var : role.getBody().front().getOps<pd::VarOp>()) variables[var.getSymNameAttr()] = var;
  role.walk([&](pd::SetOp set) {
    auto slice = set.getValue().getDefiningOp<dist::SliceOp>();
    pd::VarOp var = variables.lookup(set.getVarAttr().getAttr());
    if (!slice || !var || slice.getAxes().size() != 1 ||
        slice.getLayout().getKind() == dist::LayoutKind::Even)
      return;
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    dist::AxisRelAttr own;
    for (dist::AxisRelAttr one :
         relation ? relation.getAxes() : llvm::ArrayRef<dist::AxisRelAttr>())
      if (one.getAxis() == slice.getAxes()[0]) own = one;
    if (own && own.getState() == dist::StateKind::Split &&
        own.getDim() == static_cast<int64_t>(slice.getDim()) &&
        own.getLayout() == slice.getLayout())
      return;
    std::string text;
    llvm::raw_string_ostream(text)
        << "sets `" << set.getVar() << "` to its part by " << slice.getLayout()
        << ", and it is declared to be cut " << (own ? "otherwise" : "not at all");
    refute(rung, set, "variable", text, "cut by the layout that the variable is declared with");
  });
}

// The storage of a flat variable is its parts': nobody holds what it is set to, and it is read by
// nothing but the ops of the reference that make it and its parts one.
void checkFlat(dist::RoleOp role, mlir::Operation* reference, Rung& rung) {
  llvm::StringSet<> flat, read, set;
  for (auto var : reference->getRegion(0).getOps<pd::VarOp>())
    if (var->hasAttr(pd::kPartsAttr)) flat.insert(var.getSymName());
  if (flat.empty()) return;
  reference->walk([&](pd::GetOp get) { read.insert(get.getVar()); });
  role.walk([&](mlir::Operation* op) {
    auto get = llvm::dyn_cast<pd::GetOp>(op);
    auto put = llvm::dyn_cast<pd::SetOp>(op);
    if (!get && !put) return;
    const llvm::StringRef name = get ? get.getVar() : put.getVar();
    mlir::Operation* maker = put ? put.getValue().getDefiningOp() : nullptr;
    if (!flat.contains(name) || (get && read.contains(name)) ||
        (maker && maker->hasAttr(dist::kSrcAttr)))
      return;
    refute(rung, op, "variable",
           (get ? "reads `" : "sets `") + name.str() +
               "`, whose storage is that of its parts, where the reference does not",
           get ? "read the parts" : "set the parts");
  });
}

// What is pulled is the whole variable, of which the reference says the type.
void checkPulls(dist::RoleOp role, mlir::Operation* reference, Rung& rung) {
  llvm::StringMap<mlir::Type> originals;
  for (auto var : reference->getRegion(0).getOps<pd::VarOp>())
    originals[var.getSymName()] = var.getType();
  role.walk([&](dist::PullOp pull) {
    const llvm::StringRef name = pull.getVar().getLeafReference().getValue();
    const mlir::Type whole = originals.lookup(name);
    if (!whole || whole == pull.getOutput().getType()) return;
    refute(rung, pull, "op",
           "pulls `" + name.str() + "` as another type than the variable has: " +
               attributeDifference("type", mlir::TypeAttr::get(pull.getOutput().getType()),
                                   mlir::TypeAttr::get(whole)),
           "let its type be that of the variable");
  });
}

// A variable that stands for one of the reference has its name, or stands beside it: initial values
// are given, saved and exported under the names of the reference.
void checkNames(dist::RoleOp role, mlir::Operation* reference, Rung& rung) {
  llvm::StringMap<mlir::Type> originals;
  llvm::StringSet<> own;
  for (auto var : reference->getRegion(0).getOps<pd::VarOp>())
    originals[var.getSymName()] = var.getType();
  for (auto var : role.getBody().front().getOps<pd::VarOp>()) own.insert(var.getSymName());
  for (auto var : role.getBody().front().getOps<pd::VarOp>()) {
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    if (!relation || originals.contains(var.getSymName())) continue;
    const llvm::StringRef stands = relation.getVariable().getValue();
    if (!originals.contains(stands)) continue;
    if (mlir::Type wanted = localTypeOf(originals[stands], var); var.getType() != wanted)
      refute(rung, var, "variable",
             "variable `" + var.getSymName().str() + "` is of another type than `" + stands.str() +
                 "`, for which it stands: " +
                 attributeDifference("type", mlir::TypeAttr::get(var.getType()),
                                     mlir::TypeAttr::get(wanted)),
             "declare it as that one");
    if (own.contains(stands)) continue;
    refute(
        rung, var, "name",
        "variable `" + var.getSymName().str() + "` stands for `" + stands.str() +
            "`, which this role does not have: no initial value is given under that name, and what "
            "is saved has another",
        "call it `" + stands.str() + "`");
  }
}

// Names of variables that the ops of a region read (by pd.get, or by a word of the op), and that
// its start-up program sets.
struct Uses {
  // Which variables programs of the role set (`established`: in start-up) and which ones anything
  // refers to, whatever the op.
  explicit Uses(dist::RoleOp role) {
    role.walk([&](mlir::Operation* op) {
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        set_.insert(set.getVar());
        if (auto program = op->getParentOfType<pd::ProgramOp>();
            program && program.getSymName() == "startup")
          established.insert(set.getVar());
        return;
      }
      for (mlir::NamedAttribute attribute : op->getAttrs())
        if (auto symbol = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(attribute.getValue()))
          read.insert(symbol.getValue());
    });
  }
  llvm::StringSet<> read, set_, established;
};

// What a role keeps for itself it has for a reason: something reads it, and then it begins with a
// value that start-up sets, or a step leaves a result in it. Any other variable is no part of the
// step and none of the reference, and whoever runs, saves or loads the job would be asked for its
// value.
void checkOwn(dist::RoleOp role, mlir::Operation* reference, Rung& rung) {
  llvm::StringSet<> originals;
  for (auto var : reference->getRegion(0).getOps<pd::VarOp>()) originals.insert(var.getSymName());
  const Uses uses(role);
  for (auto var : role.getBody().front().getOps<pd::VarOp>()) {
    const llvm::StringRef name = var.getSymName();
    if (originals.contains(name)) continue;
    const bool read = uses.read.contains(name);
    if (read ? uses.established.contains(name) : uses.set_.contains(name)) continue;
    refute(rung, var, "variable",
           "adds the variable `" + name.str() + "`, which the reference does not have, and " +
               (read ? "no start-up program sets it" : "nothing reads or sets it"),
           read ? "set it in the start-up program of its role" : "remove it");
  }
}

}  // namespace

void checkVariables(dist::RoleOp role, mlir::Operation* reference, Rung& rung) {
  checkTypes(role, reference, rung);
  checkParts(role, rung);
  checkFlat(role, reference, rung);
  checkNames(role, reference, rung);
  checkPulls(role, reference, rung);
  checkOwn(role, reference, rung);
}

void checkHeld(mlir::ModuleOp job, mlir::Operation* reference, Rung& rung) {
  llvm::StringSet<> held;
  for (auto role : job.getOps<dist::RoleOp>())
    for (auto var : role.getBody().front().getOps<pd::VarOp>()) held.insert(var.getSymName());
  for (auto var : reference->getRegion(0).getOps<pd::VarOp>())
    if (!held.contains(var.getSymName()))
      refute(rung, job, "missing",
             "no role holds the variable `" + var.getSymName().str() + "` of the reference",
             "keep the variable, with the ops that set it, in the role that owns it");
}

}  // namespace dtranspile::verify

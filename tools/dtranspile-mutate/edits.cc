#include "tools/dtranspile-mutate/edits.h"

#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/contract_texts.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace dtranspile::mutate {
namespace {

mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}

// Of an op that makes or reads the value: what a mutant inserts has that role too, so that no check
// finds it by its role alone.
int roleOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  return op && pd::OpView::isFrameworkOp(op) ? pd::OpView(op).role() & ~pd::kLoss : pd::kBackward;
}

mlir::Value unary(mlir::OpBuilder& builder, llvm::StringRef type, mlir::Value value,
                  mlir::Type result, llvm::ArrayRef<mlir::NamedAttribute> attributes,
                  llvm::StringRef name) {
  return pd::Declarations()
      .create(builder, value.getLoc(), type, {{"X", {value}}}, {{"Out", {{name.str(), result}}}},
              attributes, roleOf(value))
      .output("Out");
}

}  // namespace

// Half precision becomes float32 in types, declarations and attributes that hold codes of types.
// Returns whether there was any.
bool widenHalves(mlir::ModuleOp job) {
  bool found = false;
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([&](mlir::FloatType type) -> mlir::Type {
    if (!type.isF16() && !type.isBF16()) return type;
    found = true;
    return mlir::Float32Type::get(type.getContext());
  });
  const auto single = [](mlir::Attribute code) -> mlir::IntegerAttr {
    auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(code);
    if (!number || (number.getInt() != static_cast<int64_t>(DType::kFloat16) &&
                    number.getInt() != static_cast<int64_t>(DType::kBFloat16)))
      return {};
    return mlir::IntegerAttr::get(number.getType(), static_cast<int64_t>(DType::kFloat32));
  };
  job.walk([&](mlir::Operation* op) {
    replacer.replaceElementsIn(op, /*replaceAttrs=*/false, /*replaceLocs=*/false,
                               /*replaceTypes=*/true);
    if (pd::OpView::isFrameworkOp(op))
      for (llvm::StringRef name : {"dtype", "in_dtype", "out_dtype"})
        if (mlir::IntegerAttr now = single(pd::OpView(op).attr(name)))
          pd::OpView(op).setAttr(name, now);
    if (auto var = llvm::dyn_cast<pd::VarOp>(op)) var.setType(replacer.replace(var.getType()));
    if (auto decl = llvm::dyn_cast<pd::DeclOp>(op))
      if (mlir::IntegerAttr now = single(decl.getDtypeAttr())) decl.setDtypeAttr(now);
  });
  return found;
}

Readers::Readers(mlir::Value value) {
  for (mlir::OpOperand& use : value.getUses()) uses_.push_back(&use);
}

void Readers::read(mlir::Value now) {
  for (mlir::OpOperand* use : uses_) use->set(now);
}

// What the program reads of a collective: its results, or those of its wait. None where it is
// started and nothing waits.
llvm::SmallVector<mlir::Value> resultsOf(mlir::Operation* collective) {
  llvm::SmallVector<mlir::Value> results(collective->getResults());
  if (results.size() != 1 || !llvm::isa<dist::PendingType>(results[0].getType())) return results;
  for (mlir::Operation* user : results[0].getUsers())
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(user))
      return llvm::SmallVector<mlir::Value>(wait.getOutputs());
  return {};
}

bool givesBack(mlir::Operation* collective) {
  const llvm::SmallVector<mlir::Value> results = resultsOf(collective);
  return !results.empty() && results.size() == collective->getNumOperands() &&
         llvm::all_of(llvm::zip(results, collective->getOperands()), [](const auto& pair) {
           return std::get<0>(pair).getType() == std::get<1>(pair).getType();
         });
}

// Readers take what went into the collective; it and its wait go.
void bypass(mlir::Operation* collective) {
  mlir::Operation* wait = nullptr;
  for (auto [result, operand] : llvm::zip(resultsOf(collective), collective->getOperands())) {
    if (result.getDefiningOp() != collective) wait = result.getDefiningOp();
    result.replaceAllUsesWith(operand);
  }
  if (wait) wait->erase();
  collective->erase();
}

bool isFloat(mlir::Value value) {
  mlir::RankedTensorType tensor = tensorOf(value);
  return tensor && llvm::isa<mlir::FloatType>(tensor.getElementType());
}

bool isStatic(mlir::Value value) {
  mlir::RankedTensorType tensor = tensorOf(value);
  return tensor && tensor.hasStaticShape();
}

bool isInserted(mlir::Operation* op) { return !op->hasAttr(dist::kSrcAttr); }

bool isOptimizer(mlir::Operation* op) {
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return spec && spec->family == "optimizer";
}

std::string nameFor(mlir::Value value) {
  llvm::StringRef name = dist::nameOf(value);
  return name.empty() ? "value" : name.str();
}

std::string quoted(mlir::Value value) { return "`" + nameFor(value) + "`"; }

mlir::Value scaled(mlir::OpBuilder& builder, mlir::Value value, double factor, double bias) {
  return unary(builder, "scale", value, value.getType(),
               {builder.getNamedAttr("scale", builder.getF32FloatAttr(factor)),
                builder.getNamedAttr("bias", builder.getF32FloatAttr(bias)),
                builder.getNamedAttr("bias_after_scale", builder.getBoolAttr(true))},
               nameFor(value));
}

mlir::Value reduced(mlir::OpBuilder& builder, mlir::Value value, dist::CommOp comm) {
  return dist::AllReduceOp::create(builder, value.getLoc(), mlir::TypeRange(value.getType()),
                                   dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum),
                                   mlir::ValueRange(value),
                                   mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr()))
      .getResult(0);
}

mlir::Value zeros(mlir::OpBuilder& builder, mlir::Location location, llvm::ArrayRef<int64_t> shape,
                  mlir::Type element) {
  auto dtype = static_cast<int32_t>(*pd::dtypeOf(element));
  return pd::Declarations()
      .create(builder, location, "fill_constant", {},
              {{"Out",
                {{pd::Declarations().freshName(builder.getInsertionBlock(), "zeros"),
                  mlir::RankedTensorType::get(shape, element)}}}},
              {builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape)),
               builder.getNamedAttr("value", builder.getF32FloatAttr(0)),
               builder.getNamedAttr("dtype", builder.getI32IntegerAttr(dtype))},
              pd::kForward)
      .output("Out");
}

mlir::Value cast(mlir::OpBuilder& builder, mlir::Value value, mlir::Type element) {
  mlir::RankedTensorType from = tensorOf(value);
  auto code = [&](mlir::Type type) {
    return builder.getI32IntegerAttr(static_cast<int32_t>(*pd::dtypeOf(type)));
  };
  return unary(builder, "cast", value, from.clone(element),
               {builder.getNamedAttr("in_dtype", code(from.getElementType())),
                builder.getNamedAttr("out_dtype", code(element))},
               pd::Declarations().freshName(builder.getInsertionBlock(), nameFor(value) + ".cast"));
}

// dist.on of the first coordinate of an axis, else the other value: ranks then hold different
// values, in a way that the text says.
mlir::Value onOneRank(mlir::OpBuilder& builder, llvm::StringRef axis, mlir::Value like,
                      llvm::function_ref<mlir::Value(mlir::OpBuilder&)> first,
                      llvm::function_ref<mlir::Value(mlir::OpBuilder&)> second) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  auto on = dist::OnOp::create(builder, like.getLoc(), mlir::TypeRange(like.getType()),
                               dist::SelAttr::point(builder.getContext(), axis, 0),
                               mlir::ValueRange(), dist::TaskAttr(), mlir::IntegerAttr());
  for (auto [region, build] :
       {std::pair(&on.getBody(), first), std::pair(&on.getOtherwise(), second)}) {
    builder.createBlock(region);
    dist::YieldOp::create(builder, like.getLoc(), mlir::ValueRange(build(builder)));
  }
  return on.getResult(0);
}

// Another attribute of the same type; null for one of a type that is not known here, or an empty
// list.
mlir::Attribute perturbed(mlir::Attribute attribute) {
  mlir::Builder builder(attribute.getContext());
  return llvm::TypeSwitch<mlir::Attribute, mlir::Attribute>(attribute)
      .Case([&](mlir::BoolAttr one) { return builder.getBoolAttr(!one.getValue()); })
      .Case([&](mlir::IntegerAttr one) {
        return mlir::IntegerAttr::get(one.getType(), one.getValue() + 1);
      })
      .Case([&](mlir::FloatAttr one) {
        double value = one.getValueAsDouble();
        return mlir::FloatAttr::get(one.getType(), value == 0 ? 0.25 : value * 1.5);
      })
      .Case([&](mlir::StringAttr one) { return builder.getStringAttr(one.getValue() + "x"); })
      .Case([&](mlir::DenseI32ArrayAttr one) -> mlir::Attribute {
        llvm::SmallVector<int32_t> list(one.asArrayRef());
        if (list.empty()) return {};
        ++list[0];
        return builder.getDenseI32ArrayAttr(list);
      })
      .Case([&](mlir::DenseI64ArrayAttr one) -> mlir::Attribute {
        llvm::SmallVector<int64_t> list(one.asArrayRef());
        if (list.empty()) return {};
        ++list[0];
        return builder.getDenseI64ArrayAttr(list);
      })
      .Case([&](pd::ScalarAttr one) -> mlir::Attribute {
        mlir::Attribute value = perturbed(one.getValue());
        return value ? pd::ScalarAttr::get(one.getContext(), value) : mlir::Attribute();
      })
      .Default(mlir::Attribute());
}

// As dist.src counts: framework ops in preorder.
mlir::Operation* opNumber(pd::ProgramOp program, int64_t index) {
  mlir::Operation* found = nullptr;
  if (program)
    program->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (pd::OpView::isFrameworkOp(op) && index-- == 0) found = op;
    });
  return found;
}

// A job without @reference preserves its @source; an edit of the reference needs one of its own.
mlir::ModuleOp addReference(mlir::ModuleOp job) {
  mlir::ModuleOp source = findModule(job, "source");
  if (mlir::ModuleOp own = findModule(job, "reference")) return own;
  mlir::OpBuilder builder(source);
  builder.setInsertionPointAfter(source);
  auto copy = llvm::cast<mlir::ModuleOp>(builder.clone(*source.getOperation()));
  copy.setSymName("reference");
  return copy;
}

std::optional<int64_t> sourceOf(mlir::Operation* op) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}

void rename(mlir::OpResult result, llvm::StringRef name) {
  mlir::Operation* op = result.getOwner();
  mlir::Builder builder(op->getContext());
  llvm::SmallVector<mlir::Attribute> slots;
  unsigned at = 0;
  for (mlir::Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>("outs")) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    llvm::SmallVector<mlir::StringAttr> names(slot.getArgs());
    for (mlir::StringAttr& one : names)
      if (one.getValue() != pd::kEmptyArgument && at++ == result.getResultNumber())
        one = builder.getStringAttr(name);
    slots.push_back(pd::SlotAttr::get(op->getContext(), slot.getName(), names));
  }
  op->setAttr("outs", builder.getArrayAttr(slots));
}

std::vector<pd::VarOp> variablesOf(JobView& view) {
  std::vector<pd::VarOp> variables;
  for (auto var : view.role.getBody().front().getOps<pd::VarOp>()) variables.push_back(var);
  return variables;
}

// The variable may differ over the axis by that contract.
void declareDifferent(pd::VarOp var, llvm::StringRef axis, llvm::StringRef tag) {
  mlir::Builder builder(var.getContext());
  auto state = dist::AxisRelAttr::different(builder.getStringAttr(axis), tag);
  var->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr(), {state}));
  // By the contract's own list too, where there is one.
  auto job = llvm::cast<mlir::ModuleOp>(dist::jobOf(var));
  auto list = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr);
  for (mlir::Attribute entry : list ? list.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
    auto own = fields ? fields.getAs<mlir::StringAttr>("tag") : mlir::StringAttr();
    if (own && own.getValue() == tag) return declareContract(job, tag, {var.getSymName().str()});
  }
}

// The contract with these sites, added to those that it has already, saying what it says or should.
void declareContract(mlir::ModuleOp job, llvm::StringRef tag, llvm::ArrayRef<std::string> sites) {
  mlir::Builder builder(job.getContext());
  llvm::SmallVector<mlir::Attribute> entries, names;
  auto statement = builder.getStringAttr(verify::contractText(tag));
  for (const std::string& site : sites) names.push_back(builder.getStringAttr(site));
  if (auto list = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr))
    for (mlir::Attribute entry : list) {
      auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
      auto own = fields ? fields.getAs<mlir::StringAttr>("tag") : mlir::StringAttr();
      if (!own || own.getValue() != tag) {
        entries.push_back(entry);
        continue;
      }
      if (auto already = fields.getAs<mlir::ArrayAttr>("sites"))
        names.insert(names.begin(), already.begin(), already.end());
      if (auto said = fields.getAs<mlir::StringAttr>("statement")) statement = said;
    }
  entries.push_back(
      builder.getDictionaryAttr({builder.getNamedAttr("tag", builder.getStringAttr(tag)),
                                 builder.getNamedAttr("statement", statement),
                                 builder.getNamedAttr("sites", builder.getArrayAttr(names))}));
  job->setAttr(dist::kContractsAttr, builder.getArrayAttr(entries));
}

}  // namespace dtranspile::mutate

#include "test/compiler/verify/claims/one_op.h"

#include "compiler/lower/lowering.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/types.h"
#include "mlir/IR/IRMapping.h"

namespace dtranspile::claims {
namespace {

bool isInteger(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

bool isLiteral(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op) || op->getNumOperands() || op->getNumRegions())
    return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  mlir::RankedTensorType tensor = pd::tensorOf(value.getType());
  return spec && spec->effects == pd::kPure && tensor &&
         isInteger(pd::dtypeOf(tensor.getElementType()).value_or(DType::kFloat32));
}

mlir::Type typeOf(mlir::MLIRContext* context, const pd::TensorInfo& info) {
  return pd::valueType(context, static_cast<int>(info.kind), static_cast<int>(info.dtype),
                       info.dims, info.lodLevel);
}

// The declared type, with extents of the tensor or none.
mlir::Type resultType(mlir::Type declared, const Tensor* tensor) {
  mlir::RankedTensorType type = pd::tensorOf(declared);
  if (!type || llvm::isa<pd::RowsType, pd::ArrayType>(declared)) return declared;
  pd::TensorInfo info = pd::declaredInfo(declared);
  if (tensor) info.dims.assign(tensor->dims.begin(), tensor->dims.end());
  else info.dims.assign(info.dims.size(), -1);
  if (info.lodLevel && !info.dims.empty()) info.dims[0] = -1;
  return typeOf(declared.getContext(), info);
}

void inferResults(Alone& alone, const Tensors* results) {
  for (mlir::OpResult result : alone.op->getResults()) {
    const Tensor* tensor = results ? (*results)[result.getResultNumber()].get() : nullptr;
    result.setType(resultType(result.getType(), tensor));
  }
  const pd::OpSpec* spec = pd::OpView(alone.op).spec();
  if (!spec || !spec->infer) return;
  lower::ValueInfos infos;
  for (mlir::Operation& each : *alone.program.getBodyBlock())
    for (mlir::Value value : each.getResults()) infos[value] = pd::declaredInfo(value.getType());
  lower::InferAdapter adapter(infos, pd::OpView(alone.op), alone.program.getVersion(), true);
  if (failed(spec->infer(adapter))) return;
  for (mlir::OpResult result : alone.op->getResults())
    if ((infos[result].kind == pd::Kind::Tensor || infos[result].kind == pd::Kind::SelectedRows) &&
        infos[result].rankKnown)
      result.setType(typeOf(result.getContext(), infos[result]));
}

}  // namespace

OneOp::OneOp(mlir::Operation* op) : op(op) {
  for (mlir::Value operand : op->getOperands())
    if (!operand.getDefiningOp<pd::UndefOp>() && !isLiteral(operand) &&
        !llvm::is_contained(values, operand))
      values.push_back(operand);
}

std::string OneOp::key() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  const pd::OpView op_ = view();
  out << op_.type();
  for (const std::string& slot : op_.inputSlots()) {
    out << ' ' << slot << '(';
    for (mlir::Value value : op_.inputs(slot)) {
      auto found = llvm::find(values, value);
      if (!value) out << "-,";
      else if (found != values.end()) out << found - values.begin() << ',';
      else if (value.getDefiningOp<pd::UndefOp>()) out << "undef,";
      else value.getDefiningOp()->getAttr("attrs").print(out);
    }
    out << ')';
  }
  out << " ->";
  for (const std::string& slot : op_.outputSlots()) {
    out << ' ' << slot << '(';
    for (mlir::Value value : op_.outputs(slot)) out << (value ? "." : "-");
    out << ')';
  }
  if (mlir::Attribute streams = op->getAttr(dist::kStreamsAttr)) out << " streams=" << streams;
  if (auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs"))
    for (mlir::NamedAttribute attribute : attributes)
      if (!pd::isCommonAttribute(attribute.getName()))
        out << ' ' << attribute.getName().getValue() << '=' << attribute.getValue();
  return text;
}

std::string OneOp::text() const {
  std::string text = view().type().str();
  llvm::raw_string_ostream out(text);
  const char* before = " {";
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  for (mlir::NamedAttribute attribute :
       attributes ? attributes.getValue() : mlir::ArrayRef<mlir::NamedAttribute>()) {
    const llvm::StringRef name = attribute.getName().getValue();
    const pd::AttrRow* row = view().spec() ? view().spec()->attribute(name) : nullptr;
    if (pd::isCommonAttribute(name) || (row && row->hint)) continue;
    out << before << name << " = ";
    attribute.getValue().print(out, /*elideType=*/true);
    before = ", ";
  }
  if (before[0] == ',') out << '}';
  if (mlir::Attribute streams = op->getAttr(dist::kStreamsAttr)) out << " streams " << streams;
  return text;
}

std::string OneOp::slotsOf(mlir::Value value) const {
  std::string text;
  for (const std::string& slot : view().inputSlots())
    for (auto [i, each] : llvm::enumerate(view().inputs(slot)))
      if (each == value)
        text += (text.empty() ? "" : "=") + slot + (i ? "[" + std::to_string(i) + "]" : "");
  return text;
}

Alone alone(const OneOp& op, llvm::ArrayRef<mlir::Type> types, const Tensors* results) {
  mlir::MLIRContext* context = op.op->getContext();
  Alone made;
  mlir::Location location = mlir::UnknownLoc::get(context);
  made.module = mlir::ModuleOp::create(location);
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(made.module->getBody());
  auto program = op.op->getParentOfType<pd::ProgramOp>();
  made.program = llvm::cast<pd::ProgramOp>(builder.insert(program->cloneWithoutRegions()));
  builder.createBlock(&made.program.getBody());
  mlir::IRMapping map;
  for (auto [i, value] : llvm::enumerate(op.values)) {
    auto input = pd::InputOp::create(builder, location, types[i],
                                     builder.getStringAttr("in" + std::to_string(i)));
    made.inputs.push_back(input.getValue());
    map.map(value, input.getValue());
  }
  for (mlir::Value operand : op.op->getOperands())
    if (!map.contains(operand)) builder.clone(*operand.getDefiningOp(), map);
  made.op = builder.clone(*op.op, map);
  inferResults(made, results);
  return made;
}

mlir::Type feedType(mlir::Type declared, const Tensor& tensor, llvm::ArrayRef<int> unknown) {
  pd::TensorInfo info = pd::declaredInfo(declared);
  info.dims.assign(tensor.dims.begin(), tensor.dims.end());
  info.dtype = tensor.dtype;
  info.lodLevel = std::max(info.lodLevel, static_cast<int>(tensor.lod.size()));
  if (info.lodLevel && !info.dims.empty()) info.dims[0] = -1;
  for (int dim : unknown) info.dims[static_cast<size_t>(dim)] = -1;
  return typeOf(declared.getContext(), info);
}

}  // namespace dtranspile::claims

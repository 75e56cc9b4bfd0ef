// Values of a PIR program as variables of the ProgramDesc: their declarations and names, and the
// constants among them. Part of Normalizer (normalizer.h).
//
// A value is one variable, or one per element where it is a list. In-place ops write on into the
// variable of their operand only where that outlives the step; elsewhere the result is a variable
// of its own, and whoever reads the operand afterwards reads that one (normalize.cc).
#include "compiler/import/pir/normalizer.h"

namespace dtranspile::pir {

// A longer constant stays a tensor: attributes hold extents and axes, and a file could have one
// constant read by all of its ops.
constexpr size_t kMaxFolded = 1024;

Value* Normalizer::find(int64_t id) {
  auto found = values_.find(id);
  return found == values_.end() ? nullptr : &found->second;
}

std::string Normalizer::defaultName(int op, size_t result) const {
  if (roles_.seed && program_.ops[op].results[result].id == roles_.seed) {
    auto loss = values_.find(roles_.loss);
    if (loss != values_.end() && loss->second.names.size() == 1)
      return loss->second.names[0] + "@GRAD";
  }
  return "#" + std::to_string(op) + "." + std::to_string(result);
}

// 7, 8 and 13 are LOD_TENSOR, SELECTED_ROWS and LOD_TENSOR_ARRAY of framework.proto's VarType.
bool Normalizer::declare(int index, llvm::StringRef name, const Type& type, VariableFlags flags) {
  if (!declared_.insert(name).second)
    return fail(index, "declares variable '" + name + "' for the second time");
  int kind = type.kind == TypeKind::Tensor         ? 7
             : type.kind == TypeKind::SelectedRows ? 8
             : type.kind == TypeKind::TensorArray  ? 13
                                                   : -1;
  if (kind < 0)
    return fail(index, "makes variable '" + name + "' of type '" + type.name +
                           "', which no ProgramDesc has");
  VarDesc* var = block_->add_vars();
  var->set_name(name.str());
  var->set_persistable(flags.persistable);
  if (flags.parameter) var->set_is_parameter(true);
  if (flags.fed) var->set_need_check_feed(true);
  var->set_stop_gradient(flags.stopGradient);
  framework::VarType* made = var->mutable_type();
  made->set_type(kind);
  framework::LoDTensorDesc* withLod = kind == 7    ? made->mutable_lod_tensor()
                                      : kind == 13 ? made->mutable_tensor_array()
                                                   : nullptr;
  framework::TensorDesc* tensor =
      withLod ? withLod->mutable_tensor() : made->mutable_selected_rows();
  if (withLod && type.lodLevel) withLod->set_lod_level(type.lodLevel);
  tensor->set_data_type(type.dtype);
  for (int64_t extent : type.dims) tensor->add_dims(extent);
  return true;
}

// A list is one variable per element; an absent element keeps its place as `@EMPTY@`.
bool Normalizer::declareResult(int index, size_t number) {
  const Result& result = program_.ops[index].results[number];
  Value& value = *find(result.id);
  bool list = value.type->kind == TypeKind::List;
  std::vector<const Type*> types;
  if (!list) types.push_back(value.type);
  for (const Type& element : value.type->elements) types.push_back(&element);
  value.names.resize(types.size());
  for (auto [i, type] : llvm::enumerate(types)) {
    std::string& name = value.names[i];
    if (name.empty())
      name = defaultName(index, number) + (list ? "[" + std::to_string(i) + "]" : "");
    if (type->kind == TypeKind::Absent) name = "@EMPTY@";
    else if (!declare(index, name, *type,
                      {.persistable = result.persistable || value.pinned,
                       .parameter = value.parameter,
                       .stopGradient = result.stopGradient}))
      return false;
  }
  return true;
}

// The variables of an operand; makes the constant that it is, if nobody has needed it as a tensor
// before.
const std::vector<std::string>* Normalizer::read(int index, int64_t id) {
  Value* value = find(id);
  if (!value) return fail(index, "lacks an operand"), nullptr;
  if (isConstant(program_.ops[value->op]) && !emitted_[value->op] && value->names.empty()) {
    roles_.role[value->op] = roles_.role[index];
    if (!emitOp(value->op)) return nullptr;
  }
  if (value->names.empty())
    return fail(index, "reads value " + llvm::Twine(id) + ", which holds nothing"), nullptr;
  return &value->names;
}

// Values of `full` with one element and of `full_int_array`, unless somebody writes over them.
std::optional<Numbers> Normalizer::constantOf(int64_t id) const {
  auto found = values_.find(id);
  if (found == values_.end() || found->second.changed) return std::nullopt;
  const Op& op = program_.ops[found->second.op];
  if (!isConstant(op)) return std::nullopt;
  bool isFull = op.name == "pd_op.full";
  for (int64_t extent : found->second.type->dims)
    if (isFull && extent != 1) return std::nullopt;
  const json* value = op.attribute(op.name == "pd_op.assign_value" ? "values" : "value");
  const json* list = arrayMember(value, "D");
  if (list && list->size() > kMaxFolded) return std::nullopt;
  std::optional<Numbers> numbers = value ? numbersOf(*value) : std::nullopt;
  return numbers && isFull && numbers->size() != 1 ? std::nullopt : numbers;
}

}  // namespace dtranspile::pir

// The walk over the ops of a PIR program: each becomes an op of a ProgramDesc by its row. Ops that
// compute nothing are in structure.cc, attributes in attributes.cc, variables in variables.cc.
#include "compiler/import/pir/attributes.h"
#include "compiler/import/pir/normalizer.h"
#include "mlir/IR/Diagnostics.h"

namespace dtranspile::pir {
namespace {

// Ops are those of this release of the framework.
constexpr int64_t kRelease = 2006000;

}  // namespace

bool isConstant(const Op& op) {
  return op.name == "pd_op.full" || op.name == "pd_op.full_int_array" ||
         op.name == "pd_op.assign_value";
}

void addArgument(google::protobuf::RepeatedPtrField<OpDesc::Var>& slots, llvm::StringRef slot,
                 llvm::StringRef argument) {
  OpDesc::Var* added = slots.Add();
  added->set_parameter(slot.str());
  added->add_arguments(argument.str());
}

// A hook's view of the op that is being made.
class Normalizer::OpEmission : public Emission {
 public:
  OpEmission(Normalizer& normalizer, int index, OpDesc& made)
      : normalizer_(normalizer), index_(index), made_(made) {}

  const Op& op() const override { return normalizer_.program_.ops[index_]; }
  OpDesc& made() override { return made_; }
  const Type* operandType(size_t operand) const override {
    const Op& from = op();
    Value* value =
        operand < from.operands.size() ? normalizer_.find(from.operands[operand]) : nullptr;
    return value ? value->type : nullptr;
  }
  std::optional<Numbers> constant(size_t operand) override {
    return operand < op().operands.size() ? normalizer_.constantOf(op().operands[operand])
                                          : std::nullopt;
  }
  std::string before(OpDesc made, llvm::StringRef name, const Type& type) override {
    std::string variable = "#" + std::to_string(index_) + "." + name.str();
    normalizer_.declare(index_, variable, type, {.stopGradient = true});
    addArgument(*made.mutable_outputs(), "Out", variable);
    normalizer_.finish(index_, std::move(made));
    return variable;
  }

 private:
  Normalizer& normalizer_;
  int index_;
  OpDesc& made_;
};

bool Normalizer::fail(int index, const llvm::Twine& message) {
  std::string place = "block 0, op " + std::to_string(index);
  mlir::emitError(
      mlir::NameLoc::get(builder_.getStringAttr(place), mlir::FileLineColLoc::get(file_, 0, index)))
      << "op '" << program_.ops[index].name << "' " << message.str();
  return false;
}

// Names first, all of them, since an op's variable may have to be called what a later op hands it
// out as; then the ops in their order.
mlir::FailureOr<NormalProgram> Normalizer::run() {
  block_ = out_.add_blocks();
  block_->set_idx(0);
  block_->set_parent_idx(-1);
  out_.mutable_version()->set_version(kRelease);
  normal_.positions.resize(1);
  if (!checkNames() || !number() || !nameValues()) return mlir::failure();
  for (int i = 0; i < static_cast<int>(program_.ops.size()); ++i)
    if (!emit(i)) return mlir::failure();
  normal_.bytes = out_.SerializeAsString();
  return std::move(normal_);
}

bool Normalizer::emit(int index) {
  const Op& op = program_.ops[index];
  Structure structure = structureOf(op.name);
  if (structure != Structure::None) return emitStructure(index, structure);
  // Constants are made where they are first read as a tensor: most become attributes.
  if (isConstant(op) && op.results.size() == 1) {
    const Value& value = *find(op.results[0].id);
    if (!value.pinned && value.readers > 0) return true;
  }
  return emitOp(index);
}

// An op by its row of the table: operands to slots, attributes, results to slots. The row's hook
// has the last word, for what no row can say.
bool Normalizer::emitOp(int index) {
  emitted_[index] = true;
  const Op& op = program_.ops[index];
  const Rule& rule = *findRule(op);
  OpDesc made;
  made.set_type(rule.spec->type);
  if (!setOperands(index, rule, made)) return false;
  if (std::string why = setAttributes(op, rule, made); !why.empty()) return fail(index, why);
  if (!setResults(index, rule, made)) return false;
  if (rule.hook) {
    OpEmission emission(*this, index, made);
    std::string why = rule.hook(emission);
    if (!why.empty()) return fail(index, why);
  }
  finish(index, std::move(made));
  return true;
}

bool Normalizer::setOperands(int index, const Rule& rule, OpDesc& made) {
  const Op& op = program_.ops[index];
  if (!rule.takes(op.operands.size()))
    return fail(index, "has " + llvm::Twine(op.operands.size()) + " operands, expected " +
                           llvm::Twine(rule.operands.size()));
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (!setOperand(index, i, rule.operands[i], rule, made)) return false;
  return true;
}

// PIR passes as operands what a ProgramDesc has as attributes (an axis, extents of a shape). Such
// an operand becomes the attribute where it is a constant of the program, else the tensor slot that
// the op has for it, where it has one.
bool Normalizer::setOperand(int index, size_t number, const OperandRule& rule, const Rule& row,
                            OpDesc& made) {
  int64_t id = program_.ops[index].operands[number];
  if (rule.kind == OperandRule::Storage) return true;
  if (rule.kind == OperandRule::Refused)
    return id == 0 ||
           fail(index, "has operand '" + rule.name + "', which no op of a ProgramDesc takes");
  std::string slot = rule.name;
  bool list = rule.list;
  if (rule.kind == OperandRule::Constant) {
    if (id == 0) return true;
    if (std::optional<Numbers> numbers = constantOf(id)) {
      std::string why = toAttribute(*numbers, row.spec->attribute(rule.name)->types[0],
                                    attributeOf(made, rule.name, 0));
      return why.empty() || fail(index, "operand " + llvm::Twine(number) + " (attribute '" +
                                            rule.name + "') " + why);
    }
    const Value* value = find(id);
    list = value && value->type->kind == TypeKind::List;
    slot = list ? rule.parts : rule.slot;
    if (slot.empty())
      return fail(index, "takes '" + rule.name +
                             "' from a value computed at run time; only constants are imported");
  }
  if (id == 0)
    return rule.optional ||
           fail(index, "lacks operand " + llvm::Twine(number) + " (slot " + slot + ")");
  const std::vector<std::string>* names = read(index, id);
  if (!names) return false;
  if (!list && names->size() != 1)
    return fail(index, "has a list as operand " + llvm::Twine(number) + " (slot " + slot + ")");
  arguments_ += static_cast<int64_t>(names->size());
  if (arguments_ > budget_.maxValues)
    return fail(index, "is one of ops that read more than " + llvm::Twine(budget_.maxValues) +
                           " values altogether");
  OpDesc::Var* input = made.add_inputs();
  input->set_parameter(slot);
  for (const std::string& name : *names) input->add_arguments(name);
  return true;
}

// Results of the PIR op in their order, and outputs that only the op of the ProgramDesc has (Made).
bool Normalizer::setResults(int index, const Rule& rule, OpDesc& made) {
  const Op& op = program_.ops[index];
  size_t next = 0;
  for (const ResultRule& result : rule.results) {
    if (result.kind == ResultRule::Made) {
      if (!makeResult(index, result, made)) return false;
    } else if (next < op.results.size()) {
      if (!setResult(index, next++, result, rule, made)) return false;
    } else if (!result.optional) {
      return fail(index, "has " + llvm::Twine(op.results.size()) + " results; '" + result.slot +
                             "' is missing");
    }
  }
  return next == op.results.size() || fail(index, "has " + llvm::Twine(op.results.size()) +
                                                      " results, expected " + llvm::Twine(next));
}

// Results of PIR are new values always; ops of a ProgramDesc may write a variable in place, or hand
// one on. Whether an old value shares the variable of a new one decides which of its readers see
// the update, so values of one storage get one name only where the framework's in-place rule says
// so.
bool Normalizer::setResult(int index, size_t number, const ResultRule& rule, const Rule& row,
                           OpDesc& made) {
  const Op& op = program_.ops[index];
  Value& value = *find(op.results[number].id);
  if (rule.kind == ResultRule::Operand) {
    Value* operand = find(op.operands[row.operand(rule.slot)]);
    if (!operand || operand->names.size() != 1)
      return fail(index, "lacks operand '" + rule.slot + "', which a result stands for");
    value.names = operand->names;
    return true;
  }
  if (rule.kind == ResultRule::Unread) {
    return value.readers == 0 ||
           fail(index,
                "makes '" + rule.slot + "', which is read and which no op of a ProgramDesc makes");
  }
  if (value.type->kind == TypeKind::Absent)
    return value.readers == 0 ||
           fail(index, "has result " + llvm::Twine(number) + " without a type, and it is read");
  if ((value.type->kind == TypeKind::List) != rule.list)
    return fail(index, "has result " + llvm::Twine(number) +
                           (rule.list ? " that is no list" : " that is a list"));
  Value* storage =
      rule.inPlaceOf.empty() ? nullptr : find(op.operands[row.operand(rule.inPlaceOf)]);
  // Variables that outlive a step keep their names; others get a new one, which later readers of
  // the old value see too.
  if (storage && !storage->names.empty() &&
      structureOf(program_.ops[storage->op].name) != Structure::None) {
    value.names = storage->names;
  } else {
    if (!declareResult(index, number)) return false;
    if (storage) storage->names = value.names;
  }
  OpDesc::Var* output = made.add_outputs();
  output->set_parameter(rule.slot);
  for (const std::string& name : value.names) output->add_arguments(name);
  return true;
}

// A result that this release's ops have and the file's have not: extents of the first operand, for
// the gradient op.
bool Normalizer::makeResult(int index, const ResultRule& rule, OpDesc& made) {
  const Op& op = program_.ops[index];
  Value* operand = op.operands.empty() ? nullptr : find(op.operands[0]);
  if (!operand || operand->type->kind != TypeKind::Tensor)
    return fail(index, "has no tensor as its first operand");
  Type type = *operand->type;
  type.dims.insert(type.dims.begin(), 0);
  std::string name = "#" + std::to_string(index) + "." + rule.slot;
  if (!declare(index, name, type, {.stopGradient = true})) return false;
  addArgument(*made.mutable_outputs(), rule.slot, name);
  return true;
}

// PIR files have no roles: they are worked out from the structure of the program beforehand
// (roles_). An op that completes a gradient says of which parameter.
void Normalizer::setRole(int index, OpDesc& made) {
  for (const OpDesc::Attr& attribute : made.attrs())
    if (attribute.name() == "op_role") return;
  attributeOf(made, "op_role", 0).set_i(roles_.role[index]);
  auto gradients = roles_.gradients.find(index);
  if (gradients == roles_.gradients.end()) return;
  OpDesc::Attr& names = attributeOf(made, "op_role_var", 5);
  for (auto [parameter, gradient] : gradients->second) {
    Value *p = find(parameter), *g = find(gradient);
    if (!p || !g || p->names.size() != 1 || g->names.size() != 1) continue;
    names.add_strings(p->names[0]);
    names.add_strings(g->names[0]);
  }
}

// Slots and attributes in order of their names, as the framework writes them.
void Normalizer::finish(int index, OpDesc made) {
  setRole(index, made);
  auto byParameter = [](const auto& a, const auto& b) { return a.parameter() < b.parameter(); };
  std::sort(made.mutable_inputs()->begin(), made.mutable_inputs()->end(), byParameter);
  std::sort(made.mutable_outputs()->begin(), made.mutable_outputs()->end(), byParameter);
  std::sort(made.mutable_attrs()->begin(), made.mutable_attrs()->end(),
            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  *block_->add_ops() = std::move(made);
  normal_.positions[0].push_back(index);
}

mlir::FailureOr<NormalProgram> normalize(mlir::MLIRContext* context, llvm::StringRef bytes,
                                         llvm::StringRef file, const Budget& budget) {
  Program program;
  ReadError error;
  if (readProgram(bytes, budget, program, error))
    return Normalizer(context, file, program, budget).run();
  mlir::Builder builder(context);
  mlir::Location at =
      mlir::FileLineColLoc::get(builder.getStringAttr(file), 0, error.op < 0 ? 0 : error.op);
  if (error.op < 0) return mlir::emitError(at) << error.message;
  std::string place = "block 0, op " + std::to_string(error.op);
  return mlir::emitError(mlir::NameLoc::get(builder.getStringAttr(place), at))
         << "op '" << error.name << "' " << error.message;
}

}  // namespace dtranspile::pir

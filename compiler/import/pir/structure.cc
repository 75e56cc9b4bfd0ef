// Ops of a PIR program that compute nothing: variables, lists and their parts, names. Part of
// Normalizer (normalizer.h).
#include <map>

#include "compiler/import/pir/normalizer.h"
#include "llvm/ADT/StringSwitch.h"

namespace dtranspile::pir {
namespace {

const char* nameAttribute(const Op& op) {
  return op.name == "builtin.set_parameter" ? "parameter_name" : "output_name";
}

}  // namespace

// Ops of these names have no row in the table: they become names of variables, or nothing at all.
Structure structureOf(llvm::StringRef name) {
  return llvm::StringSwitch<Structure>(name)
      .Case("builtin.parameter", Structure::Parameter)
      .Case("pd_op.data", Structure::Data)
      .Case("pd_op.feed", Structure::Feed)
      .Case("pd_op.fetch", Structure::Fetch)
      .Case("builtin.combine", Structure::Combine)
      .Case("builtin.split", Structure::Split)
      .Case("builtin.slice", Structure::Slice)
      .Cases({"builtin.set_parameter", "builtin.shadow_output"}, Structure::Name)
      .Default(Structure::None);
}

// All ops that the table does not have, at once, but for a file that makes up names.
constexpr int kMaxListed = 50;

// Control flow is refused by itself, at its first op: a list of unknown names would only repeat it.
bool Normalizer::checkNames() {
  std::map<std::string, std::pair<int, int>> unknown;  // first position, count
  for (int i = 0; i < static_cast<int>(program_.ops.size()); ++i) {
    const Op& op = program_.ops[i];
    if (llvm::StringRef(op.name).starts_with("cf.") || op.hasRegions)
      return fail(i,
                  "belongs to control flow; PIR programs with branches and loops are not imported "
                  "yet. Save the program as a ProgramDesc (Paddle 2.x) instead");
    bool known = structureOf(op.name) != Structure::None || findRule(op);
    if (!known) ++unknown.try_emplace(op.name, i, 0).first->second.second;
  }
  int listed = 0;
  for (auto& [name, where] : unknown)
    if (listed++ < kMaxListed)
      fail(where.first, llvm::Twine("has no row in the PIR table (") + llvm::Twine(where.second) +
                            " in this program); a row in compiler/import/pir/rows adds it");
  return unknown.empty();
}

// In the order of the file, which is that of execution.
bool Normalizer::number() {
  for (int i = 0; i < static_cast<int>(program_.ops.size()); ++i)
    if (!numberOp(i)) return false;
  return true;
}

// Values by their numbers, each made once and before it is read: the order of the list is the order
// of execution. Counts readers, and notes which values are changed in place.
bool Normalizer::numberOp(int index) {
  const Op& op = program_.ops[index];
  for (int64_t id : op.operands) {
    if (id == 0) continue;
    Value* value = find(id);
    if (!value)
      return fail(index, "reads value " + llvm::Twine(id) + ", which no earlier op makes");
    ++value->readers;
  }
  for (auto [number, result] : llvm::enumerate(op.results)) {
    auto [value, isNew] = values_.try_emplace(result.id);
    if (!isNew)
      return fail(index, "makes value " + llvm::Twine(result.id) + ", which op " +
                             llvm::Twine(value->second.op) + " makes already");
    value->second.op = index;
    value->second.result = static_cast<int>(number);
    value->second.type = &result.type;
  }
  const Rule* rule = findRule(op);
  for (const ResultRule& result :
       rule ? llvm::ArrayRef<ResultRule>(rule->results) : llvm::ArrayRef<ResultRule>()) {
    int target = result.inPlaceOf.empty() ? -1 : rule->operand(result.inPlaceOf);
    if (target >= 0 && target < static_cast<int>(op.operands.size()))
      if (Value* value = find(op.operands[target])) value->changed = true;
  }
  return true;
}

// Names that do not follow from the position of the op that makes the value.
bool Normalizer::nameValues() {
  for (int i = 0; i < static_cast<int>(program_.ops.size()); ++i) {
    switch (structureOf(program_.ops[i].name)) {
      case Structure::Split:
      case Structure::Slice:
        if (!nameParts(i)) return false;
        break;
      case Structure::Name:
        if (!nameOf(i)) return false;
        break;
      default: break;
    }
  }
  return true;
}

// What a start-up program writes to a parameter or hands out under a name is called so from the
// start.
bool Normalizer::nameOf(int index) {
  const Op& op = program_.ops[index];
  std::string name = textAttribute(index, nameAttribute(op));
  if (name.empty())
    return fail(index, llvm::Twine("has no attribute '") + nameAttribute(op) + "' with a name");
  Value* operand = op.operands.size() == 1 ? find(op.operands[0]) : nullptr;
  if (!operand) return fail(index, "has not one operand");
  bool ownName = structureOf(program_.ops[operand->op].name) != Structure::None;
  if (ownName || operand->pinned || operand->type->kind == TypeKind::List)
    return true;  // copied where the op stands
  operand->names = {name};
  operand->pinned = true;
  operand->parameter = op.name == "builtin.set_parameter";
  return true;
}

// Parts of a list are called after the op that takes them out.
bool Normalizer::nameParts(int index) {
  const Op& op = program_.ops[index];
  Value* list = op.operands.size() == 1 ? find(op.operands[0]) : nullptr;
  if (!list || list->type->kind != TypeKind::List)
    return fail(index, "takes parts of something that is no list");
  size_t count = list->type->elements.size();
  list->names.resize(count);
  size_t first = 0;
  if (op.name == "builtin.slice") {
    const json* value = op.attribute("index");
    std::optional<Numbers> position = value ? numbersOf(*value) : std::nullopt;
    if (!position || position->size() != 1 || (*position)[0].integer < 0 ||
        (*position)[0].integer >= static_cast<int64_t>(count) || op.results.size() != 1)
      return fail(index,
                  "has no attribute 'index' below " + llvm::Twine(count) + ", or not one result");
    first = static_cast<size_t>((*position)[0].integer);
  } else if (op.results.size() != count) {
    return fail(index, "has " + llvm::Twine(op.results.size()) + " results for a list of " +
                           llvm::Twine(count));
  }
  for (size_t i = 0; i < op.results.size(); ++i)
    if (list->names[first + i].empty()) list->names[first + i] = defaultName(index, i);
  return true;
}

// Parameters and feeds come into being under their names; lists exist only as lists of names; a
// name op copies where it could not rename.
bool Normalizer::emitStructure(int index, Structure structure) {
  switch (structure) {
    case Structure::Parameter: return introduce(index, program_.ops[index].parameter->name);
    case Structure::Data:
    case Structure::Feed: return introduce(index, textAttribute(index, "name"));
    case Structure::Fetch: return emitFetch(index);
    case Structure::Combine: return combine(index);
    case Structure::Split:
    case Structure::Slice: return takeParts(index);
    case Structure::Name: return emitName(index);
    case Structure::None: break;
  }
  return true;
}

std::string Normalizer::textAttribute(int index, llvm::StringRef name) const {
  const json* value = program_.ops[index].attribute(name);
  const std::string* text = value ? textOf(*value) : nullptr;
  return text ? *text : std::string();
}

// A variable that is there before the program runs, or that the caller feeds.
bool Normalizer::introduce(int index, const std::string& name) {
  const Op& op = program_.ops[index];
  if (name.empty() || op.results.size() != 1)
    return fail(index, "has no attribute 'name', or not one result");
  const Result& result = op.results[0];
  if (result.type.kind == TypeKind::List || result.type.kind == TypeKind::Absent)
    return fail(index, "has no tensor as its result");
  find(result.id)->names = {name};
  return declare(index, name, result.type,
                 {.persistable = result.persistable,
                  .parameter = op.parameter && op.parameter->isParameter,
                  .stopGradient = result.stopGradient,
                  .fed = !result.persistable});
}

// Lists of values are no variables of a ProgramDesc: a list is known by the names of its parts, and
// slots take those.
bool Normalizer::combine(int index) {
  const Op& op = program_.ops[index];
  if (op.results.size() != 1) return fail(index, "has not one result");
  std::vector<std::string> names;
  for (int64_t id : op.operands) {
    const std::vector<std::string>* part = read(index, id);
    if (!part) return false;
    if (part->size() != 1) return fail(index, "puts a list into a list");
    names.push_back((*part)[0]);
  }
  find(op.results[0].id)->names = std::move(names);
  return true;
}

// All parts (split), or the one of a constant index (slice).
bool Normalizer::takeParts(int index) {
  const Op& op = program_.ops[index];
  const std::vector<std::string>* list = read(index, op.operands[0]);
  if (!list) return false;
  size_t first = structureOf(op.name) == Structure::Slice
                     ? static_cast<size_t>((*numbersOf(*op.attribute("index")))[0].integer)
                     : 0;
  if (first + op.results.size() > list->size())
    return fail(index, "takes more parts than the list has");
  for (auto [i, result] : llvm::enumerate(op.results))
    find(result.id)->names = {(*list)[first + i]};
  return true;
}

// Where the value could not be made under the name, it is copied to it.
bool Normalizer::emitName(int index) {
  const Op& op = program_.ops[index];
  const std::vector<std::string>* from = read(index, op.operands[0]);
  if (!from) return false;
  if (from->size() != 1) return fail(index, "names a list");
  std::string name = textAttribute(index, nameAttribute(op));
  if ((*from)[0] == name) return true;
  VariableFlags flags = {
      .persistable = true, .parameter = op.name == "builtin.set_parameter", .stopGradient = true};
  if (!declared_.contains(name) && !declare(index, name, *find(op.operands[0])->type, flags))
    return false;
  OpDesc copy;
  copy.set_type("assign");
  addArgument(*copy.mutable_inputs(), "X", (*from)[0]);
  addArgument(*copy.mutable_outputs(), "Out", name);
  finish(index, std::move(copy));
  return true;
}

// As programs saved for inference have it: a list of all fetched values, filled by position.
bool Normalizer::emitFetch(int index) {
  const Op& op = program_.ops[index];
  const std::vector<std::string>* value =
      op.operands.size() == 1 ? read(index, op.operands[0]) : nullptr;
  if (!value || value->size() != 1) return fail(index, "does not fetch one tensor");
  if (declared_.insert("fetch").second) {
    VarDesc* var = block_->add_vars();
    var->set_name("fetch");
    var->mutable_type()->set_type(10);
    var->set_persistable(true);
  }
  OpDesc made;
  made.set_type("fetch");
  addArgument(*made.mutable_inputs(), "X", (*value)[0]);
  addArgument(*made.mutable_outputs(), "Out", "fetch");
  const json* column = op.attribute("col");
  std::string why =
      column ? toAttribute(*column, pd::AttrType::Int, attributeOf(made, "col", 0)) : "is missing";
  if (!why.empty()) return fail(index, "attribute 'col' " + llvm::Twine(why));
  finish(index, std::move(made));
  return true;
}

}  // namespace dtranspile::pir

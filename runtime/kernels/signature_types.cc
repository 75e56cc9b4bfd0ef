#include "runtime/kernels/signature_types.h"

#include <charconv>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/kernels/signature.h"

namespace dtranspile::kernels {
namespace {

using Relation = TypeDemand::Relation;

constexpr std::pair<std::string_view, TypeSet> kClasses[] = {
    {"index", kIndices},  {"float", kFloats},    {"anyfloat", kAnyFloats},
    {"number", kNumbers}, {"whole", kWholes},    {"plain", kPlain},
    {"real", kReals},     {"complex", kComplex}, {"any", kAnyType}};

// In the order in which messages name them.
constexpr DType kTypes[] = {DType::kFloat16, DType::kBFloat16,  DType::kFloat32,   DType::kFloat64,
                            DType::kBool,    DType::kInt8,      DType::kUInt8,     DType::kInt16,
                            DType::kInt32,   DType::kInt64,     DType::kUInt32,    DType::kUInt64,
                            DType::kSizeT,   DType::kComplex64, DType::kComplex128};

// Real types and the complex ones made of two of them.
constexpr std::pair<DType, DType> kComplexOf[] = {{DType::kFloat32, DType::kComplex64},
                                                  {DType::kFloat64, DType::kComplex128}};

// 0: no class and no type.
TypeSet ClassOf(std::string_view name) {
  if (const size_t bar = name.find('|'); bar != std::string_view::npos) {
    const TypeSet one = ClassOf(name.substr(0, bar)), other = ClassOf(name.substr(bar + 1));
    return one != 0 && other != 0 ? one | other : 0;
  }
  for (const auto& [known, types] : kClasses)
    if (known == name) return types;
  for (const DType type : kTypes)
    if (NameOf(type) == name) return TypesOf({type});
  return 0;
}

// Its number among inputs and then outputs.
std::optional<int> SlotNamed(const Signature& signature, std::string_view name) {
  for (size_t k = 0; k < signature.slots(); ++k)
    if (signature.slot(k).name == name) return static_cast<int>(k);
  return std::nullopt;
}

// Whether the text begins so; the prefix is then gone.
bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool NumberOf(std::string_view text, int32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

// What stands in the brackets: N, N.. or N..M.
bool DimsOf(std::string_view text, TypeDemand& demand) {
  const size_t dots = text.find("..");
  if (!NumberOf(text.substr(0, dots), demand.least_dims)) return false;
  if (dots == std::string_view::npos) return demand.most_dims = demand.least_dims, true;
  const std::string_view most = text.substr(dots + 2);
  return most.empty() || (NumberOf(most, demand.most_dims) && demand.least_dims < demand.most_dims);
}

// A demand as far as its own text says it; a tie leaves `types` to be filled.
absl::Status ParseDemand(const Signature& signature, int own, std::string_view text,
                         TypeDemand& demand) {
  const auto wrong = [&](const char* what) {
    return absl::InvalidArgumentError(
        absl::StrCat("slot '", signature.slot(static_cast<size_t>(own)).name, "': ", what));
  };
  demand.each = ConsumePrefix(text, "each ");
  if (const size_t open = text.find('['); open != std::string_view::npos) {
    if (text.back() != ']' || !DimsOf(text.substr(open + 1, text.size() - open - 2), demand))
      return wrong("expected [N], [N..] or [N..M] dims");
    text = text.substr(0, open);
  }
  if (text.empty()) return wrong("expected ':' and its element types");
  demand.like = own;
  demand.types = ClassOf(text);
  if (demand.types != 0) return absl::OkStatus();
  for (const auto& [prefix, relation] :
       {std::pair{"real(", Relation::kRealOf}, std::pair{"complex(", Relation::kComplexOf}}) {
    if (!text.ends_with(')') || !ConsumePrefix(text, prefix)) continue;
    text.remove_suffix(1);
    demand.relation = relation;
    break;
  }
  const std::optional<int> other = SlotNamed(signature, text);
  if (!other || *other == own) return wrong("its types are no class, no type and no other slot");
  if (demand.each) return wrong("'each' goes with a class, not with a slot");
  demand.like = *other;
  return absl::OkStatus();
}

// The types that those of a set are related to; types without a relative drop out.
TypeSet RelatedTypes(Relation relation, TypeSet types) {
  if (relation == Relation::kSame) return types;
  TypeSet related = 0;
  for (const DType type : kTypes)
    if (Holds(types, type) && Related(relation, type) != type)
      related |= TypesOf({Related(relation, type)});
  return related;
}

}  // namespace

DType Related(Relation relation, DType type) {
  for (const auto& [real, complex] : kComplexOf) {
    if (relation == Relation::kRealOf && type == complex) return real;
    if (relation == Relation::kComplexOf && type == real) return complex;
  }
  return type;
}

// "float32, float64 or int64".
std::string TextOf(TypeSet types) {
  std::vector<const char*> names;
  for (const DType type : kTypes)
    if (Holds(types, type)) names.push_back(NameOf(type));
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    absl::StrAppend(&text, i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  return text;
}

// In two rounds: every demand by itself, then ties to other slots, whose class is known by then.
absl::Status ParseDemands(const std::vector<std::string>& texts, Signature& signature) {
  const auto demand = [&](size_t k) -> TypeDemand& {
    const size_t inputs = signature.inputs.size();
    return k < inputs ? signature.inputs[k].demand : signature.outputs[k - inputs].demand;
  };
  for (size_t k = 0; k < texts.size(); ++k)
    DT_RETURN_IF_ERROR(ParseDemand(signature, static_cast<int>(k), texts[k], demand(k)));
  // Ties lead to a class in one step: whoever reads a line finds the class without following it.
  for (size_t k = 0; k < texts.size(); ++k) {
    TypeDemand& own = demand(k);
    const auto other = static_cast<size_t>(own.like);
    if (other == k) continue;
    if (demand(other).like != own.like || demand(other).types == 0)
      return absl::InvalidArgumentError(absl::StrCat("slot '", signature.slot(k).name, "': '",
                                                     signature.slot(other).name,
                                                     "' names a slot itself, expected a class"));
    own.types = RelatedTypes(own.relation, demand(other).types);
    if (own.types == 0)
      return absl::InvalidArgumentError(absl::StrCat("slot '", signature.slot(k).name, "': '",
                                                     signature.slot(other).name,
                                                     "' has no such types"));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::kernels

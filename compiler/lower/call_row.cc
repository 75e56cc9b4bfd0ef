#include "compiler/lower/call_row.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "runtime/kernels/signatures.h"

namespace dtranspile::lower {
namespace {

using kernels::AttributeKind;
using llvm::StringRef;
using llvm::Twine;

// A slot or attribute of an op, with the marks `@` (asked of the lowering), `$` (the old value of
// an output) and `-` (none).
bool isName(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || StringRef("_@$-").contains(c);
  });
}

template <typename Specs>
bool hasName(const Specs& specs, StringRef name) {
  return llvm::any_of(specs, [&](const auto& spec) { return StringRef(spec.name) == name; });
}

// The kinds that take an attribute of the op: its own, and for one value a list.
bool takes(AttributeKind kind, pd::AttrType type) {
  using Type = pd::AttrType;
  switch (type) {
    case Type::Bool: return kind == AttributeKind::kBool;
    case Type::Int:
    case Type::Long: return kind == AttributeKind::kInt || kind == AttributeKind::kInts;
    case Type::Float:
    case Type::Float64:
    case Type::Scalar: return kind == AttributeKind::kReal || kind == AttributeKind::kReals;
    case Type::String: return kind == AttributeKind::kText;
    case Type::Ints:
    case Type::Longs:
    case Type::Bools: return kind == AttributeKind::kInts;
    case Type::Floats:
    case Type::Float64s:
    case Type::Scalars: return kind == AttributeKind::kReals;
    case Type::Strings: return kind == AttributeKind::kTexts;
    default: return false;
  }
}

}  // namespace

// Only what differs is written in a row; a binding to its own name is an error, as it could only be
// a mistake or a leftover.
std::optional<CallRow> CallRow::parse(StringRef text, std::string& error) {
  CallRow row;
  auto [function, bindings] = text.split('(');
  row.signature_ = kernels::FindSignature(function.trim().str());
  if (!row.signature_) {
    error = (Twine("no library call '") + function.trim() + "' has a signature").str();
    return std::nullopt;
  }
  if (bindings.empty() && !text.contains('(')) return row;
  if (!bindings.consume_back(")")) {
    error = (Twine("'") + text + "': expected CALL or CALL(NAME=NAME, …)").str();
    return std::nullopt;
  }
  llvm::SmallVector<StringRef> parts;
  bindings.split(parts, ',');
  const kernels::Signature& s = *row.signature_;
  for (StringRef part : parts) {
    auto [name, inOp] = part.split('=');
    name = name.trim(), inOp = inOp.trim();
    const bool known =
        hasName(s.inputs, name) || hasName(s.outputs, name) || hasName(s.attributes, name);
    if (!known || !isName(inOp) || name == inOp ||
        !row.renamed_.try_emplace(name, inOp.str()).second) {
      error = (Twine("'") + part.trim() + "' of " + function.trim() +
               ": no slot or attribute of it, bound twice, or to its own name")
                  .str();
      return std::nullopt;
    }
  }
  return row;
}

StringRef CallRow::nameInOp(StringRef name) const {
  auto it = renamed_.find(name);
  if (it == renamed_.end()) return name;
  return it->second == "-" ? StringRef() : StringRef(it->second);
}

// Compared once, when the tables are made, so that no row can name a slot or an attribute that its
// op has not: the lowering of a program then need not check.
std::string CallRow::misfit(const pd::OpSpec& op) const {
  const kernels::Signature& s = *signature_;
  auto slot = [&](const kernels::SlotSpec& own, const pd::Slot* its, StringRef what) {
    const StringRef name = nameInOp(own.name);
    if (name.empty()) return std::string();
    if (!its) return (Twine(op.type) + ": no " + what + " slot '" + name + "' for " + s.name).str();
    if (its->duplicable != own.list)
      return (Twine(op.type) + ": slot '" + name + "' is " + (own.list ? "no list, " : "a list, ") +
              s.name + " takes " + (own.list ? "one" : "a single argument"))
          .str();
    return std::string();
  };
  for (const kernels::SlotSpec& own : s.inputs) {
    StringRef name = nameInOp(own.name);
    const bool old = name.consume_front("$");
    if (std::string wrong = slot(own, old ? op.output(name) : op.input(name), "input");
        !wrong.empty())
      return wrong;
    if (name.empty() && !own.optional)
      return (Twine(op.type) + ": lacks the input '" + own.name + "', which " + s.name + " needs")
          .str();
  }
  for (const kernels::SlotSpec& own : s.outputs) {
    if (std::string wrong = slot(own, op.output(nameInOp(own.name)), "output"); !wrong.empty())
      return wrong;
  }
  for (const kernels::AttributeSpec& own : s.attributes) {
    const StringRef name = nameInOp(own.name);
    if (name.empty() && !own.optional)
      return (Twine(op.type) + ": lacks the attribute '" + own.name + "', which " + s.name +
              " needs")
          .str();
    if (name.empty() || name.starts_with("@")) continue;
    const pd::AttrRow* its = op.attribute(name);
    if (!its) return (Twine(op.type) + ": no attribute '" + name + "' for " + s.name).str();
    if (!takes(own.kind, its->types.front()))
      return (Twine(op.type) + ": attribute '" + name + "' is of another kind than in " + s.name)
          .str();
  }
  return "";
}

}  // namespace dtranspile::lower

#include "compiler/verify/refinement/truth.h"

#include <algorithm>

namespace dtranspile::verify {
namespace {

using Truth = std::optional<bool>;

// Of a list of operands: decided by the first that has the value `by`, else by all of them.
Truth any(const std::vector<Truth>& operands, bool by) {
  bool open = false;
  for (const Truth& one : operands) {
    if (one && *one == by) return by;
    open |= !one;
  }
  return open ? Truth() : Truth(!by);
}

struct LogicalOp {
  const char* type;
  Truth (*value)(const std::vector<Truth>&);
};
// A list of booleans that is joined to one tensor is true where any of them is: only reduce_any may
// read it, which looks at all elements.
constexpr LogicalOp kLogical[] = {
    {"logical_not", [](const std::vector<Truth>& x) { return x[0] ? Truth(!*x[0]) : Truth(); }},
    {"logical_or", [](const std::vector<Truth>& x) { return any(x, true); }},
    {"logical_and", [](const std::vector<Truth>& x) { return any(x, false); }},
    {"reduce_any", [](const std::vector<Truth>& x) { return any(x, true); }},
};

const LogicalOp* logicalOp(const std::string& type) {
  for (const LogicalOp& row : kLogical)
    if (type == row.type) return &row;
  return nullptr;
}

// The booleans that an op looks at: those of a joined list, where it looks at all elements.
std::vector<TermId> operandsOf(const Terms& terms, const Atom& atom) {
  if (atom.type != "reduce_any") return atom.operands;
  const Atom* list = terms.single(atom.operands[0]);
  return list && list->type == "concat" ? list->operands : atom.operands;
}

}  // namespace

// Three-valued logic (Kleene): true, false, or nothing, where the assumptions leave it open.
std::optional<bool> truthOf(const Terms& terms, TermId condition,
                            const std::map<AtomId, bool>& assumed) {
  const int64_t id = terms.singleId(condition);
  if (id < 0) return std::nullopt;
  if (auto found = assumed.find(static_cast<AtomId>(id)); found != assumed.end())
    return found->second;
  const Atom& atom = terms.atomOf(static_cast<AtomId>(id));
  const LogicalOp* row = logicalOp(atom.type);
  if (!row || atom.operands.empty()) return std::nullopt;
  std::vector<Truth> operands;
  for (TermId operand : operandsOf(terms, atom))
    operands.push_back(truthOf(terms, operand, assumed));
  return row->value(operands);
}

// The atoms that a condition is made of by logical operations: whoever knows all of them knows it.
std::vector<AtomId> decidersOf(const Terms& terms, TermId condition) {
  const int64_t id = terms.singleId(condition);
  if (id < 0) return {};
  const Atom& atom = terms.atomOf(static_cast<AtomId>(id));
  if (!logicalOp(atom.type) || atom.operands.empty()) return {static_cast<AtomId>(id)};
  std::vector<AtomId> all;
  for (TermId operand : operandsOf(terms, atom))
    for (AtomId one : decidersOf(terms, operand))
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  return all;
}

}  // namespace dtranspile::verify

// Jobs of two small programs, written in a line per op, for tests of what rung 4 decides by
// formulas: "t:4x6 = matmul_v2 X:x Y:w | trans_x = true". A value is known by its name; `?` is an
// extent that is known when a step runs.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace dtranspile::verify::test {

struct Rewrite {
  std::string given;  // "x:4x6 w:6x8": variables, and feeds where the name begins with "feed"
  std::vector<std::string> source, reference;
  std::string result;  // the variable that both set to the value of that name: "y"
};

class ProgramText {
 public:
  ProgramText(const Rewrite& rewrite, const std::string& module,
              const std::vector<std::string>& lines) {
    std::istringstream given(rewrite.given);
    std::string variables, body;
    for (std::string one; given >> one;) {
      const auto [name, type] = split(one, ':');
      types_[name] = tensor(type);
      const bool feed = name.starts_with("feed");
      if (!feed) variables += "  pd.var @" + name + " : " + types_[name] + "\n";
      body += "    %" + name + (feed ? " = pd.input \"" + name + "\"" : " = pd.get @" + name) +
              " : " + types_[name] + "\n";
    }
    for (const std::string& line : lines) body += op(line);
    const std::string type = types_.at(rewrite.result);
    variables += "  pd.var @result : " + type + "\n";
    body += "    pd.set @result, %" + rewrite.result + " : " + type + "\n";
    text_ = "module @" + module + " {\n" + variables +
            "  pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, "
            "version = 2006000 : i64} {\n" +
            body + "  }\n}\n";
  }
  const std::string& text() const { return text_; }

 private:
  static std::pair<std::string, std::string> split(const std::string& text, char at) {
    const size_t found = text.find(at);
    return {text.substr(0, found), found == std::string::npos ? "" : text.substr(found + 1)};
  }
  // "?x4" and, of whole numbers, "i64 ?x4"; "" is a number.
  static std::string tensor(const std::string& extents) {
    return "tensor<" + extents + (extents.empty() ? "" : "x") + "f32>";
  }
  static std::string slotText(const std::string& slot) {
    return slot.find('@') == std::string::npos ? slot : '"' + slot + '"';
  }

  // "a:4x2 b:4x2 = split X:x | axis = 1 : i32"; results are Out, or "Slot/name:type".
  std::string op(const std::string& line) {
    const auto [before, attributes] = split(line, '|');
    const size_t equals = before.find(" = ");
    std::istringstream left(before.substr(0, equals)), right(before.substr(equals + 3));
    std::string results, slots, resultTypes, last;
    for (std::string one; left >> one;) {
      auto [slot, rest] = split(one, '/');
      if (rest.empty()) rest = slot, slot = "Out";
      const auto [name, type] = split(rest, ':');
      types_[name] = tensor(type);
      results += (results.empty() ? "%" : ", %") + name;
      if (slot == last) slots.back() = ',', slots += " \"" + name + "\")";
      else slots += " " + slotText(slot) + "(\"" + name + "\")";
      last = slot;
      resultTypes += (resultTypes.empty() ? "" : ", ") + types_[name];
    }
    std::string type, operands, operandTypes;
    right >> type;
    last.clear();
    for (std::string one; right >> one;) {
      const auto [slot, name] = split(one, ':');
      if (slot == last) operands.back() = ',', operands += " %" + name + ")";
      else operands += " " + slotText(slot) + "(%" + name + ")";
      last = slot;
      operandTypes += (operandTypes.empty() ? "" : ", ") + types_.at(name);
    }
    return "    " + results + " = pd." + type + operands + " ->" + slots + " {op_role = 2 : i32" +
           (attributes.empty() ? "" : "," + attributes) + "} : (" + operandTypes + ") -> " +
           (resultTypes.find(", ") == std::string::npos ? resultTypes : "(" + resultTypes + ")") +
           "\n";
  }

  std::map<std::string, std::string> types_;
  std::string text_;
};

inline std::string jobText(const Rewrite& rewrite) {
  return "module {\n" + ProgramText(rewrite, "source", rewrite.source).text() +
         ProgramText(rewrite, "reference", rewrite.reference).text() + "}\n";
}

}  // namespace dtranspile::verify::test

#include "compiler/diff/diff.h"

#include <map>

#include "compiler/diff/align.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/position.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "runtime/base/printable.h"

namespace dtranspile {
namespace {

using mlir::Attribute;
using mlir::Operation;

template <typename Printable>
std::string textOf(Printable value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << value;
  return text;
}

// The variable of a value; for values of ops without variables, the op and the number of the
// result.
std::string nameOfValue(mlir::Value value) {
  if (mlir::StringAttr name = pd::nameAttrOf(value)) return name.str();
  if (auto result = llvm::dyn_cast<mlir::OpResult>(value))
    return result.getOwner()->getName().getStringRef().str() + "#" +
           std::to_string(result.getResultNumber());
  return "argument " + std::to_string(llvm::cast<mlir::BlockArgument>(value).getArgNumber());
}

// (slot[index], name) of the arguments of one side of a framework op.
using Arguments = std::vector<std::pair<std::string, std::string>>;

// Inputs by the names of their values, outputs by the names that the slots hold: values have none
// before they are made.
Arguments argumentsOf(Operation* op, llvm::StringRef side) {
  Arguments list;
  unsigned operand = 0;
  bool inputs = side == "ins";
  for (Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>(side)) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    for (auto [index, argument] : llvm::enumerate(slot.getArgs())) {
      std::string name = argument.getValue().str();
      if (inputs && name != pd::kEmptyArgument) name = nameOfValue(op->getOperand(operand++));
      list.emplace_back(slot.getName().str() + "[" + std::to_string(index) + "]", name);
    }
  }
  return list;
}

std::string typeOf(Operation* op) {
  return pd::OpView::isFrameworkOp(op) ? pd::OpView(op).type().str()
                                       : op->getName().getStringRef().str();
}

// What an op is recognised by: its type and what it defines.
std::string keyOf(Operation* op) {
  std::string key = typeOf(op);
  if (auto symbol = op->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName()))
    return key + " @" + symbol.str();
  if (auto decl = llvm::dyn_cast<pd::DeclOp>(op)) return key + " " + decl.getName().str();
  if (auto set = llvm::dyn_cast<pd::SetOp>(op)) return key + " @" + set.getVar().str();
  if (pd::OpView::isFrameworkOp(op))
    for (auto& [slot, name] : argumentsOf(op, "outs")) key += " " + slot + "=" + name;
  return key;
}

// Reads of variables and ends of regions stand for names that their users and owners mention.
bool isImplied(Operation& op) {
  return llvm::isa<pd::GetOp, pd::InputOp, pd::UndefOp, pd::YieldOp>(op);
}

// Compares two modules block by block. Ops of a block are aligned by what they define (align, of
// the keys of both sides), so that an op that was inserted does not make all that follow it
// different; those that are paired are compared argument by argument, and their regions in turn.
class Differ {
 public:
  DiffReport report;

  // Differences come in the order of the left side; what only the right side has stands before the
  // pair that follows it there.
  void blocks(const std::string& where, mlir::Block* a, mlir::Block* b) {
    Side left(a), right(b);
    Alignment alignment = align(left.keys, right.keys);
    pairByType(left, right, alignment);
    size_t removed = 0, added = 0;
    auto flush = [&](int untilA, int untilB) {
      for (; removed < alignment.onlyA.size() && alignment.onlyA[removed] < untilA; ++removed)
        only(Difference::Removed, where, left, alignment.onlyA[removed]);
      for (; added < alignment.onlyB.size() && alignment.onlyB[added] < untilB; ++added)
        only(Difference::Added, where, right, alignment.onlyB[added]);
    };
    for (auto [i, pair] : llvm::enumerate(alignment.pairs)) {
      if (alignment.moved[i]) {
        flush(pair.first, 0);
        add({Difference::Moved, at(where, left, pair.first), "", at("", left, pair.first),
             at("", right, pair.second)});
      } else {
        flush(pair.first, pair.second);
      }
      ops(where, at(where, left, pair.first), left.ops[pair.first], right.ops[pair.second]);
    }
    flush(std::numeric_limits<int>::max(), std::numeric_limits<int>::max());
  }

 private:
  // The ops of a block that are compared.
  struct Side {
    explicit Side(mlir::Block* block) {
      int number = 0;
      for (Operation& op : *block) {
        if (isImplied(op)) continue;
        ops.push_back(&op);
        keys.push_back(keyOf(&op));
        numbers.push_back(pd::OpView::isFrameworkOp(&op) ? number++ : -1);
      }
    }
    std::vector<Operation*> ops;
    std::vector<std::string> keys;
    std::vector<int> numbers;  // of framework ops, as in the file
  };

  static std::string at(const std::string& where, const Side& side, int index) {
    Operation* op = side.ops[index];
    std::string text = where.empty() ? "" : where + ", ";
    if (side.numbers[index] < 0)
      return text + (llvm::isa<pd::DeclOp>(op)
                         ? "variable " + llvm::cast<pd::DeclOp>(op).getName().str()
                         : side.keys[index]);
    // Numbers are those of the side's own program: what a location says may be another file's.
    const std::string source = pd::positionOf(op).source;
    return text + "op " + std::to_string(side.numbers[index]) + " (" + typeOf(op) +
           (source.empty() ? "" : "; " + source) + ")";
  }

  void only(Difference::Kind kind, const std::string& where, const Side& side, int index) {
    std::string text = side.keys[index];
    add({kind, at(where, side, index), "", kind == Difference::Removed ? text : "",
         kind == Difference::Added ? text : ""});
  }

  // Ops that lost their pair, one to one between the same neighbours and of one type, were renamed:
  // they are compared, too.
  static void pairByType(const Side& left, const Side& right, Alignment& alignment) {
    std::vector<int> nextPair(left.ops.size() + 1, static_cast<int>(right.ops.size())),
        previousPair(left.ops.size() + 1, -1);
    for (auto [i, pair] : llvm::enumerate(alignment.pairs))
      if (!alignment.moved[i]) nextPair[pair.first] = previousPair[pair.first + 1] = pair.second;
    for (int i = static_cast<int>(left.ops.size()) - 1; i >= 0; --i)
      nextPair[i] = std::min(nextPair[i], nextPair[i + 1]);
    for (size_t i = 1; i < previousPair.size(); ++i)
      previousPair[i] = std::max(previousPair[i], previousPair[i - 1]);
    std::vector<int> keepA, keepB;
    size_t candidate = 0;
    for (int index : alignment.onlyA) {
      while (candidate < alignment.onlyB.size() && alignment.onlyB[candidate] < previousPair[index])
        keepB.push_back(alignment.onlyB[candidate++]);
      bool fits = candidate < alignment.onlyB.size() &&
                  alignment.onlyB[candidate] < nextPair[index] && left.numbers[index] >= 0 &&
                  typeOf(left.ops[index]) == typeOf(right.ops[alignment.onlyB[candidate]]);
      if (!fits) {
        keepA.push_back(index);
        continue;
      }
      alignment.pairs.emplace_back(index, alignment.onlyB[candidate++]);
      alignment.moved.push_back(false);
    }
    keepB.insert(keepB.end(), alignment.onlyB.begin() + candidate, alignment.onlyB.end());
    alignment.onlyA = keepA;
    alignment.onlyB = keepB;
    std::vector<std::pair<std::pair<int, int>, bool>> sorted;
    for (auto [i, pair] : llvm::enumerate(alignment.pairs))
      sorted.emplace_back(pair, alignment.moved[i]);
    llvm::sort(sorted);
    for (auto [i, entry] : llvm::enumerate(sorted)) {
      alignment.pairs[i] = entry.first;
      alignment.moved[i] = entry.second;
    }
  }

  // Two ops that are taken for the same one: slots, attributes, types of results, and what is in
  // their regions. A nested program or role begins a path of its own.
  void ops(const std::string& outer, const std::string& where, Operation* a, Operation* b) {
    if (pd::OpView::isFrameworkOp(a) && pd::OpView::isFrameworkOp(b)) {
      arguments(where, "input", argumentsOf(a, "ins"), argumentsOf(b, "ins"));
      arguments(where, "output", argumentsOf(a, "outs"), argumentsOf(b, "outs"));
      attributes(where, a->getAttrOfType<mlir::DictionaryAttr>("attrs"),
                 b->getAttrOfType<mlir::DictionaryAttr>("attrs"));
    } else {
      arguments(where, "operand", operandsOf(a), operandsOf(b));
    }
    attributes(where, a->getAttrDictionary(), b->getAttrDictionary());
    if (a->getResultTypes() != b->getResultTypes()) {
      for (unsigned i = 0; i < std::min(a->getNumResults(), b->getNumResults()); ++i)
        changed(where, "type of " + nameOfValue(a->getResult(i)), textOf(a->getResult(i).getType()),
                textOf(b->getResult(i).getType()));
      changed(where, "results", std::to_string(a->getNumResults()),
              std::to_string(b->getNumResults()));
    }
    changed(where, "regions", std::to_string(a->getNumRegions()),
            std::to_string(b->getNumRegions()));
    std::string inner = a->hasTrait<mlir::OpTrait::SymbolTable>() || llvm::isa<pd::ProgramOp>(a)
                            ? symbolPath(outer, a)
                            : where;
    for (auto [left, right] : llvm::zip(a->getRegions(), b->getRegions()))
      regions(inner, left, right);
  }

  static std::string symbolPath(const std::string& outer, Operation* op) {
    auto symbol = op->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
    std::string name = symbol ? symbol.str() : op->getName().getStringRef().str();
    return outer.empty() ? name : outer + ", " + name;
  }

  void regions(const std::string& where, mlir::Region& a, mlir::Region& b) {
    size_t left = std::distance(a.begin(), a.end()), right = std::distance(b.begin(), b.end());
    changed(where, "blocks of a region", std::to_string(left), std::to_string(right));
    for (auto [one, other] : llvm::zip(a, b)) blocks(where, &one, &other);
  }

  static Arguments operandsOf(Operation* op) {
    Arguments list;
    for (auto [index, operand] : llvm::enumerate(op->getOperands()))
      list.emplace_back(std::to_string(index), nameOfValue(operand));
    return list;
  }

  void arguments(const std::string& where, const std::string& side, const Arguments& a,
                 const Arguments& b) {
    if (a == b) return;
    std::map<std::string, std::string> right(b.begin(), b.end()), left(a.begin(), a.end());
    for (auto& [slot, name] : a)
      changed(where, side + " " + slot, name, right.contains(slot) ? right[slot] : "");
    for (auto& [slot, name] : b)
      if (!left.contains(slot)) changed(where, side + " " + slot, "", name);
  }

  // Attributes that `ops` compares in another way, or that only say where things stand.
  static bool isStructure(llvm::StringRef name) {
    return llvm::is_contained({"ins", "outs", "attrs"}, name);
  }

  void attributes(const std::string& where, mlir::DictionaryAttr a, mlir::DictionaryAttr b) {
    if (a == b) return;
    auto text = [](Attribute value) { return value ? textOf(value) : std::string(); };
    if (a)
      for (mlir::NamedAttribute named : a)
        if (!isStructure(named.getName()))
          changed(where, "attribute " + named.getName().str(), text(named.getValue()),
                  text(b ? b.get(named.getName()) : Attribute()));
    if (b)
      for (mlir::NamedAttribute named : b)
        if (!isStructure(named.getName()) && !(a && a.get(named.getName())))
          changed(where, "attribute " + named.getName().str(), "", text(named.getValue()));
  }

  void changed(const std::string& where, const std::string& what, const std::string& a,
               const std::string& b) {
    if (a != b) add({Difference::Changed, where, what, a, b});
  }

  void add(Difference difference) { report.differences.push_back(std::move(difference)); }
};

constexpr const char* kKinds[] = {"removed", "added", "moved", "changed"};
constexpr char kMarks[] = {'-', '+', '~', '!'};

std::string orNothing(const std::string& text) { return text.empty() ? "(nothing)" : text; }

}  // namespace

DiffReport diffModules(mlir::ModuleOp a, mlir::ModuleOp b) {
  Differ differ;
  differ.blocks("", a.getBody(), b.getBody());
  return std::move(differ.report);
}

std::string DiffReport::text() const {
  if (equal()) return "equal\n";
  std::string out;
  for (const Difference& difference : differences) {
    std::string line = std::string(1, kMarks[difference.kind]) + " " + difference.where;
    if (difference.kind == Difference::Changed)
      line += ": " + difference.what + ": " + orNothing(difference.a) + " -> " +
              orNothing(difference.b);
    else if (difference.kind == Difference::Moved)
      line += ": moved to where " + difference.b + " stands";
    else line += ": " + difference.a + difference.b;
    out += Printable(line) + "\n";
  }
  return out + std::to_string(differences.size()) +
         (differences.size() == 1 ? " difference\n" : " differences\n");
}

std::string DiffReport::json() const {
  llvm::json::Array list;
  for (const Difference& difference : differences)
    list.push_back(llvm::json::Object{{"kind", kKinds[difference.kind]},
                                      {"where", llvm::json::fixUTF8(difference.where)},
                                      {"what", llvm::json::fixUTF8(difference.what)},
                                      {"a", llvm::json::fixUTF8(difference.a)},
                                      {"b", llvm::json::fixUTF8(difference.b)}});
  llvm::json::Value value =
      llvm::json::Object{{"equal", equal()}, {"differences", std::move(list)}};
  std::string out;
  llvm::raw_string_ostream stream(out);
  stream << llvm::formatv("{0:2}", value) << "\n";
  return out;
}

}  // namespace dtranspile

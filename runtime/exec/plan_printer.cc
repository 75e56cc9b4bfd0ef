#include "runtime/exec/plan_printer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/exec/plan_fields.h"

namespace dtranspile::exec {
namespace {

// Names of buffers, and which of them was written last at a place: whoever reads a place by another
// name looks at that one's memory.
class Names {
 public:
  // Buffers of one name, such as the versions of a variable, get a number each.
  explicit Names(const Plan& plan) : plan_(plan) {
    std::map<std::string, int> seen;
    for (const Buffer& buffer : plan.buffers) {
      const int number = seen[buffer.name]++;
      names_.push_back(number == 0 ? buffer.name : absl::StrCat(buffer.name, "#", number));
    }
  }

  // What has a value when a program begins.
  void Begin(const Program& program) {
    last_.clear();
    for (const Persistable& p : plan_.persistables) Write(p.buffer);
    for (const FeedSlot& feed : program.feeds) Write(feed.buffer);
    for (int id : program.arguments) Write(id);
  }

  void Write(int id) {
    if (HasPlace(id)) last_[PlaceOf(id)] = id;
  }

  // "x list of float32[?x4] lod 1"
  std::string Written(int id) const { return absl::StrCat(Name(id), " ", Type(id)); }

  // The same, "of y" where y was written last.
  std::string Read(int id) const {
    const auto last = HasPlace(id) ? last_.find(PlaceOf(id)) : last_.end();
    const bool view = last != last_.end() && last->second != id;
    return absl::StrCat(Written(id), view ? " of " : "", view ? Name(last->second) : "");
  }

  std::string Type(int id) const {
    const Buffer& buffer = At(id);
    const char* kind = buffer.kind == Value::Kind::kList   ? "list of "
                       : buffer.kind == Value::Kind::kRows ? "rows of "
                                                           : "";
    const auto extent = [](std::string* out, int64_t n) {
      absl::StrAppend(out, n < 0 ? "?" : absl::StrCat(n));
    };
    return absl::StrCat(kind, NameOf(buffer.dtype), "[", absl::StrJoin(buffer.dims, "x", extent),
                        "]", buffer.lod_level > 0 ? absl::StrCat(" lod ", buffer.lod_level) : "");
  }

 private:
  const Buffer& At(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }
  const std::string& Name(int id) const { return names_[static_cast<size_t>(id)]; }
  // Only memory of the plan has places; constants and values of the run are never another one's.
  bool HasPlace(int id) const {
    const Buffer& buffer = At(id);
    return buffer.bytes > 0 &&
           (buffer.space == Space::kArena || buffer.space == Space::kPersistent);
  }
  std::tuple<Space, Memory, int64_t> PlaceOf(int id) const {
    return {At(id).space, At(id).memory, At(id).offset};
  }

  const Plan& plan_;
  std::vector<std::string> names_;
  std::map<std::tuple<Space, Memory, int64_t>, int> last_;
};

std::string Line(int depth, const std::string& text) {
  return absl::StrCat(std::string(static_cast<size_t>(2 * depth), ' '), text, "\n");
}

// Nodes as lines of text. Kernels and calls, which a program mostly consists of, are written like
// functions; all other kinds by their fields, so that a new kind prints without a line of code
// here.
class Printer {
 public:
  Printer(Names& names, const PlanTextOptions& options) : names_(names), options_(options) {}

  std::string Body(const std::vector<Node>& body, int depth) {
    std::string text;
    for (const Node& node : body)
      std::visit([&](const auto& what) { text += NodeText(node, what, depth); }, node.what);
    return text;
  }

  Names& names() { return names_; }

 private:
  std::string PositionOf(const Node& node) const {
    return options_.positions && !node.op.empty() ? absl::StrCat("  # ", node.op) : "";
  }

  // A kernel goes by the type of the op whose work it does.
  std::string NodeText(const Node& node, const KernelNode& what, int depth) {
    const std::string type = node.op.substr(0, node.op.find(' '));
    const std::string text = absl::StrCat("kernel ", type, Arguments(what, {}, ""));
    return Line(depth, text + PositionOf(node)) +
           (options_.kernel ? options_.kernel(what.symbol) + "\n" : "");
  }

  std::string NodeText(const Node& node, const CallNode& what, int depth) {
    std::string attributes;
    for (int64_t value : what.ints) absl::StrAppend(&attributes, " ", value);
    for (double value : what.reals) absl::StrAppend(&attributes, " ", value);
    for (const std::string& value : what.strings) absl::StrAppend(&attributes, " '", value, "'");
    const std::string text =
        absl::StrCat("call ", what.callee, Arguments(what, what.slots, attributes));
    return Line(depth, text + PositionOf(node));
  }

  // Any other kind, by its fields.
  template <typename Kind>
  std::string NodeText(const Node& node, const Kind& what, int depth);

  // "(read; attributes) -> written". `slots`: bounds in the arguments; empty where each argument is
  // one. Slots of outputs are those from the first one on that has a written argument.
  template <typename Kind>
  std::string Arguments(const Kind& node, std::vector<int32_t> slots,
                        const std::string& attributes) {
    const auto has = [](const std::vector<int>& list, int32_t i) {
      return std::find(list.begin(), list.end(), i) != list.end();
    };
    if (slots.empty()) {
      slots.resize(node.args.size() + 1);
      std::iota(slots.begin(), slots.end(), 0);
    }
    std::vector<std::string> read, written;
    for (size_t slot = 1; slot < slots.size(); ++slot) {
      if (slots[slot - 1] == slots[slot]) (written.empty() ? read : written).push_back("-");
      for (int32_t i = slots[slot - 1]; i < slots[slot]; ++i) {
        const int id = node.args[static_cast<size_t>(i)];
        if (!has(node.written, i)) read.push_back(names_.Read(id));
        else written.push_back(names_.Written(id));
        if (has(node.updated, i)) read.push_back(written.back());
      }
    }
    for (int i : node.written) names_.Write(node.args[static_cast<size_t>(i)]);
    return absl::StrCat("(", absl::StrJoin(read, ", "), attributes.empty() ? "" : ";", attributes,
                        ")", written.empty() ? "" : " -> ", absl::StrJoin(written, ", "));
  }

  Names& names_;
  const PlanTextOptions& options_;
};

// A visitor of plan_fields.h: "key value key value" of the fields that say something, then the
// bodies. The key of an object's first field goes without saying: it is what the object is called.
// Fields with their usual value are left out (May), so that a line shows what is particular about a
// node.
class FieldPrinter {
 public:
  FieldPrinter(Printer& printer, int depth, bool first_key)
      : printer_(printer), depth_(depth), key_(first_key) {}

  // `position` stands after the first line.
  std::string text(const std::string& position) const {
    return bodies_.empty() ? Line(depth_, head_ + position)
                           : Line(depth_, head_ + " {" + position) + bodies_ + Line(depth_, "}");
  }
  const std::string& head() const { return head_; }

  FieldPrinter& May() { return may_ = true, *this; }

  void Text(const char* key, const std::string& value) { Put(key, value, value.empty()); }
  void Bool(const char* key, bool value) { Put(key, value ? "true" : "false"); }
  void Int(const char* key, int64_t value, int64_t = 0, int64_t = 0) {
    Put(key, absl::StrCat(value), value == 0);
  }
  void Factor(const char* key, int64_t value, int64_t = 0) {
    Put(key, absl::StrCat(value), value == 1);
  }
  // What a node writes has one of the keys `to` and `outputs`.
  void Buffer(const char* key, int id) { Buffers(key, {id}); }
  void Buffers(const char* key, const std::vector<int>& ids) {
    Names& names = printer_.names();
    const bool written = key == std::string_view("to") || key == std::string_view("outputs");
    const auto add = [&](std::string* out, int id) {
      out->append(written ? names.Written(id) : names.Read(id));
    };
    Put(key, absl::StrJoin(ids, ", ", add), ids.empty());
    for (int id : ids)
      if (written) names.Write(id);
  }
  void BufferPair(const char* key, int from, int to) {
    Names& names = printer_.names();
    Put(key, absl::StrCat(names.Read(from), " -> ", names.Written(to)));
    names.Write(to);
  }
  template <typename T>
  void Ints(const char* key, const std::vector<T>& values, int64_t = 0) {
    Put(key, absl::StrJoin(values, " "), values.empty());
  }
  void Reals(const char* key, const std::vector<double>& values) {
    Put(key, absl::StrJoin(values, " "), values.empty());
  }
  void Texts(const char* key, const std::vector<std::string>& values) {
    Put(key, absl::StrJoin(values, ", "), values.empty());
  }
  void Lists(const char* key, const std::vector<std::vector<int64_t>>& values) {
    Put(key, absl::StrJoin(values, ", ", [](std::string* out, const std::vector<int64_t>& list) {
          out->append(absl::StrJoin(list, ":"));
        }));
  }
  void ListsByName(const char* key, const std::map<std::string, std::vector<int64_t>>& values) {
    Put(key,
        absl::StrJoin(values, ", ",
                      [](std::string* out, const auto& list) {
                        absl::StrAppend(out, list.first, " ", absl::StrJoin(list.second, ":"));
                      }),
        values.empty());
  }
  template <typename Enum>
  void Word(const char* key, Enum value, Enum usual = {}) {
    for (const auto& [word, known] : Words<Enum>::kRows)
      if (known == value) return Put(key, word, value == usual);
  }
  template <typename T>
  void Object(const char* key, const T& value) {
    Put(key, absl::StrCat("(", Visited(value).head(), ")"));
  }
  template <typename T>
  void Optional(const char* key, const std::optional<T>& value) {
    if (value) Object(key, *value);
    may_ = false;
  }
  // Objects with bodies, a line each.
  template <typename T>
  void List(const char*, const std::vector<T>& values) {
    for (const T& value : values) bodies_ += Visited(value).text("");
  }
  // The first body belongs to the node itself, the others begin with "} key {".
  void Nodes(const char* key, const std::vector<Node>& nodes) {
    if (has_nodes_ && nodes.empty()) return;
    if (has_nodes_) bodies_ += Line(depth_, absl::StrCat("} ", key, " {"));
    bodies_ += printer_.Body(nodes, depth_ + 1);
    has_nodes_ = true;
  }

 private:
  template <typename T>
  FieldPrinter Visited(const T& value) {
    FieldPrinter visitor(printer_, depth_ + 1, false);
    Fields(visitor, const_cast<T&>(value));  // a printer changes nothing
    return visitor;
  }

  void Put(const char* key, const std::string& value, bool usual = false) {
    const bool shown = !(may_ && usual), named = key_;
    may_ = false, key_ = true;
    if (!shown) return;
    absl::StrAppend(&head_, head_.empty() ? "" : " ", named ? key : "", named ? " " : "", value);
  }

  Printer& printer_;
  const int depth_;
  bool key_, may_ = false, has_nodes_ = false;
  std::string head_, bodies_;
};

template <typename Kind>
std::string Printer::NodeText(const Node& node, const Kind& what, int depth) {
  FieldPrinter visitor(*this, depth, true);
  Fields(visitor, const_cast<Kind&>(what));
  return visitor.text(PositionOf(node));
}

}  // namespace

// Names are followed through the program in its order, since what a place holds changes.
std::string BodyText(const Plan& plan, const Program& program, int depth,
                     const PlanTextOptions& options) {
  Names names(plan);
  names.Begin(program);
  return Printer(names, options).Body(program.body, depth);
}

// A plan as text to read, not to parse: tests compare it, people look at it.
std::string PlanText(const Plan& plan, const PlanTextOptions& options) {
  const Names names(plan);
  const std::string pinned =
      plan.pinned_bytes > 0 ? absl::StrCat(plan.pinned_bytes, " bytes pinned, ") : "";
  std::string text = Line(
      0, absl::StrCat("plan of ", plan.class_name, ": ", plan.arena_bytes, " bytes of a step, ",
                      pinned, plan.persistent_bytes, " bytes of persistables"));
  for (const Program& program : plan.programs) {
    text += Line(0, absl::StrCat("program ", program.name));
    for (const FeedSlot& feed : program.feeds)
      text += Line(1, absl::StrCat("feed ", feed.name, ": ", names.Type(feed.buffer)));
    text += BodyText(plan, program, 1, options);
    for (const FetchSlot& fetch : program.fetches)
      text += Line(1, absl::StrCat("fetch ", fetch.name, ": ", names.Type(fetch.buffer)));
  }
  return text;
}

}  // namespace dtranspile::exec

#include "runtime/exec/plan_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace dtranspile::exec {
namespace {

constexpr int kMostDepth = 64;

class NodeReader {
 public:
  NodeReader(const Plan& plan, JsonErrors& errors) : plan_(plan), errors_(errors) {}

  std::vector<Node> Body(const Json& array, const std::string& where, int depth);

 private:
  using Read = void (NodeReader::*)(JsonObject&, Node&);
  struct Row {
    const char* key;  // the key that tells the kind of node
    Node::Kind kind;
    Read read;
  };
  static const Row kRows[];

  Node One(const Json& value, const std::string& where);
  void Kernel(JsonObject& object, Node& node);
  UnknownExtents Unknown(JsonObject& object, const std::vector<int>& args);
  UnknownExtents::Product Product(const Json& value, const std::string& where, int unknowns);
  void Call(JsonObject& object, Node& node);
  void Slots(JsonObject& object, Node& node);
  void Copy(JsonObject& object, Node& node);
  void Start(JsonObject& object, Node& node);
  void Wait(JsonObject& object, Node& node);
  void If(JsonObject& object, Node& node);
  void While(JsonObject& object, Node& node);

  std::vector<int> Ids(JsonObject& object, const char* key);
  int Condition(JsonObject& object, const char* key);
  void CheckOutputs(const JsonObject& object, const char* key, const std::vector<int>& ids);
  void CheckCounts(const JsonObject& object, const Node& node);
  void CheckValues(const JsonObject& object, const Node& node);
  void CheckTickets(const std::vector<Node>& body, const std::string& where);

  const Plan& plan_;
  JsonErrors& errors_;
  int depth_ = 0;
  std::set<int64_t> tickets_;
};

const NodeReader::Row NodeReader::kRows[] = {
    {"kernel", Node::Kind::kKernel, &NodeReader::Kernel},
    {"call", Node::Kind::kCall, &NodeReader::Call},
    {"copy", Node::Kind::kCopy, &NodeReader::Copy},
    {"start", Node::Kind::kStart, &NodeReader::Start},
    {"wait", Node::Kind::kWait, &NodeReader::Wait},
    {"if", Node::Kind::kIf, &NodeReader::If},
    {"while", Node::Kind::kWhile, &NodeReader::While},
};

std::vector<int> NodeReader::Ids(JsonObject& object, const char* key) {
  const auto ids = object.Ints(key, 0, static_cast<int64_t>(plan_.buffers.size()) - 1);
  return std::vector<int>(ids.begin(), ids.end());
}

int NodeReader::Condition(JsonObject& object, const char* key) {
  const int64_t id = object.Int(key, 0, static_cast<int64_t>(plan_.buffers.size()) - 1);
  if (!errors_.ok()) return 0;
  const Buffer& buffer = plan_.buffers[static_cast<size_t>(id)];
  if (buffer.dtype != DType::kBool || buffer.count() != 1)
    errors_.Add(object.At(key), absl::StrCat("'", buffer.name, "' is no bool of one element"));
  return static_cast<int>(id);
}

void NodeReader::CheckOutputs(const JsonObject& object, const char* key,
                              const std::vector<int>& ids) {
  for (size_t i = 0; errors_.ok() && i < ids.size(); ++i) {
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(ids[i])];
    if (buffer.space == Space::kConstant)
      errors_.Add(object.At(key, i), absl::StrCat("constant '", buffer.name, "' would be written"));
  }
}

void NodeReader::Kernel(JsonObject& object, Node& node) {
  node.callee = object.String("kernel");
  node.args = Ids(object, "args");
  node.rows = object.Int("n", 0);
  node.grain = object.Int("grain", 1);
  if (plan_.library.empty()) errors_.Add(object.At("kernel"), "the plan has no library");
  if (!object.Has("unknown")) return;
  JsonObject unknown(object.Object("unknown"), object.At("unknown"), errors_);
  node.unknown = std::make_shared<UnknownExtents>(Unknown(unknown, node.args));
  unknown.Done();
}

// A product is [factor, unknown, unknown …].
UnknownExtents::Product NodeReader::Product(const Json& value, const std::string& where,
                                            int unknowns) {
  UnknownExtents::Product product;
  const Json whole = {{"product", value}};
  const auto numbers = JsonObject(whole, where, errors_).Ints("product", 0);
  if (numbers.empty()) errors_.Add(where, "expected a factor");
  if (!errors_.ok()) return product;
  product.factor = numbers[0];
  for (size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] >= unknowns) return errors_.Add(where, "no such unknown extent"), product;
    product.unknowns.push_back(static_cast<int>(numbers[i]));
  }
  return product;
}

UnknownExtents NodeReader::Unknown(JsonObject& object, const std::vector<int>& args) {
  constexpr int64_t kMostUnknowns = 16;
  UnknownExtents result;
  const Json& shapes = object.Array("shapes");
  std::set<int64_t> bound, used;
  for (size_t i = 0; errors_.ok() && i < shapes.size(); ++i) {
    const Json whole = {{"shape", shapes[i]}};
    result.shapes.push_back(
        JsonObject(whole, object.At("shapes", i), errors_).Ints("shape", -kMostUnknowns));
  }
  result.written.assign(args.size(), false);
  for (int64_t at : object.Ints("written", 0, static_cast<int64_t>(args.size()) - 1))
    result.written[static_cast<size_t>(at)] = true;
  if (errors_.ok() && result.shapes.size() != args.size())
    errors_.Add(object.At("shapes"), "expected one for each argument");
  for (size_t i = 0; errors_.ok() && i < args.size(); ++i) {
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(args[i])];
    if ((buffer.space == Space::kValue) == result.shapes[i].empty() &&
        !(buffer.space == Space::kValue && buffer.dims.empty()))
      errors_.Add(object.At("shapes", i), absl::StrCat("'", buffer.name, "' does not fit"));
    for (int64_t extent : result.shapes[i])
      if (extent < 0) (result.written[i] ? used : bound).insert(-extent - 1);
  }
  for (int64_t k : bound) result.count = std::max(result.count, static_cast<int>(k) + 1);
  if (static_cast<int64_t>(bound.size()) != result.count ||
      !std::includes(bound.begin(), bound.end(), used.begin(), used.end()))
    errors_.Add(object.where(), "an unknown extent is that of no argument");
  const Json& table = object.Array("table");
  for (size_t i = 0; errors_.ok() && i < table.size(); ++i)
    result.table.push_back(Product(table[i], object.At("table", i), result.count));
  result.rows = Product(object.Array("rows"), object.At("rows"), result.count);
  if (object.Has("needs"))
    result.needs = Product(object.Array("needs"), object.At("needs"), result.count);
  return result;
}

void NodeReader::Call(JsonObject& object, Node& node) {
  node.callee = object.String("call");
  node.args = Ids(object, "args");
  if (object.Has("ints")) node.ints = object.Ints("ints");
  if (object.Has("reals")) node.reals = object.Reals("reals");
  if (object.Has("strings")) node.strings = object.Strings("strings");
  if (object.Has("slots")) Slots(object, node);
  if (object.Has("written"))
    for (int64_t at : object.Ints("written", 0, static_cast<int64_t>(node.args.size()) - 1))
      node.outputs.push_back(static_cast<int>(at));
}

void NodeReader::Slots(JsonObject& object, Node& node) {
  const auto bounds = object.Ints("slots", 0, static_cast<int64_t>(node.args.size()));
  node.slots.assign(bounds.begin(), bounds.end());
  if (!std::is_sorted(node.slots.begin(), node.slots.end()) || node.slots.empty() ||
      node.slots.front() != 0 || node.slots.back() != static_cast<int32_t>(node.args.size()))
    errors_.Add(object.At("slots"), "expected rising bounds from 0 to the number of arguments");
  std::map<char, size_t> left = {
      {'i', node.ints.size()}, {'r', node.reals.size()}, {'s', node.strings.size()}};
  for (const std::string& text : object.Strings("attrs")) {
    int32_t count = 0;
    const auto pool = text.empty() ? left.end() : left.find(text[0]);
    if (pool == left.end() || !absl::SimpleAtoi(text.substr(1), &count) || count < 0 ||
        static_cast<size_t>(count) > pool->second)
      return errors_.Add(object.At("attrs"),
                         "expected i, r or s and a number of values, not more than there are");
    pool->second -= static_cast<size_t>(count);
    node.attributes.push_back({text[0], count});
  }
}

void NodeReader::Copy(JsonObject& object, Node& node) {
  node.args = Ids(object, "copy");
  if (!errors_.ok()) return;
  if (node.args.size() != 2) return errors_.Add(object.At("copy"), "expected [from, to]");
  const Buffer &from = plan_.buffers[static_cast<size_t>(node.args[0])],
               &to = plan_.buffers[static_cast<size_t>(node.args[1])];
  if (from.space == Space::kValue || to.space == Space::kValue)
    return CheckOutputs(object, "copy", {node.args[1]});
  if (from.bytes != to.bytes)
    errors_.Add(object.At("copy"), absl::StrCat("'", from.name, "' has ", from.bytes, " bytes, '",
                                                to.name, "' ", to.bytes));
  CheckOutputs(object, "copy", {node.args[1]});
}

constexpr std::pair<const char*, comm::Kind> kCollectives[] = {
    {"all_reduce", comm::Kind::kAllReduce},
    {"reduce", comm::Kind::kReduce},
    {"broadcast", comm::Kind::kBroadcast},
    {"all_gather", comm::Kind::kAllGather},
    {"reduce_scatter", comm::Kind::kReduceScatter},
    {"all_to_all", comm::Kind::kAllToAll},
    {"send", comm::Kind::kSend},
    {"recv", comm::Kind::kRecv},
    {"barrier", comm::Kind::kBarrier},
};

constexpr std::pair<const char*, comm::ReduceOp> kReductions[] = {
    {"sum", comm::ReduceOp::kSum},   {"max", comm::ReduceOp::kMax}, {"min", comm::ReduceOp::kMin},
    {"prod", comm::ReduceOp::kProd}, {"or", comm::ReduceOp::kOr},
};

void NodeReader::Start(JsonObject& object, Node& node) {
  node.collective = ReadName(kCollectives, object.String("start"), object.At("start"), errors_);
  node.comm = static_cast<int>(object.Int("comm", 0, static_cast<int64_t>(plan_.comms.size()) - 1));
  if (object.Has("reduce"))
    node.reduce = ReadName(kReductions, object.String("reduce"), object.At("reduce"), errors_);
  if (object.Has("root")) node.root = static_cast<int>(object.Int("root", 0, INT32_MAX));
  node.inputs = Ids(object, "inputs");
  node.outputs = Ids(object, "outputs");
  node.ticket = object.Int("ticket", 0);
  CheckOutputs(object, "outputs", node.outputs);
  CheckCounts(object, node);
  if (!tickets_.insert(node.ticket).second)
    errors_.Add(object.At("ticket"), absl::StrCat(node.ticket, " was started before"));
}

// One element type, and equal numbers of inputs and outputs where the operation pairs them. Counts
// that depend on the number of ranks are checked when the plan meets its communicators.
void NodeReader::CheckCounts(const JsonObject& object, const Node& node) {
  if (!errors_.ok()) return;
  const Buffer* first = nullptr;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (int id : *list) {
      const Buffer& buffer = plan_.buffers[static_cast<size_t>(id)];
      if (first == nullptr) first = &buffer;
      if (buffer.dtype != first->dtype)
        return errors_.Add(object.where(),
                           absl::StrCat("'", first->name, "' is ", NameOf(first->dtype), ", '",
                                        buffer.name, "' is ", NameOf(buffer.dtype)));
    }
  const auto kind = node.collective;
  const bool no_inputs = kind == comm::Kind::kRecv || kind == comm::Kind::kBarrier;
  const bool no_outputs = kind == comm::Kind::kSend || kind == comm::Kind::kBarrier;
  const bool wrong =
      no_inputs
          ? !node.inputs.empty() || (no_outputs ? !node.outputs.empty() : node.outputs.empty())
      : no_outputs ? node.inputs.empty() || !node.outputs.empty()
                   : node.inputs.empty() || node.inputs.size() != node.outputs.size();
  if (wrong)
    return errors_.Add(object.where(),
                       absl::StrCat(node.inputs.size(), " inputs and ", node.outputs.size(),
                                    " outputs do not fit the operation"));
  CheckValues(object, node);
}

// Values are exchanged one by one, and reduced only (value_collective.h).
void NodeReader::CheckValues(const JsonObject& object, const Node& node) {
  const Buffer* some = nullptr;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (int id : *list)
      if (plan_.buffers[static_cast<size_t>(id)].space == Space::kValue)
        some = &plan_.buffers[static_cast<size_t>(id)];
  if (some == nullptr) return;
  const bool one = node.collective == comm::Kind::kAllReduce && node.inputs.size() == 1;
  const Buffer &from = plan_.buffers[static_cast<size_t>(node.inputs.empty() ? 0 : node.inputs[0])],
               &to = plan_.buffers[static_cast<size_t>(node.outputs.empty() ? 0 : node.outputs[0])];
  const bool fits = one && from.space == to.space && from.kind == to.kind &&
                    from.kind != Value::Kind::kList &&
                    (from.kind != Value::Kind::kRows || node.reduce == comm::ReduceOp::kSum);
  if (!fits)
    errors_.Add(object.where(),
                absl::StrCat("'", some->name,
                             "' is a value: all_reduce takes one at a time into another one, of "
                             "SelectedRows the sum, and no other operation takes any"));
}

void NodeReader::Wait(JsonObject& object, Node& node) { node.ticket = object.Int("wait", 0); }

void NodeReader::If(JsonObject& object, Node& node) {
  const int depth = depth_ + 1;
  node.condition = Condition(object, "if");
  node.body = Body(object.Array("then"), object.At("then"), depth);
  node.otherwise = Body(object.Array("else"), object.At("else"), depth);
}

void NodeReader::While(JsonObject& object, Node& node) {
  node.condition = Condition(object, "while");
  node.limit = object.Int("limit", 0);
  node.body = Body(object.Array("body"), object.At("body"), depth_ + 1);
}

Node NodeReader::One(const Json& value, const std::string& where) {
  JsonObject object(value, where, errors_);
  Node node;
  for (const Row& row : kRows) {
    if (!object.Has(row.key)) continue;
    node.kind = row.kind;
    node.op = object.String("op");
    (this->*row.read)(object, node);
    object.Done();
    return node;
  }
  errors_.Add(where, "a node needs one of the keys kernel, call, copy, start, wait, if, while");
  return node;
}

std::vector<Node> NodeReader::Body(const Json& array, const std::string& where, int depth) {
  std::vector<Node> body;
  if (depth > kMostDepth) {
    errors_.Add(where, absl::StrCat("nested deeper than ", kMostDepth));
    return body;
  }
  for (size_t i = 0; errors_.ok() && i < array.size(); ++i) {
    depth_ = depth;
    body.push_back(One(array[i], absl::StrCat(where, "[", i, "]")));
  }
  CheckTickets(body, where);
  return body;
}

// Every ticket started here is waited for here, once and later: then no operation outlives its
// body.
void NodeReader::CheckTickets(const std::vector<Node>& body, const std::string& where) {
  std::map<int64_t, std::string> open;
  for (size_t i = 0; errors_.ok() && i < body.size(); ++i) {
    const Node& node = body[i];
    if (node.kind == Node::Kind::kStart) open[node.ticket] = absl::StrCat(where, "[", i, "]");
    if (node.kind == Node::Kind::kWait && open.erase(node.ticket) == 0)
      errors_.Add(absl::StrCat(where, "[", i, "]"),
                  absl::StrCat("waits for ticket ", node.ticket, ", which is not pending here"));
  }
  if (!open.empty())
    errors_.Add(open.begin()->second,
                absl::StrCat("nothing in this body waits for ticket ", open.begin()->first));
}

}  // namespace

std::vector<Node> ReadNodes(const Json& array, const std::string& where, const Plan& plan,
                            JsonErrors& errors) {
  return NodeReader(plan, errors).Body(array, where, 0);
}

}  // namespace dtranspile::exec

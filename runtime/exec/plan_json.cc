#include "runtime/exec/plan_json.h"

#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/plan_fields.h"

namespace dtranspile::exec {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kMostDepth = 64;  // of nodes in nodes

// Numbers that JSON lacks.
constexpr std::pair<const char*, double> kWordsOfReals[] = {
    {"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};

// The visitor that makes JSON of a plan. Every Fields(v, x) of plan_fields.h calls one method per
// field, in the order of the file; `May()` says of the next field that it is left out where it has
// its usual value, so that plans stay short and old ones stay readable.
class Writer {
 public:
  explicit Writer(OrderedJson& json) : json_(json) { json_ = OrderedJson::object(); }

  Writer& May() { return may_ = true, *this; }

  void Text(const char* key, const std::string& value) { Put(key, value, value.empty()); }
  void Bool(const char* key, bool value) { Put(key, value, false); }
  template <typename T>
  void Int(const char* key, T value, int64_t = 0, int64_t = 0) {
    Put(key, value, value == 0);
  }
  // A number whose usual value is 1.
  template <typename T>
  void Factor(const char* key, T value, int64_t = 0) {
    Put(key, value, value == 1);
  }
  void Buffer(const char* key, int id) { Put(key, id, false); }
  void BufferPair(const char* key, int from, int to) {
    Put(key, std::vector<int>{from, to}, false);
  }
  void Buffers(const char* key, const std::vector<int>& ids) { Put(key, ids, false); }
  template <typename T>
  void Ints(const char* key, const std::vector<T>& values, int64_t = 0) {
    Put(key, values, values.empty());
  }
  void Reals(const char* key, const std::vector<double>& values) {
    OrderedJson list = OrderedJson::array();
    for (double value : values) {
      if (std::isfinite(value)) list.push_back(value);
      else list.push_back(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    }
    Put(key, std::move(list), values.empty());
  }
  void Texts(const char* key, const std::vector<std::string>& values) {
    Put(key, values, values.empty());
  }
  void Lists(const char* key, const std::vector<std::vector<int64_t>>& values) {
    Put(key, values, false);
  }
  void Map(const char* key, const std::map<std::string, std::string>& values) {
    Put(key, values, values.empty());
  }
  void ListsByName(const char* key, const std::map<std::string, std::vector<int64_t>>& values) {
    Put(key, values, values.empty());
  }
  void Bytes(const char* key, const std::string& value) {
    Put(key, std::string(absl::BytesToHexString(value)), false);
  }
  void Type(const char* key, DType value) { Put(key, NameOf(value), false); }
  template <typename Enum>
  void Word(const char* key, Enum value, Enum usual = {}) {
    for (const auto& [word, known] : Words<Enum>::kRows)
      if (known == value) return Put(key, word, value == usual);
  }
  template <typename T>
  void Object(const char* key, const T& value) {
    Put(key, Written(value), false);
  }
  template <typename T>
  void Optional(const char* key, const std::optional<T>& value) {
    Put(key, value ? Written(*value) : OrderedJson(), !value);
  }
  template <typename T>
  void List(const char* key, const std::vector<T>& values) {
    OrderedJson list = OrderedJson::array();
    for (const T& value : values) list.push_back(Written(value));
    Put(key, std::move(list), false);
  }
  template <typename T>
  void ByName(const char* key, const std::vector<T>& values) {
    OrderedJson object = OrderedJson::object();
    for (const T& value : values) object[value.name] = Written(value);
    Put(key, std::move(object), false);
  }
  void Nodes(const char* key, const std::vector<Node>& nodes) {
    OrderedJson list = OrderedJson::array();
    for (const Node& node : nodes) {
      list.push_back(std::visit([](const auto& what) { return Written(what); }, node.what));
      list.back()["op"] = node.op;
    }
    Put(key, std::move(list), false);
  }

 private:
  // Fields takes a reference that a reader could write through: one description serves both ways.
  template <typename T>
  static OrderedJson Written(const T& value) {
    OrderedJson json;
    Writer writer(json);
    Fields(writer, const_cast<T&>(value));  // a writer changes nothing
    return json;
  }
  template <typename T>
  void Put(const char* key, T&& value, bool usual) {
    if (!may_ || !usual) json_[key] = std::forward<T>(value);
    may_ = false;
  }

  OrderedJson& json_;
  bool may_ = false;
};

// The visitor that fills a plan from JSON, with the ranges that plan_fields.h states. Errors are
// collected with the place where they stand; after the first one nothing that is read is used.
class Reader {
 public:
  // `plan`: its buffers are known to what is read after them.
  Reader(JsonObject& object, const Plan& plan, int depth)
      : object_(object), plan_(plan), depth_(depth) {}

  Reader& May() { return may_ = true, *this; }

  void Text(const char* key, std::string& value) {
    if (Reads(key)) value = object_.String(key);
  }
  void Bool(const char* key, bool& value) { value = object_.Bool(key); }
  template <typename T>
  void Int(const char* key, T& value, int64_t least = INT64_MIN, int64_t most = INT64_MAX) {
    if (Reads(key)) value = static_cast<T>(object_.Int(key, least, most));
  }
  template <typename T>
  void Factor(const char* key, T& value, int64_t most) {
    Int(key, value, 1, most);
  }
  void Buffer(const char* key, int& id) { Int(key, id, 0, LastBuffer()); }
  // [from, to], as copies and slices have it.
  void BufferPair(const char* key, int& from, int& to) {
    const auto ids = object_.Ints(key, 0, LastBuffer());
    if (ids.size() != 2) return errors().Add(object_.At(key), "expected [from, to]");
    from = static_cast<int>(ids[0]), to = static_cast<int>(ids[1]);
  }
  void Buffers(const char* key, std::vector<int>& ids) {
    const auto values = object_.Ints(key, 0, LastBuffer());
    ids.assign(values.begin(), values.end());
  }
  template <typename T>
  void Ints(const char* key, std::vector<T>& list, int64_t least = INT64_MIN) {
    constexpr int64_t kMost = std::numeric_limits<T>::max();
    if (!Reads(key)) return;
    const auto values = object_.Ints(key, least, kMost);
    list.assign(values.begin(), values.end());
  }
  void Reals(const char* key, std::vector<double>& list) {
    if (!Reads(key)) return;
    const Json& values = object_.Array(key);
    for (size_t i = 0; i < values.size(); ++i) list.push_back(Real(values[i], object_.At(key, i)));
  }
  void Texts(const char* key, std::vector<std::string>& list) {
    if (Reads(key)) list = object_.Strings(key);
  }
  void Lists(const char* key, std::vector<std::vector<int64_t>>& lists) {
    const Json& values = object_.Array(key);
    for (size_t i = 0; errors().ok() && i < values.size(); ++i) {
      const Json whole = {{"list", values[i]}};
      lists.push_back(JsonObject(whole, object_.At(key, i), errors()).Ints("list"));
    }
  }
  void Map(const char* key, std::map<std::string, std::string>& map) {
    if (!Reads(key)) return;
    for (const auto& [name, value] : object_.Object(key).items()) {
      if (!value.is_string()) return errors().Add(object_.At(key), "expected strings");
      map[name] = value.get<std::string>();
    }
  }
  // {"name": [numbers]}: bounds by axis. Numbers of this kind are coordinates, and not negative.
  void ListsByName(const char* key, std::map<std::string, std::vector<int64_t>>& map) {
    if (!Reads(key)) return;
    const Json& object = object_.Object(key);
    JsonObject lists(object, object_.At(key), errors());
    for (const auto& [name, value] : object.items()) map[name] = lists.Ints(name.c_str(), 0);
    lists.Done();
  }
  void Bytes(const char* key, std::string& bytes) {
    const std::string hex = object_.String(key);
    if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      return errors().Add(object_.At(key), "expected hexadecimal digits, two for each byte");
    bytes = absl::HexStringToBytes(hex);
  }
  void Type(const char* key, DType& type) {
    const std::string name = object_.String(key);
    const auto known = DTypeFromName(name);
    if (!known)
      errors().Add(object_.At(key),
                   absl::StrCat("unknown element type '", name.substr(0, 40), "'"));
    type = known.value_or(DType::kFloat32);
  }
  template <typename Enum>
  void Word(const char* key, Enum& value, Enum = {}) {
    if (!Reads(key)) return;
    const std::string name = object_.String(key);
    std::string known;
    for (const auto& [word, meaning] : Words<Enum>::kRows) {
      if (name == word) return void(value = meaning);
      absl::StrAppend(&known, known.empty() ? "" : ", ", word);
    }
    errors().Add(object_.At(key),
                 absl::StrCat("unknown '", name.substr(0, 80), "', expected one of ", known));
  }
  template <typename T>
  void Object(const char* key, T& value) {
    One(object_.Object(key), object_.At(key), value);
  }
  template <typename T>
  void Optional(const char* key, std::optional<T>& value) {
    if (Reads(key)) Object(key, value.emplace());
  }
  template <typename T>
  void List(const char* key, std::vector<T>& list) {
    const Json& values = object_.Array(key);
    for (size_t i = 0; errors().ok() && i < values.size(); ++i)
      One(values[i], object_.At(key, i), list.emplace_back());
  }
  // An object whose members are named parts: programs.
  template <typename T>
  void ByName(const char* key, std::vector<T>& list) {
    for (const auto& [name, value] : object_.Object(key).items()) {
      list.emplace_back().name = name;
      One(value, absl::StrCat(object_.At(key), ".", name.substr(0, 80)), list.back());
    }
  }
  // Nodes hold nodes: reading is recursive, and a file decides how deep, up to a limit.
  void Nodes(const char* key, std::vector<Node>& nodes) {
    const Json& values = object_.Array(key);
    if (depth_ > kMostDepth)
      return errors().Add(object_.At(key), absl::StrCat("nested deeper than ", kMostDepth));
    for (size_t i = 0; errors().ok() && i < values.size(); ++i)
      ReadNode(values[i], object_.At(key, i), nodes.emplace_back());
  }

 private:
  JsonErrors& errors() const { return object_.errors(); }
  // Whether the field is there, or has to be.
  bool Reads(const char* key) {
    const bool may = may_;
    may_ = false;
    return !may || object_.Has(key);
  }
  // Buffers stand before whatever names them, so that a number out of range is seen here.
  int64_t LastBuffer() const { return static_cast<int64_t>(plan_.buffers.size()) - 1; }

  double Real(const Json& value, const std::string& where) {
    if (value.is_number()) return value.get<double>();
    for (const auto& [word, number] : kWordsOfReals)
      if (value.is_string() && value.get<std::string>() == word) return number;
    errors().Add(where, absl::StrCat("expected a number, got ", value.type_name()));
    return 0;
  }

  template <typename T>
  void One(const Json& value, const std::string& where, T& into) {
    JsonObject object(value, where, errors());
    Reader reader(object, plan_, depth_);
    Fields(reader, into);
    object.Done();
  }

  // The kind of a node is the first of kNodeKeys that its object has; kIndex walks through them at
  // compile time, so that the kind of the variant and its key cannot come apart.
  template <size_t kIndex = 0>
  void ReadNode(const Json& value, const std::string& where, Node& node) {
    if constexpr (kIndex == std::size(kNodeKeys)) {
      errors().Add(where,
                   absl::StrCat("a node needs one of the keys ", absl::StrJoin(kNodeKeys, ", ")));
    } else {
      if (value.is_object() && !value.contains(kNodeKeys[kIndex]))
        return ReadNode<kIndex + 1>(value, where, node);
      JsonObject object(value, where, errors());
      node.op = object.String("op");
      Reader reader(object, plan_, depth_ + 1);
      Fields(reader, node.what.emplace<kIndex>());
      object.Done();
    }
  }

  JsonObject& object_;
  const Plan& plan_;
  const int depth_;
  bool may_ = false;
};

}  // namespace

// Both versions are looked at before anything else: a plan of another schema has fields that would
// only confuse, one of another ABI has kernels that must not be called.
void PlanFromJson(const Json& json, Plan& plan, JsonErrors& errors) {
  JsonObject root(json, "", errors);
  if (root.Int("schema") != kPlanSchema && errors.ok())
    return errors.Add("schema", absl::StrCat("this runtime reads plans of schema ", kPlanSchema,
                                             "; compile the job again"));
  const int64_t abi = root.Int("abi");
  if (abi != DT_ABI_VERSION && errors.ok())
    return errors.Add("abi",
                      absl::StrCat("compiled for version ", abi,
                                   " of the kernels' ABI, this runtime has version ",
                                   static_cast<int>(DT_ABI_VERSION), "; compile the job again"));
  Reader reader(root, plan, 0);
  Fields(reader, plan);
  root.Done();
}

// Versions first, in a place where every reader finds them.
nlohmann::ordered_json PlanToJson(const Plan& plan) {
  OrderedJson json, fields;
  json["schema"] = kPlanSchema;
  json["abi"] = static_cast<int>(DT_ABI_VERSION);
  Writer writer(fields);
  Fields(writer, const_cast<Plan&>(plan));
  json.update(fields);
  return json;
}

}  // namespace dtranspile::exec

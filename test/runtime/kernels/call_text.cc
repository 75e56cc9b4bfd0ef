#include "test/runtime/kernels/call_text.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "runtime/exec/context.h"
#include "runtime/kernels/cpu/call_table.h"
#include "runtime/kernels/signatures.h"

namespace dtranspile::kernels {
namespace {

constexpr std::pair<const char*, DType> kTypes[] = {
    {"bool", DType::kBool},     {"i8", DType::kInt8},        {"u8", DType::kUInt8},
    {"i16", DType::kInt16},     {"i32", DType::kInt32},      {"i64", DType::kInt64},
    {"u32", DType::kUInt32},    {"u64", DType::kUInt64},     {"f16", DType::kFloat16},
    {"bf16", DType::kBFloat16}, {"f32", DType::kFloat32},    {"f64", DType::kFloat64},
    {"c64", DType::kComplex64}, {"c128", DType::kComplex128}};

[[noreturn]] void Wrong(const std::string& what) { throw std::runtime_error(what); }

std::vector<std::string> Split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == mark && depth == 0) parts.push_back(std::move(part)), part.clear();
    else part += c;
  }
  if (!text.empty()) parts.push_back(std::move(part));
  return parts;
}

template <typename T>
std::vector<T> Numbers(const std::string& text) {
  std::vector<T> numbers;
  for (const std::string& part : Split(text, ',')) {
    char* end = nullptr;
    if constexpr (std::is_integral_v<T>) numbers.push_back(std::strtoll(part.c_str(), &end, 10));
    else numbers.push_back(std::strtod(part.c_str(), &end));
    if (part.empty() || *end != 0) Wrong("'" + part + "' is no number");
  }
  return numbers;
}

// The text up to the next of `marks`, cut off from the front of `text`.
std::string Take(std::string& text, const char* marks) {
  const size_t end = std::min(text.find_first_of(marks), text.size());
  std::string taken = text.substr(0, end);
  text.erase(0, end);
  return taken;
}

// What stands in brackets at the front of `text`.
std::string TakeBetween(std::string& text, char close) {
  const size_t end = text.find(close);
  if (end == std::string::npos) Wrong("'" + text + "' lacks a '" + close + "'");
  std::string inner = text.substr(1, end - 1);
  text.erase(0, end + 1);
  return inner;
}

DType TypeOfText(const std::string& text) {
  for (const auto& [name, type] : kTypes)
    if (text == name) return type;
  Wrong("'" + text + "' is no element type");
}

const char* TextOfType(DType type) {
  for (const auto& [name, known] : kTypes)
    if (known == type) return name;
  Wrong("element type without a name");
}

// Where the type of an argument's text ends, and where it begins.
size_t TypeEnd(const std::string& text) {
  return std::min(text.find_first_of("[{@:"), text.size());
}
size_t TypeBegin(const std::string& text) {
  return text.starts_with('!') || text.starts_with('?') ? 1 : 0;
}

template <typename To, typename From>
void Fill(void* data, int64_t count, const std::vector<From>& numbers) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<To*>(data)[i] = static_cast<To>(
        numbers[static_cast<size_t>(std::min<int64_t>(i, std::ssize(numbers) - 1))]);
}

void Elements(exec::Value& value, const std::string& text) {
  // One without elements has no memory.
  if (value.bytes() > 0) std::memset(value.data(), 0, static_cast<size_t>(value.bytes()));
  if (text.empty()) return;
  const auto whole = [&] { return Numbers<int64_t>(text); };
  const auto real = [&] { return Numbers<double>(text); };
  const int64_t count = value.count();
  switch (value.dtype) {
    case DType::kBool: return Fill<bool>(value.data(), count, whole());
    case DType::kInt8:
    case DType::kUInt8: return Fill<uint8_t>(value.data(), count, whole());
    case DType::kInt16: return Fill<int16_t>(value.data(), count, whole());
    case DType::kInt32: return Fill<int32_t>(value.data(), count, whole());
    case DType::kInt64: return Fill<int64_t>(value.data(), count, whole());
    case DType::kFloat32: return Fill<float>(value.data(), count, real());
    case DType::kFloat64: return Fill<double>(value.data(), count, real());
    case DType::kComplex64: return Fill<float>(value.data(), 2 * count, real());
    default: Wrong("elements of this type cannot be written");
  }
}

exec::Value ValueOf(std::string text) {
  using Kind = exec::Value::Kind;
  if (text.starts_with('(')) {
    const auto items = Split(text.substr(1, text.size() - 2), '|');
    exec::Value list(Kind::kList, DType::kFloat32);
    for (const std::string& item : items)
      if (item.find('[') != std::string::npos) list.items.push_back(ValueOf(item));
      else list.dtype = TypeOfText(item);
    if (!list.items.empty()) list.dtype = list.items[0].dtype;
    return list;
  }
  exec::Value value(Kind::kTensor, TypeOfText(Take(text, "[{@:")));
  if (text.starts_with('['))
    if (absl::Status status = value.Resize(Numbers<int64_t>(TakeBetween(text, ']'))); !status.ok())
      Wrong(std::string(status.message()));
  while (text.starts_with('{')) {
    const auto level = Numbers<int64_t>(TakeBetween(text, '}'));
    value.lod.emplace_back(level.begin(), level.end());
  }
  if (text.starts_with('@')) {
    const std::string rows = Take(text, "/").substr(1), height = Take(text, ":");
    if (height.empty()) Wrong("SelectedRows lack their height");
    value.kind = Kind::kRows;
    value.rows = Numbers<int64_t>(rows);
    value.height = std::atoll(height.c_str() + 1);
  }
  Elements(value, text.empty() ? text : text.substr(1));
  return value;
}

// Memory that ends where the process may touch no more: a call that reads or writes after an
// argument ends there.
class Fenced {
 public:
  Fenced(const void* data, int64_t bytes) {
    const auto page = static_cast<size_t>(getpagesize()), size = static_cast<size_t>(bytes);
    const size_t room = (size + page - 1) / page * page;
    length_ = room + page;
    start_ = static_cast<char*>(
        mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (start_ == MAP_FAILED || mprotect(start_ + room, page, PROT_NONE) != 0)
      Wrong("no memory for an argument");
    data_ = start_ + room - size;
    if (bytes > 0) std::memcpy(data_, data, size);
  }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  ~Fenced() { munmap(start_, length_); }
  void* data() const { return data_; }

 private:
  char *start_, *data_;
  size_t length_;
};

}  // namespace

// What a call points to.
struct CallText::Arguments {
  std::vector<DtBuffer> buffers;
  std::vector<int32_t> slots = {0};
  std::vector<DtAttr> attributes;
  std::deque<exec::Value> values;
  std::deque<Fenced> fences;
  std::deque<std::vector<int64_t>> ints, dims;
  std::deque<std::vector<double>> reals;
  std::deque<std::vector<std::string>> texts;
  std::deque<std::vector<const char*>> pointers;
  std::deque<std::string> names;

  void Add(const std::string& name, std::string text) {
    const char* own = names.emplace_back(text == "EMPTY" ? "@EMPTY@" : name).c_str();
    const bool device = text.starts_with('?');
    const bool fixed = text.starts_with('!') || device;
    if (fixed) text.erase(0, 1);
    if (text.empty() || text == "EMPTY") text = "f32";
    if (fixed && text.find('[') != std::string::npos) return AddFixed(own, text, device);
    exec::Value& value = values.emplace_back(ValueOf(text));
    buffers.push_back({fences.emplace_back(value.data(), value.bytes()).data(), value.dims.data(),
                       static_cast<int32_t>(value.dims.size()), static_cast<int32_t>(value.dtype),
                       DT_HOST, own, &value});
  }

  // Extents that no memory holds are given without any: the call must refuse them first.
  void AddFixed(const char* name, std::string text, bool device) {
    std::string rest = text;
    const DType type = TypeOfText(Take(rest, "["));
    const auto& extents = dims.emplace_back(Numbers<int64_t>(TakeBetween(rest, ']')));
    int64_t count = 1;
    for (int64_t d : extents)
      if (d < 0 || __builtin_mul_overflow(count, d, &count)) count = INT64_MAX;
    const bool real = count < (int64_t{1} << 24);
    exec::Value& value =
        values.emplace_back(ValueOf(real ? text : std::string(text, 0, text.find('['))));
    buffers.push_back({fences.emplace_back(value.data(), value.bytes()).data(), extents.data(),
                       static_cast<int32_t>(extents.size()), static_cast<int32_t>(type),
                       device ? DT_DEVICE : DT_HOST, name, nullptr});
  }

  void AddSlot(const std::string& name, const std::string& text, bool list) {
    const auto parts = Split(text, '+');
    for (size_t i = 0; i < parts.size(); ++i) Add(list ? name + std::to_string(i) : name, parts[i]);
    slots.push_back(static_cast<int32_t>(buffers.size()));
  }

  void AddAttribute(AttributeKind kind, const std::string& text) {
    if (text == "none") return attributes.push_back({nullptr, nullptr, nullptr, 0});
    switch (kind) {
      case AttributeKind::kBool:
      case AttributeKind::kInt:
        ints.push_back(Numbers<int64_t>(text.empty()      ? "0"
                                        : text == "true"  ? "1"
                                        : text == "false" ? "0"
                                                          : text));
        break;
      case AttributeKind::kInts: ints.push_back(Numbers<int64_t>(text)); break;
      case AttributeKind::kReal: reals.push_back(Numbers<double>(text.empty() ? "0" : text)); break;
      case AttributeKind::kReals: reals.push_back(Numbers<double>(text)); break;
      case AttributeKind::kText: texts.push_back({text}); break;
      case AttributeKind::kTexts: texts.push_back(Split(text, ',')); break;
    }
    const auto count = [](const auto& list) { return static_cast<int32_t>(list.size()); };
    if (kind <= AttributeKind::kInts)
      attributes.push_back({ints.back().data(), nullptr, nullptr, count(ints.back())});
    else if (kind <= AttributeKind::kReals)
      attributes.push_back({nullptr, reals.back().data(), nullptr, count(reals.back())});
    else attributes.push_back({nullptr, nullptr, Pointers(), count(texts.back())});
  }

  const char* const* Pointers() {
    auto& list = pointers.emplace_back();
    for (const std::string& text : texts.back()) list.push_back(text.c_str());
    return list.data();
  }
};

CallText::CallText(const std::string& text) {
  std::istringstream words(text);
  words >> callee_;
  signature_ = FindSignature(callee_);
  if (signature_ == nullptr || FindFunction(callee_) == nullptr) Wrong("no call " + callee_);
  for (std::string word; words >> word;) Set(word);
}

void CallText::Set(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos) Wrong("'" + assignment + "' is no NAME=VALUE");
  const std::string name = assignment.substr(0, equals);
  const auto named = [&](const auto& spec) { return spec.name == name; };
  if (std::none_of(signature_->inputs.begin(), signature_->inputs.end(), named) &&
      std::none_of(signature_->outputs.begin(), signature_->outputs.end(), named) &&
      std::none_of(signature_->attributes.begin(), signature_->attributes.end(), named))
    Wrong(callee_ + " has no '" + name + "'");
  values_[name] = assignment.substr(equals + 1);
}

void CallText::SetType(size_t root, DType type) {
  for (size_t k = 0; k < signature_->slots(); ++k) {
    const SlotSpec& slot = signature_->slot(k);
    const auto given = values_.find(slot.name);
    if (slot.demand.like != static_cast<int>(root) || given == values_.end()) continue;
    std::string text;
    for (const std::string& part : Split(given->second, '+')) {
      const size_t begin = TypeBegin(part);
      text += text.empty() ? "" : "+";
      text += part == "none" || part == "EMPTY" || part.starts_with('(')
                  ? part
                  : part.substr(0, begin) + TextOfType(Related(slot.demand.relation, type)) +
                        part.substr(TypeEnd(part));
    }
    given->second = text;
  }
}

std::string CallText::OutputType(const SlotSpec& slot) const {
  const SlotSpec& root = signature_->slot(static_cast<size_t>(slot.demand.like));
  const std::string like = Split(Value(root.name) + "+", '+').front();
  const size_t begin = TypeBegin(like);
  if (&root != &slot && !like.empty() && like != "none" && like != "EMPTY" && like[0] != '(')
    return TextOfType(
        Related(slot.demand.relation, TypeOfText(like.substr(begin, TypeEnd(like) - begin))));
  if (Holds(slot.demand.types, DType::kFloat32)) return "f32";
  for (const auto& [name, type] : kTypes)
    if (Holds(slot.demand.types, type)) return name;
  Wrong("no type for " + slot.name);
}

std::string CallText::Value(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? "" : found->second;
}

absl::Status CallText::Run(exec::ThreadPool& pool) const {
  Arguments a;
  DtCall call = {};
  void* state = nullptr;
  call.name = callee_.c_str(), call.op = "0:0 test", call.state = &state;
  const auto count = [](const auto& list) { return static_cast<int32_t>(list.size()); };
  for (const SlotSpec& slot : signature_->inputs)
    a.AddSlot(slot.name, Value(slot.name) == "none" ? "" : Value(slot.name), slot.list);
  for (const SlotSpec& slot : signature_->outputs) {
    const std::string text = Value(slot.name);
    a.AddSlot(slot.name,
              text == "none" || (slot.list && text.empty()) ? ""
              : text.empty()                                ? OutputType(slot)
                                                            : text,
              slot.list);
  }
  for (const AttributeSpec& attribute : signature_->attributes) {
    const std::string text = Value(attribute.name);
    a.AddAttribute(attribute.kind, attribute.optional && text.empty() ? "none" : text);
  }
  call.slots = a.slots.data(), call.num_slots = count(a.slots) - 1;
  call.attrs = a.attributes.data(), call.num_attrs = count(a.attributes);
  call.args = a.buffers.data(), call.num_args = count(a.buffers);
  exec::NumericScope numerics;
  DtContext context(&pool);
  return context.Call(FindFunction(callee_), call);
}

}  // namespace dtranspile::kernels

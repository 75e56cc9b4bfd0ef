#include "runtime/io/pickle_machine.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/status.h"
#include "runtime/io/pickle_objects.h"

namespace dtranspile::io {
namespace {

constexpr PickleRef kNoValue = std::numeric_limits<PickleRef>::max();

class Machine {
 public:
  Machine(std::string_view file, PickleHeap& heap) : file_(file), heap_(heap) {}

  using Handler = absl::Status (Machine::*)();

  // Runs to the opcode STOP.
  absl::StatusOr<PickleRef> Run();

  // Where the opcode is that was executed last, and its name.
  size_t opcode_offset() const { return opcode_; }
  const char* opcode_name() const;
  size_t offset() const { return at_; }

 private:
  // -- input
  absl::StatusOr<std::string_view> Take(uint64_t count);
  template <typename T>
  absl::StatusOr<T> Number();
  absl::StatusOr<std::string_view> Line();

  // -- stack
  void Push(PickleRef ref) { stack_.push_back(ref); }
  absl::Status PushResult(absl::StatusOr<PickleRef> ref);
  // Items that an opcode may take: those above the innermost mark.
  size_t Available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  absl::Status Want(size_t count) const;
  PickleRef PopOne();
  absl::StatusOr<std::vector<PickleRef>> PopToMark();

  // -- shared parts of handlers
  template <typename Length>
  absl::Status Bytes(PickleKind kind);
  absl::Status LongOf(uint64_t bytes);
  absl::Status TupleOf(size_t count);
  absl::Status PushTuple(std::vector<PickleRef> items);
  absl::Status AddItems(PickleKind kind, std::vector<PickleRef> items);
  absl::Status Store(uint64_t index);
  absl::Status Load(uint64_t index);
  absl::Status FindName(std::string_view module, std::string_view name);

 public:
  // -- one handler per opcode
  absl::Status Proto();
  absl::Status Frame();
  absl::Status Mark();
  absl::Status Pop();
  absl::Status PopMark();
  absl::Status Dup();
  absl::Status None();
  absl::Status True();
  absl::Status False();
  absl::Status BinInt();
  absl::Status BinInt1();
  absl::Status BinInt2();
  absl::Status Long1();
  absl::Status Long4();
  absl::Status BinFloat();
  absl::Status ShortBinUnicode();
  absl::Status BinUnicode();
  absl::Status BinUnicode8();
  absl::Status ShortBinString();
  absl::Status BinString();
  absl::Status ShortBinBytes();
  absl::Status BinBytes();
  absl::Status BinBytes8();
  absl::Status EmptyTuple();
  absl::Status Tuple();
  absl::Status Tuple1();
  absl::Status Tuple2();
  absl::Status Tuple3();
  absl::Status EmptyList();
  absl::Status List();
  absl::Status Append();
  absl::Status Appends();
  absl::Status EmptyDict();
  absl::Status Dict();
  absl::Status SetItem();
  absl::Status SetItems();
  absl::Status Global();
  absl::Status StackGlobal();
  absl::Status Reduce();
  absl::Status Build();
  absl::Status Memoize();
  absl::Status BinPut();
  absl::Status LongBinPut();
  absl::Status BinGet();
  absl::Status LongBinGet();

 private:
  std::string_view file_;
  PickleHeap& heap_;
  size_t at_ = 0;
  size_t opcode_ = 0;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;
  std::vector<PickleRef> memo_;
  size_t memoized_ = 0;
};

struct Row {
  uint8_t code;
  const char* name;
  Machine::Handler handler;  // null: refused
};

constexpr uint8_t kStop = '.';

constexpr Row kRows[] = {
    {0x80, "PROTO", &Machine::Proto},
    {0x95, "FRAME", &Machine::Frame},
    {'(', "MARK", &Machine::Mark},
    {'0', "POP", &Machine::Pop},
    {'1', "POP_MARK", &Machine::PopMark},
    {'2', "DUP", &Machine::Dup},
    {'N', "NONE", &Machine::None},
    {0x88, "NEWTRUE", &Machine::True},
    {0x89, "NEWFALSE", &Machine::False},
    {'J', "BININT", &Machine::BinInt},
    {'K', "BININT1", &Machine::BinInt1},
    {'M', "BININT2", &Machine::BinInt2},
    {0x8a, "LONG1", &Machine::Long1},
    {0x8b, "LONG4", &Machine::Long4},
    {'G', "BINFLOAT", &Machine::BinFloat},
    {0x8c, "SHORT_BINUNICODE", &Machine::ShortBinUnicode},
    {'X', "BINUNICODE", &Machine::BinUnicode},
    {0x8d, "BINUNICODE8", &Machine::BinUnicode8},
    {'U', "SHORT_BINSTRING", &Machine::ShortBinString},
    {'T', "BINSTRING", &Machine::BinString},
    {'C', "SHORT_BINBYTES", &Machine::ShortBinBytes},
    {'B', "BINBYTES", &Machine::BinBytes},
    {0x8e, "BINBYTES8", &Machine::BinBytes8},
    {0x96, "BYTEARRAY8", &Machine::BinBytes8},
    {')', "EMPTY_TUPLE", &Machine::EmptyTuple},
    {'t', "TUPLE", &Machine::Tuple},
    {0x85, "TUPLE1", &Machine::Tuple1},
    {0x86, "TUPLE2", &Machine::Tuple2},
    {0x87, "TUPLE3", &Machine::Tuple3},
    {']', "EMPTY_LIST", &Machine::EmptyList},
    {'l', "LIST", &Machine::List},
    {'a', "APPEND", &Machine::Append},
    {'e', "APPENDS", &Machine::Appends},
    {'}', "EMPTY_DICT", &Machine::EmptyDict},
    {'d', "DICT", &Machine::Dict},
    {'s', "SETITEM", &Machine::SetItem},
    {'u', "SETITEMS", &Machine::SetItems},
    {'c', "GLOBAL", &Machine::Global},
    {0x93, "STACK_GLOBAL", &Machine::StackGlobal},
    {'R', "REDUCE", &Machine::Reduce},
    {'b', "BUILD", &Machine::Build},
    {0x94, "MEMOIZE", &Machine::Memoize},
    {'q', "BINPUT", &Machine::BinPut},
    {'r', "LONG_BINPUT", &Machine::LongBinPut},
    {'h', "BINGET", &Machine::BinGet},
    {'j', "LONG_BINGET", &Machine::LongBinGet},
    {kStop, "STOP", nullptr},
    {'F', "FLOAT (protocol 0)", nullptr},
    {'I', "INT (protocol 0)", nullptr},
    {'L', "LONG (protocol 0)", nullptr},
    {'P', "PERSID", nullptr},
    {'Q', "BINPERSID", nullptr},
    {'S', "STRING (protocol 0)", nullptr},
    {'V', "UNICODE (protocol 0)", nullptr},
    {'g', "GET (protocol 0)", nullptr},
    {'i', "INST", nullptr},
    {'o', "OBJ", nullptr},
    {'p', "PUT (protocol 0)", nullptr},
    {0x81, "NEWOBJ", nullptr},
    {0x82, "EXT1", nullptr},
    {0x83, "EXT2", nullptr},
    {0x84, "EXT4", nullptr},
    {0x8f, "EMPTY_SET", nullptr},
    {0x90, "ADDITEMS", nullptr},
    {0x91, "FROZENSET", nullptr},
    {0x92, "NEWOBJ_EX", nullptr},
    {0x97, "NEXT_BUFFER (data outside of the file)", nullptr},
    {0x98, "READONLY_BUFFER (data outside of the file)", nullptr},
};

constexpr std::array<const Row*, 256> MakeIndex() {
  std::array<const Row*, 256> index{};
  for (const Row& row : kRows) index[row.code] = &row;
  return index;
}

constexpr std::array<const Row*, 256> kIndex = MakeIndex();

absl::StatusOr<PickleRef> Machine::Run() {
  while (true) {
    opcode_ = at_;
    DT_ASSIGN_OR_RETURN(const uint8_t code, Number<uint8_t>());
    if (code == kStop) break;
    const Row* row = kIndex[code];
    if (!row) return absl::InvalidArgumentError(absl::StrFormat("byte 0x%02x is no opcode", code));
    if (!row->handler) return absl::PermissionDeniedError("this opcode is not permitted");
    DT_RETURN_IF_ERROR((this->*row->handler)());
  }
  if (stack_.size() != 1 || !marks_.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the pickle ends with ", stack_.size(), " values instead of one"));
  }
  return stack_[0];
}

const char* Machine::opcode_name() const {
  const Row* row = opcode_ < file_.size() ? kIndex[static_cast<uint8_t>(file_[opcode_])] : nullptr;
  return row ? row->name : "end of file";
}

absl::StatusOr<std::string_view> Machine::Take(uint64_t count) {
  if (count > file_.size() - at_) {
    return absl::DataLossError(absl::StrCat(count, " bytes wanted, ", file_.size() - at_, " are left"));
  }
  const std::string_view taken = file_.substr(at_, count);
  at_ += count;
  return taken;
}

template <typename T>
absl::StatusOr<T> Machine::Number() {
  DT_ASSIGN_OR_RETURN(const std::string_view bytes, Take(sizeof(T)));
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

absl::StatusOr<std::string_view> Machine::Line() {
  const size_t end = file_.find('\n', at_);
  if (end == std::string_view::npos) return absl::DataLossError("a name without an end");
  const std::string_view line = file_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

absl::Status Machine::PushResult(absl::StatusOr<PickleRef> ref) {
  if (ref.ok()) Push(*ref);
  return ref.status();
}

absl::Status Machine::Want(size_t count) const {
  if (Available() >= count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(count, " values wanted, the stack has ", Available()));
}

PickleRef Machine::PopOne() {
  const PickleRef top = stack_.back();
  stack_.pop_back();
  return top;
}

absl::StatusOr<std::vector<PickleRef>> Machine::PopToMark() {
  if (marks_.empty()) return absl::InvalidArgumentError("no mark on the stack");
  const auto begin = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
  std::vector<PickleRef> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

absl::Status Machine::Proto() {
  DT_ASSIGN_OR_RETURN(const uint8_t version, Number<uint8_t>());
  if (version >= 2 && version <= 5) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("protocol ", version, "; 2 to 5 are read"));
}

absl::Status Machine::Frame() {
  DT_ASSIGN_OR_RETURN(const uint64_t size, Number<uint64_t>());
  if (size <= file_.size() - at_) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("a frame of ", size, " bytes, ", file_.size() - at_, " are left"));
}

absl::Status Machine::Mark() {
  marks_.push_back(stack_.size());
  return absl::OkStatus();
}

absl::Status Machine::Pop() {
  DT_RETURN_IF_ERROR(Want(1));
  PopOne();
  return absl::OkStatus();
}

absl::Status Machine::PopMark() { return PopToMark().status(); }

absl::Status Machine::Dup() {
  DT_RETURN_IF_ERROR(Want(1));
  Push(stack_.back());
  return absl::OkStatus();
}

absl::Status Machine::None() { return PushResult(heap_.none()); }
absl::Status Machine::True() { return PushResult(heap_.boolean(true)); }
absl::Status Machine::False() { return PushResult(heap_.boolean(false)); }

absl::Status Machine::BinInt() {
  DT_ASSIGN_OR_RETURN(const int32_t value, Number<int32_t>());
  return PushResult(heap_.AddInt(value));
}

absl::Status Machine::BinInt1() {
  DT_ASSIGN_OR_RETURN(const uint8_t value, Number<uint8_t>());
  return PushResult(heap_.AddInt(value));
}

absl::Status Machine::BinInt2() {
  DT_ASSIGN_OR_RETURN(const uint16_t value, Number<uint16_t>());
  return PushResult(heap_.AddInt(value));
}

// Two's complement, little-endian, of any length; no number of a state needs more than 64 bits.
absl::Status Machine::LongOf(uint64_t count) {
  DT_ASSIGN_OR_RETURN(const std::string_view bytes, Take(count));
  if (count > sizeof(int64_t)) return absl::InvalidArgumentError(absl::StrCat("an integer of ", count, " bytes"));
  int64_t value = count > 0 && (bytes.back() & 0x80) ? -1 : 0;
  std::memcpy(&value, bytes.data(), count);
  return PushResult(heap_.AddInt(value));
}

absl::Status Machine::Long1() {
  DT_ASSIGN_OR_RETURN(const uint8_t count, Number<uint8_t>());
  return LongOf(count);
}

absl::Status Machine::Long4() {
  DT_ASSIGN_OR_RETURN(const uint32_t count, Number<uint32_t>());
  return LongOf(count);
}

absl::Status Machine::BinFloat() {
  DT_ASSIGN_OR_RETURN(const uint64_t big_endian, Number<uint64_t>());
  DT_ASSIGN_OR_RETURN(const PickleRef ref, heap_.Add(PickleKind::kFloat));
  heap_[ref].real = std::bit_cast<double>(__builtin_bswap64(big_endian));
  Push(ref);
  return absl::OkStatus();
}

template <typename Length>
absl::Status Machine::Bytes(PickleKind kind) {
  DT_ASSIGN_OR_RETURN(const Length count, Number<Length>());
  DT_ASSIGN_OR_RETURN(const std::string_view bytes, Take(count));
  return PushResult(heap_.AddBytes(kind, bytes));
}

absl::Status Machine::ShortBinUnicode() { return Bytes<uint8_t>(PickleKind::kText); }
absl::Status Machine::BinUnicode() { return Bytes<uint32_t>(PickleKind::kText); }
absl::Status Machine::BinUnicode8() { return Bytes<uint64_t>(PickleKind::kText); }
absl::Status Machine::ShortBinString() { return Bytes<uint8_t>(PickleKind::kString); }
absl::Status Machine::BinString() { return Bytes<uint32_t>(PickleKind::kString); }
absl::Status Machine::ShortBinBytes() { return Bytes<uint8_t>(PickleKind::kBytes); }
absl::Status Machine::BinBytes() { return Bytes<uint32_t>(PickleKind::kBytes); }
absl::Status Machine::BinBytes8() { return Bytes<uint64_t>(PickleKind::kBytes); }

absl::Status Machine::PushTuple(std::vector<PickleRef> items) {
  if (items.empty()) return PushResult(heap_.empty_tuple());
  DT_ASSIGN_OR_RETURN(const PickleRef tuple, heap_.Add(PickleKind::kTuple));
  heap_[tuple].items = std::move(items);
  Push(tuple);
  return absl::OkStatus();
}

absl::Status Machine::TupleOf(size_t count) {
  DT_RETURN_IF_ERROR(Want(count));
  std::vector<PickleRef> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return PushTuple(std::move(items));
}

absl::Status Machine::EmptyTuple() { return PushResult(heap_.empty_tuple()); }
absl::Status Machine::Tuple1() { return TupleOf(1); }
absl::Status Machine::Tuple2() { return TupleOf(2); }
absl::Status Machine::Tuple3() { return TupleOf(3); }

absl::Status Machine::Tuple() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  return PushTuple(std::move(items));
}

// Appends to the list or dict on top of the stack.
absl::Status Machine::AddItems(PickleKind kind, std::vector<PickleRef> items) {
  DT_RETURN_IF_ERROR(Want(1));
  PickleNode& target = heap_[stack_.back()];
  if (target.kind != kind) {
    return absl::InvalidArgumentError(absl::StrCat("items for ", NameOf(kind), " meet ", NameOf(target.kind)));
  }
  if (kind == PickleKind::kDict && items.size() % 2 != 0) return absl::InvalidArgumentError("a key without a value");
  target.items.insert(target.items.end(), items.begin(), items.end());
  return absl::OkStatus();
}

absl::Status Machine::EmptyList() { return PushResult(heap_.Add(PickleKind::kList)); }
absl::Status Machine::EmptyDict() { return PushResult(heap_.Add(PickleKind::kDict)); }

absl::Status Machine::List() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  DT_RETURN_IF_ERROR(EmptyList());
  return AddItems(PickleKind::kList, std::move(items));
}

absl::Status Machine::Dict() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  DT_RETURN_IF_ERROR(EmptyDict());
  return AddItems(PickleKind::kDict, std::move(items));
}

absl::Status Machine::Append() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef item = PopOne();
  return AddItems(PickleKind::kList, {item});
}

absl::Status Machine::Appends() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  return AddItems(PickleKind::kList, std::move(items));
}

absl::Status Machine::SetItem() {
  DT_RETURN_IF_ERROR(Want(3));
  const PickleRef value = PopOne();
  const PickleRef key = PopOne();
  return AddItems(PickleKind::kDict, {key, value});
}

absl::Status Machine::SetItems() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  return AddItems(PickleKind::kDict, std::move(items));
}

absl::Status Machine::FindName(std::string_view module, std::string_view name) {
  // Longer names than any permitted one are cut for the message.
  return PushResult(FindGlobal(heap_, std::string(module.substr(0, 256)), std::string(name.substr(0, 256))));
}

absl::Status Machine::Global() {
  DT_ASSIGN_OR_RETURN(const std::string_view module, Line());
  DT_ASSIGN_OR_RETURN(const std::string_view name, Line());
  return FindName(module, name);
}

absl::Status Machine::StackGlobal() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef name = PopOne();
  const PickleRef module = PopOne();
  if (!heap_[name].IsText() || !heap_[module].IsText()) return absl::InvalidArgumentError("a name that is no text");
  return FindName(heap_[module].bytes, heap_[name].bytes);
}

absl::Status Machine::Reduce() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef arguments = PopOne();
  const PickleRef function = PopOne();
  return PushResult(CallGlobal(heap_, function, arguments));
}

absl::Status Machine::Build() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef state = PopOne();
  return SetState(heap_, stack_.back(), state);
}

absl::Status Machine::Store(uint64_t index) {
  DT_RETURN_IF_ERROR(Want(1));
  // Picklers number what they store from 0, with at least an opcode each.
  if (index >= file_.size()) return absl::InvalidArgumentError(absl::StrCat("memo entry ", index, " of a file of ", file_.size(), " bytes"));
  if (memo_.size() <= index) memo_.resize(index + 1, kNoValue);
  if (memo_[index] == kNoValue) ++memoized_;
  memo_[index] = stack_.back();
  return absl::OkStatus();
}

absl::Status Machine::Load(uint64_t index) {
  if (index >= memo_.size() || memo_[index] == kNoValue) {
    return absl::InvalidArgumentError(absl::StrCat("memo entry ", index, " is empty"));
  }
  Push(memo_[index]);
  return absl::OkStatus();
}

absl::Status Machine::Memoize() { return Store(memoized_); }

absl::Status Machine::BinPut() {
  DT_ASSIGN_OR_RETURN(const uint8_t index, Number<uint8_t>());
  return Store(index);
}

absl::Status Machine::LongBinPut() {
  DT_ASSIGN_OR_RETURN(const uint32_t index, Number<uint32_t>());
  return Store(index);
}

absl::Status Machine::BinGet() {
  DT_ASSIGN_OR_RETURN(const uint8_t index, Number<uint8_t>());
  return Load(index);
}

absl::Status Machine::LongBinGet() {
  DT_ASSIGN_OR_RETURN(const uint32_t index, Number<uint32_t>());
  return Load(index);
}

}  // namespace

absl::StatusOr<PickleRef> RunPickle(const std::string& name, std::string_view file, PickleHeap& heap) {
  if (file.size() < 2 || static_cast<uint8_t>(file[0]) != 0x80) {
    return absl::InvalidArgumentError(name + ": does not begin as a pickle of protocol 2 to 5");
  }
  Machine machine(file, heap);
  absl::StatusOr<PickleRef> root = machine.Run();
  if (!root.ok()) {
    return absl::Status(root.status().code(), absl::StrCat(name, ": offset ", machine.opcode_offset(), ": ", machine.opcode_name(), ": ",
                                                           root.status().message()));
  }
  if (machine.offset() != file.size()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": offset ", machine.offset(), ": ", file.size() - machine.offset(), " bytes after the pickle"));
  }
  return root;
}

}  // namespace dtranspile::io

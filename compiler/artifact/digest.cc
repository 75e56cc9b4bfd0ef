// What is hashed is a stream of numbers and byte strings from one walk over the module
// (docs/file-formats.md). Numbers end by themselves, byte strings and lists say their length first,
// and every attribute begins with its kind: whoever knows the rules reads the module back from the
// stream, so that two modules never give the same one.
//
// An attribute, type or op name is written out where it first occurs, and by its number after that;
// so are values and blocks. MLIR keeps equal attributes and types once per context, so the first
// occurrence is found by pointer, but no pointer, nor any order made of them, enters the stream.
#include <array>

#include "compiler/artifact/job.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "runtime/io/json.h"

namespace dtranspile {
namespace {

// First in the stream: another encoding is another digest.
constexpr llvm::StringLiteral kEncoding = "dtranspile job, encoding 2";

// How an attribute is written; part of the stream, so rows keep their numbers.
enum class Kind : uint8_t {
  Text = 0,
  String = 1,
  Integer = 2,
  Float = 3,
  Array = 4,
  Dictionary = 5,
  DenseArray = 6,
  TypeOf = 7,
  Symbol = 8,
  Resource = 9,
  Slot = 10,
};

class Stream {
 public:
  // Base 128, least digits first; all bytes but the last have their high bit set.
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<uint8_t>(value | 0x80));
    byte(static_cast<uint8_t>(value));
  }
  void text(llvm::StringRef bytes) {
    number(bytes.size());
    raw(bytes);
  }
  void kind(Kind kind) { byte(static_cast<uint8_t>(kind)); }
  void bits(const llvm::APInt& value) {
    number(value.getBitWidth());
    for (unsigned word = 0; word < value.getNumWords(); ++word) number(value.getRawData()[word]);
  }
  std::string hex() {
    flush();
    return llvm::toHex(hash_.final(), /*LowerCase=*/true);
  }

 private:
  static constexpr size_t kBuffer = size_t{1} << 14;

  void byte(uint8_t value) {
    if (used_ == kBuffer) flush();
    buffer_[used_++] = value;
  }
  void raw(llvm::StringRef bytes) {
    if (bytes.size() > kBuffer - used_) flush();
    if (bytes.size() > kBuffer) return hash_.update(bytes);
    std::copy(bytes.begin(), bytes.end(), buffer_.begin() + used_);
    used_ += bytes.size();
  }
  void flush() {
    hash_.update(llvm::ArrayRef(buffer_.data(), used_));
    used_ = 0;
  }

  llvm::SHA256 hash_;
  std::array<uint8_t, kBuffer> buffer_;
  size_t used_ = 0;
};

// Numbers things in the order in which they are first mentioned.
template <typename T>
class Numbering {
 public:
  // Writes the number of `thing`. True where the stream has not had it before: the reader sees that
  // too, from a number that is as large as what it has seen.
  bool mention(T thing, Stream& stream) {
    auto [found, isNew] = numbers_.try_emplace(thing, numbers_.size());
    stream.number(found->second);
    return isNew;
  }

 private:
  llvm::DenseMap<T, uint64_t> numbers_;
};

// One walk. Names, values, blocks and attributes are numbered as they are met, and written in full
// only the first time.
class ModuleWriter {
 public:
  ModuleWriter(mlir::MLIRContext* context, Stream& stream)
      : stream_(stream), printing_(context, mlir::OpPrintingFlags().enableDebugInfo(false)) {}

  void op(mlir::Operation& op) {
    if (names_.mention(op.getName().getAsOpaquePointer(), stream_))
      stream_.text(op.getName().getStringRef());
    stream_.number(op.getNumResults());
    for (mlir::OpResult result : op.getResults()) defined(result);
    stream_.number(op.getNumOperands());
    for (mlir::Value operand : op.getOperands()) values_.mention(operand, stream_);
    stream_.number(op.getNumSuccessors());
    for (mlir::Block* successor : op.getSuccessors()) blocks_.mention(successor, stream_);
    // Sorted by name, both.
    attribute(op.getRawDictionaryAttrs());
    attribute(op.getPropertiesStorageSize() ? op.getPropertiesAsAttribute() : mlir::Attribute());
    stream_.number(op.getNumRegions());
    for (mlir::Region& region : op.getRegions()) this->region(region);
  }

 private:
  void region(mlir::Region& region) {
    stream_.number(region.getBlocks().size());
    for (mlir::Block& block : region) {
      blocks_.mention(&block, stream_);
      stream_.number(block.getNumArguments());
      for (mlir::BlockArgument argument : block.getArguments()) defined(argument);
      stream_.number(block.getOperations().size());
      for (mlir::Operation& inner : block) op(inner);
    }
  }

  void defined(mlir::Value value) {
    values_.mention(value, stream_);
    type(value.getType());
  }

  // Null is a thing like others, of no content.
  void type(mlir::Type type) {
    if (!types_.mention(type.getAsOpaquePointer(), stream_) || !type) return;
    text_.clear();
    llvm::raw_svector_ostream out(text_);
    type.print(out, printing_);
    stream_.text(text_);
    parts(type);
  }

  void attribute(mlir::Attribute attribute) {
    if (!attributes_.mention(attribute.getAsOpaquePointer(), stream_) || !attribute) return;
    llvm::TypeSwitch<mlir::Attribute>(attribute)
        .Case<mlir::StringAttr, mlir::IntegerAttr, mlir::FloatAttr, mlir::ArrayAttr,
              mlir::DictionaryAttr, mlir::DenseArrayAttr, mlir::TypeAttr, mlir::SymbolRefAttr,
              mlir::DenseResourceElementsAttr, pd::SlotAttr>([&](auto known) { content(known); })
        .Default([&](mlir::Attribute other) { printed(other); });
  }

  void content(mlir::StringAttr string) {
    stream_.kind(Kind::String);
    stream_.text(string.getValue());
    type(string.getType());
  }
  void content(mlir::IntegerAttr integer) {
    stream_.kind(Kind::Integer);
    type(integer.getType());
    stream_.bits(integer.getValue());
  }
  // Bits: every NaN is itself, and zero has a sign.
  void content(mlir::FloatAttr number) {
    stream_.kind(Kind::Float);
    type(number.getType());
    stream_.bits(number.getValue().bitcastToAPInt());
  }
  void content(mlir::ArrayAttr array) {
    stream_.kind(Kind::Array);
    list(array.getValue());
  }
  void content(mlir::DictionaryAttr dictionary) {
    stream_.kind(Kind::Dictionary);
    stream_.number(dictionary.size());
    for (mlir::NamedAttribute entry : dictionary) {
      attribute(entry.getName());
      attribute(entry.getValue());
    }
  }
  // As they lie in memory: all machines that this program is for are little-endian.
  void content(mlir::DenseArrayAttr numbers) {
    static_assert(llvm::endianness::native == llvm::endianness::little);
    stream_.kind(Kind::DenseArray);
    type(numbers.getElementType());
    stream_.number(numbers.getSize());
    bytes(numbers.getRawData());
  }
  void content(mlir::TypeAttr named) {
    stream_.kind(Kind::TypeOf);
    type(named.getValue());
  }
  void content(mlir::SymbolRefAttr symbol) {
    stream_.kind(Kind::Symbol);
    attribute(symbol.getRootReference());
    stream_.number(symbol.getNestedReferences().size());
    for (mlir::FlatSymbolRefAttr nested : symbol.getNestedReferences()) attribute(nested.getAttr());
  }
  // The data, which no text of the attribute shows. A reader may change the key, which says
  // nothing.
  void content(mlir::DenseResourceElementsAttr elements) {
    stream_.kind(Kind::Resource);
    type(elements.getType());
    mlir::AsmResourceBlob* blob = elements.getRawHandle().getBlob();
    stream_.number(blob ? 1 : 0);
    if (blob) bytes(blob->getData());
  }
  // Every op has two or more, most of them its own.
  void content(pd::SlotAttr slot) {
    // With another parameter, this stops to compile: the digest has to see all of them.
    using Make =
        pd::SlotAttr (*)(mlir::MLIRContext*, mlir::StringAttr, llvm::ArrayRef<mlir::StringAttr>);
    [[maybe_unused]] constexpr Make make = &pd::SlotAttr::get;
    stream_.kind(Kind::Slot);
    attribute(slot.getName());
    list(slot.getArgs());
  }

  // Everything else: its text, which gives the attribute back when it is read, and what it is made
  // of, since text leaves out the data of resources.
  void printed(mlir::Attribute attribute) {
    stream_.kind(Kind::Text);
    text_.clear();
    llvm::raw_svector_ostream out(text_);
    attribute.print(out, printing_);
    stream_.text(text_);
    parts(attribute);
  }

  template <typename T>
  void parts(T whole) {
    llvm::SmallVector<mlir::Attribute> attributes;
    llvm::SmallVector<mlir::Type> types;
    whole.walkImmediateSubElements([&](mlir::Attribute part) { attributes.push_back(part); },
                                   [&](mlir::Type part) { types.push_back(part); });
    list(llvm::ArrayRef<mlir::Attribute>(attributes));
    stream_.number(types.size());
    for (mlir::Type part : types) type(part);
  }

  template <typename T>
  void list(llvm::ArrayRef<T> attributes) {
    stream_.number(attributes.size());
    for (T each : attributes) attribute(each);
  }

  void bytes(llvm::ArrayRef<char> data) { stream_.text(llvm::StringRef(data.data(), data.size())); }

  Stream& stream_;
  mlir::AsmState printing_;
  llvm::SmallString<256> text_;
  Numbering<const void*> names_, types_, attributes_;
  Numbering<mlir::Value> values_;
  Numbering<mlir::Block*> blocks_;
};

}  // namespace

// SHA-256 over the encoding's name, the module and the manifest without its field `digest`.
std::string digestOf(mlir::ModuleOp module, const nlohmann::ordered_json& manifest) {
  Stream stream;
  stream.text(kEncoding);
  ModuleWriter(module.getContext(), stream).op(*module);
  stream.number(manifest.size() - manifest.count("digest"));
  for (const auto& [field, value] : manifest.items()) {
    if (field == "digest") continue;
    stream.text(field);
    stream.text(io::JsonText(value));
  }
  return "sha256:" + stream.hex();
}

}  // namespace dtranspile

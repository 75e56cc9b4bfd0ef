// One walk over the bytes, message by message: every field is looked up in the schema by its
// number, checked against the form that the schema has for it, and handed to whoever reads the
// message. Nothing is copied but unknown fields and the arrays of views. What the IR will take for
// what was found is charged to a budget before anything is made of it (take), lists are counted
// before they are reserved (countFields), so that a file cannot ask for more than its own size
// allows; messages nest as deep as the schema and no deeper, so that recursion has a bound that the
// file cannot raise.
#include "compiler/import/wire.h"

#include <utility>

#include "compiler/import/wire_schema.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"

namespace dtranspile {
namespace {

using namespace wire;

// Numbers of the fields of a block that become IR.
constexpr uint32_t kVarsField = 3, kOpsField = 4;

// Codes of attribute types whose values the reader looks at.
constexpr int kBlock = 8, kBlocks = 10, kVar = 13, kVars = 14;

// What the IR takes for each (docs/import.md has the measured figures); rounded up, and with the
// views of this reader.
constexpr int64_t kOpMemory = 640, kVarMemory = 576, kSlotMemory = 64, kArgumentMemory = 96,
                  kAttrMemory = 96, kNumberMemory = 16;

// Works on views of the file's bytes. A failure is remembered once, with its offset, and makes all
// callers return false.
class Reader {
 public:
  Reader(llvm::StringRef bytes, const Budget& budget, WireProgram& program)
      : bytes_(bytes),
        budget_(budget),
        program_(program),
        memory_(budget.freeMemory + budget.memoryPerByte * static_cast<int64_t>(bytes.size())) {
    intern(pd::kEmptyArgument);
  }

  // Fields of framework.proto's ProgramDesc: blocks = 1, version = 4, op_version_map = 5. Versions
  // are checked and kept as bytes.
  void readProgram() {
    llvm::SmallString<0> unknown, version, versions;
    bool hasVersion = false, hasVersions = false;
    fields(Message::Program, bytes_.size(), unknown,
           [&](const Field& field, llvm::StringRef body, uint64_t) {
             if (field.number == 1) return readBlock(body);
             (field.number == 4 ? hasVersion : hasVersions) = true;
             (field.number == 4 ? version : versions) += body;
             unknownFields_ = 0;
             const bool ok = check(field.message, body);
             program_.lostFields += unknownFields_;
             return ok;
           });
    if (hasVersion) program_.version = keep(version);
    if (hasVersions) program_.opVersions = keep(versions);
    program_.unknown = keep(unknown);
  }

  std::string error;

 private:
  // Walks the fields of the message that ends at `end`; `known(field, body, number)` gets each
  // field of the schema: the bytes of a Bytes, Name or Message field, the value of a Varint.
  // Fields may come in any order, repeated and unknown ones among them; a repeated single field
  // counts by its last value, as protobuf has it. Required fields are looked for at the end. The
  // walk is the only place that moves through the bytes; `known` may read a submessage, from where
  // the walk takes up again.
  template <typename Known>
  bool fields(Message message, size_t end, llvm::SmallVectorImpl<char>& unknown, Known known) {
    const int in = static_cast<int>(message);
    uint32_t seen = 0;
    while (at_ < end) {
      size_t start = at_;
      uint64_t tag = 0;
      if (!varint(tag, end)) return false;
      if (++fieldCount_ > budget_.maxFields)
        return fail("more than " + std::to_string(budget_.maxFields) + " fields");
      uint64_t number = tag >> 3;
      int wire = static_cast<int>(tag & 7);
      if (number == 0 || number >= (1u << 29))
        return fail("field number " + std::to_string(number) + " is not legal");
      const Field* field = number < kMaxNumber ? kSchema.fields[in][number] : nullptr;
      llvm::StringRef body;
      uint64_t value = 0;
      if (!payload(wire, end, body, value)) return false;
      if (!field) {
        unknown.append(bytes_.begin() + start, bytes_.begin() + at_);
        ++unknownFields_;
        continue;
      }
      seen |= 1u << number;
      if (wire != wireOf(field->form) && !packed(*field, wire, body))
        return fieldError(message, *field, wire);
      if (field->form == Form::Name && static_cast<int64_t>(body.size()) > budget_.maxNameBytes)
        return fail("a name of " + std::to_string(body.size()) + " bytes (at most " +
                    std::to_string(budget_.maxNameBytes) + ")");
      size_t resume = at_;
      if (field->form == Form::Message) at_ = body.data() - bytes_.data();
      if (!known(*field, body, value)) return false;
      at_ = resume;
    }
    uint32_t missing = kSchema.required[in] & ~seen;
    if (!missing) return true;
    return fail(std::string(kMessageNames[in]) + " lacks its required field '" +
                kSchema.fields[in][__builtin_ctz(missing)]->name + "'");
  }

  bool fieldError(Message message, const Field& field, int wire) {
    return error.empty() &&
           fail(std::string("field '") + field.name + "' of " +
                kMessageNames[static_cast<int>(message)] + " has wire type " +
                std::to_string(wire) + ", expected " + std::to_string(wireOf(field.form)));
  }

  // Takes from what the IR may have, before it is taken from the machine.
  bool take(int64_t count, int64_t each, const char* what) {
    memory_ -= count * each;
    return memory_ >= 0 ||
           fail("the " + std::to_string(count) + " " + what +
                " here, with all before them, would take more memory than a file of " +
                std::to_string(bytes_.size()) + " bytes is given (" +
                std::to_string(budget_.memoryPerByte) + " times that and " +
                std::to_string(budget_.freeMemory >> 20) + " MiB)");
  }

  // How often fields `a` and `b` occur in the message that ends at `end`.
  bool countFields(size_t end, uint32_t a, uint32_t b, int64_t& as, int64_t& bs) {
    const size_t resume = at_;
    while (at_ < end) {
      uint64_t tag = 0, value = 0;
      llvm::StringRef body;
      if (!varint(tag, end) || !payload(static_cast<int>(tag & 7), end, body, value)) return false;
      as += tag >> 3 == a;
      bs += tag >> 3 == b;
    }
    at_ = resume;
    return true;
  }

  // A list of numbers in one piece: writers may pack any list. False, with no error set, when the
  // field is no list.
  bool packed(const Field& field, int wire, llvm::StringRef body) {
    if (wire != kWireBytes || (field.form != Form::Varints && field.form != Form::Fixeds32 &&
                               field.form != Form::Fixeds64))
      return false;
    fieldCount_ += static_cast<int64_t>(body.size()) / (field.form == Form::Varints    ? 1
                                                        : field.form == Form::Fixeds32 ? 4
                                                                                       : 8);
    if (field.form == Form::Varints) return varints(body, [](uint64_t) {});
    return body.size() % (field.form == Form::Fixeds32 ? 4 : 8) == 0 ||
           fail("a packed list ends inside a number");
  }

  template <typename Each>
  bool varints(llvm::StringRef body, Each each) {
    size_t resume = at_, end = body.data() - bytes_.data() + body.size();
    at_ = body.data() - bytes_.data();
    while (at_ < end) {
      uint64_t value = 0;
      if (!varint(value, end)) return false;
      each(value);
    }
    at_ = resume;
    return true;
  }

  // What follows a tag: a number, or so many bytes, of which `body` is a view. Nothing reaches past
  // `end`, the end of the message around it.
  bool payload(int wire, size_t end, llvm::StringRef& body, uint64_t& value) {
    if (wire == kWireVarint) return varint(value, end);
    size_t length = wire == kWire64 ? 8 : 4;
    if (wire == kWireBytes) {
      if (!varint(value, end)) return false;
      if (value > end - at_)
        return fail("a field of " + std::to_string(value) +
                    " bytes reaches past the end of its message");
      length = value;
    } else if (wire != kWire64 && wire != kWire32) {
      return fail("wire type " + std::to_string(wire) + " does not occur in programs");
    }
    if (length > end - at_) return fail("the file ends inside a field");
    body = bytes_.substr(at_, length);
    at_ += length;
    return true;
  }

  // Seven bits a byte, least first, ten bytes at most, of which the last one has a single bit of
  // use.
  bool varint(uint64_t& value, size_t end) {
    if (at_ < end && static_cast<uint8_t>(bytes_[at_]) < 0x80) {  // nearly all of them
      value = static_cast<uint8_t>(bytes_[at_++]);
      return true;
    }
    value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ >= end) return fail("the file ends inside a number");
      uint8_t byte = static_cast<uint8_t>(bytes_[at_++]);
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return true;
    }
    return fail("a number of more than 64 bits");
  }

  // A message of which nobody keeps a view here.
  bool check(Message message, llvm::StringRef body) {
    llvm::SmallString<0> unknown;
    return fields(message, offset(body), unknown,
                  [&](const Field& field, llvm::StringRef inner, uint64_t) {
                    return field.form != Form::Message || check(field.message, inner);
                  });
  }

  // idx = 1, parent_idx = 2, vars = 3, ops = 4, forward_block_idx = 5. Counted before it is read,
  // so that lists are reserved once and budgets hold before memory is taken.
  bool readBlock(llvm::StringRef body) {
    if (static_cast<int64_t>(program_.blocks.size()) >= budget_.maxBlocks)
      return fail("more than " + std::to_string(budget_.maxBlocks) + " blocks");
    WireBlock block;
    llvm::SmallString<0> unknown;
    int64_t vars = 0, ops = 0;
    if (!countFields(offset(body), kVarsField, kOpsField, vars, ops)) return false;
    if (ops_ + ops > budget_.maxOps)
      return fail("more than " + std::to_string(budget_.maxOps) + " ops");
    if (static_cast<int64_t>(program_.variables) + vars > budget_.maxVars)
      return fail("more than " + std::to_string(budget_.maxVars) + " variables");
    if (!take(vars, kVarMemory, "variables") || !take(ops, kOpMemory, "ops")) return false;
    ops_ += ops;
    block.vars.reserve(static_cast<size_t>(vars));
    block.ops.reserve(static_cast<size_t>(ops));
    bool ok = fields(Message::Block, offset(body), unknown,
                     [&](const Field& field, llvm::StringRef inner, uint64_t value) {
                       switch (field.number) {
                         case 1: block.idx = static_cast<int32_t>(value); return true;
                         case 2: block.parent = static_cast<int32_t>(value); return true;
                         case 3: return readVar(inner, block.vars.emplace_back());
                         case 4: return readOp(inner, block.ops.emplace_back());
                         default: block.forward = static_cast<int32_t>(value); return true;
                       }
                     });
    block.unknown = keep(unknown);
    program_.blocks.push_back(std::move(block));
    return ok;
  }

  // Fields as in exportDecl of compiler/export/program.cc.
  bool readVar(llvm::StringRef body, WireVar& var) {
    var.number = static_cast<uint32_t>(program_.variables++);
    var.bytes = body;
    llvm::SmallString<0> unknown;
    bool ok = fields(Message::Var, offset(body), unknown,
                     [&](const Field& field, llvm::StringRef inner, uint64_t value) {
                       switch (field.number) {
                         case 1: var.name = intern(inner); return true;
                         case 2:
                           if (var.type.data()) return fail("VarDesc has its field 'type' twice");
                           var.type = inner;
                           return check(Message::VarType, inner);
                         case 3: var.persistable = value != 0; return true;
                         case 4: var.needCheckFeed = value != 0; return true;
                         case 5: var.isParameter = value != 0; return true;
                         case 6: var.stopGradient = value != 0; return true;
                         default: var.more = true; return check(field.message, inner);
                       }
                     });
    var.more |= !unknown.empty();
    return ok;
  }

  // Attributes of an op are looked up by their bytes later (lists of them repeat all through a
  // program), which takes that they lie together in the file: `attrBytes` is their span where they
  // do.
  bool readOp(llvm::StringRef body, WireOp& op) {
    llvm::SmallString<0> unknown;
    llvm::SmallVector<WireSlot, 8> inputs, outputs;
    llvm::SmallVector<WireAttr, 32> attrs;
    const char *first = nullptr, *last = nullptr;
    bool together = true;
    bool ok = fields(Message::Op, offset(body), unknown,
                     [&](const Field& field, llvm::StringRef inner, uint64_t value) {
                       switch (field.number) {
                         case 1: return readSlot(inner, inputs.emplace_back());
                         case 2: return readSlot(inner, outputs.emplace_back());
                         case 3: op.type = inner; return true;
                         case 4: {
                           // What follows the last attribute is one again. (Such a span reads in
                           // one way only: inside an attribute, field 4 is a float.)
                           if (!first) first = inner.data();
                           else together &= *last == 0x22;
                           last = inner.end();
                           return readAttr(inner, attrs.emplace_back());
                         }
                         default: op.isTarget = value != 0; return true;
                       }
                     });
    for (size_t slots : {inputs.size(), outputs.size()})
      if (ok && static_cast<int64_t>(slots) > budget_.maxSlots)
        return fail("an op with " + std::to_string(slots) + " slots (at most " +
                    std::to_string(budget_.maxSlots) + ")");
    if (ok && (!take(static_cast<int64_t>(inputs.size() + outputs.size()), kSlotMemory, "slots") ||
               !take(static_cast<int64_t>(attrs.size()), kAttrMemory, "attributes")))
      return false;
    op.inputs = llvm::ArrayRef(inputs).copy(program_.arena);
    op.outputs = llvm::ArrayRef(outputs).copy(program_.arena);
    op.attrs = llvm::ArrayRef(attrs).copy(program_.arena);
    if (together && first) op.attrBytes = llvm::StringRef(first, last - first);
    op.unknown = keep(unknown);
    return ok;
  }

  // OpDesc.Var: parameter = 1, arguments = 2.
  bool readSlot(llvm::StringRef body, WireSlot& slot) {
    llvm::SmallString<0> unknown;
    llvm::SmallVector<Name, 16> arguments;
    unknownFields_ = 0;
    bool ok = fields(Message::Slot, offset(body), unknown,
                     [&](const Field& field, llvm::StringRef inner, uint64_t) {
                       if (field.number == 1) slot.parameter = inner;
                       else arguments.push_back(intern(inner));
                       return true;
                     });
    program_.lostFields += std::exchange(unknownFields_, 0);
    slot.arguments = llvm::ArrayRef(arguments).copy(program_.arena);
    return ok && take(static_cast<int64_t>(arguments.size()), kArgumentMemory, "arguments");
  }

  // Only what says how blocks and variables hang together is read here; the value itself stays
  // bytes until an op is made of it.
  bool readAttr(llvm::StringRef body, WireAttr& attr) {
    attr.bytes = body;
    llvm::SmallString<0> unknown;
    llvm::SmallVector<Name, 4> name, names;
    llvm::SmallVector<int32_t, 4> block, blocks;
    unknownFields_ = 0;
    const int64_t before = fieldCount_;
    bool ok = fields(Message::Attr, offset(body), unknown,
                     [&](const Field& field, llvm::StringRef inner, uint64_t value) {
                       switch (field.number) {
                         case 1: attr.name = inner; return true;
                         case 2: attr.type = static_cast<int32_t>(value); return true;
                         case 12: block.assign(1, static_cast<int32_t>(value)); return true;
                         case 14:
                           if (!inner.data())
                             return blocks.push_back(static_cast<int32_t>(value)), true;
                           return varints(inner, [&](uint64_t index) {
                             blocks.push_back(static_cast<int32_t>(index));
                           });
                         case 17: name.assign(1, intern(inner)); return true;
                         case 18: names.push_back(intern(inner)); return true;
                         default: return field.form != Form::Message || check(field.message, inner);
                       }
                     });
    if (attr.type == kVar || attr.type == kVars)
      attr.references = llvm::ArrayRef(attr.type == kVar ? name : names).copy(program_.arena);
    if (attr.type == kBlock || attr.type == kBlocks)
      attr.blocks = llvm::ArrayRef(attr.type == kBlock ? block : blocks).copy(program_.arena);
    program_.lostFields += std::exchange(unknownFields_, 0);
    return ok && take(fieldCount_ - before, kNumberMemory, "values of an attribute");
  }

  // Names as small numbers: a program has many more uses of names than names.
  Name intern(llvm::StringRef name) {
    auto [found, fresh] = index_.try_emplace(llvm::CachedHashStringRef(name),
                                             static_cast<Name>(program_.names.size()));
    if (fresh) program_.names.push_back(name);
    return found->second;
  }

  size_t offset(llvm::StringRef body) const { return body.data() - bytes_.data() + body.size(); }

  llvm::StringRef keep(llvm::StringRef text) {
    return text.empty() ? llvm::StringRef() : text.copy(program_.arena);
  }

  bool fail(const std::string& what) {
    if (error.empty()) error = "byte " + std::to_string(at_) + ": " + what;
    return false;
  }

  llvm::StringRef bytes_;
  const Budget& budget_;
  WireProgram& program_;
  llvm::DenseMap<llvm::CachedHashStringRef, Name> index_;
  size_t at_ = 0;
  int64_t fieldCount_ = 0, ops_ = 0;
  int64_t memory_;            // what the IR may still take
  size_t unknownFields_ = 0;  // of the schema's messages, since it was set back
};

}  // namespace

std::string readWire(llvm::StringRef bytes, const Budget& budget, WireProgram& program) {
  if (static_cast<int64_t>(bytes.size()) > budget.maxBytes)
    return "the file has " + std::to_string(bytes.size()) + " bytes, at most " +
           std::to_string(budget.maxBytes) + " are read";
  Reader reader(bytes, budget, program);
  reader.readProgram();
  return reader.error;
}

}  // namespace dtranspile

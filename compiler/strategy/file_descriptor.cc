#include "compiler/strategy/file_descriptor.h"

#include <cassert>
#include <map>

#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile {
namespace {

namespace pb = google::protobuf;
using FieldProto = pb::FieldDescriptorProto;

constexpr const char* kPackage = "paddle.fleet";
constexpr int kFirstOld = 10000;  // numbers that the message does not have

void setType(FieldProto& field, llvm::StringRef type) {
  static const std::map<std::string, FieldProto::Type> kScalars = {
      {"bool", FieldProto::TYPE_BOOL},     {"int32", FieldProto::TYPE_INT32},
      {"uint32", FieldProto::TYPE_UINT32}, {"uint64", FieldProto::TYPE_UINT64},
      {"float", FieldProto::TYPE_FLOAT},   {"double", FieldProto::TYPE_DOUBLE},
      {"string", FieldProto::TYPE_STRING},
  };
  if (auto found = kScalars.find(type.str()); found != kScalars.end())
    return field.set_type(found->second);
  const bool isEnum =
      llvm::any_of(enumRows(), [&](const EnumRow& row) { return row.name == type; });
  field.set_type(isEnum ? FieldProto::TYPE_ENUM : FieldProto::TYPE_MESSAGE);
  field.set_type_name("." + std::string(kPackage) + "." + type.str());
}

// Builds the protobuf descriptor from the rows of the table instead of a .proto file, so that
// fields, defaults, older spellings and documentation have one source.
class Schema {
 public:
  Schema() : factory_(&pool_) {
    pb::FileDescriptorProto file;
    file.set_name("strategy.proto");
    file.set_package(kPackage);
    for (const EnumRow& row : enumRows()) {
      pb::EnumDescriptorProto* type = file.add_enum_type();
      type->set_name(row.name.str());
      for (auto [i, name] : llvm::enumerate(row.values)) {
        pb::EnumValueDescriptorProto* value = type->add_value();
        value->set_name(name.str());
        value->set_number(row.first + static_cast<int>(i));
      }
    }
    addMessages(file);
    const pb::FileDescriptor* built = pool_.BuildFile(file);
    assert(built && "file.td describes no message");
    strategy_ = built->FindMessageTypeByName(kStrategyMessage.str());
    for (const EntryRow& row : entryRows())
      rows_[built->FindMessageTypeByName(row.message.str())->FindFieldByName(row.name.str())] =
          &row;
  }

  std::shared_ptr<pb::Message> make() {
    return std::shared_ptr<pb::Message>(factory_.GetPrototype(strategy_)->New());
  }
  const EntryRow* rowOf(const pb::FieldDescriptor* field) const {
    auto found = rows_.find(field);
    return found == rows_.end() ? nullptr : found->second;
  }

 private:
  static void addMessages(pb::FileDescriptorProto& file) {
    std::map<std::string, pb::DescriptorProto*> messages;
    auto add = [&](llvm::StringRef message, llvm::StringRef name, llvm::StringRef type) {
      pb::DescriptorProto*& found = messages[message.str()];
      if (!found) (found = file.add_message_type())->set_name(message.str());
      FieldProto* field = found->add_field();
      field->set_name(name.str());
      field->set_label(FieldProto::LABEL_OPTIONAL);
      setType(*field, type);
      return field;
    };
    for (const EntryRow& row : entryRows()) {
      FieldProto* field = add(row.message, row.name, row.type);
      field->set_number(row.number);
      if (row.repeated) field->set_label(FieldProto::LABEL_REPEATED);
      if (!row.initial.empty()) field->set_default_value(row.initial.str());
    }
    int number = kFirstOld;
    for (const OldRow& row : oldRows()) add(row.message, row.name, row.type)->set_number(number++);
  }

  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_;
  const pb::Descriptor* strategy_ = nullptr;
  std::map<const pb::FieldDescriptor*, const EntryRow*> rows_;
};

// Lives as long as messages of it may.
Schema& schema() {
  static auto* const only = new Schema();
  return *only;
}

}  // namespace

std::shared_ptr<pb::Message> newStrategyMessage() { return schema().make(); }

const EntryRow* rowOf(const pb::FieldDescriptor* field) { return schema().rowOf(field); }

}  // namespace dtranspile

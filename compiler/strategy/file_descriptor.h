// The descriptor of strategy files, built from the rows of file.td. Used by file.cc only.
#pragma once

#include <memory>

#include "compiler/strategy/file_schema.h"
#include "google/protobuf/message.h"

namespace dtranspile {

// An empty DistributedStrategy, with fields for the older spellings too.
std::shared_ptr<google::protobuf::Message> newStrategyMessage();

// The row of a field of such a message; null for an older spelling.
const EntryRow* rowOf(const google::protobuf::FieldDescriptor* field);

}  // namespace dtranspile

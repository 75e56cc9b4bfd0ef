// A strategy file: the framework's message DistributedStrategy in protobuf text format, as
// `save_to_prototxt` writes it. The descriptor is built from file.td; request.h makes a request of
// what a file says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/strategy/file_schema.h"
#include "compiler/strategy/finding.h"

namespace google::protobuf {
class Message;
}

namespace dtranspile {

// An entry that a file sets: a value, a list of values, or a sub-message.
struct Said {
  const EntryRow* row;
  std::string path;                 // "lars_configs.lars_coeff", "downpour_table_param[1].type"
  std::vector<std::string> values;  // one, or those of a list; none of a sub-message
  Place place;

  // "0.01", "[\"a\", \"b\"]"
  std::string text() const;
};

class StrategyFile {
 public:
  // Nothing after errors. Older spellings become what they mean, each with a note. A list that is
  // set twice is one list; anything else that is set twice is an error.
  static std::optional<StrategyFile> read(llvm::StringRef text, Findings& findings);

  // By number, as the framework orders them; sub-messages before what is in them.
  const std::vector<Said>& said() const { return said_; }
  // Null where the file does not set it.
  const Said* find(llvm::StringRef path) const;

  // The normal form: what the framework writes for the same message.
  std::string write() const;

 private:
  std::shared_ptr<google::protobuf::Message> message_;
  std::vector<Said> said_;
};

}  // namespace dtranspile

#include "compiler/strategy/file_schema.h"

namespace dtranspile {

const std::vector<EntryRow>& entryRows() {
  static const std::vector<EntryRow> rows = {
#include "compiler/strategy/file_entries.cc.inc"
  };
  return rows;
}

const std::vector<OldRow>& oldRows() {
  static const std::vector<OldRow> rows = {
#include "compiler/strategy/file_olds.cc.inc"
  };
  return rows;
}

const std::vector<EnumRow>& enumRows() {
  static const std::vector<EnumRow> rows = {
#include "compiler/strategy/file_enums.cc.inc"
  };
  return rows;
}

}  // namespace dtranspile

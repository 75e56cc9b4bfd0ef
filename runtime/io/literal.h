// A cursor over the text of a Python or JSON literal, for the two that data files hold: the header
// of .npy and the offset lists of .lod.json. No recursion, numbers checked.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::io {

class LiteralCursor {
 public:
  // `where` begins every message.
  LiteralCursor(std::string where, std::string text);

  // Skips blanks; true, and after it, when the next text is `token`.
  bool Take(const std::string& token);
  absl::Status Expect(const std::string& token);

  // A decimal integer of at most 63 bits, with sign; without zeros in front, which neither language
  // has.
  absl::StatusOr<int64_t> Integer();

  // Text between ' or ", without escapes.
  absl::StatusOr<std::string> Quoted();

  // Only blanks (and NUL bytes, with which some writers pad) are left.
  bool AtEnd();

  absl::Status Error(const std::string& message) const;

 private:
  void SkipBlanks();

  std::string where_;
  std::string text_;
  size_t at_ = 0;
};

}  // namespace dtranspile::io

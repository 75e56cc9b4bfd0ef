// Whole lines out of a non-blocking pipe. Used by the supervisor for logs and control channels.
#pragma once

#include <string>
#include <vector>

namespace dtranspile::launch {

class Lines {
 public:
  // Lines longer than `limit` are cut into pieces.
  explicit Lines(size_t limit) : limit_(limit) {}

  // Reads what is there and appends the lines that are complete. False at the end of the pipe (the
  // rest then counts as a line).
  bool Read(int fd, std::vector<std::string>& lines);

 private:
  const size_t limit_;
  std::string rest_;
};

}  // namespace dtranspile::launch

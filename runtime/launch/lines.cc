#include "runtime/launch/lines.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace dtranspile::launch {

// Reads until the pipe is empty; a line of more than `limit_` bytes is cut. Returns false at the
// end, when the rest without a newline counts as a line.
bool Lines::Read(int fd, std::vector<std::string>& lines) {
  constexpr size_t kPiece = 1 << 16;
  char piece[kPiece];
  for (;;) {
    const ssize_t count = read(fd, piece, kPiece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) {
      if (!rest_.empty()) lines.push_back(std::exchange(rest_, {}));
      return false;
    }
    for (const char c : std::string_view(piece, static_cast<size_t>(count))) {
      if (c != '\n') rest_ += c;
      if (c == '\n' || rest_.size() >= limit_) lines.push_back(std::exchange(rest_, {}));
    }
  }
}

}  // namespace dtranspile::launch

// Text out of files on its way to a terminal. Whoever prints a name that a file gave goes through
// here: control characters move cursors and change titles, marks of direction and line separators
// make one text look like another, and names may have megabytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dtranspile {

// What a line break of the text becomes: itself, or one that indents what follows, so that no name
// can forge a line of its own.
enum class LineBreaks { kKeep, kIndent };

// `text` with control characters (but tabs), marks of direction, line separators and bytes that are
// no UTF-8 written as \xNN, and without what goes beyond `most` bytes, which is counted.
std::string Printable(std::string_view text, LineBreaks breaks = LineBreaks::kIndent,
                      size_t most = std::string_view::npos);

// For one message.
inline constexpr size_t kLongestMessage = 4096;

}  // namespace dtranspile

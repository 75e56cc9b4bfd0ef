#include "runtime/base/printable.h"

#include <cstdint>
#include <cstdio>

namespace dtranspile {
namespace {

struct Range {
  uint32_t first, last;
};

// Characters that show nothing and change what is around them.
constexpr Range kHidden[] = {
    {0x00, 0x08},     {0x0b, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
};

// The length of the UTF-8 sequence that begins the text, and its character; 0 where there is none.
size_t Decode(std::string_view text, uint32_t& character) {
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                                       : 4;
  if (length == 0 || first > 0xf4 || length > text.size()) return 0;
  character = length == 1 ? first : first & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    character = character << 6 | (next & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  return character < kLeast[length] || character > 0x10ffff || surrogate ? 0 : length;
}

bool IsHidden(uint32_t character) {
  for (const Range& range : kHidden)
    if (character >= range.first && character <= range.last) return true;
  return false;
}

}  // namespace

std::string Printable(std::string_view text, LineBreaks breaks, size_t most) {
  std::string out;
  out.reserve(text.size() < most ? text.size() : most);
  size_t at = 0;
  while (at < text.size() && at < most) {
    uint32_t character = 0;
    const size_t length = Decode(text.substr(at), character);
    const size_t taken = length == 0 ? 1 : length;
    if (length == 0 || IsHidden(character)) {
      for (size_t i = 0; i < taken; ++i) {
        char escaped[5];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<uint8_t>(text[at + i]));
        out += escaped;
      }
    } else {
      out.append(text.substr(at, taken));
      if (character == '\n' && breaks == LineBreaks::kIndent) out += "    ";
    }
    at += taken;
  }
  if (at < text.size()) out += " … (" + std::to_string(text.size() - at) + " bytes more)";
  return out;
}

}  // namespace dtranspile

#include "tools/dtranspile/page/html.h"

#include <cassert>

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/base/printable.h"
#include "tools/dtranspile/page/limits.h"

namespace dtranspile::page {
namespace {

// Without what a reader of HTML could not show; line breaks become visible too.
std::string visible(llvm::StringRef text, size_t most) {
  std::string out;
  for (char c : Printable(std::string_view(text.data(), text.size()), LineBreaks::kKeep, most)) {
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else out += c;
  }
  return out;
}

void escape(llvm::StringRef text, std::string& out) {
  for (char c : visible(text, std::string::npos)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

void Html::start(const char* tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const Attribute& attribute : attributes) {
    out_ += ' ';
    out_ += attribute.name;
    out_ += "=\"";
    escape(attribute.value, out_);
    out_ += '"';
  }
}

Html& Html::open(const char* tag, Attributes attributes) {
  start(tag, attributes);
  out_ += '>';
  open_.push_back(tag);
  return *this;
}

Html& Html::close() {
  assert(!open_.empty());
  out_ += "</";
  out_ += open_.back();
  out_ += '>';
  open_.pop_back();
  return *this;
}

Html& Html::leaf(const char* tag, Attributes attributes) {
  start(tag, attributes);
  out_ += "/>";
  return *this;
}

Html& Html::text(llvm::StringRef text) {
  escape(text, out_);
  return *this;
}

Html& Html::element(const char* tag, Attributes attributes, llvm::StringRef content) {
  return open(tag, attributes).text(content).close();
}

Html& Html::name(llvm::StringRef name) {
  const std::string cut = shortened(name, kLongestName);
  const std::string whole = visible(name, kLongestTip);
  if (cut == whole) return element("code", cut);
  return element("code", {{"title", whole}}, cut);
}

Html& Html::own(llvm::StringRef text) {
  out_ += text;
  return *this;
}

std::string Html::take() {
  assert(open_.empty());
  return std::move(out_);
}

std::string shortened(llvm::StringRef text, size_t most) {
  // Enough of both ends: a character has at most four bytes.
  const size_t enough = 4 * most + 4;
  std::string whole;
  if (text.size() <= 2 * enough) whole = visible(text, std::string::npos);
  else
    whole = visible(text.take_front(enough), std::string::npos) + "…" +
            visible(text.take_back(enough), std::string::npos);
  size_t characters = 0;
  for (char c : whole) characters += !continues(c);
  if (characters <= most) return whole;
  const size_t tail = most / 3, head = most - tail - 1;
  std::string front, back;
  size_t number = 0;
  for (char c : whole) {
    number += !continues(c);
    if (number <= head) front += c;
    if (number > characters - tail) back += c;
  }
  return front + "…" + back;
}

std::string bytesText(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  int unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1023.95 && unit < 6; ++unit) value /= 1024;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f ", value < 9.995 ? 2 : 1, value)
                                 << kUnits[unit];
  return text;
}

std::string countText(int64_t count) {
  std::string digits = std::to_string(count), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

std::string countOf(int64_t count, const char* noun, const char* ending) {
  return countText(count) + " " + noun + (count == 1 ? "" : ending);
}

}  // namespace dtranspile::page

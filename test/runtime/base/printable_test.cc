// What of a file's text reaches a terminal.
#include "runtime/base/printable.h"

#include <catch2/catch.hpp>

namespace dtranspile {

using namespace std::string_literals;

TEST_CASE("text that people read stays as it is") {
  for (const std::string& text : {""s, "fc_0.w_0"s, "a\tb"s, "größe"s, "日本語"s, "😀"s, "\"'\\"s})
    CHECK(Printable(text) == text);
}

TEST_CASE("characters that act on a terminal are written out") {
  CHECK(Printable("\x1b[2J") == "\\x1b[2J");
  CHECK(Printable("a\0b"s) == "a\\x00b");
  CHECK(Printable("a\rb\bc\x7f") == "a\\x0db\\x08c\\x7f");
  CHECK(Printable("\xc2\x9b"s) == "\\xc2\\x9b");              // CSI in one character
  CHECK(Printable("x\xe2\x80\xaey") == "x\\xe2\\x80\\xaey");  // right to left from here on
  CHECK(Printable("x\xe2\x80\xa8y") == "x\\xe2\\x80\\xa8y");  // a line separator
  for (int c = 0; c < 0x20; ++c) {
    if (c == '\t' || c == '\n') continue;
    CHECK(Printable(std::string(1, static_cast<char>(c))).size() == 4);
  }
}

TEST_CASE("what is no UTF-8 is written out byte by byte") {
  CHECK(Printable("\xff") == "\\xff");
  CHECK(Printable("\xc3") == "\\xc3");           // cut
  CHECK(Printable("\xc3(") == "\\xc3(");         // no second byte
  CHECK(Printable("\xc0\x80") == "\\xc0\\x80");  // longer than it needs to be
  CHECK(Printable("\xe0\x80\x80") == "\\xe0\\x80\\x80");
  CHECK(Printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half a pair
  CHECK(Printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("a name forges no line of its own") {
  CHECK(Printable("a\nerror: b") == "a\n    error: b");
  CHECK(Printable("a\nb", LineBreaks::kKeep) == "a\nb");
}

TEST_CASE("what is too long ends, and says how much is not there") {
  CHECK(Printable("abcdef", LineBreaks::kIndent, 6) == "abcdef");
  CHECK(Printable("abcdefg", LineBreaks::kIndent, 6) == "abcdef … (1 bytes more)");
  CHECK(Printable(std::string(1 << 20, 'x'), LineBreaks::kIndent, kLongestMessage).size() <
        kLongestMessage + 40);
}

}  // namespace dtranspile

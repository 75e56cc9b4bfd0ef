// What no reader of JSON takes, and text for any value.
#include "runtime/io/json.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using Json = nlohmann::ordered_json;
using test::Spill;
using test::TempFolder;

std::string DefectOf(const std::string& text, const JsonLimits& limits = {}) {
  return JsonDefect(text.data(), text.data() + text.size(), limits);
}

TEST_CASE("documents that are refused") {
  CHECK(DefectOf(R"({"a": [1, {"a": 2}], "b": {"a": 3}})") == "");
  CHECK(DefectOf(R"([{"a": 1}, {"a": 1}])") == "");
  CHECK(DefectOf(R"({"a": 1, "a": 1})") == "has the key 'a' twice in one object");
  CHECK(DefectOf(R"({"a": {"b": 0}, "b": [{"c": 1, "d": {"c": 1}, "c": 2}]})") ==
        "has the key 'c' twice in one object");
  CHECK(DefectOf(R"({"a": 1, "\u0061": 1})") == "has the key 'a' twice in one object");
  for (const char* bad : {"", "{", "{} {}", "{'a': 1}", "[1,]", "nan", "\"\xff\"", "[01]"}) {
    CAPTURE(bad);
    CHECK(DefectOf(bad).find("is no legal JSON at byte ") == 0);
  }
  const JsonLimits limits{20, 3, 4};
  CHECK(DefectOf("[[[1]]]", limits) == "");
  CHECK(DefectOf("[[[[1]]]]", limits) == "nests JSON more than 3 deep");
  CHECK(DefectOf("[1, 2, 3, 4]", limits) == "holds more than 4 JSON values");
  CHECK(DefectOf("[1,          2        ]", limits).find("at most 20 are read") !=
        std::string::npos);
  const std::string deep(1 << 20, '[');
  CHECK(DefectOf(deep) == "nests JSON more than 512 deep");
}

TEST_CASE("files that are refused, without waiting") {
  TempFolder folder;
  Spill(folder / "good", R"({"b": 1, "a": 2})");
  CHECK(JsonText(*ReadJson<Json>(folder / "good")) == R"({"b":1,"a":2})");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const std::string& path : {folder / "pipe", std::string("/dev/zero"), folder.path()})
    CHECK(ReadJson<Json>(path).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(absl::IsNotFound(ReadJson<Json>(folder / "none").status()));
  Spill(folder / "twice", R"({"a": 1, "a": 2})");
  CHECK(std::string(ReadJson<Json>(folder / "twice").status().message()) ==
        folder / "twice" + ": has the key 'a' twice in one object");
  CHECK_FALSE(ReadText(folder / "good", 3).ok());
}

TEST_CASE("every value has a text") {
  CHECK(JsonText(Json{{"a\xff", "\xc3("}}) == "{\"a\xef\xbf\xbd\":\"\xef\xbf\xbd(\"}");
  CHECK(JsonText(Json::array({1, 2}), 1) == "[\n 1,\n 2\n]");
}

}  // namespace
}  // namespace dtranspile::io

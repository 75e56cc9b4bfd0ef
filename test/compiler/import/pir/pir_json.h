// PIR programs made piece by piece, as the framework writes them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dtranspile::test {

using nlohmann::json;

inline json value(const std::string& kind, const json& data) { return {{"#", kind}, {"D", data}}; }
inline json attribute(const std::string& name, const json& value) {
  return {{"N", name}, {"AT", value}};
}
inline json ints(const std::vector<int>& values) {
  json list = json::array();
  for (int number : values) list.push_back(value("0.a_i64", number));
  return value("0.a_array", list);
}
inline json tensor(const std::vector<int>& dims, const std::string& element = "t_f32") {
  return value("0.t_dtensor", {value("0." + element, nullptr), dims, "NCHW", json::array(), 0});
}

class PirBuilder {
 public:
  // Ids count from 1 in the order of results, as in files.
  int parameter(const std::string& name, const std::vector<int>& dims) {
    ops_.push_back({{"#", "p"},
                    {"A", {0, 1, 1, name}},
                    {"DA", json::array()},
                    {"QA", json::array()},
                    {"OA", {1, 0, 1}},
                    {"O", {{"%", ++last_}, {"TT", tensor(dims)}}}});
    return last_;
  }
  int data(const std::string& name, const std::vector<int>& dims,
           const std::string& element = "t_f32") {
    op("1.data", {}, {tensor(dims, element)}, {attribute("name", value("0.a_str", name))});
    return last_;
  }
  int intArray(const std::vector<int>& values) {
    op("1.full_int_array", {}, {tensor({static_cast<int>(values.size())}, "t_i64")},
       {attribute("value", ints(values)), attribute("dtype", value("1.a_dtype", "int64"))});
    return last_;
  }
  int full(double number, const std::vector<int>& dims = {1},
           const std::string& dtype = "float32") {
    op("1.full", {}, {tensor(dims)},
       {attribute("shape", value("1.a_intarray", dims)),
        attribute("value", value("0.a_f64", number)),
        attribute("dtype", value("1.a_dtype", dtype))});
    return last_;
  }
  // The id of the last result.
  int op(const std::string& name, const std::vector<int>& operands, const std::vector<json>& types,
         const std::vector<json>& attributes = {}) {
    json made = {{"#", name}, {"I", json::array()}, {"O", json::array()}, {"A", attributes}};
    for (int id : operands) made["I"].push_back({{"%", id}});
    for (const json& type : types) made["O"].push_back({{"%", ++last_}, {"TT", type}});
    ops_.push_back(made);
    return last_;
  }
  json& last() { return ops_.back(); }
  json document() const {
    json block = {{"#", "block_0"}, {"args", json::array()}, {"ops", ops_}};
    json region = {{"#", "region_0"}, {"blocks", json::array({block})}};
    return {{"base_code", {{"magic", "pir"}, {"trainable", true}, {"version", 4}}},
            {"program", {{"regions", json::array({region})}}}};
  }
  std::string text() const { return document().dump(); }

 private:
  json ops_ = json::array();
  int last_ = 0;
};

}  // namespace dtranspile::test

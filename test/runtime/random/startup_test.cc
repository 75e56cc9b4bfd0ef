// The start-up programs of the corpora, op by op: every persistable of init/ to the last bit.
// fluid18 is 1.8.5, static26 is 2.6.2; of pir33 (3.3.1) the random parameters.
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/program_desc/framework.pb.h"
#include "runtime/io/tensor_record.h"
#include "runtime/kernels/cpu/random/distributions.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "test/corpus_path.h"

namespace dtranspile::random {
namespace {

namespace fs = std::filesystem;
using framework::OpDesc;

struct Op {
  explicit Op(const OpDesc& desc) : type(desc.type()), output(desc) {
    for (const OpDesc::Attr& attr : desc.attrs()) attrs[attr.name()] = &attr;
  }

  const OpDesc::Attr& attr(const std::string& name) const { return *attrs.at(name); }
  const std::string& out(const std::string& slot = "Out") const {
    for (const OpDesc::Var& var : output.outputs())
      if (var.parameter() == slot) return var.arguments(0);
    throw std::out_of_range(type + " has no " + slot);
  }
  std::vector<int64_t> shape() const {
    const OpDesc::Attr& shape = attr("shape");
    if (shape.longs_size() > 0) return {shape.longs().begin(), shape.longs().end()};
    return {shape.ints().begin(), shape.ints().end()};
  }

  std::string type;
  const OpDesc& output;
  std::map<std::string, const OpDesc::Attr*> attrs;
};

using Values = std::map<std::string, Tensor>;

Tensor Constant(const Op& op) {
  const std::string text = op.attrs.count("str_value") ? op.attr("str_value").s() : "";
  const double value = text.empty() ? static_cast<double>(op.attr("value").f()) : std::stod(text);
  Tensor tensor = *Tensor::Zeros(*DTypeFromCode(op.attr("dtype").i()), op.shape());
  for (int64_t i = 0; i < *ElementCount(tensor.dims); ++i) {
    if (tensor.dtype == DType::kFloat32) tensor.as<float>()[i] = static_cast<float>(value);
    if (tensor.dtype == DType::kInt64) tensor.as<int64_t>()[i] = static_cast<int64_t>(value);
  }
  return tensor;
}

Tensor Assigned(const Op& op) {
  Tensor tensor = *Tensor::Zeros(DType::kFloat32, op.shape());
  const auto& values = op.attr("fp32_values").floats();
  REQUIRE(values.size() == *ElementCount(tensor.dims));
  std::copy(values.begin(), values.end(), tensor.as<float>());
  return tensor;
}

Tensor Random(const Op& op, Release release) {
  REQUIRE(op.attr("dtype").i() == static_cast<int>(DType::kFloat32));
  Tensor tensor = *Tensor::Zeros(DType::kFloat32, op.shape());
  const int64_t count = *ElementCount(tensor.dims);
  Engine engine(release, static_cast<uint32_t>(op.attr("seed").i()));
  if (op.type == "uniform_random") {
    FillUniform(engine, tensor.as<float>(), count, op.attr("min").f(), op.attr("max").f());
  } else if (op.type == "gaussian_random") {
    FillGaussian(engine, tensor.as<float>(), count, op.attr("mean").f(), op.attr("std").f());
  } else {
    FillTruncatedGaussian(engine, tensor.as<float>(), count, op.attr("mean").f(),
                          op.attr("std").f());
  }
  return tensor;
}

// The flat buffer holds its parts one after the other.
Tensor Coalesced(const Op& op, const Values& values) {
  std::vector<float> flat;
  for (const OpDesc::Var& var : op.output.outputs()) {
    if (var.parameter() != "Output") continue;
    for (const std::string& name : var.arguments()) {
      const Tensor& part = values.at(name);
      flat.insert(flat.end(), part.as<float>(), part.as<float>() + part.bytes.size() / 4);
    }
  }
  Tensor tensor = *Tensor::Zeros(DType::kFloat32, {static_cast<int64_t>(flat.size())});
  std::copy(flat.begin(), flat.end(), tensor.as<float>());
  return tensor;
}

Values RunStartup(const std::string& path, Release release) {
  framework::ProgramDesc program;
  std::ifstream in(path, std::ios::binary);
  REQUIRE(program.ParseFromIstream(&in));
  Values values;
  for (const OpDesc& desc : program.blocks(0).ops()) {
    const Op op(desc);
    if (op.type == "fill_constant") {
      values.insert_or_assign(op.out(), Constant(op));
    } else if (op.type == "assign_value") {
      values.insert_or_assign(op.out(), Assigned(op));
    } else if (op.type == "coalesce_tensor") {
      values.insert_or_assign(op.out("FusedOutput"), Coalesced(op, values));
    } else if (op.type.find("_random") != std::string::npos) {
      values.insert_or_assign(op.out(), Random(op, release));
    } else {
      FAIL("start-up op " << op.type);
    }
  }
  return values;
}

void CheckSame(const Tensor& ours, const Tensor& theirs) {
  CHECK(ours.dtype == theirs.dtype);
  REQUIRE(ours.bytes.size() == theirs.bytes.size());
  CHECK(std::memcmp(ours.bytes.data(), theirs.bytes.data(),
                    static_cast<size_t>(ours.bytes.size())) == 0);
}

// Compares all of init/ and returns how many files that were.
int CompareCorpus(const std::string& corpus, Release release) {
  int files = 0;
  for (const std::string& name : test::CorpusCases(corpus)) {
    const std::string folder = test::CorpusPath(corpus + "/" + name);
    const Values values = RunStartup(folder + "/startup.pdmodel", release);
    for (const auto& entry : fs::recursive_directory_iterator(folder + "/init")) {
      if (!entry.is_regular_file()) continue;
      const std::string variable = fs::relative(entry.path(), folder + "/init").string();
      CAPTURE(name, variable);
      REQUIRE(values.count(variable) == 1);
      CheckSame(values.at(variable), *io::ReadTensorFile(entry.path()));
      ++files;
    }
  }
  return files;
}

TEST_CASE("1.8.5: every start-up program gives init to the last bit") {
  CHECK(CompareCorpus("fluid18", Release::kFluid1) == 1511);
}

TEST_CASE("2.6.2: every start-up program gives init to the last bit") {
  CHECK(CompareCorpus("static26", Release::kPaddle2) == 1720);
}

// The number that the op with that result id holds, for `full`.
double FullValue(const nlohmann::json& ops, int64_t id) {
  for (const auto& op : ops) {
    if (op["#"] != "1.full" || op["O"][0]["%"] != id) continue;
    for (const auto& attr : op["A"])
      if (attr["N"] == "value") return attr["AT"]["D"].get<double>();
  }
  throw std::out_of_range("no full op with result " + std::to_string(id));
}

double Attr(const nlohmann::json& op, const std::string& name) {
  for (const auto& attr : op["A"])
    if (attr["N"] == name) return attr["AT"]["D"].get<double>();
  throw std::out_of_range(name);
}

TEST_CASE("3.3.1: the random parameters of every start-up program") {
  int parameters = 0;
  for (const std::string& name : test::CorpusCases("pir33")) {
    const std::string folder = test::CorpusPath("pir33/" + name);
    std::ifstream in(folder + "/startup.json");
    const nlohmann::json ops =
        nlohmann::json::parse(in)["program"]["regions"][0]["blocks"][0]["ops"];
    std::map<int64_t, const nlohmann::json*> random;
    for (const auto& op : ops) {
      if (op["#"] == "1.uniform" || op["#"] == "1.gaussian") random[op["O"][0]["%"]] = &op;
      if (op["#"] != "0.set_parameter" || random.count(op["I"][0]["%"]) == 0) continue;
      const nlohmann::json& source = *random.at(op["I"][0]["%"]);
      const std::string variable = op["A"][0]["AT"]["D"];
      CAPTURE(name, variable);
      const Tensor expected = *io::ReadTensorFile(folder + "/init/" + variable);
      Tensor ours = *Tensor::Zeros(expected.dtype, expected.dims);
      const int64_t count = *ElementCount(ours.dims);
      Engine engine(Release::kPaddle2, static_cast<uint64_t>(Attr(source, "seed")));
      if (source["#"] == "1.uniform") {
        FillUniform(engine, ours.as<float>(), count,
                    static_cast<float>(FullValue(ops, source["I"][1]["%"])),
                    static_cast<float>(FullValue(ops, source["I"][2]["%"])));
      } else {
        FillGaussian(engine, ours.as<float>(), count, Attr(source, "mean"), Attr(source, "std"));
      }
      CheckSame(ours, expected);
      ++parameters;
    }
  }
  CHECK(parameters == 37);
}

TEST_CASE("1.8.5: one-operator programs with a seed of their own") {
  const std::pair<const char*, const char*> cases[] = {
      {"fluid.layers.uniform_random", "uniform_random_0.tmp_0"},
      {"op.truncated_gaussian_random", "truncated_gaussian_random_0.tmp_0"}};
  for (const auto& [name, variable] : cases) {
    CAPTURE(name);
    const std::string folder = test::CorpusPath(std::string("ops/fluid18/") + name);
    framework::ProgramDesc program;
    std::ifstream in(folder + "/main.pdmodel", std::ios::binary);
    REQUIRE(program.ParseFromIstream(&in));
    const Tensor ours = Random(Op(program.blocks(0).ops(0)), Release::kFluid1);
    std::ifstream golden(folder + "/golden/" + variable + ".npy", std::ios::binary);
    golden.seekg(-ours.bytes.size(), std::ios::end);
    std::vector<char> bytes(static_cast<size_t>(ours.bytes.size()));
    REQUIRE(golden.read(bytes.data(), ours.bytes.size()));
    CHECK(std::memcmp(bytes.data(), ours.bytes.data(), bytes.size()) == 0);
  }
}

}  // namespace
}  // namespace dtranspile::random

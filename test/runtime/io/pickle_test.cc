// Pickled states: files that NumPy and the framework wrote (pickles/make.py), the corpora's, our
// own, and hostile ones.
#include "runtime/io/pickle.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "runtime/io/tensor_record.h"
#include "test/corpus_path.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using Catch::Contains;
using test::Slurp;
using test::TempFolder;

absl::StatusOr<PickleState> Parse(const std::string& bytes) {
  return ReadPickleState(*OpenMemory("memory", bytes.data(), bytes.size()));
}

absl::Status StatusOf(const std::string& bytes) { return Parse(bytes).status(); }

std::string Message(const std::string& bytes) { return std::string(StatusOf(bytes).message()); }

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  return {tensor.as<T>(), tensor.as<T>() + *ElementCount(tensor.dims)};
}

std::string Sample(const std::string& name) { return "test/runtime/io/pickles/" + name; }

// The tests run in the runfiles folder under `bazel test`, and in the root of the repository by
// hand.
std::string SamplePath(const std::string& name) {
  if (const char* runfiles = std::getenv("TEST_SRCDIR"))
    return std::string(runfiles) + "/dtranspile/" + Sample(name);
  return Sample(name);
}

TEST_CASE("what NumPy 1 and 2 pickle, protocols 2 to 5") {
  for (const std::string numpy : {"numpy1", "numpy2"}) {
    for (const std::string protocol : {"2", "3", "4", "5"}) {
      CAPTURE(numpy, protocol);
      const absl::StatusOr<PickleState> state =
          ReadPickleState(SamplePath(numpy + "-p" + protocol + ".pkl"));
      REQUIRE(state.ok());
      const auto& tensors = state->tensors;
      REQUIRE(tensors.size() == 9);
      CHECK(state->others == std::vector<std::string>{"LR_Scheduler"});
      CHECK(tensors.at("w").dims == std::vector<int64_t>{2, 3});
      CHECK(Values<float>(tensors.at("w")) == std::vector<float>{0, 0.5, 1, 1.5, 2, 2.5});
      CHECK(Values<int64_t>(tensors.at("counter")) ==
            std::vector<int64_t>{-1, 0, int64_t{1} << 40});
      CHECK(Values<double>(tensors.at("fortran")) == std::vector<double>{1, 2, 3, 4});
      CHECK(tensors.at("none").dims == std::vector<int64_t>{0, 4});
      CHECK(tensors.at("scalar").dims.empty());
      CHECK(Values<float>(tensors.at("scalar")) == std::vector<float>{2.5});
      CHECK(Values<double>(tensors.at("rank0")) == std::vector<double>{3.5});
      CHECK(tensors.at("half").dtype == DType::kFloat16);
      CHECK(Values<uint16_t>(tensors.at("half")) == std::vector<uint16_t>{0x3c00, 0xc000});
      CHECK(Values<uint8_t>(tensors.at("flags")) == std::vector<uint8_t>{1, 0});
      for (int i = 0; i < 256; ++i) REQUIRE(tensors.at("bytes").as<uint8_t>()[i] == i);
    }
  }
}

TEST_CASE("what the framework writes") {
  const std::pair<const char*, std::vector<std::string>> files[] = {
      {"paddle26-static-p2.pdparams", {"b", "w"}},
      {"paddle26-static-p4.pdparams", {"b", "w"}},
      {"paddle26-static-p2.pdopt", {"b_velocity_0", "learning_rate_0", "w_velocity_0"}},
      {"paddle26-static-p4.pdopt", {"b_velocity_0", "learning_rate_0", "w_velocity_0"}},
      {"paddle26-dygraph-p2.pdparams", {"linear_0.b_0", "linear_0.w_0"}},
      {"paddle26-dygraph-p4.pdparams", {"linear_0.b_0", "linear_0.w_0"}},
      {"paddle26-nested.pdparams", {"weight"}},
      {"paddle26-eval.pdparams", {"weight"}},
  };
  for (const auto& [file, names] : files) {
    CAPTURE(file);
    const absl::StatusOr<PickleState> state = ReadPickleState(SamplePath(file));
    REQUIRE(state.ok());
    std::vector<std::string> found;
    for (const auto& [name, tensor] : state->tensors) {
      found.push_back(name);
      CHECK(tensor.dtype == DType::kFloat32);
    }
    CHECK(found == names);
  }
  // One layer, by four ways of saving.
  const PickleState old = *ReadPickleState(SamplePath("paddle26-dygraph-p2.pdparams"));
  const PickleState now = *ReadPickleState(SamplePath("paddle26-dygraph-p4.pdparams"));
  const PickleState nested = *ReadPickleState(SamplePath("paddle26-nested.pdparams"));
  const std::vector<float> values = Values<float>(now.tensors.at("linear_0.w_0"));
  CHECK(values.size() == 6);
  CHECK(Values<float>(old.tensors.at("linear_0.w_0")) == values);
  CHECK(Values<float>(nested.tensors.at("weight")) == values);
  CHECK(nested.others == std::vector<std::string>{"pair"});
}

TEST_CASE("the saved states of the corpora hold init or after") {
  int files = 0;
  for (const std::string corpus : {"static26", "pir33"}) {
    for (const std::string& name : test::CorpusCases(corpus)) {
      const std::string folder = test::CorpusPath(corpus + "/" + name);
      for (const std::string suffix : {"pdparams", "pdopt"}) {
        const std::string path = folder + "/saved/model." + suffix;
        if (!std::filesystem::exists(path)) continue;
        CAPTURE(path);
        const absl::StatusOr<PickleState> state = ReadPickleState(path);
        REQUIRE(state.ok());
        CHECK(state->others.empty());
        CHECK_FALSE(state->tensors.empty());
        for (const auto& [variable, tensor] : state->tensors) {
          const absl::StatusOr<Tensor> declared = ReadTensorFile(folder + "/init/" + variable);
          REQUIRE(declared.ok());
          CHECK(declared->dims == tensor.dims);
          CHECK(declared->dtype == tensor.dtype);
        }
        ++files;
      }
    }
  }
  CHECK(files == 12);
}

std::map<std::string, Tensor> SomeTensors() {
  std::map<std::string, Tensor> tensors;
  const auto add = [&](const std::string& name, DType dtype, std::vector<int64_t> dims) {
    Tensor tensor = *Tensor::Zeros(dtype, std::move(dims));
    for (int64_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes.data()[i] = static_cast<std::byte>(i * 37 + 100);
    tensors.emplace(name, std::move(tensor));
  };
  add("fc_0.w_0", DType::kFloat32, {5, 7});
  add("lr", DType::kFloat32, {});
  add("counter", DType::kInt64, {1});
  add("nothing", DType::kFloat64, {0});
  add("half", DType::kFloat16, {3});
  add("brain", DType::kBFloat16, {2, 2});
  add("complex", DType::kComplex64, {2});
  return tensors;
}

TEST_CASE("our pickles are read back") {
  const TempFolder folder;
  const std::map<std::string, Tensor> tensors = SomeTensors();
  std::map<std::string, TensorView> views;
  for (const auto& [name, tensor] : tensors) views.emplace(name, tensor.view());
  REQUIRE(WritePickleState(folder / "x", views).ok());
  const absl::StatusOr<PickleState> back = ReadPickleState(folder / "x");
  REQUIRE(back.ok());
  REQUIRE(back->tensors.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name);
    const Tensor& read = back->tensors.at(name);
    CHECK(read.dtype == tensor.dtype);
    CHECK(read.dims == tensor.dims);
    REQUIRE(read.bytes.size() == tensor.bytes.size());
    if (read.bytes.size() > 0)
      CHECK(std::memcmp(read.bytes.data(), tensor.bytes.data(),
                        static_cast<size_t>(read.bytes.size())) == 0);
  }
}

std::string Number(int32_t value) {
  return "J" + std::string(reinterpret_cast<const char*>(&value), 4);
}

std::string LongText(const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  return "X" + std::string(reinterpret_cast<const char*>(&size), 4) + text;
}

// These bytes were loaded by NumPy 1.26 and 2.4 and by paddle.load of 2.6.2.
TEST_CASE("our pickles have the bytes that NumPy was tried with") {
  const TempFolder folder;
  Tensor tensor = *Tensor::Zeros(DType::kFloat32, {2});
  std::memcpy(tensor.bytes.data(), "ab\xe9\x80z123", 8);
  const std::string before =
      "}(" + LongText("w") + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n(" +
      Number(0) + "t" + LongText("b") + "\x87R(" + Number(1) + "(" + Number(2) +
      "tcnumpy\ndtype\n" + LongText("f4") + "\x89\x88\x87R(" + Number(3) + LongText("<") + "NNN" +
      Number(-1) + Number(-1) + Number(0) + "tb\x89";
  REQUIRE(WritePickleState(folder / "x", {{"w", tensor.view()}}).ok());
  CHECK(Slurp(folder / "x") ==
        "\x80\x04" + before + "\x8e" + std::string("\x08\0\0\0\0\0\0\0", 8) + "ab\xe9\x80z123tbu.");
}

// -- pickles by hand
// -------------------------------------------------------------------------------------------------------------

const std::string kProto = "\x80\x02";

std::string Text(const std::string& text) {
  return "\x8c" + std::string(1, static_cast<char>(text.size())) + text;
}

const std::string kDType = "cnumpy\ndtype\n" + Text("f4") + "\x89\x88\x87R(K\x03" + Text("<") +
                           "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" + std::string(1, '\0') + "tb";

// An array of float32 with that shape (opcodes) and that data.
std::string Array(const std::string& shape, const std::string& data,
                  const std::string& dtype = kDType) {
  return "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK" + std::string(1, '\0') +
         "\x85" + Text("b") + "\x87R(K\x01" + shape + dtype + "\x89" + "C" +
         std::string(1, static_cast<char>(data.size())) + data + "tb";
}

std::string State(const std::string& items) { return kProto + "}(" + items + "u."; }

const std::string kTwo = Array("K\x02\x85", "12345678");

TEST_CASE("a state by hand") {
  const absl::StatusOr<PickleState> state = Parse(State(Text("x") + kTwo));
  REQUIRE(state.ok());
  CHECK(state->tensors.at("x").dims == std::vector<int64_t>{2});
  CHECK(
      Parse(kProto + "ccollections\nOrderedDict\n)R(" + Text("x") + kTwo + "u.")->tensors.size() ==
      1);
  CHECK(Parse(kProto + "ccollections\nOrderedDict\n](](" + Text("x") + kTwo + "ee\x85R.")
            ->tensors.size() == 1);
  // Strings of Python 2.
  CHECK(Parse(State("U\x01x" + kTwo))->tensors.size() == 1);
  // Shared values, the last of equal keys.
  const PickleState shared =
      *Parse(State(Text("x") + kTwo + "q\x05" + Text("y") + "h\x05" + Text("x") + "N"));
  CHECK(shared.tensors.size() == 1);
  CHECK(shared.others == std::vector<std::string>{"x"});
}

TEST_CASE("everything but arrays and plain values is refused by name") {
  const std::pair<std::string, std::string> cases[] = {
      {kProto + "cos\nsystem\n" + Text("true") + "\x85R.", "os.system is not permitted"},
      {kProto + Text("posix") + Text("system") + "\x93" + Text("true") + "\x85R.",
       "posix.system is not permitted"},
      {kProto + "cbuiltins\neval\n" + Text("1+1") + "}\x86R.",
       "builtins.eval: is permitted as eval('data'"},
      {kProto + "cbuiltins\neval\n" + Text("data") + "}\x86R.", "builtins.eval: is permitted as"},
      {kProto + "cbuiltins\neval\n" + Text("data") + "}(" + Text("data") + "N" + Text("os") +
           "Nu\x86R.",
       "builtins.eval: is permitted as"},
      {kProto + "cbuiltins\nexec\n.", "builtins.exec is not permitted"},
      {kProto + "cbuiltins\ngetattr\n.", "builtins.getattr is not permitted"},
      {kProto + "cnumpy.core.multiarray\n_reconstruct\ncbuiltins\ntuple\nK\x01\x85" + Text("b") +
           "\x87R.",
       "_reconstruct: wants (ndarray"},
      {kProto + "cnumpy\nndarray\n)R.", "numpy.ndarray: is a class"},
      {kProto + "cnumpy\ndtype\n" + Text("O8") + "\x85R.",
       "numpy.dtype: an array of Python objects"},
      {kProto + "cnumpy\ndtype\n" + Text(">f4") + "\x85R.", "big-endian"},
      {kProto + "c_codecs\nencode\n" + Text("x") + Text("utf-8") + "\x86R.",
       "_codecs.encode: is permitted as"},
      {kProto + "c_codecs\ndecode\n.", "_codecs.decode is not permitted"},
      {kProto + "cnumpy\n\x1b[2J\n.", "numpy.\\x1b[2J is not permitted"},
      {kProto + "NQ.", "BINPERSID: this opcode is not permitted"},
      {kProto + "\x82\x01.", "EXT1: this opcode"},
      {kProto + ")\x81.", "NEWOBJ: this opcode"},
      {kProto + "\x97.", "NEXT_BUFFER"},
      {kProto + "(ios\nsystem\n.", "INST: this opcode"},
      {kProto + "I1\n.", "INT (protocol 0): this opcode"},
      {kProto + "NNR.", "a call of None"},
      {kProto + "}}b.", "a state for dict"},
  };
  for (const auto& [bytes, message] : cases) {
    CAPTURE(message);
    const absl::Status status = StatusOf(bytes);
    CHECK((status.code() == absl::StatusCode::kPermissionDenied ||
           status.code() == absl::StatusCode::kInvalidArgument));
    CHECK_THAT(std::string(status.message()), Contains(message));
    CHECK_THAT(std::string(status.message()), Contains("memory: offset "));
  }
}

TEST_CASE("messages say where") {
  CHECK(Message(kProto + "N0cos\nsystem\n.").rfind("memory: offset 4: GLOBAL: os.system", 0) == 0);
  CHECK_THAT(Message(kProto + "X\xff\xff\xff\x7f"),
             Contains("offset 2: BINUNICODE: 2147483647 bytes wanted, 0 are left"));
}

TEST_CASE("broken pickles are refused") {
  const std::vector<std::string> broken = {
      "", "x", "\x80", "\x80\x01N.", "\x80\x06N.", kProto,
      // nothing, too much, or an open mark at the end
      kProto + ".", kProto + "NN.", kProto + "(N.", kProto + "}.x",
      // too little on the stack, or below the mark
      kProto + "}(Nu.", kProto + "u.", kProto + "}u.", kProto + "t.", kProto + "\x85.",
      kProto + "a.", kProto + "]Na", kProto + "0.", kProto + "(0.", kProto + "1.", kProto + "R.",
      kProto + "b.", kProto + "NNs.", kProto + "N]Ne.", kProto + "]N(e.",
      // memo, names, unknown opcodes, lengths
      kProto + "h\x01.", kProto + "Nr\xff\xff\xff\xff.", kProto + "cos", kProto + "\xff.",
      kProto +
          "\x8a\x09"
          "123456789.",
      kProto +
          "\x95"
          "\xff\xff\xff\xff\xff\xff\xff\xff}."};
  for (const std::string& bytes : broken) {
    CAPTURE(bytes);
    CHECK_FALSE(Parse(bytes).ok());
  }
  const std::string good = State(Text("x") + kTwo);
  for (size_t size = 0; size < good.size(); ++size) CHECK_FALSE(Parse(good.substr(0, size)).ok());
  // A pickle that is no dict of texts.
  CHECK_THAT(Message(kProto + "]."), Contains("the state is list"));
  CHECK_THAT(Message(State("N" + kTwo)), Contains("a key that is None"));
}

TEST_CASE("arrays that contradict themselves are refused with their key") {
  const auto message = [](const std::string& array) { return Message(State(Text("x") + array)); };
  CHECK_THAT(message(Array("K\x03\x85", "12345678")),
             Contains("'x' is float32[3] with 8 bytes instead of 12"));
  CHECK_THAT(message(Array("J\xff\xff\xff\xff\x85", "12345678")), Contains("negative extent"));
  CHECK_THAT(message(Array("N\x85", "1234")), Contains("a shape of other things"));
  CHECK_THAT(message(Array("N", "1234")), Contains("has no dtype or no shape"));
  CHECK_THAT(message("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nNN\x87R"),
             Contains("'x' is an array without contents"));
  std::string rank;
  for (int i = 0; i < 65; ++i) rank += "K\x01";
  CHECK_THAT(message(Array("(" + rank + "t", "1234")), Contains("at most 64"));
  const std::string big = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f";
  CHECK_THAT(message(Array(big + big + "\x86", "1234")), Contains("impossible"));
  CHECK_FALSE(Parse(State(Text("x") + kTwo.substr(0, kTwo.size() - 2) + "tbNb")).ok());
}

TEST_CASE("slices and translated names that do not fit are refused") {
  const std::string part = Text("w@@.0") + kTwo;
  const auto info = [](const std::string& entry) {
    return Text("UnpackBigParamInfor@@") + "}(" + Text("w") + entry + "u";
  };
  const auto entry = [](const std::string& shape, const std::string& slices) {
    return "}(" + Text("OriginShape") + shape + Text("slices") + "](" + slices + "eu";
  };
  CHECK(Parse(State(part + info(entry("K\x01K\x02\x86", Text("w@@.0")))))->tensors.at("w").dims ==
        std::vector<int64_t>{1, 2});
  const PickleState joined = *Parse(State(part + Text("w@@.1") + Array("K\x01\x85", "abcd") +
                                          info(entry("K\x03\x85", Text("w@@.0") + Text("w@@.1")))));
  CHECK(std::memcmp(joined.tensors.at("w").bytes.data(), "12345678abcd", 12) == 0);
  CHECK_THAT(Message(State(part + info(entry("K\x03\x85", Text("w@@.0"))))),
             Contains("'w' is float32[3], but its slices have 8 bytes"));
  CHECK_THAT(Message(State(part + info(entry("K\x02\x85", Text("w@@.1"))))),
             Contains("'w@@.1', which is not there"));
  CHECK_THAT(Message(State(part + info(entry("K\x04\x85", Text("w@@.0") + Text("w@@.0"))))),
             Contains("used twice"));
  CHECK_THAT(Message(State(part + info(entry("K\x02\x85", "")))), Contains("has no slices"));
  CHECK_THAT(Message(State(part + info("}"))), Contains("lacks OriginShape"));
  CHECK_THAT(Message(State(part + Text("UnpackBigParamInfor@@") + "N")), Contains("not a dict"));
  CHECK_THAT(Message(State(Text("w") + kTwo + part + info(entry("K\x02\x85", Text("w@@.0"))))),
             Contains("whole and in slices"));
  const auto names = [](const std::string& map) {
    return Text("StructuredToParameterName@@") + "}(" + map + "u";
  };
  CHECK(Parse(State(Text("a") + kTwo + names(Text("a") + Text("fc.w"))))->tensors.count("fc.w") ==
        1);
  CHECK_THAT(Message(State(Text("a") + kTwo + Text("b") + kTwo + names(Text("a") + Text("b")))),
             Contains("name of two tensors"));
  CHECK_THAT(Message(State(Text("a") + kTwo + names(Text("a") + "N"))), Contains("no text"));
}

// Every bomb must end within this processor time (other processes do not count), in refusal or as a
// small state.
void CheckQuick(const std::string& bytes, bool refused, const char* what = "") {
  const std::clock_t start = std::clock();
  const absl::Status status = StatusOf(bytes);
  CHECK((std::clock() - start) / CLOCKS_PER_SEC < 5);
  CHECK(status.ok() != refused);
  CHECK_THAT(std::string(status.message()), Contains(what));
}

std::string Repeat(const std::string& part, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += part;
  return all;
}

TEST_CASE("bombs") {
  std::string data(1 << 20, 'x');
  const uint32_t size = 1 << 20;
  const std::string blob = "B" + std::string(reinterpret_cast<const char*>(&size), 4) + data;
  const std::string array =
      "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nNN\x87R(K\x01J" +
      std::string("\0\0\4\0", 4) + "\x85" + kDType + "\x89" + blob + "tb";
  // One array under a hundred thousand names.
  std::string names;
  for (int i = 0; i < 100000; ++i) names += Text(std::to_string(i)) + "h\x01";
  CheckQuick(State(Text("a") + array + "q\x01" + names), true,
             "the values take far more memory than the file has bytes: refused as a bomb");
  // One long text, decoded again and again.
  const std::string text = "X" + std::string(reinterpret_cast<const char*>(&size), 4) + data;
  CheckQuick(kProto + text +
                 "q\x01"
                 "0" +
                 Text("latin1") +
                 "q\x02"
                 "0c_codecs\nencode\nq\x03"
                 "0" +
                 Repeat("h\x03h\x01h\x02\x86R0", 100000) + "}.",
             true);
  // One long key, again and again.
  CheckQuick(kProto + text +
                 "q\x01"
                 "0}(" +
                 Repeat("h\x01N", 200000) + "u.",
             true);
  // One long tuple as arguments and as state.
  const std::string tuple = "(" + Repeat("N", 200000) +
                            "tq\x01"
                            "0";
  CheckQuick(kProto + tuple +
                 "ccollections\nOrderedDict\nq\x02"
                 "0" +
                 Repeat("h\x02h\x01R0", 1000) + "}.",
             true);
  CheckQuick(kProto + tuple + kDType +
                 Repeat("h\x01"
                        "b",
                        1000) +
                 ".",
             true);
  const std::string pairs = "](" + Repeat("NN\x86", 100000) +
                            "e\x85q\x01"
                            "0";
  CheckQuick(kProto + pairs +
                 "ccollections\nOrderedDict\nq\x02"
                 "0" +
                 Repeat("h\x02h\x01R0", 10000) + "}.",
             true);
  // Values without end, nesting without end, a list in itself.
  CheckQuick(kProto + Repeat("]", 2000000) + ".", true);
  CheckQuick(kProto + Repeat("]", 10000) + Repeat("a", 9999) + ".", true);
  CheckQuick(kProto + Repeat("(", 1000000) + ".", true);
  CheckQuick(kProto + Repeat("}", 20000) +
                 Repeat(Text("x") + "\x86"
                                    "0",
                        10) +
                 ".",
             true);
  CheckQuick(State(Text("a") + "]q\x01h\x01"
                               "a"),
             false);
  CheckQuick(kProto + std::string("\x95\0\0\0\0\0\0\0\0", 9) + Repeat("N0", 1000000) + "}.", false);
}

}  // namespace
}  // namespace dtranspile::io

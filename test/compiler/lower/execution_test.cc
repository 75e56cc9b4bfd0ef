// What a run does that the shape of a plan does not show: whose numbers random ops draw, and what
// ends a step.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "llvm/ADT/StringRef.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "test/compiler/lower/run_program.h"

namespace dtranspile::lower {
namespace {

using Numbers = std::vector<float>;

std::string drawOp(const std::string& name, int source) {
  return "  %" + name + " = pd.uniform_random -> Out(\"" + name +
         "\") {dtype = 5 : i32, max = 1.0 : f32, min = 0.0 : f32, seed = 0 : i32, shape = "
         "array<i64: 64>} with {dist.src = " +
         std::to_string(source) + " : i64} : () -> tensor<64xf32>\n";
}

std::string program(const std::string& body) {
  return "pd.program @main attributes {version = 2006002 : i64} {\n" + body + "}\n";
}

// What ops of one step draw; `step` < 0: the next one, without a word about its number.
std::map<std::string, Numbers> draw(const std::string& body, const std::vector<std::string>& names,
                                    const std::vector<int64_t>& steps = {0}) {
  Compiled c(program(body));
  c.options.main.fetches = names;
  REQUIRE(c.compile());
  auto executor = load(c);
  random::Generator::Process().SetSeed(1);
  for (int64_t step : steps) {
    if (step >= 0) random::Generator::Process().SetStep(step);
    REQUIRE(executor->RunMain().ok());
  }
  std::map<std::string, Numbers> drawn;
  for (size_t i = 0; i < names.size(); ++i) drawn[names[i]] = fetched<float>(*executor, i);
  return drawn;
}

// A division of two persistables of integers.
std::string division(const std::string& op, const std::string& type) {
  const std::string tensor = "tensor<6x" + type + ">";
  return "pd.var @x : " + tensor + "\npd.var @y : " + tensor +
         "\npd.program @main attributes {version = 2006002 : i64} {\n" +
         "  %x = pd.get @x : " + tensor + "\n  %y = pd.get @y : " + tensor + "\n  %z = pd." + op +
         " X(%x) Y(%y) -> Out(\"z\") : (" + tensor + ", " + tensor + ") -> " + tensor + "\n}\n";
}

template <typename T>
absl::Status divide(const std::string& op, const std::string& type, const std::vector<T>& x,
                    const std::vector<T>& y, std::vector<T>& z) {
  Compiled c(division(op, type));
  c.options.main.fetches = {"z"};
  const bool compiled = c.compile();
  INFO(c.error);
  REQUIRE(compiled);
  auto executor = load(c);
  setVariable<T>(*executor, "x", x);
  setVariable<T>(*executor, "y", y);
  const absl::Status status = executor->RunMain();
  z = fetched<T>(*executor, 0);
  if (status.ok()) return status;
  // The next step is not blamed for this one.
  setVariable<T>(*executor, "y", std::vector<T>(y.size(), 1));
  CHECK(executor->RunMain().ok());
  return status;
}

template <typename T>
void checkDivision(const std::string& op, const std::string& type) {
  const T least = std::numeric_limits<T>::min();
  std::vector<T> z;
  const absl::Status fails = divide<T>(op, type, {1, 2, 3, 4, 5, 6}, {1, 1, 1, 0, 1, 0}, z);
  INFO(fails.message());
  CHECK(fails.message() == "op " + op + " of `z`: element 3: an integer is divided by zero");
  REQUIRE(divide<T>(op, type, {least, 7, static_cast<T>(-7), 7, least, 0},
                    {static_cast<T>(-1), 2, 2, static_cast<T>(-2), 1, 5}, z)
              .ok());
  CHECK(z == (op == "elementwise_mod"   ? std::vector<T>{0, 1, 1, -1, 0, 0}
              : op == "elementwise_div" ? std::vector<T>{least, 3, -3, -3, least, 0}
                                        : std::vector<T>{least, 3, -4, -4, least, 0}));
}

// The message of a step that may take `bytes` of address space beyond what this process has, from a
// child.
std::string messageWithin(exec::Executor& executor, int64_t bytes) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%ld", &pages) != 1) _exit(2);
    const rlim_t most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
    const rlimit limit = {most, most};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(3);
    const std::string message(executor.RunMain().message());
    _exit(write(ends[1], message.data(), message.size()) == static_cast<ssize_t>(message.size())
              ? 0
              : 4);
  }
  close(ends[1]);
  std::string message;
  char text[4096];
  for (ssize_t n = 0; (n = read(ends[0], text, sizeof text)) > 0;)
    message.append(text, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  return message;
}

}  // namespace

TEST_CASE("random ops draw the same in any order, and where others are gone or inserted") {
  const std::string a = drawOp("a", 0), b = drawOp("b", 1);
  const auto both = draw(a + b, {"a", "b"});
  CHECK(both.at("a") != both.at("b"));
  CHECK(draw(b + a, {"a", "b"}) == both);
  CHECK(draw(b, {"b"}).at("b") == both.at("b"));
  CHECK(draw(drawOp("new", 7) + a + b, {"a", "b"}) == both);
}

TEST_CASE("what is computed again draws what it drew") {
  const auto twice = draw(drawOp("a", 3) + drawOp("again", 3), {"a", "again"});
  CHECK(twice.at("a") == twice.at("again"));
}

TEST_CASE("steps draw on their own, and by their number") {
  const std::string a = drawOp("a", 0);
  const auto first = draw(a, {"a"}), third = draw(a, {"a"}, {0, 1, 2});
  CHECK(first != third);
  CHECK(draw(a, {"a"}, {2}) == third);  // as a run does that goes on from a checkpoint
  CHECK(draw(a, {"a"}, {0, -1}) != first);
}

TEST_CASE("a program that stands for itself draws by the numbers of its ops") {
  const std::string text = drawOp("a", 0) + drawOp("b", 1);
  std::string plain = text;
  for (size_t at = plain.find(" with {"); at != std::string::npos; at = plain.find(" with {"))
    plain.erase(at, plain.find('}', at) + 1 - at);
  CHECK(draw(plain, {"a", "b"}) == draw(text, {"a", "b"}));
}

TEST_CASE("a loop without end says what has grown, and in which turn memory ran out") {
  std::ifstream file("test/compiler/lower/blocks/while-in-while.mlir");
  REQUIRE(file);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string turns = "value = 3.0 : f32";
  REQUIRE(text.find(turns) != std::string::npos);
  text.replace(text.find(turns), turns.size(), "value = 1.0e15 : f32");
  Compiled c(text);
  c.options.main.fetches = {"loss", "x@GRAD"};
  REQUIRE(c.compile());
  auto executor = load(c);
  const std::string message = messageWithin(*executor, int64_t{400} << 20);
  INFO(message);
  CHECK(message.find("op while of `i`: dt_list_push: '") == 0);
  CHECK(message.find("values that grow take") != std::string::npos);
  CHECK(message.find("; in turn ") != std::string::npos);
  CHECK(llvm::StringRef(message).ends_with(" of op while of `i`"));
}

TEST_CASE("integer division: zero is an error that names op and element, overflow wraps") {
  for (const char* op : {"elementwise_div", "elementwise_floordiv", "elementwise_mod"}) {
    checkDivision<int32_t>(op, "i32");
    checkDivision<int64_t>(op, "i64");
  }
}

}  // namespace dtranspile::lower

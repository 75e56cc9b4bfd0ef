// Rung 2 on loops over the blocks of a server: what is set per block, what they hand on.
#include "test/compiler/verify/role_rows.h"

namespace dtranspile::verify::test {

TEST_CASE("blocks of a server: what is set per block, and cut by another layout") {
  const std::string two = "dist.mesh @servers [ps = 2]", one = "dist.mesh @servers [ps = 1]";
  const Row rows[] = {
      {"parameter_server",
       "a rate is set once per block",
       {"dist.role @server"},
       "pd.set @fc_0.b_0, %new : tensor<?xf32>",
       "pd.set @fc_0.b_0, %new : tensor<?xf32>\npd.set @learning_rate_0, %rate : tensor<1xf32>",
       Level::Refuted,
       "invariant",
       "once per block of `fc_0.b_0` that a server owns"},
      {"parameter_server",
       "a server keeps blocks of another size",
       {"dist.role @server", "pd.program @startup"},
       "%own_w = dist.slice %fc_0.w_0 dim 0 layout <blocks(10, per 10, first 0)>",
       "%own_w = dist.slice %fc_0.w_0 dim 0 layout <blocks(10, per 5, first 0)>",
       Level::Refuted,
       "invariant",
       "blocks(10, per 5, first 0)"},
  };
  Jobs jobs;
  for (const Row& row : rows) {
    INFO(row.what);
    std::string text = changed(row);
    text.replace(text.find(one), one.size(), two);
    const auto job = jobs.parse(text);
    const Rung rung = verifyRelations(*job, "");
    INFO(messagesOf(rung));
    CHECK(llvm::any_of(rung.messages, [&](const Message& message) {
      return message.level == row.level && message.rule == row.rule &&
             message.text.find(row.says) != std::string::npos;
    }));
  }
}

namespace {

// parameter_server with a second server and the largest element of a gradient in its variables: an
// op of the reference, of which every server computes its blocks' and hands on the largest so far.
std::string withPeak(const std::string& begin, const std::string& fold, const std::string& reduce) {
  std::string text = textOf("parameter_server");
  const auto insert = [&](std::vector<std::string> context, const std::string& before,
                          const std::string& what) {
    size_t at = 0;
    for (const std::string& part : context) at = text.find(part, at);
    at = text.find(before, at);
    REQUIRE(at != std::string::npos);
    text.insert(at, what);
  };
  const std::string attributes =
      " -> Out(\"peak\") {dim = array<i32: 0>, keep_dim = false, op_role = 2 : i32, "
      "reduce_all = true}";
  insert({"module @source"}, "pd.var @fc_0.w_0", "pd.var @peak : tensor<1xf32>\n");
  insert({"module @source", "pd.set @fc_0.w_0, %fc_0.w_0.2"}, "\n",
         "\n%peak = pd.reduce_max X(%fc_0.w_0.grad)" + attributes +
             " : (tensor<10x1xf32>) -> tensor<1xf32>\npd.set @peak, %peak : tensor<1xf32>");
  insert({"dist.role @server"}, "pd.var @fc_0.w_0",
         "pd.var @peak : tensor<1xf32> {dist.rel = #dist.rel<\"peak\">}\n");
  insert({"dist.role @server", "dist.handle round"}, "%rate",
         "%limit = pd.fill_constant -> Out(\"peak\") {dtype = 5 : i32, op_role = 2 : i32, shape = "
         "array<i64: 1>, value = " +
             begin +
             " : f32} : () -> tensor<1xf32>\n"
             "%most = dist.foreach_block @fc_0.w_0 (%b) iter(%so_far = %limit : tensor<1xf32>) -> "
             "(tensor<1xf32>) {\n%g = dist.merged @fc_0.w_0 : tensor<?x1xf32>\n"
             "%own = pd.reduce_max X(%g)" +
             attributes +
             " with {dist.src = 13 : i64} : (tensor<?x1xf32>) -> tensor<1xf32>\n"
             "%next = pd." +
             fold +
             " X(%so_far) Y(%own) -> Out(\"peak\") {axis = -1 : i32, op_role = "
             "2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>\n"
             "dist.yield %next : tensor<1xf32>\n}\n"
             "%all = dist.all_reduce " +
             reduce +
             " (%most) on @among : (tensor<1xf32>) -> tensor<1xf32>\n"
             "pd.set @peak, %all : tensor<1xf32>\n");
  insert({}, "dist.comm @ps", "dist.comm @among on @servers over [ps] group\n");
  for (auto [old, now] : {std::pair("[ps = 1]", "[ps = 2]"), std::pair("per 10", "per 5")})
    for (size_t at = text.find(old); at != std::string::npos; at = text.find(old, at))
      text.replace(at, std::string(old).size(), now);
  return text;
}

}  // namespace

TEST_CASE("blocks of a server: the largest element of all of them") {
  struct Peak {
    const char *begin, *fold, *reduce;
    Verdict verdict;
    const char* says;
  };
  const Peak peaks[] = {
      {"0xFF800000", "elementwise_max", "max", Verdict::Holds, ""},
      {"0xFF800000", "elementwise_max", "sum", Verdict::Refuted,
       "which is P(max) along axis ps, with sum"},
      {"0.000000e+00", "elementwise_max", "max", Verdict::Unknown,
       "which is not the infinity that leaves it as it is"},
      {"0x7F800000", "elementwise_min", "min", Verdict::Refuted, "takes the min over blocks of"},
      {"0.000000e+00", "elementwise_add", "sum", Verdict::Refuted, "sums over blocks"},
      {"0xFF800000", "elementwise_mul", "max", Verdict::Unknown,
       "no sum, maximum or minimum over them"},
  };
  Jobs jobs;
  for (const Peak& peak : peaks) {
    INFO(peak.begin << " " << peak.fold << " " << peak.reduce);
    const auto job = jobs.parse(withPeak(peak.begin, peak.fold, peak.reduce));
    const Rung rung = verifyRelations(*job, "");
    INFO(messagesOf(rung));
    CHECK(rung.verdict == peak.verdict);
    CHECK_THAT(messagesOf(rung), Contains(peak.says));
  }
}

}  // namespace dtranspile::verify::test

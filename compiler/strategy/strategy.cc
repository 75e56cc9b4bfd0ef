#include "compiler/strategy/strategy.h"

#include <charconv>
#include <cmath>
#include <set>

#include "compiler/strategy/composition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile {
namespace {

// Values of fields that do not go together; which features do is the table of pairs.td. What a
// field may be by itself is its row's.
struct Rule {
  std::vector<std::string> fields;
  bool (*broken)(const Strategy&);
  const char* message;  // the fields, what is wrong, what to do
};

bool isServed(const Strategy& s) { return s.mode == "pserver"; }
bool scalesLoss(const Strategy& s) {
  return s.amp_dtype == "float16" && !s.use_pure_bf16 &&
         (s.use_dynamic_loss_scaling || s.init_loss_scaling != 1);
}
bool isSynchronous(const Strategy& s) { return serveMode(s) == "sync"; }
// Trainers that go on while their gradients wait.
bool goesOn(const Strategy& s) { return serveMode(s) == "async"; }

// Ranks that a replica of the program takes, as far as the request says it: stages may be those of
// annotations.
int64_t ranksOfReplica(const Strategy& s) {
  return (s.pipeline ? std::max<int64_t>(s.stages, 1) : 1) *
         (s.tensor_parallel ? s.tensor_parallel_degree : 1);
}

// The legality table of values: the fields that a rule is about, when it is broken, and the
// message, which names the fields, the reason and what to do. Pairs of features that do not compose
// are rows of another table (pairRows).
const std::vector<Rule>& rules() {
  static const std::vector<Rule> rows = {
      {{"mode", "collective_mode"},
       [](const Strategy& s) { return s.mode == "nccl2" && s.collective_mode != "grad_allreduce"; },
       "mode nccl2 and collective_mode local_sgd: nccl2 reduces gradients; use mode collective for "
       "local_sgd"},
      {{"use_hierarchical_allreduce", "hierarchical_allreduce_inter_nranks"},
       [](const Strategy& s) {
         return s.use_hierarchical_allreduce && s.hierarchical_allreduce_inter_nranks < 2;
       },
       "use_hierarchical_allreduce and hierarchical_allreduce_inter_nranks: an inner group has at "
       "least 2 ranks"},
      {{"trainers", "hierarchical_allreduce_inter_nranks"},
       [](const Strategy& s) {
         return s.use_hierarchical_allreduce && s.hierarchical_allreduce_inter_nranks >= 2 &&
                (s.trainers <= s.hierarchical_allreduce_inter_nranks ||
                 s.trainers % s.hierarchical_allreduce_inter_nranks != 0);
       },
       "trainers and hierarchical_allreduce_inter_nranks: inner groups of equal size, more than "
       "one of them, make up all trainers"},
      {{"use_hierarchical_allreduce", "fuse_all_reduce_ops"},
       [](const Strategy& s) { return s.use_hierarchical_allreduce && !s.fuse_all_reduce_ops; },
       "use_hierarchical_allreduce and fuse_all_reduce_ops=false: three operations per gradient "
       "instead of one would be slower than none of both; keep buckets on"},
      {{"use_pure_fp16", "use_pure_bf16"},
       [](const Strategy& s) { return s.amp && s.use_pure_fp16 && s.use_pure_bf16; },
       "use_pure_fp16 and use_pure_bf16: parameters lie in one type; leave one out"},
      {{"use_pure_fp16", "amp_dtype"},
       [](const Strategy& s) { return s.amp && s.use_pure_fp16 && s.amp_dtype == "bfloat16"; },
       "use_pure_fp16 and amp_dtype bfloat16: use_pure_bf16 is that of bfloat16"},
      {{"trainers", "sharding_degree"},
       [](const Strategy& s) {
         return s.sharding && s.sharding_degree > 0 &&
                s.trainers % (s.sharding_degree * ranksOfReplica(s)) != 0;
       },
       "trainers and sharding_degree: as many ranks as a parameter is cut over, or a multiple of "
       "that, make up all trainers; in a pipeline those of every stage, and of split layers those "
       "of every part"},
      {{"sharding", "sharding_form"},
       [](const Strategy& s) { return !s.sharding && s.sharding_form == "owner"; },
       "sharding and sharding_form owner: parameters have owners where sharding is on; add "
       "--sharding"},
      {{"fp16_allreduce", "sharding", "pipeline"},
       [](const Strategy& s) { return s.fp16_allreduce && s.sharding && s.pipeline; },
       "fp16_allreduce, sharding and pipeline: sums are cut in front of the stages, and rounded "
       "behind "
       "them; leave one out"},
      {{"sharding_stage", "pipeline"},
       [](const Strategy& s) { return s.sharding && s.pipeline && s.sharding_stage == 3; },
       "sharding_stage 3 and pipeline: parameters would be put together again for every "
       "micro-batch; choose stage 1 or 2"},
      {{"collective_mode", "scale_strategy"},
       [](const Strategy& s) {
         return s.mode == "collective" && s.collective_mode == "local_sgd" &&
                s.scale_strategy != "avg";
       },
       "collective_mode local_sgd and scale_strategy: gradients are not reduced, nothing is "
       "scaled"},
      {{"scale_strategy", "pipeline"},
       [](const Strategy& s) { return s.scale_strategy == "sum" && s.pipeline; },
       "scale_strategy sum and pipeline: gradients are added up over micro-batches, whose mean is "
       "taken; leave scale_strategy at avg"},
      {{"scale_strategy", "gradient_merge"},
       [](const Strategy& s) { return s.scale_strategy == "sum" && s.gradient_merge; },
       "scale_strategy sum and gradient_merge: gradients are merged as those of one device; leave "
       "scale_strategy at avg, or say gradient_merge_avg=false"},
      {{"scale_strategy", "amp"},
       [](const Strategy& s) { return s.scale_strategy == "sum" && s.amp; },
       "scale_strategy sum and amp: the factor of the loss is that of its own scaling; leave "
       "scale_strategy at avg"},
      {{"recompute", "recompute_checkpoints"},
       [](const Strategy& s) { return s.recompute && s.recompute_checkpoints.empty(); },
       "recompute and recompute_checkpoints: say what is kept, by names or patterns of values, or "
       "sqrt or auto alone"},
      {{"sparsity"},
       [](const Strategy& s) {
         double last = 0;
         return s.dgc && llvm::any_of(s.sparsity, [&](const std::string& text) {
                  double share = 0;
                  if (llvm::StringRef(text).getAsDouble(share)) return true;
                  const bool wrong = !(share >= 0 && share < 1) || (share == 0 && last > 0);
                  last = share;
                  return wrong;
                });
       },
       "sparsity: each number is the share of elements that are not sent, from 0 to below 1; and "
       "0, "
       "which is dense, stands before the others"},
      {{"pipeline", "stages"},
       [](const Strategy& s) { return !s.pipeline && (s.stages || s.virtual_stages > 1); },
       "stages, virtual_stages and pipeline: stages exist in a pipeline only; add --pipeline"},
      {{"pipeline", "stages"},
       [](const Strategy& s) { return s.pipeline && s.stages == 1; },
       "pipeline and stages: one stage is no pipeline; ask for two or more, or turn pipeline off"},
      {{"trainers", "stages"},
       [](const Strategy& s) {
         return s.pipeline && s.stages > 1 && (s.trainers < s.stages || s.trainers % s.stages);
       },
       "trainers and stages: pipelines of that many stages each make up all trainers; give "
       "--trainers a multiple of --stages"},
      {{"schedule_mode", "virtual_stages"},
       [](const Strategy& s) {
         return s.pipeline && s.schedule_mode == "ZB-H1" && s.virtual_stages > 1;
       },
       "schedule_mode ZB-H1 and virtual_stages: this schedule has one part of the model per stage; "
       "leave virtual_stages out, or use 1F1B"},
      {{"trainers", "tensor_parallel_degree"},
       [](const Strategy& s) {
         return s.tensor_parallel && (s.trainers < s.tensor_parallel_degree ||
                                      s.trainers % s.tensor_parallel_degree != 0);
       },
       "trainers and tensor_parallel_degree: as many ranks as a layer is split over, or a multiple "
       "of that, make up all trainers"},
      {{"trainers", "stages", "tensor_parallel_degree"},
       [](const Strategy& s) {
         return s.tensor_parallel && s.pipeline && s.stages > 1 &&
                s.trainers % s.tensor_parallel_degree == 0 && s.trainers % s.stages == 0 &&
                s.trainers % (s.stages * s.tensor_parallel_degree) != 0;
       },
       "trainers, stages and tensor_parallel_degree: every stage has as many ranks as its layers "
       "are "
       "split over; give --trainers a multiple of both together"},
      {{"tensor_parallel", "tensor_parallel_degree"},
       [](const Strategy& s) { return !s.tensor_parallel && s.tensor_parallel_degree > 1; },
       "tensor_parallel and tensor_parallel_degree: layers are split where tensor_parallel is on; "
       "add --tensor-parallel"},
      {{"sequence_parallel", "tensor_parallel_degree"},
       [](const Strategy& s) {
         return s.sequence_parallel && (!s.tensor_parallel || s.tensor_parallel_degree < 2);
       },
       "sequence_parallel and tensor_parallel_degree: sequences lie in parts on the ranks that a "
       "layer is split over; add --tensor-parallel --tensor-parallel-degree N"},
      {{"sequence_parallel", "input_parallel"},
       [](const Strategy& s) { return s.sequence_parallel && s.input_parallel == "mp"; },
       "sequence_parallel and input_parallel mp: it has not been shown on programs that are split "
       "already; leave one of them out"},
      {{"input_parallel", "tensor_parallel_degree"},
       [](const Strategy& s) {
         return s.input_parallel == "mp" && (!s.tensor_parallel || s.tensor_parallel_degree < 2);
       },
       "input_parallel mp and tensor_parallel_degree: say how many ranks the layers of the program "
       "are built for; add --tensor-parallel --tensor-parallel-degree N"},
      {{"accumulate_steps", "virtual_stages"},
       [](const Strategy& s) {
         return s.pipeline && s.schedule_mode == "1F1B" && s.virtual_stages > 1 && s.stages > 1 &&
                s.accumulate_steps % s.stages != 0;
       },
       "accumulate_steps and virtual_stages: interleaved parts take micro-batches in groups as "
       "large as the pipeline; make accumulate_steps a multiple of stages"},
      {{"amp", "decr_ratio"},
       [](const Strategy& s) { return s.amp && s.use_dynamic_loss_scaling && !(s.decr_ratio > 0); },
       "decr_ratio: a factor that shrinks stays above 0"},
      {{"amp", "init_loss_scaling"},
       [](const Strategy& s) {
         return s.amp && !(s.init_loss_scaling > 0 && s.init_loss_scaling <= 3.4e38);
       },
       "init_loss_scaling: a factor of the loss is above 0 and below 3.4e38, a float32 number"},
      {{"amp", "sync_mode"},
       [](const Strategy& s) { return s.amp && scalesLoss(s) && isServed(s) && !isSynchronous(s); },
       "amp and sync_mode: without rounds no two servers would leave the same step out when a "
       "gradient overflows; use amp_dtype bfloat16, which scales nothing, or leave sync_mode on"},
      {{"amp", "use_pure_fp16", "use_pure_bf16"},
       [](const Strategy& s) {
         return s.amp && isServed(s) && (s.use_pure_fp16 || s.use_pure_bf16);
       },
       "mode pserver and use_pure_fp16, use_pure_bf16: servers would have to keep parameters in "
       "half "
       "precision beside their float32 copies; leave them out, so that parameters are float32"},
      {{"lookahead", "sync_mode"},
       [](const Strategy& s) { return s.lookahead && isServed(s) && !isSynchronous(s); },
       "lookahead and sync_mode: slow weights move after so many rounds, and there are none; leave "
       "sync_mode on"},
      {{"mode", "pservers"},
       [](const Strategy& s) { return isServed(s) && s.pservers.empty(); },
       "mode pserver and pservers: say where the servers are, --pservers HOST:PORT,…, or how many "
       "there are, --pservers 2"},
      {{"pservers", "mode"},
       [](const Strategy& s) { return !isServed(s) && !s.pservers.empty(); },
       "pservers and mode: servers exist in mode pserver only; add --mode pserver"},
      {{"min_block_size", "allow_small_blocks"},
       [](const Strategy& s) {
         return isServed(s) && s.min_block_size < 8192 && !s.allow_small_blocks;
       },
       "min_block_size: blocks of less than 8192 elements cost more in messages than they spread; "
       "for tests add allow_small_blocks"},
      {{"mode", "scale_strategy"},
       [](const Strategy& s) { return isServed(s) && s.scale_strategy != "avg"; },
       "mode pserver and scale_strategy: servers take the mean of what trainers push, or the sum "
       "where the loss is one; leave scale_strategy at avg"},
      {{"sync_mode", "runtime_split_send_recv"},
       [](const Strategy& s) { return s.sync_mode && s.runtime_split_send_recv; },
       "sync_mode and runtime_split_send_recv: the framework's communicator does not wait for "
       "rounds; turn one of them off"},
      {{"half_async", "runtime_split_send_recv"},
       [](const Strategy& s) { return s.half_async && !s.runtime_split_send_recv; },
       "half_async and runtime_split_send_recv: half-asynchronous trainers send by the "
       "communicator; turn runtime_split_send_recv on"},
      {{"enable_dc_asgd", "sync_mode"},
       [](const Strategy& s) { return s.enable_dc_asgd && isSynchronous(s); },
       "enable_dc_asgd and sync_mode: nothing is late in a synchronous round; turn enable_dc_asgd "
       "off"},
      {{"geo_sgd_mode", "sync_mode"},
       [](const Strategy& s) { return s.geo_sgd_mode && isSynchronous(s); },
       "geo_sgd_mode and sync_mode: geo-SGD trainers do not wait for rounds; turn sync_mode off"},
      {{"preset", "sync_mode"},
       [](const Strategy& s) {
         return s.preset != "none" && (!s.sync_mode || s.half_async || s.completely_not_async ||
                                       s.geo_sgd_mode || s.runtime_split_send_recv);
       },
       "preset and sync_mode, runtime_split_send_recv, half_async, completely_not_async, "
       "geo_sgd_mode: the preset says how servers work; leave the other fields out, or the preset"},
      {{"geo_sgd_mode", "half_async"},
       [](const Strategy& s) { return s.geo_sgd_mode && s.half_async; },
       "geo_sgd_mode and half_async: trainers either push what has changed every so many steps, or "
       "wait for their gradients; turn one of them off"},
      {{"enable_dc_asgd", "geo_sgd_mode"},
       [](const Strategy& s) { return isServed(s) && s.enable_dc_asgd && serveMode(s) == "geo"; },
       "enable_dc_asgd and geo_sgd_mode: trainers of geo-SGD push no gradients that could come "
       "late; "
       "turn one of them off"},
      {{"max_merge_var_num", "min_send_grad_num_before_recv", "independent_recv_thread", "preset",
        "sync_mode"},
       [](const Strategy& s) {
         return isServed(s) && !goesOn(s) &&
                (s.max_merge_var_num > 1 || s.min_send_grad_num_before_recv > 1 ||
                 s.independent_recv_thread);
       },
       "max_merge_var_num, min_send_grad_num_before_recv and independent_recv_thread: only "
       "asynchronous trainers go on while their gradients wait; leave them out, or ask for preset "
       "async"},
      {{"send_queue_size", "thread_pool_size", "sync_mode"},
       [](const Strategy& s) {
         return isServed(s) && isSynchronous(s) &&
                (s.send_queue_size != 16 || s.thread_pool_size > 1);
       },
       "send_queue_size and thread_pool_size: gradients wait for the round of all trainers, in no "
       "queue; leave them out, or turn sync_mode off"},
      {{"max_merge_var_num", "send_queue_size"},
       [](const Strategy& s) { return isServed(s) && s.max_merge_var_num > s.send_queue_size; },
       "max_merge_var_num and send_queue_size: a queue never holds as many gradients as are to be "
       "merged; make send_queue_size as large"},
      {{"max_merge_var_num", "min_send_grad_num_before_recv"},
       [](const Strategy& s) {
         return isServed(s) && goesOn(s) && !s.independent_recv_thread &&
                s.max_merge_var_num > s.min_send_grad_num_before_recv;
       },
       "max_merge_var_num and min_send_grad_num_before_recv: a trainer that pulls waits for its "
       "gradients, so that fewer than max_merge_var_num are ever there; make "
       "min_send_grad_num_before_recv larger, or turn independent_recv_thread on"},
      {{"send_wait_times", "is_sgd_optimizer", "max_merge_var_num"},
       [](const Strategy& s) {
         return isServed(s) && s.max_merge_var_num == 1 &&
                (s.send_wait_times != 1 || !s.is_sgd_optimizer);
       },
       "send_wait_times and is_sgd_optimizer say how gradients are merged, and with "
       "max_merge_var_num=1 none are; leave them out"},
      {{"enable_dc_asgd", "max_merge_var_num", "independent_recv_thread"},
       [](const Strategy& s) {
         return isServed(s) && s.enable_dc_asgd &&
                (s.max_merge_var_num > 1 || s.independent_recv_thread);
       },
       "enable_dc_asgd and max_merge_var_num, independent_recv_thread: a gradient is corrected by "
       "what its trainer has pulled last, which is not what merged gradients, or the program, have "
       "seen; turn enable_dc_asgd off"},
      {{"sum_distributed_tables", "sync_mode"},
       [](const Strategy& s) {
         return isServed(s) && s.sum_distributed_tables && !isSynchronous(s);
       },
       "sum_distributed_tables and sync_mode: only in rounds gradients of several trainers are "
       "combined; turn sum_distributed_tables off"},
  };
  return rows;
}

std::string because(const FieldRow& row, const std::string& what) {
  return row.name.str() + ": " + what + (row.remedy.empty() ? "" : "; " + row.remedy.str());
}

// What is wrong with the value of one field; empty where it is legal.
std::string problemOf(const Strategy& strategy, const FieldRow& row) {
  const std::string value = valueOf(strategy, row);
  if (!row.words.empty() && !llvm::is_contained(row.words, value))
    return because(row, "'" + value + "' is none of " + llvm::join(row.words, ", "));
  const auto* number = std::get_if<int64_t Strategy::*>(&row.member);
  if (number && row.ranged && (strategy.*(*number) < row.least || strategy.*(*number) > row.most))
    return because(
        row, "lies between " + std::to_string(row.least) + " and " + std::to_string(row.most));
  const auto* real = std::get_if<double Strategy::*>(&row.member);
  if (real && std::isfinite(strategy.*(*real)) && strategy.*(*real) != 0 &&
      !std::isnormal(static_cast<float>(strategy.*(*real))))
    return because(row, value + " is no number of float32, which programs compute in");
  if (real && (!std::isfinite(strategy.*(*real)) ||
               (row.ranged && (strategy.*(*real) < static_cast<double>(row.least) ||
                               strategy.*(*real) > static_cast<double>(row.most)))))
    return because(row, row.ranged ? "lies between " + std::to_string(row.least) + " and " +
                                         std::to_string(row.most)
                                   : "is no finite number");
  // Values travel as options of passes in the text of a pipeline, which has its own punctuation.
  const auto* list = std::get_if<std::vector<std::string> Strategy::*>(&row.member);
  if (list)
    for (const std::string& each : strategy.*(*list))
      if (each.empty() || each.find_first_of(", \t\n\"'{}()[]<>") != std::string::npos)
        return because(row, "'" + each + "' is empty or holds a blank, comma, quote or bracket");
  return "";
}

}  // namespace

const FieldRow* fieldNamed(llvm::StringRef name) {
  const auto found =
      llvm::find_if(strategyFields(), [&](const FieldRow& row) { return row.name == name; });
  return found == strategyFields().end() ? nullptr : &*found;
}

bool isRelevant(const Strategy& strategy, const FieldRow& row) {
  if (row.relevant.empty()) return true;
  auto [name, wanted] = row.relevant.split('=');
  const bool unlike = name.consume_back("!");
  const FieldRow& other = *fieldNamed(name);
  return isRelevant(strategy, other) && (valueOf(strategy, other) == wanted) != unlike;
}

const std::vector<FieldRow>& strategyFields() {
  static const std::vector<FieldRow> rows = {
#include "compiler/strategy/fields.cc.inc"
  };
  return rows;
}

std::string valueOf(const Strategy& strategy, const FieldRow& row) {
  struct Text {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const {
      char text[32];  // the shortest that reads back as the same
      return {text, std::to_chars(text, std::end(text), value).ptr};
    }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const std::vector<std::string>& value) const {
      return llvm::join(value, ",");
    }
  };
  return std::visit([&](auto member) { return Text()(strategy.*member); }, row.member);
}

namespace {

// HOST:PORT, each once, or one number.
std::string problemOfServers(const Strategy& strategy) {
  if (strategy.pservers.size() == 1 && !llvm::StringRef(strategy.pservers[0]).contains(':'))
    return serverCount(strategy) > 0 ? ""
                                     : "pservers: '" + strategy.pservers[0] +
                                           "' is neither HOST:PORT nor a number of "
                                           "servers from 1 to 2147483647";
  std::set<std::string> seen;
  for (const std::string& each : strategy.pservers) {
    auto [host, text] = llvm::StringRef(each).rsplit(':');
    int64_t port = 0;
    if (host.empty() || text.getAsInteger(10, port) || port < 1 || port > 65535)
      return "pservers: '" + each + "' is no HOST:PORT";
    if (!seen.insert(each).second) return "pservers: '" + each + "' stands there twice";
  }
  return "";
}

}  // namespace

int64_t serverCount(const Strategy& strategy) {
  const std::vector<std::string>& list = strategy.pservers;
  if (list.size() != 1 || llvm::StringRef(list[0]).contains(':'))
    return static_cast<int64_t>(list.size());
  int64_t count = 0;
  const bool number = !llvm::StringRef(list[0]).getAsInteger(10, count);
  return number && count > 0 && count <= 0x7fffffff ? count : 0;
}

// The framework's preset sync turns sync_mode off and has its communicator wait instead.
std::string serveMode(const Strategy& s) {
  if (s.preset != "none") return s.preset;
  if (s.sync_mode || s.completely_not_async) return "sync";
  if (s.geo_sgd_mode) return "geo";
  return s.half_async ? "half_async" : "async";
}

namespace {

// What the fields of a request ask for.
std::vector<std::string> featuresOf(const Strategy& strategy) {
  std::vector<std::string> names;
  for (const FeatureRow& row : featureRows()) {
    if (row.on.empty()) continue;
    auto [name, wanted] = row.on.split('=');
    if (valueOf(strategy, *fieldNamed(name)) == wanted) names.push_back(row.name.str());
  }
  return names;
}

// Pairs of features that are refused, or not there yet, by the table of pairs.
std::vector<Problem> conflictsOf(const std::vector<std::string>& features) {
  std::vector<Problem> problems;
  for (const PairRow& row : pairRows()) {
    if (row.verdict == Verdict::Composes || !llvm::is_contained(features, row.one) ||
        !llvm::is_contained(features, row.other))
      continue;
    const char* later = row.verdict == Verdict::Later ? "together they are not there yet: " : "";
    problems.push_back({row.one.str() + " and " + row.other.str() + ": " + later + row.why.str() +
                            "; ask for one of them",
                        {row.one.str(), row.other.str()}});
  }
  return problems;
}

}  // namespace

// All problems at once: of single values, of values together, of features together.
std::vector<Problem> problemsOf(const Strategy& strategy,
                                const std::vector<std::string>& features) {
  std::vector<Problem> problems;
  for (const FieldRow& row : strategyFields())
    if (std::string problem = problemOf(strategy, row); !problem.empty())
      problems.push_back({std::move(problem), {row.name.str()}});
  if (std::string problem = problemOfServers(strategy); !problem.empty())
    problems.push_back({std::move(problem), {"pservers"}});
  for (const Rule& rule : rules())
    if (rule.broken(strategy)) problems.push_back({rule.message, rule.fields});
  std::vector<std::string> all = featuresOf(strategy);
  all.insert(all.end(), features.begin(), features.end());
  llvm::append_range(problems, conflictsOf(all));
  return problems;
}

nlohmann::ordered_json toJson(const Strategy& strategy) {
  nlohmann::ordered_json json;
  for (const FieldRow& row : strategyFields())
    if (isRelevant(strategy, row))
      std::visit([&](auto member) { json[row.name.str()] = strategy.*member; }, row.member);
  return json;
}

}  // namespace dtranspile

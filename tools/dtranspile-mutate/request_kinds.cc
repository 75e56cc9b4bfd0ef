// Jobs that do something else than was asked for: the module is right for a request, the manifest
// has another one. Whoever makes the manifest gives the request to the job (kRequestAttr) and takes
// it from the mutant.
#include "dialects/dist/lookup.h"
#include "nlohmann/json.hpp"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

using Json = nlohmann::ordered_json;

// Fields that no two jobs of one module can have otherwise. (How gradients are put into buckets,
// and blocks onto servers, are words of the manifest.)
constexpr const char* kFlags[] = {"amp",
                                  "recompute",
                                  "recompute_offload",
                                  "lars",
                                  "lamb",
                                  "asp",
                                  "lookahead",
                                  "gradient_merge",
                                  "dgc",
                                  "sharding",
                                  "pipeline",
                                  "tensor_parallel",
                                  "fp16_allreduce",
                                  "sync_batch_norm",
                                  "use_hierarchical_allreduce",
                                  "enable_dc_asgd",
                                  "adaptive_localsgd",
                                  "use_pure_fp16"};
constexpr const char* kNumbers[] = {"trainers", "accumulate_steps", "virtual_stages",
                                    "tensor_parallel_degree",
                                    "hierarchical_allreduce_inter_nranks"};
constexpr struct {
  const char* field;
  const char* words[4];
} kWords[] = {{"mode", {"collective", "pserver"}},
              {"collective_mode", {"grad_allreduce", "local_sgd"}},
              {"schedule_mode", {"F-then-B", "1F1B", "ZB-H1"}},
              {"preset", {"sync", "async", "half_async", "geo"}}};

void ask(JobView& view, Edits& edits, Json request, const std::string& field, const Json& other) {
  const std::string before = request[field].dump();
  request[field] = other;
  edits.add(view.program,
            "the request says that " + field + " is " + other.dump() + ", not " + before,
            [job = view.job, text = request.dump()]() mutable {
              job->setAttr(kRequestAttr, mlir::StringAttr::get(job.getContext(), text));
            });
}

// Sums of gradients over replicas that are not compressed in another way.
bool sumsGradients(JobView& view) {
  bool found = false;
  view.job.walk([&](mlir::Operation* op) {
    if (!llvm::isa<dist::AllReduceOp, dist::ReduceScatterOp>(op)) return;
    auto name = op->getAttrOfType<mlir::FlatSymbolRefAttr>("comm");
    auto comm = name ? view.job.lookupSymbol<dist::CommOp>(name.getAttr()) : dist::CommOp();
    found |= comm && comm.getCarries().value_or("").starts_with("gradients") &&
             comm.groupSize(dist::meshOfComm(comm)) > 1;
  });
  return found;
}

// Whether the job with the feature is another one than without it: there is something to do.
bool tellsApart(JobView& view, const Json& request, llvm::StringRef field) {
  if (field == "use_pure_fp16") return !request.value("use_pure_bf16", false);
  if (field == "fp16_allreduce")
    return request.value("mode", "") != "pserver" && sumsGradients(view);
  if (field == "dgc") return request.value("dgc", false);  // else: of which size on?
  if (field == "sync_batch_norm")
    return llvm::any_of(view.framework, [](mlir::Operation* op) {
      return pd::OpView(op).type() == "batch_norm" && !pd::OpView(op).getBool("is_test");
    });
  return true;
}

// A feature that there is not, or that nobody has asked for.
void otherFeature(JobView& view, Edits& edits) {
  auto text = view.job->getAttrOfType<mlir::StringAttr>(kRequestAttr);
  if (!text || view.ranks == 1) return;  // what ranks would do for each other is the same alone
  const Json request = Json::parse(text.getValue().str());
  for (const char* field : kFlags)
    if (request.contains(field) && request[field].is_boolean() && tellsApart(view, request, field))
      ask(view, edits, request, field, !request[field].get<bool>());
}

void otherNumber(JobView& view, Edits& edits) {
  auto text = view.job->getAttrOfType<mlir::StringAttr>(kRequestAttr);
  if (!text) return;
  const Json request = Json::parse(text.getValue().str());
  for (const char* field : kNumbers)
    if (request.contains(field) && request[field].is_number_integer())
      ask(view, edits, request, field, request[field].get<int64_t>() + 1);
  for (const auto& [field, words] : kWords)
    for (const char* word : words)
      if (word && request.contains(field) && request[field].is_string() && request[field] != "" &&
          request[field] != "none" && request[field] != "nccl2" && request[field] != word)
        ask(view, edits, request, field, word);
}

}  // namespace

std::vector<Kind> requestKinds() {
  const char* group = "request";
  return {{group, "request-feature", "the manifest asks for another feature than the job has",
           Place::Main, otherFeature},
          {group, "request-number", "the manifest asks for another number or way than the job has",
           Place::Main, otherNumber}};
}

}  // namespace dtranspile::mutate

#include "compiler/verify/structure/strategy_facts.h"

#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/analysis.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/analysis/relations/compression.h"
#include "compiler/verify/structure/strategy_shape.h"
#include "dialects/dist/changes.h"
#include "dialects/dist/dist.h"

namespace dtranspile::verify {
namespace {

using Json = nlohmann::ordered_json;

// Whether parameters are averaged after numbers of steps that the loss says.
bool followsLoss(const Contracts& contracts) {
  const auto statement = contracts.statements.find(kLocalSgdTag.str());
  return statement != contracts.statements.end() &&
         llvm::StringRef(statement->second).contains(" k steps after the last average");
}

// An attribute of the communicator to servers; null where the job has none, or rounds.
Json ofServerComm(mlir::ModuleOp job, llvm::StringRef name) {
  for (auto comm : job.getOps<dist::CommOp>())
    if (auto number = comm->getAttrOfType<mlir::IntegerAttr>(name)) return number.getInt();
  return {};
}

// How requests wait on the communicator to servers that apply every push by itself.
template <typename Read>
Json ofQueues(mlir::ModuleOp job, Read read) {
  bool single = false;
  job.walk([&](dist::ServeOp serve) {
    single |=
        serve.getMode() == dist::ServeMode::Async || serve.getMode() == dist::ServeMode::HalfAsync;
  });
  if (!single) return {};
  for (auto comm : job.getOps<dist::CommOp>())
    if (comm.getKind() == dist::CommKind::Rpc)
      return read(comm->getAttrOfType<mlir::DictionaryAttr>(dist::kSendingAttr));
  return {};
}

int64_t numberIn(mlir::DictionaryAttr entries, llvm::StringRef name) {
  auto number = entries ? entries.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
  return number ? number.getInt() : 1;
}

// Fields of the strategy that the module says too; what it does not say (how gradients were put
// into buckets, say) is the word of the manifest.
constexpr StrategyFact kStrategyFacts[] = {
    {"trainers",
     [](mlir::ModuleOp, const Json& manifest) {
       return manifest["roles"].empty() ? Json(0) : manifest["roles"][0]["ranks"];
     }},
    {"collective_mode",
     [](mlir::ModuleOp job, const Json& manifest) {
       const Contracts contracts = Contracts::of(job);
       if (contracts.declares(kLocalSgdTag) && !followsLoss(contracts)) return Json("local_sgd");
       // One rank has nothing to average.
       const bool alone = !manifest["roles"].empty() && manifest["roles"][0]["ranks"] == 1;
       return alone ? Json() : Json("grad_allreduce");
     }},
    {"adaptive_localsgd",
     [](mlir::ModuleOp job, const Json& manifest) {
       const Contracts contracts = Contracts::of(job);
       if (contracts.declares(kLocalSgdTag)) return Json(followsLoss(contracts));
       // One rank has nothing to average.
       const bool alone = !manifest["roles"].empty() && manifest["roles"][0]["ranks"] == 1;
       return alone ? Json() : Json(false);
     }},
    {"accumulate_steps",
     [](mlir::ModuleOp job, const Json&) {
       int64_t steps = 0;
       for (auto mesh : job.getOps<dist::MeshOp>())
         for (int64_t size : mesh.getTimeSizes()) steps = std::max<int64_t>(steps, 1) * size;
       return steps ? Json(steps) : Json();
     }},
    {"geo_sgd_need_push_nums",
     [](mlir::ModuleOp job, const Json&) { return ofServerComm(job, dist::kExchangeSteps); }},
    {"max_merge_var_num",
     [](mlir::ModuleOp job, const Json&) {
       return ofQueues(job, [](mlir::DictionaryAttr entries) {
         return Json(numberIn(entries, "max_merge_var_num"));
       });
     }},
    {"min_send_grad_num_before_recv",
     [](mlir::ModuleOp job, const Json&) {
       return ofQueues(job, [](mlir::DictionaryAttr entries) {
         return Json(numberIn(entries, "min_send_grad_num_before_recv"));
       });
     }},
    {"independent_recv_thread",
     [](mlir::ModuleOp job, const Json&) {
       return ofQueues(job, [](mlir::DictionaryAttr entries) {
         return Json(entries && entries.contains("independent_recv_thread"));
       });
     }},
    {"is_sgd_optimizer",
     [](mlir::ModuleOp job, const Json&) {
       return ofQueues(job, [](mlir::DictionaryAttr entries) {
         return Json(!(entries && entries.contains("average")));
       });
     }},
};

// As the manifest would have it; null for what has no such form.
Json jsonOf(mlir::Attribute attribute) {
  if (auto one = llvm::dyn_cast<mlir::BoolAttr>(attribute)) return one.getValue();
  if (auto one = llvm::dyn_cast<mlir::IntegerAttr>(attribute)) return one.getInt();
  if (auto one = llvm::dyn_cast<mlir::FloatAttr>(attribute)) return one.getValueAsDouble();
  if (auto one = llvm::dyn_cast<mlir::StringAttr>(attribute)) return one.getValue().str();
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
  if (!list) return {};
  Json all = Json::array();
  for (mlir::Attribute one : list) all.push_back(jsonOf(one));
  return all;
}

// What a field asks for where another one decides it.
Json asked(const Json& strategy, const std::string& field) {
  if (field == "amp_dtype" && strategy.value("use_pure_bf16", false)) return "bfloat16";
  return strategy[field];
}

// A list of one word may be written as the word.
bool alike(const Json& asked, const Json& made) {
  return asked == made || (made.is_array() && made.size() == 1 && asked == made[0]);
}

// Of a change that was asked for nothing is left out in silence: its pass declares it, whatever
// there was to do.
constexpr struct {
  const char *field, *pass;
} kChangingFields[] = {{"amp", "amp"},
                       {"recompute", "recompute"},
                       {"lars", "lars"},
                       {"lamb", "lamb"},
                       {"asp", "asp"},
                       {"lookahead", "lookahead"},
                       {"gradient_merge", "gradient-merge"}};

// A strategy that asks for a semantic pass and a module that declares no change of that pass
// contradict each other.
void checkMade(mlir::ArrayAttr changes, const Json& strategy,
               const std::function<void(const std::string&, std::string)>& refute) {
  const auto declares = [&](llvm::StringRef pass) {
    return changes && llvm::any_of(changes.getAsRange<mlir::DictionaryAttr>(),
                                   [&](mlir::DictionaryAttr change) {
                                     auto name = change.getAs<mlir::StringAttr>("pass");
                                     return name && name.getValue() == pass;
                                   });
  };
  for (const auto& [field, pass] : kChangingFields) {
    if (strategy.value(field, Json(false)) != Json(true) || declares(pass)) continue;
    // One step is merged with nothing.
    if (llvm::StringRef(field) == "gradient_merge" &&
        strategy.value("gradient_merge_k_steps", Json(2)) == Json(1))
      continue;
    refute(std::string("strategy.") + field,
           std::string("is true; the module declares no change of pass ") + pass);
  }
}

// Options that a pass declares where they are asked for only.
constexpr struct {
  const char *pass, *option, *field, *or_;
} kOptionsIfAsked[] = {{"recompute", "recompute_offload", "recompute_offload", "recompute_offload"},
                       {"amp", "pure", "use_pure_fp16", "use_pure_bf16"}};

// A change of the program is one that was asked for, with the numbers that were asked for: rung 4
// proves it as the module declares it.
void checkChanges(mlir::ModuleOp job, const Json& strategy,
                  const std::function<void(const std::string&, std::string)>& refute) {
  auto changes = job->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr);
  checkMade(changes, strategy, refute);
  if (!changes) return;
  for (auto change : changes.getAsRange<mlir::DictionaryAttr>()) {
    const std::string pass = change.getAs<mlir::StringAttr>("pass").getValue().str();
    std::string field = pass;
    std::replace(field.begin(), field.end(), '-', '_');
    if (strategy.value(field, Json(true)) == Json(false))
      refute("strategy." + field, "is false; the module declares the change of pass " + pass);
    for (const auto& [of, option, one, other] : kOptionsIfAsked) {
      const bool wanted = strategy.value(one, false) || strategy.value(other, false);
      const auto made = change.getAs<mlir::BoolAttr>(option);
      if (pass == of && strategy.contains(one) && wanted != (made && made.getValue()))
        refute(std::string("strategy.") + one, std::string("is ") +
                                                   (wanted ? "asked for" : "not asked for") +
                                                   "; pass " + pass + " declares otherwise");
    }
    for (mlir::NamedAttribute option : change) {
      const std::string name = option.getName().str();
      if (name == "pass" || !strategy.contains(name)) continue;
      const Json wanted = asked(strategy, name);
      if (const Json made = jsonOf(option.getValue()); !alike(wanted, made))
        refute("strategy." + name,
               "is " + wanted.dump() + "; pass " + pass + " declares that it took " + made.dump());
    }
  }
}

// In which steps parameters are averaged the contract says, and rung 2 reads off the program.
void checkPeriod(mlir::ModuleOp job, const Json& strategy,
                 const std::function<void(const std::string&, std::string)>& refute) {
  const Contracts contracts = Contracts::of(job);
  const auto statement = contracts.statements.find(kLocalSgdTag.str());
  if (statement == contracts.statements.end()) return;
  const auto number = [&](const char* name) {
    return strategy.contains(name) && strategy[name].is_number_integer()
               ? strategy[name].get<int64_t>()
               : int64_t{1};
  };
  std::string field, wanted;
  if (followsLoss(contracts)) {
    field = "adaptive_localsgd_init_k_steps";
    wanted =
        statementOf(AdaptivePeriod{number(field.c_str()), number("adaptive_localsgd_begin_step")});
  } else {
    field = "localsgd_k_steps";
    if (number(field.c_str()) > 1)
      wanted = statementOf(Period{number(field.c_str()), number("localsgd_begin_step")});
  }
  if (strategy.contains(field) && !wanted.empty() && statement->second != wanted)
    refute("strategy." + field, "is " + strategy[field].dump() +
                                    "; the contract \"local_sgd\" says: " + statement->second);
}

// How much of a gradient travels in which steps the contract lists, as rung 2 reads it off the
// updates.
void checkCompression(mlir::ModuleOp job, const Json& strategy,
                      const std::function<void(const std::string&, std::string)>& refute) {
  const Contracts contracts = Contracts::of(job);
  if (!contracts.declares(kCompressionTag) || !strategy.contains("sparsity")) return;
  std::vector<double> shares;
  for (const Json& text : strategy["sparsity"]) {
    double share = 0;
    if (!text.is_string() || llvm::StringRef(text.get<std::string>()).getAsDouble(share))
      return refute("strategy.sparsity", "holds " + text.dump() + ", which is no share");
    shares.push_back(share);
  }
  if (shares.empty()) shares.push_back(0.999);
  for (const std::string& site : contracts.sites.at(kCompressionTag.str())) {
    auto [name, stages] = llvm::StringRef(site).rsplit(": ");
    int64_t elements = 0;
    stages.split(" of ").second.consumeInteger(10, elements);
    const std::string wanted =
        siteOf(name, elements,
               sentBy(elements, shares, strategy.value("rampup_begin_step", int64_t{0}),
                      strategy.value("rampup_step", int64_t{1})));
    if (site != wanted)
      return refute("strategy.sparsity",
                    "asks for " + wanted + "; the contract \"dgc\" lists " + site);
  }
}

}  // namespace

// The strategy in the manifest is what people read to know what a job does. Each row of the table
// reads a field's value off the module itself; a field that the module does not show (null) is not
// judged.
void checkStrategy(mlir::ModuleOp job, const Json& strategy, const Json& expected,
                   const std::function<void(const std::string&, std::string)>& refute) {
  for (const StrategyFact& fact :
       llvm::concat<const StrategyFact>(llvm::ArrayRef(kStrategyFacts), shapeFacts())) {
    if (!strategy.contains(fact.field)) continue;
    if (const Json found = fact.inModule(job, expected);
        !found.is_null() && strategy[fact.field] != found)
      refute(std::string("strategy.") + fact.field,
             "is " + strategy[fact.field].dump() + "; the module was made with " + found.dump());
  }
  checkChanges(job, strategy, refute);
  checkPeriod(job, strategy, refute);
  checkCompression(job, strategy, refute);
}

}  // namespace dtranspile::verify

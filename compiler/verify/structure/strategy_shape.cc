#include "compiler/verify/structure/strategy_shape.h"

#include "compiler/analysis/relations/analysis.h"
#include "compiler/analysis/relations/compression.h"
#include "compiler/analysis/relations/table_sum.h"
#include "compiler/strategy/strategy.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {
namespace {

using Json = nlohmann::ordered_json;

// The first op of a kind in the roles; null where there is none. What was before the job was made
// is no part of it.
template <typename Op, typename Test>
Op firstInRoles(mlir::ModuleOp job, Test test) {
  Op found{};
  for (auto role : job.getOps<dist::RoleOp>())
    role->walk([&](Op op) {
      if (!test(op)) return mlir::WalkResult::advance();
      found = op;
      return mlir::WalkResult::interrupt();
    });
  return found;
}

template <typename Op>
Op firstInRoles(mlir::ModuleOp job) {
  return firstInRoles<Op>(job, [](Op) { return true; });
}

// Ranks along an axis of the trainers' mesh, which is that of the first role; 0: it has no such
// axis.
int64_t sizeOf(mlir::ModuleOp job, llvm::StringRef axis) {
  auto roles = job.getOps<dist::RoleOp>();
  dist::MeshOp mesh = roles.empty() ? dist::MeshOp() : dist::meshOf(*roles.begin());
  return mesh ? mesh.sizeOf(axis).value_or(0) : 0;
}

// As many as asked for; null where the request leaves the number to the program.
Json sizeAsked(mlir::ModuleOp job, const Json& manifest, const char* field, llvm::StringRef axis) {
  const Json& asked = manifest["strategy"][field];
  return asked.is_number_integer() && asked == 0 ? Json() : Json(sizeOf(job, axis));
}

bool declares(mlir::ModuleOp job, llvm::StringRef tag) { return Contracts::of(job).declares(tag); }

// A contract that is declared for nothing else than the feature. What has nothing to do declares
// nothing.
Json byContract(mlir::ModuleOp job, llvm::StringRef tag) {
  return declares(job, tag) ? Json(true) : Json();
}

// The samples are cut over ranks.
int64_t replicas(mlir::ModuleOp job) {
  int64_t count = 1;
  for (const char* axis : {"dp", "sharding", "inter", "intra"})
    count *= std::max<int64_t>(sizeOf(job, axis), 1);
  return count;
}

bool isSingle(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::TensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

// A gradient travels in single precision.
bool sendsSingles(mlir::ModuleOp job) {
  const auto sends = [&](mlir::Operation* op) {
    if (!llvm::isa<dist::AllReduceOp, dist::ReduceScatterOp>(op)) return false;
    auto name = op->getAttrOfType<mlir::FlatSymbolRefAttr>("comm");
    auto comm = name ? job.lookupSymbol<dist::CommOp>(name.getAttr()) : dist::CommOp();
    return comm && comm.getCarries().value_or("").starts_with("gradients") &&
           llvm::any_of(op->getOperandTypes(), isSingle);
  };
  return firstInRoles<mlir::Operation*>(job, sends) != nullptr;
}

// One that a rank takes of its own share, at the top: those of blocks stay as they are.
bool isNormOfBatch(mlir::Operation* op) {
  if (!llvm::isa<pd::ProgramOp>(op->getParentOp()) || !pd::OpView::isFrameworkOp(op) ||
      pd::OpView(op).type() != "batch_norm")
    return false;
  const pd::OpView norm(op);
  const auto said = [&](const char* name) {
    auto flag = llvm::dyn_cast_or_null<mlir::BoolAttr>(norm.attr(name));
    return flag && flag.getValue();
  };
  return !said("is_test") && !said("use_global_stats");
}

// Parameters lie in parts in stage 3, in the others what updates keep for them does, copies in full
// among it. In stage 3 too parameters stay whole that are not read where they could be put together
// (of a program that computes activations again, all of them): then it is the program of stage 1.
Json stageOf(mlir::ModuleOp job, const Json& asked) {
  auto source = job.lookupSymbol<mlir::ModuleOp>("source");
  const auto isGiven = [&](pd::VarOp variable) {
    return source && source.lookupSymbol<pd::VarOp>(variable.getSymName());
  };
  bool parameters = false, state = false;
  for (auto role : job.getOps<dist::RoleOp>())
    for (auto variable : role.getOps<pd::VarOp>()) {
      auto relation = variable->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
      if (!relation) continue;
      for (dist::AxisRelAttr one : relation.getAxes())
        if (one.getAxis().getValue() == "sharding" && one.getState() == dist::StateKind::Split)
          (variable.getParameter() && isGiven(variable) ? parameters : state) = true;
    }
  if (parameters) return 3;
  return state ? asked : Json();
}

// That of the servers, as the request names it.
Json servingMode(mlir::ModuleOp job) {
  auto serve = firstInRoles<dist::ServeOp>(job);
  return serve ? Json(dist::stringifyServeMode(serve.getMode()).str()) : Json();
}

// What the fields together ask for; `preset` if the module says so too.
Json presetOf(mlir::ModuleOp job, const Json& strategy) {
  const Json shown = servingMode(job);
  if (shown.is_null()) return {};
  Strategy asked;
  asked.preset = strategy.value("preset", asked.preset);
  asked.sync_mode = strategy.value("sync_mode", asked.sync_mode);
  asked.half_async = strategy.value("half_async", asked.half_async);
  asked.geo_sgd_mode = strategy.value("geo_sgd_mode", asked.geo_sgd_mode);
  asked.completely_not_async = strategy.value("completely_not_async", asked.completely_not_async);
  return shown == serveMode(asked) ? strategy["preset"] : shown;
}

// Endpoints cannot be read off the module, only how many servers it has: the list asked for stands
// where the numbers agree, and else the number alone.
Json serversOf(mlir::ModuleOp job, const Json& manifest) {
  auto serve = firstInRoles<dist::ServeOp>(job);
  if (!serve) return {};
  Strategy asked;
  for (const Json& one : manifest["strategy"]["pservers"])
    if (one.is_string()) asked.pservers.push_back(one.get<std::string>());
  const std::string name = serve->getParentOfType<dist::RoleOp>().getSymName().str();
  for (const Json& role : manifest["roles"])
    if (role["name"] == name)
      return role["ranks"] == serverCount(asked) ? manifest["strategy"]["pservers"]
                                                 : Json(std::to_string(role["ranks"].get<int>()));
  return {};
}

Json scaleOf(mlir::ModuleOp job, const Json& manifest) {
  if (declares(job, kGradientSumTag)) return "sum";
  const Json& asked = manifest["strategy"]["scale_strategy"];
  if (asked != "sum" || replicas(job) == 1 || declares(job, kLocalSgdTag)) return {};
  // A loss that is a sum over the samples has gradients that are sums as they are.
  const Json fetches = manifest.value("fetches", Json::array());
  for (const Json& fetch : fetches)
    if (fetch.value("name", "") == manifest.value("loss", "") &&
        fetch.value("combine", "") == "mean")
      return "avg";
  return {};
}

// Every dense gradient of a momentum update, from a size on, is compressed, if not all of it is to
// be sent in the end.
Json compressionOf(mlir::ModuleOp job, const Json& manifest) {
  const Json& strategy = manifest["strategy"];
  const Json sparsity = strategy.value("sparsity", Json::array());
  if (declares(job, kCompressionTag)) return true;
  if (strategy["dgc"] != true || replicas(job) == 1 ||
      (!sparsity.empty() && sparsity.back() == "0"))
    return {};
  const int64_t least = strategy.value("dgc_min_size", int64_t{16384});
  const auto isCompressed = [&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "momentum") return false;
    const mlir::Value parameter = pd::OpView(op).input("Param"),
                      grad = pd::OpView(op).input("Grad");
    auto type = llvm::dyn_cast_or_null<mlir::RankedTensorType>(parameter ? parameter.getType()
                                                                         : mlir::Type());
    return type && grad && grad.getType() == type && type.hasStaticShape() && isSingle(type) &&
           type.getNumElements() >= least;
  };
  return firstInRoles<mlir::Operation*>(job, isCompressed) ? Json(false) : Json();
}

// Of every feed that the request names: along which dim the ranks' samples lie.
Json batchDimsOf(mlir::ModuleOp job, const Json& manifest) {
  Json shown = manifest["strategy"]["batch_dims"];
  if (!shown.is_array() || replicas(job) == 1) return {};
  const Json feeds = manifest.value("feeds", Json::array());
  for (Json& entry : shown) {
    if (!entry.is_string()) return {};
    const std::string name = llvm::StringRef(entry.get<std::string>()).split('=').first.str();
    for (const Json& feed : feeds)
      if (feed["name"] == name)
        entry = name + "=" +
                (feed["batch"].is_null() ? "none"
                                         : std::to_string(feed["batch"]["dim"].get<int64_t>()));
  }
  return shown;
}

// Fields and how each is read off the module: from sizes of mesh axes, contracts, and ops that one
// strategy alone makes. Null where the module does not tell.
constexpr StrategyFact kShapeFacts[] = {
    {"batch_dims", batchDimsOf},
    {"mode",
     [](mlir::ModuleOp job, const Json& manifest) {
       const Json& asked = manifest["strategy"]["mode"];
       if (asked == "") return Json();
       if (firstInRoles<dist::ServeOp>(job)) return Json("pserver");
       return asked == "nccl2" ? asked : Json("collective");
     }},
    {"preset",
     [](mlir::ModuleOp job, const Json& manifest) { return presetOf(job, manifest["strategy"]); }},
    {"pservers", serversOf},
    {"enable_dc_asgd",
     [](mlir::ModuleOp job, const Json&) {
       return servingMode(job).is_null() ? Json() : Json(declares(job, "delay_compensation"));
     }},
    {"sum_distributed_tables",
     [](mlir::ModuleOp job, const Json&) { return byContract(job, kTableSumTag); }},
    {"use_hierarchical_allreduce",
     [](mlir::ModuleOp job, const Json&) { return Json(sizeOf(job, "intra") > 0); }},
    {"hierarchical_allreduce_inter_nranks",
     [](mlir::ModuleOp job, const Json& manifest) {
       return sizeAsked(job, manifest, "hierarchical_allreduce_inter_nranks", "intra");
     }},
    {"fp16_allreduce",
     [](mlir::ModuleOp job, const Json& manifest) {
       if (declares(job, "fp16_wire")) return Json(true);
       const bool asked = manifest["strategy"]["fp16_allreduce"] == true;
       return asked && replicas(job) > 1 && sendsSingles(job) ? Json(false) : Json();
     }},
    {"dgc", compressionOf},
    {"sync_batch_norm",
     [](mlir::ModuleOp job, const Json& manifest) {
       const bool asked = manifest["strategy"]["sync_batch_norm"] == true;
       if (asked && replicas(job) > 1 && firstInRoles<mlir::Operation*>(job, isNormOfBatch))
         return Json(false);
       const bool made = static_cast<bool>(firstInRoles<dist::CompositeOp>(
           job, [](dist::CompositeOp op) { return op.getOp() == "sync_batch_norm"; }));
       return made ? Json(true) : Json();
     }},
    {"scale_strategy", scaleOf},
    {"sharding", [](mlir::ModuleOp job, const Json&) { return Json(sizeOf(job, "sharding") > 0); }},
    {"sharding_degree",
     [](mlir::ModuleOp job, const Json& manifest) {
       return sizeAsked(job, manifest, "sharding_degree", "sharding");
     }},
    {"sharding_stage",
     [](mlir::ModuleOp job, const Json& manifest) {
       return stageOf(job, manifest["strategy"]["sharding_stage"]);
     }},
    {"pipeline",
     [](mlir::ModuleOp job, const Json&) {
       return Json(static_cast<bool>(firstInRoles<dist::MicroOp>(job)));
     }},
    {"stages", [](mlir::ModuleOp job,
                  const Json& manifest) { return sizeAsked(job, manifest, "stages", "pp"); }},
    {"virtual_stages",
     [](mlir::ModuleOp job, const Json&) {
       auto loop = firstInRoles<dist::MicroOp>(job);
       return loop ? Json(loop.getChunks()) : Json();
     }},
    {"schedule_mode",
     [](mlir::ModuleOp job, const Json&) {
       auto loop = firstInRoles<dist::MicroOp>(job);
       return loop ? Json(loop.getSchedule().str()) : Json();
     }},
    {"tensor_parallel",
     [](mlir::ModuleOp job, const Json&) { return Json(sizeOf(job, "mp") > 0); }},
    {"tensor_parallel_degree",
     [](mlir::ModuleOp job, const Json& manifest) {
       return sizeAsked(job, manifest, "tensor_parallel_degree", "mp");
     }},
    {"sequence_parallel",
     [](mlir::ModuleOp job, const Json&) {
       const auto overLayers = [&](dist::ReduceScatterOp op) {
         auto comm = job.lookupSymbol<dist::CommOp>(op.getCommAttr().getAttr());
         return comm && llvm::equal(comm.getAxes().getAsValueRange<mlir::StringAttr>(),
                                    llvm::ArrayRef<llvm::StringRef>{"mp"});
       };
       return firstInRoles<dist::ReduceScatterOp>(job, overLayers) ? Json(true) : Json();
     }},
};

}  // namespace

llvm::ArrayRef<StrategyFact> shapeFacts() { return kShapeFacts; }

}  // namespace dtranspile::verify

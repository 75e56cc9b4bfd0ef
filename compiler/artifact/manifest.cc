// manifest.json from the job module: everything here is read off the module, nothing is kept beside
// it but the strategy as honoured.
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/fetches.h"
#include "compiler/artifact/job.h"
#include "compiler/artifact/manifest_schema.h"
#include "compiler/artifact/producer.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/dist/settings.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile {
namespace {

using Json = nlohmann::ordered_json;

std::string textOf(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

// dims, dtype and LoD levels of a value type, for feeds and persistables.
void describeType(mlir::Type type, Json& out) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  if (!tensor) {
    out["dtype"] = nullptr;
    return;
  }
  std::optional<DType> dtype = pd::dtypeOf(tensor.getElementType());
  out["dtype"] = dtype ? Json(NameOf(*dtype)) : Json(nullptr);
  llvm::SmallVector<int64_t> dims = pd::dimsOf(tensor);
  out["dims"] = std::vector<int64_t>(dims.begin(), dims.end());
  auto lod = llvm::dyn_cast<pd::LodType>(type);
  out["lod_level"] = lod ? lod.getLevels() : 0;
}

Json meshes(mlir::ModuleOp module) {
  Json list = Json::array();
  for (auto mesh : module.getOps<dist::MeshOp>()) {
    Json axes = Json::array(), time = Json::array();
    for (auto [axis, size] :
         llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes()))
      axes.push_back({{"name", axis.str()}, {"size", size}});
    for (auto axis : mesh.getTimeAxes().getAsValueRange<mlir::StringAttr>())
      time.push_back(axis.str());
    list.push_back({{"name", mesh.getSymName().str()}, {"axes", axes}, {"time", time}});
  }
  return list;
}

int64_t rankCount(const Json& meshes, llvm::StringRef name) {
  int64_t count = 1;
  for (const Json& mesh : meshes)
    if (mesh["name"] == name.str())
      for (const Json& axis : mesh["axes"]) count *= axis["size"].get<int64_t>();
  return count;
}

Json comms(mlir::ModuleOp module) {
  Json list = Json::array();
  for (auto comm : module.getOps<dist::CommOp>()) {
    Json axes = Json::array();
    for (auto axis : comm.getAxes().getAsValueRange<mlir::StringAttr>()) axes.push_back(axis.str());
    Json entry = {{"name", comm.getSymName().str()},
                  {"mesh", comm.getMesh().str()},
                  {"axes", axes},
                  {"kind", dist::stringifyCommKind(comm.getKind()).str()}};
    if (comm.getSubset()) entry["subset"] = textOf(*comm.getSubset());
    if (comm.getServer()) entry["server"] = comm.getServer()->str();
    list.push_back(entry);
  }
  return list;
}

Json feeds(pd::ProgramOp program) {
  Json list = Json::array();
  for (pd::InputOp input : inputsOf(program)) {
    Json feed = {{"name", input.getName().str()}};
    describeType(input.getValue().getType(), feed);
    auto batch = input->getAttrOfType<dist::BatchAttr>("dist.batch");
    feed["batch"] = nullptr;
    if (batch) {
      Json axes = Json::array();
      for (mlir::StringAttr axis : batch.getAxes()) axes.push_back(axis.getValue().str());
      feed["batch"] = {{"dim", batch.getDim()}, {"axes", axes}};
    }
    list.push_back(feed);
  }
  return list;
}

Json persistables(dist::RoleOp role) {
  Json list = Json::array();
  for (auto var : role.getBody().front().getOps<pd::VarOp>()) {
    Json entry = {{"name", var.getSymName().str()}};
    describeType(var.getType(), entry);
    entry["role"] = role.getSymName().str();
    entry["parameter"] = var.getParameter();
    auto at = var->getAttrOfType<dist::SelAttr>("dist.at");
    entry["owner"] = at ? textOf(at) : "all";
    auto relation = var->getAttrOfType<dist::RelAttr>("dist.rel");
    entry["relation"] = relation ? Json(textOf(relation)) : Json(nullptr);
    list.push_back(entry);
  }
  return list;
}

// 0 where extents are unknown.
int64_t bytesOf(mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  if (!tensor || !tensor.hasStaticShape()) return 0;
  std::optional<DType> dtype = pd::dtypeOf(tensor.getElementType());
  return dtype ? tensor.getNumElements() * static_cast<int64_t>(SizeOf(*dtype)) : 0;
}

// Payload per rank and step by kind of operation, for those whose extents are known before the
// batch is; `?` extents count as 0 and are named, so that a reader knows that the sum is a lower
// bound.
Json communication(pd::ProgramOp program) {
  Json list = Json::array();
  std::map<std::string, std::pair<int64_t, int64_t>> byKind;
  program.walk([&](mlir::Operation* op) {
    if (!dist::commOf(op) || llvm::isa<dist::WaitOp>(op)) return;
    int64_t bytes = 0;
    for (mlir::Type type : op->getOperandTypes()) bytes += bytesOf(dist::unlocated(type));
    auto& entry = byKind[op->getName().stripDialect().str()];
    entry.first += 1;
    entry.second += bytes;
  });
  for (auto& [kind, entry] : byKind)
    list.push_back({{"operation", kind}, {"count", entry.first}, {"payload_bytes", entry.second}});
  return list;
}

// What a role keeps, and what it sends in a step and at start-up.
Json ledger(dist::RoleOp role) {
  int64_t parameters = 0, others = 0;
  for (auto var : role.getBody().front().getOps<pd::VarOp>())
    (var.getParameter() ? parameters : others) += bytesOf(var.getType());
  Json entry = {
      {"class", role.getSymName().str()}, {"parameter_bytes", parameters}, {"state_bytes", others}};
  if (pd::ProgramOp main = findProgram(role, "main")) entry["step"] = communication(main);
  if (pd::ProgramOp startup = findProgram(role, "startup"))
    entry["startup"] = communication(startup);
  return entry;
}

}  // namespace

// Keys in a fixed order, since the digest is over the text. `knownFetches`: relations of fetches
// that were found before (reading a job does not analyse it again).
nlohmann::ordered_json makeManifest(mlir::ModuleOp module, const Json& strategy,
                                    const Json* knownFetches) {
  Json manifest = {{"schema", kManifestSchema},
                   {"digest", ""},
                   {"producer", kProducer},
                   {"mode", strategy.value("mode", "")},
                   {"strategy", strategy}};
  manifest["meshes"] = meshes(module);
  Json roles = Json::array(), classes = Json::array(), vars = Json::array(),
       ledgers = Json::array();
  Json inputs = Json::array(), fetches = Json::array();
  std::string loss;
  for (auto role : module.getOps<dist::RoleOp>()) {
    std::string name = role.getSymName().str();
    int64_t ranks = rankCount(manifest["meshes"], role.getMesh());
    roles.push_back({{"name", name},
                     {"mesh", role.getMesh().str()},
                     {"ranks", ranks},
                     {"main", "main"},
                     {"startup", findProgram(role, "startup") ? Json("startup") : Json(nullptr)}});
    // Where the job says so.
    if (llvm::StringRef device = dist::deviceOf(role); !device.empty())
      roles.back()["device"] = device.str();
    if (int64_t threads = dist::threadsOf(role)) roles.back()["threads"] = threads;
    mlir::FailureOr<std::vector<RankClass>> found = classesOf(role);
    if (mlir::succeeded(found))
      for (const RankClass& one : *found)
        classes.push_back({{"name", one.name},
                           {"role", name},
                           {"selector", one.where.getSets().empty() ? "" : textOf(one.where)},
                           {"ranks", one.ranks}});
    for (Json& entry : persistables(role)) vars.push_back(std::move(entry));
    ledgers.push_back(ledger(role));
    pd::ProgramOp main = findProgram(role, "main");
    if (!main) continue;
    for (Json& entry : feeds(main)) inputs.push_back(std::move(entry));
    if (!loss.empty()) continue;
    loss = findLoss(main);
    if (loss.empty() || knownFetches) continue;
    fetches = verify::fetchesText(verify::fetchRelations(module, role, loss));
  }
  manifest["roles"] = roles;
  manifest["comms"] = comms(module);
  manifest["classes"] = classes;
  manifest["loss"] = loss;
  manifest["feeds"] = inputs;
  manifest["fetches"] = knownFetches ? *knownFetches : fetches;
  manifest["persistables"] = vars;
  auto contracts = module->getAttrOfType<mlir::ArrayAttr>("dist.contracts");
  manifest["contracts"] = Json::array();
  if (contracts)
    for (mlir::Attribute contract : contracts) manifest["contracts"].push_back(textOf(contract));
  manifest["ledger"] = ledgers;
  manifest["digest"] = digestOf(module, manifest);
  return manifest;
}

}  // namespace dtranspile

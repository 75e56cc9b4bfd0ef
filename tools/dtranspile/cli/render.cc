#include "tools/dtranspile/cli/render.h"

#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace dtranspile::cli {
namespace {

struct RoleRow {
  int bits;
  const char* name;
};
constexpr RoleRow kRoles[] = {{pd::kLrSched, "schedule"},
                              {pd::kOptimize, "optimize"},
                              {pd::kLoss, "loss"},
                              {pd::kBackward, "backward"}};

const char* roleName(int role) {
  for (const RoleRow& row : kRoles)
    if (role & row.bits) return row.name;
  return "forward";
}

bool isListed(mlir::Operation* op) {
  return pd::OpView::isFrameworkOp(op) ||
         llvm::isa_and_nonnull<dist::DistDialect>(op->getDialect());
}

template <typename Range>
std::string names(Range values) {
  std::vector<std::string> list;
  for (mlir::Value value : values) list.push_back(dist::nameOf(value).str());
  return llvm::join(list, ", ");
}

// A line per op: number, role, type, operands -> results by name.
void listProgram(pd::ProgramOp program, llvm::raw_ostream& out) {
  out << "program " << program.getSymName() << ", version " << program.getVersion() << "\n";
  int number = 0;
  program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!isListed(op)) return;
    bool framework = pd::OpView::isFrameworkOp(op);
    std::string type = framework ? pd::OpView(op).type().str() : op->getName().getStringRef().str();
    out << llvm::format("%5d  %-9s %-28s ", number++,
                        framework ? roleName(pd::OpView(op).role()) : "job", type.c_str());
    out << names(op->getOperands()) << " -> " << names(op->getResults()) << "\n";
  });
}

std::string dotString(llvm::StringRef text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Graphviz: a cluster per program, a node per op or feed, an edge per operand.
void drawProgram(pd::ProgramOp program, int cluster, llvm::raw_ostream& out) {
  out << "  subgraph cluster_" << cluster << " {\n    label=" << dotString(program.getSymName())
      << ";\n";
  llvm::DenseMap<mlir::Operation*, int> ids;
  program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (!isListed(op) && !llvm::isa<pd::InputOp>(op)) return;
    int id = static_cast<int>(ids.size());
    ids[op] = id;
    std::string label = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).type().str()
                                                      : op->getName().getStringRef().str();
    if (auto input = llvm::dyn_cast<pd::InputOp>(op)) label = input.getName().str();
    out << "    n" << cluster << "_" << id << " [label=" << dotString(label) << "];\n";
    for (mlir::Value operand : op->getOperands()) {
      auto from = ids.find(operand.getDefiningOp());
      if (operand.getDefiningOp() && from != ids.end())
        out << "    n" << cluster << "_" << from->second << " -> n" << cluster << "_" << id
            << " [label=" << dotString(dist::nameOf(operand)) << "];\n";
    }
  });
  out << "  }\n";
}

}  // namespace

std::string listModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.walk([&](pd::ProgramOp program) { listProgram(program, out); });
  return text;
}

std::string drawModule(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "digraph program {\n  node [shape=box];\n";
  int cluster = 0;
  module.walk([&](pd::ProgramOp program) { drawProgram(program, cluster++, out); });
  out << "}\n";
  return text;
}

std::string describeJob(const nlohmann::ordered_json& manifest) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "job " << manifest.value("digest", "") << "\n  mode " << manifest.value("mode", "")
      << "\n";
  for (const auto& role : manifest["roles"])
    out << "  role " << role.value("name", "") << ": " << role.value("ranks", 0) << " ranks"
        << (role.contains("device") ? " on " + role.value("device", "") : "")
        << (role.contains("threads")
                ? ", " + std::to_string(role.value("threads", 0)) + " threads each"
                : "")
        << "\n";
  for (const auto& mesh : manifest["meshes"]) {
    out << "  mesh " << mesh.value("name", "") << ":";
    for (const auto& axis : mesh["axes"])
      out << " " << axis.value("name", "") << " = " << axis.value("size", 0);
    out << "\n";
  }
  for (const auto& comm : manifest["comms"])
    out << "  communicator " << comm.value("name", "") << " over " << comm["axes"].dump() << "\n";
  for (const auto& feed : manifest["feeds"])
    out << "  feed " << feed.value("name", "") << " " << feed["dims"].dump()
        << (feed["batch"].is_null() ? ", the same on every rank"
                                    : ", batch " + feed["batch"].dump())
        << "\n";
  out << "  loss " << manifest.value("loss", "") << "\n";
  for (const auto& entry : manifest["ledger"])
    out << "  per rank of " << entry.value("class", "") << ": " << entry.dump() << "\n";
  return text;
}

}  // namespace dtranspile::cli

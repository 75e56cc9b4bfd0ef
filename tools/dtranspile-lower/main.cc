// dtranspile-lower FILE: the plan of every program of the file in text form, one line per node, for
// lit tests and for authors of rules. Fetched is what no op reads. Extents of feeds are those of
// the text. --kernels prints the loop nests of kernels as well. With --form-only ops are not held
// to their rows: extents come with the data, so the lowering has to refuse by itself what the
// verifier refuses where declared types show it.
//
//   call dt_gather(x float32[4x3], index int64[2], -; 0 1) -> out float32[2x3]
//   kernel relu(x float32[2x3]) -> out float32[2x3]
#include <CLI/CLI.hpp>
#include <cstdio>

#include "compiler/lower/compile.h"
#include "compiler/lower/kernel/emit.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/form_only.h"
#include "dialects/pd/op_view.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile::lower {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

class Printer {
 public:
  Printer(const Plan& plan, bool kernels) : plan_(plan), kernels_(kernels) {}

  void print(const std::vector<Node>& body, int indent = 0) {
    for (const Node& node : body) printNode(node, indent);
  }

 private:
  // "x float32[2x3]"; views name the buffer whose memory they are, extents that only a step knows
  // are ?.
  std::string text(int index) const {
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(index)];
    std::string dims;
    for (int64_t extent : buffer.dims)
      dims += (dims.empty() ? "" : "x") + (extent < 0 ? "?" : std::to_string(extent));
    const bool view = buffer.storage >= 0 && buffer.storage != index;
    return buffer.name + " " + NameOf(buffer.dtype) + "[" + dims + "]" +
           (view ? " of " + plan_.buffers[static_cast<size_t>(buffer.storage)].name : "");
  }

  // Arguments that are written, or those that are read; `-` stands for a slot of a call without
  // argument. Outputs are the slots from the first one with a written argument on.
  std::string arguments(const Node& node, bool written) const {
    const auto* call = node.as<CallNode>();
    std::vector<int> slots = call ? call->slots : std::vector<int>();
    if (slots.empty()) {
      for (size_t i = 0; i <= node.args.size(); ++i) slots.push_back(static_cast<int>(i));
    }
    std::string out;
    bool outputs = false;
    for (size_t slot = 0; slot + 1 < slots.size(); ++slot) {
      const auto from = static_cast<size_t>(slots[slot]), to = static_cast<size_t>(slots[slot + 1]);
      for (size_t i = from; i < to; ++i) {
        outputs |= node.writes[i];
        if (written ? node.writes[i] : node.reads[i])
          out += (out.empty() ? "" : ", ") + text(node.args[i]);
      }
      if (from == to && outputs == written) out += out.empty() ? "-" : ", -";
    }
    return out;
  }

  static std::string attributes(const CallNode& node) {
    std::string out;
    for (int64_t value : node.ints) out += " " + std::to_string(value);
    for (double value : node.reals) out += " " + number(value);
    for (const std::string& value : node.strings) out += " '" + value + "'";
    return out;
  }

  void printNode(const Node& node, int indent) {
    llvm::outs().indent(indent);
    std::visit([&](const auto& what) { printNode(node, what, indent); }, node.what);
  }

  void printNode(const Node& node, const KernelNode& what, int) {
    // The type of the op alone: positions are for messages.
    llvm::outs() << "kernel " << llvm::StringRef(node.op).split(' ').first << "("
                 << arguments(node, false) << ") -> " << arguments(node, true) << "\n";
    if (kernels_) llvm::outs() << emitKernel(*what.kernel) << "\n";
  }
  void printNode(const Node& node, const CallNode& what, int) {
    llvm::outs() << "call " << what.callee << "(" << arguments(node, false) << ";"
                 << attributes(what) << ") -> " << arguments(node, true) << "\n";
  }
  static std::string text(const exec::Selector& where) {
    std::string out;
    for (const auto& [axis, bounds] : where.sets) {
      out += (out.empty() ? "" : " and ") + axis + " in";
      for (size_t i = 0; i + 1 < bounds.size(); i += 2)
        out += " [" + std::to_string(bounds[i]) + ", " + std::to_string(bounds[i + 1]) + ")";
    }
    return out;
  }

  // "even(12) of dim 0 over sharding"
  static std::string text(const exec::Layout& layout) {
    static constexpr const char* kKinds[] = {"even", "blocks", "hashed", "cyclic"};
    std::string out =
        std::string(kKinds[static_cast<int>(layout.kind)]) + "(" + std::to_string(layout.extent);
    if (layout.per > 0) out += ", per " + std::to_string(layout.per);
    if (layout.first > 0) out += ", first " + std::to_string(layout.first);
    out += layout.dim < 0 ? ") flat over" : ") of dim " + std::to_string(layout.dim) + " over";
    for (const std::string& axis : layout.axes) out += " " + axis;
    return out;
  }

  // " 3 instances"
  std::string instances(int index) const {
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(index)];
    const Buffer& owner =
        buffer.stride > 0 ? buffer : plan_.buffers[static_cast<size_t>(buffer.storage)];
    return owner.stride > 0 ? " (" + std::to_string(owner.instances) + " instances)" : "";
  }

  void printNode(const Node& node, const CopyNode&, int) {
    llvm::outs() << "copy " << text(node.args[0]) << " -> " << text(node.args[1]) << "\n";
  }
  void printNode(const Node& node, const StartNode& what, int) {
    llvm::outs() << "start " << comm::NameOf(what.collective) << " " << what.ticket << " on "
                 << plan_.comms[static_cast<size_t>(what.comm)].name;
    const bool peer = what.collective == comm::Kind::kSend || what.collective == comm::Kind::kRecv;
    if (peer || what.collective == comm::Kind::kReduce || what.collective == comm::Kind::kBroadcast)
      llvm::outs() << (peer ? " with " : " root ") << what.root;
    llvm::outs() << " (" << arguments(node, false) << ") -> " << arguments(node, true);
    if (peer) llvm::outs() << instances(node.args[0]);
    llvm::outs() << "\n";
  }
  void printNode(const Node&, const WaitNode& what, int) {
    llvm::outs() << "wait " << what.ticket << "\n";
  }
  void printNode(const Node&, const IfNode& what, int indent) {
    llvm::outs() << "if " << text(what.condition) << " {\n";
    print(what.then, indent + 2);
    if (!what.otherwise.empty()) llvm::outs().indent(indent) << "} else {\n";
    print(what.otherwise, indent + 2);
    llvm::outs().indent(indent) << "}\n";
  }
  void printNode(const Node&, const WhileNode& what, int indent) {
    llvm::outs() << "while " << text(what.condition) << " {\n";
    print(what.body, indent + 2);
    llvm::outs().indent(indent) << "}\n";
  }

  void printNode(const Node&, const AtNode& what, int indent) {
    llvm::outs() << "at " << text(what.at) << " {\n";
    print(what.body, indent + 2);
    if (!what.otherwise.empty()) llvm::outs().indent(indent) << "} else {\n";
    print(what.otherwise, indent + 2);
    llvm::outs().indent(indent) << "}\n";
  }
  void printNode(const Node& node, const CoordNode& what, int) {
    llvm::outs() << "coord " << what.axis << " -> " << text(node.args[0]) << "\n";
  }
  void printNode(const Node& node, const SliceNode& what, int) {
    llvm::outs() << "slice " << text(what.layout) << " (" << text(node.args[0]) << ") -> "
                 << text(node.args[1]) << "\n";
  }
  void printNode(const Node&, const MicroNode& what, int indent) {
    llvm::outs() << "micro " << what.axis << " " << what.micros << ", instances " << what.instances
                 << ", order";
    for (const std::vector<int64_t>& entry : what.order)
      llvm::outs() << " " << what.tasks[static_cast<size_t>(entry[0])].name << entry[1];
    llvm::outs() << " {\n";
    for (const MicroNode::Task& task : what.tasks) {
      llvm::outs().indent(indent) << "task " << task.name << "\n";
      print(task.body, indent + 2);
    }
    llvm::outs().indent(indent) << "}\n";
  }
  void printNode(const Node&, const BlocksNode& what, int indent) {
    llvm::outs() << "blocks " << text(what.layout) << " {\n";
    for (const BlocksNode::Body& one : what.bodies) {
      llvm::outs().indent(indent) << "extent " << one.extent << "\n";
      print(one.body, indent + 2);
    }
    llvm::outs().indent(indent) << "}\n";
  }
  void printNode(const Node& node, const RequestNode& what, int) {
    static constexpr const char* kKinds[] = {"push", "pull", "lookup"};
    llvm::outs() << kKinds[static_cast<int>(what.kind)] << " " << what.table << " on "
                 << plan_.comms[static_cast<size_t>(what.comm)].name;
    if (what.layout) llvm::outs() << ", " << text(*what.layout);
    llvm::outs() << " (" << arguments(node, false) << ") -> " << arguments(node, true) << "\n";
  }
  void printNode(const Node&, const PhaseNode& what, int) {
    llvm::outs() << "phase " << (what.phase == exec::Phase::kPush ? "push" : "pull") << " on "
                 << plan_.comms[static_cast<size_t>(what.comm)].name << "\n";
  }
  void printNode(const Node& node, const MergedNode& what, int) {
    llvm::outs() << "merged " << what.table << " -> " << text(node.args[0]) << "\n";
  }

  const Plan& plan_;
  const bool kernels_;
};

// What no op reads, in the order of the program.
std::vector<std::string> unread(pd::ProgramOp program) {
  std::vector<std::string> names;
  for (mlir::Operation& op : *program.getBodyBlock()) {
    for (mlir::Value result : op.getResults()) {
      const bool tensor = pd::declaredInfo(result.getType()).kind == pd::Kind::Tensor;
      if (tensor && result.use_empty() && pd::OpView::isFrameworkOp(&op))
        names.push_back(pd::nameOf(result).str());
    }
  }
  return names;
}

bool lowerAndPrint(pd::ProgramOp program, bool kernels) {
  CompileOptions options;
  options.main.fetches = unread(program);
  auto plan = lowerPrograms(program, nullptr, options);
  if (mlir::failed(plan)) return false;
  for (const PlanProgram& one : plan->programs) {
    llvm::outs() << "program " << program.getSymName();
    if (one.name != "main") llvm::outs() << " " << one.name;
    llvm::outs() << "\n";
    Printer(*plan, kernels).print(one.body, 2);
  }
  return true;
}

int run(const std::string& file, bool kernels, bool formOnly) {
  mlir::MLIRContext context;
  context.loadDialect<pd::PdDialect, dist::DistDialect>();
  context.printOpOnDiagnostic(false);
  if (formOnly) pd::checkFormOnly(&context);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  if (!module) return 1;
  bool all = true;
  for (pd::ProgramOp program : module->getOps<pd::ProgramOp>())
    all &= lowerAndPrint(program, kernels);
  return all ? 0 : 1;
}

}  // namespace
}  // namespace dtranspile::lower

int main(int argc, char** argv) {
  CLI::App app{"The plans of programs in text form."};
  std::string file;
  bool kernels = false, formOnly = false;
  app.add_option("file", file, "programs as text; - is standard input")->required();
  app.add_flag("--kernels", kernels, "print the loop nests of kernels");
  app.add_flag("--form-only", formOnly,
               "leave to the lowering what declared types already show to be wrong");
  CLI11_PARSE(app, argc, argv);
  return dtranspile::lower::run(file, kernels, formOnly);
}

// dtranspile-lower FILE: the plan of every program of the file as text
// (runtime/exec/plan_printer.h), for lit tests and for authors of rules. Fetched is what no op
// reads. Extents of feeds are those of the text. --kernels prints the loop nests of kernels as
// well. With --form-only ops are not held to their rows: extents come with the data, so the
// lowering has to refuse by itself what the verifier refuses where declared types show it.
#include <CLI/CLI.hpp>

#include "compiler/lower/compile.h"
#include "compiler/lower/kernel/emit.h"
#include "compiler/lower/plan_writer.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/form_only.h"
#include "dialects/pd/op_view.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/exec/plan_printer.h"

namespace dtranspile::lower {
namespace {

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

// Kernels go by their place in `texts`: nothing is compiled here.
struct KernelTexts {
  std::vector<std::string> texts;
  std::map<const Kernel*, std::string> symbols;

  void collect(const std::vector<Node>& body) {
    for (const Node& node : body) {
      for (const std::vector<Node>* inner : node.bodies()) collect(*inner);
      const auto* what = node.as<KernelNode>();
      if (!what) continue;
      symbols[what->kernel.get()] = std::to_string(texts.size());
      texts.push_back(emitKernel(*what->kernel));
    }
  }
};

// `startup`: null, or the start-up program of the plan, which is lowered by rules of its own.
bool lowerAndPrint(pd::ProgramOp program, pd::ProgramOp startup, bool kernels) {
  CompileOptions options;
  options.main.fetches = unread(program);
  auto plan = lowerPrograms(program, startup, options);
  if (mlir::failed(plan)) return false;
  KernelTexts found;
  for (const PlanProgram& one : plan->programs) found.collect(one.body);
  exec::PlanTextOptions printing;
  if (kernels)
    printing.kernel = [&](const std::string& symbol) { return found.texts[std::stoul(symbol)]; };
  const exec::Plan written = toRuntime(*plan, {}, false, found.symbols);
  for (const exec::Program& one : written.programs)
    llvm::outs() << "program " << program.getSymName() << (one.name == "main" ? "" : " " + one.name)
                 << "\n"
                 << exec::BodyText(written, one, 1, printing);
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
  const mlir::SymbolTable symbols(*module);
  const auto main = symbols.lookup<pd::ProgramOp>("main");
  const auto startup = main ? symbols.lookup<pd::ProgramOp>("startup") : pd::ProgramOp();
  for (pd::ProgramOp program : module->getOps<pd::ProgramOp>())
    if (program != startup)
      all &= lowerAndPrint(program, program == main ? startup : pd::ProgramOp(), kernels);
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

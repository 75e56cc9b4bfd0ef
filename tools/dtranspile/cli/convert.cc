// dtranspile convert IN OUT, dtranspile show FILE|JOB|PLAN
#include <unistd.h>

#include "compiler/artifact/job.h"
#include "compiler/export/program.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/form_only.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "runtime/exec/plan_printer.h"
#include "runtime/io/json.h"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/render.h"
#include "tools/dtranspile/cli/render_job.h"
#include "tools/dtranspile/cli/runnable.h"
#include "tools/dtranspile/cli/tool.h"
#include "tools/dtranspile/page/page.h"

namespace dtranspile::cli {
namespace {

// The program that a format with one program is made of: the one asked for, or the only one there
// is.
pd::ProgramOp onlyProgram(Tool& tool, mlir::ModuleOp module, const std::string& wanted) {
  std::vector<std::string> names;
  for (auto program : module.getOps<pd::ProgramOp>()) {
    if (program.getSymName() == wanted) return program;
    names.push_back(program.getSymName().str());
  }
  if (wanted.empty() && names.size() == 1) return *module.getOps<pd::ProgramOp>().begin();
  tool.error(names.empty() ? "the input holds no program"
                           : "the input holds the programs " + llvm::join(names, ", ") +
                                 "; say which with --program NAME");
  return {};
}

struct Format {
  const char* ending;
  mlir::FailureOr<std::string> (*write)(Tool&, mlir::ModuleOp, const std::string& program);
};

mlir::FailureOr<std::string> moduleText(Tool&, mlir::ModuleOp module, const std::string&) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text + "\n";
}

mlir::FailureOr<std::string> moduleBytecode(Tool&, mlir::ModuleOp module, const std::string&) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (mlir::failed(mlir::writeBytecodeToFile(module, stream))) return mlir::failure();
  return bytes;
}

mlir::FailureOr<std::string> programBytes(Tool& tool, mlir::ModuleOp module,
                                          const std::string& name) {
  pd::ProgramOp program = onlyProgram(tool, module, name);
  return program ? exportProgramBytes(program) : mlir::FailureOr<std::string>(mlir::failure());
}

mlir::FailureOr<std::string> programText(Tool& tool, mlir::ModuleOp module,
                                         const std::string& name) {
  pd::ProgramOp program = onlyProgram(tool, module, name);
  return program ? exportProgramText(program) : mlir::FailureOr<std::string>(mlir::failure());
}

constexpr Format kFormats[] = {
    {".mlir", moduleText},      {".mlirbc", moduleBytecode}, {".pdtxt", programText},
    {".pdmodel", programBytes}, {"", programBytes},
};

const Format* formatFor(llvm::StringRef path) {
  llvm::StringRef ending = llvm::sys::path::extension(path);
  for (const Format& format : kFormats)
    if (ending == format.ending ||
        (format.ending[0] == 0 && llvm::sys::path::filename(path).starts_with("__model__")))
      return &format;
  return nullptr;
}

struct ConvertFlags {
  std::string in, out, program;
};

int convert(Tool& tool, const ConvertFlags& flags) {
  const Format* format = flags.out == "-" ? &kFormats[0] : formatFor(flags.out);
  if (!format) {
    tool.error(
        flags.out +
        ": the ending says nothing about the format; use .pdmodel, .pdtxt, .mlir or .mlirbc" +
        (llvm::StringRef(flags.out).ends_with(".json") ? " (ProgramDesc to PIR JSON is not offered)"
                                                       : ""));
    return kUsage;
  }
  if (!flags.program.empty() && (format->write == moduleText || format->write == moduleBytecode))
    return tool.error("--program " + flags.program +
                      ": a module is written whole; the flag is for .pdmodel and .pdtxt"),
           kUsage;
  pd::checkFormOnly(tool.context());
  auto module = loadFile(tool.context(), flags.in);
  if (!module) return kNo;
  mlir::FailureOr<std::string> content = format->write(tool, *module, flags.program);
  if (mlir::failed(content)) return kNo;
  return writeOutput(tool, flags.out, *content) ? kDone : kNo;
}

struct ShowFlags {
  std::string path, format = "mlir", role, trace;
  int64_t rank = -1;
};

int showPlan(Tool& tool, const std::string& folder) {
  absl::StatusOr<exec::Plan> plan = exec::ReadPlan(folder);
  if (plan.ok())
    return writeOutput(tool, "-", exec::PlanText(*plan, {.positions = true})) ? kDone : kNo;
  tool.error(std::string(plan.status().message()));
  return kNo;
}

// What one rank of a role runs: its coordinates, its class, and its text.
int showRank(Tool& tool, const ShowFlags& flags) {
  mlir::FailureOr<Job> job = openJob(tool, flags.path);
  if (mlir::failed(job)) return kNo;
  dist::RoleOp role;
  std::vector<std::string> names;
  for (dist::RoleOp one : job->module->getOps<dist::RoleOp>()) {
    names.push_back(one.getSymName().str());
    if (flags.role.empty() ? !role : one.getSymName() == flags.role) role = one;
  }
  if (!role)
    return tool.error("--role " + flags.role + ": the job has the roles " +
                      llvm::join(names, ", ")),
           kUsage;
  mlir::FailureOr<std::string> text = describeRank(role, std::max<int64_t>(flags.rank, 0));
  if (mlir::failed(text)) return kNo;
  return writeOutput(tool, "-", *text) ? kDone : kNo;
}

// The traces of the ranks that the page draws; nothing after a message.
std::optional<page::Traces> readTraces(Tool& tool, const Job& job, const std::string& folder) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  const auto ranks = page::tracedRanks(job);
  if (ranks.empty())
    return tool.error("--trace " + folder + ": the job has no pipeline, whose tasks it would show"),
           std::nullopt;
  page::Traces traces;
  for (const auto& [role, rank] : ranks) {
    const std::string path = folder + "/" + role + "." + std::to_string(rank) + ".json";
    absl::StatusOr<std::string> text = io::ReadText(path, kMostBytes);
    if (!text.ok())
      return tool.error(std::string(text.status().message()) +
                        "; `dtranspile run JOB --trace DIR` leaves one trace for each rank"),
             std::nullopt;
    absl::StatusOr<page::RankTrace> trace = page::parseTrace(path, *text);
    if (!trace.ok()) return tool.error(std::string(trace.status().message())), std::nullopt;
    traces.insert_or_assign({role, rank}, *std::move(trace));
  }
  return traces;
}

int showPage(Tool& tool, const ShowFlags& flags) {
  mlir::FailureOr<Job> job = openJob(tool, flags.path);
  if (mlir::failed(job)) return kNo;
  std::optional<page::Traces> traces = page::Traces();
  if (!flags.trace.empty()) traces = readTraces(tool, *job, flags.trace);
  if (!traces) return kNo;
  return writeOutput(tool, "-", page::pageOfJob(*job, *std::move(traces))) ? kDone : kNo;
}

// Whether the file is one saved program, of which there are no ranks. Whatever cannot be read is
// left to whom it is read by.
bool isSavedProgram(const std::string& path) {
  if (isJob(path) || !llvm::sys::fs::is_regular_file(path)) return false;
  const absl::StatusOr<std::string> bytes = io::ReadText(path, int64_t{1} << 30);
  return bytes.ok() && holdsOneProgram(sniff(*bytes));
}

// Three kinds of input: a folder of a plan, a job, or a program file; which flags go with which is
// checked first.
int show(Tool& tool, const ShowFlags& flags) {
  if (!flags.trace.empty() && flags.format != "html")
    return tool.error("--trace: only pages draw what ran; add --format html"), kUsage;
  const bool one = !flags.role.empty() || flags.rank >= 0;
  if ((one || flags.format == "html") && isSavedProgram(flags.path))
    return tool.error(std::string(one ? "--role and --rank" : "--format html") + ": of a job; " +
                      flags.path + " is a saved program"),
           kUsage;
  if (one && flags.format != "mlir")
    return tool.error("--format " + flags.format +
                      ": a rank is shown as text of the module alone; leave the flag out"),
           kUsage;
  if (one) return showRank(tool, flags);
  if (llvm::sys::fs::exists(flags.path + "/plan.json")) return showPlan(tool, flags.path);
  if (flags.format == "html") return showPage(tool, flags);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (isJob(flags.path)) {
    // The manifest is printed only where it says what the module does.
    mlir::FailureOr<Job> job = flags.format == "text" ? readUnchangedJob(tool.context(), flags.path)
                                                      : readJob(tool.context(), flags.path);
    if (mlir::failed(job)) return kNo;
    if (flags.format == "text")
      return writeOutput(tool, "-", describeJob(job->manifest)) ? kDone : kNo;
    module = std::move(job->module);
  } else {
    pd::checkFormOnly(tool.context());
    module = loadFile(tool.context(), flags.path);
  }
  if (!module) return kNo;
  std::string text;
  if (flags.format == "text") text = listModule(*module);
  else if (flags.format == "dot") text = drawModule(*module);
  else text = *moduleText(tool, *module, "");
  return writeOutput(tool, "-", text) ? kDone : kNo;
}

}  // namespace

Action declareConvert(CLI::App& app) {
  auto flags = std::make_shared<ConvertFlags>();
  app.footer("Example: dtranspile convert main.pdmodel main.mlir");
  app.add_option("IN", flags->in, "program or module file; - is standard input")->required();
  app.add_option("OUT", flags->out,
                 "the ending says the format: .pdmodel, .pdtxt, .mlir, .mlirbc; - is text on "
                 "standard output")
      ->required();
  app.add_option("--program", flags->program, "which program of a module that holds several");
  return [flags](Tool& tool) { return convert(tool, *flags); };
}

Action declareShow(CLI::App& app) {
  auto flags = std::make_shared<ShowFlags>();
  app.footer("Example: dtranspile show job --format text");
  app.add_option("FILE", flags->path, "program file, job, or folder that `compile` wrote")
      ->required();
  app.add_option("--format", flags->format, "mlir, text, dot, html (of a job)")
      ->check(CLI::IsMember({"mlir", "text", "dot", "html"}));
  app.add_option("--trace", flags->trace,
                 "with html: folder of `run --trace`; pipelines are drawn as they ran too");
  app.add_option("--role", flags->role, "of a job: what a rank of this role runs");
  app.add_option("--rank", flags->rank, "which rank of the role (default 0)")
      ->check(wholeNumber(0));
  return [flags](Tool& tool) { return show(tool, *flags); };
}

}  // namespace dtranspile::cli

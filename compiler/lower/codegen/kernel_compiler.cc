// Text to object code: MLIR's passes down to LLVM's dialect, translation, LLVM's -O2, the host's
// backend. The kernel proper has a parameter per buffer, which carry `noalias`; the entry that the
// executor calls unpacks them from an array and is kept apart from it, since inlining would lose
// what the parameters say. Kernels own no memory: an allocation, a copy or a call of malloc that
// some pass may have brought in is an error here and not a leak later.
#include "compiler/lower/codegen/kernel_compiler.h"

#include <mutex>

#include "compiler/lower/codegen/pipeline.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"

namespace dtranspile::lower {

struct KernelCompiler::State {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<mlir::PassManager> passes;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::string machineError;
};

namespace {

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

// Products and sums may be fused (FMA), which rounds once in place of twice; position-independent,
// since kernels go into a shared object.
std::unique_ptr<llvm::TargetMachine> makeMachine(const Target& target, std::string& error) {
  initializeTargets();
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target* backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  return std::unique_ptr<llvm::TargetMachine>(
      backend->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                   std::nullopt, llvm::CodeGenOptLevel::Default));
}

// Every memref.alloc would be a malloc that nothing frees, every copy a buffer that the plan does
// not know of.
llvm::LogicalResult refuseHiddenMemory(mlir::ModuleOp module, std::string& error) {
  int allocations = 0, copies = 0;
  module.walk([&](mlir::Operation* op) {
    allocations += llvm::isa<mlir::memref::AllocOp>(op);
    copies += llvm::isa<mlir::memref::CopyOp>(op);
  });
  if (allocations + copies == 0) return llvm::success();
  error = std::to_string(allocations) + " allocations and " + std::to_string(copies) +
          " copies remain: a kernel must use the buffers of the plan";
  return llvm::failure();
}

llvm::LogicalResult refuseMalloc(const llvm::Module& module, std::string& error) {
  for (const char* name : {"malloc", "free", "aligned_alloc"}) {
    const llvm::Function* function = module.getFunction(name);
    if (!function || function->use_empty()) continue;
    error = std::string("the compiled kernel calls ") + name;
    return llvm::failure();
  }
  return llvm::success();
}

// void symbol(void* const* args, int64_t lo, int64_t n): loads the pointers, calls the kernel
// proper.
void addEntry(llvm::Module& module, llvm::Function* kernel, llvm::StringRef symbol) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Type* i64 = builder.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, i64, i64}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", entry));
  llvm::SmallVector<llvm::Value*> arguments;
  const unsigned buffers = kernel->arg_size() - 2;
  for (unsigned i = 0; i < buffers; ++i) {
    arguments.push_back(builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), i)));
  }
  arguments.push_back(entry->getArg(1));
  arguments.push_back(entry->getArg(2));
  builder.CreateCall(kernel, arguments);
  builder.CreateRetVoid();
  kernel->setLinkage(llvm::GlobalValue::InternalLinkage);
  kernel->addFnAttr(llvm::Attribute::NoInline);  // inlined, its arguments would lose `noalias`
}

// LLVM's standard pipeline. Vectors of 512 bits are preferred where the target has them (LLVM takes
// 256 by itself); kernels throw nothing.
void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "0");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

// The back end still runs under the legacy pass manager.
llvm::LogicalResult emitObject(llvm::Module& module, llvm::TargetMachine& machine,
                               std::string& object, std::string& error) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    error = "this LLVM cannot write objects for the host";
    return llvm::failure();
  }
  passes.run(module);
  object.assign(bytes.begin(), bytes.end());
  return llvm::success();
}

}  // namespace

KernelCompiler::KernelCompiler(const Target& target) : state_(std::make_unique<State>()) {
  state_->context.appendDialectRegistry(kernelDialects());
  state_->context.loadAllAvailableDialects();
  state_->passes = kernelPipeline(state_->context);
  state_->machine = makeMachine(target, state_->machineError);
}

KernelCompiler::~KernelCompiler() = default;

// Compiles the text of one kernel to an object whose entry has the given name. Diagnostics of MLIR
// become `error`, the first one only. Not thread-safe: each thread has its own compiler, with a
// context of its own.
llvm::LogicalResult KernelCompiler::compile(llvm::StringRef text, llvm::StringRef symbol,
                                            std::string& object, std::string& error) {
  if (!state_->machine) {
    error = state_->machineError;
    return llvm::failure();
  }
  mlir::ScopedDiagnosticHandler handler(&state_->context, [&](mlir::Diagnostic& diagnostic) {
    if (error.empty()) error = diagnostic.str();
    return llvm::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&state_->context));
  if (!module || llvm::failed(refuseHiddenMemory(*module, error)) ||
      llvm::failed(state_->passes->run(*module)))
    return llvm::failure();
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> translated = mlir::translateModuleToLLVMIR(*module, llvmContext);
  llvm::Function* kernel = translated ? translated->getFunction("kernel") : nullptr;
  if (!kernel || kernel->isDeclaration() || kernel->arg_size() < 2) {
    if (error.empty())
      error = "no function @kernel with (buffers…, lo, n) came out of the pipeline";
    return llvm::failure();
  }
  translated->setTargetTriple(state_->machine->getTargetTriple());
  translated->setDataLayout(state_->machine->createDataLayout());
  addEntry(*translated, kernel, symbol);
  optimize(*translated, *state_->machine);
  if (llvm::failed(refuseMalloc(*translated, error))) return llvm::failure();
  return emitObject(*translated, *state_->machine, object, error);
}

}  // namespace dtranspile::lower

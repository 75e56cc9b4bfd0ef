#include "compiler/import/guarded_parse.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile {
namespace {

void limit(int resource, uint64_t value) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return;
  now.rlim_cur = now.rlim_max == RLIM_INFINITY ? value : std::min<uint64_t>(value, now.rlim_max);
  setrlimit(resource, &now);
}

// Bytes of address space that this process has.
uint64_t addressSpace() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// How the child ends.
enum Exit { kRead = 0, kRefused = 1 };

// Most of what the parent is told about why the input is refused.
constexpr size_t kMostText = 4096;

// What the child does: reads, prints and frees the module. Printing walks what the reader has
// built. What it has to say about the input goes through `report`: a diagnostic about damaged byte
// code may hold anything, and only here may printing it end the process.
[[noreturn]] void tryIn(mlir::MLIRContext* context, llvm::StringRef bytes, llvm::StringRef path,
                        int report) {
  const int nowhere = open("/dev/null", O_RDWR);
  for (int fd : {STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGPIPE})
    std::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, addressSpace() + (uint64_t{1} << 30) + 256 * bytes.size());
  limit(RLIMIT_CPU, 10 + bytes.size() / (4 << 20));
  bool read = false;
  std::string why;
  {
    mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& diagnostic) {
      if (!why.empty()) return mlir::success();
      if (auto at = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
          at && at.getLine() > 0)
        why = (llvm::Twine(at.getLine()) + ":" + llvm::Twine(at.getColumn()) + " ").str();
      why += diagnostic.str();
      return mlir::success();
    });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(bytes, mlir::ParserConfig(context), path);
    // The reader has verified it, and aliases would be looked for by printing everything once more.
    if (module)
      module->print(llvm::nulls(), mlir::OpPrintingFlags().assumeVerified().useLocalScope());
    read = bool(module);
  }
  if (read) _exit(kRead);
  if (why.size() > kMostText) why.resize(kMostText);
  for (size_t sent = 0; sent < why.size();) {
    const ssize_t part = write(report, why.data() + sent, why.size() - sent);
    if (part <= 0) break;
    sent += static_cast<size_t>(part);
  }
  _exit(kRefused);
}

std::string readAll(int fd) {
  std::string text;
  char part[512];
  for (ssize_t size; (size = read(fd, part, sizeof part)) > 0 || (size < 0 && errno == EINTR);)
    if (size > 0) text.append(part, static_cast<size_t>(size));
  return text;
}

int waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// `3:7 message` of the child as a diagnostic at that place of the file.
void refuse(mlir::MLIRContext* context, llvm::StringRef path, llvm::StringRef text) {
  unsigned line = 0, column = 0;
  llvm::StringRef rest = text;
  const bool placed = !rest.consumeInteger(10, line) && rest.consume_front(":") &&
                      !rest.consumeInteger(10, column) && rest.consume_front(" ");
  mlir::Location at =
      mlir::FileLineColLoc::get(context, path, placed ? line : 0, placed ? column : 0);
  mlir::emitError(at) << (text.empty() ? llvm::StringRef("is no module") : placed ? rest : text);
}

}  // namespace

// MLIR's parsers recurse and trust byte code, so that hostile input can crash them. A forked child
// with limits on memory and processor time parses the bytes first and reports by its exit status
// and a pipe; only what it has read and verified is parsed here. Fork copies one thread only, hence
// the demand on the context.
mlir::OwningOpRef<mlir::ModuleOp> parseGuarded(mlir::MLIRContext* context, llvm::StringRef bytes,
                                               llvm::StringRef path) {
  mlir::Location location = mlir::FileLineColLoc::get(context, path, 0, 0);
  if (context->isMultithreadingEnabled())
    return mlir::emitError(location)
               << "can be read in a context without threads only: a child has none of them",
           nullptr;
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0)
    return mlir::emitError(location)
               << "cannot be read in a process of its own: " << std::strerror(errno),
           nullptr;
  const pid_t child = fork();
  if (child == 0) tryIn(context, bytes, path, report[1]);
  const int reason = errno;
  close(report[1]);
  const std::string why = child < 0 ? "" : readAll(report[0]);
  close(report[0]);
  if (child < 0)
    return mlir::emitError(location)
               << "cannot be read in a process of its own: " << std::strerror(reason),
           nullptr;
  const int status = waitFor(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRefused)
    return refuse(context, path, why), nullptr;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kRead) {
    const bool slow = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    mlir::InFlightDiagnostic error =
        mlir::emitError(location)
        << "is damaged or nested too deeply: a process that tried to read it "
        << (slow ? "took too long" : "crashed or took too much memory");
    error.attachNote() << "make the file again with the command that wrote it (transpile, convert)";
    return nullptr;
  }
  // The child has verified what the same bytes say.
  const mlir::ParserConfig read(context, /*verifyAfterParse=*/false);
  return mlir::parseSourceString<mlir::ModuleOp>(bytes, read, path);
}

}  // namespace dtranspile

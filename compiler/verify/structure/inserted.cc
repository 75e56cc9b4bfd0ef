#include "compiler/verify/structure/inserted.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "runtime/base/dtype.h"

namespace dtranspile::verify {
namespace {

std::string textOf(const pd::TensorInfo& info) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << NameOf(info.dtype) << " [";
  llvm::interleaveComma(info.dims, stream);
  stream << "]";
  return text;
}

// Of ops that stand for one of the reference rung 1 compares types with that one's. Of others
// nothing but their own attributes and operands says what they make: a constant of two elements in
// the place of one, or of another type than its attribute, would be believed for what it is
// declared. An extent that is not known fits any.
class Types {
 public:
  explicit Types(Rung& rung) : rung_(rung) {}

  void check(mlir::Operation* op) {
    const pd::OpView view(op);
    if (!view.spec() || !view.spec()->infer ||
        llvm::any_of(op->getOperands(), [](mlir::Value value) { return pd::isUndescribed(value); }))
      return;
    pd::DeclaredContext context(view);
    if (mlir::failed(view.spec()->infer(context))) return;  // the op's own verifier says so
    for (const auto& [at, info] : context.results) {
      mlir::Value result = view.output(at.first, at.second);
      if (!result) continue;
      const pd::TensorInfo declared = pd::declaredInfo(dist::unlocated(result.getType()));
      if (!pd::compatible(info, declared))
        refute(op, "op",
               "gives " + nameText(result) + " as " + textOf(info) + ", and says that it is " +
                   textOf(declared),
               "let its type be what its attributes and operands make");
    }
  }

  // What a cast is said to take is what it takes.
  void checkTaken(mlir::Operation* op) {
    const pd::OpView view(op);
    mlir::Value taken = view.hasAttr("in_dtype") ? view.input("X") : mlir::Value();
    if (!taken || pd::isUndescribed(taken)) return;
    const pd::TensorInfo info = pd::declaredInfo(dist::unlocated(taken.getType()));
    const std::vector<int64_t> said = view.getInts("in_dtype");
    if (info.rankKnown && said.size() == 1 && said[0] != static_cast<int64_t>(info.dtype))
      refute(op, "op",
             "takes " + nameText(taken) + ", which is " + textOf(info) + ", and says `in_dtype` " +
                 std::to_string(said[0]),
             "let `in_dtype` be the element type of what it takes");
  }

  // An export makes the variable that is declared, and none that is not.
  void checkDeclared(mlir::Operation* op) {
    for (mlir::Value result : op->getResults()) {
      const llvm::StringRef name = pd::nameOf(result);
      if (name.empty() || name == pd::kEmptyArgument) continue;
      pd::DeclOp decl = declarations_.resolve(op->getBlock(), name);
      if (!decl)
        refute(op, "declaration", "gives `" + name.str() + "`, which its program does not declare",
               "declare it");
      if (!decl || !decl.getDtypeAttr() || op->hasAttr(dist::kSrcAttr)) continue;
      const pd::TensorInfo made = pd::declaredInfo(dist::unlocated(result.getType())),
                           declared = pd::declaredInfo(decl.getValueType());
      if (!pd::compatible(made, declared))
        refute(op, "declaration",
               "gives `" + name.str() + "` as " + textOf(made) + ", and it is declared " +
                   textOf(declared),
               "declare it as what the op gives");
    }
  }

 private:
  void refute(mlir::Operation* at, const char* rule, std::string text, std::string remedy) {
    rung_.add(messageAt(at, Message::Level::Refuted, rule, std::move(text), std::move(remedy)));
  }

  Rung& rung_;
  pd::Declarations declarations_;
};

// What an op says of its types: attributes and types are unique in their context.
llvm::hash_code wordsOf(mlir::Operation* op) {
  llvm::hash_code code = llvm::hash_combine(op->getName(), op->getAttr("attrs"));
  for (mlir::Type type : op->getOperandTypes()) code = llvm::hash_combine(code, type);
  for (mlir::Type type : op->getResultTypes()) code = llvm::hash_combine(code, type);
  return code;
}

// A program of one's own may declare otherwise than its ops make; of what passes have made of it
// only what they have changed is looked at.
void checkReference(mlir::ModuleOp source, mlir::ModuleOp reference, Types& types) {
  llvm::DenseSet<size_t> given;
  source.walk([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op)) given.insert(wordsOf(op));
  });
  reference.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || given.contains(wordsOf(op))) return;
    types.check(op);
    types.checkTaken(op);
  });
}

}  // namespace

void checkInserted(mlir::ModuleOp job, Rung& rung) {
  Types types(rung);
  mlir::ModuleOp source = findModule(job, "source"), reference = findModule(job, "reference");
  if (source && reference) checkReference(source, reference, types);
  for (auto role : job.getOps<dist::RoleOp>())
    role.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      if (!op->getParentOfType<dist::CompositeOp>()) types.checkDeclared(op);
      if (op->hasAttr(dist::kSrcAttr)) return;
      types.check(op);
      types.checkTaken(op);
    });
}

}  // namespace dtranspile::verify

#include "compiler/verify/structure/inserted.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/needs.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSet.h"
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
  Types(mlir::Operation* reference, Rung& rung) : rung_(rung) {
    if (reference) reference->walk([&](pd::DeclOp decl) { theirs_.insert(decl.getName()); });
  }

  // What shape inference makes of the operands against what the results are declared to be. Ops
  // without inference, or with operands of which nothing is declared, are not judged.
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
      // Versions of the framework differ in whether one number has a dim.
      const bool number = info.kind == declared.kind && info.dtype == declared.dtype &&
                          info.elements() == 1 && declared.elements() == 1;
      if (!number && !pd::compatible(info, declared))
        refute(op, "op",
               "gives " + nameText(result) + " as " + textOf(info) + ", and says that it is " +
                   textOf(declared),
               "let its type be what its attributes and operands make");
    }
  }

  // What a cast is said to take is what it takes.
  void checkTaken(mlir::Operation* op) {
    const pd::OpView view(op);
    mlir::Value taken = view.type() == "cast" ? view.input("X") : mlir::Value();
    if (!taken || pd::isUndescribed(taken)) return;
    const pd::TensorInfo info = pd::declaredInfo(dist::unlocated(taken.getType()));
    const std::vector<int64_t> said = view.getInts("in_dtype");
    // -1, the default of reductions: nothing is said.
    if (info.rankKnown && said.size() == 1 && said[0] >= 0 &&
        said[0] != static_cast<int64_t>(info.dtype))
      refute(op, "op",
             "takes " + nameText(taken) + ", which is " + textOf(info) + ", and says `in_dtype` " +
                 std::to_string(said[0]),
             "let `in_dtype` be the element type of what it takes");
  }

  // An export makes the variable that is declared, and none that is not: it writes the ops of
  // composites' bodies too. Of its extents a rank may have a part.
  void checkDeclared(mlir::Operation* op) {
    for (mlir::Value result : op->getResults()) {
      const llvm::StringRef name = pd::nameOf(result);
      if (name.empty() || name == pd::kEmptyArgument) continue;
      pd::DeclOp decl = declarations_.resolve(op->getBlock(), name);
      if (!decl && (op->hasAttr(dist::kSrcAttr) ? leaves(result, name) : !result.use_empty()))
        refute(op, "declaration", "gives `" + name.str() + "`, which its program does not declare",
               "declare it");
      if (!decl || !decl.getDtypeAttr() || op->hasAttr(dist::kSrcAttr)) continue;
      const pd::TensorInfo made = pd::declaredInfo(dist::unlocated(result.getType())),
                           declared = pd::declaredInfo(decl.getValueType());
      if (made.kind != declared.kind ||
          (made.rankKnown && declared.rankKnown &&
           (made.dtype != declared.dtype ||
            (!theirs_.contains(name) && !mayBePartOf(made, declared)))))
        refute(op, "declaration",
               "gives `" + name.str() + "` as " + textOf(made) + ", and it is declared " +
                   textOf(declared),
               "declare it as what the op gives");
    }
  }

 private:
  // Extents are those of the value, or of the whole that a rank has a part of, a flat one among
  // them. Versions of the framework differ in whether one number has a dim.
  static bool mayBePartOf(const pd::TensorInfo& made, const pd::TensorInfo& whole) {
    if (made.elements() == 1 && whole.elements() == 1) return true;
    if (made.rank() == 1 && made.elements() > 1 && made.elements() <= whole.elements()) return true;
    if (made.rank() != whole.rank()) return false;
    for (auto [own, all] : llvm::zip(made.dims, whole.dims))
      if (own >= 0 && all >= 0 && own > all) return false;
    return true;
  }

  // Whether it is kept under its name, or sent: what a role computes on the way it may leave out.
  static bool leaves(mlir::Value result, llvm::StringRef name) {
    return llvm::any_of(result.getUsers(), [&](mlir::Operation* user) {
      auto set = llvm::dyn_cast<pd::SetOp>(user);
      return llvm::isa<dist::PushOp>(user) || (set && set.getVar() == name);
    });
  }

  void refute(mlir::Operation* at, const char* rule, std::string text, std::string remedy) {
    rung_.add(messageAt(at, Message::Level::Refuted, rule, std::move(text), std::move(remedy)));
  }

  Rung& rung_;
  llvm::StringSet<> theirs_;  // what the reference declares: compared with it
  pd::Declarations declarations_;
};

// The number of a block, and of the block around it, as an export has to say them.
int64_t numberOf(mlir::Attribute description, llvm::StringRef field) {
  auto fields = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(description);
  auto number = fields ? fields.getAs<mlir::IntegerAttr>(field) : mlir::IntegerAttr();
  return number ? number.getInt() : -1;
}
// Of a program that does not say, 0.
int64_t numberAround(mlir::Operation* op) {
  for (mlir::Operation* at = op->getParentOp(); at; op = at, at = at->getParentOp()) {
    if (auto program = llvm::dyn_cast<pd::ProgramOp>(at))
      return std::max<int64_t>(numberOf(program->getAttr("block"), "idx"), 0);
    auto blocks = at->getAttrOfType<mlir::ArrayAttr>("blocks");
    const unsigned region = op->getParentRegion()->getRegionNumber();
    if (blocks && pd::OpView::isFrameworkOp(at) && region < blocks.size())
      return numberOf(blocks[region], "idx");
  }
  return -1;
}

// Blocks that passes put in: what an op says of its block is what stands there, and a condition
// decides by its value. (Of the reference's rung 1 compares the words.)
class Blocks {
 public:
  explicit Blocks(Rung& rung) : rung_(rung) {}

  // Numbers of blocks are those of the exported ProgramDesc: each block has its own, and its
  // parent's is that of the block around. Ops of the reference have been compared with it already.
  void check(pd::ProgramOp program) {
    llvm::DenseMap<int64_t, mlir::Operation*> numbers;
    program->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      auto blocks = op->getAttrOfType<mlir::ArrayAttr>("blocks");
      if (!blocks || !pd::OpView::isFrameworkOp(op) || op->getParentOfType<dist::CompositeOp>())
        return;
      for (mlir::Attribute block : blocks) {
        const int64_t number = numberOf(block, "idx");
        const bool first = numbers.try_emplace(number, op).second;
        if (op->hasAttr(dist::kSrcAttr)) continue;
        if (number <= 0 || !first)
          refute(op, "has a block that says the number " + std::to_string(number) + " of another");
        if (numberOf(block, "parent") != numberAround(op))
          refute(op, "has a block that says to stand in block " +
                         std::to_string(numberOf(block, "parent")) + ", and stands in another one");
      }
      if (!op->hasAttr(dist::kSrcAttr)) checkOp(op, blocks);
    });
  }

 private:
  // Of control flow that a pass inserts: the operands in slot `$capture` are what its blocks say to
  // capture, one by one, `sub_block` names its own block, and a conditional runs by one number, not
  // by whether its condition has elements.
  void checkOp(mlir::Operation* op, mlir::ArrayAttr blocks) {
    const pd::OpView view(op);
    size_t captures = 0;
    for (auto block : blocks.getAsRange<mlir::DictionaryAttr>())
      if (auto names = block.getAs<mlir::ArrayAttr>("captures")) captures += names.size();
    if (view.inputs("$capture").size() != captures)
      refute(op, "says that its block takes " + std::to_string(captures) +
                     " values, and hands it " + std::to_string(view.inputs("$capture").size()));
    if (auto own = llvm::dyn_cast_or_null<pd::BlockAttr>(view.attr("sub_block"));
        own && own.getIdx() != numberOf(blocks.empty() ? mlir::Attribute() : blocks[0], "idx"))
      refute(op, "says `sub_block` " + std::to_string(own.getIdx()) + ", which is not its own");
    if (view.type() == "conditional_block" && !view.getBool("is_scalar_condition"))
      refute(op, "runs its block wherever its condition has elements, whatever they are");
  }

  void refute(mlir::Operation* at, std::string text) {
    rung_.add(messageAt(at, Message::Level::Refuted, "body", std::move(text),
                        "let attributes say what stands there, and the condition decide"));
  }

  Rung& rung_;
};

// What an op says of its types: attributes and types are unique in their context. A copy of an op
// has another role than the op, and makes the same.
llvm::hash_code wordsOf(mlir::Operation* op) {
  llvm::hash_code code = llvm::hash_combine(op->getName());
  if (auto attrs = op->getAttrOfType<mlir::DictionaryAttr>("attrs"))
    for (mlir::NamedAttribute attr : attrs)
      if (!isValueFree(attr.getName()))
        code = llvm::hash_combine(code, attr.getName(), attr.getValue());
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

// Pass asp keeps the mask of a parameter as a parameter, as the framework does; which values it has
// says rung 4.
bool isMask(pd::VarOp var, mlir::ModuleOp reference, mlir::ModuleOp source) {
  llvm::StringRef weight = var.getSymName();
  auto job = reference->getParentOfType<mlir::ModuleOp>();
  auto changes = job ? job->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr) : mlir::ArrayAttr();
  if (!changes || !weight.consume_back(".asp_mask")) return false;
  auto own = source.lookupSymbol<pd::VarOp>(weight);
  return own && own.getParameter() &&
         llvm::any_of(changes.getAsRange<mlir::DictionaryAttr>(), [](mlir::DictionaryAttr change) {
           auto pass = change.getAs<mlir::StringAttr>("pass");
           return pass && pass.getValue() == "asp";
         });
}

// What passes keep beside the program is none of its parameters, but for copies that are updated in
// their place: those are given, saved and exported under their names.
void checkParameters(mlir::ModuleOp source, mlir::ModuleOp reference, Rung& rung) {
  llvm::DenseSet<mlir::StringAttr> known;
  for (auto var : source.getOps<pd::VarOp>()) known.insert(var.getSymNameAttr());
  reference.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    for (mlir::Value copy : pd::OpView(op).inputs("MasterParam"))
      if (auto get = copy ? copy.getDefiningOp<pd::GetOp>() : pd::GetOp())
        known.insert(get.getVarAttr().getAttr());
  });
  for (auto var : reference.getOps<pd::VarOp>())
    if (var.getParameter() && !known.contains(var.getSymNameAttr()) &&
        !isMask(var, reference, source))
      rung.add(messageAt(var, Message::Level::Refuted, "variable",
                         "@reference adds the variable `" + var.getSymName().str() +
                             "` as a parameter, which @source does not have",
                         "let the pass add it without that word"));
}

}  // namespace

// What passes put in is held against the definitions of ops, since there is nothing in the
// reference to hold it against.
void checkInserted(mlir::ModuleOp job, Rung& rung) {
  Types types(referenceModule(job), rung);
  mlir::ModuleOp source = findModule(job, "source"), reference = findModule(job, "reference");
  if (source && reference) {
    checkReference(source, reference, types);
    checkParameters(source, reference, rung);
  }
  for (auto role : job.getOps<dist::RoleOp>()) {
    for (auto program : role.getBody().front().getOps<pd::ProgramOp>()) Blocks(rung).check(program);
    role.walk([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      types.checkDeclared(op);
      if (op->hasAttr(dist::kSrcAttr)) return;
      types.check(op);
      types.checkTaken(op);
    });
  }
}

}  // namespace dtranspile::verify

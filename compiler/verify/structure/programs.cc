#include "compiler/verify/structure/programs.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_diff.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/analysis.h"
#include "compiler/verify/structure/form.h"
#include "compiler/verify/structure/variables.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

constexpr llvm::StringRef kPrograms[] = {"startup", "main"};

void add(Rung& rung, mlir::Operation* at, Message::Level level, const char* rule, std::string text,
         std::string remedy) {
  rung.add(messageAt(at, level, rule, std::move(text), std::move(remedy)));
}

// Both ops stand in different bodies of one dist.on, or under guards that no rank fulfils both.
bool onDifferentRanks(mlir::Operation* one, mlir::Operation* two) {
  for (auto on = one->getParentOfType<dist::OnOp>(); on; on = on->getParentOfType<dist::OnOp>())
    if (on->isProperAncestor(two) && on.getBody().isAncestor(one->getParentRegion()) !=
                                         on.getBody().isAncestor(two->getParentRegion()))
      return true;
  dist::SelAttr a = dist::guardOf(one).where, b = dist::guardOf(two).where;
  return a && b && !a.intersect(b);
}

// Nothing happens but that values are made: neither a variable is set nor a number drawn, in its
// blocks either.
bool onlyComputes(mlir::Operation* op) {
  return !op->walk([](mlir::Operation* inner) {
              const pd::OpSpec* spec =
                  pd::OpView::isFrameworkOp(inner) ? pd::OpView(inner).spec() : nullptr;
              const bool effect = pd::OpView::isFrameworkOp(inner)
                                      ? !spec || spec->effects != pd::kPure
                                      : llvm::isa<pd::SetOp>(inner);
              return effect ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
            }).wasInterrupted();
}

// The task of a pipeline that an op is in; null outside of tasks.
dist::OnOp taskOf(mlir::Operation* op) {
  auto on = op->getParentOfType<dist::OnOp>();
  while (on && !on.getTask()) on = on->getParentOfType<dist::OnOp>();
  return on;
}

// Handlers of a server make anew what follows from variables alone: each runs by itself, and rung 2
// follows what it gives. Nothing happens twice where the op only computes.
bool madeAnew(mlir::Operation* one, mlir::Operation* two) {
  auto a = one->getParentOfType<dist::HandleOp>(), b = two->getParentOfType<dist::HandleOp>();
  return a && b && a != b && onlyComputes(one) && onlyComputes(two);
}

// A gradient op gives several gradients at once. Where the backward part of a pipeline is in two
// tasks (ZB-H1) it stands in both: B takes the gradient that other stages wait for, W those of the
// weights. Rung 2 follows what each of them gives.
bool givenApart(mlir::Operation* one, mlir::Operation* two) {
  dist::OnOp a = taskOf(one), b = taskOf(two);
  return a && b && a->getParentOp() == b->getParentOp() && a.getTask() != b.getTask() &&
         a.getTask() != dist::Task::F && b.getTask() != dist::Task::F && onlyComputes(one) &&
         onlyComputes(two);
}

// Ops of all roles' programs of one name, by their number in the reference.
class Coverage {
 public:
  Coverage(const Reference& reference, Rung& rung)
      : rung_(rung), reference_(reference), ops_(reference.opCount()) {}

  // Ops that stand for the same op of the reference are compared pairwise; of an op there are as
  // many as there are guards or tasks around it, and these are few.
  void add(pd::ProgramOp program) {
    const size_t role = ++roles_;
    program->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
      if (!number || !reference_.op(number.getInt())) return;
      auto& held = ops_[number.getInt()];
      for (auto& [other, at] : held)
        if (at != role && trains(reference_.op(number.getInt())))
          return trainedTwice(op, number.getInt());
      for (auto& [other, at] : held)
        if (at == role && !onDifferentRanks(op, other) && !madeAnew(op, other) &&
            !givenApart(op, other))
          return repeated(op, number.getInt());
      held.emplace_back(op, role);
    });
  }

  // What no role has. Blocks belong to the op that they are of.
  void finish(mlir::Operation* at) {
    for (auto [i, held] : llvm::enumerate(ops_)) {
      mlir::Operation* original = reference_.op(static_cast<int64_t>(i));
      if (!held.empty() || missing_.contains(original->getParentOp())) continue;
      missing_.insert(original);
      std::string gives;
      for (mlir::Value result : original->getResults())
        if (llvm::StringRef name = pd::nameOf(result); !name.empty())
          gives += (gives.empty() ? ", which gives `" : "`, `") + name.str();
      verify::add(rung_, at, Message::Level::Refuted, "missing",
                  "no op stands for " + pd::describe(original) + " of the reference" + gives +
                      (gives.empty() ? "" : "`"),
                  "keep the op, with its dist.src; whatever the reference computes can be fetched");
    }
  }

 private:
  static bool trains(mlir::Operation* original) {
    const pd::OpSpec* spec =
        pd::OpView::isFrameworkOp(original) ? pd::OpView(original).spec() : nullptr;
    return spec && spec->family == "optimizer";
  }

  // Others may be made anew in each role; of a parameter there would be two that are trained.
  void trainedTwice(mlir::Operation* op, int64_t number) {
    verify::add(rung_, op, Message::Level::Refuted, "repeated",
                "stands for " + pd::describe(reference_.op(number)) +
                    ", which another role does too: each would train a parameter of its own",
                "keep the update in the role that owns the parameter");
  }

  void repeated(mlir::Operation* op, int64_t number) {
    verify::add(rung_, op, Message::Level::Refuted, "repeated",
                "stands for " + pd::describe(reference_.op(number)) +
                    " a second time on the same ranks: its effects, and what it writes in place, "
                    "would happen twice",
                "remove one of the two, or correct dist.src");
  }

  Rung& rung_;
  const Reference& reference_;
  std::vector<llvm::SmallVector<std::pair<mlir::Operation*, size_t>, 1>> ops_;
  llvm::SmallPtrSet<mlir::Operation*, 8> missing_;
  size_t roles_ = 0;
};

// Declarations of a block by name; one name may be declared twice.
using Declared = llvm::StringMap<llvm::SmallVector<pd::DeclOp, 1>>;
Declared declaredIn(mlir::Block& block) {
  Declared declared;
  for (auto decl : block.getOps<pd::DeclOp>()) declared[decl.getName()].push_back(decl);
  return declared;
}

// Whether the reference declares the name in the block that this one stands for: then the blocks
// are compared as a whole, in rung 2, and the declarations here.
bool declaredInBlock(pd::DeclOp decl, const Reference& reference, Rung& rung) {
  mlir::Operation* around = decl->getParentOp();
  auto number = around->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  mlir::Operation* original = number ? reference.op(number.getInt()) : nullptr;
  const unsigned region = decl->getParentRegion()->getRegionNumber();
  if (!original || region >= original->getNumRegions() || original->getRegion(region).empty())
    return false;
  for (auto theirs : original->getRegion(region).front().getOps<pd::DeclOp>()) {
    if (theirs.getName() != decl.getName()) continue;
    if (auto different = programAttributesDiffer(decl, theirs))
      add(rung, decl, Message::Level::Refuted, "declaration",
          "declares `" + decl.getName().str() +
              "` in a block otherwise than the reference: " + *different,
          "keep the declarations of the reference as they are");
    return true;
  }
  return false;
}

// What passes put in is a value of the step, unless it is a variable of the role.
void checkInserted(pd::ProgramOp program, const Reference& reference, const Declared& theirs,
                   Rung& rung) {
  llvm::StringMap<pd::VarOp> variables;
  for (auto var : program->getParentRegion()->getOps<pd::VarOp>())
    variables.try_emplace(var.getSymName(), var);
  program.walk([&](pd::DeclOp decl) {
    const bool top = decl->getBlock() == program.getBodyBlock();
    if (top ? theirs.contains(decl.getName())
            : pd::OpView::isFrameworkOp(decl->getParentOp()) &&
                  declaredInBlock(decl, reference, rung))
      return;
    pd::VarOp var = variables.lookup(decl.getName());
    const bool held = static_cast<bool>(var);
    const bool fed = decl.getNeedCheckFeed().value_or(false);
    if (fed || (decl.getIsParameter().value_or(false) && !(held && var.getParameter())))
      add(rung, decl, Message::Level::Refuted, "declaration",
          "declares `" + decl.getName().str() + "` to be " +
              (fed ? "fed, and the reference has no such feed"
                   : "a parameter, and the role has none of its name"),
          "declare what is inserted without that word");
    if (decl.isPersistable() != held)
      add(rung, decl, Message::Level::Refuted, "declaration",
          "declares `" + decl.getName().str() + "` " +
              (held ? "a value of the step, and it is a variable of the role"
                    : "persistable, and the role has no such variable"),
          "declare variables of the role persistable, and nothing else that is inserted");
  });
}

// What a role declares it declares as the reference does. Roles that do not use a name may leave it
// out: `held` gathers what there is of all of them.
void checkDeclarations(pd::ProgramOp program, const Reference& reference, const Declared& theirs,
                       llvm::StringSet<>& held, Rung& rung) {
  const Declared mine = declaredIn(*program.getBodyBlock());
  for (const auto& [name, declarations] : theirs) {
    auto found = mine.find(name);
    if (found == mine.end()) continue;
    held.insert(name);
    std::string text;
    if (found->second.size() != declarations.size()) {
      text = "declares `" + name.str() + "` " + std::to_string(found->second.size()) +
             " times; the reference " + std::to_string(declarations.size());
    } else {
      for (auto [a, b] : llvm::zip(found->second, declarations))
        if (auto different = programAttributesDiffer(a, b); different && text.empty())
          text = "declares `" + name.str() + "` otherwise than the reference: " + *different;
    }
    if (!text.empty())
      add(rung, program, Message::Level::Refuted, "declaration", text,
          "keep the declarations of the reference as they are");
  }
  checkInserted(program, reference, theirs, rung);
}

// "dim 1 of extent 1 into 4 equal parts", where that is impossible.
std::optional<std::string> unevenCut(pd::InputOp input) {
  auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(dist::unlocated(input.getValue().getType()));
  dist::MeshOp mesh = dist::meshOf(input);
  if (!batch || !type || !mesh || batch.getDim() >= type.getRank()) return std::nullopt;
  const int64_t extent = type.getDimSize(batch.getDim());
  int64_t parts = 1;
  for (mlir::StringAttr axis : batch.getAxes()) parts *= mesh.sizeOf(axis.getValue()).value_or(1);
  if (mlir::ShapedType::isDynamic(extent) || extent % parts == 0) return std::nullopt;
  return "dim " + std::to_string(batch.getDim()) + " of extent " + std::to_string(extent) +
         " into " + std::to_string(parts) + " equal parts";
}

// Feeds by name, with the type that the reference has; a part of a batch has it too, since its
// extent is not fixed, and a fixed one must be cut into equal parts.
void checkFeeds(pd::ProgramOp program, pd::ProgramOp original, llvm::StringSet<>& held,
                Rung& rung) {
  llvm::StringMap<pd::InputOp> theirs;
  for (pd::InputOp input : inputsOf(original)) theirs.try_emplace(input.getName(), input);
  auto refute = [&](mlir::Operation* at, std::string text) {
    add(rung, at, Message::Level::Refuted, "feed", std::move(text),
        "feed what the reference is fed, under the same names");
  };
  for (pd::InputOp input : inputsOf(program)) {
    held.insert(input.getName());
    auto found = theirs.find(input.getName());
    if (found == theirs.end()) {
      refute(input, "takes a feed `" + input.getName().str() + "` that the reference does not");
      continue;
    }
    if (std::optional<std::string> uneven = unevenCut(input)) {
      refute(input, "cuts the feed `" + input.getName().str() + "` along " + *uneven);
      continue;
    }
    if (dist::unlocated(input.getValue().getType()) != found->second.getValue().getType())
      refute(input,
             "takes the feed `" + input.getName().str() + "` with another type than the reference");
  }
}

// What the reference declares and is fed stands in some role.
void checkUnion(pd::ProgramOp original, const Declared& declared,
                const llvm::StringSet<>& declaredByRoles, const llvm::StringSet<>& fedToRoles,
                Rung& rung) {
  for (const auto& [name, declarations] : declared)
    if (!declaredByRoles.contains(name))
      add(rung, original, Message::Level::Refuted, "declaration",
          "no role declares `" + name.str() + "`, which the reference declares",
          "keep the declarations of the reference as they are");
  for (pd::InputOp input : inputsOf(original))
    if (!fedToRoles.contains(input.getName()))
      add(rung, original, Message::Level::Refuted, "feed",
          "no role takes the feed `" + input.getName().str() + "`, which the reference takes",
          "feed what the reference is fed, under the same names");
}

// What no rung looks at is named.
void checkRole(dist::RoleOp role, Rung& rung) {
  for (auto program : role.getBody().front().getOps<pd::ProgramOp>())
    if (!llvm::is_contained(kPrograms, program.getSymName()))
      add(rung, program, Message::Level::Unknown, "program",
          "program @" + program.getSymName().str() +
              " of a role is neither main nor startup: what it does to the variables is not looked "
              "at",
          "remove it");
  if (!findProgram(role, "main"))
    add(rung, role, Message::Level::Unknown, "program",
        "role @" + role.getSymName().str() + " has no program @main",
        "give it one, or remove the role");
}

// One program of the reference against those of all roles: together they have each op at least
// once, and each rank each op at most once.
void checkProgram(mlir::ModuleOp job, mlir::Operation* reference, llvm::StringRef name,
                  Rung& rung) {
  pd::ProgramOp original = findProgram(reference, name);
  Reference numbers(original);
  Coverage coverage(numbers, rung);
  const Declared declared = original ? declaredIn(*original.getBodyBlock()) : Declared();
  llvm::StringSet<> declaredByRoles, fedToRoles;
  llvm::SmallVector<dist::RoleOp> without;
  bool any = false;
  for (auto role : job.getOps<dist::RoleOp>()) {
    pd::ProgramOp program = findProgram(role, name);
    if (!program) {
      without.push_back(role);
      continue;
    }
    any = true;
    if (!original) continue;  // rung 2 says so
    program->walk([&](mlir::Operation* op) { checkForm(op, numbers, rung); });
    coverage.add(program);
    if (auto different = programAttributesDiffer(program, original))
      add(rung, program, Message::Level::Refuted, "program",
          "differs from the program of the reference: " + *different,
          "keep the attributes of the program as they are");
    checkDeclarations(program, numbers, declared, declaredByRoles, rung);
    checkFeeds(program, original, fedToRoles, rung);
  }
  if (!original) return;
  if (any) {
    // Without a start-up program the role's variables begin with nothing.
    for (dist::RoleOp role : without)
      if (name == "startup" && numbers.opCount() > 0 &&
          !role.getBody().front().getOps<pd::VarOp>().empty())
        add(rung, role, Message::Level::Refuted, "missing",
            "role @" + role.getSymName().str() +
                " has variables and no program @startup, which the reference has",
            "give it one that sets them, or pulls them from the role that does");
    checkUnion(original, declared, declaredByRoles, fedToRoles, rung);
    return coverage.finish(original);
  }
  if (numbers.opCount() > 0)
    add(rung, job, Message::Level::Refuted, "missing",
        "no role has the program @" + name.str() + " of the reference",
        "make the job again with transpile");
}

}  // namespace

// Roles one by one, then what all of them together must have.
void checkPrograms(mlir::ModuleOp job, Rung& rung) {
  mlir::Operation* reference = referenceModule(job);
  if (!reference) {
    add(rung, job, Message::Level::Unknown, "reference", "the job holds no reference program",
        "make the job with transpile, which stores it");
    return;
  }
  for (auto role : job.getOps<dist::RoleOp>()) {
    checkRole(role, rung);
    checkVariables(role, reference, rung);
  }
  checkHeld(job, reference, rung);
  for (llvm::StringRef name : kPrograms) checkProgram(job, reference, name, rung);
}

}  // namespace dtranspile::verify

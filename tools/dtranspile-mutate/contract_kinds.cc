// Contracts and relations that say too much, too little or something else; feeds that are cut
// otherwise; meshes of another size.
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

using Fields = mlir::DictionaryAttr;

// The contracts that the job declares, as it wrote them.
std::vector<Fields> contractsOf(mlir::ModuleOp job) {
  std::vector<Fields> found;
  if (auto list = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr))
    for (mlir::Attribute entry : list)
      if (auto fields = llvm::dyn_cast<Fields>(entry)) found.push_back(fields);
  return found;
}

// One contract is replaced; a null one is taken out.
void replace(mlir::ModuleOp job, Fields before, Fields after) {
  mlir::Builder builder(job.getContext());
  llvm::SmallVector<mlir::Attribute> entries;
  for (Fields fields : contractsOf(job)) {
    if (fields != before) entries.push_back(fields);
    else if (after) entries.push_back(after);
  }
  job->setAttr(dist::kContractsAttr, builder.getArrayAttr(entries));
}

// A contract with one field set.
Fields with(Fields fields, llvm::StringRef name, mlir::Attribute value) {
  mlir::NamedAttrList list(fields);
  list.set(name, value);
  return list.getDictionary(fields.getContext());
}

// Without its contract what the job does is a deviation that nothing excuses.
void contractDropped(JobView& view, Edits& edits) {
  for (Fields fields : contractsOf(view.job))
    edits.add(view.job, "a contract is not declared",
              [=, job = view.job]() mutable { replace(job, fields, {}); });
}

// Relations then lean on a tag that no contract declares, and the contract on nothing.
void contractRenamed(JobView& view, Edits& edits) {
  for (Fields fields : contractsOf(view.job))
    if (auto tag = fields.getAs<mlir::StringAttr>("tag"))
      edits.add(view.job, "the contract " + tag.str() + " has another name",
                [=, job = view.job]() mutable {
                  mlir::Builder builder(job.getContext());
                  replace(job, fields,
                          with(fields, "tag", builder.getStringAttr(tag.getValue() + "_other")));
                });
}

// Whoever trusts a job by what its contracts say reads something else than what it does.
void contractStatement(JobView& view, Edits& edits) {
  for (Fields fields : contractsOf(view.job)) {
    auto tag = fields.getAs<mlir::StringAttr>("tag");
    auto said = fields.getAs<mlir::StringAttr>("statement");
    if (!tag || !said) continue;
    for (const std::string& other :
         {said.str() + "; results are those of one device", std::string()})
      edits.add(view.job, "the contract " + tag.str() + " says \"" + other + "\"",
                [=, job = view.job]() mutable {
                  mlir::Builder builder(job.getContext());
                  replace(job, fields, with(fields, "statement", builder.getStringAttr(other)));
                });
  }
}

// Contracts list the places that they excuse; one place less must be found.
void siteDropped(JobView& view, Edits& edits) {
  for (Fields fields : contractsOf(view.job)) {
    auto sites = fields.getAs<mlir::ArrayAttr>("sites");
    for (size_t i = 0; sites && i < sites.size(); ++i)
      edits.add(view.job, "a site is not declared", [=, job = view.job]() mutable {
        llvm::SmallVector<mlir::Attribute> left(sites.begin(), sites.end());
        left.erase(left.begin() + i);
        mlir::Builder builder(job.getContext());
        replace(job, fields, with(fields, "sites", builder.getArrayAttr(left)));
      });
  }
}

// "#0 mul" names an op that the contract is not about.
void siteRenamed(JobView& view, Edits& edits) {
  for (Fields fields : contractsOf(view.job)) {
    auto sites = fields.getAs<mlir::ArrayAttr>("sites");
    for (size_t i = 0; sites && i < sites.size(); ++i)
      edits.add(view.job, "another op is declared a site", [=, job = view.job]() mutable {
        llvm::SmallVector<mlir::Attribute> names(sites.begin(), sites.end());
        mlir::Builder builder(job.getContext());
        names[i] = builder.getStringAttr("#0 mul");
        replace(job, fields, with(fields, "sites", builder.getArrayAttr(names)));
      });
  }
}

// An op or a variable that does nothing of what the contract excuses.
void siteAdded(JobView& view, Edits& edits) {
  std::vector<std::string> names;
  for (mlir::Operation* op : view.framework) names.push_back(verify::siteName(op));
  for (pd::VarOp var : variablesOf(view)) names.push_back(var.getSymName().str());
  for (Fields fields : contractsOf(view.job)) {
    auto sites = fields.getAs<mlir::ArrayAttr>("sites");
    auto tag = fields.getAs<mlir::StringAttr>("tag");
    for (const std::string& name : names) {
      auto added = mlir::StringAttr::get(view.job.getContext(), name);
      if (!sites || !tag || llvm::is_contained(sites, added)) continue;
      edits.add(view.job, "the contract " + tag.str() + " lists `" + name + "`",
                [=, job = view.job]() mutable {
                  llvm::SmallVector<mlir::Attribute> all(sites.begin(), sites.end());
                  all.push_back(added);
                  mlir::Builder builder(job.getContext());
                  replace(job, fields, with(fields, "sites", builder.getArrayAttr(all)));
                });
    }
  }
}

// Tags with and without a contract in the job: a relation may not lean on one that is not declared.
void relationDifferent(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (pd::VarOp var : variablesOf(view))
    for (llvm::StringRef tag : {"local_sgd", "batch_statistics", "other"})
      edits.add(var, "`" + var.getSymName().str() + "` may differ by " + tag.str(),
                [=, axis = view.axis]() { declareDifferent(var, axis, tag); });
}

// The other way: too strong a claim.
void relationEqual(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view)) {
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    if (relation && !relation.getAxes().empty())
      edits.add(var, "`" + var.getSymName().str() + "` is declared equal on all ranks",
                [var, relation]() mutable {
                  var->setAttr(dist::kRelAttr, dist::RelAttr::of(relation.getVariable()));
                });
  }
}

// Twice the reference's value: the update is right, the claim about it is not.
void relationScale(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view)) {
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    if (!relation) continue;
    edits.add(var, "`" + var.getSymName().str() + "` is declared twice the reference's",
              [var, relation]() mutable {
                var->setAttr(dist::kRelAttr,
                             dist::RelAttr::get(var.getContext(), relation.getVariable(),
                                                relation.getNumber(), relation.getAxes(), 2, 1,
                                                relation.getTags()));
              });
  }
}

// Another variable of the type, the first one found.
void relationOfOther(JobView& view, Edits& edits) {
  for (pd::VarOp var : variablesOf(view))
    for (pd::VarOp other : variablesOf(view))
      if (var != other && var.getType() == other.getType() && var->hasAttr(dist::kRelAttr)) {
        edits.add(var,
                  "`" + var.getSymName().str() + "` is said to stand for `" +
                      other.getSymName().str() + "`",
                  [=]() mutable {
                    var->setAttr(dist::kRelAttr, dist::RelAttr::of(other.getSymNameAttr()));
                  });
        break;
      }
}

// The last set of a variable, which is the average where replicas are averaged.
pd::SetOp lastSet(JobView& view, llvm::StringRef name) {
  pd::SetOp last;
  for (auto set : view.program.getBodyBlock()->getOps<pd::SetOp>())
    if (set.getVar() == name) last = set;
  return last;
}

// Whether the job has a contract of the tag.
bool declares(mlir::ModuleOp job, llvm::StringRef tag) {
  return llvm::any_of(contractsOf(job), [&](Fields fields) {
    auto own = fields.getAs<mlir::StringAttr>("tag");
    return own && own.getValue() == tag;
  });
}

// Replicas drift apart, as the contract is said to allow. Where the job declares no such contract
// the mutant declares it.
void averageDropped(JobView& view, Edits& edits) {
  if (view.axis.empty() || !declares(view.job, "local_sgd")) return;
  for (pd::VarOp var : variablesOf(view)) {
    pd::SetOp set = lastSet(view, var.getSymName());
    mlir::Operation* maker = set ? set.getValue().getDefiningOp() : nullptr;
    if (!maker || !isInserted(maker)) continue;
    edits.add(set, "`" + var.getSymName().str() + "` is not averaged, and declared X(local_sgd)",
              [=, axis = view.axis]() mutable {
                set->erase();
                declareDifferent(var, axis, "local_sgd");
              });
  }
}

// A wrong update with everything declared that could excuse it. A contract says what deviates, and
// must not become a word that excuses anything.
void reductionDroppedDeclared(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (mlir::Operation* op : view.framework) {
    mlir::Value gradient = isOptimizer(op) ? pd::OpView(op).input("Grad") : mlir::Value();
    mlir::Operation* maker = gradient ? gradient.getDefiningOp() : nullptr;
    mlir::Operation* start = maker;
    if (auto wait = llvm::dyn_cast_or_null<dist::WaitOp>(maker))
      start = wait.getPending().getDefiningOp();
    if (!llvm::isa_and_nonnull<dist::AllReduceOp>(start)) continue;
    mlir::Value before = start->getOperand(llvm::cast<mlir::OpResult>(gradient).getResultNumber());
    for (llvm::StringRef tag : {"local_sgd", "batch_statistics"})
      edits.add(
          op,
          quoted(gradient) + " is not reduced, what it updates is declared X(" + tag.str() + ")",
          [=, axis = view.axis, job = view.job, role = view.role]() mutable {
            pd::OpView(op).setInput("Grad", 0, before);
            declareContract(job, tag, {});
            for (mlir::Value result : op->getResults())
              for (mlir::Operation* user : result.getUsers())
                if (auto set = llvm::dyn_cast<pd::SetOp>(user))
                  if (auto var = llvm::dyn_cast_or_null<pd::VarOp>(
                          mlir::SymbolTable::lookupSymbolIn(role, set.getVar())))
                    declareDifferent(var, axis, tag);
          });
  }
}

// A job whose replicas are never averaged, by its own word.
void contractAdded(JobView& view, Edits& edits) {
  for (llvm::StringRef tag : {"local_sgd", "parts", "fp16_wire", "batch_statistics"})
    for (mlir::Operation* op : view.collectives)
      if (llvm::isa<dist::AllReduceOp>(op) && !declares(view.job, tag))
        edits.add(op, "is left out, and " + tag.str() + " declared", [=, job = view.job]() mutable {
          bypass(op);
          declareContract(job, tag, {});
        });
}

// A product over the ranks: no op has that relation, so the claim cannot be right.
void claimWrong(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  for (mlir::Operation* op : view.framework)
    if (op->getNumResults() == 1)
      edits.add(op, "a relation is claimed of its result that it has not",
                [op, axis = view.axis]() {
                  mlir::Builder builder(op->getContext());
                  auto state =
                      dist::AxisRelAttr::partial(builder.getStringAttr(axis), dist::Reduce::Prod);
                  auto name = builder.getStringAttr(nameFor(op->getResult(0)));
                  op->setAttr(dist::kRelAttr, dist::RelAttr::of(name, {state}));
                });
}

// A gradient that is wrong, and a word for it.
void assumed(JobView& view, Edits& edits) {
  for (auto op : view.collectives) {
    if (!llvm::isa<dist::AllReduceOp>(op)) continue;
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      edits.add(op, quoted(operand) + " is assumed to be reduced",
                [result = result, operand = operand]() mutable {
                  Readers readers(result);
                  mlir::OpBuilder builder(result.getContext());
                  builder.setInsertionPointAfterValue(result);
                  auto name = builder.getStringAttr(nameFor(operand));
                  readers.read(dist::AssumeOp::create(builder, operand.getLoc(), operand.getType(),
                                                      operand, dist::RelAttr::of(name),
                                                      builder.getStringAttr("the mutant says so")));
                });
  }
}

// Every rank then gets the whole batch, and the factors of the program are those of shares.
void batchDropped(JobView& view, Edits& edits) {
  for (pd::InputOp input : inputsOf(view.program))
    if (input->hasAttr(dist::kBatchAttr))
      edits.add(input, "`" + input.getName().str() + "` is not cut",
                [=]() { input->removeAttr(dist::kBatchAttr); });
}

// Rows become columns: each rank has all samples, but a part of their features.
void batchOtherDim(JobView& view, Edits& edits) {
  for (pd::InputOp input : inputsOf(view.program)) {
    auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(input.getType());
    if (!batch || !type || type.getRank() < 2) continue;
    edits.add(input, "`" + input.getName().str() + "` is cut along another dim", [=]() {
      input->setAttr(dist::kBatchAttr, dist::BatchAttr::get(input->getContext(), 1 - batch.getDim(),
                                                            batch.getAxes()));
    });
  }
}

// Feeds that are not cut are tables, lengths or settings, of which each rank needs the whole.
void batchAdded(JobView& view, Edits& edits) {
  for (pd::InputOp input : inputsOf(view.program))
    if (!input->hasAttr(dist::kBatchAttr) && !view.axis.empty())
      edits.add(input, "`" + input.getName().str() + "` is cut", [=, axis = view.axis]() {
        input->setAttr(dist::kBatchAttr,
                       dist::BatchAttr::get(input->getContext(), 0,
                                            {mlir::StringAttr::get(input->getContext(), axis)}));
      });
}

// Ranks along the axis left out get the same samples, which the mean then counts several times.
void batchFewerAxes(JobView& view, Edits& edits) {
  for (pd::InputOp input : inputsOf(view.program)) {
    auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
    if (!batch || batch.getAxes().size() < 2) continue;
    edits.add(input, "`" + input.getName().str() + "` is cut over one axis less", [=]() {
      input->setAttr(dist::kBatchAttr, dist::BatchAttr::get(input->getContext(), batch.getDim(),
                                                            batch.getAxes().drop_back()));
    });
  }
}

// One reader gets the whole feed, the others their share.
void inputDoubled(JobView& view, Edits& edits) {
  for (pd::InputOp input : inputsOf(view.program)) {
    if (!input->hasAttr(dist::kBatchAttr)) continue;
    for (mlir::OpOperand& use : input.getValue().getUses())
      edits.add(use.getOwner(), "reads `" + input.getName().str() + "` of all ranks",
                [at = &use, input]() mutable {
                  mlir::OpBuilder builder(input);
                  mlir::Operation* whole = builder.clone(*input.getOperation());
                  whole->removeAttr(dist::kBatchAttr);
                  at->set(whole->getResult(0));
                });
  }
}

// Communicators follow the mesh, factors (1/ranks) are numbers in the text and do not.
void meshSize(JobView& view, Edits& edits) {
  for (unsigned i = 0; i < view.mesh.getSizes().size(); ++i)
    edits.add(view.mesh, "an axis is twice as long as the program was made for",
              [i, mesh = view.mesh]() mutable {
                llvm::SmallVector<int64_t> sizes(mesh.getSizes());
                sizes[i] *= 2;
                mesh.setSizes(sizes);
              });
}

}  // namespace

std::vector<Kind> contractKinds() {
  const char* group = "contracts";
  const char* feeds = "feeds";
  return {
      {group, "contract-dropped", "a contract is not declared", Place::Main, contractDropped},
      {group, "contract-renamed", "a contract has another tag", Place::Main, contractRenamed},
      {group, "contract-statement", "a contract says something else", Place::Main,
       contractStatement},
      {group, "site-dropped", "a site is not declared", Place::Main, siteDropped},
      {group, "site-renamed", "another op is the declared site", Place::Main, siteRenamed},
      {group, "site-added", "a contract lists what does not deviate", Place::Main, siteAdded},
      {group, "relation-different", "a variable is declared to differ", Place::Main,
       relationDifferent},
      {group, "relation-equal", "a variable that differs is declared equal", Place::Main,
       relationEqual},
      {group, "relation-scale", "a variable is declared with another scale", Place::Main,
       relationScale},
      {group, "relation-of-other", "a variable is said to stand for another one", Place::Main,
       relationOfOther},
      {group, "average-dropped-declared", "a parameter is not averaged, and said to differ",
       Place::Main, averageDropped},
      {group, "reduction-dropped-declared",
       "a gradient is not reduced, its variables said to differ", Place::Main,
       reductionDroppedDeclared},
      {group, "contract-added", "a reduction is left out, and a contract declared", Place::Main,
       contractAdded},
      {group, "claim-wrong", "a claim that is not so", Place::Main, claimWrong},
      {group, "assumed", "a missing reduction is assumed", Place::Main, assumed},
      {feeds, "batch-dropped", "a feed is not cut", Place::Main, batchDropped},
      {feeds, "batch-dim", "a feed is cut along another dim", Place::Main, batchOtherDim},
      {feeds, "batch-added", "a feed that all ranks need is cut", Place::Main, batchAdded},
      {feeds, "batch-axes", "a feed is cut over fewer axes", Place::Main, batchFewerAxes},
      {feeds, "input-doubled", "one reader gets the whole feed", Place::Main, inputDoubled},
      {"mesh", "mesh-size", "the mesh has more ranks than the factors say", Place::Main, meshSize},
  };
}

}  // namespace dtranspile::mutate

// What an op did not say, it says: attributes that its row of the operator table knows and the op
// leaves at their defaults, and those of dialect dist that are there or not. And an op of the job
// is another one of its form.
#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "tools/dtranspile-mutate/edits.h"
#include "tools/dtranspile-mutate/pairs.h"

namespace dtranspile::mutate {
namespace {

//===--- framework attributes that are not said ---===//

// A value that is not the default; of texts a number, since those that are read hold one. Null for
// lists and blocks.
mlir::Attribute unlikeDefault(const pd::AttrRow& row, mlir::Builder builder) {
  const llvm::StringRef text = row.defaultText;
  switch (row.types.front()) {
    case pd::AttrType::Int: {
      int32_t number = 0;
      return builder.getI32IntegerAttr(text.getAsInteger(10, number) ? 1 : number + 1);
    }
    case pd::AttrType::Long: {
      int64_t number = 0;
      return builder.getI64IntegerAttr(text.getAsInteger(10, number) ? 1 : number + 1);
    }
    case pd::AttrType::Float: {
      double number = 0;
      return builder.getF32FloatAttr(
          text.getAsDouble(number) || number == 0 ? 0.25F : static_cast<float>(number * 1.5));
    }
    case pd::AttrType::Bool: return builder.getBoolAttr(text != "true");
    case pd::AttrType::String: return builder.getStringAttr("7");
    default: return {};
  }
}

void forEachUnsaid(mlir::Operation* op,
                   llvm::function_ref<void(const pd::AttrRow&, mlir::Attribute)> visit) {
  const pd::OpSpec* spec = pd::OpView(op).spec();
  if (!spec) return;
  for (const pd::AttrRow& row : spec->attributes) {
    if (row.hint || pd::OpView(op).hasAttr(row.name)) continue;
    if (mlir::Attribute now = unlikeDefault(row, mlir::Builder(op->getContext()))) visit(row, now);
  }
}

std::string said(const pd::AttrRow& row, mlir::Attribute now) {
  std::string text = "`" + row.name + "` is ";
  llvm::raw_string_ostream stream(text);
  now.print(stream, /*elideType=*/true);
  return text + ", which it did not say";
}

// Of ops that stand for none of the reference: others are compared with it word by word.
void attributeAdded(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    if (isInserted(op))
      forEachUnsaid(op, [&](const pd::AttrRow& row, mlir::Attribute now) {
        edits.add(op, said(row, now),
                  [op, name = row.name, now]() { pd::OpView(op).setAttr(name, now); });
      });
}

void attributeAddedAlike(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list)
    forEachUnsaid(pair.theirs, [&](const pd::AttrRow& row, mlir::Attribute now) {
      edits.add(pair.own, said(row, now) + ", in @reference too", [pair, name = row.name, now]() {
        for (mlir::Operation* op : {pair.own, pair.theirs}) pd::OpView(op).setAttr(name, now);
      });
    });
}

//===--- another op of the form ---===//

const std::vector<std::vector<llvm::StringRef>>& forms() {
  static const std::vector<std::vector<llvm::StringRef>> kForms = {
      {"elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_div",
       "elementwise_max", "elementwise_min", "elementwise_mod", "elementwise_floordiv",
       "elementwise_pow"},
      {"equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"},
      {"logical_and", "logical_or", "logical_xor"},
      {"sqrt", "square", "abs", "ceil", "floor", "exp", "sign"},
      {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min"},
  };
  return kForms;
}

void forEachOther(mlir::Operation* op, llvm::function_ref<void(llvm::StringRef)> visit) {
  const std::string type = pd::OpView(op).type().str();
  for (const auto& form : forms())
    if (llvm::is_contained(form, type))
      for (llvm::StringRef other : form)
        if (other != type) visit(other);
}

// Slots and attributes stay.
void retype(mlir::Operation* op, llvm::StringRef type) {
  mlir::OpBuilder builder(op);
  mlir::OperationState state(op->getLoc(), ("pd." + type).str(), op->getOperands(),
                             op->getResultTypes(), op->getAttrs());
  mlir::Operation* now = builder.create(state);
  op->replaceAllUsesWith(now->getResults());
  op->erase();
}

void otherType(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    if (isInserted(op))
      forEachOther(op, [&](llvm::StringRef other) {
        edits.add(op, "is " + other.str(), [=]() { retype(op, other); });
      });
}

void otherTypeAlike(JobView& view, Edits& edits) {
  for (const Pair& pair : Pairs(view).list)
    forEachOther(pair.theirs, [&](llvm::StringRef other) {
      edits.add(pair.own, "is " + other.str() + ", in @reference too", [=]() {
        retype(pair.own, other);
        retype(pair.theirs, other);
      });
    });
}

//===--- words of dialect dist that are there or not ---===//

// On the op where nothing is; null where the word has no place there.
mlir::Attribute wordFor(mlir::Operation* op, llvm::StringRef name) {
  mlir::Builder builder(op->getContext());
  const bool push = llvm::isa<dist::PushOp>(op);
  if (push && (name == dist::kChangedRowsAttr || name == dist::kAtOnceAttr))
    return builder.getUnitAttr();
  if (auto get = llvm::dyn_cast<pd::GetOp>(op);
      get && name == dist::kAsPulledAttr && op->getParentOfType<dist::HandleOp>())
    return builder.getUnitAttr();
  auto pull = llvm::dyn_cast<dist::PullOp>(op);
  if (!pull || name != dist::kKnownAttr) return {};
  for (auto var : op->getParentOfType<dist::RoleOp>().getBody().front().getOps<pd::VarOp>())
    if (var.getType() == pull.getOutput().getType())
      return mlir::FlatSymbolRefAttr::get(var.getSymNameAttr());
  return {};
}

constexpr llvm::StringLiteral kWords[] = {dist::kChangedRowsAttr, dist::kAtOnceAttr,
                                          dist::kAsPulledAttr, dist::kKnownAttr};

void wordAdded(JobView& view, Edits& edits) {
  view.program->walk([&](mlir::Operation* op) {
    if (!view.holds(op)) return;
    for (llvm::StringRef name : kWords)
      if (mlir::Attribute word = op->hasAttr(name) ? mlir::Attribute() : wordFor(op, name))
        edits.add(op, "says " + name.str(), [=]() { op->setAttr(name, word); });
  });
}

void wordDropped(JobView& view, Edits& edits) {
  view.program->walk([&](mlir::Operation* op) {
    if (!view.holds(op)) return;
    for (llvm::StringRef name : kWords)
      if (op->hasAttr(name))
        edits.add(op, "does not say " + name.str(), [=]() { op->removeAttr(name); });
  });
}

// The run-time system sets what a communicator says to count exchanges.
void exchangesCounted(JobView& view, Edits& edits) {
  for (auto comm : view.job.getOps<dist::CommOp>())
    for (pd::VarOp var : variablesOf(view))
      if (!comm->hasAttr(dist::kExchangeCounter))
        edits.add(comm, "says that `" + var.getSymName().str() + "` counts exchanges", [=]() {
          mlir::Builder builder(comm->getContext());
          comm->setAttr(dist::kExchangeCounter, builder.getStringAttr(pd::VarOp(var).getSymName()));
          comm->setAttr(dist::kExchangeSteps, builder.getI64IntegerAttr(2));
        });
}

// Requests that wait otherwise than the contract says.
void otherQueues(JobView& view, Edits& edits) {
  mlir::Builder builder(view.job.getContext());
  const auto with = [&](dist::CommOp comm, llvm::StringRef name, mlir::Attribute value) {
    mlir::NamedAttrList entries(comm->getAttrOfType<mlir::DictionaryAttr>(dist::kSendingAttr));
    entries.set(name, value);
    edits.add(comm, "@" + comm.getSymName().str() + " has " + name.str(),
              [comm, all = entries.getDictionary(comm.getContext())]() {
                comm->setAttr(dist::kSendingAttr, all);
              });
  };
  for (auto comm : view.job.getOps<dist::CommOp>()) {
    if (comm.getKind() != dist::CommKind::Rpc) continue;
    with(comm, "max_merge_var_num", builder.getI64IntegerAttr(2));
    with(comm, "min_send_grad_num_before_recv", builder.getI64IntegerAttr(2));
    with(comm, "independent_recv_thread", builder.getUnitAttr());
    with(comm, "average", builder.getUnitAttr());
  }
}

}  // namespace

std::vector<Kind> wordKinds() {
  const char* words = "words";
  const char* semantic = "semantic";
  return {
      {words, "attribute-added", "an inserted op says what it did not say", Place::Main,
       attributeAdded},
      {words, "body-attribute-added", "an inserted op of a block says what it did not say",
       Place::Bodies, attributeAdded},
      {words, "composite-attribute-added", "an op of a composite says what it did not say",
       Place::Composites, attributeAdded},
      {words, "startup-attribute-added", "an inserted op of start-up says what it did not say",
       Place::Startup, attributeAdded},
      {words, "op-type", "an inserted op is another one of its form", Place::Main, otherType},
      {words, "body-op-type", "an inserted op of a block is another one of its form", Place::Bodies,
       otherType},
      {words, "composite-op-type", "an op of a composite is another one of its form",
       Place::Composites, otherType},
      {words, "word-added", "a request or a read says how it is made", Place::Main, wordAdded},
      {words, "word-dropped", "a request or a read no longer says how it is made", Place::Main,
       wordDropped},
      {words, "startup-word-added", "a request of start-up says how it is made", Place::Startup,
       wordAdded},
      {words, "exchanges-counted", "a variable is said to count exchanges", Place::Main,
       exchangesCounted},
      {words, "queues", "requests wait in other queues", Place::Main, otherQueues},
      {semantic, "attribute-added-alike", "an op says what it did not say, in @reference too",
       Place::Main, attributeAddedAlike},
      {semantic, "body-attribute-added-alike",
       "an op of a block says what it did not say, in @reference too", Place::Bodies,
       attributeAddedAlike},
      {semantic, "op-type-alike", "an op is another one of its form, in @reference too",
       Place::Main, otherTypeAlike},
      {semantic, "body-op-type-alike",
       "an op of a block is another one of its form, in @reference too", Place::Bodies,
       otherTypeAlike},
  };
}

}  // namespace dtranspile::mutate

// Attributes of ops that differ from the reference's, with and without a reference that was changed
// alike.
#include "compiler/analysis/program_info.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Every attribute that says what the op computes, with another value for it.
void forEachChange(mlir::Operation* op,
                   llvm::function_ref<void(mlir::StringAttr, mlir::Attribute)> visit) {
  auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("attrs");
  const pd::OpSpec* spec = pd::OpView(op).spec();
  if (!attributes || !spec) return;
  for (mlir::NamedAttribute one : attributes) {
    const pd::AttrRow* row = spec->attribute(one.getName());
    mlir::Attribute now = row && !row->hint ? perturbed(one.getValue()) : mlir::Attribute();
    if (now) visit(one.getName(), now);
  }
}

std::string words(mlir::Operation* op, mlir::StringAttr name, mlir::Attribute now) {
  std::string text = "`" + name.str() + "` is ";
  llvm::raw_string_ostream stream(text);
  now.print(stream, /*elideType=*/true);
  stream << " in place of ";
  pd::OpView(op).attr(name).print(stream, /*elideType=*/true);
  return text;
}

void inRole(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    forEachChange(op, [&](mlir::StringAttr name, mlir::Attribute now) {
      edits.add(op, words(op, name, now), [=]() { pd::OpView(op).setAttr(name.getValue(), now); });
    });
}

enum class Trusted { Reference, ReferenceOnly, Source };

// The same attribute of the op that the role's op stands for.
template <Trusted trusted>
void inReference(JobView& view, Edits& edits) {
  if (!view.source) return;
  for (mlir::Operation* op : view.framework) {
    std::optional<int64_t> number = sourceOf(op);
    if (!number) continue;
    forEachChange(op, [&](mlir::StringAttr name, mlir::Attribute now) {
      edits.add(op, words(op, name, now) + ", in what it is compared with too",
                [op, name, now, number, job = view.job, symbol = view.program.getSymName()]() {
                  mlir::ModuleOp module =
                      trusted == Trusted::Source ? findModule(job, "source") : addReference(job);
                  mlir::Operation* original = opNumber(findProgram(module, symbol), *number);
                  if (original) pd::OpView(original).setAttr(name.getValue(), now);
                  if (trusted != Trusted::ReferenceOnly)
                    pd::OpView(op).setAttr(name.getValue(), now);
                });
    });
  }
}

void removed(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    forEachChange(op, [&](mlir::StringAttr name, mlir::Attribute) {
      edits.add(op, "`" + name.str() + "` is not said",
                [=]() { pd::OpView(op).setAttr(name.getValue(), {}); });
    });
}

void roleChanged(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    for (int role : {+pd::kForward, +pd::kBackward, +pd::kOptimize, pd::kBackward | pd::kLoss}) {
      if (pd::OpView(op).role() == role) continue;
      edits.add(op, "op_role is " + std::to_string(role), [=]() {
        pd::OpView(op).setAttr("op_role", mlir::Builder(op->getContext()).getI32IntegerAttr(role));
      });
    }
}

// A composite carries the attributes of the op that it stands for.
void ofComposite(JobView& view, Edits& edits) {
  view.program->walk([&](dist::CompositeOp op) {
    for (mlir::NamedAttribute one : op.getAttrs())
      if (mlir::Attribute now = perturbed(one.getValue()))
        edits.add(op, "`" + one.getName().str() + "` of the composite is another one",
                  [op, name = one.getName(), now]() mutable {
                    mlir::NamedAttrList list(op.getAttrs());
                    list.set(name, now);
                    op.setAttrsAttr(list.getDictionary(op.getContext()));
                  });
  });
}

template <const char* attribute>
void named(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    forEachChange(op, [&](mlir::StringAttr name, mlir::Attribute now) {
      if (name.getValue() == attribute)
        edits.add(op, words(op, name, now),
                  [=]() { pd::OpView(op).setAttr(name.getValue(), now); });
    });
}

void streamsDropped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework)
    if (op->hasAttr(dist::kStreamsAttr))
      edits.add(op, "no longer says along which axes it draws differently",
                [op]() { op->removeAttr(dist::kStreamsAttr); });
}

void streamsChanged(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.framework) {
    const pd::OpSpec* spec = pd::OpView(op).spec();
    if (!spec || !(spec->effects & pd::kRandom)) continue;
    mlir::Builder builder(op->getContext());
    auto now = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
    mlir::ArrayAttr other =
        now && !now.empty() ? builder.getArrayAttr({}) : builder.getStrArrayAttr({view.axis});
    edits.add(op, "draws along other axes",
              [op, other]() { op->setAttr(dist::kStreamsAttr, other); });
  }
}

constexpr char kSeed[] = "seed";

}  // namespace

std::vector<Kind> attributeKinds() {
  const char* attributes = "attributes";
  const char* startup = "start-up";
  const char* random = "random";
  return {
      {attributes, "attribute", "an attribute is another one", Place::Main, inRole},
      {attributes, "attribute-removed", "an attribute is not said", Place::Main, removed},
      {attributes, "attribute-in-reference", "an attribute of the role and its own @reference",
       Place::Main, inReference<Trusted::Reference>},
      {attributes, "attribute-of-reference", "an attribute of its own @reference only", Place::Main,
       inReference<Trusted::ReferenceOnly>},
      {attributes, "attribute-in-source", "an attribute of the role and @source", Place::Main,
       inReference<Trusted::Source>, /*changesSource=*/true},
      {attributes, "op-role", "an op says that it has another role", Place::Main, roleChanged},
      {attributes, "attribute-of-composite", "an attribute of a composite", Place::Main,
       ofComposite},
      {"bodies", "body-attribute", "an attribute of an op in a block", Place::Bodies, inRole},
      {"bodies", "body-attribute-in-reference",
       "an attribute of an op in a block and in its own @reference", Place::Bodies,
       inReference<Trusted::Reference>},
      {"bodies", "composite-attribute", "an attribute of an op in a composite", Place::Composites,
       inRole},
      {startup, "startup-attribute", "an attribute of an initialiser", Place::Startup, inRole},
      {startup, "startup-attribute-removed", "an attribute of an initialiser is not said",
       Place::Startup, removed},
      {startup, "startup-attribute-in-reference",
       "an attribute of an initialiser and its own @reference", Place::Startup,
       inReference<Trusted::Reference>},
      {startup, "startup-attribute-in-source", "an attribute of an initialiser and @source",
       Place::Startup, inReference<Trusted::Source>, /*changesSource=*/true},
      {random, "seed", "a draw has another seed", Place::Main, named<kSeed>},
      {random, "streams-dropped", "a draw does not say along which axes it differs", Place::Main,
       streamsDropped},
      {random, "streams-changed", "a draw differs along other axes", Place::Main, streamsChanged},
      {random, "startup-seed", "an initialiser has another seed", Place::Startup, named<kSeed>},
      {random, "startup-streams", "an initialiser draws along other axes", Place::Startup,
       streamsChanged},
  };
}

}  // namespace dtranspile::mutate

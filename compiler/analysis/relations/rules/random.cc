// Relation rules: family `random`. `dist.streams` names the axes along which the draws of ranks
// differ; without it a fixed seed gives equal draws and no seed gives independent ones. So it is in
// start-up whatever `dist.streams` leaves out: nothing gives the ranks one generator there, and
// what they draw without a seed is broadcast. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {
namespace {

// Axes along which the ranks draw different numbers.
llvm::SmallVector<bool, 4> differingAxes(RuleContext& context) {
  const Axes& axes = context.axes();
  mlir::Operation* op = context.op().operation();
  auto streams = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
  bool seeded = context.op().spec()->attribute("seed") && context.op().getInt("seed") != 0;
  auto program = op->getParentOfType<pd::ProgramOp>();
  bool oneGenerator = streams && !(program && program.getSymName() == "startup");
  llvm::SmallVector<bool, 4> differ(axes.count(), !oneGenerator && !seeded);
  if (streams)
    for (mlir::Attribute name : streams)
      if (int axis = axes.indexOf(llvm::cast<mlir::StringAttr>(name).getValue()); axis >= 0)
        differ[axis] = true;
  for (unsigned a = 0; a < axes.count(); ++a)
    if (axes.meshSizes[a] == 1) differ[a] = false;
  return differ;
}

// Start-up draws are those of one device, whoever keeps them: a stream of a rank's own is another
// draw, also where that rank alone has the variable and nothing drifts apart.
void demandOneDraw(RuleContext& context, mlir::Value out) {
  mlir::Operation* op = context.op().operation();
  auto program = op->getParentOfType<pd::ProgramOp>();
  auto streams = op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr);
  if (!out || !streams || !program || program.getSymName() != "startup") return;
  for (auto name : streams.getAsRange<mlir::StringAttr>()) {
    const int axis = context.axes().indexOf(name.getValue());
    if (axis < 0 || context.axes().meshSizes[axis] == 1) continue;
    context.violate({out, "random-streams",
                     "draws numbers of its own for every coordinate of axis " + name.str() +
                         ", and starts a variable with them: the reference draws once",
                     "give no dist.streams to ops of the start-up program"});
    return;
  }
}

mlir::StringAttr randomTag(RuleContext& context) {
  return mlir::StringAttr::get(context.op().operation()->getContext(), kRandomTag);
}

// A result of given shape. Along axes that its shape is not cut over, ranks that draw different
// numbers hold different values; parts of a batch are drawn each for itself, and must be.
void giveDraw(RuleContext& context, const Form& form) {
  context.result("Out", form);
  demandOneDraw(context, context.op().output("Out"));
  for (const Term& term : form.terms)
    if (term.use == Use::Shape) demandStreams(context, term.value);
  const llvm::SmallVector<bool, 4> differ = differingAxes(context);
  context.adjust("Out", [&](Relation& relation) {
    for (Reading* reading : {&relation.whole, &relation.parts})
      for (auto [a, differs] : llvm::enumerate(differ))
        if (reading->known && differs && reading->states[a].isReplicated())
          reading->states[a] = State::different(randomTag(context));
  });
}

void draw(RuleContext& context) {
  if (mlir::Value out = context.op().output("Out")) giveDraw(context, createdForm(context, out));
}

// Permutations and seeds have a shape of their own.
void drawAlone(RuleContext& context) {
  Form form;
  if (mlir::Value out = context.op().output("Out")) form.result = wholeLabels(out);
  giveDraw(context, form);
}

void drawLike(RuleContext& context) { giveDraw(context, likeForm(context)); }

// A draw per element or row of X.
void drawFor(RuleContext& context, Rule kind, const char* slot = "X") {
  if (mlir::Value x = context.op().input(slot)) demandStreams(context, x);
  kind(context);
}
void drawElements(RuleContext& context) { drawFor(context, pointwise); }
void drawRows(RuleContext& context) { drawFor(context, rowwise); }
void drawAlpha(RuleContext& context) { drawFor(context, rowwise, "Alpha"); }

// By one seed the ranks draw what dist.streams of the op says.
void dropout(RuleContext& context) {
  mlir::Value x = context.op().input("X"), seed = context.op().input("Seed");
  if (!x) return;
  if (!context.op().getBool("is_test")) demandStreams(context, x);
  if (seed && !context.relation(seed).reading().isReplicated())
    return context.lose("Out", 0, "takes a seed that is not the same on all ranks"),
           context.lose("Mask", 0, "takes a seed that is not the same on all ranks");
  pointwise(context);
}

// The norm that the gradient is clipped by couples all its elements; the noise is that of the
// parameter, which whoever has it (all ranks, or the server that has it whole) draws as one device
// does.
void dpsgd(RuleContext& context) {
  const llvm::SmallVector<bool, 4> differ = differingAxes(context);
  mlir::Value gradient = context.op().input("Grad");
  for (unsigned a = 0; gradient && a < context.axes().count(); ++a)
    if (differ[a] && context.axes().sizes[a] != 1)
      context.violate({gradient, "random-streams",
                       "draws different numbers along axis " + context.axes().names[a] +
                           ", and the reference draws once for the parameter",
                       "give the op dist.streams = []"});
  wholeOnly(context);
}

// Samples and heads are independent, where k and v have as many heads as q; probabilities are drawn
// for each.
void attention(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "flash_attn_grad";
  mlir::Value q = op.input("q"), k = op.input("k"), v = op.input("v"),
              gradient = op.input("out@GRAD"), mask = op.input("attn_mask"),
              seed = op.input(back ? "seed_offset" : "fixed_seed_offset");
  if (!q || !k || !v || rankOf(q) != 4 || rankOf(k) != 4 || rankOf(v) != 4) return;
  if (back && (!gradient || rankOf(gradient) != 4)) return;
  const bool draws = op.getFloat("dropout") > 0 && !op.getBool("is_test");
  if (draws) demandStreams(context, q);
  const bool heads = dimsOf(q)[2] > 0 && dimsOf(q)[2] == dimsOf(k)[2] && !draws;
  const int head = heads ? 1 : kWholeDim;
  const Labels labels = {0, kWholeDim, head, kWholeDim};
  Form form;
  if (back) form.terms.push_back({gradient, labels, Use::Linear});
  for (mlir::Value one : {q, k}) form.terms.push_back({one, labels, Use::Value});
  form.terms.push_back({v, labels, back ? Use::Value : Use::Linear});
  if (mask) {
    if (rankOf(mask) != 4) return;
    Labels own = {0, head, kWholeDim, kWholeDim};
    for (int d = 0; d < 2; ++d)
      if (dimsOf(mask)[d] == 1) own[d] = kBroadcastDim;
    form.terms.push_back({mask, own, Use::Value});
  }
  // What was dropped is told by place in the whole.
  if (draws && seed) form.terms.push_back({seed, wholeLabels(seed), Use::Value});
  form.shareable = !draws;
  form.result = labels;
  if (back) {
    for (const char* slot : {"q@GRAD", "k@GRAD", "v@GRAD"}) context.result(slot, form);
    return;
  }
  context.result("out", form);
  form.terms.erase(llvm::find_if(form.terms, [&](const Term& term) { return term.value == v; }));
  form.result = {0, head, kWholeDim};
  context.result("softmax_lse", form);
  form.result = {0, head, kWholeDim, kWholeDim};
  context.result("softmax", form);
  Form numbers;
  numbers.result = {kWholeDim};
  context.result("seed_offset", numbers);
}

#define DT_UNIFORM "min, max, seed, dtype"
#define DT_GAUSSIAN "mean, std, seed, dtype"
#define DT_SHAPE "ShapeTensor, ShapeTensorList, shape"
#define DT_LIKE "Input, shape, input_dim_idx, output_dim_idx"
#define DT_DROPOUT "dropout_prob, is_test, fix_seed, seed, dropout_implementation"

const RuleRow kRows[] = {
    // A diagonal that is set stands in the rows of the whole.
    {"uniform_random", draw, "", DT_SHAPE ", " DT_UNIFORM},
    {"uniform_random_batch_size_like", drawLike, "", DT_LIKE ", " DT_UNIFORM},
    {"gaussian_random", draw, "", DT_SHAPE ", " DT_GAUSSIAN},
    {"gaussian_random_batch_size_like", drawLike, "", DT_LIKE ", " DT_GAUSSIAN},
    {"truncated_gaussian_random", draw, "", "shape, a, b, " DT_GAUSSIAN},
    {"randint", draw, "", DT_SHAPE ", low, high, seed, dtype"},
    {"randperm", drawAlone, "", "n, dtype, seed"},
    {"seed", drawAlone, "", "seed"},
    {"bernoulli", drawElements, "X -> Out"},
    {"multinomial", drawRows, "X:m -> Out", "num_samples, replacement"},
    {"sampling_id", drawRows, "X -> Out", "min, max, seed"},
    {"flash_attn", attention, "",
     "q, k, v, fixed_seed_offset, attn_mask, dropout, causal, is_test, rng_name"},
    {"flash_attn_grad", attention, "",
     "q, k, v, out, softmax_lse, seed_offset, attn_mask, out@GRAD, dropout, causal, is_test, "
     "rng_name"},
    // Rows of the whole change places.
    {"shuffle_batch", wholeOnly, "X, Seed -> Out, ShuffleIdx, SeedOut", "startup_seed"},
    {"shuffle_batch_grad", wholeOnly, "Out@GRAD:l, ShuffleIdx -> X@GRAD", "startup_seed"},
    {"exponential", drawElements, "X:s -> Out", "lambda"},
    {"poisson", drawElements, "X -> Out"},
    {"poisson_grad", pointwise, "Out@GRAD:s -> X@GRAD"},
    {"dirichlet", drawAlpha, "Alpha -> Out"},
    {"gumbel_softmax", drawRows, "X -> Out", "temperature, hard, axis"},
    {"gumbel_softmax_grad", rowwise, "Out@GRAD:l, Out -> X@GRAD", "temperature, hard, axis"},
    // Which window a sample gets follows from Seed and from its position.
    {"random_crop", wholeOnly, "X, Seed -> Out, SeedOut", "shape, startup_seed"},
    {"dpsgd", dpsgd, "Param, Grad, LearningRate -> ParamOut", "clip, batch_size, sigma, seed"},
    {"dropout", dropout, "X:l -> Out; X:s -> Mask", "Seed, " DT_DROPOUT},
    {"dropout_grad", pointwise, "Out@GRAD:l, Mask -> X@GRAD", DT_DROPOUT},
};

}  // namespace

// Ranks with different samples must draw differently (or two samples get one mask), and ranks with
// equal data alike (or replicas drift apart).
void demandStreams(RuleContext& context, mlir::Value data) {
  llvm::SmallVector<bool, 4> differ = differingAxes(context);
  const Reading& reading = context.relation(data).reading();
  for (unsigned a = 0; reading.known && a < context.axes().count(); ++a) {
    if (context.axes().sizes[a] == 1) continue;
    const std::string& axis = context.axes().names[a];
    bool cut = reading.states[a].isSplit() || reading.states[a].isParts();
    if (cut && !differ[a])
      context.violate({data, "random-streams",
                       "draws the same numbers on every rank of axis " + axis +
                           ", whose ranks hold different samples",
                       "give the op dist.streams = [\"" + axis + "\", …]"});
    if (reading.states[a].isReplicated() && differ[a])
      context.violate({data, "random-streams",
                       "draws different numbers along axis " + axis +
                           ", whose ranks hold equal data, so that replicas drift apart",
                       "give the op a dist.streams without \"" + axis + "\""});
  }
}

llvm::ArrayRef<RuleRow> randomRules() { return kRows; }

}  // namespace dtranspile::verify

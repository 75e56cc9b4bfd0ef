// Inference replayed over the corpora: with the declared types of its inputs every op must infer
// what the framework declared for its outputs, -1 where that comes with the data. Constraints hold
// on all of these programs, too.
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "catch2/catch.hpp"
#include "compiler/import/import.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/ops/declared.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/Verifier.h"
#include "test/corpus_path.h"

namespace dtranspile::pd {
namespace {

// Where the declaration says something else than what the op computes, or leaves it out. Key:
// type.slot.
const std::map<std::string, const char*> kExceptions = {
    {"rnn.Reserve", "declared without extents"},
    {"accuracy.Correct", "2.6 declares the dtype of the scores; the kernel writes int32"},
    {"accuracy.Total", "2.6 declares the dtype of the scores; the kernel writes int32"},
    {"sequence_pool.MaxIndex", "declared with the default dtype; the kernel writes int32"},
};

// The same, in programs of one operator. What kernels write was read off the framework itself, run
// on these programs (1.8.5 and 2.6.2).
const std::map<std::string, const char*> kExceptionsOfOps = {
    {"deformable_psroi_pooling.TopCount",
     "declared int32; the kernel writes the element type of its input"},
    {"determinant.Out",
     "declared with the extents of the matrices; the kernel writes one number for each"},
    {"einsum.XShape",
     "declared with the operand's extents, though the framework never gives it memory; here it has "
     "no elements"},
    {"filter_by_instag.IndexMap", "declared with two columns; the kernel writes three"},
    {"filter_by_instag.LossWeight", "1.8 declares float64; the kernel writes float32"},
    {"fused_elemwise_activation.IntermediateOut",
     "declared without extents; not written where it is not asked for"},
    {"generate_proposals.RpnRoisLod",
     "declared int32 without extents; the kernel writes an int64 per image"},
    {"generate_proposals_v2.RpnRoisNum",
     "declared without extents; the kernel writes a number per image"},
    {"kthvalue.Indices", "declared with the element type of X; the kernel writes int64"},
    {"lu.Infos", "declared with no elements; the kernel writes a number for each matrix"},
    {"lu_unpack.L",
     "of wide matrices declared with their extents; the kernel writes square ones of their rows"},
    {"lu_unpack.Pmat",
     "of tall matrices declared with their extents; the kernel writes square ones of their rows"},
    {"lu_unpack.U",
     "of tall matrices declared with their extents; the kernel writes square ones of their "
     "columns"},
    {"matrix_nms.Index", "1.8 declares int64; the kernel writes int32"},
    {"matrix_rank.Out", "declared int64; the kernel writes int32"},
    {"mode.Indices", "declared with the element type of X; the kernel writes int64"},
    {"nanmedian.MedianIndex",
     "declared by the last extents whatever the axis; the kernel keeps two for each median"},
    {"precision_recall.AccumMetrics", "declared float32; the kernel writes float64"},
    {"precision_recall.BatchMetrics", "declared float32; the kernel writes float64"},
    {"random_crop.SeedOut", "declared without extents; the kernel writes one number"},
    {"rnn.Reserve",
     "declared uint8 without extents; the kernel's own, of the element type of the input"},
    {"roi_pool.Argmax", "1.8 declares int32; the kernel writes int64"},
    {"sample_logits.LabelsDim", "declared with a code that is no element type; it has no elements"},
    {"sampling_id.Out", "declared with the element type of X; the kernel writes int64"},
    {"slogdeterminant.Out",
     "declared with the extents of the matrices; the kernel writes sign and logarithm for each"},
    {"yolov3_loss.GTMatchMask", "2.6 declares float32; the kernel writes int32"},
    {"yolov3_loss.ObjectnessMask", "1.8 declares int32; the kernel writes the element type of X"},
    {"accuracy.Correct", "2.6 declares the dtype of the scores; the kernel writes int32"},
    {"accuracy.Total", "2.6 declares the dtype of the scores; the kernel writes int32"},
    {"auc.AUC", "declared int64; the kernel writes float64"},
    {"edit_distance.Out",
     "declared with the dtype and extents of Hyps; the kernel writes a float32 for each string"},
    {"expand_as.Out", "declared [0, 0]"},
    {"expand_v2.Out",
     "declared with X's axes counted from the left; the kernel makes what inference says"},
    {"im2sequence.Out", "declared with as many rows as images; the kernel makes one per window"},
    {"isinf.Out", "declared with the default dtype; the kernel writes bool"},
    {"isnan.Out", "declared with the default dtype; the kernel writes bool"},
    {"logical_not.Out", "writes the condition of a loop, a variable declared [1]"},
    {"max_pool2d_with_index.Mask", "declared with the default dtype; the kernel writes int32"},
    {"max_pool3d_with_index.Mask", "declared with the default dtype; the kernel writes int32"},
    {"sequence_pool.MaxIndex", "declared with the default dtype; the kernel writes int32"},
    {"shape.Out", "one variable for a shape and a condition"},
    {"top_k.Indices", "declared int32 by the author of the program; the kernel writes int64"},
    {"viterbi_decode.Scores", "declared int64; the kernel writes the element type of its input"},
};

// Ops without inference: their result types are the declared ones.
const std::map<std::string, const char*> kWithoutInference = {
    {"while", "its results are those of its block"},
    {"while_grad", "its results are those of its block"},
    {"conditional_block", "its results are those of its block"},
    {"conditional_block_grad", "its results are those of its block"},
    {"recurrent", "its results are those of its block"},
    {"recurrent_grad", "its results are those of its block"},
};

std::string textOf(const TensorInfo& info) {
  std::ostringstream text;
  text << "kind " << static_cast<int>(info.kind) << " " << NameOf(info.dtype) << " [";
  for (int64_t extent : info.dims) text << extent << " ";
  text << "] lod " << info.lodLevel << (info.rankKnown ? "" : " of unknown rank");
  return text.str();
}

struct Replay {
  explicit Replay(const std::map<std::string, const char*>& known) : exceptions(known) {}

  const std::map<std::string, const char*>& exceptions;
  std::map<std::string, std::string> findings;  // type.slot -> first example
  std::set<std::string> types, excepted, missing;
  size_t results = 0;

  void find(const OpView& op, const std::string& slot, const std::string& what,
            const std::string& file) {
    std::string key = op.type().str() + "." + slot;
    if (exceptions.count(key)) excepted.insert(key);
    else findings.insert({key, what + "  (" + file + ", " + describe(op.operation()) + ")"});
  }

  void replay(OpView op, const std::string& file) {
    if (op.type() == "orphan_block") return;
    types.insert(op.type().str());
    if (llvm::any_of(op.operation()->getOperands(), isUndescribed)) return;
    if (!op.spec() || !op.spec()->infer) {
      if (!kWithoutInference.count(op.type().str())) missing.insert(op.type().str());
      return;
    }
    DeclaredContext context(op);
    if (failed(op.spec()->infer(context))) return find(op, "", "fails: " + context.message, file);
    for (const std::string& slot : op.outputSlots()) {
      for (unsigned i = 0, n = op.outputCount(slot); i < n; ++i) {
        if (!op.output(slot, i)) continue;
        ++results;
        TensorInfo declared = declaredInfo(op.output(slot, i).getType());
        auto inferred = context.results.find({slot, i});
        if (inferred == context.results.end()) find(op, slot, "not inferred", file);
        else if (!compatible(inferred->second, declared))
          find(op, slot, "inferred " + textOf(inferred->second) + ", declared " + textOf(declared),
               file);
      }
    }
  }
};

void replayCorpus(const std::string& folder, Replay& replay) {
  mlir::MLIRContext context;
  context.loadDialect<PdDialect>();
  context.printOpOnDiagnostic(false);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::CorpusPath(folder))) {
    if (entry.path().extension() != ".pdmodel") continue;
    std::string complaints;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
      llvm::raw_string_ostream(complaints) << diagnostic << "\n";
      return mlir::success();
    });
    mlir::OwningOpRef<mlir::ModuleOp> module = loadFile(&context, entry.path().string());
    INFO(entry.path().string() << ": " << complaints);
    REQUIRE(module);
    CHECK(succeeded(mlir::verify(*module)));
    for (auto program : module->getOps<ProgramOp>()) {
      program.walk([&](mlir::Operation* op) {
        if (OpView::isFrameworkOp(op)) replay.replay(OpView(op), entry.path().string());
      });
    }
  }
}

void check(const Replay& replay, size_t leastTypes, size_t leastResults) {
  std::ostringstream text;
  for (const auto& [key, what] : replay.findings) text << key << ": " << what << "\n";
  for (const std::string& type : replay.missing) text << type << ": no inference\n";
  for (const auto& [key, reason] : replay.exceptions)
    if (!replay.excepted.count(key)) text << key << ": no exception here\n";
  INFO(text.str());
  CHECK(replay.findings.empty());
  CHECK(replay.missing.empty());
  CHECK(replay.excepted.size() == replay.exceptions.size());
  CHECK(replay.types.size() >= leastTypes);
  CHECK(replay.results >= leastResults);
}

TEST_CASE("inference agrees with what the framework declared", "[corpus]") {
  Replay replay(kExceptions);
  for (const char* folder : {"fluid18", "static26", "large"}) replayCorpus(folder, replay);
  check(replay, 147, 20000);
}

TEST_CASE("inference agrees with the one-operator programs", "[corpus]") {
  Replay replay(kExceptionsOfOps);
  replayCorpus("ops", replay);
  replay.missing.clear();
  check(replay, 680, 10000);
}

}  // namespace
}  // namespace dtranspile::pd

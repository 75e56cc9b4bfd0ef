// Rows of the PIR table: constants, random numbers, conversions. Notation: op_mapping.h.
#include "compiler/import/pir/op_mapping.h"

namespace dtranspile::pir {
namespace {

const PirRow kRows[] = {
    {"full", "fill_constant", "-> Out", "", makeFull},
    {"full_", "fill_constant", "~Y -> Out=Y", "", makeFull},
    {"full_int_array", "assign_value", "-> Out", "-value", makeIntArray},
    {"full_like", "fill_any_like", "X, #value -> Out"},
    {"assign_value", "assign_value", "-> Out", "-values", makeAssignValue},
    {"assign_value_", "assign_value", "~Y -> Out=Y", "-values", makeAssignValue},
    {"assign", "assign", "X -> Out"},
    {"assign_", "assign", "X -> Out=X"},
    {"assign_out_", "assign", "X, ~Y -> Out=Y"},
    {"arange", "range", "Start, End, Step -> Out", "-dtype", makeArange},
    {"cast", "cast", "X -> Out", "dtype>out_dtype", makeCast},
    {"cast_grad", "cast", "~Like, X -> Out", "", makeCastGrad, /*gradient=*/true},
    {"uniform", "uniform_random", "#shape|ShapeTensor|ShapeTensorList, #min, #max -> Out"},
    {"gaussian", "gaussian_random", "#shape|ShapeTensor|ShapeTensorList -> Out"},
    {"truncated_gaussian_random", "truncated_gaussian_random", "-> Out"},
    {"dropout", "dropout", "X, Seed?, #dropout_prob? -> Out, Mask",
     "p>dropout_prob, mode>dropout_implementation"},
    {"dropout_grad", "dropout_grad", "Mask, Out@GRAD, #dropout_prob? -> X@GRAD",
     "p>dropout_prob, mode>dropout_implementation"},
    {"bernoulli", "bernoulli", "X -> Out"},
    {"multinomial", "multinomial", "X, #num_samples -> Out"},
    {"empty", "empty", "#shape|ShapeTensor|ShapeTensorList -> Out"},
    {"eye", "eye", "#num_rows, #num_columns -> Out"},
    {"randint", "randint", "#shape|ShapeTensor|ShapeTensorList -> Out"},
    {"randperm", "randperm", "-> Out"},
    {"linspace", "linspace", "Start, Stop, Num -> Out"},
};

}  // namespace

llvm::ArrayRef<PirRow> creationRows() { return kRows; }

}  // namespace dtranspile::pir

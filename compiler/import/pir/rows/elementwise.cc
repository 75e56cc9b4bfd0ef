// Rows of the PIR table: two operands of broadcasting shapes, comparisons, logic. Notation: table.h.
#include "compiler/import/pir/table.h"

namespace dtranspile::pir {
namespace {

const PirRow kRows[] = {
    {"add", "elementwise_add", "X, Y -> Out"},
    {"add_", "elementwise_add", "X, Y -> Out=X"},
    {"add_grad", "elementwise_add_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"subtract", "elementwise_sub", "X, Y -> Out"},
    {"subtract_", "elementwise_sub", "X, Y -> Out=X"},
    {"subtract_grad", "elementwise_sub_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"multiply", "elementwise_mul", "X, Y -> Out"},
    {"multiply_", "elementwise_mul", "X, Y -> Out=X"},
    {"multiply_grad", "elementwise_mul_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"divide", "elementwise_div", "X, Y -> Out"},
    {"divide_", "elementwise_div", "X, Y -> Out=X"},
    {"divide_grad", "elementwise_div_grad", "X, Y, Out, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"maximum", "elementwise_max", "X, Y -> Out"},
    {"maximum_grad", "elementwise_max_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"minimum", "elementwise_min", "X, Y -> Out"},
    {"minimum_grad", "elementwise_min_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"elementwise_pow", "elementwise_pow", "X, Y -> Out"},
    {"elementwise_pow_grad", "elementwise_pow_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"floor_divide", "elementwise_floordiv", "X, Y -> Out"},
    {"remainder", "elementwise_mod", "X, Y -> Out"},
    {"equal", "equal", "X, Y -> Out"},
    {"not_equal", "not_equal", "X, Y -> Out"},
    {"less_than", "less_than", "X, Y -> Out"},
    {"less_equal", "less_equal", "X, Y -> Out"},
    {"greater_than", "greater_than", "X, Y -> Out"},
    {"greater_equal", "greater_equal", "X, Y -> Out"},
    {"logical_and", "logical_and", "X, Y -> Out"},
    {"logical_or", "logical_or", "X, Y -> Out"},
    {"logical_xor", "logical_xor", "X, Y -> Out"},
    {"logical_not", "logical_not", "X -> Out"},
    {"where", "where", "Condition, X, Y -> Out"},
    {"where_grad", "where_grad", "Condition, X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
};

}  // namespace

llvm::ArrayRef<PirRow> elementwiseRows() { return kRows; }

}  // namespace dtranspile::pir

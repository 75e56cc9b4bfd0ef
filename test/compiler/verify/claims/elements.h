// Elements of tensors as numbers.
#pragma once

#include "runtime/tensor/tensor.h"

namespace dtranspile::claims {

// Real numbers that an element is made of: 2 of a complex one.
int64_t numbersPerElement(DType dtype);
int64_t countOf(const Tensor& tensor);  // of numbers
bool isFloating(DType dtype);           // complex ones too
// Whether elements are read and written here: all but half floats.
bool hasNumbers(DType dtype);

double number(const Tensor& tensor, int64_t i);
void setNumber(Tensor& tensor, int64_t i, double value);

}  // namespace dtranspile::claims

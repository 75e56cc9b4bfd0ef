// Elements of tensors as numbers.
#pragma once

#include <memory>

#include "runtime/tensor/tensor.h"

namespace dtranspile::claims {

// Real numbers that an element is made of: 2 of a complex one.
int64_t numbersPerElement(DType dtype);
int64_t countOf(const Tensor& tensor);  // of numbers
bool isFloating(DType dtype);           // complex ones too
// Whether elements are read and written here: not those of no numbers.
bool hasNumbers(DType dtype);
bool isHalf(DType dtype);

double number(const Tensor& tensor, int64_t i);
void setNumber(Tensor& tensor, int64_t i, double value);

// The numbers in a half float type, rounded to eighths: terms that differ by whole numbers, and
// small multiples, are numbers of that type too. Null without memory.
std::shared_ptr<const Tensor> onGrid(const Tensor& tensor, DType half);

}  // namespace dtranspile::claims

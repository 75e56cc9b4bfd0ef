// Kernels of the family `linear_algebra`, named in linear_algebra_calls.cc. Slots and attributes:
// runtime/kernels/signatures/linear_algebra.calls.
#pragma once

#include "runtime/kernels/args/linear_algebra.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// products.cc
int32_t Matmul(OpCall& call);
int32_t MatmulGrad(OpCall& call);
int32_t Mul(OpCall& call);
int32_t MulGrad(OpCall& call);
int32_t BilinearProduct(OpCall& call);
int32_t BilinearProductGrad(OpCall& call);

// complex_products.cc
int32_t ComplexMatmul(OpCall& call);
int32_t ComplexMatmulGrad(OpCall& call);

// structured.cc
int32_t Cross(OpCall& call);
int32_t CrossGrad(OpCall& call);
int32_t Kron(OpCall& call);
int32_t KronGrad(OpCall& call);
int32_t Trace(OpCall& call);
int32_t TraceGrad(OpCall& call);
int32_t Diagonal(OpCall& call);
int32_t DiagonalGrad(OpCall& call);

// decompose.cc
int32_t Cholesky(OpCall& call);
int32_t CholeskyGrad(OpCall& call);
int32_t Inverse(OpCall& call);
int32_t InverseGrad(OpCall& call);
int32_t Determinant(OpCall& call);
int32_t DeterminantGrad(OpCall& call);
int32_t SignLogDeterminant(OpCall& call);
int32_t SignLogDeterminantGrad(OpCall& call);

// eigen.cc
int32_t Eigh(OpCall& call);
int32_t EighGrad(OpCall& call);
int32_t EigvalshGrad(OpCall& call);
int32_t Svd(OpCall& call);
int32_t SvdGrad(OpCall& call);
int32_t MatrixRank(OpCall& call);

// qr.cc
int32_t Qr(OpCall& call);
int32_t QrGrad(OpCall& call);

// renorm.cc
int32_t Renorm(OpCall& call);
int32_t RenormGrad(OpCall& call);

// fft.cc
int32_t Fft(OpCall& call);
int32_t Stft(OpCall& call);
int32_t StftGrad(OpCall& call);

// lu.cc
int32_t Lu(OpCall& call);
int32_t LuGrad(OpCall& call);
int32_t LuUnpack(OpCall& call);
int32_t LuUnpackGrad(OpCall& call);

// power.cc
int32_t MatrixPower(OpCall& call);
int32_t MatrixPowerGrad(OpCall& call);

// solve.cc
int32_t Solve(OpCall& call);
int32_t SolveGrad(OpCall& call);
int32_t CholeskySolve(OpCall& call);
int32_t CholeskySolveGrad(OpCall& call);

// chain.cc
int32_t MultiDot(OpCall& call);
int32_t MultiDotGrad(OpCall& call);

// einsum.cc
int32_t Einsum(OpCall& call);
int32_t EinsumGrad(OpCall& call);

}  // namespace dtranspile::kernels

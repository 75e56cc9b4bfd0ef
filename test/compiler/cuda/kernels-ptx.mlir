// The kernels that our lowering makes become PTX for sm_90 on a machine without a GPU: what the
// emitter writes is legal for the NVPTX target, one thread a row. An element-wise chain is one pass
// over memory; a sum along rows stays in a register.
//
// RUN: dtranspile-lower --kernels %s | python3 %workspace/test/compiler/cuda/gpu_module.py > %t
// RUN: mlir-opt %t --gpu-lower-to-nvvm-pipeline="cubin-chip=sm_90 cubin-features=+ptx80 cubin-format=isa" > %t.ptx
// RUN: FileCheck %s < %t.ptx

// CHECK: gpu.binary @kernels
// CHECK-SAME: .target sm_90
// CHECK-SAME: .visible .entry kernel0
// CHECK-SAME: ld.global
// CHECK-SAME: max.f32
// CHECK-SAME: st.global
// CHECK-SAME: .visible .entry kernel1
// CHECK-SAME: ld.global
// CHECK-SAME: add{{(.rn)?}}.f32
// CHECK-SAME: st.global
pd.program @chain attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<64x128xf32>
  %b = pd.input "b" : tensor<128xf32>
  %s = pd.scale X(%x) -> Out("s") {scale = 2.0 : f32, bias = 0.5 : f32} : (tensor<64x128xf32>) -> tensor<64x128xf32>
  %a = pd.elementwise_add X(%s) Y(%b) -> Out("a") {axis = -1 : i32} : (tensor<64x128xf32>, tensor<128xf32>) -> tensor<64x128xf32>
  %y = pd.relu X(%a) -> Out("y") : (tensor<64x128xf32>) -> tensor<64x128xf32>
}

pd.program @rows attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<64x128xf32>
  %y = pd.reduce_sum X(%x) -> Out("y") {dim = array<i32: 1>, keep_dim = false, reduce_all = false} : (tensor<64x128xf32>) -> tensor<64xf32>
}

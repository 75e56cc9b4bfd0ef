// A fused kernel (scale, bias, relu in one pass over memory) becomes PTX for sm_90 on a machine without a GPU: the code
// generator and its options are there, as the CUDA target will use them.
//
// RUN: mlir-opt %s --gpu-lower-to-nvvm-pipeline="cubin-chip=sm_90 cubin-features=+ptx80 cubin-format=isa" | FileCheck %s

// CHECK: gpu.binary @kernels
// CHECK-SAME: .target sm_90
// CHECK-SAME: .visible .entry scale_bias_relu
// CHECK-SAME: ld.global
// CHECK-SAME: fma.rn.f32
// CHECK-SAME: max
// CHECK-SAME: st.global

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale_bias_relu(%x: memref<?xf32>, %bias: memref<?xf32>, %y: memref<?xf32>, %scale: f32, %n: index) kernel {
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %start = arith.muli %block, %size : index
      %i = arith.addi %start, %thread : index
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %zero = arith.constant 0.0 : f32
        %a = memref.load %x[%i] : memref<?xf32>
        %b = memref.load %bias[%i] : memref<?xf32>
        %scaled = arith.mulf %a, %scale fastmath<contract> : f32
        %c = arith.addf %scaled, %b fastmath<contract> : f32
        %d = arith.maximumf %c, %zero : f32
        memref.store %d, %y[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func @launch(%x: memref<?xf32>, %bias: memref<?xf32>, %y: memref<?xf32>, %scale: f32, %n: index) {
    %threads = arith.constant 256 : index
    %one = arith.constant 1 : index
    %blocks = arith.ceildivui %n, %threads : index
    gpu.launch_func @kernels::@scale_bias_relu blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
        args(%x : memref<?xf32>, %bias : memref<?xf32>, %y : memref<?xf32>, %scale : f32, %n : index)
    return
  }
}

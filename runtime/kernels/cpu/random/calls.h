// Random numbers for plans (abi.h, library calls): the initialiser ops of start-up programs. Called
// by name through call_table.h.
//
// All three fill args[0] (float32 or float64) and take first, in ints,
//   release  0 for programs of 1.x, 1 for 2.x and later (generator.h says what differs)
//   seed     the op's attribute; 0 draws from random::Generator::Process(), which the worker seeds
//
// dt_uniform_random             ints: release, seed, diag_num, diag_step      reals: min, max,
// diag_val dt_gaussian_random            ints: release, seed                           reals: mean,
// std dt_truncated_gaussian_random  ints: release, seed                           reals: mean, std,
// and for 3.x: a, b
//
// dt_random_stream              strings: axes of the mesh      ints: none, or the number of an op
// of the main program and which of those with that number it is. No arguments. The op behind it
// draws as generator.h says of SetOp
//
// On one thread: the sequence of an engine is sequential.
#pragma once

#include "runtime/exec/abi.h"

extern "C" {
int32_t dt_uniform_random(DtContext* context, const DtCall* call);
int32_t dt_gaussian_random(DtContext* context, const DtCall* call);
int32_t dt_truncated_gaussian_random(DtContext* context, const DtCall* call);
int32_t dt_random_stream(DtContext* context, const DtCall* call);
}

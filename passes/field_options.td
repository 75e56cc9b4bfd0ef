// Options of a pass that are fields of a request (compiler/strategy/fields.td): name, type, default
// and meaning are the row's.
#ifndef DTRANSPILE_PASSES_FIELD_OPTIONS
#define DTRANSPILE_PASSES_FIELD_OPTIONS
include "compiler/strategy/fields.td"
include "mlir/Pass/PassBase.td"

// let options = FieldOptions<"my-pass">.options # [Option<…>];
class FieldOptions<string pass> {
  list<Field> taken = !filter(row, !instances<Field>(),
                              !not(!empty(!filter(name, row.passes, !eq(name, pass)))));
  list<Option> options = !foreach(
      row, taken,
      !if(!eq(row.kind, "Words"),
          ListOption<row.name, row.name, "std::string", row.meaning>,
          Option<row.name, row.name, row.cpp, row.initial, row.meaning>));
}

// Every pass that works on axes of the mesh names them.
def axesOption : ListOption<"axes", "axes", "std::string", "the axes of the mesh that it works on">;

// Passes of parameter-server mode.
def serversOption : Option<"servers", "servers", "int64_t", "1", "number of servers">;

#endif

// main() of the Catch2 tests; a translation unit of its own because it is slow to compile.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

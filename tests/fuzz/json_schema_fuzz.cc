// Whatever the schema, compiling it ends with an automaton or an error within its limits, and walking it ends too.
#include "model/grammar/json_schema.h"
#include "tests/fuzz/walk_grammar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ingot::walk_grammar(ingot::grammar::compile_json_schema(text, {}, ingot::small_limits), text);
  return 0;
}

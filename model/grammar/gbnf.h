// Grammars in llama.cpp's notation, GBNF:
//
//   root  ::= "[" item ("," item)* "]"     # the rule that a text satisfies
//   item  ::= [0-9a-fA-F]{1,4} | word?
//   word  ::= [^\x00-\x1f"]+ .
//
// Characters are code points. What the notation has beyond this (tokens by their ids) is refused.
#pragma once

#include <memory>
#include <string_view>

#include "model/grammar/grammar.h"

namespace ingot::grammar {

Result<std::shared_ptr<const Grammar>> compile_gbnf(std::string_view text, const CompileLimits& limits = {});

}  // namespace ingot::grammar

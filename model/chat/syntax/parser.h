// Tokens to a syntax tree.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/chat/syntax/syntax_tree.h"

namespace ingot::chat {

Result<Block> parse_template(std::string_view source);

}  // namespace ingot::chat

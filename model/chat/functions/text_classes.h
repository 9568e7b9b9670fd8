// Questions about whole texts that methods and tests share.
#pragma once

#include <string_view>

namespace ingot::chat {

// At least one letter with case, and none of the other case.
bool is_lower_text(std::string_view text);
bool is_upper_text(std::string_view text);

}  // namespace ingot::chat

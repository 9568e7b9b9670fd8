// Conversations in files: a list of messages in JSON, as OpenAI's requests have them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot {

// Written whole, or not at all.
Result<void> write_chat(const std::string& path, const std::vector<chat::Value>& messages);
// Fails where it is no such list, or a message is none.
Result<std::vector<chat::Value>> read_chat(const std::string& path);

}  // namespace ingot

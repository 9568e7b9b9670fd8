// In which form a client is told of errors: that in which it asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/protocol/api_error.h"

namespace ingot::protocol {

enum class ErrorForm : std::uint8_t { openai, anthropic };

// Anthropic's is {"type":"error","error":{"type":...,"message":...},"request_id":...}, without the last where it is
// empty; OpenAI's has no place for it.
std::string error_json(const ApiError& error, ErrorForm form, std::string_view request_id = {});

}  // namespace ingot::protocol

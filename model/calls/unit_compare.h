// Comparing renders without cutting a mark in two.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/calls/call_format.h"

namespace ingot::calls {

std::vector<std::string_view> units_of(std::string_view text);
// How many bytes both begin with, and both end with, in whole units.
std::size_t common_begin(std::string_view left, std::string_view right);
std::size_t common_end(std::string_view left, std::string_view right);

// The end of the JSON object that begins there; nothing: there is none.
std::optional<std::size_t> end_of_object(std::string_view text, std::size_t begin);
bool is_json_of(std::string_view json, const chat::Value& value);

// Where the parts of two calls differ by a count from 0, the second's have it as such.
void find_indices(const std::vector<CallPart>& first, std::vector<CallPart>& second);

}  // namespace ingot::calls

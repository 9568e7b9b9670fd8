// What follows a path's question mark: model=tales&format=json.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/protocol/api_error.h"

namespace ingot {

// A name that a path knows, and what may be said by it.
struct QueryField {
  std::string_view name;
  std::span<const std::string_view> values = {};  // empty: any
};

// Its %xx decoded; nothing where the name is not there.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

// An error names the first thing that is not known, or is said twice.
protocol::Outcome<void> check_query(std::string_view query, std::span<const QueryField> known);

}  // namespace ingot

// Symbols: the numbers behind the names that scripts use, as Linux has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::network_scripts {

// SOL_SOCKET, MSG_PEEK, EPOLLIN, ECONNRESET, ...
std::optional<std::int64_t> symbol(std::string_view name);

// Of a positive number: "ECONNRESET".
std::string name_of_error(std::int64_t error);

// Where a member of Linux's tcp_info lies.
struct InformationField {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
std::optional<InformationField> information_field(std::string_view name);

}  // namespace ingot::network_scripts

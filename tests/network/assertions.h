// Assertions: runs the little Python that scripts hold: assert, assignments of whole numbers, comparisons.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ingot::network_scripts {

// Names that the code assigned; they outlive a snippet.
using Variables = std::map<std::string, std::int64_t>;
using Lookup = std::function<Result<std::int64_t>(std::string_view name)>;

// An error of the code `corrupt`: an assertion does not hold. `unsupported`: more Python than this knows.
Result<void> run_assertions(std::string_view code, Variables& variables, const Lookup& lookup);

}  // namespace ingot::network_scripts

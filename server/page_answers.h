// The page and what it consists of (server/page).
#pragma once

#include <string_view>

#include "server/page/page.h"
#include "server/visit.h"

namespace ingot {

// Null where there is none.
const PageFile* find_page_file(std::string_view path);

void answer_page_file(Visit& visit, const PageFile& file);

}  // namespace ingot

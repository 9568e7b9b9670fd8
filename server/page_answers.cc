#include "server/page_answers.h"

#include <algorithm>

namespace ingot {

const PageFile* find_page_file(std::string_view path) {
  const auto found = std::ranges::find(page_files(), path, &PageFile::path);
  return found == page_files().end() ? nullptr : &*found;
}

void answer_page_file(Visit& visit, const PageFile& file) {
  visit.answer(200, file.content_type, std::string(file.content),
               {{"Content-Security-Policy", std::string(page_policy)},
                {"X-Content-Type-Options", "nosniff"},
                {"Referrer-Policy", "no-referrer"},
                {"Cache-Control", "no-cache"}});
}

}  // namespace ingot

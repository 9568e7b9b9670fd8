// What the OS does with base: results, error text and checked arithmetic without a hosted library. The test compiles
// this freestanding and allows only the few functions that a compiler may call on its own.
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/units.h"

namespace ingot {

static Result<std::int64_t> pages_for(std::int64_t bytes, std::int64_t page) {
  if (page <= 0) return Error::of(ErrorCode::invalid_argument, "expected a positive page size, found ", page);
  const std::int64_t rounded = TRY(checked_add(bytes, page - 1));
  return rounded / page;
}

static Result<void> require_fit(std::int64_t bytes, std::int64_t page, std::int64_t available) {
  const std::int64_t pages = TRY(pages_for(bytes, page));
  if (pages > available) {
    return Error::of(ErrorCode::out_of_memory, "expected at most ", available, " pages, found ", pages);
  }
  return {};
}

}  // namespace ingot

extern "C" std::size_t ingot_freestanding_use(std::int64_t bytes, std::int64_t page, char* text) {
  const ingot::Result<void> fits = ingot::require_fit(bytes, page, 512);
  if (fits.ok()) return 0;
  const ingot::Error error = fits.error().within("while booting");
  std::size_t length = 0;
  for (char character : error.text()) text[length++] = character;
  return length;
}

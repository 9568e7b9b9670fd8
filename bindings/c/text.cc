// Texts that come out, and what the library is.
#include "base/version.h"
#include "bindings/c/boundary.h"

using namespace ingot;

int32_t ingot_c_version(void) { return INGOT_C_VERSION; }

const char* ingot_version(void) { return version; }

// The handle keeps the text, so its bytes stay after this has let go of it.
const char* ingot_text_data(const ingot_text* text) {
  const auto object = c::find(text);
  return object == nullptr ? "" : object->c_str();
}

size_t ingot_text_size(const ingot_text* text) {
  const auto object = c::find(text);
  return object == nullptr ? 0 : object->size();
}

ingot_status ingot_text_free(ingot_text* text) { return c::close(text); }

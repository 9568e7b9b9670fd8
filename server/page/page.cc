#include "server/page/page.h"

// The assembler puts the files among the constants. Global names: an assembler may turn local ones into offsets, which
// some linkers cannot look up in their tables.
#define INGOT_PAGE_CONTENT(name, file)               \
  asm(".section .rodata\n"                           \
      ".global ingot_page_" #name                    \
      "_begin\n"                                     \
      ".global ingot_page_" #name                    \
      "_end\n"                                       \
      "ingot_page_" #name                            \
      "_begin:\n"                                    \
      ".incbin \"" INGOT_PAGE_FOLDER "/" file        \
      "\"\n"                                         \
      "ingot_page_" #name                            \
      "_end:\n"                                      \
      ".byte 0\n"                                    \
      ".previous\n");                                \
  extern "C" const char ingot_page_##name##_begin[]; \
  extern "C" const char ingot_page_##name##_end[];

#define INGOT_PAGE_MODULE(PART, name) PART(name, "/page/" #name ".js", #name ".js", "text/javascript; charset=utf-8")

// A row a file: its name here, the path it is asked for by, the file, its type.
#define INGOT_PAGE_FILES(PART)                                                                \
  PART(index, "/", "index.html", "text/html; charset=utf-8")                                  \
  PART(page_style, "/page/page.css", "page.css", "text/css; charset=utf-8")                   \
  PART(transcript_style, "/page/transcript.css", "transcript.css", "text/css; charset=utf-8") \
  PART(mark, "/page/ingot.svg", "ingot.svg", "image/svg+xml")                                 \
  INGOT_PAGE_MODULE(PART, chat)                                                               \
  INGOT_PAGE_MODULE(PART, conversation)                                                       \
  INGOT_PAGE_MODULE(PART, elements)                                                           \
  INGOT_PAGE_MODULE(PART, empty)                                                              \
  INGOT_PAGE_MODULE(PART, events)                                                             \
  INGOT_PAGE_MODULE(PART, generation)                                                         \
  INGOT_PAGE_MODULE(PART, highlight)                                                          \
  INGOT_PAGE_MODULE(PART, icons)                                                              \
  INGOT_PAGE_MODULE(PART, inline)                                                             \
  INGOT_PAGE_MODULE(PART, keyboard)                                                           \
  INGOT_PAGE_MODULE(PART, load)                                                               \
  INGOT_PAGE_MODULE(PART, map)                                                                \
  INGOT_PAGE_MODULE(PART, markdown)                                                           \
  INGOT_PAGE_MODULE(PART, page)                                                               \
  INGOT_PAGE_MODULE(PART, server)                                                             \
  INGOT_PAGE_MODULE(PART, settings)                                                           \
  INGOT_PAGE_MODULE(PART, sidebar)                                                            \
  INGOT_PAGE_MODULE(PART, store)                                                              \
  INGOT_PAGE_MODULE(PART, theme)                                                              \
  INGOT_PAGE_MODULE(PART, transcript)

#define INGOT_PAGE_CONTENT_ROW(name, path, file, type) INGOT_PAGE_CONTENT(name, file)
INGOT_PAGE_FILES(INGOT_PAGE_CONTENT_ROW)

namespace ingot {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

std::span<const PageFile> page_files() {
#define INGOT_PAGE_ROW(name, path, file, type) \
  {path, type, between(ingot_page_##name##_begin, ingot_page_##name##_end)},
  static const PageFile files[] = {INGOT_PAGE_FILES(INGOT_PAGE_ROW)};
#undef INGOT_PAGE_ROW
  return files;
}

}  // namespace ingot

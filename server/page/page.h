// The page that the server shows: files that the program carries. They are written to be read as they are, there is no
// build chain; index.html says which parts the page has, page.js brings them together.
#pragma once

#include <span>
#include <string_view>

namespace ingot {

struct PageFile {
  std::string_view path;  // of the request: "/page/page.css"
  std::string_view content_type;
  std::string_view content;
};

// The page itself, at "/", and what it loads. Part of the program, so they live as long as that runs.
std::span<const PageFile> page_files();

// What the page may do, for the header Content-Security-Policy of all its files: load and ask this server alone, run
// no script that is not a file, and stand in nobody's frame. The one frame it has shows the model's map, /explain.
inline constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace ingot

#include "server/page/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>

namespace ingot {
namespace {

const PageFile& file_at(std::string_view path) {
  const std::span<const PageFile> files = page_files();
  return *std::ranges::find(files, path, &PageFile::path);
}

std::vector<std::string> found_in(std::string_view text, const std::string& pattern) {
  const std::regex expression(pattern, std::regex::ECMAScript | std::regex::icase);
  std::vector<std::string> found;
  for (std::cregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    found.push_back((*at)[at->size() > 1 ? 1 : 0]);
  }
  return found;
}

TEST(Page, IsSmallerThanMostPictures) {
  std::size_t bytes = 0;
  for (const PageFile& file : page_files()) bytes += file.content.size();
  EXPECT_LT(bytes, std::size_t{120} * 1024);
  EXPECT_GT(bytes, std::size_t{20} * 1024);
}

TEST(Page, CarriesEveryFileOfItsFolder) {
  std::set<std::string> carried;
  for (const PageFile& file : page_files()) {
    EXPECT_TRUE(carried.insert(file.path == "/" ? "index.html" : std::string(file.path.substr(6))).second) << file.path;
  }
  std::set<std::string> present;
  for (const auto& entry : std::filesystem::directory_iterator(INGOT_PAGE_FOLDER)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cc" && extension != ".txt")
      present.insert(entry.path().filename().string());
  }
  EXPECT_EQ(carried, present);
}

TEST(Page, LoadsNothingButItsOwnFiles) {
  std::set<std::string> known;
  for (const PageFile& file : page_files()) known.insert(std::string(file.path));
  for (const PageFile& file : page_files()) {
    for (const std::string& path :
         found_in(file.content, R"x((?:src=|from |src: |import |<link[^>]* href=)"([^"]+)")x")) {
      EXPECT_TRUE(known.contains(path)) << file.path << " loads " << path;
    }
    EXPECT_TRUE(found_in(file.content, R"(\burl\(\s*['"]?[^#])").empty()) << file.path;
    EXPECT_TRUE(found_in(file.content, "@import").empty()) << file.path;
  }
}

// A name space is spelt as an address, and nobody goes there.
TEST(Page, NamesNoForeignHost) {
  for (const PageFile& file : page_files()) {
    for (const std::string& host : found_in(file.content, R"((?:https?|wss?):\\?/\\?/([\w.-]+))")) {
      EXPECT_EQ(host, "www.w3.org") << file.path;
    }
    EXPECT_TRUE(found_in(file.content, R"(["'(]//[a-z])").empty()) << file.path;
  }
}

TEST(Page, HasNoScriptOrStyleInItsMarkup) {
  const std::string_view markup = file_at("/").content;
  EXPECT_TRUE(found_in(markup, R"x(<script(?![^>]* src="))x").empty());
  EXPECT_TRUE(found_in(markup, R"(\son\w+\s*=)").empty());
  EXPECT_TRUE(found_in(markup, R"(\sstyle\s*=|<style)").empty());
  EXPECT_TRUE(found_in(markup, "javascript:").empty());
}

// What a model says becomes text nodes, and text alone.
TEST(Page, NeverReadsTextAsMarkupOrScript) {
  for (const PageFile& file : page_files()) {
    if (!file.path.ends_with(".js")) continue;
    EXPECT_TRUE(found_in(file.content,
                         "(innerHTML|outerHTML|insertAdjacentHTML|document\\.write|setHTMLUnsafe|"
                         "createContextualFragment|DOMParser|srcdoc|\\beval\\b|new Function)")
                    .empty())
        << file.path;
  }
}

TEST(Page, NamesEveryControl) {
  for (const std::string& button : found_in(file_at("/").content, R"(<button[^>]*>\s*</button>)")) {
    EXPECT_NE(button.find("aria-label="), std::string::npos) << button;
  }
}

TEST(Page, AllowsNoScriptThatIsNoFile) {
  EXPECT_EQ(page_policy.find("unsafe"), std::string_view::npos);
  EXPECT_EQ(page_policy.find('*'), std::string_view::npos);
  EXPECT_TRUE(page_policy.starts_with("default-src 'none';"));
}

}  // namespace
}  // namespace ingot

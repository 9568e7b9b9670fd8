#include "image/added_files.h"

#include <gtest/gtest.h>

#include "image/fake_files.h"
#include "image/program.h"

namespace ingot::image {
namespace {

struct Added {
  TestFolder folder;
  FileTree root;
  AddedFiles files;

  Added() {
    folder.put("one", "1");
    folder.put("two", "2");
    folder.put("site/page", "page");
    folder.put("site/sub/deep", "deep");
    folder.put("more/page", "another");
    std::filesystem::create_symlink("page", folder.path("site/link"));
  }
  std::string add(const std::string& source, const std::string& destination) {
    const Result<void> done = files.add(folder.path(source) + '=' + destination, root);
    return done.ok() ? "" : std::string(done.error().text());
  }
  std::string text(const std::string& path) const {
    const FileNode* node = root.at(path);
    return node == nullptr ? "none" : node->content.read(100).value();
  }
};

TEST(AddedFiles, AFolderBringsAllThatIsInIt) {
  Added added;
  ASSERT_EQ(added.add("site", "/srv/"), "");
  EXPECT_EQ(added.text("/srv/page"), "page");
  EXPECT_EQ(added.text("/srv/sub/deep"), "deep");
  ASSERT_NE(added.root.at("/srv/link"), nullptr);
  EXPECT_EQ(added.root.at("/srv/link")->target, "page");
  ASSERT_EQ(added.add("one", "/srv/page"), "");  // into a folder: the later one
  EXPECT_EQ(added.text("/srv/page"), "1");
  Added folders;
  ASSERT_EQ(folders.add("site", "/srv"), "");
  ASSERT_EQ(folders.add("more", "/srv"), "");
  EXPECT_EQ(folders.text("/srv/page"), "another");
  EXPECT_EQ(added.text("/srv/sub/deep"), "deep");
  ASSERT_EQ(added.add("site", "/"), "");
  EXPECT_EQ(added.text("/sub/deep"), "deep");
}

TEST(AddedFiles, WhatIsKeptFromOthersStaysSo) {
  namespace fs = std::filesystem;
  const std::pair<unsigned, unsigned> modes[] = {{0600, 0600}, {0400, 0600}, {0640, 0640}, {0644, 0644},
                                                 {0666, 0644}, {0700, 0700}, {0775, 0755}};
  for (const auto& [source, image] : modes) {
    Added added;
    fs::permissions(added.folder.path("one"), fs::perms(source));
    fs::permissions(added.folder.path("site/page"), fs::perms(source));
    ASSERT_EQ(added.add("one", "/keys"), "");
    ASSERT_EQ(added.add("site", "/srv"), "");
    EXPECT_EQ(added.root.at("/keys")->mode, image) << std::oct << source;
    EXPECT_EQ(added.root.at("/srv/page")->mode, image) << std::oct << source;
  }
}

TEST(AddedFiles, NoneIsLostWithoutAWord) {
  const auto refused = [](const std::string& first, const std::string& second, const std::string& destination) {
    Added added;
    EXPECT_EQ(added.add("one", first), "");
    const std::string complaint = added.add(second, destination);
    EXPECT_TRUE(complaint.starts_with("--file: expected a destination of its own, found that of '")) << complaint;
    EXPECT_NE(complaint.find("one=" + first), std::string::npos) << complaint;
  };
  refused("/x", "two", "/x");
  refused("/x", "two", "//x/");
  refused("/x", "site", "/x");
  refused("/x", "two", "/x/y");
  refused("/x/y", "two", "/x");
  // By what a folder holds: a file, a link, a file above the one that was named, a folder.
  refused("/d/page", "site", "/d");
  refused("/d/link", "site", "/d");
  refused("/d/page/x", "site", "/d");
  refused("/d/sub", "site", "/d");
  EXPECT_EQ(Added().add("none", "/x").find("--file: expected a file that can be read"), 0u);
  EXPECT_EQ(Added().add("one", "/a/../b"), "--file: expected a path without '..', found '/a/../b'");
}

TEST(AddedFiles, PlacesAreComparedBehindLinks) {
  for (const char* destination : {"/linked/x", "/real/x"}) {
    Added added;
    ASSERT_TRUE(added.root.put("/real", {FileNode::Kind::directory, 0755, {}, {}}).ok());
    ASSERT_TRUE(added.root.put("/linked", {FileNode::Kind::symbolic_link, 0777, {}, "real"}).ok());
    ASSERT_EQ(added.add("one", "/linked/x"), "");
    EXPECT_NE(added.add("two", destination).find("expected a destination of its own"), std::string::npos);
    EXPECT_EQ(added.text("/real/x"), "1");
  }
}

TEST(AddedFiles, TheProgramsPlaceIsItsOwn) {
  const TestFolder folder;
  const std::string program = folder.put("program", fake_program());
  for (const char* destination : {"/bin/program", "/bin"}) {
    Added added;
    ASSERT_EQ(added.add("one", destination), "");
    const Result<void> put = add_program({program, "/bin/program", ""}, added.root);
    ASSERT_FALSE(put.ok());
    EXPECT_EQ(put.error().text(), "expected '/bin/program' to be free for the program, found something else at '" +
                                      std::string(destination) + "': --file puts it elsewhere");
  }
  Added beside;
  ASSERT_EQ(beside.add("one", "/bin/other"), "");
  EXPECT_TRUE(add_program({program, "/bin/program", ""}, beside.root).ok());
}

TEST(AddedFiles, AnOptionNamesSourceAndDestination) {
  for (const char* option : {"", "x", "=/x", "x=", "x=y", "x=/y=z"}) {
    EXPECT_FALSE(AddedFiles::check_spelling(option).ok()) << option;
  }
  EXPECT_TRUE(AddedFiles::check_spelling("a=b=/c").ok());
}

}  // namespace
}  // namespace ingot::image

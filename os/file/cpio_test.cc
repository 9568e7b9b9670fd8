#include "os/file/cpio.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "os/file/cpio_archive.h"

namespace ingot::os {
namespace {

using namespace cpio_archive;

// In an array of its own length, so that the sanitizer sees a read behind its end.
class Bytes {
 public:
  explicit Bytes(const std::string& text) : bytes_(new std::byte[text.size()]), size_(text.size()) {
    for (std::size_t i = 0; i < size_; ++i) bytes_[i] = static_cast<std::byte>(text[i]);
  }
  std::span<const std::byte> all() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_;
};

std::string text_of_content(const CpioEntry& entry) {
  return {reinterpret_cast<const char*>(entry.content.data()), entry.content.size()};
}

Result<std::vector<std::string>> paths_of(const std::string& text) {
  const Bytes bytes(text);
  CpioReader reader(bytes.all());
  std::vector<std::string> paths;
  while (const std::optional<CpioEntry> entry = TRY(reader.next())) paths.emplace_back(entry->path);
  return paths;
}

std::string error_of(const std::string& text) {
  const auto paths = paths_of(text);
  return paths.ok() ? "none" : std::string(paths.error().text());
}

std::string content_of(const std::string& text, std::string_view path) {
  const Bytes bytes(text);
  const Result<CpioEntry> entry = find_in_cpio(bytes.all(), path);
  return entry.ok() ? text_of_content(entry.value()) : "not there: " + std::string(entry.error().text());
}

TEST(Cpio, ReadsFilesDirectoriesAndLinksInOrder) {
  const Bytes bytes(Archive()
                        .add(".", "", 0040755)
                        .add("bin", "", 0040755)
                        .add("bin/init", "hello", 0100755)
                        .add("init", "bin/init", 0120777)
                        .end()
                        .text());
  CpioReader reader(bytes.all());
  const auto next = [&reader] { return std::move(reader.next()).value(); };
  EXPECT_EQ(next()->path, ".");
  const CpioEntry folder = *next();
  EXPECT_EQ(folder.kind(), CpioEntry::Kind::directory);
  const CpioEntry file = *next();
  EXPECT_EQ(file.path, "bin/init");
  EXPECT_EQ(file.kind(), CpioEntry::Kind::file);
  EXPECT_EQ(file.fields[Field::mode], 0100755u);
  EXPECT_EQ(text_of_content(file), "hello");
  const CpioEntry link = *next();
  EXPECT_EQ(link.kind(), CpioEntry::Kind::symbolic_link);
  EXPECT_EQ(text_of_content(link), "bin/init");
  EXPECT_FALSE(next().has_value());
  EXPECT_FALSE(next().has_value());
}

// Lengths of path and content in every phase of the alignment.
TEST(Cpio, EveryAlignmentIsSkippedExactly) {
  Archive archive;
  for (std::size_t path = 1; path < 9; ++path) {
    for (std::size_t content = 0; content < 9; ++content) {
      archive.add(std::string(path, 'a') + std::to_string(content), std::string(content, 'x'));
    }
  }
  const std::string text = archive.end().text();
  EXPECT_EQ(paths_of(text).value().size(), 64u + 8u);
  EXPECT_EQ(content_of(text, "aaaaaaaa7"), "xxxxxxx");
  EXPECT_EQ(content_of(text, "aaa0"), "");
}

TEST(Cpio, PathsAreFoundHoweverTheirFrontIsWritten) {
  const std::string text = Archive().add(".", "root").add("./etc/a", "1").add("etc/b", "2").add("/c", "3").end().text();
  for (const char* path : {"etc/a", "/etc/a", "./etc/a", "//./etc/a"}) EXPECT_EQ(content_of(text, path), "1") << path;
  EXPECT_EQ(content_of(text, "/etc/b"), "2");
  EXPECT_EQ(content_of(text, "c"), "3");
  EXPECT_EQ(content_of(text, "/"), "root");
  EXPECT_EQ(content_of(text, "etc"), "not there: expected 'etc' in the initramfs, found no such path");
  EXPECT_EQ(content_of(text, ".c").substr(0, 9), "not there");
}

TEST(Cpio, ArchivesFollowEachOtherAndTheLaterHolds) {
  const std::string first = Archive().add("a", "old").add("b", "stays").end().text();
  const std::string second = Archive().add("a", "new").end().text();
  const std::string both = first + std::string(512, '\0') + second + std::string(300, '\0');
  EXPECT_EQ(paths_of(both).value(), (std::vector<std::string>{"a", "b", "a"}));
  EXPECT_EQ(content_of(both, "a"), "new");
  EXPECT_EQ(content_of(both, "b"), "stays");
  EXPECT_TRUE(paths_of("").value().empty());
  EXPECT_TRUE(paths_of(std::string(64, '\0')).value().empty());
}

TEST(Cpio, EveryNameOfAFileHasItsContent) {
  const std::vector<Change> twins{{Field::inode, 7}, {Field::links, 2}};
  const std::vector<Change> elsewhere{{Field::inode, 7}, {Field::links, 2}, {Field::minor, 1}};
  const std::string text = Archive()
                               .add("one", "", 0100644, twins)
                               .add("other disk", "no", 0100644, elsewhere)
                               .add("two", "both", 0100644, twins)
                               .add("empty", "")
                               .end()
                               .text();
  EXPECT_EQ(content_of(text, "one"), "both");
  EXPECT_EQ(content_of(text, "two"), "both");
  EXPECT_EQ(content_of(text, "empty"), "");
}

TEST(Cpio, RefusesWhatIsNotAnArchive) {
  EXPECT_EQ(error_of(std::string(200, 'x')), "expected an initramfs header at 0, found no 070701 or the end");
  EXPECT_EQ(error_of("070702" + std::string(104, '0')),
            "expected an initramfs header at 0, found no 070701 or the end");
  EXPECT_EQ(error_of(Archive().add("a", "1").text()).substr(0, 33), "expected an initramfs header at 1");
  EXPECT_EQ(error_of(Archive().add("a", "1").raw(std::string(200, '\0')).end().text()).substr(0, 33),
            "expected an initramfs header at 1");  // zeros are for between archives only
  std::string text = Archive().add("a", "1").end().text();
  text[6 + 8 * 2 + 3] = 'g';
  EXPECT_EQ(error_of(text), "expected hexadecimal digits in an initramfs header, found '000g0000'");
}

TEST(Cpio, RefusesLengthsThatPassTheEnd) {
  for (const Change change :
       {Change{Field::bytes, 5000}, Change{Field::bytes, 0xffffffff}, Change{Field::path_bytes, 5000},
        Change{Field::path_bytes, 0xffffffff}, Change{Field::path_bytes, 0}}) {
    const std::string error = error_of(Archive().add("a", "1", 0100644, {change}).end().text());
    EXPECT_NE(error.find("bytes for the initramfs entry at 0, found the end at"), std::string::npos) << error;
  }
}

TEST(Cpio, RefusesPathsThatDoNotEndWhereTheySay) {
  const std::string expected = "expected a path that zeros end at 0, found none, or more letters";
  EXPECT_EQ(error_of(Archive().add("abcdef", "1", 0100644, {{Field::path_bytes, 4}}).end().text()), expected);
  EXPECT_EQ(error_of(Archive().add(std::string("ab\0cd", 5), "1").end().text()), expected);
}

TEST(Cpio, ZerosBehindAPathMoveItsContent) {
  const std::string text = Archive().add(std::string("ab\0\0\0\0\0\0", 8), "1").add("c", "2").end().text();
  EXPECT_EQ(content_of(text, "ab"), "1");
  EXPECT_EQ(content_of(text, "c"), "2");
}

TEST(Cpio, EveryCutIsSeen) {
  const std::string text = Archive().add("a", "12345").add("bcd", "6").end().text();
  for (std::size_t length = 1; length < text.size(); ++length) EXPECT_NE(error_of(text.substr(0, length)), "none");
  EXPECT_EQ(error_of(text), "none");
}

}  // namespace
}  // namespace ingot::os

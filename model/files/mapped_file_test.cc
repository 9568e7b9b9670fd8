#include "model/files/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "model/files/test_files.h"

namespace ingot {
namespace {

void expect_error(const std::string& path, ErrorCode code, std::string_view part) {
  const Result<MappedFile> file = MappedFile::open(path);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code(), code);
  EXPECT_NE(file.error().text().find(part), std::string_view::npos) << file.error().text();
}

TEST(MappedFile, ShowsTheBytesOfAFile) {
  const TemporaryFolder folder;
  folder.write("a", "hello");
  MappedFile first = MappedFile::open(folder.file("a")).value();
  MappedFile second = std::move(first);
  EXPECT_EQ(second.text(), "hello");
  EXPECT_TRUE(first.bytes().empty());
  folder.write("b", "other");
  second = MappedFile::open(folder.file("b")).value();
  EXPECT_EQ(second.text(), "other");
}

TEST(MappedFile, SaysWhyAFileCannotBeMapped) {
  const TemporaryFolder folder;
  folder.write("empty", "");
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  expect_error(folder.file("absent"), ErrorCode::not_found, "absent'");
  expect_error(folder.file("empty"), ErrorCode::corrupt, "found an empty file");
  expect_error(folder.path(), ErrorCode::input_output, "found a folder");
  expect_error(folder.file("pipe"), ErrorCode::input_output, "a device or pipe");
}

}  // namespace
}  // namespace ingot

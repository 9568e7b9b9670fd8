#include "model/files/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

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

// Of this process, in files.
std::int64_t mapped_pages_in_memory() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t of_files = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> of_files;
  return of_files;
}

TEST(MappedFile, ReadsAgainWhatItForgot) {
  const TemporaryFolder folder;
  std::string content(8 << 20, '?');
  for (std::size_t index = 0; index < content.size(); ++index) content[index] = static_cast<char>('a' + index % 17);
  folder.write("long", content);
  const MappedFile file = MappedFile::open(folder.file("long")).value();
  EXPECT_EQ(file.text(), content);
  const std::int64_t before = mapped_pages_in_memory();
  file.forget(file.bytes().subspan(5000, 8'000'000));
  file.forget(file.bytes().first(0));
  const std::int64_t after = mapped_pages_in_memory();
  EXPECT_LT(after, before - 7'000'000 / sysconf(_SC_PAGESIZE));
  EXPECT_EQ(file.text(), content);

  // Memory of others would lose what it holds.
  std::vector<std::byte> other(100'000, std::byte{7});
  file.forget(other);
  EXPECT_EQ(std::ranges::count(other, std::byte{7}), 100'000);
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

#include "tests/outside/npy.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ingot::outside {
namespace {

Error wrong(const std::filesystem::path& path, std::string_view what) {
  return Error::of(ErrorCode::corrupt, path.filename().native(), ": expected ", what, ", found something else");
}

// The text behind 'key': in the header's dictionary literal, up to where the value ends.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size() + 3);
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  const char closing = header.starts_with("(") ? ')' : ',';
  return header.substr(0, header.find(closing));
}

Result<std::vector<std::int64_t>> parse_shape(const std::filesystem::path& path, std::string_view text) {
  std::vector<std::int64_t> shape;
  if (!text.starts_with("(")) return wrong(path, "a shape in the header");
  text.remove_prefix(1);
  while (true) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    if (text.empty()) return shape;
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0) return wrong(path, "sizes of 0 or more in the shape");
    shape.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

}  // namespace

std::int64_t NpyArray::count() const {
  std::int64_t count = 1;
  for (std::int64_t size : shape) count *= size;
  return count;
}

Result<NpyArray> read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error::of(ErrorCode::not_found, "expected a file ", path.native(), ", found none");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() < 12 || !text.starts_with("\x93NUMPY")) return wrong(path, "the magic of a .npy file");
  const int version = text[6];
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::uint32_t header_length = 0;
  std::memcpy(&header_length, text.data() + 8, length_bytes);
  const std::size_t data_begin = 8 + length_bytes + header_length;
  if (version < 1 || version > 3 || data_begin > text.size()) return wrong(path, "a header of version 1 to 3");
  const std::string_view header = std::string_view(text).substr(8 + length_bytes, header_length);

  NpyArray array;
  const std::string_view type = value_of(header, "descr");  // '<f4'
  if (type.size() < 4 || (type[1] != '<' && type[1] != '|')) return wrong(path, "a little-endian element type");
  if (std::string_view("fiub").find(type[2]) == std::string_view::npos) {
    return Error::of(ErrorCode::unsupported, "elements that are no numbers");
  }
  array.type = type.substr(2, type.size() - 3);
  if (value_of(header, "fortran_order") != "False") return wrong(path, "row-major order");
  array.shape = TRY(parse_shape(path, value_of(header, "shape")));

  std::uint64_t item = 0;
  std::from_chars(array.type.data() + 1, array.type.data() + array.type.size(), item);
  std::uint64_t expected = item;
  for (std::int64_t size : array.shape) {
    if (__builtin_mul_overflow(expected, static_cast<std::uint64_t>(size), &expected)) return wrong(path, "a size");
  }
  const std::size_t available = text.size() - data_begin;
  if (item == 0 || expected != available) {
    return Error::of(ErrorCode::corrupt, path.filename().native(), ": expected ", expected, " bytes of data, found ",
                     available);
  }
  array.bytes.resize(available);
  if (available > 0) std::memcpy(array.bytes.data(), text.data() + data_begin, available);
  return array;
}

}  // namespace ingot::outside

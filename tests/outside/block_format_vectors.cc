#include "tests/outside/block_format_vectors.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <fstream>

#include "kernels/layout/cast.h"
#include "kernels/quantization/dequantize.h"
#include "kernels/quantization/quantize.h"

namespace ingot::outside {
namespace {

constexpr std::int64_t row_elements = 1024;

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

// Quantization of the other formats searches for the best scale, which each library does in its own way.
bool is_quantized_alike(DType dtype) {
  constexpr std::array formats = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::bf16};
  return std::find(formats.begin(), formats.end(), dtype) != formats.end();
}

// Runs one operation with every variant and compares the bytes of its output, which `found` holds.
template <class Op>
void compare_bytes(const Bench& bench, const std::string& what, const typename Op::Arguments& arguments,
                   std::vector<std::byte>& found, const std::vector<std::byte>& expected, BlockFormatReport& report) {
  const OnnxCase none;
  bool has_further = true;
  int runs = 0;
  for (int preference = 0; has_further; ++preference) {
    Trial trial(bench, none, preference);
    std::fill(found.begin(), found.end(), std::byte{0xa5});  // what the last variant left must not pass for this one's
    trial.run<Op>(arguments);
    has_further = trial.has_further_variants();
    ++runs;
    if (trial.verdict() == Verdict::failed) {
      report.failures.push_back(what + ": " + trial.text());
    } else if (found != expected) {
      report.failures.push_back(what + ", variant " + std::to_string(preference) + ": expected the same bytes");
    }
  }
  report.lines.push_back(what + ": " + std::to_string(runs) + " variants");
}

void check_format(const Bench& bench, const std::string& name, DType dtype, const std::filesystem::path& folder,
                  std::vector<std::byte> input, BlockFormatReport& report) {
  std::vector<std::byte> blocks = read_bytes(folder / (name + ".blk"));
  std::vector<std::byte> numbers = read_bytes(folder / (name + ".f32"));
  const auto rows = static_cast<std::int64_t>(numbers.size()) / (row_elements * 4);
  const Shape shape = {rows, row_elements};
  if (rows < 1 || static_cast<std::int64_t>(blocks.size()) != rows * row_bytes(dtype, row_elements)) {
    report.failures.push_back(name + ": expected blocks and numbers of whole rows");
    return;
  }
  ++report.formats;
  std::vector<std::byte> decoded(numbers.size());
  const View<float> y(reinterpret_cast<float*>(decoded.data()), shape);
  const AnyView given(blocks.data(), dtype, shape);
  if (is_block_format(dtype)) {
    compare_bytes<Dequantize>(bench, name + " dequantized", {.blocks = given, .y = y}, decoded, numbers, report);
  } else {
    compare_bytes<Cast>(bench, name + " to f32", {.x = given, .y = y}, decoded, numbers, report);
  }
  if (!is_quantized_alike(dtype) || input.size() != numbers.size()) return;
  std::vector<std::byte> encoded(blocks.size());
  const AnyView made(encoded.data(), dtype, shape);
  const View<float> x(reinterpret_cast<float*>(input.data()), shape);
  if (is_block_format(dtype)) {
    compare_bytes<Quantize>(bench, name + " quantized", {.x = x, .blocks = made}, encoded, blocks, report);
  } else {
    compare_bytes<Cast>(bench, "f32 to " + name, {.x = x, .y = made}, encoded, blocks, report);
  }
}

}  // namespace

BlockFormatReport check_block_formats(const Bench& bench, const std::filesystem::path& folder) {
  BlockFormatReport report;
  const std::vector<std::byte> input = read_bytes(folder / "input.f32");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".blk") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const std::string name = file.stem();
    std::string lower = name;
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    const auto dtype = dtype_by_name(lower);
    if (dtype) {
      check_format(bench, name, *dtype, folder, input, report);
    } else {
      report.lines.push_back(name + ": not applicable, Ingot has no such format");
    }
  }
  return report;
}

}  // namespace ingot::outside

// Tar archives for tests and fuzzers, made member by member.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::image {

struct TarMember {
  std::string path;
  char type = '0';
  std::string content;  // of a link: its target
  std::uint32_t mode = 0644;
};

inline std::string fake_tar(const std::vector<TarMember>& members) {
  std::string tar;
  for (const TarMember& member : members) {
    const bool link = member.type == '1' || member.type == '2';
    std::string header = member.path;
    char fields[64];
    header.resize(100);
    std::snprintf(fields, sizeof fields, "%07o", member.mode);
    header += std::string(fields, 8) + std::string("0000000\0000000000\0", 16);
    std::snprintf(fields, sizeof fields, "%011lo", static_cast<unsigned long>(link ? 0 : member.content.size()));
    header += std::string(fields, 12) + std::string("00000000000\0        ", 20) + member.type;
    if (link) header += member.content;
    header.resize(257);
    header += std::string_view("ustar\00000", 8);
    header.resize(512);
    unsigned sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    std::snprintf(fields, sizeof fields, "%06o", sum);
    header.replace(148, 8, std::string(fields, 7) + ' ');
    tar += header;
    if (!link) tar += member.content;
    tar.resize((tar.size() + 511) / 512 * 512);
  }
  return tar + std::string(1024, '\0');
}

}  // namespace ingot::image

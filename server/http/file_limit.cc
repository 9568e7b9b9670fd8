#include "server/http/file_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace ingot::http {

std::int64_t raise_file_limit(std::int64_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const auto needed = static_cast<rlim_t>(wanted);
  if (limit.rlim_cur >= needed) return wanted;  // RLIM_INFINITY is the largest
  const rlimit higher{needed, std::max(limit.rlim_max, needed)};
  if (limit.rlim_max < needed && ::setrlimit(RLIMIT_NOFILE, &higher) == 0) return wanted;  // who may, may
  const rlimit raised{std::min(limit.rlim_max, needed), limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return static_cast<std::int64_t>(raised.rlim_cur);
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace ingot::http

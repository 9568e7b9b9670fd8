// Files that the loader brings at boot join those of the image: a key that the image does not hold, for its owner
// alone; and one in place of a small file of the image.
//
// program-test: file /etc/motto of the image
// program-test: file /etc/name stays
// program-test: initrd /etc/ingot/api-keys 600 sesame
// program-test: initrd /etc/motto 644 of the loader
// program-test: expect sesame, of the loader, stays
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tests/programs/check.h"

namespace {

std::string content_of(const char* path) {
  const int file = open(path, O_RDONLY);
  CHECK(file >= 0);
  char text[64];
  const ssize_t count = read(file, text, sizeof text);
  CHECK(count > 0 && close(file) == 0);
  return {text, static_cast<std::size_t>(count)};
}

}  // namespace

int main() {
  struct stat facts = {};
  CHECK(stat("/etc/ingot/api-keys", &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0600 && facts.st_uid == 0);
  std::printf("%s, %s, %s\n", content_of("/etc/ingot/api-keys").c_str(), content_of("/etc/motto").c_str(),
              content_of("/etc/name").c_str());
}

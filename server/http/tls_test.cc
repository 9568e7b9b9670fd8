#include "server/http/tls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace ingot::http {
namespace {

// The key as its owner alone can read it.
class PrivateKeyForTest {
 public:
  PrivateKeyForTest() : path_("/tmp/ingot_tls_test_" + std::to_string(::getpid())) {
    std::filesystem::copy_file(INGOT_CERTIFICATE_FOLDER "/localhost_key.pem", path_,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_read);
  }
  ~PrivateKeyForTest() { std::filesystem::remove(path_); }
  PrivateKeyForTest(const PrivateKeyForTest&) = delete;
  PrivateKeyForTest& operator=(const PrivateKeyForTest&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::string certificate_path = INGOT_CERTIFICATE_FOLDER "/localhost_certificate.pem";

TEST(Tls, LastsAsLongAsItsTransports) {
  const PrivateKeyForTest key;
  std::shared_ptr<Tls> tls = Tls::create(certificate_path, key.path()).value();
  const std::weak_ptr<Tls> seen = tls;
  std::shared_ptr<Transport> transport = tls->transport(-1);
  tls.reset();
  EXPECT_FALSE(seen.expired());
  transport.reset();
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace ingot::http

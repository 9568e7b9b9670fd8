#include "server/http/tls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "server/http/test_server.h"

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

TEST(Tls, WhoSpeaksPlainlyIsAnsweredSoAndCounted) {
  const PrivateKeyForTest key;
  ServerOptions options;
  options.port = 0;
  options.certificate = certificate_path;
  options.private_key = key.path();
  TestHandler handler;
  TestServer server(handler, options);
  TestClient plain(server.port());
  plain.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string answer = plain.read_all();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_NE(answer.find("https://"), std::string::npos) << answer;
  EXPECT_FALSE(plain.was_reset());
  EXPECT_EQ(handler.refused.get(), std::vector<std::string>{"400 127.0.0.1  "});
  EXPECT_EQ(server->counts().tls_failures, 1);
  TestClient neither(server.port());
  neither.send("neither the one nor the other\r\n");
  EXPECT_EQ(neither.read_all().find("HTTP/"), std::string::npos);
  EXPECT_TRUE(comes_true([&] { return server->counts().tls_failures == 2; }));
}

}  // namespace
}  // namespace ingot::http

#include "server/http/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace ingot::http {
namespace {

template <auto Free>
struct Freed {
  template <class Object>
  void operator()(Object* object) const {
    Free(object);
  }
};
using ContextPointer = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using StatePointer = std::unique_ptr<SSL, Freed<SSL_free>>;
using MethodPointer = std::unique_ptr<BIO_METHOD, Freed<BIO_meth_free>>;

// --- a descriptor as OpenSSL reads and writes it: without SIGPIPE, which its own way would raise ---

int descriptor_of(BIO* way) { return static_cast<int>(std::bit_cast<std::intptr_t>(BIO_get_data(way))); }

int after_call(BIO* way, ssize_t count, int retry) {
  BIO_clear_retry_flags(way);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    BIO_set_flags(way, retry | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(count);
}

int read_descriptor(BIO* way, char* into, int room) {
  return after_call(way, ::recv(descriptor_of(way), into, static_cast<std::size_t>(room), MSG_DONTWAIT),
                    BIO_FLAGS_READ);
}

int write_descriptor(BIO* way, const char* from, int count) {
  return after_call(way, ::send(descriptor_of(way), from, static_cast<std::size_t>(count), MSG_DONTWAIT | MSG_NOSIGNAL),
                    BIO_FLAGS_WRITE);
}

long control_descriptor(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

MethodPointer make_method() {
  MethodPointer method(BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "descriptor"));
  if (method == nullptr) return nullptr;
  BIO_meth_set_read(method.get(), read_descriptor);
  BIO_meth_set_write(method.get(), write_descriptor);
  BIO_meth_set_ctrl(method.get(), control_descriptor);
  return method;
}

class TlsTransport final : public Transport {
 public:
  TlsTransport(std::shared_ptr<const Tls> tls, StatePointer state) : tls_(std::move(tls)), state_(std::move(state)) {}

  ssize_t receive(int descriptor, std::span<char> into) override {
    if (is_plain_) return plain_.receive(descriptor, into);
    std::size_t count = 0;
    wants_room_ = false;
    ERR_clear_error();
    const int outcome = SSL_read_ex(state_.get(), into.data(), into.size(), &count);
    has_agreed_ = has_agreed_ || outcome == 1;
    if (outcome == 1) return static_cast<ssize_t>(count);
    const int error = SSL_get_error(state_.get(), outcome);
    wants_room_ = error == SSL_ERROR_WANT_WRITE;
    return error == SSL_ERROR_ZERO_RETURN ? 0 : failed(error);
  }

  ssize_t send(int descriptor, std::span<iovec> parts) override {
    if (is_plain_) return plain_.send(descriptor, parts);
    ssize_t sent = 0;
    for (const iovec& part : parts) {
      std::size_t count = 0;
      ERR_clear_error();
      const int outcome = SSL_write_ex(state_.get(), part.iov_base, part.iov_len, &count);
      if (outcome != 1) return sent > 0 ? sent : failed(SSL_get_error(state_.get(), outcome));
      sent += static_cast<ssize_t>(count);
      if (count < part.iov_len) break;
    }
    return sent;
  }

  void end_sending(int descriptor) override {
    // That the answer ends here and was not cut off.
    if (!has_failed_ && SSL_is_init_finished(state_.get()) == 1) SSL_shutdown(state_.get());
    ERR_clear_error();
    ::shutdown(descriptor, SHUT_WR);
  }

  bool has_received_more() const override { return !is_plain_ && SSL_has_pending(state_.get()) == 1; }
  bool has_become_plain() const override { return is_plain_; }
  bool receives_after_sending() const override { return wants_room_; }

 private:
  ssize_t failed(int error) {
    const bool can_go_on = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    has_failed_ = has_failed_ || !can_go_on;
    const bool is_disagreement = error == SSL_ERROR_SSL && !has_agreed_;
    is_plain_ = is_disagreement && ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
    ERR_clear_error();
    errno = can_go_on ? EAGAIN : is_disagreement ? EPROTO : ECONNRESET;
    return -1;
  }

  const std::shared_ptr<const Tls> tls_;  // whose method the state's BIO calls to its end
  const StatePointer state_;
  bool wants_room_ = false;
  bool has_failed_ = false;  // then nothing may be asked of it any more
  bool has_agreed_ = false;  // something came that was encrypted as it should
  bool is_plain_ = false;    // HTTP came: what follows is sent and received as it is
  PlainTransport plain_;
};

// Where a client offers names of protocols, ours is among them or there is nothing to talk about.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_length, const unsigned char* offered,
                    unsigned int offered_length, void*) {
  static constexpr unsigned char ours[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* selected = nullptr;
  const int outcome = SSL_select_next_proto(&selected, chosen_length, ours, sizeof(ours), offered, offered_length);
  *chosen = selected;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

class OpenSslTls final : public Tls, public std::enable_shared_from_this<OpenSslTls> {
 public:
  OpenSslTls(ContextPointer context, MethodPointer method) : context_(std::move(context)), method_(std::move(method)) {}

  std::shared_ptr<Transport> transport(int descriptor) override {
    StatePointer state(SSL_new(context_.get()));
    BIO* const way = state == nullptr ? nullptr : BIO_new(method_.get());
    if (way == nullptr) return nullptr;
    BIO_set_data(way, std::bit_cast<void*>(std::intptr_t{descriptor}));
    BIO_set_init(way, 1);
    SSL_set_bio(state.get(), way, way);  // which owns it from now on
    SSL_set_accept_state(state.get());
    return std::make_shared<TlsTransport>(shared_from_this(), std::move(state));
  }

 private:
  const ContextPointer context_;
  const MethodPointer method_;
};

std::string last_reason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "no reason" : reason;
}

Result<void> require_private(const std::string& path) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) {
    return Error::of(ErrorCode::input_output, "expected to read the private key ", path,
                     ", found: ", std::strerror(errno));
  }
  if ((facts.st_mode & S_IROTH) == 0) return {};
  return Error::of(ErrorCode::denied, "expected a private key that not everybody can read, found that others can read ",
                   path, ": chmod 600 ", path);
}

}  // namespace

Result<std::shared_ptr<Tls>> Tls::create(const std::string& certificate, const std::string& private_key) {
  if (certificate.empty() || private_key.empty()) {
    return Error::of(ErrorCode::invalid_argument, "expected a certificate and its private key, found only the ",
                     certificate.empty() ? "key: give --certificate" : "certificate: give --private-key");
  }
  TRY(require_private(private_key));
  ContextPointer context(SSL_CTX_new(TLS_server_method()));
  MethodPointer method = make_method();
  if (context == nullptr || method == nullptr) return Error::of(ErrorCode::out_of_memory, "no memory for TLS");
  SSL_CTX* const made = context.get();
  SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION);
  // A part of what should be sent may go; what has to wait may lie elsewhere by then; who idles holds no buffers.
  SSL_CTX_set_mode(made,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);  // tickets serve those who come again
  SSL_CTX_set_alpn_select_cb(made, choose_protocol, nullptr);
  if (SSL_CTX_use_certificate_chain_file(made, certificate.c_str()) != 1) {
    return Error::of(ErrorCode::invalid_argument, "expected a certificate in PEM form in ", certificate,
                     ", found: ", last_reason());
  }
  if (SSL_CTX_use_PrivateKey_file(made, private_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(made) != 1) {
    return Error::of(ErrorCode::invalid_argument, "expected the private key of ", certificate, " in PEM form in ",
                     private_key, ", found: ", last_reason());
  }
  return std::shared_ptr<Tls>(std::make_shared<OpenSslTls>(std::move(context), std::move(method)));
}

}  // namespace ingot::http

#include "storage/storage.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>

#include "diagnostic/diagnostic.hpp"

namespace hone::storage {
namespace {

namespace fs = std::filesystem;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string finish() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    static constexpr char kHex[] = "0123456789abcdef";
    std::string text = "sha256:";
    for (unsigned int i = 0; i < size; ++i) {
      text += kHex[digest[i] >> 4];
      text += kHex[digest[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

[[noreturn]] void fail_write(const fs::path& path, int error) {
  throw Error(Exit::infrastructure, "cannot write " + path.string() + ": " + std::strerror(error));
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_write(path, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path))
    throw Error(Exit::bad_input,
                "cannot read " + path.string() + ": " +
                    (fs::is_directory(path) ? "it is a folder" : std::strerror(errno)));
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

void write_atomically(const fs::path& path, std::string_view content) {
  static std::atomic<unsigned> serial{0};
  std::error_code ec;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ec);
  if (ec) fail_write(path, ec.value());
  const fs::path temporary =
      path.string() + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(serial++);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail_write(path, errno);
  try {
    write_all(fd, content, path);
    if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) fail_write(path, errno);
  } catch (...) {
    ::close(fd);
    ::unlink(temporary.c_str());
    throw;
  }
  if (::close(fd) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    fail_write(path, error);
  }
}

Json read_json(const fs::path& path) { return parse_json(read_file(path), path.string()); }

Json parse_json(std::string_view text, const std::string& name) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    const std::string what = e.what();
    const auto colon = what.find("column");
    const auto reason = colon == std::string::npos ? std::string::npos : what.find(": ", colon);
    throw Error(Exit::bad_input,
                {Diagnostic{locate(name, text, e.byte > 0 ? e.byte - 1 : 0),
                            "not valid JSON: " +
                                (reason == std::string::npos ? what : what.substr(reason + 2)),
                            ""}});
  }
}

void write_json(const fs::path& path, const Json& value) {
  write_atomically(path, value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string base64(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(length));
  return out;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

std::string sha256_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(Exit::bad_input, "cannot read " + path.string() + ": " + std::strerror(errno));
  Sha256 hash;
  std::string buffer(1 << 20, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0)
    hash.add({buffer.data(), static_cast<size_t>(in.gcount())});
  return hash.finish();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace hone::storage

// SPDX-License-Identifier: Apache-2.0
#include "file_digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <memory>
#include <vector>

namespace weft::tools {

Result<FileDigest> digest_of(const std::string& path) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(
      EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::ifstream file(path, std::ios::binary);
  if (!file || !context ||
      EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    return Error{ErrorCode::kIo, "cannot read " + path};
  }
  FileDigest digest;
  std::vector<char> buffer(std::size_t{1} << 18);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    digest.bytes += count;
    EVP_DigestUpdate(context.get(), buffer.data(), count);
  }
  if (!file.eof()) return Error{ErrorCode::kIo, "cannot read " + path};
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  EVP_DigestFinal_ex(context.get(), bytes.data(), &size);
  for (unsigned i = 0; i < size; ++i) {
    digest.sha256 += fmt::format("{:02x}", bytes[i]);
  }
  return digest;
}

}  // namespace weft::tools

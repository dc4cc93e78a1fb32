#include "support/Util.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

namespace Halide {
namespace Internal {

bool starts_with(const std::string &str, const std::string &prefix) {
    return str.compare(0, prefix.size(), prefix) == 0;
}

bool ends_with(const std::string &str, const std::string &suffix) {
    return str.size() >= suffix.size() && str.compare(str.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string replace_all(const std::string &str, const std::string &find, const std::string &replace) {
    if (find.empty()) {
        return str;
    }
    std::string result;
    size_t done = 0;
    for (size_t at; (at = str.find(find, done)) != std::string::npos; done = at + find.size()) {
        result.append(str, done, at - done);
        result += replace;
    }
    return result + str.substr(done);
}

std::vector<std::string> split_string(const std::string &source, const std::string &delim) {
    std::vector<std::string> pieces;
    size_t done = 0;
    for (size_t at; (at = source.find(delim, done)) != std::string::npos; done = at + delim.size()) {
        pieces.push_back(source.substr(done, at - done));
    }
    pieces.push_back(source.substr(done));
    return pieces;
}

std::string c_print_name(const std::string &name, bool prefix_underscore) {
    std::string result;
    if (prefix_underscore && !name.empty() && isalpha((unsigned char)name[0])) {
        result = "_";
    }
    for (char c : name) {
        if (c == '.') {
            result += '_';
        } else if (c == '$') {
            result += "__";
        } else if (isalnum((unsigned char)c) || c == '_') {
            result += c;
        } else {
            result += "___";
        }
    }
    if (!prefix_underscore && !result.empty() && isdigit((unsigned char)result[0])) {
        result = "_" + result;
    }
    return result;
}

std::string extract_namespaces(const std::string &name, std::vector<std::string> &namespaces) {
    namespaces = split_string(name, "::");
    std::string last = namespaces.back();
    namespaces.pop_back();
    return last;
}

bool file_exists(const std::string &name) {
    return access(name.c_str(), F_OK) == 0;
}

void assert_file_exists(const std::string &name) {
    user_assert(file_exists(name)) << "File not found: " << name << "\n";
}

void assert_no_file_exists(const std::string &name) {
    user_assert(!file_exists(name)) << "File (wrongly) found: " << name << "\n";
}

void ensure_no_file_exists(const std::string &name) {
    if (file_exists(name)) {
        file_unlink(name);
    }
}

void file_unlink(const std::string &name) {
    unlink(name.c_str());
}

void dir_rmdir(const std::string &name) {
    user_assert(rmdir(name.c_str()) == 0) << "Could not remove the directory " << name << ": " << strerror(errno) << "\n";
}

FileStat file_stat(const std::string &name) {
    struct stat s;
    user_assert(stat(name.c_str(), &s) == 0) << "Could not stat " << name << ": " << strerror(errno) << "\n";
    return {(uint64_t)s.st_size, (uint32_t)s.st_mtime, (uint32_t)s.st_uid, (uint32_t)s.st_gid, (uint32_t)s.st_mode};
}

namespace {

std::string temporary_directory() {
    const std::string directory = get_env_variable("TMPDIR");
    return directory.empty() ? "/tmp" : directory;
}

}  // namespace

std::string file_make_temp(const std::string &prefix, const std::string &suffix) {
    user_assert(prefix.find('/') == std::string::npos && suffix.find('/') == std::string::npos)
        << "The prefix and suffix of a temporary file may not contain a slash: " << prefix << ", " << suffix << "\n";
    std::string path = temporary_directory() + "/" + prefix + "XXXXXX" + suffix;
    const int fd = mkstemps(path.data(), (int)suffix.size());
    user_assert(fd >= 0) << "Could not make a temporary file " << path << ": " << strerror(errno) << "\n";
    close(fd);
    return path;
}

std::string dir_make_temp() {
    std::string path = temporary_directory() + "/XXXXXX";
    user_assert(mkdtemp(path.data()) != nullptr)
        << "Could not make a temporary directory " << path << ": " << strerror(errno) << "\n";
    return path;
}

std::vector<char> read_entire_file(const std::string &pathname) {
    std::ifstream file(pathname, std::ios::in | std::ios::binary);
    user_assert(file.good()) << "Unable to read file: " << pathname << "\n";
    std::vector<char> content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    user_assert(!file.bad()) << "Unable to read file: " << pathname << "\n";
    return content;
}

void write_entire_file(const std::string &pathname, const void *source, size_t source_len) {
    std::ofstream file(pathname, std::ios::out | std::ios::trunc | std::ios::binary);
    file.write((const char *)source, (std::streamsize)source_len);
    file.flush();
    user_assert(file.good()) << "Unable to write file: " << pathname << "\n";
}

TemporaryFile::~TemporaryFile() {
    if (do_unlink) {
        file_unlink(path);
    }
}

namespace {

/// Whether a value computed in 64 bits (without overflow there) leaves a signed type of so many bits.
bool leaves_range(int bits, int64_t v) {
    const int64_t max = (int64_t)(UINT64_MAX >> (65 - bits));
    return v > max || v < -max - 1;
}

bool finish(int bits, bool overflow, int64_t value, int64_t *result) {
    if (overflow || leaves_range(bits, value)) {
        return false;
    }
    *result = value;
    return true;
}

}  // namespace

bool add_with_overflow(int bits, int64_t a, int64_t b, int64_t *result) {
    int64_t value;
    const bool overflow = __builtin_add_overflow(a, b, &value);
    return finish(bits, overflow, value, result);
}

bool sub_with_overflow(int bits, int64_t a, int64_t b, int64_t *result) {
    int64_t value;
    const bool overflow = __builtin_sub_overflow(a, b, &value);
    return finish(bits, overflow, value, result);
}

bool mul_with_overflow(int bits, int64_t a, int64_t b, int64_t *result) {
    int64_t value;
    const bool overflow = __builtin_mul_overflow(a, b, &value);
    return finish(bits, overflow, value, result);
}

bool add_would_overflow(int bits, int64_t a, int64_t b) {
    int64_t ignored;
    return !add_with_overflow(bits, a, b, &ignored);
}

bool sub_would_overflow(int bits, int64_t a, int64_t b) {
    int64_t ignored;
    return !sub_with_overflow(bits, a, b, &ignored);
}

bool mul_would_overflow(int bits, int64_t a, int64_t b) {
    int64_t ignored;
    return !mul_with_overflow(bits, a, b, &ignored);
}

int clz64(uint64_t x) {
    return x == 0 ? 64 : __builtin_clzll(x);
}

int ctz64(uint64_t x) {
    return x == 0 ? 64 : __builtin_ctzll(x);
}

int popcount64(uint64_t x) {
    return __builtin_popcountll(x);
}

uint64_t stable_hash(uint64_t seed, const void *bytes, size_t size) {
    constexpr uint64_t prime = 0x100000001b3;
    uint64_t hash = seed ? seed : 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * prime;
    }
    return hash;
}

}  // namespace Internal
}  // namespace Halide

// Every directive of the table is documented and is a method of what the table says.

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Row {
    std::string name, arguments, object, doc;
};

const std::vector<Row> rows = {
#define BROMIDE_DIRECTIVE(name, arguments, object, doc) {#name, arguments, #object, doc},
#include "func/Directives.def"
};

std::string read(const std::string &path) {
    std::ifstream file(std::string(BROMIDE_SOURCE_DIR) + "/" + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

bool declares(const std::string &header, const std::string &method) {
    return std::regex_search(header, std::regex("[ &*]" + method + "\\("));
}

}  // namespace

TEST(Directives, AreDocumentedOnce) {
    std::set<std::string> names;
    for (const Row &r : rows) {
        EXPECT_TRUE(names.insert(r.name).second) << r.name << " has two rows";
        EXPECT_GT(r.doc.size(), 10u) << r.name;
        EXPECT_EQ(r.doc.back(), '.') << r.name;
    }
    EXPECT_GT(names.size(), 60u);
}

TEST(Directives, AreMethods) {
    const std::string both = read("src/api/LoopDirectives.h");
    const std::string func = read("src/api/Func.h") + both, stage = read("src/api/Stage.h") + both;
    for (const Row &r : rows) {
        if (r.object != "Stage") {
            EXPECT_TRUE(declares(func, r.name)) << "Func has no method " << r.name;
        }
        if (r.object != "Func") {
            EXPECT_TRUE(declares(stage, r.name)) << "Stage has no method " << r.name;
        }
    }
}

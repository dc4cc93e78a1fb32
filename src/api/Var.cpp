#include "api/Var.h"

#include "support/Util.h"

namespace Halide {

using namespace Internal;

Var::Var(const std::string &name) : e(Variable::make(Int(32), name)) {}

Var::Var() : e(Variable::make(Int(32), unique_name('v'))) {}

const std::string &Var::name() const {
    return e.as<Variable>()->name;
}

Var Var::implicit(int n) {
    return Var("_" + std::to_string(n));
}

bool Var::is_implicit(const std::string &name) {
    return implicit_index(name) >= 0;
}

int Var::implicit_index(const std::string &name) {
    if (name.size() < 2 || name.size() > 9 || name[0] != '_') {
        return -1;
    }
    int index = 0;
    for (size_t i = 1; i < name.size(); i++) {
        if (name[i] < '0' || name[i] > '9') {
            return -1;
        }
        index = index * 10 + (name[i] - '0');
    }
    return index;
}

bool Var::is_placeholder(const std::string &name) {
    return name == "_";
}

Var Var::outermost() {
    return Var("__outermost");
}

std::ostream &operator<<(std::ostream &stream, const Var &v) {
    return stream << v.name();
}

namespace Internal {

std::vector<Var> make_argument_list(int dimensionality) {
    std::vector<Var> args;
    for (int i = 0; i < dimensionality; i++) {
        args.push_back(Var::implicit(i));
    }
    return args;
}

}  // namespace Internal
}  // namespace Halide

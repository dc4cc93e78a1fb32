// Reads the exact text of IR: the grammar is in IRText.cpp.

#include "ir/IRConstants.h"
#include "ir/IRText.h"
#include "ir/IRTextScanner.h"
#include "ir/IRTextWords.h"
#include "ir/Intrinsics.h"
#include "support/Util.h"

#include <cmath>
#include <cstring>
#include <functional>

namespace Halide {
namespace Internal {

namespace {

using namespace ir_text;

class Reader : TextScanner {
    std::vector<Expr> list_until(const char *closing) {
        std::vector<Expr> exprs;
        skip();
        if (looking_at(closing)) {
            return exprs;
        }
        do {
            exprs.push_back(expr());
        } while (accept(","));
        return exprs;
    }
    std::vector<Expr> arguments(size_t count = (size_t)-1) {
        open("(");
        std::vector<Expr> args = list_until(")");
        if (count != (size_t)-1 && args.size() != count) {
            fail("expected " + std::to_string(count) + " operands");
        }
        close(")");
        return args;
    }

    Expr number() {
        skip();
        const char *start = here();
        const char *p = start;
        if (*p == '-') {
            p++;
        }
        if (strncmp(p, "inf_", 4) == 0 || strncmp(p, "nan_", 4) == 0) {
            const bool is_nan = *p == 'n';
            pos += p + 4 - start;
            const Type t = type();
            if (!t.is_float()) {
                fail("expected a float type");
            }
            if (is_nan && looking_at("(0x")) {
                pos += 1;
                char *end;
                const uint64_t bits = strtoull(here(), &end, 16);
                pos += end - here();
                expect(")");
                double value;
                memcpy(&value, &bits, 8);
                return FloatImm::make(t, value);
            }
            return FloatImm::make(t, is_nan ? std::nan("") : *start == '-' ? -INFINITY : INFINITY);
        }
        if (!isdigit((unsigned char)*p)) {
            fail("expected a number");
        }
        bool is_float = false;
        for (; isalnum((unsigned char)*p) || *p == '.' || ((*p == '+' || *p == '-') && (p[-1] == 'e')); p++) {
            is_float |= *p == '.' || *p == 'e';
        }
        const std::string digits(start, p);
        pos += digits.size();
        Type t = is_float ? Float(32) : Int(32);
        if (looking_at("_")) {
            pos++;
            t = type();
        }
        if (t.is_float()) {
            return FloatImm::make(t, strtod(digits.c_str(), nullptr));
        }
        if (is_float || !t.is_int_or_uint() || !t.is_scalar()) {
            fail("`" + digits + "` is not a constant of this type");
        }
        return t.is_int() ? Expr(IntImm::make(t, strtoll(digits.c_str(), nullptr, 10))) :
                            Expr(UIntImm::make(t, strtoull(digits.c_str(), nullptr, 10)));
    }

    std::string string_constant() {
        std::string text;
        for (pos++; pos < source.size() && source[pos] != '"'; pos++) {
            if (source[pos] != '\\') {
                text += source[pos];
                continue;
            }
            pos++;
            switch (source[pos]) {
            case 'n':
                text += '\n';
                break;
            case 't':
                text += '\t';
                break;
            case 'r':
                text += '\r';
                break;
            case 'x':
                text += (char)strtol(source.substr(pos + 1, 2).c_str(), nullptr, 16);
                pos += 2;
                break;
            default:
                text += source[pos];
            }
        }
        if (pos >= source.size()) {
            fail("the string has no closing quote");
        }
        pos++;
        return text;
    }

    struct Attributes {
        ModulusRemainder alignment;
        bool is_streaming = false;
        Expr predicate;
    };
    Attributes access_attributes() {
        Attributes result;
        if (accept_word("aligned")) {
            open("(");
            result.alignment.modulus = integer();
            expect(",");
            result.alignment.remainder = integer();
            close(")");
        }
        result.is_streaming = accept_word("streaming");
        if (accept_word("when")) {
            result.predicate = unary();
        }
        return result;
    }

    Expr call(const std::string &callee, Call::CallType call_type) {
        std::vector<Expr> args = arguments();
        int value_index = 0;
        if (looking_at("#")) {
            pos++;
            value_index = (int)integer();
        }
        const Type t = ascription();
        return Call::make(t, callee, args, call_type, FunctionPtr(), value_index);
    }

    Expr named() {
        const bool is_quoted = at_quoted_name();
        if (!is_quoted) {
            const std::string word = peek_word();
            if (word == "true" || word == "false") {
                pos += word.size();
                return make_bool(word == "true");
            }
            if ((starts_with(word, "inf_") || starts_with(word, "nan_")) && is_reserved_name(word)) {
                return number();
            }
            if (const Call::CallType *call_type = find_word(call_types, word)) {
                pos += word.size();
                const std::string callee = name();
                return call(callee, *call_type);
            }
            if (word == "reinterpret" && source.compare(pos + word.size(), 1, "<") == 0) {
                pos += word.size() + 1;
                const Type t = type();
                expect(">");
                return Reinterpret::make(t, arguments(1)[0]);
            }
            Type t;
            const size_t type_length = scan_type(here(), &t);
            if (type_length && source.compare(pos + type_length, 1, "(") == 0) {
                pos += type_length;
                return Cast::make(t, arguments(1)[0]);
            }
        }
        const std::string n = name();
        if (looking_at("(") && !is_quoted) {
            if (n == "min" || n == "max") {
                std::vector<Expr> args = arguments(2);
                check_same_type(args[0], args[1]);
                return n == "min" ? Min::make(args[0], args[1]) : Max::make(args[0], args[1]);
            }
            if (n == "select") {
                std::vector<Expr> args = arguments(3);
                check_same_type(args[1], args[2]);
                return Select::make(args[0], args[1], args[2]);
            }
            if (n == "r" || n == "ramp") {
                open("(");
                Expr base = expr();
                expect(",");
                Expr stride = expr();
                expect(",");
                const int lanes = (int)integer();
                close(")");
                check_same_type(base, stride);
                return Ramp::make(base, stride, lanes);
            }
            if (n == "broadcast") {
                open("(");
                Expr value = expr();
                expect(",");
                const int lanes = (int)integer();
                close(")");
                return Broadcast::make(value, lanes);
            }
            if (n == "reduce") {
                open("(");
                skip();
                const VectorReduce::Operator *op = nullptr;
                for (const auto &row : reduce_ops) {
                    if (!op && accept(row.first)) {
                        op = &row.second;
                    }
                }
                if (!op) {
                    fail("expected the operator of a reduction");
                }
                expect(",");
                Expr value = expr();
                expect(",");
                const int lanes = (int)integer();
                close(")");
                return VectorReduce::make(*op, value, lanes);
            }
            if (n == "interleave") {
                return Shuffle::make_interleave(arguments());
            }
            if (n == "shuffle") {
                open("(");
                std::vector<Expr> vectors = list_until(";");
                expect(";");
                std::vector<int> indices;
                do {
                    indices.push_back((int)integer());
                } while (accept(","));
                close(")");
                return Shuffle::make(vectors, indices);
            }
            return call(n, find_intrinsic(n) ? Call::PureIntrinsic : Call::Halide);
        }
        if (looking_at("(")) {
            return call(n, Call::Halide);
        }
        if (looking_at("[")) {
            open("[");
            Expr index = expr();
            close("]");
            const Type t = ascription();
            if (t.lanes() != index.type().lanes()) {
                fail("the type of the load and its index differ in lanes");
            }
            Attributes a = access_attributes();
            return Load::make(t, n, index, Buffer<>(), Parameter(),
                              a.predicate.defined() ? a.predicate : const_true(t.lanes()), a.alignment,
                              a.is_streaming);
        }
        return Variable::make(ascription(), n);
    }

    Expr primary() {
        skip();
        if (pos >= source.size()) {
            fail("expected an expression");
        }
        const char c = source[pos];
        if (c == '(') {
            open("(");
            Expr e = peek_word() == "let" ? let_expr() : expr();
            close(")");
            return e;
        }
        if (c == '"') {
            return Expr(string_constant());
        }
        if (isdigit((unsigned char)c) || c == '-') {
            return number();
        }
        if (c == '`' || is_name_start(c)) {
            return named();
        }
        fail("expected an expression");
    }

    Expr let_expr() {
        std::vector<std::pair<std::string, Expr>> lets;
        while (accept_word("let")) {
            const std::string n = name();
            expect("=");
            Expr value = expr();
            expect_word("in");
            lets.emplace_back(n, value);
        }
        Expr e = expr();
        for (size_t i = lets.size(); i > 0; i--) {
            e = Let::make(lets[i - 1].first, lets[i - 1].second, e);
        }
        return e;
    }

    Expr unary() {
        skip();
        if (looking_at("!") && !looking_at("!=")) {
            pos++;
            Expr e = unary();
            if (!e.type().is_bool()) {
                fail("`!` needs a bool");
            }
            return Not::make(e);
        }
        Expr e = primary();
        while (true) {
            if (looking_at(start_of_broadcast)) {
                pos += strlen(start_of_broadcast);
                const int lanes = (int)integer();
                expect(end_of_broadcast);
                e = Broadcast::make(e, lanes);
            } else if (looking_at(".lanes(")) {
                pos += 6;
                open("(");
                const int begin = (int)integer();
                expect(",");
                const int stride = (int)integer();
                expect(",");
                const int size = (int)integer();
                close(")");
                std::vector<int> indices;
                for (int i = 0; i < size; i++) {
                    indices.push_back(begin + i * stride);
                }
                e = Shuffle::make({e}, indices);
            } else {
                return e;
            }
        }
    }

    void check_same_type(const Expr &a, const Expr &b) {
        if (a.type() != b.type()) {
            fail("operands of different types: " + type_text(a.type()) + " and " + type_text(b.type()));
        }
    }

    // The binary operators that bind as strongly as `level`, longest first.
    static constexpr int strongest_level = 7;
    const char *accept_operator(int level) {
        static const std::vector<const char *> operators[strongest_level + 1] = {
            {}, {"||"}, {"&&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"++"}, {"+", "-"}, {"*", "/", "%"},
        };
        skip();
        for (const char *op : operators[level]) {
            if (looking_at(op) && !(level == 6 && looking_at("++"))) {
                pos += strlen(op);
                return op;
            }
        }
        return nullptr;
    }

    Expr binary(const std::string &op, const Expr &a, const Expr &b) {
        check_same_type(a, b);
        if ((op == "||" || op == "&&") && !a.type().is_bool()) {
            fail("`" + op + "` needs bools");
        }
        return op == "||" ? Or::make(a, b) :
               op == "&&" ? And::make(a, b) :
               op == "==" ? EQ::make(a, b) :
               op == "!=" ? NE::make(a, b) :
               op == "<=" ? LE::make(a, b) :
               op == ">=" ? GE::make(a, b) :
               op == "<"  ? LT::make(a, b) :
               op == ">"  ? GT::make(a, b) :
               op == "+"  ? Add::make(a, b) :
               op == "-"  ? Sub::make(a, b) :
               op == "*"  ? Mul::make(a, b) :
               op == "/"  ? Div::make(a, b) :
                            Mod::make(a, b);
    }

    Expr expr(int level = 1) {
        if (level > strongest_level) {
            return unary();
        }
        Expr a = expr(level + 1);
        if (level == 5) {
            std::vector<Expr> vectors = {a};
            while (accept_operator(level)) {
                vectors.push_back(expr(level + 1));
            }
            return vectors.size() == 1 ? a : Shuffle::make_concat(vectors);
        }
        while (const char *op = accept_operator(level)) {
            a = binary(op, a, expr(level + 1));
        }
        return a;
    }

    // -----------------------------------------------------------------------------------------------------------------

    Stmt braced() {
        expect("{");
        Stmt s = sequence();
        if (!accept("}")) {
            fail("expected `}`");
        }
        return s;
    }

    Expr optional_condition() {
        return accept_word("if") ? unary() : const_true();
    }

    Region region() {
        Region bounds;
        while (accept("[")) {
            depth++;
            Expr min = expr();
            expect(",");
            Expr extent = expr();
            close("]");
            bounds.emplace_back(min, extent);
        }
        return bounds;
    }

    std::vector<Type> types() {
        std::vector<Type> ts;
        if (accept(":")) {
            do {
                ts.push_back(type());
            } while (accept(","));
        }
        return ts;
    }

    using Wrapper = std::function<Stmt(Stmt)>;

    // A statement whose body is all that follows.
    Wrapper header() {
        if (accept_word("let")) {
            const std::string n = name();
            expect("=");
            Expr value = expr();
            return [=](Stmt body) { return LetStmt::make(n, value, std::move(body)); };
        }
        if (accept_word("allocate")) {
            const std::string n = name();
            open("[");
            const Type t = type();
            std::vector<Expr> extents;
            while (accept(",")) {
                extents.push_back(expr());
            }
            close("]");
            MemoryType memory_type = MemoryType::Auto;
            if (accept_word("in")) {
                memory_type = word_from(memory_types, "a memory type");
            }
            Expr condition = optional_condition(), new_expr;
            std::string free_function;
            int padding = 0;
            if (accept_word("new")) {
                new_expr = unary();
            }
            if (accept_word("free")) {
                free_function = name();
            }
            if (accept_word("padding")) {
                padding = (int)integer();
            }
            return [=](Stmt body) {
                return Allocate::make(n, t, memory_type, extents, condition, std::move(body), new_expr, free_function,
                                      padding);
            };
        }
        if (accept_word("prefetch")) {
            const std::string n = name();
            const Region bounds = region();
            const std::vector<Type> ts = types();
            PrefetchDirective directive;
            expect_word("directive");
            directive.name = name();
            expect_word("at");
            directive.at = name();
            expect_word("from");
            directive.from = name();
            if (accept_word("offset")) {
                directive.offset = unary();
            }
            expect_word("strategy");
            directive.strategy = word_from(prefetch_strategies, "a prefetch strategy");
            Expr condition = optional_condition();
            return [=](Stmt body) { return Prefetch::make(n, ts, bounds, directive, condition, std::move(body)); };
        }
        return nullptr;
    }

    Stmt if_stmt() {
        std::vector<std::pair<Expr, Stmt>> cases;
        Stmt else_case;
        do {
            Expr condition = expr();
            Stmt then_case = braced();
            cases.emplace_back(condition, then_case);
            if (!accept_word("else")) {
                break;
            }
            if (!accept_word("if")) {
                else_case = braced();
                break;
            }
        } while (true);
        for (size_t i = cases.size(); i > 0; i--) {
            else_case = IfThenElse::make(cases[i - 1].first, cases[i - 1].second, else_case);
        }
        return else_case;
    }

    Stmt for_stmt(ForType for_type) {
        const std::string n = name();
        expect_word("in");
        open("[");
        Expr min = expr();
        expect(",");
        Expr max = expr();
        close("]");
        DeviceAPI api = DeviceAPI::None;
        Partition partition = Partition::Auto;
        UnrollHint hint;
        if (accept_word("on")) {
            api = word_from(device_apis, "a device");
        }
        if (accept_word("partition")) {
            partition = word_from(partitions, "a partition policy");
        }
        if (accept_word("unroll_hint")) {
            hint = accept_word("full") ? UnrollHint::full() : UnrollHint::by((int)integer());
        }
        Stmt body = braced();
        return For::make(n, min, max, for_type, partition, api, body, hint);
    }

    Stmt item() {
        skip();
        if (looking_at("{")) {
            return braced();
        }
        if (!at_quoted_name()) {
            const std::string word = peek_word();
            const size_t after = pos + word.size();
            const bool is_access = after < source.size() && (source[after] == '[' || source[after] == '(');
            if (!is_access || is_statement_word(word)) {
                if (const ForType *for_type = find_word(for_types, word)) {
                    pos = after;
                    return for_stmt(*for_type);
                }
                if (accept_word("assert")) {
                    Expr condition = expr();
                    expect(",");
                    return AssertStmt::make(condition, expr());
                }
                if (accept_word("evaluate")) {
                    return Evaluate::make(expr());
                }
                if (accept_word("free")) {
                    return Free::make(name());
                }
                if (accept_word("if")) {
                    return if_stmt();
                }
                if (accept_word("produce")) {
                    const std::string n = name();
                    return ProducerConsumer::make_produce(n, braced());
                }
                if (accept_word("consume")) {
                    const std::string n = name();
                    return ProducerConsumer::make_consume(n, braced());
                }
                if (accept_word("realize")) {
                    const std::string n = name();
                    const Region bounds = region();
                    const std::vector<Type> ts = types();
                    MemoryType memory_type = MemoryType::Auto;
                    if (accept_word("in")) {
                        memory_type = word_from(memory_types, "a memory type");
                    }
                    Expr condition = optional_condition();
                    return Realize::make(n, ts, memory_type, bounds, condition, braced());
                }
                if (accept_word("acquire")) {
                    Expr semaphore = expr();
                    expect(",");
                    Expr count = expr();
                    return Acquire::make(semaphore, count, braced());
                }
                if (accept_word("fork")) {
                    Stmt first = braced();
                    return Fork::make(first, braced());
                }
                if (accept_word("atomic")) {
                    const std::string producer = name();
                    expect(",");
                    const std::string mutex = name();
                    return Atomic::make(producer, mutex, braced());
                }
                if (accept_word("streaming_store")) {
                    const std::string n = name();
                    return StreamingStore::make(n, braced());
                }
                if (accept_word("streaming_loads")) {
                    std::optional<std::vector<std::string>> names;
                    if (!accept("*")) {
                        names.emplace();
                        while (!(skip(), looking_at("{"))) {
                            names->push_back(name());
                            accept(",");
                        }
                    }
                    return StreamingLoads::make(names, braced());
                }
                if (accept_word("hoisted_storage")) {
                    const std::string n = name();
                    return HoistedStorage::make(n, braced());
                }
            }
        }
        const std::string n = name();
        if (accept("[")) {
            depth++;
            Expr index = expr();
            close("]");
            Attributes a = access_attributes();
            expect("=");
            Expr value = expr();
            if (value.type().lanes() != index.type().lanes()) {
                fail("the value of the store and its index differ in lanes");
            }
            return Store::make(n, value, index, Parameter(),
                               a.predicate.defined() ? a.predicate : const_true(index.type().lanes()), a.alignment,
                               a.is_streaming);
        }
        std::vector<Expr> args = arguments();
        Expr predicate = accept_word("when") ? unary() : const_true();
        expect("=");
        if (accept("{")) {
            depth++;
            std::vector<Expr> values = list_until("}");
            close("}");
            return Provide::make(n, values, args, predicate);
        }
        return Provide::make(n, {expr()}, args, predicate);
    }

    // Statements up to a closing brace or the end.
    Stmt sequence() {
        ScopedValue<int> outer_depth(depth, 0);
        struct Level {
            std::vector<Stmt> items;
            Wrapper wrapper;
        };
        std::vector<Level> levels(1);
        while (true) {
            skip_space(true);
            while (looking_at(";")) {
                pos++;
                skip_space(true);
            }
            if (pos >= source.size() || looking_at("}")) {
                break;
            }
            if (Wrapper wrapper = header()) {
                levels.back().wrapper = std::move(wrapper);
                levels.emplace_back();
            } else {
                levels.back().items.push_back(item());
            }
            skip();
            if (pos < source.size() && !looking_at("\n") && !looking_at(";") && !looking_at("}")) {
                fail("expected the end of the statement");
            }
        }
        Stmt result;
        for (size_t i = levels.size(); i > 0; i--) {
            Level &level = levels[i - 1];
            if (level.wrapper) {
                result = level.wrapper(std::move(result));
            }
            if (result.defined()) {
                level.items.push_back(std::move(result));
            }
            if (level.items.empty()) {
                fail("expected a statement");
            }
            result = Block::make(level.items);
        }
        return result;
    }

public:
    using TextScanner::TextScanner;

    Expr read_expr() {
        depth = 1;
        Expr e = expr();
        skip();
        if (pos < source.size()) {
            fail("expected the end of the expression");
        }
        return e;
    }

    Stmt read_stmt() {
        Stmt s = sequence();
        if (pos < source.size()) {
            fail("expected the end of the text");
        }
        return s;
    }
};

}  // namespace

Expr parse_expr(const std::string &text) {
    return Reader(text).read_expr();
}

Stmt parse_stmt(const std::string &text) {
    return Reader(text).read_stmt();
}

}  // namespace Internal
}  // namespace Halide

#include "ir/IRText.h"

#include "ir/IRConstants.h"
#include "ir/IRPrinter.h"
#include "support/Util.h"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

// The grammar. Spaces separate words; a statement ends at the end of its line (unless brackets are open), at `;` or at
// `}`. `//` starts a comment.
//
//   type       i8 u16 f32 bf16 bool handle none, lanes as in f32x8; a handle with a C++ type: handle<struct name *>
//   name       letters, digits, `_`, `.`, `$`; anything else, and words of the grammar, in backticks
//   constants  3   -3   3_u8   5_i64   2.5_f32   inf_f64   nan_f16   nan_f64(0x7ff8000000000001)   true   "text"
//   variable   x   x:u8                     what has no type is i32
//   load       A[i]:f32   A[i]:f32x8 aligned(8, 0) streaming when p
//   operators  || && == != < <= > >= ++ + - * / % !        `u ++ v` concatenates
//   forms      min(a, b)  max(a, b)  select(c, t, f)  r(base, stride, lanes)  x⟨lanes⟩  v.lanes(begin, stride, count)
//              reduce(op, v, lanes)  interleave(u, v)  shuffle(u, v; 0, 2, 1)  f32x8(x)  reinterpret<i32>(x)
//              (let x = v in e)
//   calls      f(x, y):f32   f(x)#1:u8      of Funcs; of pure intrinsics, by their names; and, after a keyword:
//              func image extern extern_cpp pure_extern intrinsic pure_intrinsic
//
//   let x = v                                         holds to the end of the braces around it, as do:
//   allocate A[f32, extent, …] in Heap if c new e free name padding n
//   prefetch f[min, extent]… : f32, u8 at loop from loop offset e strategy Clamp if c
//   A[i] aligned(8, 0) streaming when p = v           f(x, y) when p = v           f(x) = {a, b}
//   for x in [min, max] on CUDA partition Never unroll_hint 4 { }
//   assert c, message     evaluate e     free A     if c { } else { }     produce f { }     consume f { }
//   realize f[min, extent]… : f32, u8 in Heap if c { }     acquire semaphore, count { }     fork { } { }
//   atomic f, mutex { }     streaming_store f { }     streaming_loads f, g { }     streaming_loads * { }
//   hoisted_storage f { }     { }

namespace Halide {
namespace Internal {

namespace {

const std::pair<const char *, ForType> for_types[] = {
    {"for", ForType::Serial},
    {"parallel", ForType::Parallel},
    {"vectorized", ForType::Vectorized},
    {"unrolled", ForType::Unrolled},
    {"extern_loop", ForType::Extern},
    {"gpu_block", ForType::GPUBlock},
    {"gpu_thread", ForType::GPUThread},
    {"gpu_lane", ForType::GPULane},
    {"swar", ForType::VectorizedSWAR},
};

const std::pair<const char *, DeviceAPI> device_apis[] = {
    {"None", DeviceAPI::None},
    {"Host", DeviceAPI::Host},
    {"Default_GPU", DeviceAPI::Default_GPU},
    {"CUDA", DeviceAPI::CUDA},
    {"OpenCL", DeviceAPI::OpenCL},
    {"Metal", DeviceAPI::Metal},
    {"Hexagon", DeviceAPI::Hexagon},
    {"HexagonDma", DeviceAPI::HexagonDma},
    {"D3D12Compute", DeviceAPI::D3D12Compute},
    {"Vulkan", DeviceAPI::Vulkan},
    {"WebGPU", DeviceAPI::WebGPU},
    {"SMEStreaming", DeviceAPI::SMEStreaming},
    {"PTO", DeviceAPI::PTO},
};

const std::pair<const char *, MemoryType> memory_types[] = {
    {"Auto", MemoryType::Auto},
    {"Heap", MemoryType::Heap},
    {"Stack", MemoryType::Stack},
    {"Register", MemoryType::Register},
    {"GPUShared", MemoryType::GPUShared},
    {"GPUTexture", MemoryType::GPUTexture},
    {"LockedCache", MemoryType::LockedCache},
    {"VTCM", MemoryType::VTCM},
    {"AMXTile", MemoryType::AMXTile},
    {"GPUSharedAsync", MemoryType::GPUSharedAsync},
    {"GPR", MemoryType::GPR},
    {"UB", MemoryType::UB},
};

const std::pair<const char *, Partition> partitions[] = {
    {"Auto", Partition::Auto},
    {"Never", Partition::Never},
    {"Always", Partition::Always},
};

const std::pair<const char *, PrefetchBoundStrategy> prefetch_strategies[] = {
    {"Clamp", PrefetchBoundStrategy::Clamp},
    {"GuardWithIf", PrefetchBoundStrategy::GuardWithIf},
    {"NonFaulting", PrefetchBoundStrategy::NonFaulting},
};

const std::pair<const char *, VectorReduce::Operator> reduce_ops[] = {
    {"sat+", VectorReduce::SaturatingAdd},
    {"+", VectorReduce::Add},
    {"*", VectorReduce::Mul},
    {"min", VectorReduce::Min},
    {"max", VectorReduce::Max},
    {"and", VectorReduce::And},
    {"or", VectorReduce::Or},
};

const std::pair<const char *, Call::CallType> call_types[] = {
    {"func", Call::Halide},
    {"image", Call::Image},
    {"extern", Call::Extern},
    {"extern_cpp", Call::ExternCPlusPlus},
    {"pure_extern", Call::PureExtern},
    {"intrinsic", Call::Intrinsic},
    {"pure_intrinsic", Call::PureIntrinsic},
};

template<typename E, size_t N>
const char *word_of(const std::pair<const char *, E> (&table)[N], E value) {
    for (const auto &[word, v] : table) {
        if (v == value) {
            return word;
        }
    }
    internal_error << "no word for " << (int)value << "\n";
}

template<typename E, size_t N>
const E *find_word(const std::pair<const char *, E> (&table)[N], const std::string &word) {
    for (const auto &row : table) {
        if (word == row.first) {
            return &row.second;
        }
    }
    return nullptr;
}

const char *const end_of_broadcast = "\xe2\x9f\xa9";    // ⟩
const char *const start_of_broadcast = "\xe2\x9f\xa8";  // ⟨

bool is_name_start(char c) {
    return isalpha((unsigned char)c) || c == '_';
}
bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

bool is_intrinsic_name(const std::string &name) {
    static const std::set<std::string> &names = *[] {
        auto *all = new std::set<std::string>;
        for (int i = 0; i < (int)Call::IntrinsicOpCount; i++) {
            all->insert(Call::get_intrinsic_name((Call::IntrinsicOp)i));
        }
        return all;
    }();
    return names.count(name) != 0;
}

// Reads a type from the front of a text.
// Returns how many characters it took; 0 if there is no type.
size_t scan_type(const char *text, Type *type);

bool is_type_name(const std::string &name) {
    Type t;
    return scan_type(name.c_str(), &t) == name.size();
}

// Words that start an expression and cannot be the name of a variable.
bool is_reserved_name(const std::string &name) {
    static const std::set<std::string> words = {"true", "false", "let"};
    auto is_special_float = [&](const char *prefix) {
        return starts_with(name, prefix) && is_type_name(name.substr(4));
    };
    return words.count(name) || find_word(call_types, name) || is_special_float("inf_") || is_special_float("nan_");
}

// Words that mean something before a bracket.
bool is_reserved_call(const std::string &name) {
    static const std::set<std::string> words = {"min",     "max",        "select", "r",           "ramp",
                                                "broadcast", "reduce", "shuffle", "interleave", "reinterpret"};
    return words.count(name) || is_type_name(name) || is_intrinsic_name(name) || is_reserved_name(name);
}

// Words that start a statement.
bool is_statement_word(const std::string &name) {
    static const std::set<std::string> words = {"let",     "allocate",        "prefetch",        "assert",
                                                "free",    "evaluate",        "if",              "produce",
                                                "consume", "realize",         "acquire",         "fork",
                                                "atomic",  "streaming_store", "streaming_loads", "hoisted_storage"};
    return words.count(name) || find_word(for_types, name);
}

// ---------------------------------------------------------------------------------------------------------------------
// Handle types.

const std::pair<const char *, halide_cplusplus_type_name::CPPTypeType> cpp_kinds[] = {
    {"struct", halide_cplusplus_type_name::Struct},
    {"class", halide_cplusplus_type_name::Class},
    {"union", halide_cplusplus_type_name::Union},
    {"enum", halide_cplusplus_type_name::Enum},
};
const std::pair<const char *, halide_handle_cplusplus_type::Modifier> cpp_modifiers[] = {
    {"const", halide_handle_cplusplus_type::Const},
    {"volatile", halide_handle_cplusplus_type::Volatile},
    {"restrict", halide_handle_cplusplus_type::Restrict},
    {"function", halide_handle_cplusplus_type::FunctionTypedef},
    {"*", halide_handle_cplusplus_type::Pointer},
};

// namespace ns  enclosing struct outer  struct name  | const *  | *  &
std::string handle_description(const halide_handle_cplusplus_type &info) {
    std::ostringstream text;
    auto put_name = [&](const halide_cplusplus_type_name &n) {
        for (const auto &[word, kind] : cpp_kinds) {
            if (kind == n.cpp_type_type) {
                text << word << " ";
            }
        }
        text << n.name;
    };
    for (const std::string &ns : info.namespaces) {
        text << "namespace " << ns << " ";
    }
    for (const halide_cplusplus_type_name &outer : info.enclosing_types) {
        text << "enclosing ";
        put_name(outer);
        text << " ";
    }
    put_name(info.inner_name);
    for (uint8_t modifiers : info.cpp_type_modifiers) {
        text << " |";
        for (const auto &[word, bit] : cpp_modifiers) {
            if (modifiers & bit) {
                text << " " << word;
            }
        }
    }
    if (info.reference_type == halide_handle_cplusplus_type::LValueReference) {
        text << " &";
    } else if (info.reference_type == halide_handle_cplusplus_type::RValueReference) {
        text << " &&";
    }
    return text.str();
}

// The same object for the same text: types keep pointers to these for ever.
const halide_handle_cplusplus_type *parse_handle_description(const std::string &text) {
    static std::mutex mutex;
    static auto &known = *new std::map<std::string, std::unique_ptr<halide_handle_cplusplus_type>>;
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<halide_handle_cplusplus_type> &entry = known[text];
    if (entry) {
        return entry.get();
    }
    std::istringstream words(text);
    halide_handle_cplusplus_type info{halide_cplusplus_type_name()};
    std::string word;
    auto read_name = [&] {
        halide_cplusplus_type_name n;
        if (const auto *kind = find_word(cpp_kinds, word)) {
            n.cpp_type_type = *kind;
            words >> word;
        }
        n.name = word;
        return n;
    };
    while (words >> word) {
        if (word == "namespace") {
            words >> word;
            info.namespaces.push_back(word);
        } else if (word == "enclosing") {
            words >> word;
            info.enclosing_types.push_back(read_name());
        } else if (word == "|") {
            info.cpp_type_modifiers.push_back(0);
        } else if (word == "&") {
            info.reference_type = halide_handle_cplusplus_type::LValueReference;
        } else if (word == "&&") {
            info.reference_type = halide_handle_cplusplus_type::RValueReference;
        } else if (const auto *bit = find_word(cpp_modifiers, word); bit && !info.cpp_type_modifiers.empty()) {
            info.cpp_type_modifiers.back() |= *bit;
        } else {
            info.inner_name = read_name();
        }
    }
    entry = std::make_unique<halide_handle_cplusplus_type>(info);
    return entry.get();
}

std::string type_text(const Type &t) {
    std::ostringstream text;
    if (t == Type()) {
        return "none";
    }
    switch (t.code()) {
    case halide_type_int:
        text << "i" << t.bits();
        break;
    case halide_type_uint:
        if (t.bits() == 1) {
            text << "bool";
        } else {
            text << "u" << t.bits();
        }
        break;
    case halide_type_float:
        text << "f" << t.bits();
        break;
    case halide_type_bfloat:
        text << "bf" << t.bits();
        break;
    default:
        text << "handle";
        if (t.bits() != 64) {
            text << t.bits();
        }
        if (t.handle_type()) {
            text << "<" << handle_description(*t.handle_type()) << ">";
        }
        break;
    }
    if (t.lanes() != 1) {
        text << "x" << t.lanes();
    }
    return text.str();
}

size_t scan_type(const char *text, Type *type) {
    static const std::pair<const char *, halide_type_code_t> kinds[] = {
        {"bool", halide_type_uint}, {"handle", halide_type_handle}, {"bf", halide_type_bfloat},
        {"i", halide_type_int},     {"u", halide_type_uint},        {"f", halide_type_float},
    };
    const char *p = text;
    auto ends_here = [&] { return !isalnum((unsigned char)*p) && *p != '_' && *p != '$'; };
    if (strncmp(p, "none", 4) == 0) {
        p += 4;
        *type = Type();
        return ends_here() ? 4 : 0;
    }
    for (const auto &[word, code] : kinds) {
        if (strncmp(p, word, strlen(word)) != 0) {
            continue;
        }
        p += strlen(word);
        int bits = strcmp(word, "bool") == 0 ? 1 : strcmp(word, "handle") == 0 ? 64 : 0;
        if (isdigit((unsigned char)*p) && bits != 1) {
            char *end;
            bits = (int)strtol(p, &end, 10);
            p = end;
        }
        if (bits <= 0 || bits > 255) {
            return 0;
        }
        const halide_handle_cplusplus_type *info = nullptr;
        if (code == halide_type_handle && *p == '<') {
            const char *close = strchr(p, '>');
            if (!close) {
                return 0;
            }
            info = parse_handle_description(std::string(p + 1, close));
            p = close + 1;
        }
        int lanes = 1;
        if (*p == 'x' && isdigit((unsigned char)p[1])) {
            char *end;
            lanes = (int)strtol(p + 1, &end, 10);
            p = end;
        }
        if (!ends_here() || lanes > 65535) {
            return 0;
        }
        *type = Type(code, bits, lanes, info);
        return (size_t)(p - text);
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------------------------------
// Writing.

class Writer : public IRVisitor {
    std::ostringstream out;
    int indent = 0;
    // The expression at hand stands where an operator needs no parentheses.
    bool bare = false;

    static std::string quoted(const std::string &name) {
        std::string text = "`";
        for (char c : name) {
            if (c == '`' || c == '\\') {
                text += '\\';
            }
            text += c;
        }
        return text + "`";
    }

    static bool is_plain(const std::string &name) {
        if (name.empty() || !is_name_start(name[0])) {
            return false;
        }
        for (char c : name) {
            if (!is_name_char(c)) {
                return false;
            }
        }
        return true;
    }

    // Where any name may stand.
    static std::string any_name(const std::string &name) {
        return is_plain(name) ? name : quoted(name);
    }
    // Where an expression may stand.
    static std::string variable_name(const std::string &name) {
        return is_plain(name) && !is_reserved_name(name) ? name : quoted(name);
    }
    // Where a statement may stand.
    static std::string target_name(const std::string &name) {
        return is_plain(name) && !is_statement_word(name) ? name : quoted(name);
    }

    static std::string ascription(const Type &t) {
        return t == Int(32) ? "" : ":" + type_text(t);
    }

    void put(const Expr &e) {
        ScopedValue<bool> b(bare, false);
        e.accept(this);
    }
    void put_bare(const Expr &e) {
        ScopedValue<bool> b(bare, true);
        e.accept(this);
    }
    void put_list(const std::vector<Expr> &exprs) {
        const char *separator = "";
        for (const Expr &e : exprs) {
            out << separator;
            put_bare(e);
            separator = ", ";
        }
    }
    // In parentheses, so that something can be put behind it.
    void put_enclosed(const Expr &e) {
        out << "(";
        put_bare(e);
        out << ")";
    }
    void put_call(const char *name, const std::vector<Expr> &args) {
        out << name << "(";
        put_list(args);
        out << ")";
    }

    void binary(const Expr &a, const char *op, const Expr &b) {
        const bool parens = !bare;
        out << (parens ? "(" : "");
        put(a);
        out << " " << op << " ";
        put(b);
        out << (parens ? ")" : "");
    }

    void number(double x, const Type &t) {
        const std::string suffix = "_" + type_text(t);
        if (std::isnan(x)) {
            uint64_t bits, plain;
            const double plain_nan = FloatImm::make(t, std::nan(""))->value;
            memcpy(&bits, &x, 8);
            memcpy(&plain, &plain_nan, 8);
            out << "nan" << suffix;
            if (bits != plain) {
                out << "(0x" << std::hex << bits << std::dec << ")";
            }
            return;
        }
        if (std::isinf(x)) {
            out << (x < 0 ? "-inf" : "inf") << suffix;
            return;
        }
        char text[64];
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, sizeof(text), "%.*g", digits, x);
            if (strtod(text, nullptr) == x) {
                break;
            }
        }
        out << text << suffix;
    }

    void visit(const IntImm *op) override {
        out << op->value;
        if (op->type.bits() != 32) {
            out << "_" << type_text(op->type);
        }
    }
    void visit(const UIntImm *op) override {
        if (op->type.is_bool()) {
            out << (op->value ? "true" : "false");
        } else {
            out << op->value << "_" << type_text(op->type);
        }
    }
    void visit(const FloatImm *op) override {
        number(op->value, op->type);
    }
    void visit(const StringImm *op) override {
        IRPrinter(out).print(Expr(op));
    }
    void visit(const Broadcast *op) override {
        // Text before the bracket must not end in a type, which could be taken for `x8` of it.
        const bool simple = op->value.as<IntImm>() || op->value.as<UIntImm>() || op->value.as<FloatImm>() ||
                            op->value.as<Broadcast>() || op->value.as<Ramp>() ||
                            (op->value.as<Variable>() && op->value.type() == Int(32));
        if (simple) {
            put(op->value);
        } else {
            put_enclosed(op->value);
        }
        out << start_of_broadcast << op->lanes << end_of_broadcast;
    }
    void visit(const Cast *op) override {
        put_call(type_text(op->type).c_str(), {op->value});
    }
    void visit(const Reinterpret *op) override {
        put_call(("reinterpret<" + type_text(op->type) + ">").c_str(), {op->value});
    }
    void visit(const Variable *op) override {
        out << variable_name(op->name) << ascription(op->type);
    }
    void visit(const Add *op) override {
        binary(op->a, "+", op->b);
    }
    void visit(const Sub *op) override {
        binary(op->a, "-", op->b);
    }
    void visit(const Mod *op) override {
        binary(op->a, "%", op->b);
    }
    void visit(const Mul *op) override {
        binary(op->a, "*", op->b);
    }
    void visit(const Div *op) override {
        binary(op->a, "/", op->b);
    }
    void visit(const EQ *op) override {
        binary(op->a, "==", op->b);
    }
    void visit(const NE *op) override {
        binary(op->a, "!=", op->b);
    }
    void visit(const LT *op) override {
        binary(op->a, "<", op->b);
    }
    void visit(const LE *op) override {
        binary(op->a, "<=", op->b);
    }
    void visit(const GT *op) override {
        binary(op->a, ">", op->b);
    }
    void visit(const GE *op) override {
        binary(op->a, ">=", op->b);
    }
    void visit(const And *op) override {
        binary(op->a, "&&", op->b);
    }
    void visit(const Or *op) override {
        binary(op->a, "||", op->b);
    }
    void visit(const Min *op) override {
        put_call("min", {op->a, op->b});
    }
    void visit(const Max *op) override {
        put_call("max", {op->a, op->b});
    }
    void visit(const Not *op) override {
        out << "!";
        put(op->a);
    }
    void visit(const Select *op) override {
        put_call("select", {op->condition, op->true_value, op->false_value});
    }

    void access_attributes(const ModulusRemainder &alignment, bool is_streaming, const Expr &predicate) {
        if (alignment != ModulusRemainder()) {
            out << " aligned(" << alignment.modulus << ", " << alignment.remainder << ")";
        }
        if (is_streaming) {
            out << " streaming";
        }
        if (!is_plain_true(predicate)) {
            out << " when ";
            put(predicate);
        }
    }
    // What a missing predicate stands for.
    static bool is_plain_true(const Expr &p) {
        const Broadcast *b = p.as<Broadcast>();
        const UIntImm *c = (b ? b->value : p).as<UIntImm>();
        return c && c->value == 1;
    }

    void visit(const Load *op) override {
        out << variable_name(op->name) << "[";
        put_bare(op->index);
        out << "]" << ascription(op->type);
        access_attributes(op->alignment, op->is_streaming, op->predicate);
    }
    void visit(const Ramp *op) override {
        out << "r(";
        put_list({op->base, op->stride});
        out << ", " << op->lanes << ")";
    }
    void visit(const Call *op) override {
        const bool named_by_itself = op->call_type == Call::Halide        ? !is_reserved_call(op->name) :
                                     op->call_type == Call::PureIntrinsic ? is_intrinsic_name(op->name) :
                                                                            false;
        if (!named_by_itself) {
            out << word_of(call_types, op->call_type) << " ";
        }
        put_call(any_name(op->name).c_str(), op->args);
        if (op->value_index) {
            out << "#" << op->value_index;
        }
        out << ascription(op->type);
    }
    void visit(const Let *op) override {
        out << "(";
        while (true) {
            out << "let " << any_name(op->name) << " = ";
            put_bare(op->value);
            out << " in ";
            const Let *next = op->body.as<Let>();
            if (!next) {
                break;
            }
            op = next;
        }
        put_bare(op->body);
        out << ")";
    }
    void visit(const Shuffle *op) override {
        if (op->is_concat()) {
            const bool parens = !bare;
            out << (parens ? "(" : "");
            const char *separator = "";
            for (const Expr &v : op->vectors) {
                out << separator;
                put(v);
                separator = " ++ ";
            }
            out << (parens ? ")" : "");
        } else if (op->is_interleave()) {
            put_call("interleave", op->vectors);
        } else if (op->vectors.size() == 1 && (op->is_slice() || op->is_extract_element())) {
            put_enclosed(op->vectors[0]);
            out << ".lanes(" << op->slice_begin() << ", " << op->slice_stride() << ", " << op->indices.size() << ")";
        } else {
            out << "shuffle(";
            put_list(op->vectors);
            out << "; " << join_strings(op->indices, ", ") << ")";
        }
    }
    void visit(const VectorReduce *op) override {
        out << "reduce(" << word_of(reduce_ops, op->op) << ", ";
        put_bare(op->value);
        out << ", " << op->type.lanes() << ")";
    }

    void line(const std::string &text = "") {
        for (int i = 0; i < indent; i++) {
            out << "  ";
        }
        out << text;
    }
    void braced(const Stmt &s) {
        out << "{\n";
        indent++;
        sequence(s);
        indent--;
        line("}");
    }
    void condition(const Expr &c) {
        if (!is_plain_true(c)) {
            out << " if ";
            put(c);
        }
    }
    void region(const Region &bounds) {
        for (const Range &r : bounds) {
            out << "[";
            put_list({r.min, r.extent});
            out << "]";
        }
    }
    void types(const std::vector<Type> &ts) {
        const char *separator = " : ";
        for (const Type &t : ts) {
            out << separator << type_text(t);
            separator = ", ";
        }
    }

    // A statement that is followed by nothing before the closing brace.
    void sequence(Stmt s) {
        while (true) {
            if (const Block *block = s.as<Block>()) {
                item(block->first);
                s = Stmt(block->rest);
            } else if (const LetStmt *let = s.as<LetStmt>()) {
                line("let ");
                out << any_name(let->name) << " = ";
                put_bare(let->value);
                out << "\n";
                s = Stmt(let->body);
            } else if (const Allocate *a = s.as<Allocate>()) {
                line("allocate ");
                out << any_name(a->name) << "[" << type_text(a->type);
                for (const Expr &e : a->extents) {
                    out << ", ";
                    put_bare(e);
                }
                out << "] in " << word_of(memory_types, a->memory_type);
                condition(a->condition);
                if (a->new_expr.defined()) {
                    out << " new ";
                    put(a->new_expr);
                }
                if (!a->free_function.empty()) {
                    out << " free " << any_name(a->free_function);
                }
                if (a->padding) {
                    out << " padding " << a->padding;
                }
                out << "\n";
                s = Stmt(a->body);
            } else if (const Prefetch *p = s.as<Prefetch>()) {
                line("prefetch ");
                out << any_name(p->name);
                region(p->bounds);
                types(p->types);
                out << " directive " << quoted(p->prefetch.name) << " at " << quoted(p->prefetch.at) << " from "
                    << quoted(p->prefetch.from);
                if (p->prefetch.offset.defined()) {
                    out << " offset ";
                    put(p->prefetch.offset);
                }
                out << " strategy " << word_of(prefetch_strategies, p->prefetch.strategy);
                condition(p->condition);
                out << "\n";
                s = Stmt(p->body);
            } else {
                item(s);
                return;
            }
        }
    }

    // A statement that may be followed by others.
    void item(const Stmt &s) {
        if (s.as<Block>() || s.as<LetStmt>() || s.as<Allocate>() || s.as<Prefetch>()) {
            line();
            braced(s);
            out << "\n";
        } else {
            s.accept(this);
        }
    }

    void visit(const LetStmt *op) override {
        sequence(op);
    }
    void visit(const Allocate *op) override {
        sequence(op);
    }
    void visit(const Prefetch *op) override {
        sequence(op);
    }
    void visit(const Block *op) override {
        sequence(op);
    }
    void visit(const AssertStmt *op) override {
        line("assert ");
        put_list({op->condition, op->message});
        out << "\n";
    }
    void visit(const ProducerConsumer *op) override {
        line(op->is_producer ? "produce " : "consume ");
        out << any_name(op->name) << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const For *op) override {
        line(word_of(for_types, op->for_type));
        out << " " << any_name(op->name) << " in [";
        put_list({op->min, op->max});
        out << "]";
        if (op->device_api != DeviceAPI::None) {
            out << " on " << word_of(device_apis, op->device_api);
        }
        if (op->partition_policy != Partition::Auto) {
            out << " partition " << word_of(partitions, op->partition_policy);
        }
        if (op->hint.kind == UnrollHint::Kind::Full) {
            out << " unroll_hint full";
        } else if (op->hint.kind == UnrollHint::Kind::Factor) {
            out << " unroll_hint " << op->hint.factor;
        }
        out << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const Acquire *op) override {
        line("acquire ");
        put_list({op->semaphore, op->count});
        out << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const Store *op) override {
        line(target_name(op->name));
        out << "[";
        put_bare(op->index);
        out << "]";
        access_attributes(op->alignment, op->is_streaming, op->predicate);
        out << " = ";
        put_bare(op->value);
        out << "\n";
    }
    void visit(const Provide *op) override {
        line(target_name(op->name));
        out << "(";
        put_list(op->args);
        out << ")";
        if (!is_plain_true(op->predicate) || op->predicate.type().is_vector()) {
            out << " when ";
            put(op->predicate);
        }
        out << " = ";
        if (op->values.size() == 1) {
            put_bare(op->values[0]);
        } else {
            out << "{";
            put_list(op->values);
            out << "}";
        }
        out << "\n";
    }
    void visit(const Free *op) override {
        line("free ");
        out << any_name(op->name) << "\n";
    }
    void visit(const Realize *op) override {
        line("realize ");
        out << any_name(op->name);
        region(op->bounds);
        types(op->types);
        out << " in " << word_of(memory_types, op->memory_type);
        condition(op->condition);
        out << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const Fork *op) override {
        line("fork ");
        braced(op->first);
        out << " ";
        braced(op->rest);
        out << "\n";
    }
    void visit(const IfThenElse *op) override {
        line("if ");
        while (true) {
            put_bare(op->condition);
            out << " ";
            braced(op->then_case);
            if (!op->else_case.defined()) {
                break;
            }
            out << " else ";
            const IfThenElse *next = op->else_case.as<IfThenElse>();
            if (!next) {
                braced(op->else_case);
                break;
            }
            out << "if ";
            op = next;
        }
        out << "\n";
    }
    void visit(const Evaluate *op) override {
        line("evaluate ");
        put_bare(op->value);
        out << "\n";
    }
    void visit(const Atomic *op) override {
        line("atomic ");
        out << any_name(op->producer_name) << ", " << any_name(op->mutex_name) << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const StreamingStore *op) override {
        line("streaming_store ");
        out << any_name(op->producer_name) << " ";
        braced(op->body);
        out << "\n";
    }
    void visit(const StreamingLoads *op) override {
        line("streaming_loads ");
        if (op->names) {
            for (const std::string &name : *op->names) {
                out << any_name(name) << ", ";
            }
        } else {
            out << "* ";
        }
        braced(op->body);
        out << "\n";
    }
    void visit(const HoistedStorage *op) override {
        line("hoisted_storage ");
        out << any_name(op->name) << " ";
        braced(op->body);
        out << "\n";
    }

public:
    std::string text(const Expr &e) {
        put_bare(e);
        return out.str();
    }
    std::string text(const Stmt &s) {
        sequence(s);
        return out.str();
    }
};

// ---------------------------------------------------------------------------------------------------------------------
// Reading.

class Reader {
    const std::string &source;
    size_t pos = 0;
    // Open parentheses and brackets: inside them lines may end.
    int depth = 0;

    [[noreturn]] void fail(const std::string &what) {
        int line = 1, column = 1;
        for (size_t i = 0; i < pos && i < source.size(); i++) {
            if (source[i] == '\n') {
                line++;
                column = 1;
            } else {
                column++;
            }
        }
        user_error << "IR text, line " << line << ", column " << column << ": " << what << "\n";
    }

    const char *here() const {
        return source.c_str() + pos;
    }
    bool looking_at(const char *text) const {
        return source.compare(pos, strlen(text), text) == 0;
    }

    void skip_space(bool newlines) {
        while (pos < source.size()) {
            const char c = source[pos];
            if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && newlines)) {
                pos++;
            } else if (looking_at("//")) {
                while (pos < source.size() && source[pos] != '\n') {
                    pos++;
                }
            } else {
                break;
            }
        }
    }
    void skip() {
        skip_space(depth > 0);
    }

    bool accept(const char *text) {
        skip();
        if (!looking_at(text)) {
            return false;
        }
        pos += strlen(text);
        return true;
    }
    void expect(const char *text) {
        if (!accept(text)) {
            fail(std::string("expected `") + text + "`");
        }
    }
    void open(const char *text) {
        expect(text);
        depth++;
    }
    void close(const char *text) {
        expect(text);
        depth--;
    }

    // The word at this place, without taking it; empty if there is none.
    std::string peek_word() {
        skip();
        size_t end = pos;
        if (end < source.size() && is_name_start(source[end])) {
            while (end < source.size() && is_name_char(source[end])) {
                end++;
            }
        }
        return source.substr(pos, end - pos);
    }
    bool accept_word(const char *word) {
        if (peek_word() != word) {
            return false;
        }
        pos += strlen(word);
        return true;
    }
    void expect_word(const char *word) {
        if (!accept_word(word)) {
            fail(std::string("expected `") + word + "`");
        }
    }

    bool at_quoted_name() {
        skip();
        return looking_at("`");
    }
    std::string name() {
        skip();
        if (looking_at("`")) {
            std::string text;
            for (pos++; pos < source.size() && source[pos] != '`'; pos++) {
                if (source[pos] == '\\') {
                    pos++;
                }
                text += source[pos];
            }
            if (pos >= source.size()) {
                fail("the name has no closing backtick");
            }
            pos++;
            return text;
        }
        const std::string word = peek_word();
        if (word.empty()) {
            fail("expected a name");
        }
        pos += word.size();
        return word;
    }

    int64_t integer() {
        skip();
        char *end;
        const int64_t value = strtoll(here(), &end, 10);
        if (end == here()) {
            fail("expected an integer");
        }
        pos += end - here();
        return value;
    }

    Type type() {
        skip();
        Type t;
        const size_t length = scan_type(here(), &t);
        if (!length) {
            fail("expected a type");
        }
        pos += length;
        return t;
    }
    // `:type`, or i32.
    Type ascription() {
        skip();
        // Not the `::` of nothing, and not the ` : ` before a list of types.
        if (looking_at(":") && pos + 1 < source.size() && isalpha((unsigned char)source[pos + 1])) {
            pos++;
            return type();
        }
        return Int(32);
    }

    template<typename E, size_t N>
    E word_from(const std::pair<const char *, E> (&table)[N], const char *what) {
        const std::string word = peek_word();
        const E *value = find_word(table, word);
        if (!value) {
            fail(std::string("expected ") + what);
        }
        pos += word.size();
        return *value;
    }

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
            return call(n, is_intrinsic_name(n) ? Call::PureIntrinsic : Call::Halide);
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
    explicit Reader(const std::string &source)
        : source(source) {
    }

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

std::string to_text(const Expr &e) {
    internal_assert(e.defined()) << "to_text of an undefined Expr\n";
    return Writer().text(e);
}

std::string to_text(const Stmt &s) {
    internal_assert(s.defined()) << "to_text of an undefined Stmt\n";
    return Writer().text(s);
}

Expr parse_expr(const std::string &text) {
    return Reader(text).read_expr();
}

Stmt parse_stmt(const std::string &text) {
    return Reader(text).read_stmt();
}

}  // namespace Internal
}  // namespace Halide

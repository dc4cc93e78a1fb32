// Configuration of trace visualizers, carried in the tags of traced Funcs: plain data with a text form.
#ifndef HALIDE_TRACE_CONFIG_H
#define HALIDE_TRACE_CONFIG_H

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "HalideRuntime.h"

namespace Halide {
namespace Trace {

/// A position or size in pixels.
struct Point {
    int x = 0, y = 0;

    Point() = default;
    Point(int x, int y) : x(x), y(y) {}
    bool operator==(const Point &other) const { return x == other.x && y == other.y; }
    friend std::ostream &operator<<(std::ostream &os, const Point &pt) { return os << pt.x << " " << pt.y; }
    friend std::istream &operator>>(std::istream &is, Point &pt) { return is >> pt.x >> pt.y; }
};

/// Text next to a Func, faded in over some frames.
struct Label {
    std::string text;
    Point pos;
    int fade_in_frames = 0;

    Label() = default;
    explicit Label(const std::string &text, const Point &pos = {0, 0}, int fade_in_frames = 0)
        : text(text), pos(pos), fade_in_frames(fade_in_frames) {}
    friend std::ostream &operator<<(std::ostream &os, const Label &label) {
        // The text may hold spaces, so its length goes first.
        return os << label.text.size() << " " << label.text << " " << label.pos << " " << label.fade_in_frames;
    }
    friend std::istream &operator>>(std::istream &is, Label &label) {
        size_t n = 0;
        if (is >> n && n <= 1 << 16) {
            is.get();
            label.text.resize(n);
            is.read(&label.text[0], (std::streamsize)n);
        }
        return is >> label.pos >> label.fade_in_frames;
    }
};

/// The coordinates min … min + extent - 1.
struct Range {
    int min = 0, extent = 0;

    Range() = default;
    Range(int min, int extent) : min(min), extent(extent) {}
    friend std::ostream &operator<<(std::ostream &os, const Range &r) { return os << r.min << " " << r.extent; }
    friend std::istream &operator>>(std::istream &is, Range &r) { return is >> r.min >> r.extent; }
};

namespace Internal {

template <typename T>
void write_list(std::ostream &os, const std::vector<T> &v) {
    os << v.size();
    for (const T &x : v) {
        os << " " << x;
    }
}

template <typename T>
void read_list(std::istream &is, std::vector<T> &v) {
    size_t n = 0;
    is >> n;
    v.clear();
    for (size_t i = 0; is && i < n; i++) {
        T x;
        is >> x;
        v.push_back(x);
    }
}

inline bool starts_with(const std::string &text, const std::string &start) {
    return text.compare(0, start.size(), start) == 0;
}

/// Text of a value that begins with what its kind of tag begins with.
template <typename Config>
std::string to_tag(const Config &c) {
    std::ostringstream os;
    os << Config::tag_start_text() << " " << c;
    return os.str();
}

/// The reverse; the value stays as it was if the text is something else or broken.
template <typename Config>
bool from_tag(const std::string &tag, Config *c) {
    if (!starts_with(tag, Config::tag_start_text())) {
        return false;
    }
    std::istringstream is(tag.substr(Config::tag_start_text().size()));
    Config read;
    if (!(is >> read)) {
        return false;
    }
    *c = read;
    return true;
}

}  // namespace Internal

/// How to draw one Func.
struct FuncConfig {
    /// Side of the square drawn for an element.
    float zoom = 1.f;
    /// Timesteps that a load and a store take.
    int load_cost = 0;
    int store_cost = 1;
    /// Upper left corner.
    Point pos;
    /// Pixels per step in each dimension.
    std::vector<Point> strides = {{1, 0}, {0, 1}};
    /// Dimension that holds colours, negative if there is none.
    int color_dim = -1;
    /// Values drawn as black and white.
    double min = 0.0, max = 1.0;
    std::vector<Label> labels;
    bool blank_on_end_realization = false;
    uint32_t uninitialized_memory_color = 0xff000000;

    static const std::string &tag_start_text() {
        static const std::string text("htv_func_config:");
        return text;
    }
    static bool match(const std::string &trace_tag) { return Internal::starts_with(trace_tag, tag_start_text()); }

    FuncConfig() = default;
    explicit FuncConfig(const std::string &trace_tag) { (void)Internal::from_tag(trace_tag, this); }
    std::string to_trace_tag() const { return Internal::to_tag(*this); }

    void dump(std::ostream &os, const std::string &name) const {
        os << "Func " << name << ":\n"
           << " zoom: " << zoom << "\n load cost: " << load_cost << "\n store cost: " << store_cost << "\n pos: " << pos
           << "\n strides: ";
        Internal::write_list(os, strides);
        os << "\n color_dim: " << color_dim << "\n min: " << min << "\n max: " << max << "\n labels: ";
        Internal::write_list(os, labels);
        os << "\n blank: " << blank_on_end_realization << "\n uninit: " << uninitialized_memory_color << "\n";
    }

    friend std::ostream &operator<<(std::ostream &os, const FuncConfig &c) {
        os << c.zoom << " " << c.load_cost << " " << c.store_cost << " " << c.pos << " ";
        Internal::write_list(os, c.strides);
        os << " " << c.color_dim << " " << c.min << " " << c.max << " ";
        Internal::write_list(os, c.labels);
        return os << " " << c.blank_on_end_realization << " " << c.uninitialized_memory_color;
    }
    friend std::istream &operator>>(std::istream &is, FuncConfig &c) {
        is >> c.zoom >> c.load_cost >> c.store_cost >> c.pos;
        Internal::read_list(is, c.strides);
        is >> c.color_dim >> c.min >> c.max;
        Internal::read_list(is, c.labels);
        return is >> c.blank_on_end_realization >> c.uninitialized_memory_color;
    }
};

/// How to draw everything.
struct GlobalConfig {
    Point frame_size = {1920, 1080};
    /// Fading of what was accessed, while computing and afterwards.
    int decay_factor_during_compute = 1;
    int decay_factor_after_compute = 2;
    /// Frames held at the end.
    int hold_frames = 250;
    /// Events per frame.
    int timestep = 10000;
    bool auto_layout = false;
    Point auto_layout_grid = {-1, -1};
    Point auto_layout_pad = {32, 32};
    Point default_padding = {0, 0};

    static const std::string &tag_start_text() {
        static const std::string text("htv_global_config:");
        return text;
    }
    static bool match(const std::string &trace_tag) { return Internal::starts_with(trace_tag, tag_start_text()); }

    GlobalConfig() = default;
    explicit GlobalConfig(const std::string &trace_tag) { (void)Internal::from_tag(trace_tag, this); }
    std::string to_trace_tag() const { return Internal::to_tag(*this); }

    void dump(std::ostream &os) const {
        os << "Global config:\n"
           << " frame_size: " << frame_size << "\n decay during compute: " << decay_factor_during_compute
           << "\n decay after compute: " << decay_factor_after_compute << "\n hold_frames: " << hold_frames
           << "\n timestep: " << timestep << "\n auto_layout: " << auto_layout
           << "\n auto_layout_grid: " << auto_layout_grid << "\n auto_layout_pad: " << auto_layout_pad
           << "\n default_padding: " << default_padding << "\n";
    }

    friend std::ostream &operator<<(std::ostream &os, const GlobalConfig &c) {
        return os << c.frame_size << " " << c.decay_factor_during_compute << " " << c.decay_factor_after_compute << " "
                  << c.hold_frames << " " << c.timestep << " " << c.auto_layout << " " << c.auto_layout_grid << " "
                  << c.auto_layout_pad << " " << c.default_padding;
    }
    friend std::istream &operator>>(std::istream &is, GlobalConfig &c) {
        return is >> c.frame_size >> c.decay_factor_during_compute >> c.decay_factor_after_compute >> c.hold_frames >>
               c.timestep >> c.auto_layout >> c.auto_layout_grid >> c.auto_layout_pad >> c.default_padding;
    }
};

/// Types of a traced Func and the region of it that is realized; every traced Func has one such tag.
struct FuncTypeAndDim {
    std::vector<halide_type_t> types;
    std::vector<Range> dims;

    static const std::string &tag_start_text() {
        static const std::string text("func_type_and_dim:");
        return text;
    }
    static bool match(const std::string &trace_tag) { return Internal::starts_with(trace_tag, tag_start_text()); }

    FuncTypeAndDim() = default;
    explicit FuncTypeAndDim(const std::string &trace_tag) { (void)Internal::from_tag(trace_tag, this); }
    std::string to_trace_tag() const { return Internal::to_tag(*this); }

    void dump(std::ostream &os, const std::string &name) const {
        os << "Func " << name << ":\n types:";
        for (const halide_type_t &t : types) {
            os << " " << (int)t.code << "/" << (int)t.bits;
        }
        os << "\n dims: ";
        Internal::write_list(os, dims);
        os << "\n";
    }

    // The text: number of types, (code bits lanes) each, number of dimensions, (min extent) each.
    friend std::ostream &operator<<(std::ostream &os, const FuncTypeAndDim &c) {
        os << c.types.size();
        for (const halide_type_t &t : c.types) {
            os << " " << (int)t.code << " " << (int)t.bits << " 1";
        }
        os << " ";
        Internal::write_list(os, c.dims);
        return os;
    }
    friend std::istream &operator>>(std::istream &is, FuncTypeAndDim &c) {
        size_t n = 0;
        is >> n;
        c.types.clear();
        for (size_t i = 0; is && i < n; i++) {
            int code = 0, bits = 0, lanes = 0;
            is >> code >> bits >> lanes;
            c.types.emplace_back((halide_type_code_t)code, (uint8_t)bits);
        }
        Internal::read_list(is, c.dims);
        return is;
    }
};

}  // namespace Trace
}  // namespace Halide

#endif  // HALIDE_TRACE_CONFIG_H

"""Each check of tools/ accepts good input and complains about bad input: a check that cannot fail is
a defect."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

ROOMS = "set(LEAT_FLOOR_base 0)\nset(LEAT_FLOOR_core 1)\nset(LEAT_FLOOR_run 2)\nset(LEAT_FLOOR_file 3)\n" \
        "set(LEAT_FLOOR_image 3)\nset(LEAT_FLOOR_cli 9)\n"
HEADER = "/* What it does. */\nLEAT_API int leat_one(void);\n"


class Check(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("cmake/rooms.cmake", ROOMS)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self, tool):
        script = os.path.join(ROOT, "tools", tool + ".py")
        done = subprocess.run([sys.executable, "-B", script, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout

    def accepts(self, tool):
        code, out = self.run_tool(tool)
        self.assertEqual((code, out), (0, ""))

    def complains(self, tool, text):
        code, out = self.run_tool(tool)
        self.assertEqual(code, 1)
        self.assertIn(text, out)
        self.assertEqual(out.count("\n"), 1, out)


class Strings(Check):
    def test_descriptors_are_compared(self):
        self.write("src/dist/a.c", "bool f(const node *n) { return n->op == &leati_op_map; }\n")
        self.write("src/data/plan/table.c", "int f(void) { return strcmp(table[i]->op->name, name); }\n")
        self.write("src/core/row.c", "int f(void) { return strcmp(row->name, name); }\n")
        self.accepts("check_strings")

    def test_names_of_operators(self):
        self.write("src/dist/a.c", "\nbool f(const node *n) { return is(n) && strcmp(n->op->name,\n names[0]) == 0; }\n")
        self.complains("check_strings", "src/dist/a.c:2: decides by a name")

    def test_names_of_other_things(self):
        self.write("python/native/a.c", 'bool f(const codec *c) { return !strncmp("jp(", c->title, 2) ||\n'
                                        ' strcmp(c[i].name, "jpeg") == 0; }\n')
        self.complains("check_strings", "python/native/a.c:2: decides by a name")

    def test_wording(self):
        self.write("src/dist/a.c", 'bool f(leat_error *err) { return strstr(err->text, "lost") != NULL; }\n')
        self.complains("check_strings", "src/dist/a.c:1: compares an error's wording")

    def test_wording_in_tests(self):
        self.write("src/base/error_test.c", 'void f(void) { assert_string_equal(err.text, "lost"); }\n')
        self.write("src/exec/a_test.c", "void f(void) { assert_string_equal(errors[2].text, err.text); }\n")
        self.accepts("check_strings")
        self.write("tests/b.c", '\nvoid f(void) { assert_non_null(strstr(leat_error_message(&err), "lost")); }\n')
        self.complains("check_strings", "tests/b.c:2: compares an error's wording")

    def test_phrases_in_python(self):
        """What is no phrase: a word, a shape, what prints a value, a text of a golden file, and a listed report."""
        self.write("python/tests/test_a.py", r"""
with pytest.raises(ValueError, match=f"{x}_size"):
    f()
with pytest.raises(ValueError, match=r"shape=\(2, 3\)") as found:
    assert str(x) == "all is shown" and str(inspect.signature(f)) == "(x, y)"
assert str(found.value) == case["text"] and "lost" in str(found.value)
""")
        self.write("python/tests/test_debugging.py", "def test_texts_of_failed_assertions():\n"
                   "    assert str(caught.value) == 'all%slost'\n" % " is ")
        self.accepts("check_strings")
        for number, compared in enumerate((
                "with pytest.raises(ValueError, match=f'{x} is lost'): f()", "pytest.warns(UserWarning, match='a.*b')",
                "with pytest.raises(ValueError, match='a' + ' b'): f()", "assert 'is lost' in str(found.value)",
                "assert re.search('all|any', str(found.value))", "assert str(error).startswith('is lost')",
                "found = caught.value; assert 'is lost' in found.message", "self.assertIn('is lost', str(e.exception))",
                "self.assertRaisesRegex(ValueError, 'is lost', f)", "assert 'is lost' in caplog.text",
                "self.fail_with(1, 'is lost', 'run')", "self.assertIn(b'is lost', done.stderr)",
                "self.assertEqual((done.returncode, done.stderr), (1, 'is lost'))",
                "assert 'is lost' in found.value.__notes__[0]", "assert 'is lost' in record.getMessage().lower()",
                "assert {str(one.message) for one in seen} == {'is lost'}", "assert any('is lost' in str(one.message) for one in seen)")):
            self.write("tests/cli/b_test.py", "\n" * number + compared + "\n")
            self.complains("check_strings", "tests/cli/b_test.py:%d: compares several words" % (number + 1))

    def test_phrases_behind_names(self):
        """Texts stand where a file binds the name that is compared."""
        raises = "    with pytest.raises(ValueError, match=text): f()\n"
        for program in (
                "@pytest.mark.parametrize('x, text', [(1, 'lost'), (2, 'is lost')])\ndef test(x, text):\n",
                "CASES = [(1, 'is lost')]\ndef test():\n  for x, text in CASES:\n", "def test():\n    text = 'is lost'\n",
                "TABLE = {'a': 'is lost'}\ndef test():\n  for x, text in TABLE.items():\n",
                "def test():\n    fails(1, 'is lost')\ndef fails(x, text):\n",
                "def test(self):\n    self.fails(1, 'is lost')\ndef fails(self, x, text):\n"):
            self.write("python/tests/test_a.py", program + raises)
            self.complains("check_strings", "python/tests/test_a.py:%d: compares several words" % (program.count("\n") + 1))
            self.write("python/tests/test_a.py", program.replace("is lost", "lost") + raises)
            self.accepts("check_strings")

    def test_phrases_in_programs_of_tests(self):
        program = "\ntry:\n    f()\nexcept OSError as why:\n    print('is%slost' in str(why))\n"
        self.write("tests/cli/b_test.py", "run(%r)\n" % (program % "_"))
        self.accepts("check_strings")
        self.write("tests/cli/b_test.py", 'run("""%s""")\n' % (program % " "))
        self.complains("check_strings", "tests/cli/b_test.py:5: compares several words")


class Names(Check):
    def test_once(self):
        self.write("src/core/a.h", "typedef struct leati_a {\n    int leati_b;\n} leati_a;\nenum { LEATI_X = 1, LEATI_Y };\n")
        self.write("src/run/b.c", "struct leati_b {\n    leati_a a;\n};\ntypedef int (*leati_call)(leati_a *);\nstruct local { int x; };\n")
        self.write("src/run/c.c", "struct leati_b;\nstruct local { int x; };\n/* struct leati_a { */\n")
        self.accepts("check_names")

    def test_type_twice(self):
        self.write("src/core/a.h", "typedef struct leati_a {\n    int x;\n} leati_a;\n")
        self.write("src/run/b.h", "\ntypedef enum leati_a { LEATI_B } leati_a;\n")
        self.complains("check_names", "src/run/b.h:2: leati_a is defined at src/core/a.h:1 too")

    def test_enumerator_twice(self):
        self.write("src/core/a.h", "enum { LEATI_A = 1,\n LEATI_B };\n")
        self.write("src/run/b.h", "typedef enum leati_e { LEATI_C, LEATI_B } leati_e;\n")
        self.complains("check_names", "src/run/b.h:1: LEATI_B is defined at src/core/a.h:2 too")

    def test_callback_twice(self):
        self.write("src/core/a.h", "typedef void (*leati_f)(int x);\n")
        self.write("src/run/b.h", "typedef int leati_f;\n")
        self.complains("check_names", "leati_f is defined at")


class Prefixes(Check):
    def test_places(self):
        self.write("src/run/pools.h", "int leati_pool_size(void);\nvoid leati_run_all(void);\n")
        self.write("src/core/any.h", "int leati_whatever(void);\n")
        self.accepts("check_prefixes")

    def test_another_word(self):
        self.write("src/run/pools.h", "\nint leati_size(void);\n")
        self.complains("check_prefixes", "src/run/pools.h:2: leati_size begins with no place of its header")

    def test_a_word_of_the_vocabulary(self):
        self.write("src/run/pools.h", "int leati_pool_size(void);\n")
        self.write("src/core/any.h", "int leati_pool(void);\n")
        self.complains("check_prefixes", "src/core/any.h:1: leati_pool begins with a word of run")

    def test_a_function_like_a_type(self):
        self.write("src/run/pools.h", "typedef struct leati_file_pool {\n    int x;\n} leati_file_pool;\n")
        self.write("src/file/any.h", "\nint leati_file_pool(void);\n")
        self.complains("check_prefixes", "src/file/any.h:2: leati_file_pool is a type in src/run/pools.h")


class Errors(Check):
    def setUp(self):
        super().setUp()
        self.write("include/leat/a.h", "LEAT_API int leat_a(int x, leat_error *err);\nLEAT_API int leat_b(leat_error *err)\n"
                                       "    LEAT_WARN_UNUSED;\nLEAT_API const char *leat_c(const leat_error *error);\n")
        self.write("src/core/a.h", "int leati_a(leat_buffer *buffer,\n            leat_error *err);\n"
                                   "int leati_says(leat_error *err, const char *format, ...) LEAT_PRINTF(2, 3);\n"
                                   "#define leati_refuse(err, ...) \\\n    leati_says(err, __VA_ARGS__)\n"
                                   "struct ops {\n    int (*open)(const void *of, leat_error *err);\n};\n")

    def body(self, text, name="src/core/a.c"):
        self.write(name, "static int one(int x, leat_error *err) {\n" + text + "}\n")

    def test_records(self):
        self.body("    leat_b(NULL);\n    leati_a(NULL, err);\n    leati_a(of(1, NULL), &(leat_error){0});\n"
                  "    if (err->code != LEAT_OK && s->open(NULL, x ? err : &own))\n        *err = own;\n"
                  "    return leati_refuse(err, \"%s\", NULL); /* err == NULL */\n")
        self.write("src/core/b.c", "int leat_a(int x, leat_error *err) {\n    LEATI_ERROR_DOOR(err);\n    return 0;\n}\n"
                                   "const char *leat_c(const leat_error *error) {\n    return error == NULL ? 0 : 1;\n}\n")
        self.write("src/base/error.c", "int leat_error_set(leat_error *error) {\n    return error == NULL;\n}\n")
        self.write("tests/a.c", "int callback(leat_error *err) {\n    return err != NULL && leat_a(1, NULL);\n}\n")
        self.accepts("check_errors")

    def test_compared(self):
        for text in ("if (x && err != NULL)", "if (NULL == err)", "if (!err)", "if (err && x)", "x = x || err ? 1 : 0;"):
            self.body("    int x;\n    %s\n" % text)
            self.complains("check_errors", "src/core/a.c:3: compares leat_error * with NULL")

    def test_compared_by_another_name(self):
        self.write("python/native/a.c", "int one(leat_error *why) {\n    return why\n           == NULL;\n}\n")
        self.complains("check_errors", "python/native/a.c:2: compares leat_error * with NULL")

    def test_without_a_door(self):
        self.write("src/core/b.c", "\nint leat_b(leat_error *err) {\n    int x = 1;\n    LEATI_ERROR_DOOR(err);\n}\n")
        code, out = self.run_tool("check_errors")
        self.assertEqual((code, out), (1, "src/core/b.c:2: leat_b does not begin with LEATI_ERROR_DOOR(err)\n"
                                          "src/core/b.c:4: a door is the first line of a public function\n"))

    def test_door_inside(self):
        self.body("    LEATI_ERROR_DOOR(err);\n")
        self.complains("check_errors", "src/core/a.c:2: a door is the first line of a public function")

    def test_given(self):
        for text, name in (("leati_a(of(1, err),\n NULL);", "leati_a"), ("leati_says(NULL, x, 1);", "leati_says"),
                           ("leati_refuse(NULL, 1, 2);", "leati_refuse"), ("one(1, x ? err : NULL);", "one"),
                           ("return s->ops->open(s, (NULL));", "open"), ("leati_a(b, x ? NULL : err);", "leati_a")):
            self.body("    %s\n" % text)
            self.complains("check_errors", "src/core/a.c:2: %s is given NULL in the place of leat_error *" % name)

    def test_given_by_a_test(self):
        self.body("    leati_a(b, NULL);\n", "tests/a.c")
        self.complains("check_errors", "tests/a.c:2: leati_a is given NULL")


class Layers(Check):
    def test_down_and_own_room(self):
        self.write("src/file/a.c", '#include "file/a.h"\n#include "run/b.h"\n#include <leat/base.h>\n#include <zlib.h>\n')
        self.write("src/leat.c", '#include "file/a.h"\n')
        self.accepts("check_layers")

    def test_up(self):
        self.write("src/core/a.c", '\n#include "run/b.h"\n')
        self.complains("check_layers", "src/core/a.c:2: core (floor 1) may not include run/b.h (floor 2)")

    def test_same_floor(self):
        self.write("src/file/a.c", '#include "image/b.h"\n')
        self.complains("check_layers", "may not include image/b.h")

    def test_unit_tests_obey(self):
        self.write("src/core/deep/a_test.c", '#  include "run/b.h"\n')
        self.complains("check_layers", "may not include run/b.h")

    def test_support_is_for_unit_tests(self):
        self.write("src/core/a_test.c", '#include "support/t.h"\n')
        self.accepts("check_layers")
        self.write("src/core/a.c", '#include "support/t.h"\n')
        self.complains("check_layers", "src/core/a.c:1:")

    def test_without_room(self):
        self.write("src/core/a.c", '#include "b.h"\n')
        self.complains("check_layers", 'write "b.h" as "room/file.h"')

    def test_unknown_room(self):
        self.write("src/attic/a.c", '#include "core/b.h"\n')
        self.complains("check_layers", "src/attic/ is no room")

    def test_top_file_without_tool(self):
        self.write("src/leat.c", '#include "cli/main.h"\n')
        self.complains("check_layers", "only the tool may include cli/")

    def test_drawers(self):
        self.write("cmake/rooms.cmake", ROOMS + "set(LEAT_DRAWERS_run . low high)\n")
        self.write("src/run/high/a.c", '#include "run/low/b.h"\n#include "run/c.h"\n#include "run/high/d.h"\n')
        self.write("src/run/low/b.c", '#include "run/c.h"\n#include "run/ops.def"\n')
        self.write("src/run/low/b_test.c", '#include "run/high/d.h"\n')
        self.accepts("check_layers")
        self.write("src/run/low/b.c", '#include "run/high/d.h"\n')
        self.complains("check_layers", "src/run/low/b.c:1: run/low may not include run/high/d.h")
        self.write("src/run/low/b.c", '#include "run/attic/d.h"\n')
        self.complains("check_layers", "src/run/low/b.c:1: run/attic/ is no drawer")

    def test_files_of_a_table(self):
        self.write("src/graph/ops.def", "/* folder, file, operation */\nX(math, pair, add)\nX(math, pair, subtract)\n")
        self.write("src/graph/ops/math/pair.c", "")
        self.write("src/graph/ops/math/pair_test.c", "")
        self.accepts("check_layers")
        self.write("src/graph/ops/math/helper.c", "")
        self.complains("check_layers", "src/graph/ops/math/helper.c: no line of src/graph/ops.def says it")
        self.write("src/graph/ops.def", "X(math, helper, help)\nX(math, pair, add)\nX(math, gone, go)\n")
        self.complains("check_layers", "src/graph/ops.def says src/graph/ops/math/gone.c, which is not there")

    def test_public_header(self):
        self.write("include/leat/a.h", '#include "core/b.h"\n')
        self.complains("check_layers", 'includes "core/b.h"')

    def test_examples_share_headers(self):
        self.write("examples/shared.h", "#include <leat/leat.h>\n")
        self.write("examples/a.c", '#include "shared.h"\n')
        self.accepts("check_layers")
        self.write("examples/b.c", '#include "other.h"\n')
        self.complains("check_layers", 'examples/b.c:1: includes "other.h"')

    def test_comment_is_no_include(self):
        self.write("src/core/a.c", '/*\n#include "run/b.h"\n*/\n// x\n')
        self.accepts("check_layers")

    def test_python_package(self):
        self.write("python/floors", "low: leat._core.*\nhigh: leat leat.data.*\n")
        self.write("python/leat/_core/a.py", "def f():\n    from leat.data import x\n    return x\n")
        self.write("python/leat/data/__init__.py", "")
        self.write("python/leat/__init__.py", "")
        self.complains("check_layers", "python/leat/_core/a.py:2: leat._core.a (low) may not import leat.data (high)")

    def test_nothing_to_look_at(self):
        self.complains("check_layers", "found no file")


class Docs(Check):
    def header(self, text):
        self.write("include/leat/a.h", '#ifdef __cplusplus\nextern "C" {\n#endif\n\n%s\n#ifdef __cplusplus\n}\n#endif\n' % text)

    def test_documented(self):
        self.header(HEADER)
        self.accepts("check_docs")

    def test_group(self):
        self.header(HEADER + "LEAT_API LEAT_WARN_UNUSED leat_status leat_two(int a,\n    int b);\n")
        self.accepts("check_docs")

    def test_options_between(self):
        self.header("/* Does. */\ntypedef struct leat_o {\n    int a; /* b */\n    int (*f)(void);\n} leat_o;\n"
                    "LEAT_API int leat_one(leat_o *o);\n")
        self.accepts("check_docs")

    def test_callback_type_is_no_prototype(self):
        self.header("typedef int (*leat_f)(void *context);\n#define LEAT_X(a) (a)\n")
        self.accepts("check_docs")

    def test_bare(self):
        self.header("LEAT_API int leat_one(void);\n")
        self.complains("check_docs", "include/leat/a.h:5: leat_one has no comment")

    def test_blank_line_ends_group(self):
        self.header(HEADER + "\nLEAT_API int leat_two(void);\n")
        self.complains("check_docs", "leat_two has no comment")

    def test_trailing_comment_does_not_count(self):
        self.header("typedef struct leat_o {\n    int a; /* b */\n} leat_o;\nLEAT_API int leat_one(leat_o *o);\n")
        self.complains("check_docs", "leat_one has no comment")

    def test_unmarked(self):
        self.header("/* Does. */\nint leat_one(void);\n")
        self.complains("check_docs", "leat_one is not marked LEAT_API")

    def test_inline(self):
        self.header("static inline int leat_one(int a)\n{\n    return a;\n}\n")
        self.complains("check_docs", "leat_one has no comment")

    def test_blocks(self):
        self.header(HEADER)
        self.write("a.md", "# A\n\n```sh\nls\n```\n\n* b\n\n      in a list\n\n```python not-run: a reason\n1\n```\n"
                           "```output\n    x\n```\n```c from src/a.c\nint a;\n```\n")
        self.accepts("check_docs")

    def test_blocks_without_a_fence(self):
        self.header(HEADER)
        self.write("a.md", "Text:\n\n    ls\n    ls\n")
        self.complains("check_docs", "a.md:3: code that is only indented")

    def test_blocks_of_unknown_language(self):
        self.header(HEADER)
        self.write("a.md", "```perl\nls\n```\n")
        self.complains("check_docs", "a.md:1: a block of language 'perl'")

    def test_blocks_left_out_without_a_reason(self):
        self.header(HEADER)
        self.write("a.md", "```sh not-run:\nls\n```\n")
        self.complains("check_docs", "a.md:1: expected `from FILE`, `needs: X` or `not-run: WHY`")

    def page(self, text):
        self.header(HEADER)
        self.write("src/core/a.c", "int leati_a;\n")
        self.write("docs/a.md", text)

    def test_links(self):
        self.page("[`leati_a`](../src/core/a.c), [other words](../src/core/a.c#L1), [far](https://example.org/x), [here](#top),\n"
                  "`core/a`, `core/a.c`, `src/core/a.c`, `include/leat/a.h`, `leat/a.h`, `words/with/slashes`, `a.c`, "
                  "`src/<name>.c`\n\n```text\n[no link](nowhere.c) `core/b`\n```\n")
        self.accepts("check_docs")

    def test_link_to_no_file(self):
        self.page("One.\n[a](../src/core/b.c)\n")
        self.complains("check_docs", "docs/a.md:2: the link goes to src/core/b.c, which is not there")

    def test_link_to_no_symbol(self):
        self.page("[`leati_a`](../src/core/a.c) [`leati_`](../src/core/a.c)\n")
        self.complains("check_docs", "docs/a.md:1: src/core/a.c has no leati_")

    def test_name_of_no_file(self):
        self.page("See `core/b` and `core/a`.\n")
        self.complains("check_docs", "docs/a.md:1: there is no file core/b")

    def test_names_of_rooms_elsewhere(self):
        self.page("A page.\n")
        self.write("data/b.md", "The feature `core/b`.\n")
        self.accepts("check_docs")


class Size(Check):
    def test_small(self):
        self.write("src/core/a.c", 'static int f(int a)\n{\n    return a ? 1 : 2; /* if if if */\n}\n'
                                   'static const int x[] = {1};\n')
        self.accepts("check_size")

    def test_long_file(self):
        self.write("src/core/a.c", "int x;\n" * 601)
        self.complains("check_size", "src/core/a.c: 601 lines")

    def test_long_script(self):
        self.write("src/core/a.c", "int x;\n")
        self.write("tools/a.py", "x = 1\n" * 601)
        self.complains("check_size", "tools/a.py: 601 lines")

    def test_function_of_60_lines(self):
        self.write("src/core/a.c", "static void f(void)\n{\n%s}\n" % ("    g();\n" * 57))
        self.accepts("check_size")

    def test_long_function(self):
        self.write("src/core/a.c", "\nstatic void f(void)\n{\n%s}\n" % ("    g();\n" * 58))
        self.complains("check_size", "src/core/a.c:2: f has 61 lines")

    def test_complexity_20(self):
        self.write("src/core/a.c", "int f(int a)\n{\n%s}\n" % ("    if (a)\n        g();\n" * 19))
        self.accepts("check_size")

    def test_complex_function(self):
        self.write("src/core/a.c", "int f(int a)\n{\n%s    return a && a;\n}\n" % ("    if (a)\n        g();\n" * 19))
        self.complains("check_size", "src/core/a.c:1: f has complexity 21")

    def test_strings_comments_and_cases_are_free(self):
        self.write("src/core/a.c", 'int f(int a)\n{\n%s    switch (a) {\n%s    }\n}\n' %
                   ('    g("if && { ?"); // if\n' * 25, "    case 1: break;\n" * 25))
        self.accepts("check_size")

    def test_after_data_and_extern(self):
        self.write("src/core/a.h", 'extern "C" {\nstruct s {\n    int a;\n};\nint f(int a)\n{\n%s}\n}\n' %
                   ("    a = a ? 1 : 2;\n" * 20))
        self.complains("check_size", "f has complexity 21")


@unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
class Format(Check):
    def setUp(self):
        super().setUp()
        shutil.copy(os.path.join(ROOT, ".clang-format"), self.root)

    def test_good(self):
        self.write("src/core/a.c", "int f(void) {\n    return 1;\n}\n")
        self.accepts("check_format")

    def test_bad(self):
        self.write("src/core/a.c", "int f(void) { return 1; }\n")
        code, out = self.run_tool("check_format")
        self.assertEqual(code, 1)
        self.assertIn("src/core/a.c", out)


class Deviations(Check):
    LINE = {"file": "take.json", "case": "minus_*", "class": "wraps", "reason": "It wraps.", "expect": {"cardinality": 5}}
    TEST = {"file": "src/take_test.c", "case": "test_take", "class": "hangs", "reason": "It hangs."}

    def list(self, recorded=(LINE,), unrecorded=(TEST,)):
        self.write("tests/golden/data/take.json", json.dumps([{"name": "minus_5"}]))
        self.write("src/take_test.c", "static void test_take(void **state) {}\n")
        listed = {"classes": {"wraps": "It counts.", "hangs": "It goes on."}, "recorded": recorded, "unrecorded": unrecorded}
        self.write("tests/golden/deviations.json", json.dumps(listed))
        self.write("docs/COMPATIBILITY.md", "Head\n<!-- deviations: written by tools/check_deviations.py --fix -->\n"
                   "<!-- end of deviations -->\n")
        script = os.path.join(ROOT, "tools", "check_deviations.py")
        return subprocess.run([sys.executable, "-B", script, "--fix", self.root], capture_output=True, text=True)

    def test_printed(self):
        self.assertEqual(self.list().returncode, 0)
        self.accepts("check_deviations")
        with open(os.path.join(self.root, "docs/COMPATIBILITY.md"), encoding="utf-8") as file:
            self.assertIn("| It wraps. | `take.json` minus_* |", file.read())

    def test_page_not_current(self):
        self.list()
        self.write("docs/COMPATIBILITY.md", "<!-- deviations: written by tools/check_deviations.py --fix -->\nold\n"
                   "<!-- end of deviations -->\n")
        self.complains("check_deviations", "is not current")

    def test_no_such_case(self):
        self.list(recorded=({**self.LINE, "case": "plus_*"},))
        self.complains("check_deviations", "take.json plus_*: no such case")

    def test_no_such_test(self):
        self.list(unrecorded=({**self.TEST, "case": "test_skip"},))
        self.complains("check_deviations", "src/take_test.c test_skip: no such case")

    def test_no_answer(self):
        self.list(recorded=({**self.LINE, "expect": {}},))
        self.complains("check_deviations", "no answer of its own")

    def test_unknown_class(self):
        self.list(recorded=({**self.LINE, "class": "odd"},))
        self.complains("check_deviations", "unknown class odd")


class CheckResume(Check):
    def operator(self, doc):
        self.write("src/data/ops.def", "/* X(name) */\nX(take)\n")
        self.write("src/data/ops/take.c", '.doc = "Elements. " "%s",\n' % doc)
        self.write("docs/RESUME.md", "Head\n<!-- operators: written by tools/check_resume.py --fix -->\n<!-- end of operators -->\n")
        script = os.path.join(ROOT, "tools", "check_resume.py")
        return subprocess.run([sys.executable, "-B", script, "--fix", self.root], capture_output=True, text=True)

    def test_printed(self):
        self.assertEqual(self.operator("Saved as a count.").returncode, 0)
        self.accepts("check_resume")
        with open(os.path.join(self.root, "docs/RESUME.md"), encoding="utf-8") as file:
            self.assertIn("| take | Saved as a count. |", file.read())

    def test_page_not_current(self):
        self.operator("Saved as a count.")
        self.write("src/data/ops/take.c", '.doc = "Saved as two counts.",\n')
        self.complains("check_resume", "is not current")

    def test_says_nothing(self):
        self.operator("And nothing else.")
        self.complains("check_resume", "does not say how")


class CheckPython(Check):
    GOOD = '"""A module."""\n\n\ndef public(x):\n    """Says what it does."""\n    return x\n'

    def test_good(self):
        self.write("python/leat/a.py", self.GOOD + "\n\ndef _private():\n    return 1\n")
        self.write("python/tests/test_a.py", "def test_a():\n    pass\n")
        self.accepts("check_python")

    def test_undocumented(self):
        self.write("python/leat/a.py", self.GOOD + "\n\nclass A:\n    \"\"\"It.\"\"\"\n\n    def method(self):\n        pass\n")
        self.complains("check_python", "python/leat/a.py:12: A.method has no docstring")

    def test_module(self):
        self.write("examples/a.py", "X = 1\n")
        self.complains("check_python", "examples/a.py:1: the module has no docstring")

    def test_long_line(self):
        self.write("python/leat/a.py", self.GOOD + "X = \"%s\"\n" % ("x" * 115))
        self.complains("check_python", "python/leat/a.py:7: 121 columns")

    def test_long_function(self):
        self.write("python/tests/test_a.py", "def test_a():\n" + "    pass\n" * 100)
        self.complains("check_python", "test_a has 101 lines")


if __name__ == "__main__":
    unittest.main()

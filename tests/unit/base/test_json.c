/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON: caps before parsing, and a place for every complaint. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tap.h"

static int load(const char *s, struct clf_json_doc *doc, struct clf_error *err)
{
	struct clf_text t;

	return clf_text_from_string("f.json", s, &t, err) || clf_json_load_text(&t, doc, err) ? -1 : 0;
}

static void refuses(const char *s, int line, int column, const char *word, const char *name)
{
	struct clf_json_doc doc = { 0 };
	struct clf_error err = { 0 };

	ok(load(s, &doc, &err) == -1 && err.code == CLF_E_PARSE && strstr(err.text, word), "%s: %s", name, err.text);
	ok(err.line == line && (!column || err.column == column), "%s: at %d:%d", name, err.line, err.column);
	clf_json_doc_done(&doc);
}

static void positions(void)
{
	static const char text[] = "{\n  \"a\": [1, {\"b\\u0041\": true}],\n  \"x/y\": \"z\", \"~\": null\n}\n";
	static const struct {
		const char *pointer;
		int line, column;
	} cases[] = { { "", 1, 1 },         { "/a", 2, 8 },     { "/a/0", 2, 9 }, { "/a/1", 2, 12 },
		      { "/a/1/bA", 2, 24 }, { "/x~1y", 3, 10 }, { "/~0", 3, 20 } };
	int line, column;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		line = column = 0;
		ok(clf_json_position(text, strlen(text), cases[i].pointer, &line, &column) && line == cases[i].line &&
			   column == cases[i].column,
		   "'%s' is at %d:%d (found %d:%d)", cases[i].pointer, cases[i].line, cases[i].column, line, column);
	}
	ok(!clf_json_position(text, strlen(text), "/nothing", &line, &column), "what is absent has no place");
}

static void schema(void)
{
	struct clf_json_doc doc = { 0 };
	struct clf_error err = { 0 };
	json_t *a = NULL, *b = NULL;
	const struct clf_json_key keys[] = { { "alpha", JSON_INTEGER, true, &a }, { "beta", JSON_STRING, false, &b } };

	ok(!load("{\"alpha\":1}", &doc, &err) && !clf_json_object(&doc, doc.root, "", keys, 2, &err) &&
		   json_integer_value(a) == 1 && !b,
	   "required there, optional absent");
	clf_json_doc_done(&doc);
	a = NULL;
	ok(!load("{\"alpha\":1,\n \"betta\":\"x\"}", &doc, &err) &&
		   clf_json_object(&doc, doc.root, "", keys, 2, &err) == -1 && !a,
	   "an unknown key");
	ok(strstr(err.text, "did you mean 'beta'") && err.line == 2, "with a suggestion and its line: %s", err.text);
	clf_json_doc_done(&doc);
	err = (struct clf_error){ 0 };
	ok(!load("{\"alpha\":\"1\"}", &doc, &err) && clf_json_object(&doc, doc.root, "", keys, 2, &err) == -1,
	   "a wrong type: %s", err.text);
	ok(err.column == 10, "at the value");
	clf_json_doc_done(&doc);
	err = (struct clf_error){ 0 };
	ok(!load("{}", &doc, &err) && clf_json_object(&doc, doc.root, "", keys, 2, &err) == -1 &&
		   strstr(err.text, "alpha"),
	   "a missing key: %s", err.text);
	clf_json_doc_done(&doc);
	is_str(clf_suggest("aple", (const char *const[]){ "pear", "apple" }, 2), "apple", "the nearest word");
	is_str(clf_suggest("zzz", (const char *const[]){ "pear", "apple" }, 2), NULL, "or none");
}

int main(void)
{
	char *deep = malloc(1 << 20);
	struct clf_json_doc doc = { 0 };
	struct clf_error err = { 0 };

	refuses("{\"a\":1,\n\"a\":2}", 2, 0, "duplicate", "duplicate key");
	refuses("{\"a\":}", 1, 0, "", "syntax");
	refuses("{\"a\":NaN}", 1, 0, "", "NaN");
	refuses("{\"a\":\"\xff\"}", 1, 0, "", "invalid UTF-8");
	refuses("{\"a\":\"\\u0000\"}", 1, 0, "", "NUL in a string");
	refuses("", 1, 0, "", "nothing");
	refuses("{} x", 1, 0, "", "something behind");
	refuses("1e999", 1, 0, "", "a number that is none");
	memset(deep, '[', (1 << 20) - 1);
	deep[(1 << 20) - 1] = '\0';
	refuses(deep, 1, CLF_JSON_DEPTH + 1, "deeper", "a megabyte of brackets");
	free(deep);
	ok(clf_json_load_file("/nonexistent/x.json", 100, &doc, &err) == -1 && err.code == CLF_E_NOTFOUND, "no file");
	positions();
	schema();
	return done_testing();
}

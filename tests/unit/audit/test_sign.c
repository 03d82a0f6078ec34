/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys and tokens: what was signed is what is read, and nothing else passes. */
#include "audit/sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/lex.h"
#include "tap.h"

/* RFC 8032 7.1, test 1: the seed, as PKCS#8. */
static const char rfc_key[] = "-----BEGIN PRIVATE KEY-----\n"
			      "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
			      "-----END PRIVATE KEY-----\n";

static struct clf_sign_key *public_of(const char *path)
{
	struct clf_sign_key *k = NULL;
	struct clf_text t = { 0 };

	if (clf_text_load(path, 4096, &t, NULL) || clf_sign_key_public(t.data, t.len, &k, NULL))
		diag("no public key in %s", path);
	clf_text_done(&t);
	return k;
}

static bool passes(const struct clf_sign_key *k, const char *token, const char *body)
{
	CLF_AUTO_FREE char *got = NULL;

	return !clf_sign_check(k, token, &got, NULL) && !strcmp(got, body);
}

static void tokens(const struct clf_sign_key *private, const struct clf_sign_key *public,
		   const struct clf_sign_key *stranger)
{
	static const char *const bad[] = { "",         ".",        "e30",         "e30.",     ".AAAA",
					   "e30.AAAA", "!!!.AAAA", "e30.e30.e30", "e3 0.AAAA" };
	unsigned wrong = 0;

	for (size_t len = 0; len < 70; len++) {
		CLF_AUTO_FREE char *token = NULL;
		char body[80];

		memset(body, 'a' + (int) (len % 26), len);
		body[len] = '\0';
		wrong += clf_sign_token(private, body, &token, NULL) || !passes(public, token, body) ||
			 passes(stranger, token, body);
		for (char *c = token; len == 20 && *c; c++) { /* each character matters */
			char was = *c;

			*c = was == 'A' ? 'B' : 'A';
			wrong += passes(public, token, body);
			*c = was;
		}
	}
	ok(!wrong, "every length comes back, no changed character and no other key passes");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *got = NULL;
		struct clf_error err = { 0 };

		ok(clf_sign_check(public, bad[i], &got, &err) && err.code == CLF_E_PARSE && !got, "no token: '%s'",
		   bad[i]);
	}
}

int main(void)
{
	char key[300], pub[300], rfc[300];
	struct clf_sign_key *k = NULL, *again = NULL, *p, *other = NULL, *none = NULL;
	CLF_AUTO_FREE char *one = NULL, *two = NULL;
	struct clf_error err = { 0 };
	struct stat st;
	FILE *f;

	snprintf(key, sizeof key, "%s/lease.key", clf_test_dir());
	snprintf(pub, sizeof pub, "%s/lease.pub", clf_test_dir());
	snprintf(rfc, sizeof rfc, "%s/rfc.key", clf_test_dir());
	ok(!clf_sign_key_open(key, pub, &k, &err), "a key is made: %s", err.text);
	ok(!stat(key, &st) && (st.st_mode & 0777) == 0600 && !stat(pub, &st) && (st.st_mode & 0777) == 0644,
	   "private for its owner, public for all");
	p = public_of(pub);
	ok(!clf_sign_key_open(key, pub, &again, NULL), "and opened again");
	ok(!clf_sign_token(k, "{}", &one, NULL) && !clf_sign_token(again, "{}", &two, NULL) && !strcmp(one, two),
	   "it is the same one");
	f = fopen(rfc, "w");
	ok(f && fputs(rfc_key, f) >= 0 && !fclose(f) && !clf_sign_key_open(rfc, pub, &other, NULL), "a key of others");
	free(two);
	two = NULL;
	/* signature of the empty message in RFC 8032 */
	ok(!clf_sign_token(other, "", &two, NULL) &&
		   !strcmp(two,
			   ".5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc-bRr0lv18FlbviRlUUFDjnoQCw"),
	   "signs as RFC 8032 has it");
	tokens(k, p, other);
	f = fopen(rfc, "w");
	ok(f && fputs("-----BEGIN PRIVATE KEY-----\nMC4C\n", f) >= 0 && !fclose(f) &&
		   clf_sign_key_open(rfc, pub, &none, &err) && err.code == CLF_E_PARSE,
	   "a file that is no key: %s", err.text);
	ok(clf_sign_key_public(rfc_key, strlen(rfc_key), &none, NULL), "a private key is no public one");
	clf_sign_key_destroy(k);
	clf_sign_key_destroy(again);
	clf_sign_key_destroy(p);
	clf_sign_key_destroy(other);
	return done_testing();
}

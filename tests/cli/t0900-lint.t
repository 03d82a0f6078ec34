#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each lint step finds a planted violation, and passes the tree without it.
. "${CLF_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/shtap.sh"
lint=$CLF_SRCDIR/tests/lint
mkdir -p "$work/t/src/base" "$work/t/src/topo" "$work/t/src/slurm" "$work/t/src/place"
echo '#include "base/err.h"' >"$work/t/src/topo/a.c"
touch "$work/t/src/base/err.h" "$work/t/src/topo/topo.h" "$work/t/src/slurm/site.h"
run_ok "layers: a clean tree passes" "$lint/check-layers" "$work/t"
plant() { # TEXT FILE PATTERN NAME
	printf '%s\n' "$1" >"$work/t/$2"
	run "$lint/check-layers" "$work/t"
	exits 1 "$4"
	like "$out" "$3" "$4: with the place"
	rm "$work/t/$2"
}
plant '#include "topo/topo.h"' src/base/b.c '^src/base/b.c:1: base may not include' "layers: an arrow that points up"
plant '#include <slurm/slurm.h>' src/place/b.c "^src/place/b.c:1: 'slurm/slurm.h' belongs to" "layers: Slurm outside src/slurm"
plant '#include "src/common/xmalloc.h"' src/topo/b.c "belongs to" "layers: Slurm's private headers outside src/slurm"
plant '#include <curl/curl.h>' src/topo/b.c "belongs to src/fabric/stream.c" "layers: libcurl outside its file"
plant '#include <openssl/evp.h>' src/topo/b.c "belongs to" "layers: libcrypto outside its files"
plant '#include <munge.h>' src/topo/b.c "belongs to" "layers: munge outside its file"
run "$lint/check-layers" "$work/nothing"
unlike "$status" '^0$' "layers: an empty tree is no success"

mkdir -p "$work/w"
echo 'fine' >"$work/w/a.c"
run_ok "words: a clean tree passes" "$lint/check-words" "$work/w"
printf '/* TO%s later */\n' DO >"$work/w/a.c"
run "$lint/check-words" "$work/w"
exits 1 "words: a promise of later work"
printf '/ho%s/x\n' me >"$work/w/a.c"
run "$lint/check-words" "$work/w"
exits 1 "words: a private path"

if [ -e "$CLF_BUILDDIR/.libs/job_submit_closfold.so" ]; then
	mkdir -p "$work/e/src/slurm" "$work/b/.libs"
	cp "$CLF_SRCDIR"/src/slurm/*.map "$work/e/src/slurm"
	cp "$CLF_BUILDDIR"/.libs/*_closfold.so "$work/b/.libs"
	run_ok "exports: the plugins as built pass" "$lint/check-exports" "$work/b" "$work/e"
	sed -i 's/init;/init; extra;/' "$work/e/src/slurm/job_submit_closfold.map"
	run "$lint/check-exports" "$work/b" "$work/e"
	exits 1 "exports: a difference from the map"
	like "$out" 'extra' "exports: is named"
fi
run "$lint/check-exports" "$work/nothing" "$work/t"
exits 1 "exports: nothing built is no success"
if [ -x "$CLF_BUILDDIR/closfold" ]; then
	run_ok "man: pages agree with --help" "$lint/check-man" "$CLF_BUILDDIR"
	mkdir -p "$work/m/docs/man"
	cp "$CLF_SRCDIR"/docs/man/*.1 "$work/m/docs/man"
	printf '.B \\-\\-invented\n' >>"$work/m/docs/man/closfold-place.1"
	sed -i '/objective/d' "$work/m/docs/man/closfold-place.1"
	run "$lint/check-man" "$CLF_BUILDDIR" "$work/m"
	exits 1 "man: a page that differs"
	like "$out" 'invented' "man: an option that is not there"
	like "$out" 'objective' "man: an option that is missing"
fi
done_testing

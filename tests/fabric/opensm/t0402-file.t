#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What befalls the partitions file behind our back: rows B, C, D, I, I2, J, H4, H5, F of the failure table.
. "$(dirname "$0")/lib.sh"
ready
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "a job runs"
good=$(cat "$part")
A="4 8101,7fff 1 ffff"

# The file is changed, OpenSM reads it, the audit tells, a sync puts it right.
break_file() { # TEXT CODES OF THE FILE
	local text=$1 code=$2
	resweep
	d audit
	like "$(findings)" "$code" "$text: the audit says $code"
	like "$(findings)" 'net-wrong|default-full' "$text: and that isolation is broken"
	d open N 0x0150 "$(guids 20 21)"
	d sync
	is "$(code_of N)" ok "$text: the next start writes it anew"
	d close N
	d sync
	is "$(tables)" "123 8001,7fff $A" "$text: all tables are right again"
	[ "$(cat "$part")" = "$good" ]
	ok $? "$text: the file is as it was"
}
printf '' >"$part"
break_file "C empty" partitions-empty
rm "$part"
break_file "D missing" partitions-missing
printf '%s\n' "$good" | sed -n '1,/^closfold_0101/p' >"$part.x" && guid 4 | tr -d '\n' >>"$part.x" && echo '=full,' >>"$part.x" && mv "$part.x" "$part"
break_file "J cut after a comma" partitions-cut
printf '%s\n' "$good" | head -c -40 >"$part.x" && mv "$part.x" "$part"
break_file "J cut inside a GUID" partitions-cut
is "$(ls "$part".saved-* | wc -l)" 2 "what was cut is kept aside"

for edit in 's/^0x0c42a10300009011=full,/0xZZ=full,/|B malformed GUID' '$a;|I2 a lone ;' \
	's/^0x0c42a10300004011=full/0x0c42a10300004011/|H4 membership left out'; do
	printf '%s\n' "$good" | sed "${edit%|*}" >"$part.x" && mv "$part.x" "$part"
	break_file "${edit#*|}" partitions-edited
done
{ printf '%s\n' "$good"; echo 'x=0x0300 :'; for i in $(seq 8 128) $(seq 8 128); do printf '%s=full, ' "$(guid "$i")"; done; echo "$(guid 8)=full ;"; } >"$part.x" && mv "$part.x" "$part"
break_file "I a line over 4,095 bytes" partitions-edited
printf '%s\n' "$good" | sed "s/^open=0x0001,indx0 :/&\n$(guid 4)=full,/" >"$part.x" && mv "$part.x" "$part"
break_file "H5 a port of the job in open as well" partitions-edited
for k in 'closfold_0101=0x0101,indx0 :|H2 the key twice' 'closfold_0101=0x8101,indx0 :|H2 the key again with bit 15' 'x=0x1ffff,indx0 :|H3 a key of 17 bits' \
	'x=0x0300,ipoib,indx0,A=full :|H6 an unknown flag'; do
	printf '%s\n%s\n%s=full ;\n' "$good" "${k%|*}" "$(guid 9)" >"$part.x" && mv "$part.x" "$part"
	before=$(cat "$part")
	resweep
	d audit
	like "$(findings)" 'partitions-edited' "${k#*|}: the audit tells of the edit"
	d open N 0x0150 "$(guids 20 21)"
	d sync
	case $(code_of N) in
	ok) is "$(cat "$part" | grep -c "$(guid 9)=full")" 1 "${k#*|}: isolation was gone, so it is written anew" ;;
	conflict) is "$(cat "$part")" "$before" "${k#*|}: no job starts and the edit is kept" ;;
	*) ok 1 "${k#*|}: $(code_of N) $(text_of N)" ;;
	esac
	d close N
	d sync
	rm "$part"
	d sync
	is "$(tables)" "123 8001,7fff $A" "${k#*|}: right again without it"
done

# F: an edit that harms nothing is somebody's work: kept, and nothing starts over it.
printf '%s\nmine=0x0300 :\n%s=limited ;\n' "$good" "$(guid 30)" >"$part.x" && mv "$part.x" "$part"
before=$(cat "$part")
d open N 0x0151 "$(guids 20 21)"
d sync
is "$(code_of N)" conflict "F an edit by somebody else: no job starts"
like "$(text_of N)" 'include file and remove' "and it says what to do"
d close N
d sync
is "$(code_of N)" ok "what was never written is closed, seen in the tables"
[ "$(cat "$part")" = "$before" ]
ok $? "the edit is kept byte for byte"
d check
like "$(q '.out[] | select(.level == "error") | .code')" partitions-edited "check says so as an error"
printf 'Default=0x7fff : ALL=limited, SELF=full ;\nmine=0x0300 : %s ;\n' "$(guid 30)" >"$part.x" && mv "$part.x" "$part"
d open N 0x0152 "$(guids 20 21)"
d sync
is "$(code_of N)" conflict "F somebody else's file altogether: no job starts"
like "$(cat "$part")" '^mine=0x0300' "and it is kept, though isolation is gone"
d forget N
drive_stop

# The way it is meant: the include file.
printf '# storage\nstorage=0x0300,ipoib :\n%s=full,\n%s=limited,\n%s=limited ;\n' "$(guid 100)" "$(guid 4)" "$(guid 30)" >"$work/include"
conf "\"include\":\"$work/include\",\"others\":[\"$(guid 100)\"]"
rm "$part"
HOSTS=99
drive_start
d open A 0x0101 "$(guids 4 5 6 7)"
d sync
is "$(code_of A)" ok "with an include file jobs start"
is "$(pkeys_of 4 | tr , '\n' | sort | paste -sd,)" "0300,7fff,8101" "a job's port keeps its storage, limited"
is "$(pkeys_of 4 | cut -c 1-4)" 8101 "behind its own key"
d audit
is "$(findings)" "" "which is as it should be"
sed -i 's/=limited ;/=full ;/' "$work/include"
d open N 0x0152 "$(guids 20 21)"
d sync
is "$(code_of N)" parse "a node full in a foreign partition would talk past the isolation: refused"
like "$(text_of N)" 'include:5.*others' "with file and line"
finish

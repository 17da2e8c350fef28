#!/bin/sh
here=$(dirname "$0")
step=$(basename "$0")
case " $* " in
*" --json "*)
    if [ -f "$here/$FAKE.$step.$1.jsonl" ]; then cat "$here/$FAKE.$step.$1.jsonl"; fi
    if [ "$FAKE" = slow ]; then exec sleep 20; fi
    ;;
*) echo "the page of $step $*" ;;
esac
if [ "$FAKE" = sharing ]; then echo "error: answers in $TILE_ANSWERS" >&2; exit 3; fi
if [ "${FAKE_CODE:-0}" = 3 ]; then echo "error: no device here" >&2; fi
if [ "$1 ${FAKE_CODE:-0}" = "sums 1" ]; then echo "a kernel on 64x64x64: a second launch gives another C" >&2; fi
exit "${FAKE_CODE:-0}"

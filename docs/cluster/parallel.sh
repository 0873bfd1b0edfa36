#!/bin/sh
# For one machine with many cores, or several with ssh: RULES=rules.rbp IN=logs OUT=out/ sh parallel.sh 8
# With --sshlogin, all machines need the same directories under the same names.
n=${1:-4}
seq 0 $((n - 1)) | parallel --jobs "$n" --retries 3 --joblog "${JOBLOG:-robobatch.jobs}" \
	robobatch -rules "$RULES" -in "$IN" -out "$OUT" -shard "{}/$n" -on-error skip -resume -workers 1 -quiet
exec robobatch merge -out "$OUT"

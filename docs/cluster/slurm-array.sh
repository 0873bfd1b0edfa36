#!/bin/bash
# One shard per task of the array: RULES=/data/rules.rbp IN=/data/logs OUT=/data/out/ sbatch slurm-array.sh
# The numbers must go from 0 to one less than their count; "sbatch --array=0-99" overrides the line below.
# Slurm requeues a task that is preempted or whose node is lost, and it continues with -resume. A task that ends with
# exit code 75 (object storage is down) is requeued up to five times.
#SBATCH --job-name=robobatch
#SBATCH --array=0-7
#SBATCH --cpus-per-task=1
#SBATCH --mem=1536M
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=robobatch-%A_%a.log
robobatch -rules "$RULES" -in "$IN" -out "$OUT" -shard auto -on-error skip -resume \
	-workers "${SLURM_CPUS_PER_TASK:-1}" -max-memory "${MAX_MEMORY:-1280MiB}" -progress off
code=$?
if [ $code = 75 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit $code

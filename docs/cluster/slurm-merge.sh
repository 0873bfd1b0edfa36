#!/bin/bash
# Run it once all tasks of an array have ended or failed: OUT=/data/out/ sbatch --dependency=afterany:$ARRAY slurm-merge.sh
# It ends with 0 and writes _SUCCESS if all outputs are complete, with 1 if inputs failed, with 2 if a task is missing.
#SBATCH --job-name=robobatch-merge
#SBATCH --mem=512M
#SBATCH --output=robobatch-merge-%j.log
exec robobatch merge -out "$OUT"

#!/usr/bin/env bash
# Grade a class on a Slurm cluster: 20 parts, then one merge. Submit it from the course's folder:
#   sbatch docs/slurm_array.sh
#   sbatch --dependency=singleton --array=0 docs/slurm_array.sh merge    (starts when every part has ended)
#SBATCH --job-name=grade
#SBATCH --array=0-19
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=2G
#SBATCH --time=01:00:00
set -euo pipefail

submissions=submissions
results=results
secret=grading-secret # the same file for all parts: make it once with  openssl rand -hex 32 > grading-secret

if [ "${1:-}" = merge ]; then
  exec python3 -m course_lib grade merge "$results"/part-* --out "$results"
fi

exec python3 -m course_lib grade "$submissions" --out "$results/part-$SLURM_ARRAY_TASK_ID" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --secret "$secret" --jobs "$SLURM_CPUS_PER_TASK"

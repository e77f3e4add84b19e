#!/usr/bin/env bash
# Brings ccusage and LiteLLM's list of prices, and runs agents.py: agents.sh CHATMILL FOLDER SESSIONS SEED.
set -euo pipefail
PROGRAM=$(realpath "$1") FOLDER=$2 HERE=$(dirname "$0")
mkdir -p "$FOLDER/npm"
# The newest version with a program for Linux: 20.0.26 has none on the registry.
if ! command -v npm > /dev/null || ! npm install --silent --no-audit --no-fund --prefix "$FOLDER/npm" ccusage@20.0.24; then
    echo "skipped: npm or ccusage is not there"
    exit 0
fi
CCUSAGE=$(ls "$FOLDER"/npm/node_modules/@ccusage/*/bin/ccusage 2> /dev/null || true)
if [ -z "$CCUSAGE" ]; then
    echo "skipped: ccusage has no program for this system"
    exit 0
fi
chmod +x "$CCUSAGE"
python3 -m pip download --quiet --no-deps --dest "$FOLDER" litellm
python3 -m zipfile -e "$(ls "$FOLDER"/litellm-*.whl | tail -1)" "$FOLDER/litellm"
python3 -B "$HERE/agents.py" "$PROGRAM" "$(realpath "$CCUSAGE")" "$FOLDER/litellm/litellm/model_prices_and_context_window_backup.json" "$FOLDER/drawn" "$3" "$4"

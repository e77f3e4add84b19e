"""Prints the versions that sources and grammars were compared with, and the newest of the registries, in one table.

Each format file, the description of each other source and each grammar has a `verified`. Keys that a newer version adds are reported
by a check of a file as `SR034`; this table only shows where to look first. It never fails: without network the last column is empty.
"""

import re
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "crates/source/src"
# The registry and the name of a package there. Programs without one are not looked up.
PACKAGES = {
    "ai": "npm ai",
    "aider": "pip aider-chat",
    "anthropic": "pip anthropic",
    "claude-code": "npm @anthropic-ai/claude-code",
    "codex": "npm @openai/codex",
    "copilot": "npm @github/copilot",
    "gemini-cli": "npm @google/gemini-cli",
    "google-genai": "pip google-genai",
    "harbor": "pip harbor",
    "inspect_ai": "pip inspect-ai",
    "langchain-core": "pip langchain-core",
    "mistral-common": "pip mistral-common",
    "open-webui": "pip open-webui",
    "openai": "pip openai",
    "opencode": "npm opencode-ai",
    "pydantic-ai": "pip pydantic-ai",
    "qwen-code": "npm @qwen-code/qwen-code",
}


def verified():
    """Pairs of a version with its month, and the files that name it."""
    found = {}
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in (".toml", ".rs"):
            pattern = r'^\s*verified(?: =|:) "(\S+) (\S+), (\d{4}-\d\d)"'
            for match in re.finditer(pattern, path.read_text(), re.MULTILINE):
                name = path.parent.name if path.stem == "mod" else path.stem
                found.setdefault(match.groups(), []).append(name)
    return sorted(found.items())


def newest(package):
    """The newest version that a registry has; nothing where it does not answer."""
    client, name = package.split(" ")
    if client == "npm":
        command = ["npm", "view", name, "version"]
    else:
        command = [sys.executable, "-m", "pip", "index", "versions", name]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    match = re.search(r"\d[\w.+-]*", run.stdout.splitlines()[0].replace(name, ""))
    return match.group() if match else ""


def main():
    print(f"{'program':<16}{'compared with':<16}{'in':<10}{'newest':<16}read by")
    for (program, version, month), names in verified():
        package = PACKAGES.get(program)
        latest = newest(package) if package else ""
        print(f"{program:<16}{version:<16}{month:<10}{latest:<16}{', '.join(names)}")


main()

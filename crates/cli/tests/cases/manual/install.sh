mkdir -p .local/share/bash-completion/completions .zfunc .config/fish/completions

"""Completion of the command line in a shell: a script of all commands and options."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish")
_BASH = """\
# Completion of sklearn-subanneal. To use it, put this line into ~/.bashrc:
#     eval "$(sklearn-subanneal completion bash)"
_sklearn_subanneal() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" options=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
    esac
    case "${{COMP_WORDS[1]}}" in
{options}
    esac
    if [ "${{word#-}}" != "$word" ]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    fi
}}
complete -o default -o bashdefault -F _sklearn_subanneal sklearn-subanneal
"""
_ZSH = """\
# Completion of sklearn-subanneal. To use it, put this line into ~/.zshrc:
#     eval "$(sklearn-subanneal completion zsh)"
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
"""
_FISH = """\
# Completion of sklearn-subanneal. To use it:
#     sklearn-subanneal completion fish > ~/.config/fish/completions/sklearn-subanneal.fish
"""


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for a shell.

    Parameters
    ----------
    parser : ArgumentParser
        With commands.
    shell : {"bash", "zsh", "fish"}

    Examples
    --------
    >>> from sklearn_subanneal.report.command_parser import command_parser
    >>> from sklearn_subanneal.report.completion import completion_script
    >>> print(completion_script(command_parser(), "fish").splitlines()[2][:58])
    complete -c sklearn-subanneal -n __fish_use_subcommand -fa
    """
    subparsers = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    helps = {action.dest: action.help for action in subparsers._choices_actions}
    commands = subparsers.choices
    if shell == "fish":
        return _FISH + "".join(_fish_lines(name, own, helps[name]) for name, own in commands.items())
    values = {
        flag: " ".join(map(str, action.choices))
        for own in commands.values()
        for action in own._actions
        if action.choices
        for flag in action.option_strings
    }
    script = _BASH.format(
        commands=" ".join(commands),
        values="\n".join(
            f'        {flag}) COMPREPLY=($(compgen -W "{own}" -- "$word")); return ;;' for flag, own in values.items()
        ),
        options="\n".join(f'        {name}) options="{_flags(own)}" ;;' for name, own in commands.items()),
    )
    return script if shell == "bash" else _ZSH + script.partition("\n")[2].partition("\n")[2]


def _flags(own: argparse.ArgumentParser) -> str:
    return " ".join(flag for action in own._actions for flag in action.option_strings)


def _fish_lines(name: str, own: argparse.ArgumentParser, about: str) -> str:
    out = f"complete -c sklearn-subanneal -n __fish_use_subcommand -fa {name} -d {_quoted(about)}\n"
    for action in own._actions:
        words = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in action.option_strings]
        if words:
            choices = f" -xa {_quoted(' '.join(map(str, action.choices)))}" if action.choices else ""
            about = f" -d {_quoted((action.help or '').partition(' (')[0])}"
            when = f"'__fish_seen_subcommand_from {name}'"
            out += f"complete -c sklearn-subanneal -n {when} {' '.join(words)}{choices}{about}\n"
    return out


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

/* SPDX-License-Identifier: MIT
 *
 * complete_scripts.c: the shells' side of completion. Each script passes the words of the line to `gather __complete` and adds names of
 * files if the answer says so; it contains no commands and no options itself.
 */
#include <string.h>

#include "complete.h"

/* readline splits words at : and =, and replaces only the last piece: the words are joined again, and what comes before that
 * piece is removed from each answer. Names come from files: bash inserts what it gets, so they are quoted here, and after an opening
 * quote only those are offered that need none. zsh and fish quote what they insert. */
static const char BASH[] =
    "# bash completion for gather; made by: gather completion bash\n"
    "_gather() {\n"
    "  local rest=${COMP_LINE:0:COMP_POINT} words=() piece= cut= i\n"
    "  for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "    if [[ $i -eq 0 || $rest == [[:space:]]* ]]; then\n"
    "      rest=${rest#\"${rest%%[![:space:]]*}\"} words+=('') cut=\n"
    "    else\n"
    "      cut=${words[${#words[@]} - 1]}\n"
    "    fi\n"
    "    piece=${COMP_WORDS[i]}\n"
    "    [[ $i -eq $COMP_CWORD ]] && piece=$rest\n"
    "    words[${#words[@]} - 1]+=$piece rest=${rest#\"$piece\"}\n"
    "  done\n"
    "  [[ $piece == [:=] ]] && cut+=$piece\n"
    "  local open= quoted=\n"
    "  [[ ${words[${#words[@]} - 1]} == [\\\"\\']* ]] && open=1\n"
    "  for ((i = 0; i < ${#words[@]}; i++)); do\n"
    "    words[i]=${words[i]//\\\\/} words[i]=${words[i]#[\\\"\\']}\n"
    "    ((i + 1 < ${#words[@]})) && words[i]=${words[i]%[\\\"\\']}\n"
    "  done\n"
    "  local program=${words[0]/#\\~/$HOME} current=${words[${#words[@]} - 1]} kind at line name IFS=$'\\n'\n"
    "  cut=${cut//\\\\/} cut=${cut#[\\\"\\']}\n"
    "  COMPREPLY=()\n"
    "  while read -r line; do\n"
    "    if [[ -z $kind ]]; then\n"
    "      kind=${line% *} at=${line#* }\n"
    "      continue\n"
    "    fi\n"
    "    name=${line%%$'\\t'*} name=${name#\"$cut\"}\n"
    "    quoted=$name\n"
    "    [[ -n $name ]] && printf -v quoted %q \"$name\"\n"
    "    [[ -n $open && $quoted != \"$name\" ]] || COMPREPLY+=(\"$quoted\")\n"
    "  done < <(\"$program\" __complete \"${words[@]:1}\" 2>/dev/null)\n"
    "  case $kind in\n"
    "    files) i=-f ;;\n"
    "    folders) i=-d ;;\n"
    "    *) i= ;;\n"
    "  esac\n"
    "  if [[ -n $i ]]; then\n"
    "    while read -r line; do\n"
    "      name=${current:0:at}$line\n"
    "      COMPREPLY+=(\"${name#\"$cut\"}\")\n"
    "    done < <(compgen $i -- \"${current:at}\")\n"
    "    compopt -o filenames 2>/dev/null\n"
    "  fi\n"
    "  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
    "  return 0\n"
    "}\n"
    "complete -F _gather gather\n";

static const char ZSH[] =
    "#compdef gather\n"
    "# zsh completion for gather; made by: gather completion zsh\n"
    "_gather() {\n"
    "  local -a answer names shown open\n"
    "  local line kind at name\n"
    "  answer=(\"${(@f)$(\"${(Q)words[1]/#\\~/$HOME}\" __complete \"${(@Q)words[2,CURRENT-1]}\" \"${(Q)PREFIX}\" "
    "2>/dev/null)}\")\n"
    "  kind=${answer[1]% *} at=${answer[1]#* }\n"
    "  shift answer\n"
    "  for line in $answer; do\n"
    "    name=${line%%$'\\t'*}\n"
    "    if [[ $name == *= ]]; then\n"
    "      open+=(\"$name\")\n"
    "    else\n"
    "      names+=(\"$name\")\n"
    "      [[ $line == *$'\\t'* ]] && shown+=(\"$name  -- ${line#*$'\\t'}\") || shown+=(\"$name\")\n"
    "    fi\n"
    "  done\n"
    "  (( $#names )) && compadd -l -d shown -a names\n"
    "  (( $#open )) && compadd -S '' -a open\n"
    "  if [[ $kind == files || $kind == folders ]]; then\n"
    "    (( at )) && compset -p $at\n"
    "    if [[ $kind == files ]]; then _files; else _files -/; fi\n"
    "  fi\n"
    "}\n"
    "if [[ $funcstack[1] == _gather ]]; then _gather \"$@\"; else compdef _gather gather; fi\n";

static const char FISH[] =
    "# fish completion for gather; made by: gather completion fish\n"
    "function __gather_complete\n"
    "  set -l words (commandline -opc)\n"
    "  set -l current (commandline -ct | string unescape)\n"
    "  test -n \"$current\"; or set current ''\n"
    "  set -l program $words[1]\n"
    "  set -e words[1]\n"
    "  set -l answer (command $program __complete $words \"$current\" 2>/dev/null)\n"
    "  test (count $answer) -gt 0; or return\n"
    "  set -l first (string split ' ' -- $answer[1])\n"
    "  set -e answer[1]\n"
    "  for line in $answer\n"
    "    printf '%s\\n' $line\n"
    "  end\n"
    "  set -l before (string sub -l $first[2] -- \"$current\")\n"
    "  set -l name (string sub -s (math $first[2] + 1) -- \"$current\")\n"
    "  switch $first[1]\n"
    "    case files\n"
    "      for file in (__fish_complete_path \"$name\")\n"
    "        echo $before$file\n"
    "      end\n"
    "    case folders\n"
    "      for folder in (__fish_complete_directories \"$name\")\n"
    "        echo $before$folder\n"
    "      end\n"
    "  end\n"
    "end\n"
    "complete -c gather -f -k -a '(__gather_complete)'\n";

const char *gather_cli_complete_script(const char *shell) {
  if (strcmp(shell, "bash") == 0) return BASH;
  if (strcmp(shell, "zsh") == 0) return ZSH;
  return strcmp(shell, "fish") == 0 ? FISH : NULL;
}

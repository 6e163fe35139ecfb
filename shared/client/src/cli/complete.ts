import type { Command, Options } from './command.ts';

/** What may follow these words, of which the last one is being typed. Pure. */
export function complete(commands: Command[], words: string[]): string[] {
  const [typed = '', ...before] = words.toReversed();
  const done = before.reverse();
  return [...new Set(candidates(commands, done))].filter((one) => one.startsWith(typed));
}

function candidates(commands: Command[], done: string[]): string[] {
  const plain = done.filter((word) => !word.startsWith('-'));
  const named = commands
    .filter(({ name }) => name === plain.slice(0, name.split(' ').length).join(' '))
    .toSorted((one, other) => other.name.length - one.name.length)[0];
  const names = commands
    .map(({ name }) => name.split(' '))
    .filter((parts) => parts.length > plain.length && plain.every((word, at) => parts[at] === word))
    .map((parts) => parts[plain.length]!);
  if (!named) return names;
  const used = named.name.split(' ').length;
  const options: Options = { ...named.options, ...named.more?.(plain.slice(used)) };
  const last = done.at(-1)?.replace(/^--/, '') ?? '';
  if (done.at(-1)?.startsWith('--') && options[last]?.type === 'string') return [...(options[last].values ?? [])];
  const flags = [...Object.keys(options), 'json', 'help'].map((one) => `--${one}`);
  return [...names, ...(plain.length === used ? (named.words ?? []) : []), ...flags];
}

/** The shells' own code, which asks `adsweep completion -- <words>`. */
export const COMPLETION_SCRIPTS: Record<string, string> = {
  bash: `_adsweep() {
  local IFS=$'\\n'
  COMPREPLY=($(adsweep completion -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _adsweep adsweep`,
  zsh: `#compdef adsweep
_adsweep() {
  local -a found
  found=("\${(@f)$(adsweep completion -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
compdef _adsweep adsweep`,
  fish: `complete -c adsweep -f -a '(adsweep completion -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
complete -c adsweep -n 'not adsweep completion -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string length -q' -F`,
};

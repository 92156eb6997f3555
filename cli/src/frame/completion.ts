// Completion scripts for shells. They contain the whole table, so that the Tab key starts no process.
import { type Command, globalOptions, nameOf, type Options } from './command.ts';
import { listNext } from './parse.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** One place on the command line: after these words, this may follow. */
interface Place {
  readonly path: string;
  readonly next: readonly Candidate[];
  readonly options: Options;
  readonly completes: 'file' | 'folder' | null;
}

interface Candidate {
  readonly word: string;
  readonly summary: string;
}

export function completionScript(shell: Shell, table: readonly Command[]): string {
  const places = listPlaces(table);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](places);
}

function listPlaces(table: readonly Command[]): Place[] {
  const paths = new Set(['']);
  for (const { words } of table)
    for (let length = 1; length <= words.length; length += 1) paths.add(words.slice(0, length).join(' '));
  return [...paths].map((path) => toPlace(path, table));
}

function toPlace(path: string, table: readonly Command[]): Place {
  const command = table.find((each) => nameOf(each) === path);
  const words = path === '' ? [] : path.split(' ');
  const summaryOf = (word: string) =>
    table.find((each) => nameOf(each) === [...words, word].join(' '))?.summary ??
    `Commands that begin with ${word}`;
  const choices = command?.arguments.flatMap((argument) => argument.choices ?? []) ?? [];
  // `help` is followed by the words of any command.
  const following = path === 'help' ? listNext([], table) : listNext(words, table);
  return {
    path,
    next: [
      ...following.map((word) => ({ word, summary: summaryOf(word) })),
      ...choices.map((word) => ({ word, summary: '' })),
    ],
    options: { ...command?.options, ...globalOptions },
    completes: command?.arguments.find(({ completes }) => completes)?.completes ?? null,
  };
}

const candidatesOf = ({ next, options }: Place): string =>
  [...next.map(({ word }) => word), ...Object.keys(options).map((name) => `--${name}`)].join(' ');

/** Options whose next word is a value, as shell patterns. */
function valueOptions(places: readonly Place[]): string {
  const names = new Set<string>();
  for (const { options } of places)
    for (const [name, option] of Object.entries(options)) {
      if (option.type === 'boolean') continue;
      names.add(`--${name}`);
      if (option.short !== undefined) names.add(`-${option.short}`);
    }
  return [...names].join('|');
}

/** What may follow an option: choices, or the names of files. */
function valueCases(
  places: readonly Place[],
  paths: (completes: 'file' | 'folder') => string,
  words: (list: string) => string,
): string {
  return places
    .flatMap(({ path, options }) =>
      Object.entries(options).map(([name, option]) => {
        if (option.type !== 'string') return '';
        const action = option.choices
          ? words(option.choices.join(' '))
          : option.completes && paths(option.completes);
        return action ? `    '${path} --${name}') ${action} ;;\n` : '';
      }),
    )
    .join('');
}

const pathCases = (places: readonly Place[]): string =>
  places.map(({ path }) => `    '${path}') return 0 ;;\n`).join('');

const candidateCases = (places: readonly Place[], action: (place: Place) => string): string =>
  places.map((place) => `    '${place.path}') ${action(place)} ;;\n`).join('');

function bashScript(places: readonly Place[]): string {
  const words = (list: string) => `COMPREPLY=($(compgen -W '${list}' -- "$cur"))`;
  const paths = (completes: 'file' | 'folder') => `_pakhus_paths ${completes === 'file' ? '-f' : '-d'}`;
  const withPaths = (place: Place) => {
    const own = words(candidatesOf(place));
    return place.completes === null ? own : `${own}; ${paths(place.completes)}`;
  };
  return `# bash completion of pakhus: source <(pakhus completion bash)
_pakhus_is_path() {
  case "$1" in
${pathCases(places)}    *) return 1 ;;
  esac
}
_pakhus_paths() {
  local IFS=$'\\n'
  COMPREPLY+=($(compgen "$1" -- "$cur"))
}
_pakhus() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} path='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "$word" in
      ${valueOptions(places)}) ((i++)) ;;
      -*) ;;
      *) _pakhus_is_path "\${path:+$path }$word" && path="\${path:+$path }$word" ;;
    esac
  done
  case "$path $previous" in
${valueCases(
  places,
  (completes) => `${paths(completes)}; return`,
  (list) => `${words(list)}; return`,
)}    *) ;;
  esac
  case "$path" in
${candidateCases(places, withPaths)}  esac
}
complete -o filenames -F _pakhus pakhus
`;
}

function zshScript(places: readonly Place[]): string {
  const words = (list: string) => `compadd -- ${list}`;
  const paths = (completes: 'file' | 'folder') => (completes === 'file' ? '_files' : '_files -/');
  const withPaths = (place: Place) => {
    const own = words(candidatesOf(place));
    return place.completes === null ? own : `${own}; ${paths(place.completes)}`;
  };
  return `#compdef pakhus
# zsh completion of pakhus: source <(pakhus completion zsh)
_pakhus_is_path() {
  case "$1" in
${pathCases(places)}    *) return 1 ;;
  esac
}
_pakhus() {
  local here='' word i
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    case "$word" in
      ${valueOptions(places)}) ((i++)) ;;
      -*) ;;
      *) _pakhus_is_path "\${here:+$here }$word" && here="\${here:+$here }$word" ;;
    esac
  done
  case "$here $words[CURRENT-1]" in
${valueCases(
  places,
  (completes) => `${paths(completes)}; return`,
  (list) => `${words(list)}; return`,
)}    *) ;;
  esac
  case "$here" in
${candidateCases(places, withPaths)}  esac
}
compdef _pakhus pakhus
`;
}

function fishScript(places: readonly Place[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, next, options, completes }) => {
    const here = `complete -c pakhus -n ${quote(`__pakhus_at ${quote(path)}`)}`;
    return [
      ...next.map(({ word, summary }) => `${here} -a ${quote(word)} -d ${quote(summary)}`),
      ...Object.entries(options).map(([name, option]) => {
        const short = option.short === undefined ? '' : ` -s ${option.short}`;
        const value = option.type === 'boolean' ? '' : ' -r';
        const choices =
          option.type === 'string' && option.choices ? ` -f -a ${quote(option.choices.join(' '))}` : '';
        return `${here} -l ${name}${short}${value}${choices} -d ${quote(option.summary)}`;
      }),
      ...(completes === null ? [] : [`${here} -F`]),
    ];
  });
  return `# fish completion of pakhus: pakhus completion fish > ~/.config/fish/completions/pakhus.fish
function __pakhus_at
    set -l here
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${valueOptions(places).split('|').map(quote).join(' ')}
                set skip 1
            case '-*'
            case '*'
                set -l longer (string join ' ' $here $word)
                if contains -- $longer ${places.map(({ path }) => quote(path)).join(' ')}
                    set here $here $word
                end
        end
    end
    test (string join ' ' -- $here) = "$argv[1]"
end
complete -c pakhus -f
${lines.join('\n')}
`;
}

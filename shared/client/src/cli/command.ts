import type { Client } from '../client.ts';
import type { Config } from './config.ts';
import type { Terminal } from './terminal.ts';

/** An option as `parseArgs` takes it, with what help says about it. `values`: those that completion offers. */
export type Option = {
  type: 'string' | 'boolean';
  short?: string;
  multiple?: boolean;
  means: string;
  values?: readonly string[];
};
export type Options = Record<string, Option>;

export type Values<O extends Options> = {
  [K in keyof O]?: O[K] extends { type: 'boolean' } ? boolean : O[K] extends { multiple: true } ? string[] : string;
};

/** What a command works with. */
export type Context = {
  /** The client; asks for a key if there is none. */
  api: () => Promise<Client>;
  config: Config;
  terminal: Terminal;
  /** Whether the result is for a machine: one JSON value on `stdout`. */
  json: boolean;
};

export type Definition<O extends Options> = {
  /** One word or two, such as `runs watch`. */
  name: string;
  /** What follows the name, such as `<run>`. */
  args: string;
  summary: string;
  options: O;
  /** Words that completion offers after the name. */
  words?: readonly string[];
  /** Options that depend on the words, beside those of `options`. */
  more?(words: string[]): Options;
  /** Resolves to the exit code. */
  run(words: string[], values: Values<O>, context: Context): Promise<number>;
};

export type Command = Omit<Definition<Options>, 'run'> & {
  run(words: string[], values: Record<string, unknown>, context: Context): Promise<number>;
};

/** A command whose `run` gets the values of its options with their types. */
export const command = <const O extends Options>(definition: Definition<O>): Command =>
  definition as unknown as Command;

/** A problem with how a command was called; exit code 2. */
export class UsageError extends Error {}

/** The words, if there are as many as this; the last name may stand for several. */
export function expectWords(words: string[], ...names: string[]): string[] {
  const missing = names[words.length];
  if (missing) throw new UsageError(`${missing} is missing`);
  if (words.length > names.length && !names.at(-1)?.endsWith('...'))
    throw new UsageError(`unexpected: ${words[names.length]}`);
  return words;
}

/** The URL, if it is one that requests can be sent to. `name`: what it was called with. */
export function expectUrl(url: string, name = 'the URL of the API'): string {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return url;
  throw new UsageError(`${name} must begin with https:// or http://: ${url}`);
}

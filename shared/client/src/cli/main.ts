import { parseArgs } from 'node:util';
import { AdsweepError, messageOf } from '../adsweep-error.ts';
import { adsweep } from '../client.ts';
import { ask } from './ask.ts';
import { type Command, command, expectUrl, type Options, UsageError } from './command.ts';
import { alerts, setAlerts } from './commands/alerts.ts';
import { api } from './commands/api.ts';
import { bulk } from './commands/bulk.ts';
import { campaigns, runCampaign } from './commands/campaigns.ts';
import { changeNodes, fleet } from './commands/fleet.ts';
import { login } from './commands/login.ts';
import { mcp } from './commands/mcp.ts';
import { rules, testRules } from './commands/rules.ts';
import { runs, watch } from './commands/runs.ts';
import { scan } from './commands/scan.ts';
import { listen, webhooks } from './commands/webhooks.ts';
import { COMPLETION_SCRIPTS, complete } from './complete.ts';
import { readConfig } from './config.ts';
import { readVersion } from './read-version.ts';
import { safeJson, safeText } from './safe-text.ts';
import { type Stream, type Terminal, terminalOn } from './terminal.ts';

const completion = command({
  name: 'completion',
  args: `<${Object.keys(COMPLETION_SCRIPTS).join(' | ')}>`,
  summary: 'print the completion script of a shell',
  words: Object.keys(COMPLETION_SCRIPTS),
  options: {},
  async run([shell = '', ...words], _, { terminal }) {
    const script = COMPLETION_SCRIPTS[shell];
    if (script === undefined) for (const one of complete(COMMANDS, [shell, ...words])) terminal.print(one);
    else for (const line of script.split('\n')) terminal.print(line);
    return 0;
  },
});

const COMMANDS: Command[] = [
  ...[scan, bulk, campaigns, runCampaign, runs, watch, alerts, setAlerts, rules, testRules, webhooks, listen],
  ...[fleet, ...changeNodes, api, mcp, login, completion],
];

const GENERAL = {
  json: { type: 'boolean', means: 'one JSON value on stdout, for machines' },
  help: { type: 'boolean', short: 'h', means: 'help' },
} as const satisfies Options;

/** What the command line reads and writes besides files. */
type Process = { env: NodeJS.ProcessEnv; stdout: Stream; stderr: Stream };

/** Runs the command line with these arguments and resolves to its exit code. */
export async function main(args: string[], { env, stdout, stderr }: Process = process): Promise<number> {
  const json = args.includes('--json');
  let terminal: Terminal | undefined;
  try {
    const config = readConfig(env);
    terminal = terminalOn(stdout, stderr, config);
    if (args[0] === '--version') {
      terminal.print(readVersion());
      return 0;
    }
    const named = findCommand(args);
    if (!named) return help(terminal, args);
    const words = args.slice(named.name.split(' ').length);
    const options: Options = { ...named.options, ...named.more?.(words), ...GENERAL };
    const { values, positionals } = parse(words, options);
    if (values.help) return helpFor(terminal, named, options);
    const client = async () => {
      const url = expectUrl(config.url);
      return adsweep({ url, key: config.key ?? (await ask(`API key for ${url}: `, { secret: true })) });
    };
    const { json: _, help: __, ...own } = values;
    return await named.run(positionals, own, { api: client, config, terminal, json });
  } catch (error) {
    terminal?.progress(null);
    return report(error, json, stderr);
  }
}

/** The command with the longest name that the arguments begin with. */
function findCommand(args: string[]): Command | undefined {
  return COMMANDS.filter(({ name }) => name === args.slice(0, name.split(' ').length).join(' ')).toSorted(
    (one, other) => other.name.length - one.name.length,
  )[0];
}

function parse(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function help(terminal: Terminal, [word]: string[]): number {
  if (word !== undefined && !['help', '--help', '-h'].includes(word)) throw new UsageError(`no such command: ${word}`);
  terminal.print('adsweep checks pages, ad tags and VAST tags in real browsers.');
  terminal.table(
    ['command', 'what it does'],
    COMMANDS.map(({ name, args, summary }) => [`${name} ${args}`, summary]),
  );
  terminal.print('ADSWEEP_URL and ADSWEEP_API_KEY say where the API is and with which key; adsweep login keeps both.');
  terminal.print('Exit codes: 0 clean or done, 1 error, 2 wrong call, 3 findings, 4 scans failed or judged in part.');
  return 0;
}

function helpFor(terminal: Terminal, { name, args, summary }: Command, options: Options): number {
  terminal.print(`adsweep ${name} ${args}: ${summary}`);
  terminal.table(
    ['option', 'meaning'],
    Object.entries(options).map(([long, { short, type, means, values }]) => [
      `${short ? `-${short}, ` : ''}--${long}${type === 'string' ? ` <${values?.join('|') ?? 'value'}>` : ''}`,
      means,
    ]),
  );
  return 0;
}

/** Prints an error to `stderr` and returns the exit code. */
function report(error: unknown, json: boolean, stderr: Stream): number {
  const isUsage = error instanceof UsageError;
  const message = messageOf(error);
  if (json) {
    const refusal = error instanceof AdsweepError ? { status: error.status, code: error.code, items: error.items } : {};
    stderr.write(`${safeJson({ error: { message, ...refusal } })}\n`);
  } else stderr.write(`adsweep: ${safeText(message)}${isUsage ? '; see adsweep --help' : ''}\n`);
  return isUsage ? 2 : 1;
}

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Makes a corpus file from the bytes of a source file. `refused`: hashes ({@link patternHash}) of the patterns that RE2 refuses, which was
 * determined with RE2 itself. Pure; the same bytes give the same text.
 */
export type Build = (source: Buffer, refused: ReadonlySet<string>) => string;

/** Every second entry of a source, chosen by its name: the other half is reserved for independent verification. */
const isChosen = (name: string): boolean => crc32(name) % 2 === 0;

/** The key of a pattern in the list of those that RE2 rejects. */
export const patternHash = (pattern: string): string => createHash('sha256').update(pattern).digest('hex').slice(0, 12);

const asJson = (rows: unknown[]): string => `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`;

/** The recipes, by the name that `sources.json` gives them. */
export const BUILDS: Readonly<Record<string, Build>> = {
  'ad-requests': (source) => {
    const requests: { url: string; filters: string[] }[] = JSON.parse(source.toString());
    return asJson(requests.filter(({ url }) => isChosen(url)).map(({ url, filters }) => ({ url, filters })));
  },
  companies: (source) => {
    const companies: { name: string; category: string; domains: string[] }[] = JSON.parse(source.toString());
    const chosen = companies.filter(({ name, category }) => isChosen(name) && !INDISTINCT.has(category));
    return asJson(
      chosen.map(({ name, category, domains }) => ({ entity: name, category, domains: domains.slice(0, DOMAINS_MAX) })),
    );
  },
  patterns: (source, refused) => {
    const patterns = source.toString().split('\n').map(decodeEntities);
    const chosen = [...new Set(patterns)].filter((one) => one !== '' && one.length <= LENGTH_MAX && isChosen(one));
    return asJson(chosen.map((pattern) => ({ pattern, re2Ok: !refused.has(patternHash(pattern)) })));
  },
  attacks: (source, refused) => {
    const rows = source.toString().split(/^\++$/m).flatMap(attackedPattern);
    const chosen = rows.filter(({ pattern }) => isChosen(pattern));
    return asJson(chosen.map((row) => ({ ...row, re2Ok: !refused.has(patternHash(row.pattern)) })));
  },
};

/** Categories of third-party-web that say nothing about whether a company serves ads. */
const INDISTINCT = new Set(['utility', 'content', 'other']);
const DOMAINS_MAX = 6;
const LENGTH_MAX = 4_000;

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: '\u00a0' };

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (written, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? written;
    return String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

/** A block of the list of super-linear patterns: an id, the pattern, and `<kind>\tAttackString:<expression>` lines. */
function attackedPattern(block: string) {
  const lines = block.split('\n');
  const at = lines.findIndex((line) => /^\d+$/.test(line));
  const pattern = decodeEntities(lines[at + 1] ?? '');
  if (at < 0 || pattern === '') return [];
  const attacks = lines.flatMap((line) => {
    const [, kind, expr] = /^(\w+)\tAttackString:(.*)$/.exec(line) ?? [];
    return kind && expr ? [{ kind, ...attackParts(expr) }] : [];
  });
  return [{ id: Number(lines[at]), pattern, attacks }];
}

/**
 * The texts of `"a"+"b"*32+"c"`, with the number of repetitions of each. None if a backslash precedes a character that is no known escape:
 * then it is unknown whether the source doubled it.
 */
function attackParts(expr: string): { parts?: { s: string; n: number }[] } {
  const texts = [...expr.matchAll(/"([^"]*)"(?:\*(\d+))?/g)];
  if (texts.some(([, text]) => /\\[^tnrfv\\]/.test(text!))) return {};
  return { parts: texts.map(([, text, times]) => ({ s: JSON.parse(`"${text}"`) as string, n: Number(times ?? 1) })) };
}

/** The part of a JSON schema that routes use. */
export type Schema = {
  type?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  maxProperties?: number;
  examples?: object[];
};

/** Sizes of a value to be made: characters of each text, and members of each list and map. `left`: what the value may still have. */
type Extent = { text: number; members: number; ofLines: boolean; left: Bounds };
/** The most bytes of JSON, and the most values, that a body may have. */
export type Bounds = { bytes: number; values: number };

const TEXTS = [1_048_576, 262_144, 65_536, 16_384, 4_096, 1_024, 200, 40, 8];
const MEMBERS = [5_000, 1_000, 300, 100, 20, 5, 2, 1];

/**
 * Values that a schema accepts and that fit into the bounds: one with the longest texts that it may have, also as lines, and one with the most
 * members. A list or map without a maximum gets none. Rules beyond the schema are not known here.
 */
export function largestValues(schema: Schema, bounds: Bounds): Record<string, unknown> {
  const byText = TEXTS.flatMap((text) => MEMBERS.map((members) => ({ text, members })));
  const byMembers = MEMBERS.flatMap((members) => TEXTS.map((text) => ({ text, members })));
  const firstThatFits = (sizes: { text: number; members: number }[], ofLines = false) => {
    for (const size of sizes) {
      const value = withinBounds(schema, { ...size, ofLines, left: { ...bounds } });
      if (value !== undefined) return value;
    }
    return undefined;
  };
  return {
    'the longest texts': firstThatFits(byText),
    'the longest texts, as lines': firstThatFits(byText, true),
    'the most members': firstThatFits(byMembers),
  };
}

class TooLarge extends Error {}

function withinBounds(schema: Schema, extent: Extent): unknown {
  try {
    return largestOf(schema, extent, '');
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

/** Takes the size of a value from what is left. */
function counted<T>(value: T, { left }: Extent): T {
  left.bytes -= Buffer.byteLength(JSON.stringify(value) ?? '') + 10;
  left.values -= 1;
  if (left.bytes < 0 || left.values < 0) throw new TooLarge();
  return value;
}

function largestOf(schema: Schema, extent: Extent, name: string): unknown {
  if (schema.anyOf) return largestOf(schema.anyOf.findLast(({ type }) => type !== 'null') ?? {}, extent, name);
  if (schema.enum) return counted(schema.enum.toSorted((a, b) => String(b).length - String(a).length)[0], extent);
  if ('const' in schema) return counted(schema.const, extent);
  switch (schema.type) {
    case 'string':
      return counted(textOf(schema, extent, name), extent);
    case 'integer':
    case 'number':
      return counted(schema.maximum ?? 1_000_000, extent);
    case 'boolean':
      return counted(true, extent);
    case 'array':
      return Array.from({ length: Math.min(schema.maxItems ?? 0, extent.members) }, (_, at) =>
        largestOf(schema.items ?? {}, extent, `${name}${at}`),
      );
    case 'object':
      return objectOf(schema, extent, name);
    default:
      return null;
  }
}

function objectOf(schema: Schema, extent: Extent, name: string): object {
  const known = Object.entries(schema.properties ?? {}).map(([key, one]) => [key, largestOf(one, extent, name + key)]);
  const open = Object.entries(schema.patternProperties ?? {}).flatMap(([pattern, one]) =>
    Array.from({ length: Math.min(schema.maxProperties ?? 0, extent.members) - known.length }, (_, at) => [
      counted(textOf({ pattern }, extent, `k${at}`), extent),
      largestOf(one, extent, `${name}${at}`),
    ]),
  );
  return Object.fromEntries([...known, ...open]);
}

const OF_FORMAT: Record<string, string> = {
  date: '2026-01-31',
  'date-time': '2099-01-31T00:00:00.000Z',
  email: 'someone@shop.example',
};

/** Different lines, as a pasted list has them. */
const LINES = Array.from({ length: 200_000 }, (_, at) => `${at}\n`).join('');

/** A text that begins with `name`, so that those of a list differ. */
function textOf({ pattern, format, minLength = 0, maxLength = 1_000 }: Schema, extent: Extent, name: string): string {
  if (format) return OF_FORMAT[format] ?? 'x';
  const size = Math.max(minLength, Math.min(maxLength, extent.text));
  if (extent.ofLines && !pattern) return LINES.slice(0, size);
  const start = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const candidates = [size, 253, 200, 100, 64, 36, 20, 8].map((most) => `${start}${'x'.repeat(size)}`.slice(0, most));
  const accepts = pattern ? new RegExp(pattern) : /^/;
  return candidates.find((one) => one.length <= maxLength && accepts.test(one)) ?? '';
}

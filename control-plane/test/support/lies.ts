import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type Artifact, BODIES, DOCUMENTS, VAST_DOCUMENTS } from '@adsweep/shared/capture/artifacts.ts';
import { type Capture, CaptureSchema } from '@adsweep/shared/capture/capture.ts';
import { FAILURE_CODES } from '@adsweep/shared/failures.ts';
import { packCapture } from '@adsweep/shared/lease/capture-with-files.ts';
import type { TargetKind } from '@adsweep/shared/scan/target.ts';
import fc from 'fast-check';
import { adBlocks } from './ad-blocks.ts';

/** What a node lies about: the scan of a target of this kind, or a sweep. */
export type LiedAbout = TargetKind | 'sweep';

/** The part of JSON Schema that the schemas of nodes' messages use. */
type Schema = {
  type?: string;
  anyOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
};

const TEXTS = [
  ...['', '0', 'http', 'document', 'https://shop.example/', 'http://[::1', 'javascript:alert(1)', 'data:,x', '//', '#'],
  ...['\u0000', '\u202e', '__proto__', '<script>alert(1)</script>', '%', '{{', '\'"><', '2026-02-30', '1e999'],
  `https://${'a'.repeat(14_000)}.example/`,
  `https://${'a.'.repeat(2_000)}example/`,
  `https://shop.example/?${'q=1&'.repeat(2_000)}`,
  'é'.repeat(10_000),
  'x'.repeat(65_536),
];
/** Values of which most are of another type, or larger, than any field may have. */
const WRONG: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0.5, 2 ** 53, 1e300, '', 'x'.repeat(70_000), '\ud800', {}, [], [null]),
  fc.constantFrom<unknown>({ $gt: '' }, { constructor: { prototype: 1 } }, Array(300).fill(null)),
  fc.constant(JSON.parse('{"__proto__":{"a":1}}') as unknown),
  fc.constant(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, at]))),
  fc.constant(JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`) as unknown),
);

/** Values that a schema allows, of which many are at its bounds. */
function extremesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(extremesOf));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  switch (schema.type) {
    case 'string':
      if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern), { size: 'small' });
      return fc.constantFrom(...TEXTS).map((text) => text.slice(0, schema.maxLength));
    case 'integer':
    case 'number':
      return fc.constantFrom(minimum, maximum, ...[0, 1, 2, 200, 407, 594].filter((n) => n >= minimum && n <= maximum));
    case 'boolean':
      return fc.boolean();
    case 'array':
      return arraysOf(schema);
    case 'object':
      return objectsOf(schema);
    default:
      return fc.constant(null);
  }
}

function arraysOf({ items = {}, maxItems = 3 }: Schema): fc.Arbitrary<unknown[]> {
  const few = fc.array(extremesOf(items), { maxLength: Math.min(3, maxItems) });
  const repeated = extremesOf(items).map((one) => Array<unknown>(Math.min(maxItems, 300)).fill(one));
  return fc.oneof({ weight: 9, arbitrary: few }, { weight: 1, arbitrary: repeated });
}

function objectsOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<object> {
  const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, extremesOf(one)]));
  return fc.record(fields, { requiredKeys: required });
}

/** The places in a JSON value, as paths. */
function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const own = Object.entries(value).slice(0, 50);
  return [path, ...own.flatMap(([name, one]) => pathsIn(one, [...path, name]))];
}

/** A copy of `value` with another value at a path. */
function replaced(value: unknown, [name, ...rest]: string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) };
  const members = copy as Record<string, unknown>;
  members[name] = replaced(members[name], rest, by);
  return copy;
}

/** The value, or one that differs from it in a field: of another type, too large, or not there. */
export const spoilt = (value: unknown): fc.Arbitrary<unknown> =>
  fc.tuple(fc.nat(), WRONG, fc.integer({ min: 0, max: 2 })).map(([at, wrong, isWhole]) => {
    const paths = pathsIn(value);
    return isWhole > 0 ? value : replaced(value, paths[at % paths.length]!, wrong);
  });

/** A file to upload under some name. */
export type FalseFile = { name: string; bytes: Buffer };

const ITEMS: Record<string, object> = {
  [DOCUMENTS]: { landing: 0, frame: '', url: 'https://shop.example/', title: 'T', text: 'Hello', html: '<p>Hello</p>' },
  [BODIES]: {
    url: 'https://shop.example/a.js',
    resource_type: 'script',
    content_type: 'text/javascript',
    bytes: 4,
    text: 'a()',
  },
  [VAST_DOCUMENTS]: { rung: 0, text: '<VAST version="4.2"/>' },
};

/** The header of a JPEG that says that it has 65,535 x 65,535 pixels. */
const HUGE_JPEG = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc0001108ffffffff03012200021101031101ffd9',
  'hex',
);

const zipped = (text: string): Buffer => gzipSync(text);
const listFiles = fc
  .tuple(fc.constantFrom(...Object.keys(ITEMS)), fc.integer({ min: 0, max: 300 }))
  .chain(([name, count]) => spoilt(Array(Math.min(count, 3)).fill(ITEMS[name])).map((items) => ({ name, items })))
  .map(({ name, items }) => ({ name, bytes: zipped(JSON.stringify(items)) }));

/** Files of a node: right, of another type, broken off, empty, nested, and larger unpacked than any may be. */
const filesOf = (pictures: Buffer[]): fc.Arbitrary<FalseFile> =>
  fc.oneof(
    { weight: 3, arbitrary: listFiles },
    {
      weight: 3,
      arbitrary: fc.record({
        name: fc.constantFrom(
          ...['landing-0.jpeg', 'landing-0.webp', 'landing-999.jpeg', 'page.jpeg', 'creative.jpeg', 'companion-0.jpeg'],
        ),
        bytes: fc
          .tuple(fc.constantFrom(...pictures), fc.integer({ min: 0, max: 3 }))
          .map(([picture, cut]) => (cut === 0 ? picture.subarray(0, picture.length / 2) : picture)),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        name: fc.constantFrom(
          DOCUMENTS,
          BODIES,
          VAST_DOCUMENTS,
          'landing-0.jpeg',
          'creative.html',
          'vast.xml',
          'creative-video',
          '../x',
          'x'.repeat(300),
        ),
        bytes: fc.constantFrom(
          Buffer.alloc(0),
          Buffer.from('text'),
          zipped('{'),
          zipped('"text"'),
          zipped(`[${'['.repeat(5_000)}`),
          zipped(`[${' '.repeat(2_000_000)}]`),
          zipped('[]').subarray(0, 12),
          HUGE_JPEG,
        ),
      }),
    },
  );

/** How the control plane names an upload. */
const namesOf = (files: FalseFile[]): Artifact[] =>
  files.map(({ name, bytes }) => ({
    name,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: bytes.length,
    content_type: 'image/jpeg',
    width: 1,
    height: 1,
  }));

/**
 * Captures of a scan of this kind. Most are accepted, whatever they say: each field is at its bounds, and requests,
 * wrappers and trackers name any other one as their cause, themselves included. The others differ in a field.
 */
const capturesOf = (kind: LiedAbout): fc.Arbitrary<unknown> =>
  fc.tuple(extremesOf(CaptureSchema as Schema), fc.boolean(), fc.nat(1)).chain(([value, isCoherent, distance]) => {
    const { creative, vast, ad_blocks, ...capture } = value as Capture;
    const listed = adBlocks(1, 2).map((block) => ({ ...block, not_scanned: 'cap' }));
    const own = {
      ...capture,
      ...(kind.endsWith('_tag') && creative && { creative }),
      ...(kind === 'vast_tag' && vast && { vast }),
      ...(kind === 'sweep' && ad_blocks && { ad_blocks: isCoherent ? listed : ad_blocks }),
      artifacts: [],
      landings: capture.landings.map((landing, ord) => ({ ...landing, ...(isCoherent && { ord, screenshot: null }) })),
      requests: capture.requests.map((request, id) =>
        isCoherent ? { ...request, id, initiator: Math.max(0, id - distance) } : request,
      ),
    };
    return spoilt({ ...own, landings: own.landings.slice(0, 10) });
  });

/** The operations of the node API that a lie about an attempt, or about the node itself, is told to. */
export const LIED_TO = [
  ...['PUT /nodes/{id}', 'POST /nodes/{id}/enrol', 'POST /nodes/{id}/rotate'],
  ...['POST /leases/acquire', 'PUT /leases/{id}/scans/{scan}/artifacts/{name}'],
  ...['renew', 'alone', 'release', 'members'].map((verb) => `POST /leases/{id}/${verb}`),
  ...['loaded', 'complete', 'complete-with-files', 'fail'].map((verb) => `POST /leases/{id}/scans/{scan}/${verb}`),
];

/** What a node does under a lease. */
export type Lie =
  | { call: 'renew' | 'alone' | 'loaded' | 'release' }
  | { call: 'members' | 'complete' | 'fail'; body: unknown }
  | { call: 'upload'; file: FalseFile }
  | { call: 'complete-with-files'; packed: Buffer };

/** A capture with files that it names, with this many bytes more than it says. */
function packed(about: unknown, files: FalseFile[], more: number): Buffer {
  const isObject = typeof about === 'object' && about !== null;
  const capture = isObject ? { ...about, artifacts: namesOf(files) } : about;
  const whole = packCapture((sent) => JSON.stringify({ capture, files: sent }), files);
  return more > 0 ? Buffer.concat([whole, Buffer.alloc(more)]) : whole.subarray(0, whole.length + more);
}

/** What a node does under the lease of a scan of this kind; what is in one list, it does at the same time. */
export function liesAbout(kind: LiedAbout, pictures: Buffer[]): fc.Arbitrary<Lie[][]> {
  const capture = capturesOf(kind);
  const failure = fc
    .tuple(fc.constantFrom(...FAILURE_CODES), fc.oneof(fc.constant(null), capture))
    .chain(([code, about]) => spoilt({ code, cause: 'x', capture: about }));
  const found = fc
    .uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 3 })
    .chain((slots) => spoilt({ members: adBlocks(...slots) }));
  const lie: fc.Arbitrary<Lie> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ call: fc.constantFrom('renew', 'alone', 'loaded') }) },
    { weight: 1, arbitrary: fc.constant({ call: 'release' as const }) },
    { weight: 6, arbitrary: filesOf(pictures).map((file) => ({ call: 'upload' as const, file })) },
    { weight: kind === 'sweep' ? 6 : 1, arbitrary: found.map((body) => ({ call: 'members' as const, body })) },
    {
      weight: 6,
      arbitrary: capture.chain(spoilt).map((about) => ({ call: 'complete' as const, body: { capture: about } })),
    },
    {
      weight: 6,
      arbitrary: fc
        .tuple(capture.chain(spoilt), fc.array(filesOf(pictures), { maxLength: 2 }), fc.constantFrom(0, 0, 0, -1, 1))
        .map(([about, files, more]) => ({ call: 'complete-with-files' as const, packed: packed(about, files, more) })),
    },
    { weight: 1, arbitrary: failure.map((body) => ({ call: 'fail' as const, body })) },
  );
  return fc.array(fc.array(lie, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 });
}

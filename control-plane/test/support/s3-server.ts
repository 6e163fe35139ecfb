import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { S3Location } from '../../src/platform/objects/s3-objects.ts';
import { signatureProblem } from './s3-signature.ts';

export const S3_BUCKET = 'files';
export const S3_KEY = { id: 'AKIDEXAMPLE', secret: 'the secret of this access key' };
const PART_BYTES_MIN = 5 * 1024 * 1024;

type Stored = { bytes: Buffer; modified: Date; encryption: string | undefined };
type OpenUpload = { key: string; initiated: Date; parts: Map<number, Buffer>; encryption: string | undefined };

/** A refusal as S3 has it. */
class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

type Request = {
  method: string;
  key: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Buffer;
};
type Answer = { status?: number; headers?: Record<string, string>; body?: Buffer | string };

const etagOf = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`;
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const tag = (name: string, content: string | number | boolean): string => `<${name}>${content}</${name}>`;
const valuesOf = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&quot;', '"'),
  );

/**
 * A server of the S3 API on a free port, with one bucket in memory: signed requests, objects with ranges, multipart
 * uploads with their minimum size of a part, lists in pages of `pageLength`. It has no operation that deletes several
 * objects, because servers differ in what that needs.
 */
export async function startS3Server({ pageLength = 1_000 } = {}) {
  const objects = new Map<string, Stored>();
  const uploads = new Map<string, OpenUpload>();
  const requests: string[] = [];
  let outage: number | null = null;
  let breaksOff = false;

  const uploadOf = ({ query }: Request): OpenUpload => {
    const upload = uploads.get(query.get('uploadId') ?? '');
    if (!upload) throw new Refusal(404, 'NoSuchUpload');
    return upload;
  };
  const store = (key: string, bytes: Buffer, encryption: string | undefined): Answer => {
    objects.set(key, { bytes, modified: new Date(), encryption });
    return { headers: { etag: etagOf(bytes) } };
  };
  const encryptionIn = ({ headers }: Request) => headers['x-amz-server-side-encryption'] as string | undefined;

  const complete = (request: Request): Answer => {
    const upload = uploadOf(request);
    const xml = request.body.toString();
    const etags = valuesOf(xml, 'ETag');
    const parts = valuesOf(xml, 'PartNumber').map((number, at) => {
      const part = upload.parts.get(Number(number));
      if (!part || etagOf(part) !== etags[at]) throw new Refusal(400, 'InvalidPart');
      return part;
    });
    if (parts.slice(0, -1).some(({ length }) => length < PART_BYTES_MIN)) throw new Refusal(400, 'EntityTooSmall');
    uploads.delete(request.query.get('uploadId') ?? '');
    const { headers } = store(upload.key, Buffer.concat(parts), upload.encryption);
    return {
      body: tag('CompleteMultipartUploadResult', tag('Key', upload.key) + tag('ETag', escaped(headers!.etag!))),
    };
  };

  const read = ({ key, headers }: Request): Answer => {
    const found = objects.get(key);
    if (!found) throw new Refusal(404, 'NoSuchKey');
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    const common = { etag: etagOf(found.bytes), 'last-modified': found.modified.toUTCString() };
    if (first === undefined) return { body: found.bytes, headers: common };
    if (Number(first) >= found.bytes.length) throw new Refusal(416, 'InvalidRange');
    const body = found.bytes.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + body.length - 1}/${found.bytes.length}`;
    return { status: 206, body, headers: { ...common, 'content-range': range } };
  };

  const list = ({ query }: Request): Answer => {
    const after = query.get('continuation-token') ?? '';
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort();
    const page = keys.slice(0, pageLength);
    const contents = page.map((key) => {
      const { bytes, modified } = objects.get(key)!;
      return tag('Contents', tag('Key', key) + tag('Size', bytes.length) + tag('LastModified', modified.toISOString()));
    });
    const more = keys.length > page.length;
    const next = more ? tag('NextContinuationToken', page.at(-1)!) : '';
    return { body: tag('ListBucketResult', tag('IsTruncated', more) + next + contents.join('')) };
  };

  const listUploads = ({ query }: Request): Answer => {
    const ids = [...uploads.keys()].sort();
    const rest = ids.filter((id) => id > (query.get('upload-id-marker') ?? ''));
    const page = rest.slice(0, pageLength).filter((id) => uploads.get(id)!.key.startsWith(query.get('prefix') ?? ''));
    const found = page.map((id) => {
      const { key, initiated } = uploads.get(id)!;
      return tag('Upload', tag('Key', key) + tag('UploadId', id) + tag('Initiated', initiated.toISOString()));
    });
    const more = rest.length > pageLength;
    const next = more ? tag('NextKeyMarker', '~') + tag('NextUploadIdMarker', rest[pageLength - 1]!) : '';
    return { body: tag('ListMultipartUploadsResult', tag('IsTruncated', more) + next + found.join('')) };
  };

  const begin = (request: Request): Answer => {
    const id = randomUUID();
    uploads.set(id, { key: request.key, initiated: new Date(), parts: new Map(), encryption: encryptionIn(request) });
    return { body: tag('InitiateMultipartUploadResult', tag('Key', request.key) + tag('UploadId', id)) };
  };

  const putPart = (request: Request): Answer => {
    uploadOf(request).parts.set(Number(request.query.get('partNumber')), request.body);
    return { headers: { etag: etagOf(request.body) } };
  };

  const abort = (request: Request): Answer => {
    uploadOf(request);
    uploads.delete(request.query.get('uploadId') ?? '');
    return { status: 204 };
  };

  const remove = ({ key }: Request): Answer => {
    objects.delete(key);
    return { status: 204 };
  };

  /** The operations, each by the method, whether it is about an object, and the parameter that selects it. */
  const operations: [string, 'bucket' | 'object', string, (request: Request) => Answer][] = [
    ['GET', 'bucket', 'uploads', listUploads],
    ['GET', 'bucket', 'list-type', list],
    ['HEAD', 'bucket', '', () => ({})],
    ['POST', 'object', 'uploads', begin],
    ['POST', 'object', 'uploadId', complete],
    ['PUT', 'object', 'partNumber', putPart],
    ['DELETE', 'object', 'uploadId', abort],
    ['PUT', 'object', '', (request) => store(request.key, request.body, encryptionIn(request))],
    ['GET', 'object', '', read],
    ['DELETE', 'object', '', remove],
  ];

  const answer = (message: IncomingMessage, body: Buffer): Answer => {
    const { pathname, searchParams: query } = new URL(message.url ?? '', 'http://host');
    const [, bucket = '', path = ''] = /^\/([^/]+)\/?(.*)$/.exec(pathname) ?? [];
    const request = {
      method: message.method ?? '',
      key: decodeURIComponent(path),
      query,
      headers: message.headers,
      body,
    };
    const found = operations.find(
      ([method, about, name]) =>
        method === request.method && about === (path === '' ? 'bucket' : 'object') && (name === '' || query.has(name)),
    );
    requests.push([request.method, found?.[1], found?.[2]].filter(Boolean).join(' '));
    if (outage !== null) throw new Refusal(outage, outage === 403 ? 'AccessDenied' : 'SlowDown');
    const problem = signatureProblem(message, body, S3_KEY);
    if (problem) throw new Refusal(403, problem);
    if (bucket !== S3_BUCKET) throw new Refusal(404, 'NoSuchBucket');
    if (!found) throw new Refusal(501, 'NotImplemented');
    return found[3](request);
  };

  const send = (response: ServerResponse, { status = 200, headers = {}, body = '' }: Answer) => {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    if (breaksOff && body !== '') response.write(body.slice(0, -1), () => response.destroy());
    else response.end(body);
  };

  const server = createServer(async (message, response) => {
    try {
      send(response, answer(message, await buffer(message)));
    } catch (error) {
      if (message.destroyed && !message.complete) return;
      if (!(error instanceof Refusal)) throw error;
      send(response, {
        status: error.status,
        body: tag('Error', tag('Code', error.code) + tag('Message', error.code)),
      });
    }
  });
  // Like some servers and proxies, it does not ask for the body of a request that waits for that.
  server.on('checkContinue', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    ...{ objects, uploads, requests },
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Whether it ends the connection before the end of every body. */
    setBreaksOff: (breaks: boolean) => {
      breaksOff = breaks;
    },
    /** Answers every request with this status; null ends it. */
    setOutage: (status: number | null) => {
      outage = status;
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The location of the server's bucket. */
export const bucketOf = ({ endpoint }: { endpoint: string }, changes: Partial<S3Location> = {}): S3Location => ({
  ...{ bucket: S3_BUCKET, endpoint, region: 'eu-west-1', prefix: '', pathStyle: true, encryption: '', kmsKeyId: '' },
  credentials: { accessKeyId: S3_KEY.id, secretAccessKey: S3_KEY.secret },
  ...changes,
});
